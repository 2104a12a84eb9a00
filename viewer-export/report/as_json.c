/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report as one JSON document: docs/report.schema.json says what is in it. Programs rely on it: fields are added,
 * never renamed, and `version` grows if one must change its meaning.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/json.h"
#include "viewer-export/report/internal.h"

#define VERSION   1
#define MIN_SHARE 0.001 /* of the samples, for a unit that was not experimented on to be listed */

/* Rounded to what it is good for, so that documents can be compared by eye; null if there is no such number. */
static json_t *number(double value, double unit)
{
    return isfinite(value) ? json_real(round(value / unit) * unit) : json_null();
}

static json_t *percent(double share)
{
    return number(share * 100, 0.001);
}

static json_t *text_or_null(const char *text)
{
    return text != NULL ? wi_json_string(text) : json_null();
}

static double known_share(double share)
{
    return share >= 0 ? share : NAN;
}

/* ---- units ---------------------------------------------------------------------------------------------------------- */

static json_t *curve_entry(const struct wi_report *report, const struct wi_gain *gain)
{
    json_t *entry = json_object();
    wi_json_set(entry, "speedup_percent", number(gain->speedup_percent, 0.01));
    wi_json_set(entry, "gain_percent", percent(gain->known ? gain->gain : NAN));
    wi_json_set(entry, "low_percent", percent(gain->has_interval ? gain->low : NAN));
    wi_json_set(entry, "high_percent", percent(gain->has_interval ? gain->high : NAN));
    wi_json_set(entry, "experiments", json_integer(gain->experiments));
    wi_json_set(entry, "visits", json_integer((json_int_t)gain->visits));
    if (!report->options->verbose)
        return entry;
    wi_json_set(entry, "experiments_without_visits", json_integer(gain->without_visits));
    wi_json_set(entry, "fitted_percent", percent(gain->in_fit ? gain->fitted : NAN));
    wi_json_set(entry, "fitted_low_percent", percent(gain->in_fit ? gain->fitted_low : NAN));
    wi_json_set(entry, "fitted_high_percent", percent(gain->in_fit ? gain->fitted_high : NAN));
    return entry;
}

static json_t *unit_object(const struct wi_report *report, const struct wi_unit_estimate *estimate)
{
    const struct wi_model_unit *unit = wi_unit_of(report, estimate);
    const struct wi_gains *gains = &estimate->gains;
    bool curve = gains->has_curve;
    json_t *object = json_object(), *entries = json_array();
    wi_json_set(object, "name", wi_json_string(unit->name));
    wi_json_set(object, "kind", wi_json_string(unit->kind));
    wi_json_set(object, "file", text_or_null(unit->file));
    wi_json_set(object, "line", unit->line != 0 ? json_integer(unit->line) : json_null());
    wi_json_set(object, "function", text_or_null(unit->function));
    wi_json_set(object, "share_percent", percent(known_share(estimate->share)));
    wi_json_set(object, "bound_percent", percent(known_share(estimate->bound)));
    wi_json_set(object, "experiments", json_integer(estimate->experiments));
    wi_json_set(object, "decided", json_boolean(estimate->decided));
    wi_json_set(object, "undecided_because", text_or_null(estimate->undecided_because));
    wi_json_set(object, "max_gain_percent", percent(curve ? gains->max : NAN));
    wi_json_set(object, "max_gain_low_percent", percent(curve ? gains->max_low : NAN));
    wi_json_set(object, "max_gain_high_percent", percent(curve ? gains->max_high : NAN));
    for (uint32_t i = 0; i < gains->n; i++)
        if (gains->at[i].experiments > 0)
            json_array_append_new(entries, curve_entry(report, &gains->at[i]));
    wi_json_set(object, "curve", entries);
    if (report->options->verbose) {
        wi_json_set(object, "clearly_positive", json_boolean(estimate->clearly_positive));
        wi_json_set(object, "invalid_experiments", json_integer(estimate->invalid));
    }
    return object;
}

static json_t *units_array(const struct wi_report *report, const struct wi_point_estimate *point)
{
    json_t *array = json_array();
    uint32_t top = report->options->top;
    for (uint32_t i = 0; i < point->n_units; i++) {
        const struct wi_unit_estimate *unit = &point->units[i];
        bool of_interest = unit->experiments > 0 || unit->share >= MIN_SHARE;
        if (of_interest && wi_wants_unit(report, unit) && (top == 0 || json_array_size(array) < top))
            json_array_append_new(array, unit_object(report, unit));
    }
    return array;
}

