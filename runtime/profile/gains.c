/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From blocks to gains.
 *
 * For every tested speedup the ratio of costs is a quotient of two sums over blocks (series.h). Its logarithm has a
 * standard error by the jackknife over blocks, and an interval by Student's t; with few blocks the percentile
 * bootstrap covers far too little, this does not (tests/unit/test_estimate_coverage.c).
 *
 * Then a concave curve through the origin is fitted to the gains. Why concave: in virtual time a program is a graph
 * of pieces of work, and the length of its longest path is a convex function of the length of any piece. The
 * spread of the fitted curve comes from resampling blocks (or, quickly, from leaving out each in turn), and its
 * interval holds for all tested speedups at once, so that the largest point of the curve may be picked.
 */
#include "runtime/profile/gains.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/concave.h"

#define MAX_S       WI_MODEL_MAX_SPEEDUPS
#define CONFIDENCE  0.95
#define MIN_SHARE   0.25      /* of the best tested speedup's blocks, to take part in the curve */
#define MISFIT      0.9       /* a point outside this interval around the curve contradicts it */
#define EDGE_VISITS (1.0 / 6) /* variance of a count of visits from the two ends of its experiment */

struct work {
    const struct wi_series *series;
    uint32_t rows, speedups;
    struct wi_term *terms; /* [row * speedups + speedup] */
    struct wi_term sums[MAX_S];
    double pause_shift[MAX_S]; /* of log_ratio, if pauses cost one standard deviation more */
    double unscaled_shift
        [MAX_S];         /* pause_shift by position in `fit`, less the factor that replicates get later */
    double extra[MAX_S]; /* standard deviation of what resampling does not see */
    uint32_t fit[MAX_S]; /* indices of the speedups in the curve */
    uint32_t n_fit;
    double x[MAX_S], weight[MAX_S];
    bool free_shape;
};

/* ---- each speedup for itself -------------------------------------------------------------------------------------- */

static void fill_terms(struct work *work, double pause_cost)
{
    const struct wi_series *series = work->series;
    memset(work->sums, 0, sizeof work->sums);
    for (uint32_t i = 0; i < work->rows; i++) {
        for (uint32_t s = 0; s < work->speedups; s++) {
            size_t at = (size_t)i * work->speedups + s;
            struct wi_term term =
                wi_series_term(series->kind, &series->treated[at], &series->baseline[i], pause_cost);
            work->terms[at] = term;
            work->sums[s].above += term.above;
            work->sums[s].below += term.below;
        }
    }
}

static bool has_ratio(struct wi_term sum)
{
    return sum.above > 0 && sum.below > 0 && isfinite(sum.above) && isfinite(sum.below);
}

static double log_ratio(struct wi_term sum)
{
    return log(sum.above / sum.below);
}

static struct wi_term less(struct wi_term sum, struct wi_term term)
{
    /* What remains of a sum less nearly all of it is rounding, not data. */
    double above = sum.above - term.above, below = sum.below - term.below;
    return (struct wi_term){above > 1e-9 * sum.above ? above : 0, below > 1e-9 * sum.below ? below : 0};
}

static bool takes_part(const struct wi_series *series, uint32_t row, uint32_t s)
{
    return series->treated[(size_t)row * series->n_speedups + s].experiments > 0;
}

/* Variance of log_ratio by leaving out each block, stratum by stratum. Adds to *df. Negative if a block carries
 * all the visits, so that nothing can be said without it. */
static double jackknife(const struct work *work, uint32_t s, double *df)
{
    double variance = 0;
    uint32_t begin = 0;
    for (uint32_t h = 0; h < work->series->n_strata; h++) {
        uint32_t end = work->series->stratum_end[h], n = 0;
        double mean = 0, squares = 0; /* Welford's running sums */
        for (uint32_t i = begin; i < end; i++) {
            if (!takes_part(work->series, i, s))
                continue;
            struct wi_term rest = less(work->sums[s], work->terms[(size_t)i * work->speedups + s]);
            if (!has_ratio(rest))
                return -1;
            double value = log_ratio(rest), before = mean;
            mean += (value - before) / ++n;
            squares += (value - before) * (value - mean);
        }
        if (n > 1) {
            variance += squares * (n - 1) / n;
            *df += n - 1;
        }
        begin = end;
    }
    return variance;
}

