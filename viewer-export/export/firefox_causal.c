/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Experiments and results as threads and counters of a Firefox profile.
 *
 * None of these threads exists in the program. They belong to its first process, so that the front end shows them
 * below its main thread, and have numbers that no thread can have.
 */
#include <math.h>
#include <stdlib.h>

#include "viewer-export/export/firefox.h"

#define FIRST_TID  INT64_C(10000000) /* above any pid_max */
#define MAX_GRAPHS 8                 /* progress points with a graph of their own: each is a track */

static uint32_t home_process(const struct wi_firefox *firefox)
{
    return firefox->recording->n_threads > 0 ? firefox->recording->threads[0].process : WI_NONE;
}

static void begin_thread(struct wi_firefox *firefox, const char *name, int64_t number, bool is_main)
{
    wi_ff_begin_thread(firefox, name, home_process(firefox), FIRST_TID + number, is_main, true);
    wi_out_integer(&firefox->json, "registerTime", 0);
    wi_out_null(&firefox->json, "unregisterTime");
}

static void write_cause(struct wi_firefox *firefox, uint32_t unit, uint64_t time_ns)
{
    struct wi_json_out *json = &firefox->json;
    if (firefox->unit_stacks[unit] == WI_NONE)
        return;
    wi_out_object(json, "cause");
    wi_out_count(json, "stack", firefox->unit_stacks[unit]);
    wi_out_integer(json, "tid", FIRST_TID);
    wi_out_ms(json, "time", time_ns);
    wi_out_end_object(json);
}

/* ---- results ------------------------------------------------------------------------------------------------------------- */

/* Gain per percent of speedup where the curve begins: its value at the smallest tested speedup, divided by that. */
static double first_slope(const struct wi_gains *gains)
{
    for (uint32_t i = 0; i < gains->n; i++)
        if (gains->at[i].in_fit && gains->at[i].speedup_percent > 0)
            return 100 * gains->at[i].fitted / gains->at[i].speedup_percent;
    return NAN;
}

static void write_cell(struct wi_json_out *json, const char *format, double value)
{
    char text[WI_FF_TEXT];
    snprintf(text, sizeof text, format, value);
    wi_out_text(json, NULL, isfinite(value) ? text : "?");
}

static void write_curve(struct wi_firefox *firefox, const struct wi_gains *gains)
{
    struct wi_json_out *json = &firefox->json;
    char text[WI_FF_TEXT];
    wi_out_array(json, "curve");
    for (uint32_t i = 0; i < gains->n; i++) {
        const struct wi_gain *gain = &gains->at[i];
        if (gain->experiments == 0)
            continue;
        double low = gain->has_interval ? 100 * gain->low : NAN,
               high = gain->has_interval ? 100 * gain->high : NAN;
        wi_out_array(json, NULL);
        write_cell(json, "%.6g %%", gain->speedup_percent);
        wi_out_text(json, NULL, wi_ff_interval(text, gain->known ? 100 * gain->gain : NAN, low, high));
        wi_out_text(json, NULL,
                    wi_ff_interval(text, gain->in_fit ? 100 * gain->fitted : NAN, 100 * gain->fitted_low,
                                   100 * gain->fitted_high));
        write_cell(json, "%.0f", gain->experiments);
        write_cell(json, "%.0f", gain->visits);
        wi_out_end_array(json);
    }
    wi_out_end_array(json);
}

static void result_data(struct wi_firefox *firefox, const struct wi_ff_marker *marker)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_point_estimate *point = &firefox->export->estimate.points[marker->first];
    const struct wi_unit_estimate *estimate = &point->units[marker->second];
    const struct wi_model_unit *unit = &firefox->model->units[estimate->unit];
    const struct wi_gains *gains = &estimate->gains;
    bool curve = gains->has_curve;
    char text[WI_FF_TEXT];
    wi_out_text(json, "type", "CausalResult");
    wi_out_count(json, "unit", wi_ff_string(firefox, unit->name));
    wi_out_count(json, "point", wi_ff_string(firefox, firefox->model->points[point->point]->name));
    wi_out_text(json, "kind", unit->kind);
    if (curve)
        wi_out_real(json, "maxGain", gains->max);
    wi_out_text(json, "maxGainText",
                curve ? wi_ff_interval(text, 100 * gains->max, 100 * gains->max_low, 100 * gains->max_high)
                      : "no figure yet");
    wi_out_text(json, "slope", wi_ff_percent(text, curve ? first_slope(gains) : NAN));
    wi_out_text(json, "share", wi_ff_percent(text, estimate->share >= 0 ? 100 * estimate->share : NAN));
    wi_out_text(json, "bound", wi_ff_percent(text, estimate->bound >= 0 ? 100 * estimate->bound : NAN));
    wi_out_count(json, "experiments", estimate->experiments);
    wi_out_text(json, "status", estimate->decided ? "yes" : estimate->undecided_because);
    write_curve(firefox, gains);
    wi_out_text(json, "color", !curve ? "grey" : estimate->clearly_positive ? "green" : "blue");
    write_cause(firefox, estimate->unit, marker->start_ns);
}

