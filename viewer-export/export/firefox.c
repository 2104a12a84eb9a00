/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firefox Profiler: processed profile format, version 66.
 *
 * Newer front ends upgrade that version; versions below 64 lose embedded sources; later ones bring nothing we need
 * and are refused by older front ends. All times are milliseconds since meta.startTime.
 *
 *     ours                          theirs
 *     thread, sample, stack         thread with samples; inlined functions are frames of their own
 *     time blocked                  samples of the category Idle, as many as periods fit into it
 *     pause                         marker "Delay" in the thread that served it
 *     experiment                    marker in the thread "Causal experiments"; its stack is the selected code's
 *     throughput, speedup           graphs below that thread
 *     gain, curve, interval         marker "Causal result" in the thread "Causal results", the curve as its table
 *     largest gain                  weight of a sample in the thread "Causal impact: POINT", so that call tree, flame
 *                                   graph and source view rank by it
 *     visits, delay                 counters
 *
 * The loader checks almost nothing, so the tables must be right: tests/integration/export-firefox.t has a checker.
 * Percentages are rounded by the front end; every exact figure therefore also stands there as text.
 * Strings come last in the file, because threads still add to them.
 */
#include "viewer-export/export/firefox.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_VERSION 66
#define GECKO_VERSION  24 /* of no meaning beside the other, but has to be there */
#define MAX_VISIBLE    12 /* real threads on the first screen */
#define TOP_LINES      10 /* in the profile's information */

uint32_t wi_ff_string(struct wi_firefox *firefox, const char *text)
{
    uint32_t number = wi_texts_number(&firefox->strings, text);
    if (number == WI_NONE)
        firefox->failed = true;
    return number == WI_NONE ? 0 : number;
}

const char *wi_ff_percent(char *buffer, double percent)
{
    if (isfinite(percent))
        snprintf(buffer, WI_FF_TEXT, "%.2f %%", percent);
    else
        snprintf(buffer, WI_FF_TEXT, "?");
    return buffer;
}

const char *wi_ff_interval(char *buffer, double percent, double low, double high)
{
    if (isfinite(percent) && isfinite(low) && isfinite(high))
        snprintf(buffer, WI_FF_TEXT, "%.2f %% (%.2f to %.2f)", percent, low, high);
    else
        wi_ff_percent(buffer, percent);
    return buffer;
}

/* ---- meta ------------------------------------------------------------------------------------------------------------- */

static void write_entry(struct wi_json_out *json, const char *label, const char *text)
{
    wi_out_object(json, NULL);
    wi_out_text(json, "label", label);
    wi_out_text(json, "format", "string");
    wi_out_text(json, "value", text);
    wi_out_end_object(json);
}

static void write_point_entries(struct wi_firefox *firefox, const struct wi_point_estimate *estimate)
{
    const struct wi_model_point *point = firefox->model->points[estimate->point];
    struct wi_json_out *json = &firefox->json;
    char text[256], figure[WI_FF_TEXT], *label;
    bool latency = point->kind == WI_POINT_LATENCY;
    snprintf(text, sizeof text, "%.6g %s (%.6g to %.6g), %.0f visits%s", estimate->value,
             latency ? "ns" : "visits per second", estimate->low, estimate->high, estimate->visits,
             estimate->pausing.demand_limited ? "; paced from outside, throughput cannot rise" : "");
    if (estimate->has_value && asprintf(&label, "Progress point %s", point->name) >= 0) {
        write_entry(json, label, text);
        free(label);
    }
    for (uint32_t i = 0, n = 0; i < estimate->n_units && n < TOP_LINES; i++) {
        const struct wi_unit_estimate *unit = &estimate->units[i];
        if (!unit->gains.has_curve)
            continue;
        n++;
        wi_ff_interval(figure, 100 * unit->gains.max, 100 * unit->gains.max_low, 100 * unit->gains.max_high);
        if (asprintf(&label, "%u. %s", n, firefox->model->units[unit->unit].name) < 0)
            continue;
        snprintf(text, sizeof text, "gain %s%s", figure, unit->decided ? "" : ", still open");
        write_entry(json, label, text);
        free(label);
    }
}

static void write_extra(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    char text[128];
    wi_out_array(json, "extra");
    wi_out_object(json, NULL);
    wi_out_text(json, "label", "Causal profile");
    wi_out_array(json, "entries");
    snprintf(text, sizeof text, "%u, of which %u count", firefox->model->experiments, firefox->model->valid);
    write_entry(json, "Experiments", text);
    snprintf(text, sizeof text, "%.3f s", firefox->model->delay_ns / 1e9);
    write_entry(json, "Delay inserted in them", text);
    for (uint32_t i = 0; i < firefox->export->estimate.n_points; i++)
        if (wi_export_wants_point(firefox->export, firefox->export->estimate.points[i].point))
            write_point_entries(firefox, &firefox->export->estimate.points[i]);
    write_entry(json, "Reading it",
                "A gain is the share of the time per visit that would be saved. Gains of different code do "
                "not add up.");
    wi_out_end_array(json);
    wi_out_end_object(json);
    wi_out_end_array(json);
}

static void write_units(struct wi_json_out *json)
{
    wi_out_object(json, "sampleUnits");
    wi_out_text(json, "time", "ms");
    wi_out_text(json, "eventDelay", "ms");
    wi_out_text(json, "threadCPUDelta", "\xc2\xb5s");
    wi_out_end_object(json);
}

