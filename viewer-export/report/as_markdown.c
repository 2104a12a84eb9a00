/* SPDX-License-Identifier: BSD-2-Clause */
/* The report as Markdown, for issues, pull requests and wikis: a table for each progress point. */
#include <stdlib.h>
#include <string.h>

#include "viewer-export/report/internal.h"

/* Text that Markdown or HTML would take for markup is escaped; lines stay one line. */
static void put_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (strchr("\\`*_[]|#!~", *text) != NULL)
            fprintf(out, "\\%c", *text);
        else
            putc(*text, out);
    }
}

static void put_cell(FILE *out, const char *text)
{
    fputs(" ", out);
    put_escaped(out, text);
    fputs(" |", out);
}

static void put_share(FILE *out, double share)
{
    if (share < 0)
        fputs(" - |", out);
    else
        fprintf(out, " %.1f |", share * 100);
}

static void put_steps(const struct wi_report *report, FILE *out, const struct wi_point_estimate *point,
                      const struct wi_unit_estimate *unit)
{
    const char *separator = " ";
    for (uint32_t i = 0; i < unit->gains.n; i++) {
        const struct wi_gain *gain = &unit->gains.at[i];
        fprintf(out, "%s%.4g %%: ", separator, gain->speedup_percent);
        if (!gain->known)
            fputs("no visit", out);
        else if (!gain->has_interval)
            fprintf(out, "%.1f", wi_said_gain(report, point, gain->gain));
        else
            fprintf(out, "%.1f (%.1f to %.1f)", wi_said_gain(report, point, gain->gain),
                    wi_said_gain(report, point, gain->low), wi_said_gain(report, point, gain->high));
        separator = "<br>";
    }
    fputs(" |\n", out);
}

static void put_row(const struct wi_report *report, FILE *out, const struct wi_point_estimate *point,
                    const struct wi_unit_estimate *unit, uint32_t rank)
{
    char text[WI_PHRASE];
    fprintf(out, "| %u |", rank + 1);
    wi_phrase_name(report, unit, text);
    put_cell(out, text);
    if (unit->gains.has_curve)
        snprintf(text, sizeof text, "%.1f (%.1f to %.1f)%s", wi_said_gain(report, point, unit->gains.max),
                 wi_said_gain(report, point, unit->gains.max_low),
                 wi_said_gain(report, point, unit->gains.max_high),
                 unit->gains.max_high < 0 ? ", slower"
                 : unit->clearly_positive ? ""
                                          : ", not clear");
    else
        snprintf(text, sizeof text, "%s", unit->undecided_because != NULL ? unit->undecided_because : "-");
    put_cell(out, text);
    put_share(out, unit->share);
    put_share(out, unit->bound);
    fprintf(out, " %u |", unit->experiments);
    put_steps(report, out, point, unit);
}

static void put_point(const struct wi_report *report, FILE *out, const struct wi_point_estimate *point)
{
    char text[WI_PHRASE];
    const struct wi_unit_estimate **units = calloc(point->n_units + 1, sizeof *units);
    if (units == NULL)
        return;
    uint32_t untold, n = wi_select_units(report, point, units, point->n_units, &untold);
    wi_clean(text, sizeof text, wi_point_of(report, point)->name);
    fputs("\n### ", out);
    put_escaped(out, text);
    fputs("\n\n", out);
    wi_phrase_point(report, point, text);
    put_escaped(out, text);
    fputs(".\n", out);
    if (n > 0) {
        fprintf(out, "\nGain: %s, in %%.\n\n", wi_phrase_measure(report, point));
        fputs("| # | unit | largest gain | share | bound | experiments | gain by speedup |\n", out);
        fputs("| ---: | --- | ---: | ---: | ---: | ---: | --- |\n", out);
    }
    for (uint32_t i = 0; i < n; i++)
        put_row(report, out, point, units[i], i);
    if (untold > 0)
        fprintf(out, "\nAnd %u more.\n", untold);
    free(units);
}

void wi_report_as_markdown(const struct wi_report *report, FILE *out)
{
    char text[2048];
    wi_phrase_command(report, text);
    fputs("## whatif: ", out);
    put_escaped(out, text);
    fputs("\n\n", out);
    wi_phrase_run(report, text);
    put_escaped(out, text);
    fputs(".\n", out);
    if (!wi_has_gains(report))
        fputs("\nThere is no gain to report.\n", out);
    for (uint32_t i = 0; i < report->estimate.n_points; i++)
        if (wi_wants_point(report, &report->estimate.points[i]))
            put_point(report, out, &report->estimate.points[i]);
    if (report->n_findings > 0)
        fputs("\n### Diagnosis\n\n", out);
    for (uint32_t i = 0; i < report->n_findings; i++) {
        wi_clean(text, sizeof text, report->findings[i].text);
        fputs("- ", out);
        put_escaped(out, text);
        if (report->findings[i].count > 1)
            fprintf(out, " (%llu times)", (unsigned long long)report->findings[i].count);
        fputs("\n", out);
    }
}