static struct wi_ff_marker *result_markers(struct wi_firefox *firefox, uint32_t *n)
{
    struct wi_ff_marker *markers = NULL;
    const struct wi_estimate *estimate = &firefox->export->estimate;
    *n = 0;
    for (uint32_t i = 0; i < estimate->n_points; i++) {
        const struct wi_point_estimate *point = &estimate->points[i];
        for (uint32_t j = 0; j < point->n_units && wi_export_wants_point(firefox->export, point->point);
             j++) {
            if (point->units[j].experiments == 0)
                continue;
            struct wi_ff_marker *marker = wi_append(&markers, n, sizeof *marker);
            if (marker == NULL) {
                firefox->failed = true;
                return markers;
            }
            /* All span the whole run; begun a microsecond apart they come in the order of their rank. */
            *marker = (struct wi_ff_marker){.start_ns = (uint64_t)(*n - 1) * 1000,
                                            .end_ns = firefox->recording->end_ns + (uint64_t)(*n) * 1000,
                                            .name = wi_ff_string(firefox, "Causal result"),
                                            .kind = WI_FF_RESULT,
                                            .category = WI_FF_CAUSAL,
                                            .first = i,
                                            .second = j};
        }
    }
    return markers;
}

void wi_ff_write_results(struct wi_firefox *firefox, bool is_main)
{
    uint32_t n;
    struct wi_ff_marker *markers = result_markers(firefox, &n);
    begin_thread(firefox, "Causal results", 0, is_main);
    wi_ff_write_no_samples(firefox);
    wi_ff_write_markers(firefox, markers, n, result_data);
    wi_out_end_object(&firefox->json);
    free(markers);
}

/* ---- experiments ----------------------------------------------------------------------------------------------------------- */

static double effective_s(const struct wi_rec_experiment *experiment)
{
    double wall = (double)experiment->end_ns - (double)experiment->start_ns - (double)experiment->delay_ns;
    return wall > 0 ? wall / 1e9 : 0;
}

static double rate(const struct wi_rec_experiment *experiment, const struct wi_rec_count *count)
{
    double seconds = effective_s(experiment);
    return seconds > 0 ? (double)count->visits / seconds : NAN;
}

static const struct wi_rec_count *counts_of(const struct wi_firefox *firefox,
                                            const struct wi_rec_experiment *experiment)
{
    return firefox->recording->counts + experiment->first_count;
}

static void write_points(struct wi_firefox *firefox, const struct wi_rec_experiment *experiment)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_rec_count *counts = counts_of(firefox, experiment);
    wi_out_array(json, "points");
    for (uint32_t i = 0; i < experiment->n_counts; i++) {
        wi_out_array(json, NULL);
        wi_out_text(json, NULL, firefox->model->points[counts[i].point]->name);
        write_cell(json, "%.0f", (double)counts[i].visits);
        write_cell(json, "%.6g", rate(experiment, &counts[i]));
        wi_out_end_array(json);
    }
    wi_out_end_array(json);
    if (experiment->n_counts == 0)
        return;
    double first = rate(experiment, &counts[0]);
    char text[WI_FF_TEXT];
    snprintf(text, sizeof text, "%.6g/s", first);
    if (isfinite(first))
        wi_out_real(json, "rate", first);
    wi_out_text(json, "rateText", isfinite(first) ? text : "?");
}

