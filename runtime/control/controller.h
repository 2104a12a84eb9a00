/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The controller: decides the experiments of a run, makes them, and writes everything down.
 *
 * It is a state machine that the launcher's loop steps: each step does what is due and says when it wants to be called
 * again. It sleeps through experiments; debug information is read, samples are named and records are written between
 * them. Context: launcher, main thread.
 */
#ifndef WI_CONTROL_CONTROLLER_H
#define WI_CONTROL_CONTROLLER_H

#include "runtime/control/publish.h"
#include "runtime/profile/writer.h"
#include "runtime/session/session.h"
#include "runtime/symbols/symbols.h"

enum wi_granularity { WI_BY_AUTO, WI_BY_LINE, WI_BY_FUNCTION, WI_BY_CALLPATH };

struct wi_controller_options {
    const double *speedups; /* percent; zeros are the baselines, which are always there */
    size_t n_speedups;
    const char *const *at; /* fixed units; none: whatever the samples show */
    size_t n_at;
    const char *given; /* a unit sped up in all experiments, or NULL */
    double given_speedup_percent;
    enum wi_granularity granularity;
    uint64_t warmup_ns;
    double min_impact_percent;
    double max_slowdown_percent; /* of a second that may go into pauses, on average */
    uint64_t seed;
};

struct wi_controller;

int wi_controller_create(struct wi_session *session, int session_fd, struct wi_symbols *symbols,
                         struct wi_profile_writer *writer, const struct wi_controller_options *options,
                         struct wi_controller **out);
void wi_controller_destroy(struct wi_controller *controller);

/* Do what is due. Returns the time (CLOCK_MONOTONIC) at which to call again. */
uint64_t wi_controller_step(struct wi_controller *controller, uint64_t now_ns);

/* Something touched the target that makes the running experiment worthless ("stopped", ...). */
void wi_controller_disturb(struct wi_controller *controller, const char *because);

/* Experiments off or on from outside (SIGUSR2). Returns whether they are on now. */
bool wi_controller_toggle(struct wi_controller *controller);

/* No more experiments: the running one is cut short, all samples are named, totals written, delays released. */
void wi_controller_finish(struct wi_controller *controller);

/* For the status line and the diagnosis. */
struct wi_controller_status {
    uint64_t samples;
    uint64_t samples_in_scope;
    uint64_t samples_lost;
    uint64_t visits; /* of all points */
    uint32_t n_points;
    uint32_t n_experiments; /* valid ones */
    uint32_t n_blocks;
    uint32_t n_processes;
    const char *unit;    /* under test, or NULL */
    const char *best;    /* the unit that can give most so far, or NULL */
    double best_percent; /* how much */
    const char *error;   /* what keeps experiments from being made, for people; NULL if nothing */
};
void wi_controller_status(struct wi_controller *controller, struct wi_controller_status *status);

/* Write a notice for everything about the run that a person should know. After wi_controller_finish. */
void wi_controller_diagnose(struct wi_controller *controller);

#endif