/* Visits are whole: an experiment cuts off a part of one at either end. Where counts happen to agree in all
 * blocks, the jackknife would take them for exact. */
static double edge_variance(const struct wi_series *series, uint32_t s)
{
    double treated = 0, baseline = 0, n_treated = 0, n_baseline = 0;
    for (uint32_t i = 0; i < series->n_rows; i++) {
        if (!takes_part(series, i, s))
            continue;
        const struct wi_series_arm *arm = &series->treated[(size_t)i * series->n_speedups + s];
        treated += arm->count;
        n_treated += arm->experiments;
        baseline += series->baseline[i].count;
        n_baseline += series->baseline[i].experiments;
    }
    if (series->kind != WI_POINT_THROUGHPUT || treated <= 0 || baseline <= 0)
        return 0;
    return EDGE_VISITS * (n_treated / (treated * treated) + n_baseline / (baseline * baseline));
}

static void count_experiments(const struct wi_series *series, uint32_t s, struct wi_gain *gain)
{
    gain->speedup_percent = series->speedups[s];
    for (uint32_t i = 0; i < series->n_rows; i++) {
        const struct wi_series_arm *arm = &series->treated[(size_t)i * series->n_speedups + s];
        gain->experiments += arm->experiments;
        gain->without_visits += arm->without_visits;
        gain->visits += arm->count;
        gain->blocks += arm->experiments > 0;
    }
}

static double t_level(void)
{
    return 0.5 + CONFIDENCE / 2;
}

/* The cost of pausing comes from all units' placebos: it needs no Student's t. */
static void set_interval(struct wi_gain *gain)
{
    double reach = hypot(wi_t_quantile(t_level(), gain->df) * gain->error,
                         wi_normal_quantile(t_level()) * gain->pause_error);
    gain->low = 1 - exp(gain->log_ratio + reach);
    gain->high = 1 - exp(gain->log_ratio - reach);
    gain->has_interval = isfinite(gain->low) && isfinite(gain->high);
}

static void estimate_speedup(struct work *work, uint32_t s, struct wi_gain *gain)
{
    count_experiments(work->series, s, gain);
    if (!has_ratio(work->sums[s]))
        return;
    gain->known = true;
    gain->log_ratio = log_ratio(work->sums[s]);
    gain->gain = gain->low = gain->high = 1 - exp(gain->log_ratio);
    double blocks = jackknife(work, s, &gain->df);
    if (blocks < 0 || gain->df < 1)
        return;
    double extra = fmax(0, edge_variance(work->series, s) - blocks);
    work->extra[s] = sqrt(extra);
    gain->error = sqrt(blocks + extra);
    gain->pause_error = fabs(work->pause_shift[s]);
    set_interval(gain);
}

/* ---- the curve -------------------------------------------------------------------------------------------------------- */

static void choose_speedups(struct work *work, struct wi_gains *out)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < out->n; s++)
        if (out->at[s].has_interval && out->at[s].blocks > most)
            most = out->at[s].blocks;
    for (uint32_t s = 0; s < out->n; s++) {
        struct wi_gain *gain = &out->at[s];
        gain->in_fit = gain->has_interval && gain->blocks >= MIN_SHARE * most && gain->error > 0;
        if (!gain->in_fit)
            continue;
        double error = hypot(gain->error, gain->pause_error) * exp(gain->log_ratio); /* of the gain itself */
        work->x[work->n_fit] = gain->speedup_percent / 100;
        work->weight[work->n_fit] = 1 / (error * error);
        work->fit[work->n_fit++] = s;
    }
}

