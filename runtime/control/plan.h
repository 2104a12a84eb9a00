/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to try next: blocks of experiments in random order, and which unit gets the next block. Pure; every decision
 * follows from the seed and from what is passed in.
 */
#ifndef WI_CONTROL_PLAN_H
#define WI_CONTROL_PLAN_H

#include "runtime/profile/records.h"
#include "runtime/profile/stats.h"

struct wi_trial { /* one experiment to be made */
    enum wi_experiment_kind kind;
    double speedup_percent;
};

#define WI_MAX_BLOCK    64
#define WI_MAX_SPEEDUPS 32

/*
 * One block for one unit: every speedup once, baselines in proportion, and a placebo in the first WI_PLACEBO_FIRST
 * blocks and every third one after. All comparisons of a block are with its baselines, so that these deserve about the
 * square root of the number of treatments (Dunnett 1955): two from three treatments on. Random order.
 * Returns the number of trials, at most WI_MAX_BLOCK.
 */
#define WI_PLACEBO_FIRST 6
size_t wi_plan_block(const double *speedups, size_t n_speedups, uint32_t n_earlier_blocks,
                     struct wi_random *random, struct wi_trial trials[WI_MAX_BLOCK]);

struct wi_contender {
    double
        worth; /* what it could still give: an upper bound of its gain, in percent; below 0: not to be tried */
    uint32_t n_blocks; /* spent on it so far */
};

/* The contender with the most worth per block spent (each counts as having had one more): blocks end up in proportion
 * to worth. Returns its index, or n if there is none to be tried. */
size_t wi_plan_next(const struct wi_contender *contenders, size_t n);

/* How long an experiment should last: `visits` visits of a point at `rate` per second, within [least, most]. */
uint64_t wi_plan_length_ns(double rate, double visits, uint64_t least_ns, uint64_t most_ns);

#endif
