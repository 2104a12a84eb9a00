/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a person should know about a run before believing its figures: the notices that the run left, and what the
 * data themselves show. In this order, since the notices tell why there may be no data.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/report/internal.h"

#define LOUD_NOISE    0.1  /* share of processor time taken by strangers */
#define MUCH_GUESSED  0.05 /* share of the time that waits absorbed */
#define PLACEBO_LIMIT 0.02 /* gain of placebos that makes one doubt */
#define COARSE        1.0  /* periods per visit, below which lumps bend the answer */

/* What notices mean, for those that come without a text. */
static const struct {
    const char *code, *text;
} meanings[] = {
    {"no-progress-point", "The program has no progress point. Mark where a unit of its work is done: "
                          "WHATIF_PROGRESS_NAMED(\"name\") from "
                          "whatif.h; or run it to its end again and again with --runs."},
    {"no-visits",
     "No progress point was visited while experiments were made. Is there work to do, and is the "
     "point on its path?"},
    {"no-samples",
     "No sample arrived: the program used next to no processor time, or sampling does not work here "
     "(whatif doctor)."},
    {"no-sample-in-scope", "No sample fell into the program's own code. Widen the scope: --scope takes globs "
                           "for binaries, files and "
                           "functions."},
    {"too-short", "The run was too short for experiments. Give it more work, or repeat it with --runs."},
    {"sampling-refused", "The kernel refused to sample. whatif doctor shows the command that allows it."},
    {"no-debug-info",
     "The program has no debug information, so there are functions but no lines. Compile it with -g."},
    {"samples-lost", "Samples were lost because the launcher could not keep up."},
    {"stacks-broken", "Stacks could not be walked to the program's own code."},
    {"stripped", "The program is stripped: neither lines nor functions are known."},
};

static void add_finding(struct wi_report *report, const char *code, const char *text, uint64_t count)
{
    struct wi_finding *grown = realloc(report->findings, (report->n_findings + 1) * sizeof *grown);
    char *own_code = strdup(code), *own_text = strdup(text);
    if (grown != NULL)
        report->findings = grown;
    if (grown == NULL || own_code == NULL || own_text == NULL) {
        report->failed = true;
        free(own_code);
        free(own_text);
        return;
    }
    report->findings[report->n_findings++] = (struct wi_finding){own_code, own_text, count};
}

static bool has_finding(const struct wi_report *report, const char *code)
{
    for (uint32_t i = 0; i < report->n_findings; i++)
        if (strcmp(report->findings[i].code, code) == 0)
            return true;
    return false;
}

__attribute__((format(printf, 3, 4))) static void say(struct wi_report *report, const char *code,
                                                      const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
        report->failed = true;
    }
    va_end(arguments);
    if (text != NULL)
        add_finding(report, code, text, 0);
    free(text);
}

/* Say it with the words for that code, unless the run said so itself. */
static void say_known(struct wi_report *report, const char *code)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].code, code) == 0 && !has_finding(report, code))
            add_finding(report, code, meanings[i].text, 0);
}

/* ---- what the run said -------------------------------------------------------------------------------------------- */

static void add_notices(struct wi_report *report)
{
    const struct wi_model *model = report->model;
    for (uint32_t i = 0; i < model->n_notices; i++) {
        const struct wi_model_notice *notice = &model->notices[i];
        const char *text = notice->text;
        for (size_t j = 0; text[0] == '\0' && j < sizeof meanings / sizeof *meanings; j++)
            if (strcmp(meanings[j].code, notice->code) == 0)
                text = meanings[j].text;
        add_finding(report, notice->code, text[0] != '\0' ? text : notice->code, notice->count);
    }
}

/* ---- the files ------------------------------------------------------------------------------------------------------ */

