/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the estimator needs of statistics in general. Pure: no state but the caller's random source.
 */
#ifndef WI_PROFILE_STATS_H
#define WI_PROFILE_STATS_H

#include <stddef.h>
#include <stdint.h>

/* A random source of its own, so that one seed gives one report on every machine. */
struct wi_random {
    uint64_t state;
};
uint64_t wi_random_next(struct wi_random *random);
uint32_t wi_random_below(struct wi_random *random, uint32_t n); /* 0 .. n-1 */
double wi_random_uniform(struct wi_random *random);             /* inside (0, 1) */
double wi_random_normal(struct wi_random *random);

/* Student's t: the probability of a larger value, and the value that `probability` lies below. `df` > 0. */
double wi_t_tail(double t, double df);
double wi_t_quantile(double probability, double df);
double wi_normal_quantile(double probability);

/* Sorts `values` and returns the one below which the share `quantile` lies (the next larger one). n > 0. */
double wi_quantile_of(double *values, size_t n, double quantile);

/* Benjamini and Hochberg: sets clear[i] for those of n hypotheses that stand at this false discovery rate.
 * 0 or -ENOMEM. */
int wi_false_discovery(const double *p_values, size_t n, double rate, _Bool *clear);

#endif
