/* SPDX-License-Identifier: BSD-2-Clause */
/* One unit seen from one progress point: see series.h. */
#include "runtime/profile/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No correction may claim more than this share of what was measured. */
#define MAX_CORRECTION 0.5

/* Where no time in flight was kept, pairs matched by key tell the mean latency. */
static bool uses_matched(const struct wi_model_unit *unit, uint32_t point)
{
    double in_flight = 0, matched = 0;
    for (uint32_t i = 0; i < unit->n_blocks; i++) {
        for (uint32_t j = 0; j < unit->blocks[i].n_arms; j++) {
            struct wi_point_sum sum = wi_arm_point(&unit->blocks[i].arms[j], point);
            in_flight += sum.in_flight_ns;
            matched += sum.matched;
        }
    }
    return in_flight == 0 && matched > 0;
}

static void add_arm(struct wi_series_arm *out, const struct wi_arm *arm, uint32_t point,
                    enum wi_point_kind kind, bool matched)
{
    struct wi_point_sum sum = wi_arm_point(arm, point);
    out->experiments += arm->experiments;
    out->without_visits += arm->experiments - (sum.experiments - sum.without_visits);
    out->pauses += arm->pauses;
    out->delay_ns += arm->delay_ns;
    if (kind == WI_POINT_THROUGHPUT) {
        out->count += sum.visits;
        out->cost += arm->effective_ns;
    } else {
        out->count += matched ? sum.matched : sum.visits;
        out->cost += matched ? sum.matched_sum_ns : sum.in_flight_ns;
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void collect_speedups(struct wi_series *series, const struct wi_model_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_speedups; i++)
        series->speedups[series->n_speedups++] = unit->speedups[i];
    qsort(series->speedups, series->n_speedups, sizeof *series->speedups, ascending);
}

static uint32_t speedup_index(const struct wi_series *series, double speedup_percent)
{
    uint32_t i = 0;
    while (series->speedups[i] != speedup_percent)
        i++;
    return i;
}

static const struct wi_arm *find_baseline(const struct wi_block *block)
{
    for (uint32_t i = 0; i < block->n_arms; i++)
        if (block->arms[i].kind == WI_EXPERIMENT_BASELINE)
            return &block->arms[i];
    return NULL;
}

static void add_row(struct wi_series *series, const struct wi_block *block, uint32_t point, bool matched)
{
    uint32_t row = series->n_rows++;
    for (uint32_t i = 0; i < block->n_arms; i++) {
        const struct wi_arm *arm = &block->arms[i];
        struct wi_series_arm *out = &series->baseline[row];
        if (arm->kind == WI_EXPERIMENT_PLACEBO)
            out = &series->placebo[row];
        else if (arm->kind == WI_EXPERIMENT_TREATMENT)
            out = &series->treated[row * series->n_speedups + speedup_index(series, arm->speedup_percent)];
        add_arm(out, arm, point, series->kind, matched);
    }
}

/* Blocks of profile number `profile` that have a baseline, from block `at` on. Blocks come profile by profile. */
static uint32_t rows_of_profile(const struct wi_model_unit *unit, uint32_t at)
{
    uint32_t n = 0;
    for (uint32_t i = at; i < unit->n_blocks && unit->blocks[i].profile == unit->blocks[at].profile; i++)
        n += find_baseline(&unit->blocks[i]) != NULL;
    return n;
}

static uint32_t end_of_profile(const struct wi_model_unit *unit, uint32_t at)
{
    uint32_t i = at;
    while (i < unit->n_blocks && unit->blocks[i].profile == unit->blocks[at].profile)
        i++;
    return i;
}

/* Add the rows of those profiles that have one block (`single`) or those that have more. */
static void add_rows(struct wi_series *series, const struct wi_model_unit *unit, uint32_t point, bool single)
{
    bool matched = series->kind == WI_POINT_LATENCY && uses_matched(unit, point);
    for (uint32_t at = 0, end; at < unit->n_blocks; at = end) {
        end = end_of_profile(unit, at);
        if ((rows_of_profile(unit, at) <= 1) != single)
            continue;
        for (uint32_t i = at; i < end; i++) {
            if (find_baseline(&unit->blocks[i]) != NULL)
                add_row(series, &unit->blocks[i], point, matched);
            else
                series->unpaired++;
        }
        if (!single)
            series->stratum_end[series->n_strata++] = series->n_rows;
    }
    /* A stratum of one block would have no variance at all: a lone single joins the stratum after it. */
    if (single && series->n_rows > 1)
        series->stratum_end[series->n_strata++] = series->n_rows;
}

int wi_series_init(struct wi_series *series, const struct wi_model *model, uint32_t unit_index,
                   uint32_t point)
{
    const struct wi_model_unit *unit = &model->units[unit_index];
    *series = (struct wi_series){.kind = model->points[point]->kind};
    collect_speedups(series, unit);
    size_t n = unit->n_blocks + 1;
    series->baseline = calloc(n, sizeof *series->baseline);
    series->placebo = calloc(n, sizeof *series->placebo);
    series->treated = calloc(n * (series->n_speedups + 1), sizeof *series->treated);
    series->stratum_end = calloc(n + 1, sizeof *series->stratum_end);
    if (series->baseline == NULL || series->placebo == NULL || series->treated == NULL ||
        series->stratum_end == NULL) {
        wi_series_fini(series);
        return -ENOMEM;
    }
    add_rows(series, unit, point, true);
    add_rows(series, unit, point, false);
    if (series->n_strata == 0 && series->n_rows > 0)
        series->stratum_end[series->n_strata++] = series->n_rows;
    return 0;
}

void wi_series_fini(struct wi_series *series)
{
    free(series->baseline);
    free(series->placebo);
    free(series->treated);
    free(series->stratum_end);
    *series = (struct wi_series){0};
}

/* The weights rest on what is (nearly) fixed by design, time for throughput and ends for latency, so that they do
 * not depend on the outcome. */
struct wi_term wi_series_term(enum wi_point_kind kind, const struct wi_series_arm *treated,
                              const struct wi_series_arm *baseline, double pause_cost)
{
    double correction = pause_cost * treated->pauses;
    double most = MAX_CORRECTION * treated->cost;
    double cost = treated->cost - fmin(fmax(correction, -most), most);
    double total = kind == WI_POINT_THROUGHPUT ? cost + baseline->cost : treated->count + baseline->count;
    if (!(total > 0))
        return (struct wi_term){0, 0};
    return (struct wi_term){cost * baseline->count / total, baseline->cost * treated->count / total};
}
