/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program's threads in a Firefox profile.
 *
 * A sample says what its thread did since the one before: so much processor time, so much waiting, so much pausing.
 * In which order is not recorded. We show the pause first (it is served at a sample), then the wait, then the run
 * up to the sample; a wait gets a sample of its own at its end, weighted by the periods that it lasted, so that waits
 * count like running time and the front end's Idle category knows them.
 */
#include <stdlib.h>

#include "viewer-export/export/firefox.h"

struct row { /* of the samples table */
    uint64_t time_ns;
    uint32_t stack;
    uint32_t weight;
    uint32_t cpu_us;
};

struct thread_rows {
    struct row *rows;
    uint32_t n_rows;
    struct wi_ff_marker *markers;
    uint32_t n_markers;
};

void wi_ff_begin_thread(struct wi_firefox *firefox, const char *name, uint32_t process, int64_t tid,
                        bool is_main, bool visible)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    bool known = process != WI_NONE;
    if (visible)
        firefox->visible[firefox->n_visible++] = firefox->n_written;
    firefox->n_written++;
    wi_out_object(json, NULL);
    wi_out_text(json, "name", name);
    wi_out_flag(json, "isMainThread", is_main);
    wi_out_text(json, "pid", known ? firefox->processes[process].pid : "0");
    wi_out_integer(json, "tid", tid);
    wi_out_text(json, "processType", "default");
    wi_out_text(json, "processName",
                known ? wi_export_base_name(wi_rec_text(recording, recording->processes[process].executable))
                      : wi_export_program(firefox->model));
    wi_out_ms(json, "processStartupTime", known ? recording->processes[process].start_ns : 0);
    wi_out_null(json, "processShutdownTime");
    wi_out_array(json, "pausedRanges");
    wi_out_end_array(json);
    wi_out_flag(json, "showMarkersInTimeline", true);
}

/* ---- markers ---------------------------------------------------------------------------------------------------------------- */

void wi_ff_write_markers(struct wi_firefox *firefox, const struct wi_ff_marker *markers, uint32_t n,
                         void (*data)(struct wi_firefox *, const struct wi_ff_marker *))
{
    struct wi_json_out *json = &firefox->json;
    wi_out_object(json, "markers");
    wi_out_count(json, "length", n);
    wi_out_array(json, "data");
    for (uint32_t i = 0; i < n; i++) {
        wi_out_object(json, NULL);
        data(firefox, &markers[i]);
        wi_out_end_object(json);
    }
    wi_out_end_array(json);
    wi_out_array(json, "name");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, markers[i].name);
    wi_out_end_array(json);
    wi_out_array(json, "startTime");
    for (uint32_t i = 0; i < n; i++)
        wi_out_ms(json, NULL, markers[i].start_ns);
    wi_out_end_array(json);
    wi_out_array(json, "endTime");
    for (uint32_t i = 0; i < n; i++)
        wi_out_ms(json, NULL, markers[i].end_ns);
    wi_out_end_array(json);
    wi_out_array(json, "phase");
    for (uint32_t i = 0; i < n; i++)
        wi_out_integer(json, NULL, 1); /* an interval */
    wi_out_end_array(json);
    wi_out_array(json, "category");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, markers[i].category);
    wi_out_end_array(json);
    wi_out_end_object(json);
}

static void delay_data(struct wi_firefox *firefox, const struct wi_ff_marker *marker)
{
    (void)marker;
    wi_out_text(&firefox->json, "type", "Delay");
}

/* ---- samples ---------------------------------------------------------------------------------------------------------------- */

static bool add_row(struct thread_rows *thread, struct row row)
{
    struct row *place = wi_append(&thread->rows, &thread->n_rows, sizeof *place);
    if (place != NULL)
        *place = row;
    return place != NULL;
}

static bool add_delay(struct wi_firefox *firefox, struct thread_rows *thread, uint64_t start_ns,
                      uint64_t end_ns)
{
    struct wi_ff_marker *marker = wi_append(&thread->markers, &thread->n_markers, sizeof *marker);
    if (marker == NULL)
        return false;
    *marker = (struct wi_ff_marker){.start_ns = start_ns,
                                    .end_ns = end_ns,
                                    .name = wi_ff_string(firefox, "Delay"),
                                    .kind = WI_FF_DELAY_MARKER,
                                    .category = WI_FF_DELAY};
    return true;
}

