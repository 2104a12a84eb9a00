/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Selection and wording that text and Markdown share.
 *
 * A gain is said as a claim only where it stands out after the correction for having looked at many units. What is
 * merely possible is called that.
 */
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "viewer-export/report/internal.h"

#define DEFAULT_TOP 10
#define MOST_SAID   1000.0 /* percent of throughput gained; beyond, the number means "nearly all of the time" */
#define NEARLY_ALL  0.95   /* of the largest gain, to say at which speedup it is reached */

/* ---- selection ------------------------------------------------------------------------------------------------------ */

static bool matches(const char *pattern, const char *name)
{
    return pattern == NULL || strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

const struct wi_model_point *wi_point_of(const struct wi_report *report,
                                         const struct wi_point_estimate *point)
{
    return report->model->points[point->point];
}

const struct wi_model_unit *wi_unit_of(const struct wi_report *report, const struct wi_unit_estimate *unit)
{
    return &report->model->units[unit->unit];
}

bool wi_wants_point(const struct wi_report *report, const struct wi_point_estimate *point)
{
    return matches(report->options->point, wi_point_of(report, point)->name);
}

bool wi_wants_unit(const struct wi_report *report, const struct wi_unit_estimate *unit)
{
    return matches(report->options->unit, wi_unit_of(report, unit)->name);
}

uint32_t wi_select_units(const struct wi_report *report, const struct wi_point_estimate *point,
                         const struct wi_unit_estimate **selected, uint32_t limit, uint32_t *untold)
{
    uint32_t top = report->options->top, n = 0;
    if (top == 0)
        top = report->options->verbose || report->options->unit != NULL ? limit : DEFAULT_TOP;
    *untold = 0;
    for (uint32_t i = 0; i < point->n_units; i++) {
        const struct wi_unit_estimate *unit = &point->units[i];
        if (unit->experiments == 0 || !wi_wants_unit(report, unit))
            continue;
        if (n < top && n < limit)
            selected[n++] = unit;
        else
            ++*untold;
    }
    return n;
}

bool wi_has_gains(const struct wi_report *report)
{
    for (uint32_t i = 0; i < report->estimate.n_points; i++) {
        const struct wi_point_estimate *point = &report->estimate.points[i];
        for (uint32_t j = 0; wi_wants_point(report, point) && j < point->n_units; j++)
            if (point->units[j].gains.has_curve && wi_wants_unit(report, &point->units[j]))
                return true;
    }
    return false;
}

/* ---- numbers --------------------------------------------------------------------------------------------------------- */

static bool says_throughput(const struct wi_report *report, const struct wi_point_estimate *point)
{
    return report->options->as_throughput && wi_point_of(report, point)->kind == WI_POINT_THROUGHPUT;
}

double wi_said_gain(const struct wi_report *report, const struct wi_point_estimate *point, double gain)
{
    if (!says_throughput(report, point))
        return gain * 100;
    return gain < 1 ? fmin(MOST_SAID, (1 / (1 - gain) - 1) * 100) : MOST_SAID;
}

const char *wi_phrase_measure(const struct wi_report *report, const struct wi_point_estimate *point)
{
    if (wi_point_of(report, point)->kind == WI_POINT_LATENCY)
        return "less mean latency";
    return says_throughput(report, point) ? "more throughput" : "less time per visit";
}

static const char *saved(const struct wi_report *report, const struct wi_point_estimate *point)
{
    if (wi_point_of(report, point)->kind == WI_POINT_LATENCY)
        return "of the mean latency";
    return says_throughput(report, point) ? "more throughput" : "of the time per visit";
}

static const char *time_text(double ns, char *out, size_t size)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    for (; unit < 3 && ns >= 999.5; unit++)
        ns /= 1000;
    snprintf(out, size, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, units[unit]);
    return out;
}

static const char *rate_text(double rate, char *out, size_t size)
{
    snprintf(out, size, "%.*f", rate < 0.9995 ? 4 : rate < 9.995 ? 2 : rate < 999.5 ? 1 : 0, rate);
    return out;
}

/* ---- phrases --------------------------------------------------------------------------------------------------------------- */

void wi_phrase_name(const struct wi_report *report, const struct wi_unit_estimate *estimate, char *out)
{
    const struct wi_model_unit *unit = wi_unit_of(report, estimate);
    char text[WI_PHRASE];
    bool adds = unit->function != NULL && unit->function[0] != '\0' && strcmp(unit->kind, "function") != 0 &&
                strcmp(unit->name, unit->function) != 0;
    if (adds)
        snprintf(text, sizeof text, "%s (%s)", unit->name, unit->function);
    wi_clean(out, WI_PHRASE, adds ? text : unit->name);
}

void wi_phrase_command(const struct wi_report *report, char *out)
{
    const struct wi_model *model = report->model;
    const char *command = model->n_profiles > 0 ? model->profiles[0].command : NULL;
    wi_clean(out, WI_PHRASE, command != NULL && command[0] != '\0' ? command : "unknown command");
}

