/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a model to a ranking.
 *
 * Point by point: the series of all units tell what pausing costs; with that each unit's gains are estimated by
 * itself; then the units are compared, and those marked that stand out after one has looked at all of them.
 * What is asked of a unit beyond its gain, whether it needs more experiments, is answered last.
 */
#include "runtime/profile/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/latency.h"
#include "runtime/profile/stats.h"

#define FALSE_DISCOVERIES 0.05
#define BOUND_SLACK       0.25 /* of the bound: what samples may have missed */

/* ---- shares and bounds -------------------------------------------------------------------------------------------- */

static double samples_in_scope(const struct wi_model *model)
{
    double sum = 0;
    for (uint32_t i = 0; i < model->n_profiles; i++)
        sum += (double)model->profiles[i].tally.samples_in_scope;
    return sum;
}

static double share_of(const struct wi_model_unit *unit, double in_scope)
{
    return in_scope > 0 ? fmin(1, fmax(0, unit->samples) / in_scope) : -1;
}

static double bound_of(const struct wi_model_unit *unit)
{
    return unit->wall_ns > 0 ? fmin(1, fmax(0, unit->inside_ns) / unit->wall_ns) : -1;
}

/* The time inside was counted by samples, which see neither the time that sampling takes nor the kernel's, and over
 * wall time, of which delays and the time before the first sample do not count. */
static struct wi_bound limit_of(const struct wi_model *model, const struct wi_model_unit *unit,
                                const struct wi_point_estimate *point)
{
    double bound = bound_of(unit);
    struct wi_bound limit = {.known = bound > 0 && unit->samples > 0 && !point->pausing.demand_limited &&
                                      model->points[point->point]->kind == WI_POINT_THROUGHPUT};
    if (!limit.known)
        return limit;
    double effective_ns = fmax(unit->wall_ns - fmin(model->delay_ns, model->paused_ns), unit->inside_ns);
    limit.share = fmin(1, bound * (1 + BOUND_SLACK));
    limit.high_share = fmin(1, unit->inside_ns / effective_ns * (1 + BOUND_SLACK + 2 / sqrt(unit->samples)));
    return limit;
}

/* ---- the point's own value ---------------------------------------------------------------------------------------------- */

struct level { /* sums over baselines, for a ratio of sums and its error */
    double count, cost;
    double count2, cost2, both;
    uint32_t blocks;
};

static void add_baselines(struct level *level, const struct wi_series *series)
{
    for (uint32_t i = 0; i < series->n_rows; i++) {
        double count = series->baseline[i].count, cost = series->baseline[i].cost;
        level->count += count;
        level->cost += cost;
        level->count2 += count * count;
        level->cost2 += cost * cost;
        level->both += count * cost;
        level->blocks++;
    }
}

static void set_value(struct wi_point_estimate *point, const struct level *level, enum wi_point_kind kind)
{
    if (!(level->count > 0) || !(level->cost > 0))
        return;
    double n = level->blocks;
    double relative = level->count2 / (level->count * level->count) +
                      level->cost2 / (level->cost * level->cost) -
                      2 * level->both / (level->count * level->cost);
    double error = n > 1 ? sqrt(fmax(0, relative) * n / (n - 1)) : 0;
    double reach = n > 1 ? exp(wi_t_quantile(0.975, n - 1) * error) : 1;
    point->has_value = true;
    point->value =
        kind == WI_POINT_THROUGHPUT ? level->count / level->cost * 1e9 : level->cost / level->count;
    point->low = point->value / reach;
    point->high = point->value * reach;
    if (!isfinite(point->high))
        point->low = point->high = point->value;
}

static void describe_point(const struct wi_model *model, const struct wi_series *series, uint32_t n,
                           struct wi_point_estimate *out)
{
    const struct wi_model_point *point = model->points[out->point];
    struct level level = {0};
    for (uint32_t i = 0; i < n; i++) {
        add_baselines(&level, &series[i]);
        for (uint32_t j = 0; j < series[i].n_rows; j++)
            out->baselines += series[i].baseline[j].experiments;
    }
    out->visits = point->visits;
    set_value(out, &level, point->kind);
    out->p50 = wi_latency_quantile(point->histogram, 0.5);
    out->p90 = wi_latency_quantile(point->histogram, 0.9);
    out->p99 = wi_latency_quantile(point->histogram, 0.99);
}

/* ---- what is still open ---------------------------------------------------------------------------------------------------- */

static bool has_any_visits(const struct wi_gains *gains)
{
    for (uint32_t s = 0; s < gains->n; s++)
        if (gains->at[s].visits > 0)
            return true;
    return false;
}

static const char *undecided_because(const struct wi_point_estimate *point,
                                     const struct wi_unit_estimate *unit,
                                     const struct wi_estimate_options *options)
{
    const struct wi_gains *gains = &unit->gains;
    double min_impact = options->min_impact_percent / 100;
    if (unit->bound >= 0 && unit->bound < min_impact && unit->experiments == 0)
        return NULL; /* too little time in it to be worth an experiment */
    if (point->pausing.demand_limited)
        return "demand-limited";
    if (unit->experiments == 0)
        return "no experiments";
    if (!gains->has_curve && !has_any_visits(gains))
        return "no visits";
    if (!gains->has_curve)
        return "too few blocks";
    if (gains->max_high < min_impact)
        return NULL;
    if ((gains->max_high - gains->max_low) / 2 > options->precision_percent / 100)
        return "interval too wide";
    return NULL;
}

