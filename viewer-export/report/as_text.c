/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report for a terminal.
 *
 * Point by point: first what it means, in ranked sentences; then a table of the tested steps that fits the width
 * (columns leave in the order of their worth: the curve, the bound, the count, steps); with --verbose each unit in
 * full. At the end, what a person should know before believing it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/report/internal.h"
#include "viewer-export/report/plot.h"

#define MIN_NAME    16
#define MAX_NAME    48
#define RANK        4
#define NUMBER      7
#define CURVE       8
#define PLOT_ROWS   5
#define PLOT_WIDTH  24
#define STEPS_WIDTH 64 /* with all columns */
#define TIME_UNITS  15 /* shown where there are no gains */

struct page {
    const struct wi_report *report;
    const struct wi_style *style;
    FILE *out;
};

/* ---- one cell ---------------------------------------------------------------------------------------------------- */

static const char *plus_minus(const struct page *page)
{
    return page->style->unicode ? "\xc2\xb1" : "+-";
}

static void percent_cell(double share, char *out, size_t size)
{
    if (share < 0)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%.1f", share * 100);
}

static void gain_cell(const struct page *page, const struct wi_point_estimate *point,
                      const struct wi_gain *gain, char *out, size_t size)
{
    if (gain == NULL || !gain->known) {
        snprintf(out, size, gain != NULL && gain->experiments > 0 ? "no visit" : "-");
        return;
    }
    double value = wi_said_gain(page->report, point, gain->gain);
    double below = value - wi_said_gain(page->report, point, gain->low);
    double above = wi_said_gain(page->report, point, gain->high) - value;
    if (!gain->has_interval)
        snprintf(out, size, "%.1f%s?", value, plus_minus(page));
    else if (fmax(below, above) >= 99.95)
        snprintf(out, size, "%.0f%s>99", value, plus_minus(page));
    else
        snprintf(out, size, "%.1f%s%.1f", value, plus_minus(page), fmax(below, above));
}

static const struct wi_gain *gain_at(const struct wi_unit_estimate *unit, double speedup_percent)
{
    for (uint32_t i = 0; i < unit->gains.n; i++)
        if (unit->gains.at[i].speedup_percent == speedup_percent)
            return &unit->gains.at[i];
    return NULL;
}

static void right(const struct page *page, const char *text, size_t columns)
{
    size_t length = wi_columns(text);
    fprintf(page->out, "%*s", (int)(length < columns ? columns - length : 1), "");
    wi_print_cell(page->style, page->out, text, length);
}

/* The curve, scaled so that the largest of all selected fills the height. */
static void plot_unit(const struct page *page, const struct wi_unit_estimate *unit, double low, double high,
                      uint32_t columns, uint32_t rows, char *lines, size_t stride)
{
    double x[WI_MODEL_MAX_SPEEDUPS], y[WI_MODEL_MAX_SPEEDUPS];
    size_t n = 0;
    for (uint32_t i = 0; i < unit->gains.n; i++) {
        if (!unit->gains.at[i].in_fit)
            continue;
        x[n] = unit->gains.at[i].speedup_percent / 100;
        y[n++] = unit->gains.at[i].fitted;
    }
    struct wi_plot plot = {columns, rows, page->style->unicode, low, high};
    wi_plot_curve(&plot, x, y, n, lines, stride);
}

/* ---- the table ------------------------------------------------------------------------------------------------------- */