/* ---- points ---------------------------------------------------------------------------------------------------------- */

static json_t *pausing_object(const struct wi_pausing *pausing)
{
    json_t *object = json_object();
    wi_json_set(object, "experiments", json_integer(pausing->experiments));
    wi_json_set(object, "gain_percent", percent(pausing->known ? pausing->gain : NAN));
    wi_json_set(object, "low_percent", percent(pausing->known ? pausing->low : NAN));
    wi_json_set(object, "high_percent", percent(pausing->known ? pausing->high : NAN));
    wi_json_set(object, "cost_per_pause_ns", number(pausing->cost_ns, 0.1));
    return object;
}

static json_t *point_object(const struct wi_report *report, const struct wi_point_estimate *estimate)
{
    const struct wi_model_point *point = wi_point_of(report, estimate);
    bool latency = point->kind == WI_POINT_LATENCY;
    json_t *object = json_object();
    wi_json_set(object, "name", wi_json_string(point->name));
    wi_json_set(object, "kind", json_string(latency ? "latency" : "throughput"));
    wi_json_set(object, "visits", json_integer((json_int_t)estimate->visits));
    wi_json_set(object, "demand_limited", json_boolean(estimate->pausing.demand_limited));
    wi_json_set(object, "value", number(estimate->has_value ? estimate->value : NAN, 1e-4));
    wi_json_set(object, "low", number(estimate->has_value ? estimate->low : NAN, 1e-4));
    wi_json_set(object, "high", number(estimate->has_value ? estimate->high : NAN, 1e-4));
    wi_json_set(object, "unit", json_string(latency ? "ns" : "1/s"));
    if (latency && estimate->p50 >= 0) {
        wi_json_set(object, "p50", number(estimate->p50, 1));
        wi_json_set(object, "p90", number(estimate->p90, 1));
        wi_json_set(object, "p99", number(estimate->p99, 1));
    }
    if (report->options->verbose)
        wi_json_set(object, "placebo", pausing_object(&estimate->pausing));
    wi_json_set(object, "units", units_array(report, estimate));
    return object;
}

static json_t *points_array(const struct wi_report *report)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->estimate.n_points; i++)
        if (wi_wants_point(report, &report->estimate.points[i]))
            json_array_append_new(array, point_object(report, &report->estimate.points[i]));
    return array;
}

/* ---- the run -------------------------------------------------------------------------------------------------------------- */

static json_t *command_array(const struct wi_model_profile *profile)
{
    json_t *array = json_array();
    for (size_t i = 0; profile->words != NULL && profile->words[i] != NULL; i++)
        json_array_append_new(array, wi_json_string(profile->words[i]));
    return array;
}

static json_t *machine_object(const struct wi_model_profile *profile)
{
    json_t *object = json_object();
    wi_json_set(object, "host", text_or_null(profile->host));
    wi_json_set(object, "cpu", text_or_null(profile->cpu));
    wi_json_set(object, "kernel", text_or_null(profile->kernel));
    wi_json_set(object, "cpus", json_integer(profile->n_cpus));
    return object;
}

static json_t *diagnosis_array(const struct wi_report *report)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < report->n_findings; i++) {
        json_t *entry = json_object();
        wi_json_set(entry, "code", wi_json_string(report->findings[i].code));
        wi_json_set(entry, "text", wi_json_string(report->findings[i].text));
        wi_json_set_count(entry, "count", report->findings[i].count);
        json_array_append_new(array, entry);
    }
    return array;
}

int wi_report_as_json(const struct wi_report *report, FILE *out)
{
    static const struct wi_model_profile none;
    const struct wi_model *model = report->model;
    const struct wi_model_profile *profile = model->n_profiles > 0 ? &model->profiles[0] : &none;
    json_t *document = json_object();
    wi_json_set(document, "version", json_integer(VERSION));
    wi_json_set(document, "command", command_array(profile));
    wi_json_set(document, "machine", machine_object(profile));
    wi_json_set(document, "duration_s", number(wi_model_duration_s(model), 0.001));
    wi_json_set(document, "sampler", text_or_null(profile->sampler));
    wi_json_set(document, "points", points_array(report));
    wi_json_set(document, "diagnosis", diagnosis_array(report));
    bool complete = json_object_get(document, "version") != NULL;
    if (complete) {
        json_dumpf(document, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        putc('\n', out);
    }
    json_decref(document);
    return complete ? 0 : -ENOMEM;
}