/* The curve at its speedups for given logarithms of ratios there. */
static void fit_curve(const struct work *work, const double *log_ratios, double *fitted)
{
    double gains[MAX_S];
    for (uint32_t k = 0; k < work->n_fit; k++)
        gains[k] = 1 - exp(log_ratios[k]);
    if (work->free_shape)
        memcpy(fitted, gains, work->n_fit * sizeof *fitted);
    else
        wi_concave_fit(work->x, gains, work->weight, work->n_fit, fitted);
}

static void fit_points(struct work *work, struct wi_gains *out, double *fitted)
{
    double points[MAX_S];
    for (uint32_t k = 0; k < work->n_fit; k++)
        points[k] = out->at[work->fit[k]].log_ratio;
    fit_curve(work, points, fitted);
    for (uint32_t k = 0; k < work->n_fit; k++) {
        const struct wi_gain *gain = &out->at[work->fit[k]];
        double off = fabs(gain->gain - fitted[k]) * sqrt(work->weight[k]);
        work->free_shape |= off > wi_t_quantile(0.5 + MISFIT / 2, gain->df);
    }
    if (work->free_shape)
        fit_curve(work, points, fitted);
    out->has_curve = true;
    out->is_concave = !work->free_shape;
}

/* The variance that resampling n of n loses. */
static double resampling_factor(const struct wi_gain *gain)
{
    return sqrt((double)gain->blocks / (gain->blocks - 1));
}

/* The same, and Student's t instead of the normal. */
static double small_sample_factor(const struct wi_gain *gain)
{
    return wi_t_quantile(t_level(), gain->df) / wi_normal_quantile(t_level()) * resampling_factor(gain);
}

/* One resampling of the blocks, stratum by stratum. */
static void resample(const struct work *work, struct wi_random *random, const struct wi_gains *out,
                     double *log_ratios)
{
    struct wi_term sums[MAX_S] = {{0, 0}};
    uint32_t begin = 0;
    for (uint32_t h = 0; h < work->series->n_strata; h++) {
        uint32_t end = work->series->stratum_end[h];
        for (uint32_t i = begin; i < end; i++) {
            const struct wi_term *row =
                &work->terms[(size_t)(begin + wi_random_below(random, end - begin)) * work->speedups];
            for (uint32_t k = 0; k < work->n_fit; k++) {
                sums[k].above += row[work->fit[k]].above;
                sums[k].below += row[work->fit[k]].below;
            }
        }
        begin = end;
    }
    double pauses = wi_random_normal(random); /* one cost for all speedups */
    for (uint32_t k = 0; k < work->n_fit; k++) {
        uint32_t s = work->fit[k];
        double value = has_ratio(sums[k]) ? log_ratio(sums[k]) : out->at[s].log_ratio;
        log_ratios[k] = value + work->unscaled_shift[k] * pauses + work->extra[s] * wi_random_normal(random);
    }
}

struct spread { /* of the curve at one of its speedups */
    double deviation;
    double reach; /* half of the simultaneous interval */
};

static void deviations(const double *curves, uint32_t n, uint32_t points, double *means,
                       struct spread *spread)
{
    for (uint32_t k = 0; k < points; k++) {
        double sum = 0, squares = 0;
        for (uint32_t r = 0; r < n; r++)
            sum += curves[(size_t)r * points + k];
        means[k] = sum / n;
        for (uint32_t r = 0; r < n; r++) {
            double off = curves[(size_t)r * points + k] - means[k];
            squares += off * off;
        }
        spread[k].deviation = sqrt(squares / n);
    }
}