struct table {
    const struct wi_point_estimate *point;
    const struct wi_unit_estimate **units;
    uint32_t n_units;
    double steps[WI_MODEL_MAX_SPEEDUPS];
    uint32_t n_steps;
    size_t name_columns, step_columns;
    bool bound, tried, curve;
    double low, high; /* of all curves */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void add_step(struct table *table, double step)
{
    for (uint32_t i = 0; i < table->n_steps; i++)
        if (table->steps[i] == step)
            return;
    if (table->n_steps < WI_MODEL_MAX_SPEEDUPS)
        table->steps[table->n_steps++] = step;
}

static void collect(struct table *table)
{
    for (uint32_t i = 0; i < table->n_units; i++) {
        const struct wi_gains *gains = &table->units[i]->gains;
        for (uint32_t j = 0; j < gains->n; j++) {
            add_step(table, gains->at[j].speedup_percent);
            if (gains->at[j].in_fit) {
                table->low = fmin(table->low, gains->at[j].fitted);
                table->high = fmax(table->high, gains->at[j].fitted);
            }
        }
    }
    qsort(table->steps, table->n_steps, sizeof *table->steps, ascending);
}

static size_t columns_besides_name(const struct table *table)
{
    return RANK + NUMBER + (table->bound ? NUMBER : 0) + (table->tried ? NUMBER : 0) +
           table->n_steps * table->step_columns + (table->curve ? CURVE + 1 : 0);
}

/* Every second step goes; the last, the limit of what is possible, stays. */
static void thin_steps(struct table *table)
{
    uint32_t kept = 0;
    for (uint32_t i = (table->n_steps - 1) % 2; i < table->n_steps; i += 2)
        table->steps[kept++] = table->steps[i];
    table->n_steps = kept;
}

static void fit_width(struct table *table, const struct page *page)
{
    char name[WI_PHRASE];
    size_t wanted = MIN_NAME, width = page->style->width;
    for (uint32_t i = 0; i < table->n_units; i++) {
        wi_phrase_name(page->report, table->units[i], name);
        wanted = wi_columns(name) > wanted ? wi_columns(name) : wanted;
    }
    wanted = wanted < MAX_NAME ? wanted : MAX_NAME;
    table->bound = table->tried = table->curve = true;
    size_t least = wanted < 24 ? wanted : 24;
    if (columns_besides_name(table) + least > width || !page->style->unicode)
        table->curve = false;
    if (columns_besides_name(table) + least > width)
        table->bound = false;
    if (columns_besides_name(table) + MIN_NAME > width)
        table->tried = false;
    while (columns_besides_name(table) + MIN_NAME > width && table->n_steps > 1)
        thin_steps(table);
    size_t rest = width > columns_besides_name(table) ? width - columns_besides_name(table) : 0;
    table->name_columns = rest < MIN_NAME ? MIN_NAME : rest < wanted ? rest : wanted;
}

static void print_head(const struct page *page, const struct table *table)
{
    char step[32];
    fprintf(page->out, "%*s", RANK, "");
    wi_print_cell(page->style, page->out, "unit", table->name_columns);
    right(page, "share", NUMBER);
    if (table->bound)
        right(page, "bound", NUMBER);
    if (table->tried)
        right(page, "tried", NUMBER);
    for (uint32_t i = 0; i < table->n_steps; i++) {
        snprintf(step, sizeof step, "%.4g %%", table->steps[i]);
        right(page, step, table->step_columns);
    }
    fputs(table->curve ? " curve\n" : "\n", page->out);
}

static enum wi_colour colour_of(const struct wi_unit_estimate *unit)
{
    if (unit->clearly_positive && unit->gains.max_low > 0)
        return WI_GREEN;
    if (unit->gains.has_curve && unit->gains.max_high < 0)
        return WI_RED;
    return unit->gains.has_curve ? WI_PLAIN : WI_DIM;
}

static void print_row(const struct page *page, const struct table *table, uint32_t rank)
{
    const struct wi_unit_estimate *unit = table->units[rank];
    char text[WI_PHRASE], tried[16];
    fputs(wi_colour(page->style, colour_of(unit)), page->out);
    fprintf(page->out, "%*u ", RANK - 1, rank + 1);
    wi_phrase_name(page->report, unit, text);
    wi_print_cell(page->style, page->out, text, table->name_columns);
    percent_cell(unit->share, text, sizeof text);
    right(page, text, NUMBER);
    percent_cell(unit->bound, text, sizeof text);
    if (table->bound)
        right(page, text, NUMBER);
    snprintf(tried, sizeof tried, "%u", unit->experiments);
    if (table->tried)
        right(page, tried, NUMBER);
    for (uint32_t i = 0; i < table->n_steps; i++) {
        gain_cell(page, table->point, gain_at(unit, table->steps[i]), text, sizeof text);
        right(page, text, table->step_columns);
    }
    if (table->curve && unit->gains.has_curve) {
        plot_unit(page, unit, table->low, table->high, CURVE, 1, text, sizeof text);
        fprintf(page->out, " %s", text);
    }
    fprintf(page->out, "%s\n", wi_colour_end(page->style));
}

static void print_table(const struct page *page, const struct wi_point_estimate *point,
                        const struct wi_unit_estimate **units, uint32_t n)
{
    struct table table = {.point = point, .units = units, .n_units = n};
    table.step_columns = page->style->unicode ? 11 : 12;
    collect(&table);
    fit_width(&table, page);
    fprintf(page->out, "\n");
    char caption[WI_PHRASE];
    snprintf(caption, sizeof caption,
             "Gain in %% (%s) at each speedup of the unit. Share: of all samples%s%s",
             wi_phrase_measure(page->report, point),
             table.bound ? ". Bound: of the time, spent in it, which bounds the gain" : "",
             table.tried ? ". Tried: experiments" : "");
    wi_print_wrapped(page->style, page->out, "    ", caption);
    print_head(page, &table);
    for (uint32_t i = 0; i < n; i++)
        print_row(page, &table, i);
}

/* ---- one unit in full ------------------------------------------------------------------------------------------------- */

static void print_steps(const struct page *page, const struct wi_point_estimate *point,
                        const struct wi_unit_estimate *unit)
{
    bool wide = page->style->width >= STEPS_WIDTH;
    fprintf(page->out, "    %8s %8s   %-16s", "speedup", "gain", "95 % interval");
    fprintf(page->out, wide ? " %11s %10s\n" : "\n", "experiments", "visits");
    for (uint32_t i = 0; i < unit->gains.n; i++) {
        const struct wi_gain *gain = &unit->gains.at[i];
        char value[32] = "no visit", interval[64] = "-";
        if (gain->known)
            snprintf(value, sizeof value, "%.1f", wi_said_gain(page->report, point, gain->gain));
        if (gain->has_interval)
            snprintf(interval, sizeof interval, "%.1f to %.1f", wi_said_gain(page->report, point, gain->low),
                     wi_said_gain(page->report, point, gain->high));
        fprintf(page->out, "    %6.4g %% %8s   %-16s", gain->speedup_percent, value, interval);
        fprintf(page->out, wide ? " %11u %10.0f\n" : "\n", gain->experiments, gain->visits);
    }
}

static void print_plot(const struct page *page, const struct wi_unit_estimate *unit)
{
    char lines[PLOT_ROWS][PLOT_WIDTH * 3 + 1];
    double low = 0, high = 0.01;
    for (uint32_t i = 0; i < unit->gains.n; i++) {
        if (!unit->gains.at[i].in_fit)
            continue;
        low = fmin(low, unit->gains.at[i].fitted);
        high = fmax(high, unit->gains.at[i].fitted);
    }
    plot_unit(page, unit, low, high, PLOT_WIDTH, PLOT_ROWS, lines[0], sizeof lines[0]);
    for (int i = 0; i < PLOT_ROWS; i++) {
        char edge[16] = "";
        if (i == 0 || i == PLOT_ROWS - 1)
            snprintf(edge, sizeof edge, "%.1f %%", (i == 0 ? high : low) * 100);
        fprintf(page->out, "    %9s |%s\n", edge, lines[i]);
    }
    fprintf(page->out, "    %9s +", "");
    for (int i = 0; i < PLOT_WIDTH; i++)
        putc('-', page->out);
    fprintf(page->out, "\n    %9s 0 %%%*s\n", "", PLOT_WIDTH - 3, "100 %");
}

static void print_in_full(const struct page *page, const struct wi_point_estimate *point,
                          const struct wi_unit_estimate *estimate)
{
    const struct wi_model_unit *unit = wi_unit_of(page->report, estimate);
    char name[WI_PHRASE], file[WI_PHRASE] = "", share[16], bound[16];
    wi_phrase_name(page->report, estimate, name);
    if (unit->file != NULL)
        wi_clean(file, sizeof file, unit->file);
    percent_cell(estimate->share, share, sizeof share);
    percent_cell(estimate->bound, bound, sizeof bound);
    fprintf(page->out, "\n  %s", wi_colour(page->style, WI_BOLD));
    wi_print_cell(page->style, page->out, name, wi_columns(name));
    fprintf(page->out, "%s\n", wi_colour_end(page->style));
    if (file[0] != '\0')
        wi_print_wrapped(page->style, page->out, "    ", file);
    char facts[128];
    snprintf(facts, sizeof facts, "share of samples %s %%, bound %s %%, %u experiments, %u more do not count",
             share, bound, estimate->experiments, estimate->invalid);
    wi_print_wrapped(page->style, page->out, "    ", facts);
    if (estimate->gains.n > 0)
        print_steps(page, point, estimate);
    if (estimate->gains.has_curve)
        print_plot(page, estimate);
}

/* ---- points --------------------------------------------------------------------------------------------------------------- */

static void print_sentence(const struct page *page, const struct wi_point_estimate *point,
                           const struct wi_unit_estimate *unit, uint32_t rank)
{
    char name[WI_PHRASE], gain[WI_PHRASE], text[2 * WI_PHRASE + 4], number[16];
    wi_phrase_name(page->report, unit, name);
    wi_phrase_gain(page->report, point, unit, gain);
    snprintf(text, sizeof text, "%s: %s", name, gain);
    snprintf(number, sizeof number, "%3u. ", rank + 1);
    fputs(wi_colour(page->style, colour_of(unit)), page->out);
    wi_print_wrapped(page->style, page->out, number, text);
    fputs(wi_colour_end(page->style), page->out);
}

static void print_units(const struct page *page, const struct wi_point_estimate *point,
                        const struct wi_unit_estimate **units)
{
    uint32_t untold, n = wi_select_units(page->report, point, units, point->n_units, &untold);
    for (uint32_t i = 0; i < n; i++)
        print_sentence(page, point, units[i], i);
    if (n == 0) {
        fprintf(page->out, "  no unit was experimented on\n");
        return;
    }
    if (untold > 0)
        fprintf(page->out, "     and %u more (--top %u shows them)\n", untold, n + untold);
    print_table(page, point, units, n);
    for (uint32_t i = 0; i < n && (page->report->options->verbose || page->report->options->unit != NULL);
         i++)
        print_in_full(page, point, units[i]);
}

static void print_point(const struct page *page, const struct wi_point_estimate *point)
{
    char text[WI_PHRASE];
    wi_phrase_point(page->report, point, text);
    fprintf(page->out, "\n%s", wi_colour(page->style, WI_BOLD));
    wi_print_wrapped(page->style, page->out, "", text);
    fprintf(page->out, "%s", wi_colour_end(page->style));
    if (point->pausing.demand_limited && !page->report->options->verbose) {
        wi_print_wrapped(
            page->style, page->out, "  ",
            "Something outside the program paces these visits: no gain can be told (see below).");
        return;
    }
    const struct wi_unit_estimate **units = calloc(point->n_units + 1, sizeof *units);
    if (units != NULL)
        print_units(page, point, units);
    free(units);
}

/* ---- without gains: where the time went ------------------------------------------------------------------------------- */

static int by_samples(const void *a, const void *b)
{
    const struct wi_model_unit *x = *(const struct wi_model_unit *const *)a;
    const struct wi_model_unit *y = *(const struct wi_model_unit *const *)b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void print_time(const struct page *page)
{
    const struct wi_model *model = page->report->model;
    const struct wi_model_unit **units = calloc(model->n_units + 1, sizeof *units);
    double in_scope = 0;
    for (uint32_t i = 0; i < model->n_profiles; i++)
        in_scope += (double)model->profiles[i].tally.samples_in_scope;
    if (units == NULL || in_scope == 0) {
        free(units);
        return;
    }
    for (uint32_t i = 0; i < model->n_units; i++)
        units[i] = &model->units[i];
    qsort(units, model->n_units, sizeof *units, by_samples);
    fprintf(page->out, "\nWhere the time went (share of %.0f samples, in %%):\n", in_scope);
    for (uint32_t i = 0; i < model->n_units && i < TIME_UNITS && units[i]->samples > 0; i++) {
        char name[WI_PHRASE];
        wi_clean(name, sizeof name, units[i]->name);
        fprintf(page->out, "  %5.1f  ", units[i]->samples / in_scope * 100);
        size_t room = page->style->width - 9;
        wi_print_cell(page->style, page->out, name, wi_columns(name) < room ? wi_columns(name) : room);
        putc('\n', page->out);
    }
    free(units);
}

/* ---- the page ------------------------------------------------------------------------------------------------------------- */

static void print_findings(const struct page *page)
{
    const struct wi_report *report = page->report;
    if (report->n_findings == 0)
        return;
    fprintf(page->out, "\n%sDiagnosis%s\n", wi_colour(page->style, WI_BOLD), wi_colour_end(page->style));
    for (uint32_t i = 0; i < report->n_findings; i++) {
        const struct wi_finding *finding = &report->findings[i];
        char text[2048], counted[2100];
        wi_clean(text, sizeof text, finding->text);
        snprintf(counted, sizeof counted, finding->count > 1 ? "%s (%llu times)" : "%s", text,
                 (unsigned long long)finding->count);
        wi_print_wrapped(page->style, page->out, "  - ", counted);
    }
}

void wi_report_as_text(const struct wi_report *report, const struct wi_style *style, FILE *out)
{
    struct page page = {report, style, out};
    char text[WI_PHRASE];
    wi_phrase_command(report, text);
    fputs(wi_colour(style, WI_BOLD), out);
    wi_print_wrapped(style, out, "", text);
    fputs(wi_colour_end(style), out);
    wi_phrase_run(report, text);
    wi_print_wrapped(style, out, "", text);
    if (!wi_has_gains(report)) {
        fprintf(out, "\nThere is no gain to report%s\n",
                report->n_findings > 0 ? "; the diagnosis says why." : ".");
        print_time(&page);
    }
    for (uint32_t i = 0; i < report->estimate.n_points; i++)
        if (wi_wants_point(report, &report->estimate.points[i]))
            print_point(&page, &report->estimate.points[i]);
    print_findings(&page);
}
