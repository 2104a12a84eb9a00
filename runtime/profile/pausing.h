/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What placebos tell: the cost of pausing itself, and whether visits follow the wall clock. Pure.
 *
 * A placebo makes the same pauses and spares nobody, so that its true gain is zero. Whatever it shows is the price
 * of being paused (caches gone cold, sleeps that cost processor time), which treatments pay as well.
 */
#ifndef WI_PROFILE_PAUSING_H
#define WI_PROFILE_PAUSING_H

#include "runtime/profile/series.h"

struct wi_pausing {       /* of one progress point */
    uint32_t blocks;      /* that had a placebo and a baseline */
    uint32_t experiments; /* placebos in these */
    bool known;           /* enough of them for the figures below */
    double cost_ns; /* what a pause costs (time per pause, or time in flight per pause), shrunk: to be used */
    double deviation_ns;    /* standard deviation of that */
    double measured_ns;     /* the same before it was shrunk */
    double error_ns;        /* its standard error */
    double gain, low, high; /* gain of placebos, uncorrected, as shares; should be 0 */
    double demand,
        demand_low; /* share of the delay in which visits went on: 0 follows effective time, 1 the wall */
    bool demand_limited;
};

/* From the series of all units at one point. 0 or -ENOMEM. */
int wi_pausing_estimate(const struct wi_series *series, size_t n, struct wi_pausing *out);

#endif
