/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One experiment: select, begin, stop, drain, record.
 *
 * Beginning forgives all debts: the new experiment's word names a new epoch, and D at its beginning is what every
 * thread adopts. Stopping only ends the crediting; threads that run settle what they owe, and only then is the session
 * read, so that no visit counts ahead of its virtual time. Baselines go the same way with a speedup of zero.
 */
#include "runtime/control/state.h"
#include <string.h>

#define MS                1000000ull
#define LEAST_LENGTH_NS   (100 * MS)
#define MOST_LENGTH_NS    (1500 * MS)
#define VISITS_WANTED     16 /* few enough for many blocks, enough that a visit more or less is no effect */
#define SHORTEST_DRAIN_NS (1 * MS)
#define LONGEST_DRAIN_NS  (40 * MS)

/* Visits per second of the slowest point that is visited at all often enough to be worth waiting for. */
static double slowest_rate(const struct wi_controller *controller)
{
    const struct wi_session *session = controller->session;
    double elapsed = (double)(wi_controller_now_ns() - session->start_ns) / 1e9, slowest = 0;
    for (uint32_t i = 0; i < controller->points_known; i++) {
        const struct wi_point *point = &session->points[i];
        uint64_t visits = wi_session_count(controller->session, point->counter) +
                          atomic_load(&point->coz[point->latency].count);
        double rate = (double)visits / elapsed;
        if (rate >= 2 && (slowest == 0 || rate < slowest))
            slowest = rate;
    }
    return slowest;
}

uint64_t wi_experiment_length_ns(const struct wi_controller *controller)
{
    return wi_plan_length_ns(slowest_rate(controller), VISITS_WANTED, LEAST_LENGTH_NS, MOST_LENGTH_NS);
}

void wi_experiment_note_points(struct wi_controller *controller)
{
    uint32_t high = atomic_load_explicit(&controller->session->points_high, memory_order_acquire);
    for (; controller->points_known < high; controller->points_known++) {
        const struct wi_point *point = &controller->session->points[controller->points_known];
        if (atomic_load_explicit(&point->state, memory_order_acquire) != 2)
            return;
        struct wi_record_point record = {
            .id = controller->points_known,
            .name = point->name,
            .kind = point->latency ? WI_POINT_LATENCY : WI_POINT_THROUGHPUT,
        };
        wi_profile_write_point(controller->writer, &record);
        wi_model_add_point(controller->model, &record);
    }
}

int wi_experiment_begin(struct wi_controller *controller, uint64_t now_ns)
{
    const struct wi_trial *trial = &controller->trials[controller->next_trial];
    struct wi_tried *tried = &controller->tried[controller->current];
    struct wi_clock *clock = &controller->session->clock;
    int set = wi_publish_unit(&controller->publisher, tried->unit, &tried->ranges,
                              controller->has_given ? &controller->given : NULL);
    if (set < 0)
        return set;
    uint32_t flags = WI_EXPERIMENT_CREDITING;
    flags |= trial->kind == WI_EXPERIMENT_PLACEBO ? WI_EXPERIMENT_SHAM : 0;
    flags |= controller->has_given ? WI_EXPERIMENT_GIVEN : 0;
    uint32_t speedup =
        trial->kind == WI_EXPERIMENT_BASELINE ? 0 : (uint32_t)(trial->speedup_percent * 100 + 0.5);
    controller->word = wi_experiment_word(++controller->epoch, speedup, (uint32_t)set, flags);
    controller->disturbed = NULL;
    controller->began_ns = now_ns;
    controller->ends_ns = now_ns + wi_experiment_length_ns(controller);
    if (controller->first_experiment_ns == 0)
        controller->first_experiment_ns = now_ns;
    atomic_store(&clock->start_delay, atomic_load(&clock->global_delay));
    atomic_store_explicit(&clock->experiment, controller->word, memory_order_release);
    wi_measure_read(controller->session, &controller->before);
    return 0;
}

void wi_experiment_stop(struct wi_controller *controller, uint64_t now_ns)
{
    controller->word &= ~(uint64_t)(WI_EXPERIMENT_CREDITING | WI_EXPERIMENT_GIVEN);
    atomic_store_explicit(&controller->session->clock.experiment, controller->word, memory_order_release);
    controller->drain_since_ns = now_ns;
}

bool wi_experiment_has_drained(struct wi_controller *controller, uint64_t now_ns)
{
    uint64_t drained = now_ns - controller->drain_since_ns;
    if (drained < SHORTEST_DRAIN_NS)
        return false;
    uint32_t unsettled = wi_measure_unsettled(controller->session);
    if (unsettled == 0)
        return true;
    if (drained < LONGEST_DRAIN_NS)
        return false;
    controller->total_unsettled++;
    wi_controller_disturb(controller, "a running thread did not settle");
    return true;
}

void wi_experiment_record(struct wi_controller *controller)
{
    wi_measure_read(controller->session, &controller->after);
    const struct wi_trial *trial = &controller->trials[controller->next_trial];
    struct wi_record_experiment record = {
        .id = controller->n_experiments++,
        .block = controller->n_blocks - 1,
        .unit = controller->tried[controller->current].unit,
        .kind = trial->kind,
        .speedup_percent = trial->speedup_percent,
        .valid = controller->disturbed == NULL,
        .invalid_because = controller->disturbed,
    };
    wi_experiment_note_points(controller);
    wi_measure_between(controller->session, &controller->before, &controller->after, &controller->counts,
                       &record);
    controller->total_delay_ns += record.delay_ns;
    controller->n_valid += record.valid;
    wi_profile_write_experiment(controller->writer, &record);
    wi_model_add_experiment(controller->model, &record);
}
