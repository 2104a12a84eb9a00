/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one or several profiles say, summed up: the input of every estimate and report.
 *
 * Experiments are kept as sums over each block's arms (an arm: the experiments of one kind and speedup), because
 * blocks are what estimates resample and nothing finer is needed. Units and points of several profiles are one
 * where their names are. Memory grows with blocks and units, time with records.
 *
 * A model is filled by reading files (wi_model_add), or record by record through its visitor: the controller does
 * that with what it has just written. Everything may be read between records. Context: launcher, viewer-export;
 * one thread.
 */
#ifndef WI_PROFILE_MODEL_H
#define WI_PROFILE_MODEL_H

#include "runtime/profile/map.h"
#include "runtime/profile/reader.h"

#define WI_MODEL_MAX_POINTS   256 /* arms hold an entry for every point; more are counted and left out */
#define WI_MODEL_MAX_SPEEDUPS 32  /* of one unit, likewise */

struct wi_point_sum { /* of one point over the experiments of an arm */
    double visits;
    double in_flight_ns;
    double matched;
    double matched_sum_ns;
    uint32_t experiments;    /* that counted this point */
    uint32_t without_visits; /* of these */
};

struct wi_arm {
    enum wi_experiment_kind kind;
    double speedup_percent;
    uint32_t experiments;
    double effective_ns; /* wall time less the growth of the global delay */
    double delay_ns;
    double pauses;
    double paused_ns;
    struct wi_point_sum *points; /* by point; those from n_points on are zero */
    uint32_t n_points;
};

struct wi_block {
    uint32_t profile;
    uint32_t number;
    struct wi_arm *arms;
    uint32_t n_arms;
};

struct wi_model_unit {
    char *name, *kind;
    char *file, *function; /* or NULL */
    uint32_t line, function_line;
    double samples, time_ns, inside_ns;     /* of all profiles */
    double wall_ns;                         /* of those profiles that counted this unit */
    uint32_t experiments, invalid;          /* invalid ones are in no block */
    double speedups[WI_MODEL_MAX_SPEEDUPS]; /* of treatments and placebos, as they came */
    uint32_t n_speedups;
    struct wi_block *blocks;
    uint32_t n_blocks;
    /* The part of the sums above that the current profile has given: its next tally replaces it. */
    uint32_t tally_profile;
    double tally_samples, tally_time_ns, tally_inside_ns, tally_wall_ns;
};

struct wi_model_point {
    char *name;
    enum wi_point_kind kind;
    double visits;                          /* in all valid experiments */
    uint32_t experiments;                   /* valid ones that counted it */
    uint32_t without_visits;                /* of these */
    uint64_t histogram[WI_LATENCY_BUCKETS]; /* matched latencies of baselines */
};

struct wi_model_notice {
    char *code, *text;
    uint64_t count;
};

struct wi_model_profile {
    char *path;    /* or NULL */
    char *command; /* words joined by spaces, quoted where a shell would need it */
    char **words;  /* the same as given; NULL-terminated */
    char *host, *cpu, *kernel, *sampler, *whatif_version;
    uint32_t n_cpus;
    uint64_t period_ns, sample_cost_ns;
    uint64_t last_ns; /* latest time any record mentions */
    bool ended;
    char *end_reason; /* or NULL */
    int exit_status;
    uint64_t launcher_cpu_ns;
    struct wi_record_tally tally; /* the last one, without units */
    struct wi_profile_trouble trouble;
};

struct wi_model_invalid { /* experiments that do not count, by reason */
    char *why;
    uint32_t experiments;
};

struct wi_model {
    struct wi_model_profile *profiles;
    uint32_t n_profiles;
    struct wi_model_unit *units;
    uint32_t n_units;
    struct wi_model_point **points;
    uint32_t n_points;
    struct wi_model_notice *notices; /* equal ones of several profiles are one */
    uint32_t n_notices;
    struct wi_model_invalid *invalid;
    uint32_t n_invalid;
    uint32_t experiments; /* all, valid or not */
    uint32_t valid;
    double effective_ns; /* of valid experiments */
    double delay_ns, paused_ns, absorbed_ns, guessed_ns;
    double noise_sum; /* over experiments that know it */
    uint32_t noise_n;
    uint64_t left_out; /* points, speedups, notices beyond a limit */
    int error;         /* the first one, -ENOMEM; records after it are dropped */
    /* How records find what they mean. Identifiers are those of the current profile. */
    struct wi_map unit_names, point_names, block_keys, unit_ids, point_ids;
    uint64_t hash_seed;
};

/* NULL if memory is out. */
struct wi_model *wi_model_create(void);
void wi_model_destroy(struct wi_model *model);

/* Read one more profile. As wi_profile_read, whose errors it returns; the trouble also stays in the profile. */
int wi_model_add(struct wi_model *model, const char *path, struct wi_profile_trouble *trouble);

/* Callbacks that add records to this model. A header begins another profile. */
struct wi_profile_visitor wi_model_visitor(struct wi_model *model);

/* The same, for callers with one record in hand. Identifiers are those of point and unit records given before;
 * an experiment on an unknown unit, and counts of unknown points, are dropped. */
void wi_model_add_point(struct wi_model *model, const struct wi_record_point *record);
void wi_model_add_unit(struct wi_model *model, const struct wi_record_unit *record);
void wi_model_add_experiment(struct wi_model *model, const struct wi_record_experiment *record);
void wi_model_add_tally(struct wi_model *model, const struct wi_record_tally *record);

/* Position in model->units / points of an identifier of the current profile; WI_NONE if unknown. */
uint32_t wi_model_unit_of(const struct wi_model *model, uint32_t id);
uint32_t wi_model_point_of(const struct wi_model *model, uint32_t id);

/* Length of all profiles together, in seconds. */
double wi_model_duration_s(const struct wi_model *model);

/* An arm's sums for a point; all zero if it has none. */
struct wi_point_sum wi_arm_point(const struct wi_arm *arm, uint32_t point);

#endif