/* What all experiments on this unit at this speedup say together, for the first progress point counted. */
static void write_gain(struct wi_firefox *firefox, const struct wi_rec_experiment *experiment)
{
    const struct wi_point_estimate *point =
        experiment->n_counts > 0 ? wi_export_point(firefox->export, counts_of(firefox, experiment)->point)
                                 : NULL;
    char text[WI_FF_TEXT];
    for (uint32_t i = 0; point != NULL && i < point->n_units; i++) {
        if (point->units[i].unit != experiment->unit)
            continue;
        const struct wi_gain *gain = wi_export_gain_at(&point->units[i], experiment->speedup_percent);
        if (gain != NULL && gain->in_fit)
            wi_out_text(
                &firefox->json, "gain",
                wi_ff_interval(text, 100 * gain->fitted, 100 * gain->fitted_low, 100 * gain->fitted_high));
        return;
    }
}

static const char *experiment_color(const struct wi_rec_experiment *experiment)
{
    if (!experiment->valid)
        return "red";
    return experiment->kind == WI_EXPERIMENT_BASELINE  ? "grey"
           : experiment->kind == WI_EXPERIMENT_PLACEBO ? "yellow"
                                                       : "blue";
}

static void write_experiment(struct wi_firefox *firefox, const struct wi_rec_experiment *experiment)
{
    static const char *const kinds[] = {"baseline", "treatment", "placebo"};
    struct wi_json_out *json = &firefox->json;
    char text[WI_FF_TEXT];
    double effective_ms = effective_s(experiment) * 1e3;
    wi_out_text(json, "type", "CausalExperiment");
    wi_out_count(json, "unit", wi_ff_string(firefox, firefox->model->units[experiment->unit].name));
    wi_out_text(json, "kind", kinds[experiment->kind]);
    wi_out_real(json, "speedup", experiment->speedup_percent / 100);
    snprintf(text, sizeof text, "%.6g %%", experiment->speedup_percent);
    wi_out_text(json, "speedupText", text);
    wi_out_text(json, "status", experiment->valid ? "yes" : wi_rec_text(firefox->recording, experiment->why));
    wi_out_real(json, "effective", effective_ms);
    wi_out_ms(json, "delay", experiment->delay_ns);
    wi_out_count(json, "samples", experiment->samples);
    wi_out_count(json, "hits", experiment->hits);
    wi_out_count(json, "pauses", experiment->pauses);
    write_points(firefox, experiment);
    write_gain(firefox, experiment);
    wi_out_text(json, "color", experiment_color(experiment));
    write_cause(firefox, experiment->unit, experiment->start_ns);
}

static void experiment_data(struct wi_firefox *firefox, const struct wi_ff_marker *marker)
{
    const struct wi_rec_experiment *experiment = &firefox->recording->experiments[marker->first];
    struct wi_json_out *json = &firefox->json;
    if (marker->kind == WI_FF_EXPERIMENT) {
        write_experiment(firefox, experiment);
    } else if (marker->kind == WI_FF_RATE) {
        wi_out_text(json, "type", "CausalThroughput");
        wi_out_real(json, "rate", rate(experiment, counts_of(firefox, experiment) + marker->second));
    } else {
        wi_out_text(json, "type", "CausalSpeedup");
        wi_out_real(json, "speedup", experiment->speedup_percent);
    }
}

struct markers {
    struct wi_ff_marker *all;
    uint32_t n;
};

static void add_marker(struct wi_firefox *firefox, struct markers *markers, uint32_t experiment,
                       enum wi_ff_kind kind, uint32_t second, const char *name)
{
    const struct wi_rec_experiment *record = &firefox->recording->experiments[experiment];
    struct wi_ff_marker *marker = wi_append(&markers->all, &markers->n, sizeof *marker);
    if (marker == NULL) {
        firefox->failed = true;
        return;
    }
    *marker = (struct wi_ff_marker){.start_ns = record->start_ns,
                                    .end_ns = record->end_ns,
                                    .name = wi_ff_string(firefox, name),
                                    .kind = kind,
                                    .category = WI_FF_CAUSAL,
                                    .first = experiment,
                                    .second = second};
}

static void add_experiment(struct wi_firefox *firefox, struct markers *markers, uint32_t index)
{
    const struct wi_rec_experiment *experiment = &firefox->recording->experiments[index];
    add_marker(firefox, markers, index, WI_FF_EXPERIMENT, 0, "Experiment");
    if (!experiment->valid)
        return;
    add_marker(firefox, markers, index, WI_FF_SPEEDUP, 0, "Speedup of the unit in %");
    for (uint32_t i = 0; i < experiment->n_counts; i++) {
        const struct wi_rec_count *count = counts_of(firefox, experiment) + i;
        char *name;
        if (count->point >= MAX_GRAPHS || !isfinite(rate(experiment, count)) ||
            asprintf(&name, "Throughput: %s", firefox->model->points[count->point]->name) < 0)
            continue;
        add_marker(firefox, markers, index, WI_FF_RATE, i, name);
        free(name);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct wi_ff_marker *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1)
                              : (a->second > b->second) - (a->second < b->second);
}