static void diagnose_file(struct wi_report *report, const struct wi_model_profile *profile)
{
    const struct wi_profile_trouble *trouble = &profile->trouble;
    const char *path = profile->path != NULL ? profile->path : "the profile";
    if (trouble->truncated)
        say(report, "profile-truncated",
            "%s ends in the middle of line %llu: its writer was killed. Everything before that line was "
            "used.",
            path, (unsigned long long)trouble->lines);
    if (trouble->skipped > 0)
        say(report, "profile-damaged",
            "%s: %llu of %llu lines are damaged (the first is line %llu: it %s). They were left out, the "
            "others used.",
            path, (unsigned long long)trouble->skipped, (unsigned long long)trouble->lines,
            (unsigned long long)trouble->first_line, trouble->why);
    if (profile->path != NULL && !profile->ended && !trouble->truncated)
        say(report, "profile-unfinished", "%s has no end: the run goes on, or whatif was killed.", path);
}

/* ---- why there may be nothing -------------------------------------------------------------------------------------- */

static double all_visits(const struct wi_model *model)
{
    double sum = 0;
    for (uint32_t i = 0; i < model->n_points; i++)
        sum += model->points[i]->visits;
    return sum;
}

static uint64_t all_samples(const struct wi_model *model, bool in_scope)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < model->n_profiles; i++)
        sum += in_scope ? model->profiles[i].tally.samples_in_scope : model->profiles[i].tally.samples;
    return sum;
}

static void diagnose_emptiness(struct wi_report *report)
{
    const struct wi_model *model = report->model;
    if (model->n_points == 0)
        say_known(report, "no-progress-point");
    else if (model->valid > 0 && all_visits(model) == 0)
        say_known(report, "no-visits");
    if (model->valid > 0)
        return;
    if (all_samples(model, false) == 0)
        say_known(report, "no-samples");
    else if (all_samples(model, true) == 0)
        say_known(report, "no-sample-in-scope");
    if (model->experiments > 0)
        say(report, "no-valid-experiment", "None of %u experiments is valid.", model->experiments);
    else
        say(report, "no-experiments", "No experiment was made.");
}

/* ---- experiments ------------------------------------------------------------------------------------------------------- */

static void diagnose_invalid(struct wi_report *report)
{
    const struct wi_model *model = report->model;
    for (uint32_t i = 0; i < model->n_invalid; i++)
        say(report, "experiments-invalid", "%u of %u experiments do not count: %s.",
            model->invalid[i].experiments, model->experiments, model->invalid[i].why);
    if (model->left_out > 0)
        say(report, "left-out",
            "%llu entries beyond fixed limits (%d points, %d speedups of a unit) were left out.",
            (unsigned long long)model->left_out, WI_MODEL_MAX_POINTS, WI_MODEL_MAX_SPEEDUPS);
}

