/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of `whatif run`: from the environment (WHATIF_<OPTION>) first, then from the command line.
 */
#ifndef WI_LAUNCHER_OPTIONS_H
#define WI_LAUNCHER_OPTIONS_H

#include "runtime/control/controller.h"
#include "runtime/control/plan.h"

#define WI_MAX_LIST 64

struct wi_list {
    const char *items[WI_MAX_LIST + 1];
    size_t n;
};

struct wi_run_options {
    char **command;       /* NULL-terminated; never empty */
    const char *output;   /* the profile's path */
    const char *format;   /* of the report: "text", "markdown", "json" or "bencher" */
    uint64_t duration_ns; /* 0: as long as the program runs */
    uint64_t warmup_ns;
    double speedups[WI_MAX_SPEEDUPS];
    size_t n_speedups;
    struct wi_list at;
    struct wi_list scope;
    struct wi_list exclude; /* one more than the user may give: see wi_options_exclude */
    char *given;
    double given_speedup_percent;
    enum wi_granularity granularity;
    uint32_t sampler; /* enum wi_sampler */
    double overhead_percent;
    double max_slowdown_percent;
    double min_impact_percent;
    double precision_percent;
    uint64_t seed;
    bool seed_given;
    bool follow;
    bool kill;
    bool quiet;
};

/* Returns -1 to go on, or the status to exit with (--help, a misuse; the reason has been printed). Exits nowhere. */
int wi_options_parse(int argc, char **argv, struct wi_run_options *options);

/* As --exclude. `glob` must outlive the options. */
void wi_options_exclude(struct wi_run_options *options, const char *glob);

#endif
