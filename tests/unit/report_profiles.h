/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles for the report's tests, written with the profile writer. The one in tests/golden/report came from here
 * (WHATIF_GOLDEN_UPDATE=1 makes it anew); tests of the report read that file, so that they do not depend on libm.
 */
#ifndef WI_TESTS_REPORT_PROFILES_H
#define WI_TESTS_REPORT_PROFILES_H

#include <stdlib.h>
#include <string.h>

#include "runtime/profile/latency.h"
#include "runtime/profile/writer.h"
#include "tests/unit/profile_synthetic.h"

static const struct wi_record_header run_header = {
    .command = (const char *const[]){"./server", "--port", "80", "a file", NULL},
    .directory = "/srv",
    .start_epoch_ns = 1700000000000000000,
    .host = "testhost",
    .cpu = "Test CPU",
    .kernel = "6.1.0",
    .n_cpus = 2,
    .sampler = "sigtrap",
    .period_ns = 500000,
    .sample_cost_ns = 5000,
    .seed = 1,
    .whatif_version = "1.0",
};

struct run_unit {
    struct wi_record_unit record;
    double (*truth)(double speedup);
    uint32_t blocks;
    uint64_t samples, inside_ns; /* of 40,000 in scope, in 60 s */
};

static const struct run_unit run_units[] = {
    {{0, "parser.c:120", "line", "/srv/src/parser.c", 120, "parse", 100},
     truth_linear,
     6,
     12400,
     37500000000},
    {{1, "hash_lookup", "function", "/srv/src/hash.c", 31, "hash_lookup", 30},
     truth_hinge,
     6,
     8100,
     24000000000},
    {{2, "log.c:44", "line", "/srv/src/log.c", 44, "log_line", 40}, truth_zero, 6, 900, 2700000000},
    {{3, "queue.c:9 < server.c:210", "callpath", "/srv/src/queue.c", 9, "queue_push", 5},
     truth_harm,
     6,
     3000,
     12000000000},
    {{4, "startup.c:3", "line", "/srv/src/startup.c", 3, "startup", 1}, NULL, 0, 40, 120000000},
    {{5, "config.c:77", "line", "/srv/src/config.c", 77, "read_config", 60}, NULL, 0, 2000, 6000000000},
};
#define N_RUN_UNITS (sizeof run_units / sizeof *run_units)

struct run_state {
    struct wi_profile_writer *writer;
    struct wi_random random;
    uint32_t id, block;
    uint64_t now_ns;
};

/* A histogram of `n` latencies around `mean_ns`, as pairs; returns the number of pairs. */
static inline size_t run_histogram(struct wi_random *random, uint64_t n, double mean_ns, uint32_t *pairs,
                                   double *sum)
{
    static uint32_t counts[WI_LATENCY_BUCKETS];
    memset(counts, 0, sizeof counts);
    *sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        double latency = mean_ns * exp(0.4 * wi_random_normal(random) - 0.08);
        *sum += latency;
        counts[wi_latency_bucket_of((uint64_t)latency)]++;
    }
    size_t n_pairs = 0;
    for (uint32_t i = 0; i < WI_LATENCY_BUCKETS; i++) {
        if (counts[i] == 0)
            continue;
        pairs[n_pairs * 2] = i;
        pairs[n_pairs++ * 2 + 1] = counts[i];
    }
    return n_pairs;
}

