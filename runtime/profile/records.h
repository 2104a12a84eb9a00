/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of a profile: what the controller writes down and everything after a run reads.
 *
 * A profile is JSON Lines: one record a line, appended as the run goes, so that whatever kills either process
 * costs at most the line being written. Identifiers are small integers, unique within one profile, defined by
 * a record before they are used. Times are nanoseconds since the profile's start (monotonic clock), unless the
 * name says otherwise. docs/PROFILE-FORMAT.md is the same for people.
 *
 * The structures below are what writer.h takes and reader.h hands out. Strings belong to the caller (writer) or
 * live during the callback (reader). UINT32_MAX is "none" for identifiers.
 */
#ifndef WI_PROFILE_RECORDS_H
#define WI_PROFILE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WI_PROFILE_VERSION 1
#define WI_NONE            UINT32_MAX

struct wi_record_header {        /* always the first line */
    const char *const *command;  /* NULL-terminated */
    const char *directory;       /* working directory */
    int64_t start_epoch_ns;      /* CLOCK_REALTIME at time 0 */
    const char *host;
    const char *cpu;             /* model name */
    const char *kernel;          /* release */
    uint32_t n_cpus;
    const char *sampler;         /* "sigtrap", "ring", "timer", "none" */
    uint64_t period_ns;          /* CPU time a sample stands for */
    uint64_t sample_cost_ns;     /* what one sample was measured to cost on this machine, 0 if unknown */
    uint64_t seed;
    const char *whatif_version;
    const char *options_json;    /* the options of the run as one JSON object, or NULL */
};

struct wi_record_process {
    uint32_t id;
    int32_t pid;
    int32_t parent_pid;
    const char *executable;
    uint64_t start_ns;
};

struct wi_record_thread {
    uint32_t id;
    uint32_t process;
    int32_t tid;
    const char *name;
    uint64_t start_ns;
};

struct wi_record_thread_end {
    uint32_t thread;
    uint64_t end_ns;
};

struct wi_record_module {
    uint32_t id;
    const char *path;
    const char *build_id; /* lower-case hex, or "" */
    bool is_main;
    const char *detail;   /* "lines", "functions", "none" */
};

/* One source file that the profile's frames mention: recorded with a hash of its content when the profile was
 * made, so that only that very content is ever read, served or embedded later. */
struct wi_record_source {
    uint32_t id;
    const char *path;
    const char *sha256; /* lower-case hex; "" if the file could not be read */
};

/* A node of the tree of source-level frames. Inlined functions are nodes of their own, with `inlined` set. */
struct wi_record_stack {
    uint32_t id;
    uint32_t parent;    /* the caller's node, WI_NONE for the outermost */
    uint32_t module;    /* WI_NONE for unmapped code */
    uint64_t address;   /* module's virtual address (return addresses already less one) */
    const char *function;
    uint32_t source;    /* WI_NONE if unknown */
    uint32_t line;      /* 0 if unknown */
    uint32_t function_line;
    bool inlined;
    bool in_scope;
};

/* A thread was seen running at `time_ns`. */
struct wi_record_sample {
    uint64_t time_ns;
    uint32_t thread;
    uint32_t stack;        /* innermost node */
    uint64_t cpu_ns;       /* CPU time of the thread since its last sample */
    uint64_t wait_ns;      /* time spent blocked in known calls since its last sample */
    uint32_t wait_kind;    /* enum wi_wait_kind of the longest of these */
    uint64_t pause_ns;     /* pauses of ours served since its last sample */
};
enum wi_wait_kind { WI_WAIT_NONE, WI_WAIT_PEER, WI_WAIT_WORLD, WI_WAIT_UNKNOWN };

enum wi_point_kind { WI_POINT_THROUGHPUT, WI_POINT_LATENCY };
struct wi_record_point {
    uint32_t id;
    const char *name;
    enum wi_point_kind kind;
};

struct wi_record_unit {
    uint32_t id;
    const char *name;       /* the canonical name, one string everywhere */
    const char *kind;       /* "line", "function", "callpath", "wait", "class" */
    const char *file;       /* full path, or NULL */
    uint32_t line;
    const char *function;   /* or NULL */
    uint32_t function_line;
};

enum wi_experiment_kind {
    WI_EXPERIMENT_BASELINE,  /* the same unit selected at 0 % */
    WI_EXPERIMENT_TREATMENT,
    WI_EXPERIMENT_PLACEBO,   /* the same pauses, nobody spared: true gain zero by construction */
};

/* What one progress point did during an experiment, the drain included. */
struct wi_point_count {
    uint32_t point;
    uint64_t visits;            /* throughput: visits; latency: ends */
    uint64_t begins;            /* latency only */
    double in_flight_ns;        /* latency only: the integral over effective time of the number in flight */
    uint64_t matched;           /* latency only: pairs matched by key */
    double matched_sum_ns;      /* sum of their virtual latencies */
    const uint32_t *histogram;  /* pairs (bucket, count) of matched latencies; see wi_latency_bucket_low */
    size_t n_histogram;         /* number of pairs */
};

struct wi_record_experiment {
    uint32_t id;
    uint32_t block;             /* experiments of one block were run close together, in random order */
    uint32_t unit;
    enum wi_experiment_kind kind;
    double speedup_percent;
    uint64_t start_ns;
    uint64_t end_ns;            /* wall time, the drain included */
    uint64_t delay_ns;          /* growth of the global delay: effective time = end - start - delay */
    uint64_t samples;           /* samples taken meanwhile, all threads */
    uint64_t hits;              /* of these, inside the unit */
    uint64_t pauses;            /* pauses served */
    uint64_t paused_ns;         /* their total length over all threads */
    uint64_t absorbed_ns;       /* debt taken up by waits for peers */
    uint64_t guessed_ns;        /* of that, where the wait was outside any known call */
    double noise;               /* share of processor time taken by strangers, 0..1; negative if unknown */
    bool valid;
    const char *invalid_because; /* "cut short", "stopped", "unsettled", ...; NULL if valid */
    const struct wi_point_count *points;
    size_t n_points;
};

/* Running totals, cumulative since the start; the last one counts. */
struct wi_unit_tally {
    uint32_t unit;
    uint64_t samples;
    uint64_t time_ns;       /* CPU time these stand for, all threads */
    uint64_t inside_ns;     /* wall time with at least one thread inside */
};
struct wi_record_tally {
    uint64_t time_ns;
    uint64_t samples;          /* all that arrived */
    uint64_t samples_in_scope;
    uint64_t samples_lost;     /* rings were full */
    uint64_t stacks_broken;    /* could not be walked to a frame in scope or the outermost */
    const struct wi_unit_tally *units;
    size_t n_units;
};

struct wi_record_notice {   /* something a person should know about this run */
    const char *code;       /* stable, for programs */
    const char *text;       /* one sentence, with the remedy if there is one */
    uint64_t count;
};

struct wi_record_end {      /* absent if the launcher was killed */
    uint64_t time_ns;
    const char *reason;     /* "exited", "signalled", "duration", "interrupted", "converged" */
    int exit_status;        /* of the program, as a shell shows it; -1 while it runs on */
    uint64_t launcher_cpu_ns;
};

/* Lower bound of a bucket of a matched latency: exact to 1/8, log-linear. Buckets 0..WI_LATENCY_BUCKETS-1. */
#define WI_LATENCY_BUCKETS 512
uint64_t wi_latency_bucket_low(uint32_t bucket);

#endif
