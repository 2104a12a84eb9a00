/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the session at the boundary of an experiment, and what happened between two readings.
 *
 * A reading is taken in a fixed order, clock, global delay, counters, at both ends: what is missed in between is missed
 * alike. Context: launcher.
 */
#ifndef WI_CONTROL_MEASURE_H
#define WI_CONTROL_MEASURE_H

#include "runtime/profile/records.h"
#include "runtime/session/session.h"

struct wi_point_reading {
    uint64_t visits; /* latency: ends */
    uint64_t begins;
    uint64_t
        inline_visits; /* of these, counted by code compiled against Coz's header, which keeps no times */
    uint64_t begin_times;
    uint64_t end_times;
    uint64_t matched;
    uint64_t matched_sum_ns;
    uint32_t histogram[WI_HISTOGRAM];
};

struct wi_reading {
    uint64_t wall_ns; /* since the start of the session */
    uint64_t delay_ns;
    uint32_t n_points;
    struct wi_point_reading points[WI_MAX_POINTS];
    uint64_t samples, hits, pauses, paused_ns, absorbed_ns, guessed_ns;
    uint64_t suspended_ns; /* of the machine, ever */
    uint64_t cpu_total;    /* ticks of all processors, and of these stolen by the hypervisor */
    uint64_t cpu_stolen;
};

void wi_measure_read(struct wi_session *session, struct wi_reading *reading);

/* Room for what wi_measure_between points to. */
struct wi_counts {
    struct wi_point_count points[WI_MAX_POINTS];
    uint32_t histograms[WI_MAX_POINTS][2 * WI_HISTOGRAM];
};

/* Fill the measured fields of a record from two readings; `counts` must live as long as the record. Sets
 * valid = false where the machine slept in between. */
void wi_measure_between(const struct wi_session *session, const struct wi_reading *from,
                        const struct wi_reading *to, struct wi_counts *counts,
                        struct wi_record_experiment *record);

/* Threads that run and still owe more than they could sleep off. */
uint32_t wi_measure_unsettled(struct wi_session *session);

#endif
