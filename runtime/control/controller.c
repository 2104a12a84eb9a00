/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state machine: start, survey, then experiments with gaps, until the launcher says that it is over.
 *
 * In a gap the samples of the last experiment are named and its record is written; then the next trial of the block at
 * hand begins, or the next block. A gap lasts longer where --max-slowdown wants the pauses spread.
 */
#include "runtime/control/controller.h"
#include "runtime/control/state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS             1000000ull
#define POLL_START_NS  (2 * MS)
#define POLL_SURVEY_NS (20 * MS)
#define POLL_DRAIN_NS  (300 * 1000ull)
#define TAKE_EVERY_NS  (200 * MS) /* how often rings are emptied during a long experiment */
#define SURVEY_NS      (400 * MS)
#define SURVEY_SAMPLES 60

uint64_t wi_controller_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int wi_controller_create(struct wi_session *session, int session_fd, struct wi_symbols *symbols,
                         struct wi_profile_writer *writer, const struct wi_controller_options *options,
                         struct wi_controller **out)
{
    struct wi_controller *controller = calloc(1, sizeof *controller);
    if (!controller)
        return -ENOMEM;
    controller->session = session;
    controller->symbols = symbols;
    controller->writer = writer;
    controller->options = *options;
    controller->random.state = options->seed;
    wi_publisher_init(&controller->publisher, session, session_fd);
    controller->model = wi_model_create();
    controller->best = WI_NONE;
    if (!controller->model) {
        free(controller);
        return -ENOMEM;
    }
    wi_units_init(&controller->units, writer, controller->model);
    wi_collector_init(&controller->collector, session, symbols, writer, &controller->units);
    *out = controller;
    return 0;
}

void wi_controller_destroy(struct wi_controller *controller)
{
    if (!controller)
        return;
    for (size_t i = 0; i < controller->n_tried; i++)
        wi_unit_ranges_fini(&controller->tried[i].ranges);
    if (controller->has_given)
        wi_unit_ranges_fini(&controller->given);
    wi_collector_fini(&controller->collector);
    wi_units_fini(&controller->units);
    wi_model_destroy(controller->model);
    free(controller);
}

static bool experiments_wanted(const struct wi_controller *controller, uint64_t now_ns)
{
    if (controller->toggled_off || controller->error[0])
        return false;
    if (atomic_load(&controller->session->clock.experiments_on) == 2)
        return false;
    if (controller->points_known == 0)
        return false; /* nothing to measure by */
    return now_ns - controller->session->start_ns >= controller->options.warmup_ns;
}

static uint64_t step_start(struct wi_controller *controller, uint64_t now_ns)
{
    if (atomic_load(&controller->session->processes_high) == 0 || !wi_modules_take_up(controller))
        return now_ns + POLL_START_NS;
    controller->phase = WI_PHASE_SURVEY;
    controller->survey_since_ns = now_ns;
    return now_ns;
}

/* Between experiments: everything that costs time. */
static void keep_house(struct wi_controller *controller)
{
    wi_modules_take_up(controller);
    wi_collector_take(&controller->collector);
    wi_collector_name(&controller->collector);
    wi_experiment_note_points(controller);
    if (!controller->units_resolved) {
        int result = wi_contenders_resolve(controller);
        controller->units_resolved = result != -EAGAIN;
    }
}

static uint64_t begin_next(struct wi_controller *controller, uint64_t now_ns)
{
    if (controller->next_trial == controller->n_trials) {
        wi_contenders_refresh(controller, now_ns);
        size_t next = wi_contenders_next(controller, now_ns);
        if (next == controller->n_tried)
            return now_ns + POLL_SURVEY_NS;
        struct wi_tried *tried = &controller->tried[next];
        controller->current = next;
        controller->n_trials = wi_plan_block(controller->options.speedups, controller->options.n_speedups,
                                             tried->n_blocks, &controller->random, controller->trials);
        controller->next_trial = 0;
        controller->n_blocks++;
        tried->n_blocks++;
        wi_collector_write_tally(&controller->collector, now_ns - controller->session->start_ns);
        wi_profile_flush(controller->writer);
    }
    if (wi_experiment_begin(controller, now_ns) != 0) {
        controller->next_trial++;
        return now_ns + POLL_SURVEY_NS;
    }
    controller->phase = WI_PHASE_RUNNING;
    return controller->ends_ns < now_ns + TAKE_EVERY_NS ? controller->ends_ns : now_ns + TAKE_EVERY_NS;
}

static uint64_t step_survey(struct wi_controller *controller, uint64_t now_ns)
{
    keep_house(controller);
    if (!experiments_wanted(controller, now_ns))
        return now_ns + POLL_SURVEY_NS;
    bool enough = controller->collector.samples_in_scope >= SURVEY_SAMPLES ||
                  now_ns - controller->survey_since_ns >= SURVEY_NS;
    if (controller->options.n_at == 0 && !enough)
        return now_ns + POLL_SURVEY_NS;
    return begin_next(controller, wi_controller_now_ns());
}