/* The simultaneous reach: the quantile of the largest standardised deviation of a curve. */
static int spread_by_bootstrap(struct work *work, const struct wi_gains *out, uint32_t replicates,
                               struct wi_random *random, struct spread *spread)
{
    double log_ratios[MAX_S], means[MAX_S];
    uint32_t points = work->n_fit;
    double *curves = malloc((size_t)replicates * points * sizeof *curves);
    double *largest = calloc(replicates, sizeof *largest);
    if (curves == NULL || largest == NULL) {
        free(curves);
        free(largest);
        return -ENOMEM;
    }
    for (uint32_t k = 0; k < points; k++)
        work->unscaled_shift[k] =
            work->pause_shift[work->fit[k]] / small_sample_factor(&out->at[work->fit[k]]);
    for (uint32_t r = 0; r < replicates; r++) {
        resample(work, random, out, log_ratios);
        fit_curve(work, log_ratios, curves + (size_t)r * points);
    }
    deviations(curves, replicates, points, means, spread);
    for (uint32_t r = 0; r < replicates; r++)
        for (uint32_t k = 0; k < points; k++)
            if (spread[k].deviation > 0)
                largest[r] =
                    fmax(largest[r], fabs(curves[(size_t)r * points + k] - means[k]) / spread[k].deviation);
    double critical = fmax(wi_quantile_of(largest, replicates, CONFIDENCE), wi_normal_quantile(t_level()));
    for (uint32_t k = 0; k < points; k++) {
        const struct wi_gain *gain = &out->at[work->fit[k]];
        spread[k].reach = critical * small_sample_factor(gain) * spread[k].deviation;
        spread[k].deviation *= resampling_factor(gain);
    }
    free(curves);
    free(largest);
    return 0;
}

/* The curve without one block at a time; what the blocks do not show is added as if it moved one point alone. */
static void spread_by_jackknife(const struct work *work, const struct wi_gains *out, struct spread *spread)
{
    double log_ratios[MAX_S], fitted[MAX_S], mean[MAX_S], squares[MAX_S], variance[MAX_S] = {0};
    uint32_t begin = 0;
    for (uint32_t h = 0; h < work->series->n_strata; h++) {
        uint32_t end = work->series->stratum_end[h], n = end - begin;
        memset(mean, 0, sizeof mean);
        memset(squares, 0, sizeof squares);
        for (uint32_t i = begin; i < end; i++) {
            for (uint32_t k = 0; k < work->n_fit; k++) {
                uint32_t s = work->fit[k];
                struct wi_term rest = less(work->sums[s], work->terms[(size_t)i * work->speedups + s]);
                log_ratios[k] = has_ratio(rest) ? log_ratio(rest) : out->at[s].log_ratio;
            }
            fit_curve(work, log_ratios, fitted);
            for (uint32_t k = 0; k < work->n_fit; k++) {
                double before = mean[k];
                mean[k] += (fitted[k] - before) / (i - begin + 1);
                squares[k] += (fitted[k] - before) * (fitted[k] - mean[k]);
            }
        }
        for (uint32_t k = 0; k < work->n_fit && n > 1; k++)
            variance[k] += squares[k] * (n - 1) / n;
        begin = end;
    }
    for (uint32_t k = 0; k < work->n_fit; k++) {
        const struct wi_gain *gain = &out->at[work->fit[k]];
        double unseen = work->extra[work->fit[k]] * work->extra[work->fit[k]] +
                        work->pause_shift[work->fit[k]] * work->pause_shift[work->fit[k]];
        double scale = exp(2 * gain->log_ratio);
        spread[k].deviation = sqrt(variance[k] + unseen * scale);
        spread[k].reach =
            wi_t_quantile(1 - (1 - CONFIDENCE) / 2 / work->n_fit, gain->df) * spread[k].deviation;
    }
}

/* One-sided, for the best of the tested speedups, hence times their number. */
static double p_value(const struct work *work, const struct wi_gains *out, const double *fitted,
                      const struct spread *spread)
{
    double p = 1;
    for (uint32_t k = 0; k < work->n_fit; k++) {
        const struct wi_gain *gain = &out->at[work->fit[k]];
        if (spread[k].deviation > 0)
            p = fmin(p, work->n_fit * wi_t_tail(fitted[k] / spread[k].deviation, gain->df));
    }
    return p;
}

/* ---- what is possible ---------------------------------------------------------------------------------------------------- */

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* A bound that the whole interval contradicts does not hold for this unit (waiting by polling, convoys). */
static void clamp(double *value, double *low, double *high, double speedup_percent,
                  const struct wi_bound *bound)
{
    double share = 1, high_share = 1;
    if (bound->known && *low <= bound->share * speedup_percent / 100) {
        share = least(1, bound->share * speedup_percent / 100);
        high_share = least(1, fmax(share, bound->high_share * speedup_percent / 100));
    }
    *value = least(*value, share);
    *high = fmax(least(*high, high_share), *value);
    *low = least(*low, *value);
}

