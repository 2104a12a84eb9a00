/* SPDX-License-Identifier: BSD-2-Clause */
/* Readings of the session and their differences. See measure.h. */
#include "runtime/control/measure.h"
#include "runtime/control/proc.h"
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_point(struct wi_session *session, const struct wi_point *point, struct wi_point_reading *out)
{
    uint64_t first = atomic_load(&point->coz[0].count), second = atomic_load(&point->coz[1].count);
    out->visits =
        wi_session_count(session, point->counter + WI_WORD_VISITS) + (point->latency ? second : first);
    out->inline_visits = point->latency ? second : first;
    if (!point->latency)
        return;
    out->begins = wi_session_count(session, point->counter + WI_WORD_BEGINS) + first;
    out->begin_times = wi_session_count(session, point->counter + WI_WORD_BEGIN_TIMES);
    out->end_times = wi_session_count(session, point->counter + WI_WORD_END_TIMES);
    out->matched = atomic_load(&point->matched);
    out->matched_sum_ns = atomic_load(&point->matched_sum_ns);
    for (uint32_t i = 0; i < WI_HISTOGRAM; i++)
        out->histogram[i] = atomic_load_explicit(&point->histogram[i], memory_order_relaxed);
}

static void read_threads(struct wi_session *session, struct wi_reading *reading)
{
    uint32_t high = atomic_load_explicit(&session->threads_high, memory_order_acquire);
    for (uint32_t i = 0; i < high; i++) {
        const struct wi_thread *thread = &session->threads[i];
        reading->samples += atomic_load_explicit(&thread->samples, memory_order_relaxed);
        reading->hits += atomic_load_explicit(&thread->hits, memory_order_relaxed);
        reading->pauses += atomic_load_explicit(&thread->pauses, memory_order_relaxed);
        reading->paused_ns += atomic_load_explicit(&thread->paused_ns, memory_order_relaxed);
        reading->absorbed_ns += atomic_load_explicit(&thread->absorbed_ns, memory_order_relaxed);
        reading->guessed_ns += atomic_load_explicit(&thread->guessed_ns, memory_order_relaxed);
    }
}

void wi_measure_read(struct wi_session *session, struct wi_reading *reading)
{
    reading->samples = reading->hits = reading->pauses = reading->paused_ns = 0;
    reading->absorbed_ns = reading->guessed_ns = 0;
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    reading->wall_ns = now - session->start_ns;
    reading->delay_ns = atomic_load(&session->clock.global_delay);
    reading->n_points = atomic_load_explicit(&session->points_high, memory_order_acquire);
    for (uint32_t i = 0; i < reading->n_points; i++)
        if (atomic_load_explicit(&session->points[i].state, memory_order_acquire) == 2)
            read_point(session, &session->points[i], &reading->points[i]);
    read_threads(session, reading);
    reading->suspended_ns = clock_ns(CLOCK_BOOTTIME) - now;
    wi_proc_read_ticks(&reading->cpu_total, &reading->cpu_stolen);
}

static size_t histogram_pairs(const struct wi_point_reading *from, const struct wi_point_reading *to,
                              uint32_t *pairs)
{
    size_t n = 0;
    for (uint32_t i = 0; i < WI_HISTOGRAM; i++)
        if (to->histogram[i] != from->histogram[i]) {
            pairs[2 * n] = i;
            pairs[2 * n++ + 1] = to->histogram[i] - from->histogram[i];
        }
    return n;
}

/* The integral of the number in flight over effective time: every end adds its time, every begin takes its own away,
 * and those in flight at the boundaries count up to the boundary. Sums wrap; their differences do not. */