void wi_phrase_run(const struct wi_report *report, char *out)
{
    const struct wi_model *model = report->model;
    const struct wi_model_profile *profile = model->n_profiles > 0 ? &model->profiles[0] : NULL;
    char period[32] = "", sampler[64] = "", runs[32] = "";
    if (profile != NULL && profile->sampler != NULL && profile->sampler[0] != '\0')
        wi_clean(sampler, sizeof sampler, profile->sampler);
    if (profile != NULL && profile->period_ns > 0)
        time_text((double)profile->period_ns, period, sizeof period);
    if (model->n_profiles > 1)
        snprintf(runs, sizeof runs, " in %u profiles", model->n_profiles);
    snprintf(out, WI_PHRASE, "%.1f s%s, %u experiment%s%s%s%s%s", wi_model_duration_s(model), runs,
             model->valid, model->valid == 1 ? "" : "s", sampler[0] != '\0' ? ", sampled by " : "", sampler,
             period[0] != '\0' ? " every " : "", period);
}

static void phrase_throughput(const struct wi_point_estimate *point, const char *name, char *out)
{
    char value[32], low[32], high[32];
    snprintf(out, WI_PHRASE, "%s: %s visits per second (%s to %s), %.0f visits", name,
             rate_text(point->value, value, sizeof value), rate_text(point->low, low, sizeof low),
             rate_text(point->high, high, sizeof high), point->visits);
}

static void phrase_latency(const struct wi_point_estimate *point, const char *name, char *out)
{
    char value[32], low[32], high[32], p50[32], p90[32], p99[32];
    int n = snprintf(out, WI_PHRASE, "%s: mean latency %s (%s to %s), %.0f ends", name,
                     time_text(point->value, value, sizeof value), time_text(point->low, low, sizeof low),
                     time_text(point->high, high, sizeof high), point->visits);
    if (point->p50 >= 0 && n > 0 && n < WI_PHRASE)
        snprintf(out + n, WI_PHRASE - (size_t)n, ", median %s, 90 %% below %s, 99 %% below %s",
                 time_text(point->p50, p50, sizeof p50), time_text(point->p90, p90, sizeof p90),
                 time_text(point->p99, p99, sizeof p99));
}

void wi_phrase_point(const struct wi_report *report, const struct wi_point_estimate *point, char *out)
{
    char name[200];
    wi_clean(name, sizeof name, wi_point_of(report, point)->name);
    if (!point->has_value)
        snprintf(out, WI_PHRASE, "%s: %.0f visits, none of them in a baseline", name, point->visits);
    else if (wi_point_of(report, point)->kind == WI_POINT_LATENCY)
        phrase_latency(point, name, out);
    else
        phrase_throughput(point, name, out);
}

/* The smallest tested speedup that gives nearly all of the largest gain. */
static double enough_speedup(const struct wi_gains *gains)
{
    for (uint32_t i = 0; i < gains->n; i++)
        if (gains->at[i].in_fit && gains->at[i].fitted >= NEARLY_ALL * gains->max)
            return gains->at[i].speedup_percent;
    return 100;
}

/* Every tested speedup lowers the throughput or lengthens the latency: say what the largest does. */
static void phrase_harm(const struct wi_report *report, const struct wi_point_estimate *point,
                        const struct wi_gains *gains, char *out)
{
    const struct wi_gain *last = NULL;
    for (uint32_t i = 0; i < gains->n; i++)
        if (gains->at[i].in_fit)
            last = &gains->at[i];
    const char *what = "the time per visit grows";
    if (wi_point_of(report, point)->kind == WI_POINT_LATENCY)
        what = "the mean latency grows";
    else if (says_throughput(report, point))
        what = "throughput falls";
    snprintf(out, WI_PHRASE,
             "speeding it up makes the program slower: at %.4g %% %s by %.1f %% (%.1f to %.1f)",
             last->speedup_percent, what, -wi_said_gain(report, point, last->fitted),
             -wi_said_gain(report, point, last->fitted_high), -wi_said_gain(report, point, last->fitted_low));
}

void wi_phrase_gain(const struct wi_report *report, const struct wi_point_estimate *point,
                    const struct wi_unit_estimate *unit, char *out)
{
    const struct wi_gains *gains = &unit->gains;
    if (!gains->has_curve) {
        snprintf(out, WI_PHRASE, "no figure: %s",
                 unit->undecided_because != NULL ? unit->undecided_because : "not enough data");
        return;
    }
    if (gains->max_high < 0) {
        phrase_harm(report, point, gains, out);
        return;
    }
    double max = wi_said_gain(report, point, gains->max);
    double low = wi_said_gain(report, point, gains->max_low),
           high = wi_said_gain(report, point, gains->max_high);
    char open[96] = "";
    if (!unit->decided)
        snprintf(open, sizeof open, "; still open: %s", unit->undecided_because);
    if (unit->clearly_positive && gains->max_low > 0 && says_throughput(report, point))
        snprintf(out, WI_PHRASE, "speeding it up by %.4g %% gives %.1f %% more throughput (%.1f to %.1f)%s",
                 enough_speedup(gains), max, low, high, open);
    else if (unit->clearly_positive && gains->max_low > 0)
        snprintf(out, WI_PHRASE, "speeding it up by %.4g %% saves %.1f %% %s (%.1f to %.1f)%s",
                 enough_speedup(gains), max, saved(report, point), low, high, open);
    else
        snprintf(out, WI_PHRASE, "no clear gain: %.1f %% (%.1f to %.1f)%s", max, low, high, open);
}
