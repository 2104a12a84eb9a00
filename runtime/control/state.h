/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The controller's inside, shared by its files: controller.c (the state machine), experiment.c (one experiment),
 * contenders.c (which units are tried), modules.c (what the target has loaded), diagnose.c (what to tell).
 */
#ifndef WI_CONTROL_STATE_H
#define WI_CONTROL_STATE_H

#include "runtime/control/collector.h"
#include "runtime/control/controller.h"
#include "runtime/control/measure.h"
#include "runtime/control/plan.h"
#include "runtime/control/units.h"
#include "runtime/profile/model.h"

enum wi_phase {
    WI_PHASE_START,   /* no process of the target has attached yet */
    WI_PHASE_SURVEY,  /* samples are collected until there is something to try */
    WI_PHASE_RUNNING, /* an experiment is on */
    WI_PHASE_DRAIN,   /* it has ended; threads settle */
    WI_PHASE_GAP,     /* between experiments */
    WI_PHASE_OVER,
};

struct wi_tried { /* a unit under experiment */
    uint32_t unit;
    struct wi_unit_ranges ranges;
    uint32_t n_blocks;
    bool fixed;     /* asked for by --at */
    bool is_opened; /* its lines have been entered as contenders, too */
};

#define WI_MAX_TRIED 48

struct wi_controller {
    struct wi_session *session;
    struct wi_symbols *symbols;
    struct wi_profile_writer *writer;
    struct wi_controller_options options;
    struct wi_publisher publisher;
    struct wi_units units;
    struct wi_collector collector;
    struct wi_random random;
    struct wi_model *model; /* what has been written down, summed up: for the status and for choosing */
    uint32_t best;          /* index into tried of what can give most so far; WI_NONE */
    double best_percent;

    enum wi_phase phase;
    uint64_t survey_since_ns;
    uint32_t modules_known;
    uint32_t points_known;
    bool units_resolved; /* of --at and --given */
    struct wi_unit_ranges given;
    bool has_given;
    char error[300];

    struct wi_tried tried[WI_MAX_TRIED];
    size_t n_tried;

    /* the block at hand */
    struct wi_trial trials[WI_MAX_BLOCK];
    size_t n_trials;
    size_t next_trial;
    size_t current; /* index into tried */
    uint32_t n_blocks;

    /* the experiment at hand */
    uint32_t epoch;
    uint32_t n_experiments;
    uint32_t n_valid;
    uint64_t word;
    uint64_t began_ns;
    uint64_t ends_ns;
    uint64_t drain_since_ns;
    const char *disturbed; /* why it will not count, or NULL */
    struct wi_reading before;
    struct wi_reading after;
    struct wi_counts counts;
    uint64_t total_delay_ns;
    uint64_t total_unsettled;
    uint64_t first_experiment_ns;
    bool toggled_off;
};

/* experiment.c */
int wi_experiment_begin(struct wi_controller *controller, uint64_t now_ns);
void wi_experiment_stop(struct wi_controller *controller,
                        uint64_t now_ns); /* crediting ends, the drain begins */
bool wi_experiment_has_drained(struct wi_controller *controller, uint64_t now_ns);
void wi_experiment_record(struct wi_controller *controller); /* read, write down */
uint64_t wi_experiment_length_ns(const struct wi_controller *controller);
void wi_experiment_note_points(struct wi_controller *controller); /* name new points in the profile */

/* contenders.c */
/* Resolve --at and --given. 0; -EAGAIN if their code is not loaded yet; -ENOENT (error says what and what is near). */
int wi_contenders_resolve(struct wi_controller *controller);
/* Bring the list up to date with the samples so far. */
void wi_contenders_refresh(struct wi_controller *controller, uint64_t now_ns);
/* Whose block comes next; n_tried if nobody's. */
size_t wi_contenders_next(struct wi_controller *controller, uint64_t now_ns);

/* modules.c */
/* Take up what the target has loaded since: names, scope, unwind tables. True if there was anything new. */
bool wi_modules_take_up(struct wi_controller *controller);

uint64_t wi_controller_now_ns(void);

#endif