static double in_flight(const struct wi_reading *from, const struct wi_reading *to, uint32_t i)
{
    const struct wi_point_reading *a = &from->points[i], *b = &to->points[i];
    double flying_before = (double)(int64_t)(a->begins - a->visits);
    double flying_after = (double)(int64_t)(b->begins - b->visits);
    double effective = (double)(to->wall_ns - from->wall_ns) - (double)(to->delay_ns - from->delay_ns);
    if (b->inline_visits != a->inline_visits) /* no times: the mean of the two ends is the best guess */
        return (flying_before + flying_after) / 2 * effective;
    uint64_t at_end = to->wall_ns - to->delay_ns, at_start = from->wall_ns - from->delay_ns;
    uint64_t sum = (b->end_times - a->end_times) - (b->begin_times - a->begin_times) +
                   (b->begins - b->visits) * at_end - (a->begins - a->visits) * at_start;
    return (double)(int64_t)sum;
}

static void count_point(const struct wi_session *session, const struct wi_reading *from,
                        const struct wi_reading *to, uint32_t i, struct wi_counts *counts,
                        struct wi_point_count *out)
{
    static const struct wi_point_reading nothing;
    const struct wi_point_reading *a = i < from->n_points ? &from->points[i] : &nothing, *b = &to->points[i];
    *out = (struct wi_point_count){.point = i, .visits = b->visits - a->visits};
    if (!session->points[i].latency)
        return;
    out->begins = b->begins - a->begins;
    out->in_flight_ns = i < from->n_points ? in_flight(from, to, i) : 0;
    out->matched = b->matched - a->matched;
    out->matched_sum_ns = (double)(b->matched_sum_ns - a->matched_sum_ns);
    out->n_histogram = histogram_pairs(a, b, counts->histograms[i]);
    out->histogram = counts->histograms[i];
}

void wi_measure_between(const struct wi_session *session, const struct wi_reading *from,
                        const struct wi_reading *to, struct wi_counts *counts,
                        struct wi_record_experiment *record)
{
    record->start_ns = from->wall_ns;
    record->end_ns = to->wall_ns;
    record->delay_ns = to->delay_ns - from->delay_ns;
    record->samples = to->samples - from->samples;
    record->hits = to->hits - from->hits;
    record->pauses = to->pauses - from->pauses;
    record->paused_ns = to->paused_ns - from->paused_ns;
    record->absorbed_ns = to->absorbed_ns - from->absorbed_ns;
    record->guessed_ns = to->guessed_ns - from->guessed_ns;
    uint64_t ticks = to->cpu_total - from->cpu_total;
    record->noise = ticks ? (double)(to->cpu_stolen - from->cpu_stolen) / (double)ticks : -1;
    record->points = counts->points;
    record->n_points = 0;
    for (uint32_t i = 0; i < to->n_points; i++)
        if (atomic_load_explicit(&session->points[i].state, memory_order_acquire) == 2)
            count_point(session, from, to, i, counts, &counts->points[record->n_points++]);
    if (to->suspended_ns > from->suspended_ns + 1000000) {
        record->valid = false;
        record->invalid_because = "the machine was suspended";
    }
}

uint32_t wi_measure_unsettled(struct wi_session *session)
{
    uint64_t ordered = atomic_load(&session->clock.global_delay);
    uint32_t epoch = wi_experiment_epoch(atomic_load(&session->clock.experiment));
    uint32_t unsettled = 0, high = atomic_load_explicit(&session->threads_high, memory_order_acquire);
    uint64_t start = atomic_load(&session->clock.start_delay);
    for (uint32_t i = 0; i < high; i++) {
        const struct wi_thread *thread = &session->threads[i];
        uint32_t tid = atomic_load_explicit(&thread->tid, memory_order_relaxed);
        if (tid == 0 || atomic_load_explicit(&thread->state, memory_order_relaxed) != WI_THREAD_RUNNING)
            continue;
        uint64_t served = atomic_load_explicit(&thread->local_delay, memory_order_relaxed);
        if (wi_experiment_epoch(atomic_load_explicit(&thread->experiment, memory_order_relaxed)) != epoch)
            served = start; /* it has not been here since the experiment began: it owes all of it */
        if (ordered > served + 2 * session->expected_overshoot_ns &&
            wi_proc_is_running(
                atomic_load(&session->processes[atomic_load(&thread->process) % WI_MAX_PROCESSES].pid), tid))
            unsettled++;
    }
    return unsettled;
}