static void diagnose_run(struct wi_report *report)
{
    const struct wi_model *model = report->model;
    if (model->noise_n > 0 && model->noise_sum / model->noise_n > LOUD_NOISE)
        say(report, "noisy-machine",
            "Other programs took %.0f %% of the processors during the experiments. Intervals are wider for "
            "it.",
            model->noise_sum / model->noise_n * 100);
    if (model->guessed_ns > MUCH_GUESSED * (model->absorbed_ns + model->paused_ns) && model->guessed_ns > 0)
        say(report, "guessed-waits",
            "%.0f %% of the delay that waits absorbed was in waits outside any known call, and rests on a "
            "guess.",
            fmin(100, model->guessed_ns / fmax(model->guessed_ns, model->absorbed_ns) * 100));
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

static void diagnose_pausing(struct wi_report *report, const struct wi_point_estimate *point,
                             const char *name)
{
    const struct wi_pausing *pausing = &point->pausing;
    if (!pausing->known)
        return;
    char correction[128] = "That is within its error, and nothing was corrected.";
    if (pausing->cost_ns != 0)
        snprintf(correction, sizeof correction,
                 "Gains are corrected for %.3g us that each pause was found to cost.",
                 pausing->cost_ns / 1000);
    say(report, "pause-cost",
        "%s: placebos (%u, the same pauses without a speedup) show a gain of %.1f %% (%.1f to %.1f) that "
        "should be 0. "
        "%s",
        name, pausing->experiments, pausing->gain * 100, pausing->low * 100, pausing->high * 100, correction);
    if (fabs(pausing->gain) > PLACEBO_LIMIT && (pausing->low > 0 || pausing->high < 0) &&
        !pausing->demand_limited)
        say(report, "placebo-gain",
            "%s: pausing itself changes this program by %.1f %%. Trust gains of that size only as far as the "
            "correction goes.",
            name, pausing->gain * 100);
}

static void diagnose_units(struct wi_report *report, const struct wi_point_estimate *point, const char *name)
{
    uint32_t open = 0, small = 0, unpaired = 0;
    for (uint32_t i = 0; i < point->n_units; i++) {
        const struct wi_unit_estimate *unit = &point->units[i];
        open += unit->experiments > 0 && !unit->decided;
        small += unit->experiments == 0 && unit->decided;
        unpaired += unit->unpaired;
    }
    if (open > 0 && !point->pausing.demand_limited)
        say(report, "open",
            "%s: %u unit%s still open. A longer run, or several reported together, decides more.", name, open,
            open == 1 ? " is" : "s are");
    if (small > 0)
        say(report, "below-interest",
            "%s: %u unit%s not tried, because less than %.4g %% of the time is spent there, which bounds the "
            "gain.",
            name, small, small == 1 ? " was" : "s were", report->options->estimate.min_impact_percent);
    if (unpaired > 0)
        say(report, "unpaired-blocks", "%s: %u blocks have no baseline and were of no use.", name, unpaired);
}

static double shortest_period(const struct wi_model *model)
{
    double period = 0;
    for (uint32_t i = 0; i < model->n_profiles; i++)
        period = fmax(period, (double)model->profiles[i].period_ns);
    return period;
}

static void diagnose_granularity(struct wi_report *report, const struct wi_point_estimate *point,
                                 const char *name)
{
    bool latency = wi_point_of(report, point)->kind == WI_POINT_LATENCY;
    double period = shortest_period(report->model);
    double visit_ns = latency ? point->value : 1e9 / point->value;
    if (point->has_value && period > 0 && visit_ns < COARSE * period)
        say(report, "coarse-period",
            "%s: a visit is shorter than a sampling period. Where threads meet within that time, gains may "
            "be bent.",
            name);
}

static void diagnose_point(struct wi_report *report, const struct wi_point_estimate *point)
{
    char name[200];
    const struct wi_model_point *data = wi_point_of(report, point);
    wi_clean(name, sizeof name, data->name);
    if (point->pausing.demand_limited)
        say(report, "demand-limited",
            "%s: visits follow the wall clock, not the program: something outside paces them. Faster code "
            "will not raise "
            "their number; measure a latency instead.",
            name);
    uint32_t without = report->model->valid - (data->experiments - data->without_visits);
    if (without > 0 && report->model->valid > 0 && data->visits > 0)
        say(report, "experiments-without-visits", "%s: %u of %u experiments saw no visit.", name, without,
            report->model->valid);
    if (report->model->valid > 0 && data->visits == 0)
        say(report, "point-without-visits", "%s: was not visited in any experiment.", name);
    diagnose_pausing(report, point, name);
    diagnose_granularity(report, point, name);
    diagnose_units(report, point, name);
}

void wi_diagnose(struct wi_report *report)
{
    add_notices(report);
    for (uint32_t i = 0; i < report->model->n_profiles; i++)
        diagnose_file(report, &report->model->profiles[i]);
    diagnose_emptiness(report);
    diagnose_invalid(report);
    diagnose_run(report);
    for (uint32_t i = 0; i < report->estimate.n_points; i++)
        if (wi_wants_point(report, &report->estimate.points[i]))
            diagnose_point(report, &report->estimate.points[i]);
}

void wi_diagnosis_fini(struct wi_report *report)
{
    for (uint32_t i = 0; i < report->n_findings; i++) {
        free(report->findings[i].code);
        free(report->findings[i].text);
    }
    free(report->findings);
    report->findings = NULL;
    report->n_findings = 0;
}
