/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gains of one unit at one progress point, with intervals. Pure; docs/STATISTICS.md explains every step.
 */
#ifndef WI_PROFILE_GAINS_H
#define WI_PROFILE_GAINS_H

#include "runtime/profile/pausing.h"
#include "runtime/profile/series.h"
#include "runtime/profile/stats.h"

struct wi_gain { /* at one tested speedup; shares, not percent */
    double speedup_percent;
    uint32_t experiments;
    uint32_t without_visits; /* of these */
    uint32_t blocks;         /* that had this speedup and a baseline */
    double visits;           /* or ends, or matched pairs */
    bool known;              /* gain */
    bool has_interval;       /* low and high, and the fitted curve if it is in_fit */
    double gain, low, high;  /* as measured; 95 % for this speedup alone */
    bool in_fit;
    double fitted, fitted_low, fitted_high; /* the curve; 95 % for all speedups together */
    /* What these rest on: the logarithm of the ratio of costs, its standard error from the blocks and their degrees
     * of freedom, and that of the correction for pausing. */
    double log_ratio, error, df, pause_error;
};

struct wi_gains {
    uint32_t n;
    struct wi_gain *at; /* ascending */
    bool has_curve;
    bool is_concave;               /* false: the points contradict that, and the curve joins them */
    double max, max_low, max_high; /* of the curve over the tested speedups */
    double p_value;                /* of "no gain at any speedup"; 1 without a curve */
};

/* Limits of what is possible at a speedup of 100 %, as shares; scaled down for smaller ones. */
struct wi_bound {
    bool known;
    double share;      /* no estimate above this, unless its whole interval is */
    double high_share; /* no interval's end above this */
};

/* `replicates` of the block bootstrap give the simultaneous interval; 0: jackknife and Bonferroni, much faster and a
 * little wider. 0 or -ENOMEM. */
int wi_gains_estimate(const struct wi_series *series, const struct wi_pausing *pausing,
                      const struct wi_bound *bound, uint32_t replicates, struct wi_random *random,
                      struct wi_gains *out);

void wi_gains_fini(struct wi_gains *gains);

#endif
