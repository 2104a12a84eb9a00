/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of pausing, as a ratio over blocks: the excess cost of placebos beyond what their visits cost in the
 * baseline next to them, per pause that was served. With a baseline of N visits in time C, and a placebo of n in
 * c, block b says (all weighted as in wi_series_term)
 *
 *     excess = c - n * C/N        pauses = p        delay = d
 *
 * and the cost of a pause is sum(excess) / sum(pauses). The error comes from the blocks' residuals.
 *
 * The cost is shrunk by 1 - (error/cost)^2, at least to 0: the empirical Bayes estimate under a prior that is
 * centred at "pausing costs nothing". Few placebos, or a cost within its error, thus change no estimate; but what
 * was withheld may be real, and goes into the deviation, by which intervals grow.
 *
 * Where visits are paced from outside they go on during the delay: then excess = -delay, and the share of the
 * delay that shows up as visits, -sum(excess) / sum(delay), is near 1.
 */
#include "runtime/profile/pausing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/profile/stats.h"

#define MIN_BLOCKS   4    /* with fewer, nothing is said about the cost */
#define DEMAND_LIMIT 0.5  /* half-way between the two kinds of programs */
#define MIN_DELAY    0.02 /* of the time, for the question to make sense */

struct row { /* of one block with a placebo */
    struct wi_term term;
    double excess, pauses, delay, cost;
};

struct rows {
    struct row *row;
    size_t n;
};

/* Pooled cost per count of a unit's baselines. */
static double baseline_level(const struct wi_series *series)
{
    double cost = 0, count = 0;
    for (uint32_t i = 0; i < series->n_rows; i++) {
        cost += series->baseline[i].cost;
        count += series->baseline[i].count;
    }
    return count > 0 ? cost / count : 0;
}

static struct row make_row(const struct wi_series *series, uint32_t i, double level)
{
    const struct wi_series_arm *placebo = &series->placebo[i], *baseline = &series->baseline[i];
    struct row row = {.term = wi_series_term(series->kind, placebo, baseline, 0), .cost = placebo->cost};
    bool throughput = series->kind == WI_POINT_THROUGHPUT;
    double total = throughput ? placebo->cost + baseline->cost : placebo->count + baseline->count;
    double weight = total > 0 ? (throughput ? baseline->cost : baseline->count) / total : 0;
    /* above - below is in cost times count over the weights' unit: visits for throughput, cost for latency */
    row.excess = (row.term.above - row.term.below) * (throughput ? level : 1);
    row.pauses = weight * placebo->pauses;
    row.delay = weight * placebo->delay_ns;
    return row;
}

static int collect(const struct wi_series *series, size_t n, struct rows *rows, struct wi_pausing *out)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += series[i].n_rows;
    rows->row = calloc(most, sizeof *rows->row);
    if (rows->row == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        double level = baseline_level(&series[i]);
        for (uint32_t j = 0; j < series[i].n_rows; j++) {
            if (series[i].placebo[j].experiments == 0 || series[i].baseline[j].experiments == 0)
                continue;
            rows->row[rows->n++] = make_row(&series[i], j, level);
            out->experiments += series[i].placebo[j].experiments;
        }
    }
    out->blocks = (uint32_t)rows->n;
    return 0;
}

static double pauses_of(const struct row *row)
{
    return row->pauses;
}

static double delay_of(const struct row *row)
{
    return row->delay;
}

/* sum(excess) / sum(of), with its standard error. False if there is nothing to divide by. */
static bool excess_per(const struct rows *rows, double (*of)(const struct row *), double *ratio,
                       double *error)
{
    double excess = 0, base = 0, squares = 0;
    for (size_t i = 0; i < rows->n; i++) {
        excess += rows->row[i].excess;
        base += of(&rows->row[i]);
    }
    if (!(base > 0))
        return false;
    *ratio = excess / base;
    for (size_t i = 0; i < rows->n; i++) {
        double residual = rows->row[i].excess - *ratio * of(&rows->row[i]);
        squares += residual * residual;
    }
    *error = sqrt(squares * (double)rows->n / (double)(rows->n - 1)) / base;
    return isfinite(*ratio) && isfinite(*error);
}

static void estimate_gain(const struct rows *rows, double t, struct wi_pausing *out)
{
    double above = 0, below = 0, squares = 0;
    for (size_t i = 0; i < rows->n; i++) {
        above += rows->row[i].term.above;
        below += rows->row[i].term.below;
    }
    if (!(above > 0) || !(below > 0)) {
        out->known = false;
        return;
    }
    for (size_t i = 0; i < rows->n; i++) {
        double influence = rows->row[i].term.above / above - rows->row[i].term.below / below;
        squares += influence * influence;
    }
    double error = sqrt(squares * (double)rows->n / (double)(rows->n - 1));
    double ratio = log(above / below);
    out->gain = 1 - exp(ratio);
    out->low = 1 - exp(ratio + t * error);
    out->high = 1 - exp(ratio - t * error);
}

static void estimate_cost(const struct rows *rows, struct wi_pausing *out)
{
    if (!excess_per(rows, pauses_of, &out->measured_ns, &out->error_ns))
        return;
    double noise = out->measured_ns != 0 ? out->error_ns / out->measured_ns : HUGE_VAL;
    double keep = fmax(0, 1 - noise * noise);
    out->cost_ns = keep * out->measured_ns;
    double withheld = out->measured_ns - out->cost_ns;
    out->deviation_ns = sqrt(keep * out->error_ns * out->error_ns + withheld * withheld);
}

static void estimate_demand(const struct rows *rows, enum wi_point_kind kind, double t,
                            struct wi_pausing *out)
{
    double delay = 0, cost = 0, ratio, error;
    for (size_t i = 0; i < rows->n; i++) {
        delay += rows->row[i].delay;
        cost += rows->row[i].cost;
    }
    if (kind != WI_POINT_THROUGHPUT || delay < MIN_DELAY * cost ||
        !excess_per(rows, delay_of, &ratio, &error))
        return;
    out->demand = -ratio;
    out->demand_low = -ratio - t * error;
    out->demand_limited = out->demand_low > DEMAND_LIMIT;
}

int wi_pausing_estimate(const struct wi_series *series, size_t n, struct wi_pausing *out)
{
    struct rows rows = {0};
    *out = (struct wi_pausing){0};
    int error = collect(series, n, &rows, out);
    if (error == 0 && rows.n >= MIN_BLOCKS) {
        double t = wi_t_quantile(0.975, (double)(rows.n - 1));
        out->known = true;
        estimate_gain(&rows, t, out);
        if (out->known) {
            estimate_cost(&rows, out);
            estimate_demand(&rows, series[0].kind, t, out);
        }
    }
    free(rows.row);
    return error;
}
