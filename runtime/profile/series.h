/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One unit seen from one progress point, block by block: what the estimates compute with.
 *
 * Throughput and latency become one thing here. Each arm of a block has a *count* and a *cost*: visits and
 * effective time for throughput, ends and time in flight for latency. Cost per count is what a gain lowers.
 */
#ifndef WI_PROFILE_SERIES_H
#define WI_PROFILE_SERIES_H

#include "runtime/profile/model.h"

struct wi_series_arm {
    double count;
    double cost; /* ns */
    double pauses;
    double delay_ns;
    uint32_t experiments;
    uint32_t without_visits;
};

struct wi_series {
    enum wi_point_kind kind;
    uint32_t n_speedups;
    double speedups[WI_MODEL_MAX_SPEEDUPS]; /* percent, of treatments, ascending */
    uint32_t n_rows;                        /* blocks that have a baseline */
    struct wi_series_arm *baseline;         /* by row */
    struct wi_series_arm *placebo;          /* by row, all speedups together */
    struct wi_series_arm *treated;          /* by row and speedup: [row * n_speedups + speedup] */
    uint32_t n_strata;                      /* profiles; those with a single block stand together */
    uint32_t *stratum_end;                  /* rows of stratum i: from the end of i - 1 up to here */
    uint32_t unpaired;                      /* blocks without a baseline: of no use */
};

/* 0 or -ENOMEM. */
int wi_series_init(struct wi_series *series, const struct wi_model *model, uint32_t unit, uint32_t point);
void wi_series_fini(struct wi_series *series);

/* What a block says about cost per count under `treated` against `baseline`: the sum of `above` over blocks, divided
 * by the sum of `below`, estimates the ratio of the two, whatever the level that each block had and however much
 * time each arm got (Mantel and Haenszel's estimator of a common ratio; for equal times, the ratio of sums).
 * `pause_cost` times the pauses served is taken off the treated arm's cost first. */
struct wi_term {
    double above;
    double below;
};
struct wi_term wi_series_term(enum wi_point_kind kind, const struct wi_series_arm *treated,
                              const struct wi_series_arm *baseline, double pause_cost);

#endif