static inline void run_experiment(struct run_state *state, const struct run_unit *unit,
                                  enum wi_experiment_kind kind, double speedup_percent, double level)
{
    double s = speedup_percent / 100, gain = kind == WI_EXPERIMENT_TREATMENT ? unit->truth(s) : 0;
    double inside = (double)unit->inside_ns / 60e9, wall_ns = 300e6;
    double delay_ns = wall_ns * s * inside / (1 + s * inside), seconds = (wall_ns - delay_ns) / 1e9;
    level *= exp(0.03 * wi_random_normal(&state->random));
    uint32_t pairs[2 * WI_LATENCY_BUCKETS];
    struct wi_point_count counts[2] = {{.point = 0}, {.point = 1}};
    counts[0].visits = (uint64_t)synthetic_poisson(&state->random, 4000 * level / (1 - gain) * seconds);
    counts[1].visits = counts[1].begins = counts[1].matched =
        (uint64_t)synthetic_poisson(&state->random, 100 * seconds);
    double latency_ns = 4e6 / level * (1 - gain / 2);
    counts[1].histogram = pairs;
    counts[1].n_histogram =
        run_histogram(&state->random, counts[1].matched, latency_ns, pairs, &counts[1].matched_sum_ns);
    counts[1].in_flight_ns = counts[1].matched_sum_ns;
    bool valid = state->id % 29 != 7;
    struct wi_record_experiment record = {
        .id = state->id++,
        .block = state->block,
        .unit = unit->record.id,
        .kind = kind,
        .speedup_percent = speedup_percent,
        .start_ns = state->now_ns,
        .end_ns = state->now_ns + (uint64_t)wall_ns,
        .delay_ns = (uint64_t)delay_ns,
        .samples = 600,
        .hits = (uint64_t)(600 * inside),
        .pauses = (uint64_t)(delay_ns / 5e5),
        .paused_ns = (uint64_t)delay_ns,
        .noise = 0.02,
        .valid = valid,
        .invalid_because = valid ? NULL : "unsettled",
        .points = counts,
        .n_points = 2,
    };
    wi_profile_write_experiment(state->writer, &record);
    state->now_ns += (uint64_t)wall_ns;
}

static inline void run_block(struct run_state *state, const struct run_unit *unit)
{
    double level = exp(0.2 * wi_random_normal(&state->random));
    run_experiment(state, unit, WI_EXPERIMENT_BASELINE, 0, level);
    for (size_t s = 0; s < 4; s++)
        run_experiment(state, unit, WI_EXPERIMENT_TREATMENT, synthetic_speedups[s], level);
    run_experiment(state, unit, WI_EXPERIMENT_BASELINE, 0, level);
    run_experiment(state, unit, WI_EXPERIMENT_PLACEBO, 50, level);
    state->block++;
}

/* A whole run of a server with two progress points and six units. */
static inline void write_run(const char *name)
{
    struct run_state state = {.random = {7}, .now_ns = 1000000000};
    if (wi_profile_create(name, &run_header, &state.writer) != 0)
        abort(); /* Check's assertions work inside tests only */
    wi_profile_write_point(state.writer, &(struct wi_record_point){.id = 0, .name = "requests"});
    wi_profile_write_point(
        state.writer, &(struct wi_record_point){.id = 1, .name = "request time", .kind = WI_POINT_LATENCY});
    for (size_t i = 0; i < N_RUN_UNITS; i++)
        wi_profile_write_unit(state.writer, &run_units[i].record);
    for (uint32_t block = 0; block < 6; block++)
        for (size_t i = 0; i < N_RUN_UNITS; i++)
            if (block < run_units[i].blocks)
                run_block(&state, &run_units[i]);
    struct wi_unit_tally tallies[N_RUN_UNITS];
    for (size_t i = 0; i < N_RUN_UNITS; i++)
        tallies[i] = (struct wi_unit_tally){run_units[i].record.id, run_units[i].samples,
                                            run_units[i].samples * 500000, run_units[i].inside_ns};
    wi_profile_write_tally(state.writer, &(struct wi_record_tally){.time_ns = 60000000000,
                                                                   .samples = 41000,
                                                                   .samples_in_scope = 40000,
                                                                   .samples_lost = 12,
                                                                   .units = tallies,
                                                                   .n_units = N_RUN_UNITS});
    wi_profile_write_notice(state.writer, &(struct wi_record_notice){.code = "samples-lost", .count = 12});
    wi_profile_write_notice(state.writer, &(struct wi_record_notice){
                                              .code = "no-frame-pointers",
                                              .text = "libfoo.so has no unwind information: compile it with "
                                                      "-fno-omit-frame-pointer.",
                                              .count = 1});
    wi_profile_write_end(state.writer, &(struct wi_record_end){.time_ns = 61000000000,
                                                               .reason = "exited",
                                                               .exit_status = 0,
                                                               .launcher_cpu_ns = 800000000});
    if (wi_profile_close(state.writer) != 0)
        abort();
}

#endif