void wi_ff_write_experiments(struct wi_firefox *firefox)
{
    struct markers markers = {0};
    for (uint32_t i = 0; i < firefox->recording->n_experiments; i++)
        add_experiment(firefox, &markers, i);
    if (markers.n > 0)
        qsort(markers.all, markers.n, sizeof *markers.all, by_start);
    begin_thread(firefox, "Causal experiments", 1, false);
    wi_ff_write_no_samples(firefox);
    wi_ff_write_markers(firefox, markers.all, markers.n, experiment_data);
    wi_out_end_object(&firefox->json);
    free(markers.all);
}

/* ---- impact ------------------------------------------------------------------------------------------------------------------ */

static void write_impact_samples(struct wi_firefox *firefox, const struct wi_impact *impacts, uint32_t n)
{
    struct wi_json_out *json = &firefox->json;
    wi_out_object(json, "samples");
    wi_out_count(json, "length", n);
    wi_out_array(json, "stack");
    for (uint32_t i = 0; i < n; i++)
        wi_out_index(json, NULL, firefox->unit_stacks[impacts[i].unit->unit]);
    wi_out_end_array(json);
    wi_out_array(json, "time"); /* all at some time: the selection of the whole run holds them */
    for (uint32_t i = 0; i < n; i++)
        wi_out_ms(json, NULL, (uint64_t)i * 1000);
    wi_out_end_array(json);
    wi_out_array(json, "weight");
    for (uint32_t i = 0; i < n; i++)
        wi_out_real(json, NULL, round(impacts[i].percent * 1000) / 1000);
    wi_out_end_array(json);
    wi_out_text(json, "weightType", "samples");
    wi_out_end_object(json);
}

static void write_impact(struct wi_firefox *firefox, const struct wi_point_estimate *point)
{
    uint32_t n = 0;
    struct wi_impact *impacts = wi_export_impacts(firefox->export, point, &n);
    char *name;
    if (impacts == NULL || asprintf(&name, "Causal impact: %s (gain in %%; gains do not add up)",
                                    firefox->model->points[point->point]->name) < 0) {
        firefox->failed = true;
        free(impacts);
        return;
    }
    if (n > 0 && firefox->selected == 0)
        firefox->selected = firefox->n_written;
    begin_thread(firefox, name, 2 + (int64_t)point->point, false);
    write_impact_samples(firefox, impacts, n);
    wi_ff_write_markers(firefox, NULL, 0, NULL);
    wi_out_end_object(&firefox->json);
    free(name);
    free(impacts);
}

void wi_ff_write_impacts(struct wi_firefox *firefox)
{
    const struct wi_estimate *estimate = &firefox->export->estimate;
    for (uint32_t i = 0; i < estimate->n_points; i++)
        if (wi_export_wants_point(firefox->export, estimate->points[i].point))
            write_impact(firefox, &estimate->points[i]);
}

/* ---- counters ---------------------------------------------------------------------------------------------------------------- */

struct counter {
    const char *name, *label, *description, *color, *graph;
    uint32_t point; /* WI_NONE: delay */
};

static double counted(const struct wi_firefox *firefox, const struct wi_rec_experiment *experiment,
                      uint32_t point)
{
    if (point == WI_NONE)
        return (double)experiment->delay_ns / 1e6;
    const struct wi_rec_count *counts = counts_of(firefox, experiment);
    double visits = 0;
    for (uint32_t i = 0; i < experiment->n_counts; i++)
        if (counts[i].point == point)
            visits += (double)counts[i].visits;
    return visits;
}