static void clamp_all(struct wi_gains *out, const struct wi_bound *bound)
{
    for (uint32_t s = 0; s < out->n; s++) {
        struct wi_gain *gain = &out->at[s];
        if (gain->known)
            clamp(&gain->gain, &gain->low, &gain->high, gain->speedup_percent, bound);
        if (gain->in_fit)
            clamp(&gain->fitted, &gain->fitted_low, &gain->fitted_high, gain->speedup_percent, bound);
    }
}

static void find_max(struct wi_gains *out)
{
    out->max = out->max_low = out->max_high = -HUGE_VAL;
    for (uint32_t s = 0; s < out->n; s++) {
        if (!out->at[s].in_fit)
            continue;
        out->max = fmax(out->max, out->at[s].fitted);
        out->max_low = fmax(out->max_low, out->at[s].fitted_low);
        out->max_high = fmax(out->max_high, out->at[s].fitted_high);
    }
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------- */

static int estimate_curve(struct work *work, uint32_t replicates, struct wi_random *random,
                          struct wi_gains *out)
{
    double fitted[MAX_S];
    struct spread spread[MAX_S];
    choose_speedups(work, out);
    if (work->n_fit == 0)
        return 0;
    fit_points(work, out, fitted);
    if (replicates == 0)
        spread_by_jackknife(work, out, spread);
    else if (spread_by_bootstrap(work, out, replicates, random, spread) != 0)
        return -ENOMEM;
    for (uint32_t k = 0; k < work->n_fit; k++) {
        struct wi_gain *gain = &out->at[work->fit[k]];
        gain->fitted = fitted[k];
        gain->fitted_low = fitted[k] - spread[k].reach;
        gain->fitted_high = fitted[k] + spread[k].reach;
    }
    out->p_value = p_value(work, out, fitted, spread);
    return 0;
}

static void measure_pause_shift(struct work *work, const struct wi_pausing *pausing)
{
    if (!(pausing->deviation_ns > 0))
        return;
    fill_terms(work, pausing->cost_ns + pausing->deviation_ns);
    for (uint32_t s = 0; s < work->speedups; s++)
        work->pause_shift[s] = has_ratio(work->sums[s]) ? log_ratio(work->sums[s]) : 0;
    fill_terms(work, pausing->cost_ns);
    for (uint32_t s = 0; s < work->speedups; s++)
        work->pause_shift[s] = has_ratio(work->sums[s]) ? work->pause_shift[s] - log_ratio(work->sums[s]) : 0;
}

int wi_gains_estimate(const struct wi_series *series, const struct wi_pausing *pausing,
                      const struct wi_bound *bound, uint32_t replicates, struct wi_random *random,
                      struct wi_gains *out)
{
    struct work work = {.series = series, .rows = series->n_rows, .speedups = series->n_speedups};
    *out = (struct wi_gains){.n = series->n_speedups, .p_value = 1};
    if (out->n == 0)
        return 0;
    out->at = calloc(out->n, sizeof *out->at);
    work.terms = calloc((size_t)work.rows * work.speedups + 1, sizeof *work.terms);
    if (work.terms == NULL || out->at == NULL) {
        free(work.terms);
        wi_gains_fini(out);
        return -ENOMEM;
    }
    measure_pause_shift(&work, pausing);
    fill_terms(&work, pausing->cost_ns);
    for (uint32_t s = 0; s < out->n; s++)
        estimate_speedup(&work, s, &out->at[s]);
    int error = estimate_curve(&work, replicates, random, out);
    free(work.terms);
    if (error != 0) {
        wi_gains_fini(out);
        return error;
    }
    clamp_all(out, bound);
    if (out->has_curve)
        find_max(out);
    return 0;
}

void wi_gains_fini(struct wi_gains *gains)
{
    free(gains->at);
    *gains = (struct wi_gains){.p_value = 1};
}