static void write_machine(struct wi_firefox *firefox)
{
    static const struct wi_model_profile none;
    struct wi_json_out *json = &firefox->json;
    const struct wi_model_profile *profile =
        firefox->model->n_profiles > 0 ? &firefox->model->profiles[0] : &none;
    char *text;
    wi_out_text(json, "product", wi_export_program(firefox->model));
    wi_out_text(json, "arguments", profile->command != NULL ? profile->command : "");
    if (asprintf(&text, "whatif %s", profile->whatif_version != NULL ? profile->whatif_version : "") >= 0) {
        wi_out_text(json, "importedFrom", text);
        free(text);
    }
    if (asprintf(&text, "Linux %s", profile->kernel != NULL ? profile->kernel : "") >= 0) {
        wi_out_text(json, "oscpu", text);
        free(text);
    }
    wi_out_text(json, "CPUName", profile->cpu != NULL ? profile->cpu : "");
    if (profile->n_cpus > 0)
        wi_out_integer(json, "logicalCPUs", profile->n_cpus);
}

static void write_indexes(struct wi_json_out *json, const char *key, const uint32_t *indexes, uint32_t n)
{
    wi_out_array(json, key);
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, indexes[i]);
    wi_out_end_array(json);
}

static void write_meta(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    const struct wi_rec_profile *profile = recording->n_profiles > 0 ? &recording->profiles[0] : NULL;
    wi_out_object(json, "meta");
    wi_out_integer(json, "version", GECKO_VERSION);
    wi_out_integer(json, "preprocessedProfileVersion", FORMAT_VERSION);
    wi_out_integer(json, "processType", 0);
    wi_out_integer(json, "stackwalk", 1);
    wi_out_flag(json, "debug", false);
    wi_out_real(json, "interval",
                profile != NULL && profile->period_ns > 0 ? (double)profile->period_ns / 1e6 : 1);
    wi_out_integer(json, "startTime", profile != NULL ? profile->start_epoch_ns / 1000000 : 0);
    wi_out_integer(json, "profilingStartTime", 0);
    wi_out_ms(json, "profilingEndTime", recording->end_ns);
    wi_out_flag(json, "symbolicated", true);
    wi_out_flag(json, "symbolicationNotSupported", true);
    wi_out_flag(json, "usesOnlyOneStackType", true);
    wi_out_flag(json, "sourceCodeIsNotOnSearchfox", true);
    wi_out_flag(json, "keepProfileThreadOrder", true);
    write_indexes(json, "initialVisibleThreads", firefox->visible, firefox->n_visible);
    write_indexes(json, "initialSelectedThreads", &firefox->selected, 1);
    write_machine(firefox);
    write_units(json);
    wi_ff_write_categories(firefox);
    wi_ff_write_marker_schema(firefox);
    write_extra(firefox);
    wi_out_end_object(json);
}

/* ---- threads --------------------------------------------------------------------------------------------------------------- */

struct activity {
    uint32_t thread, samples;
};

static int by_activity(const void *left, const void *right)
{
    const struct activity *a = left, *b = right;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* The threads that ran most. NULL if memory is out. */
static bool *choose_visible(const struct wi_recording *recording)
{
    struct activity *all = calloc((size_t)recording->n_threads + 1, sizeof *all);
    bool *visible = calloc((size_t)recording->n_threads + 1, sizeof *visible);
    if (all == NULL || visible == NULL) {
        free(all);
        free(visible);
        return NULL;
    }
    for (uint32_t i = 0; i < recording->n_threads; i++)
        all[i] = (struct activity){i, recording->threads[i].n_samples};
    qsort(all, recording->n_threads, sizeof *all, by_activity);
    for (uint32_t i = 0; i < recording->n_threads && i < MAX_VISIBLE; i++)
        visible[all[i].thread] = true;
    free(all);
    return visible;
}

static bool is_main_thread(const struct wi_firefox *firefox, uint32_t thread)
{
    uint32_t process = firefox->recording->threads[thread].process;
    return process != WI_NONE && firefox->processes[process].main_thread == thread;
}

/* The first process's main thread comes first, and what we found right below it. */
static void write_threads(struct wi_firefox *firefox, const bool *visible)
{
    const struct wi_recording *recording = firefox->recording;
    uint32_t first = recording->n_threads > 0 ? 0 : WI_NONE;
    if (first != WI_NONE && recording->threads[0].process != WI_NONE)
        first = firefox->processes[recording->threads[0].process].main_thread;
    wi_out_array(&firefox->json, "threads");
    if (first != WI_NONE)
        wi_ff_write_thread(firefox, first, true, true);
    wi_ff_write_results(firefox, first == WI_NONE);
    wi_ff_write_experiments(firefox);
    wi_ff_write_impacts(firefox);
    for (uint32_t i = 0; i < recording->n_threads; i++)
        if (i != first)
            wi_ff_write_thread(firefox, i, is_main_thread(firefox, i), visible[i]);
    wi_out_end_array(&firefox->json);
}

int wi_export_as_firefox(const struct wi_export *export)
{
    struct wi_firefox firefox = {.export = export,
                                 .recording = export->recording,
                                 .model = export->model,
                                 .json = {.out = export->out}};
    bool *visible = choose_visible(firefox.recording);
    int error = visible != NULL ? wi_ff_prepare(&firefox) : -ENOMEM;
    if (error == 0) {
        wi_out_object(&firefox.json, NULL);
        write_threads(&firefox, visible);
        write_meta(&firefox);
        wi_ff_write_libs(&firefox);
        wi_ff_write_counters(&firefox);
        wi_ff_write_shared(&firefox);
        wi_out_end_object(&firefox.json);
        putc('\n', export->out);
    }
    bool failed = firefox.failed;
    wi_ff_fini(&firefox);
    free(visible);
    return error != 0 ? error : failed ? -ENOMEM : 0;
}
