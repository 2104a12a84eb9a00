/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A model's estimates: for every progress point every unit's gain, ranked, with intervals and what is still open.
 *
 * Pure: the same model, options and seed give the same figures. With `replicates` 0 it is fast enough to be asked
 * between experiments. Shares are of 1 here; reports print percent. Context: launcher, viewer-export.
 */
#ifndef WI_PROFILE_ESTIMATE_H
#define WI_PROFILE_ESTIMATE_H

#include "runtime/profile/gains.h"
#include "runtime/profile/model.h"
#include "runtime/profile/pausing.h"

struct wi_estimate_options {
    double precision_percent;  /* half-width of the interval of max_gain at which a unit is decided */
    double min_impact_percent; /* gains below this interest nobody */
    uint32_t replicates;       /* of the bootstrap; 0: quick */
    uint64_t seed;
};
#define WI_ESTIMATE_DEFAULTS                                                                                 \
    {                                                                                                        \
        .precision_percent = 2, .min_impact_percent = 1, .replicates = 599, .seed = 1                        \
    }

struct wi_unit_estimate {
    uint32_t unit; /* in model->units */
    double share;  /* of all samples in scope; negative if unknown */
    double bound;  /* share of wall time with a thread inside; negative if unknown */
    uint32_t experiments;
    uint32_t invalid;  /* experiments that do not count */
    uint32_t unpaired; /* blocks without a baseline */
    struct wi_gains gains;
    bool clearly_positive; /* stands after the correction for having looked at all units */
    bool decided;
    const char *undecided_because; /* a constant; NULL if decided */
};

struct wi_point_estimate {
    uint32_t point; /* in model->points */
    double visits;
    bool has_value; /* throughput in 1/s, or mean latency in ns, of baselines */
    double value, low, high;
    double p50, p90, p99; /* of matched latencies in baselines, ns; negative if there are none */
    uint32_t baselines;
    struct wi_pausing pausing;
    struct wi_unit_estimate *units; /* largest max gain first, then those without one by share */
    uint32_t n_units;
};

struct wi_estimate {
    struct wi_point_estimate *points; /* in the model's order */
    uint32_t n_points;
};

/* 0 or -ENOMEM. */
int wi_estimate_model(const struct wi_model *model, const struct wi_estimate_options *options,
                      struct wi_estimate *out);
void wi_estimate_fini(struct wi_estimate *estimate);

/* One point only. */
int wi_estimate_point(const struct wi_model *model, uint32_t point, const struct wi_estimate_options *options,
                      struct wi_point_estimate *out);
void wi_point_estimate_fini(struct wi_point_estimate *estimate);

#endif
