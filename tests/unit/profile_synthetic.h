/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Synthetic runs with a known truth: experiments in blocks, whose level drifts from block to block, whose counts
 * are noisy, and whose gains are those of a curve that the test gives.
 */
#ifndef WI_TESTS_PROFILE_SYNTHETIC_H
#define WI_TESTS_PROFILE_SYNTHETIC_H

#include <math.h>

#include "runtime/profile/model.h"
#include "runtime/profile/stats.h"

struct synthetic {
    double (*truth)(double speedup); /* gain of a speedup, both as shares */
    uint32_t blocks;
    double rate;     /* visits per second of the baseline */
    double drift;    /* standard deviation of the logarithm of a block's level */
    double noise;    /* the same of each experiment */
    double outliers; /* share of experiments that run at half speed */
    double inside;   /* share of wall time inside the unit */
    double pause_ns; /* what each pause costs */
    bool placebos;
    bool demand;  /* visits follow the wall clock */
    bool latency; /* the point is one of latency: `rate` ends per second, 5 in flight */
    double length_ns;
};

static const double synthetic_speedups[] = {25, 50, 75, 100};

static inline double synthetic_poisson(struct wi_random *random, double mean)
{
    if (mean > 60)
        return fmax(0, floor(mean + sqrt(mean) * wi_random_normal(random) + 0.5));
    double limit = exp(-mean), product = 1, k = -1;
    do {
        k++;
        product *= wi_random_uniform(random);
    } while (product > limit);
    return k;
}

struct synthetic_state {
    struct wi_model *model;
    struct wi_random *random;
    uint32_t unit, block;
    uint64_t now_ns;
    double level;
};

static inline void synthetic_experiment(struct synthetic_state *state, const struct synthetic *run,
                                        enum wi_experiment_kind kind, double speedup_percent)
{
    double s = speedup_percent / 100,
           level = state->level * exp(run->noise * wi_random_normal(state->random));
    if (wi_random_uniform(state->random) < run->outliers)
        level /= 2;
    double gain = kind == WI_EXPERIMENT_TREATMENT ? run->truth(s) : 0;
    double wall_ns = run->length_ns, delay_ns = wall_ns * s * run->inside / (1 + s * run->inside);
    double pauses = delay_ns / 1e6;
    double effective_ns = wall_ns - delay_ns, usable_ns = effective_ns - pauses * run->pause_ns;
    double seconds = (run->demand ? wall_ns : usable_ns) / 1e9;
    struct wi_point_count count = {.point = 0};
    if (run->latency) {
        count.visits = (uint64_t)synthetic_poisson(state->random, run->rate * seconds);
        count.in_flight_ns = (double)count.visits * (5e9 / run->rate) / level * (1 - gain);
    } else {
        double rate = run->demand ? run->rate : run->rate * level / (1 - gain);
        count.visits = (uint64_t)synthetic_poisson(state->random, rate * seconds);
    }
    wi_model_add_experiment(state->model, &(struct wi_record_experiment){
                                              .block = state->block,
                                              .unit = state->unit,
                                              .kind = kind,
                                              .speedup_percent = speedup_percent,
                                              .start_ns = state->now_ns,
                                              .end_ns = state->now_ns + (uint64_t)wall_ns,
                                              .delay_ns = (uint64_t)delay_ns,
                                              .pauses = (uint64_t)pauses,
                                              .paused_ns = (uint64_t)delay_ns,
                                              .noise = -1,
                                              .valid = true,
                                              .points = &count,
                                              .n_points = 1,
                                          });
    state->now_ns += (uint64_t)wall_ns;
}

/* One unit's blocks. The model may hold others already. */
static inline void synthetic_add(struct wi_model *model, const struct synthetic *run, uint32_t unit,
                                 const char *name, struct wi_random *random)
{
    struct synthetic_state state = {.model = model, .random = random, .unit = unit};
    wi_model_add_point(
        model, &(struct wi_record_point){
                   .id = 0, .name = "p", .kind = run->latency ? WI_POINT_LATENCY : WI_POINT_THROUGHPUT});
    wi_model_add_unit(model, &(struct wi_record_unit){.id = unit, .name = name, .kind = "line"});
    for (uint32_t i = 0; i < run->blocks; i++) {
        state.block = i;
        state.level = exp(run->drift * wi_random_normal(random));
        synthetic_experiment(&state, run, WI_EXPERIMENT_BASELINE, 0);
        for (size_t s = 0; s < 4; s++)
            synthetic_experiment(&state, run, WI_EXPERIMENT_TREATMENT, synthetic_speedups[s]);
        synthetic_experiment(&state, run, WI_EXPERIMENT_BASELINE, 0);
        if (run->placebos)
            synthetic_experiment(&state, run, WI_EXPERIMENT_PLACEBO, 50);
    }
}

static inline double truth_zero(double s)
{
    return 0 * s;
}
static inline double truth_linear(double s)
{
    return 0.3 * s;
}
static inline double truth_hinge(double s)
{
    return fmin(0.4 * s, 0.18);
}
static inline double truth_decline(double s)
{
    return s < 0.5 ? 0.4 * s : 0.2 - 0.3 * (s - 0.5);
}
static inline double truth_harm(double s)
{
    return -0.2 * s;
}
static inline double truth_convex(double s)
{
    return 0.5 * s * s;
}

#endif