/* Experiments by time; those of several profiles may overlap, and counters know one line of time. */
static void write_counter_samples(struct wi_firefox *firefox, uint32_t point, const uint32_t *order)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    uint64_t last_ns = 0;
    wi_out_object(json, "samples");
    wi_out_count(json, "length", (uint64_t)recording->n_experiments * 2);
    wi_out_array(json, "time");
    for (uint32_t i = 0; i < recording->n_experiments * 2; i++) {
        const struct wi_rec_experiment *experiment = &recording->experiments[order[i / 2]];
        uint64_t time_ns = i % 2 == 0 ? experiment->start_ns : experiment->end_ns;
        last_ns = time_ns > last_ns ? time_ns : last_ns;
        wi_out_ms(json, NULL, last_ns);
    }
    wi_out_end_array(json);
    wi_out_array(json, "count");
    for (uint32_t i = 0; i < recording->n_experiments * 2; i++)
        wi_out_real(json, NULL,
                    i % 2 == 0 ? 0 : counted(firefox, &recording->experiments[order[i / 2]], point));
    wi_out_end_array(json);
    wi_out_end_object(json);
}

static void write_tooltip_row(struct wi_json_out *json, const char *source, const char *label)
{
    wi_out_object(json, NULL);
    wi_out_text(json, "type", "value");
    wi_out_text(json, "source", source);
    wi_out_object(json, "format");
    wi_out_text(json, "unit", "number");
    wi_out_end_object(json);
    wi_out_text(json, "label", label);
    wi_out_end_object(json);
}

static void write_display(struct wi_json_out *json, const struct counter *counter)
{
    wi_out_object(json, "display");
    wi_out_text(json, "graphType", counter->graph);
    wi_out_text(json, "unit", "");
    wi_out_text(json, "color", counter->color);
    wi_out_null(json, "markerSchemaLocation");
    wi_out_integer(json, "sortWeight", counter->point == WI_NONE ? 6 : 5);
    wi_out_text(json, "label", counter->label);
    wi_out_array(json, "tooltipRows");
    if (counter->point != WI_NONE)
        write_tooltip_row(json, "rate", "visits per ms");
    write_tooltip_row(json, "accumulated", counter->point == WI_NONE ? "ms so far" : "visits so far");
    wi_out_end_array(json);
    wi_out_end_object(json);
}

static void write_counter(struct wi_firefox *firefox, const struct counter *counter, const uint32_t *order)
{
    struct wi_json_out *json = &firefox->json;
    uint32_t process = home_process(firefox);
    wi_out_object(json, NULL);
    wi_out_text(json, "name", counter->name);
    wi_out_text(json, "category", "Causal");
    wi_out_text(json, "description", counter->description);
    wi_out_text(json, "pid", process != WI_NONE ? firefox->processes[process].pid : "0");
    wi_out_integer(json, "mainThreadIndex", 0);
    write_counter_samples(firefox, counter->point, order);
    write_display(json, counter);
    wi_out_end_object(json);
}

static int by_experiment_start(const void *left, const void *right, void *context)
{
    const struct wi_rec_experiment *all = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (all[a].start_ns != all[b].start_ns)
        return all[a].start_ns < all[b].start_ns ? -1 : 1;
    return (a > b) - (a < b);
}

static void write_point_counter(struct wi_firefox *firefox, uint32_t point, const uint32_t *order)
{
    const char *name = firefox->model->points[point]->name;
    char *label;
    if (asprintf(&label, "Visits: %s", name) < 0)
        return;
    struct counter counter = {name,    label,       "Visits of a progress point during experiments",
                              "green", "line-rate", point};
    write_counter(firefox, &counter, order);
    free(label);
}

void wi_ff_write_counters(struct wi_firefox *firefox)
{
    const struct wi_recording *recording = firefox->recording;
    uint32_t *order = calloc((size_t)recording->n_experiments + 1, sizeof *order);
    wi_out_array(&firefox->json, "counters");
    for (uint32_t i = 0; i < recording->n_experiments && order != NULL; i++)
        order[i] = i;
    if (order == NULL)
        firefox->failed = true;
    if (order != NULL && recording->n_experiments > 0) {
        qsort_r(order, recording->n_experiments, sizeof *order, by_experiment_start, recording->experiments);
        for (uint32_t i = 0; i < firefox->model->n_points && i < MAX_GRAPHS; i++)
            if (wi_export_wants_point(firefox->export, i))
                write_point_counter(firefox, i, order);
        struct counter delay = {"inserted delay",
                                "Inserted delay (ms)",
                                "Delay that whatif ordered during experiments",
                                "red",
                                "line-accumulated",
                                WI_NONE};
        write_counter(firefox, &delay, order);
    }
    wi_out_end_array(&firefox->json);
    free(order);
}
