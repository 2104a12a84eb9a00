/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bencher Metric Format, version 0: benchmark, measure, value with bounds.
 *
 *     PROGRAM/POINT           throughput or latency: Bencher's own measures (operations per second, nanoseconds)
 *     PROGRAM/POINT/UNIT      causal-impact (gain at one speedup, percent), max-program-speedup (largest gain, percent)
 *
 * Histories hang on names, so names must survive edits: a line is its function and the distance from the function's
 * beginning. A bound that does not exist is left out; a figure that does not exist is not there at all. Only the
 * first units of each point are named, because each is a series in somebody's dashboard.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/json.h"
#include "viewer-export/export/internal.h"

#define MAX_NAME 1024 /* bytes of a benchmark's name */

static void add_metric(json_t *measures, const char *name, double value, double low, double high)
{
    if (!isfinite(value))
        return;
    json_t *metric = json_object();
    wi_json_set_real(metric, "value", value);
    wi_json_set_real(metric, "lower_value", low);
    wi_json_set_real(metric, "upper_value", high);
    wi_json_set(measures, name, metric);
}

/* Cut between characters, free of control characters; to be freed. */
static char *clean_name(const char *text)
{
    char *out = malloc(MAX_NAME + 1);
    size_t length = 0;
    while (out != NULL && *text != '\0') {
        size_t n = wi_utf8_length(text);
        const char *bytes = n == 0 ? "\xef\xbf\xbd" : text;
        size_t n_bytes = n == 0 ? 3 : n;
        if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))
            bytes = "?";
        if (length + n_bytes > MAX_NAME)
            break;
        memcpy(out + length, bytes, n_bytes);
        length += n_bytes;
        text += n == 0 ? 1 : n;
    }
    if (out != NULL)
        out[length] = '\0';
    return out;
}

/* Takes over `measures`. A name that is taken (functions of one name in files of one name) gets a number. */
static int add_benchmark(json_t *document, const char *name, json_t *measures)
{
    char *clean = clean_name(name), *numbered = NULL;
    int error = clean != NULL && measures != NULL ? 0 : -ENOMEM;
    for (int i = 2; error == 0 && json_object_get(document, numbered != NULL ? numbered : clean) != NULL;
         i++) {
        free(numbered);
        if (asprintf(&numbered, "%.*s #%d", MAX_NAME - 12, clean, i) < 0) {
            numbered = NULL;
            error = -ENOMEM;
        }
    }
    char *valid = numbered != NULL ? clean_name(numbered) : NULL; /* the cut may have split a character */
    if (error == 0)
        error = json_object_set(document, numbered != NULL ? valid : clean, measures) == 0 ? 0 : -ENOMEM;
    json_decref(measures);
    free(valid);
    free(numbered);
    free(clean);
    return error;
}

/* What a unit is called that should be called the same after an edit elsewhere in its file; to be freed. */
static char *stable_name(const struct wi_model_unit *unit)
{
    bool has_function = unit->function != NULL && unit->function[0] != '\0';
    char *out = NULL;
    int n;
    if (has_function && strcmp(unit->kind, "line") == 0 && unit->function_line != 0)
        n = asprintf(&out, "%s:%s%+lld", wi_export_base_name(unit->file), unit->function,
                     (long long)unit->line - unit->function_line);
    else if (has_function && strcmp(unit->kind, "function") == 0)
        n = asprintf(&out, "%s", unit->function);
    else
        n = asprintf(&out, "%s", unit->name);
    return n >= 0 ? out : NULL;
}

static int add_unit(const struct wi_export *export, json_t *document, const char *point,
                    const struct wi_unit_estimate *estimate)
{
    const struct wi_gains *gains = &estimate->gains;
    const struct wi_gain *gain = wi_export_gain_at(estimate, export->options->speedup_percent);
    json_t *measures = json_object();
    char *unit = stable_name(&export->model->units[estimate->unit]), *name = NULL;
    if (gain != NULL && gain->in_fit)
        add_metric(measures, "causal-impact", 100 * gain->fitted, 100 * gain->fitted_low,
                   100 * gain->fitted_high);
    add_metric(measures, "max-program-speedup", 100 * gains->max, 100 * gains->max_low,
               100 * gains->max_high);
    if (unit == NULL || asprintf(&name, "%s/%s", point, unit) < 0) {
        free(unit);
        json_decref(measures);
        return -ENOMEM;
    }
    int error = add_benchmark(document, name, measures);
    free(name);
    free(unit);
    return error;
}

static int add_point(const struct wi_export *export, json_t *document,
                     const struct wi_point_estimate *estimate)
{
    const struct wi_model_point *point = export->model->points[estimate->point];
    char *name;
    if (asprintf(&name, "%s/%s", wi_export_program(export->model), point->name) < 0)
        return -ENOMEM;
    int error = 0;
    if (estimate->has_value) {
        json_t *measures = json_object();
        add_metric(measures, point->kind == WI_POINT_LATENCY ? "latency" : "throughput", estimate->value,
                   estimate->low, estimate->high);
        error = add_benchmark(document, name, measures);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < estimate->n_units && n < export->options->top && error == 0; i++) {
        if (!estimate->units[i].gains.has_curve)
            continue;
        error = add_unit(export, document, name, &estimate->units[i]);
        n++;
    }
    free(name);
    return error;
}

int wi_export_as_bencher(const struct wi_export *export)
{
    json_t *document = json_object();
    int error = document != NULL ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < export->estimate.n_points && error == 0; i++)
        if (wi_export_wants_point(export, export->estimate.points[i].point))
            error = add_point(export, document, &export->estimate.points[i]);
    if (error == 0) {
        json_dumpf(document, export->out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
        putc('\n', export->out);
    }
    json_decref(document);
    return error;
}