/* ---- the ranking -------------------------------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct wi_unit_estimate *x = a, *y = b;
    if (x->gains.has_curve != y->gains.has_curve)
        return x->gains.has_curve ? -1 : 1;
    if (x->gains.has_curve && x->gains.max != y->gains.max)
        return x->gains.max > y->gains.max ? -1 : 1;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->unit < y->unit ? -1 : 1;
}

static int mark_clear(struct wi_point_estimate *point)
{
    double *p_values = calloc(point->n_units + 1, sizeof *p_values);
    bool *clear = calloc(point->n_units + 1, sizeof *clear);
    uint32_t n = 0;
    int error = p_values == NULL || clear == NULL ? -ENOMEM : 0;
    /* Sorted: those with a curve come first, and only they were looked at. */
    while (error == 0 && n < point->n_units && point->units[n].gains.has_curve) {
        p_values[n] = point->units[n].gains.p_value;
        n++;
    }
    if (error == 0)
        error = wi_false_discovery(p_values, n, FALSE_DISCOVERIES, clear);
    for (uint32_t i = 0; i < n && error == 0; i++)
        point->units[i].clearly_positive = clear[i];
    free(p_values);
    free(clear);
    return error;
}

/* ---- a point --------------------------------------------------------------------------------------------------------------------- */

static int estimate_unit(const struct wi_model *model, const struct wi_series *series,
                         const struct wi_point_estimate *point, const struct wi_estimate_options *options,
                         uint32_t index, struct wi_unit_estimate *out)
{
    const struct wi_model_unit *unit = &model->units[index];
    /* Its own random source: a unit's figures do not change because another one was added. */
    struct wi_random random = {options->seed ^ wi_map_hash_text(unit->name, point->point + 1)};
    struct wi_bound limit = limit_of(model, unit, point);
    *out = (struct wi_unit_estimate){
        .unit = index,
        .share = share_of(unit, samples_in_scope(model)),
        .bound = bound_of(unit),
        .experiments = unit->experiments,
        .invalid = unit->invalid,
        .unpaired = series->unpaired,
    };
    int error = wi_gains_estimate(series, &point->pausing, &limit, options->replicates, &random, &out->gains);
    out->undecided_because = undecided_because(point, out, options);
    out->decided = out->undecided_because == NULL;
    return error;
}

static int estimate_units(const struct wi_model *model, const struct wi_series *series,
                          const struct wi_estimate_options *options, struct wi_point_estimate *out)
{
    out->units = calloc(model->n_units + 1, sizeof *out->units);
    int error = out->units != NULL ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < model->n_units && error == 0; i++) {
        error = estimate_unit(model, &series[i], out, options, i, &out->units[i]);
        out->n_units = i + 1;
    }
    if (error != 0)
        return error;
    qsort(out->units, out->n_units, sizeof *out->units, by_rank);
    return mark_clear(out);
}

static void free_series(struct wi_series *series, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        wi_series_fini(&series[i]);
    free(series);
}

static struct wi_series *all_series(const struct wi_model *model, uint32_t point)
{
    struct wi_series *series = calloc(model->n_units + 1, sizeof *series);
    for (uint32_t i = 0; i < model->n_units && series != NULL; i++) {
        if (wi_series_init(&series[i], model, i, point) != 0) {
            free_series(series, i);
            return NULL;
        }
    }
    return series;
}

int wi_estimate_point(const struct wi_model *model, uint32_t point, const struct wi_estimate_options *options,
                      struct wi_point_estimate *out)
{
    *out = (struct wi_point_estimate){.point = point};
    struct wi_series *series = all_series(model, point);
    if (series == NULL)
        return -ENOMEM;
    describe_point(model, series, model->n_units, out);
    int error = wi_pausing_estimate(series, model->n_units, &out->pausing);
    if (error == 0)
        error = estimate_units(model, series, options, out);
    free_series(series, model->n_units);
    if (error != 0)
        wi_point_estimate_fini(out);
    return error;
}

void wi_point_estimate_fini(struct wi_point_estimate *estimate)
{
    for (uint32_t i = 0; i < estimate->n_units; i++)
        wi_gains_fini(&estimate->units[i].gains);
    free(estimate->units);
    estimate->units = NULL;
    estimate->n_units = 0;
}

int wi_estimate_model(const struct wi_model *model, const struct wi_estimate_options *options,
                      struct wi_estimate *out)
{
    *out = (struct wi_estimate){.points = calloc(model->n_points + 1, sizeof *out->points)};
    int error = out->points != NULL ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < model->n_points && error == 0; i++) {
        error = wi_estimate_point(model, i, options, &out->points[i]);
        out->n_points = i + 1;
    }
    if (error != 0)
        wi_estimate_fini(out);
    return error;
}

void wi_estimate_fini(struct wi_estimate *estimate)
{
    for (uint32_t i = 0; i < estimate->n_points; i++)
        wi_point_estimate_fini(&estimate->points[i]);
    free(estimate->points);
    *estimate = (struct wi_estimate){0};
}