static uint64_t step_running(struct wi_controller *controller, uint64_t now_ns)
{
    if (now_ns >= controller->ends_ns) {
        wi_experiment_stop(controller, now_ns);
        controller->phase = WI_PHASE_DRAIN;
        return now_ns + POLL_DRAIN_NS;
    }
    wi_collector_take(&controller->collector);
    if (atomic_load(&controller->session->clock.experiments_on) == 2)
        wi_controller_disturb(controller, "the program stopped the experiments");
    if (controller->disturbed)
        controller->ends_ns = now_ns;
    return controller->ends_ns < now_ns + TAKE_EVERY_NS ? controller->ends_ns : now_ns + TAKE_EVERY_NS;
}

/* When the next experiment may begin so that pauses stay within their share of the time. */
static uint64_t rested_at(const struct wi_controller *controller, uint64_t now_ns)
{
    double share = controller->options.max_slowdown_percent / 100;
    if (share <= 0 || share >= 1)
        return now_ns;
    uint64_t due = controller->first_experiment_ns + (uint64_t)((double)controller->total_delay_ns / share);
    return due > now_ns ? due : now_ns;
}

static uint64_t step_drain(struct wi_controller *controller, uint64_t now_ns)
{
    if (!wi_experiment_has_drained(controller, now_ns))
        return now_ns + POLL_DRAIN_NS;
    wi_experiment_record(controller);
    controller->next_trial++;
    controller->phase = WI_PHASE_GAP;
    keep_house(controller);
    return rested_at(controller, now_ns);
}

static uint64_t step_gap(struct wi_controller *controller, uint64_t now_ns)
{
    uint64_t rested = rested_at(controller, now_ns);
    if (rested > now_ns)
        return rested;
    if (!experiments_wanted(controller, now_ns)) {
        keep_house(controller);
        return now_ns + POLL_SURVEY_NS;
    }
    return begin_next(controller, now_ns);
}

uint64_t wi_controller_step(struct wi_controller *controller, uint64_t now_ns)
{
    switch (controller->phase) {
    case WI_PHASE_START:
        return step_start(controller, now_ns);
    case WI_PHASE_SURVEY:
        return step_survey(controller, now_ns);
    case WI_PHASE_RUNNING:
        return step_running(controller, now_ns);
    case WI_PHASE_DRAIN:
        return step_drain(controller, now_ns);
    case WI_PHASE_GAP:
        return step_gap(controller, now_ns);
    case WI_PHASE_OVER:
        break;
    }
    return UINT64_MAX;
}

void wi_controller_disturb(struct wi_controller *controller, const char *because)
{
    if (controller->phase == WI_PHASE_RUNNING || controller->phase == WI_PHASE_DRAIN)
        if (!controller->disturbed)
            controller->disturbed = because;
}

bool wi_controller_toggle(struct wi_controller *controller)
{
    controller->toggled_off = !controller->toggled_off;
    if (controller->toggled_off)
        wi_controller_disturb(controller, "experiments were switched off");
    return !controller->toggled_off;
}

void wi_controller_finish(struct wi_controller *controller)
{
    if (controller->phase == WI_PHASE_OVER)
        return;
    if (controller->phase == WI_PHASE_RUNNING || controller->phase == WI_PHASE_DRAIN) {
        wi_controller_disturb(controller, "cut short");
        wi_experiment_stop(controller, wi_controller_now_ns());
        wi_experiment_record(controller);
    }
    atomic_store(&controller->session->clock.dormant, 1);
    controller->phase = WI_PHASE_OVER;
    wi_collector_take(&controller->collector);
    if (controller->modules_known == 0)
        wi_modules_take_up(controller);
    wi_collector_name(&controller->collector);
    wi_experiment_note_points(controller);
    wi_collector_write_tally(&controller->collector, wi_controller_now_ns() - controller->session->start_ns);
    wi_profile_flush(controller->writer);
}

void wi_controller_status(struct wi_controller *controller, struct wi_controller_status *status)
{
    struct wi_session *session = controller->session;
    *status = (struct wi_controller_status){
        .samples = controller->collector.samples + controller->collector.n_raw,
        .samples_in_scope = controller->collector.samples_in_scope,
        .samples_lost = wi_collector_dropped(&controller->collector),
        .n_points = atomic_load(&session->points_high),
        .n_experiments = controller->n_valid,
        .n_blocks = controller->n_blocks,
        .n_processes = atomic_load(&session->processes_high),
        .error = controller->error[0] ? controller->error : NULL,
    };
    for (uint32_t i = 0; i < status->n_points; i++)
        status->visits += wi_session_count(session, session->points[i].counter) +
                          atomic_load(&session->points[i].coz[session->points[i].latency].count);
    if (controller->best != WI_NONE) {
        status->best = controller->units.all[controller->tried[controller->best].unit].name;
        status->best_percent = controller->best_percent;
    }
    if (controller->phase == WI_PHASE_RUNNING || controller->phase == WI_PHASE_DRAIN)
        status->unit = controller->units.all[controller->tried[controller->current].unit].name;
}