/* Nanoseconds back from a time, not beyond another. */
static uint64_t back(uint64_t from_ns, uint64_t by_us, uint64_t not_before_ns)
{
    uint64_t by_ns = by_us * 1000;
    return from_ns >= not_before_ns && from_ns - not_before_ns > by_ns ? from_ns - by_ns : not_before_ns;
}

static bool add_sample(struct wi_firefox *firefox, struct thread_rows *thread,
                       const struct wi_rec_sample *sample, uint64_t before_ns, uint64_t period_us)
{
    uint32_t periods = (uint32_t)((sample->wait_us + period_us / 2) / period_us);
    uint64_t run_from_ns = back(sample->time_ns, sample->cpu_us, before_ns);
    if (sample->pause_us > 0) {
        uint64_t end_ns = back(run_from_ns, sample->wait_us, before_ns);
        uint64_t start_ns = back(end_ns, sample->pause_us, before_ns);
        if (start_ns == end_ns) /* no room: the parts overlap in the rounding */
            end_ns = sample->time_ns;
        if (!add_delay(firefox, thread, start_ns, end_ns))
            return false;
    }
    if (periods > 0) {
        uint32_t kind = sample->wait_kind < WI_FF_WAITS ? sample->wait_kind : 0;
        struct row wait = {run_from_ns, firefox->recording->n_stacks + kind, periods, 0};
        if (!add_row(thread, wait))
            return false;
    }
    return add_row(thread, (struct row){sample->time_ns, sample->stack, 1, sample->cpu_us});
}

static void gather(struct wi_firefox *firefox, uint32_t index, struct thread_rows *out)
{
    const struct wi_recording *recording = firefox->recording;
    const struct wi_rec_thread *thread = &recording->threads[index];
    uint64_t period_us = 0;
    if (thread->process != WI_NONE)
        period_us = recording->profiles[recording->processes[thread->process].profile].period_ns / 1000;
    uint64_t before_ns = thread->start_ns;
    for (uint32_t i = 0; i < thread->n_samples; i++) {
        const struct wi_rec_sample *sample = &recording->samples[thread->first_sample + i];
        if (before_ns > sample->time_ns)
            before_ns = sample->time_ns;
        if (!add_sample(firefox, out, sample, before_ns, period_us > 0 ? period_us : 1000)) {
            firefox->failed = true;
            return;
        }
        before_ns = sample->time_ns;
    }
}

static void write_rows(struct wi_firefox *firefox, const struct row *rows, uint32_t n)
{
    struct wi_json_out *json = &firefox->json;
    wi_out_object(json, "samples");
    wi_out_count(json, "length", n);
    wi_out_array(json, "stack");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, rows[i].stack);
    wi_out_end_array(json);
    wi_out_array(json, "time");
    for (uint32_t i = 0; i < n; i++)
        wi_out_ms(json, NULL, rows[i].time_ns);
    wi_out_end_array(json);
    wi_out_array(json, "weight");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, rows[i].weight);
    wi_out_end_array(json);
    wi_out_text(json, "weightType", "samples");
    wi_out_array(json, "threadCPUDelta");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, rows[i].cpu_us);
    wi_out_end_array(json);
    wi_out_end_object(json);
}

void wi_ff_write_no_samples(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    wi_out_object(json, "samples");
    wi_out_integer(json, "length", 0);
    wi_out_array(json, "stack");
    wi_out_end_array(json);
    wi_out_array(json, "time");
    wi_out_end_array(json);
    wi_out_null(json, "weight");
    wi_out_text(json, "weightType", "samples");
    wi_out_end_object(json);
}

void wi_ff_write_thread(struct wi_firefox *firefox, uint32_t index, bool is_main, bool visible)
{
    const struct wi_rec_thread *thread = &firefox->recording->threads[index];
    struct wi_json_out *json = &firefox->json;
    const char *name = wi_rec_text(firefox->recording, thread->name);
    char unnamed[32];
    snprintf(unnamed, sizeof unnamed, "Thread %d", thread->tid);
    struct thread_rows rows = {0};
    gather(firefox, index, &rows);
    wi_ff_begin_thread(firefox, name[0] != '\0' ? name : unnamed, thread->process, thread->tid, is_main,
                       visible);
    wi_out_ms(json, "registerTime", thread->start_ns);
    if (thread->ended)
        wi_out_ms(json, "unregisterTime", thread->end_ns);
    else
        wi_out_null(json, "unregisterTime");
    write_rows(firefox, rows.rows, rows.n_rows);
    wi_ff_write_markers(firefox, rows.markers, rows.n_markers, delay_data);
    wi_out_end_object(json);
    free(rows.rows);
    free(rows.markers);
}
