/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coz's profiles, as text (fields separated by tabs) and as JSON Lines: what `coz plot` and its viewer read.
 *
 *     experiment          experiment: duration is effective time, speedup a share
 *     visits              throughput-point: delta
 *     begins, ends        latency-point: arrivals, departures; difference is the mean number in flight, which is what the
 *                         viewer takes it for; in text an integer, as it reads no other
 *     samples of a unit   samples, at the end
 *
 * Coz has no blocks, placebos or intervals: they are lost, and its viewer computes gains its own way, without the
 * correction for what pausing costs. Experiments that do not count are left out. Functions and call paths stand
 * under their names where Coz has FILE:LINE. The parser ends fields at tabs and lines at line ends, and nothing
 * escapes them: they become blanks.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/profile/json.h"
#include "viewer-export/export/internal.h"
#include "viewer-export/export/json_out.h"

#define MAX_IN_FLIGHT 1e15 /* a damaged profile may say anything */

static void put_field(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\t%s=", key);
    while (*text != '\0') {
        size_t n = wi_utf8_length(text);
        if (n == 0)
            fputs("\xef\xbf\xbd", out);
        else if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))
            putc(' ', out);
        else
            fwrite(text, 1, n, out);
        text += n > 0 ? n : 1;
    }
}

static uint64_t effective_ns(const struct wi_rec_experiment *experiment)
{
    uint64_t wall = experiment->end_ns > experiment->start_ns ? experiment->end_ns - experiment->start_ns : 0;
    return wall > experiment->delay_ns ? wall - experiment->delay_ns : 0;
}

static bool shown(const struct wi_rec_experiment *experiment)
{
    return experiment->valid && experiment->kind != WI_EXPERIMENT_PLACEBO && effective_ns(experiment) > 0;
}

static double in_flight(const struct wi_rec_experiment *experiment, const struct wi_rec_count *count)
{
    return count->in_flight_ns / (double)effective_ns(experiment);
}

/* Rounded up or down so that the mean over many experiments is right: multiples of the golden ratio fill the unit
 * interval evenly. */
static long long whole(double value, uint32_t number)
{
    double turn = number * 0.6180339887498949;
    return (long long)floor(fmin(value, MAX_IN_FLIGHT) + (turn - floor(turn)));
}

/* ---- text ------------------------------------------------------------------------------------------------------------- */

static void text_count(const struct wi_export *export, uint32_t number, const struct wi_rec_count *count)
{
    const struct wi_rec_experiment *experiment = &export->recording->experiments[number];
    const struct wi_model_point *point = export->model->points[count->point];
    FILE *out = export->out;
    if (point->kind == WI_POINT_THROUGHPUT) {
        fputs("throughput-point", out);
        put_field(out, "name", point->name);
        fprintf(out, "\tdelta=%" PRIu64 "\n", count->visits);
        return;
    }
    fputs("latency-point", out);
    put_field(out, "name", point->name);
    fprintf(out, "\tarrivals=%" PRIu64 "\tdepartures=%" PRIu64 "\tdifference=%lld\n", count->begins,
            count->visits, whole(in_flight(experiment, count), number));
}

static void text_experiment(const struct wi_export *export, const struct wi_rec_experiment *experiment)
{
    fputs("experiment", export->out);
    put_field(export->out, "selected", export->model->units[experiment->unit].name);
    fprintf(export->out, "\tspeedup=%.4g\tduration=%" PRIu64 "\tselected-samples=%" PRIu64 "\n",
            experiment->speedup_percent / 100, effective_ns(experiment), experiment->hits);
}

static void text_samples(const struct wi_export *export)
{
    fprintf(export->out, "runtime\ttime=%" PRIu64 "\n", export->recording->end_ns);
    for (uint32_t i = 0; i < export->model->n_units; i++) {
        if (export->model->units[i].samples <= 0)
            continue;
        fputs("samples", export->out);
        put_field(export->out, "location", export->model->units[i].name);
        fprintf(export->out, "\tcount=%.0f\n", export->model->units[i].samples);
    }
}

static int64_t start_epoch_ns(const struct wi_export *export)
{
    return export->recording->n_profiles > 0 ? export->recording->profiles[0].start_epoch_ns : 0;
}

int wi_export_as_coz(const struct wi_export *export)
{
    const struct wi_recording *recording = export->recording;
    fprintf(export->out, "startup\ttime=%" PRId64 "\n", start_epoch_ns(export));
    for (uint32_t i = 0; i < recording->n_experiments; i++) {
        const struct wi_rec_experiment *experiment = &recording->experiments[i];
        if (!shown(experiment))
            continue;
        text_experiment(export, experiment);
        for (uint32_t j = 0; j < experiment->n_counts; j++)
            if (wi_export_wants_point(export, recording->counts[experiment->first_count + j].point))
                text_count(export, i, &recording->counts[experiment->first_count + j]);
    }
    text_samples(export);
    return 0;
}

/* ---- JSON Lines ----------------------------------------------------------------------------------------------------------- */

static void begin_line(struct wi_json_out *json, const char *type)
{
    *json = (struct wi_json_out){.out = json->out};
    wi_out_object(json, NULL);
    wi_out_text(json, "type", type);
}

static void line_count(const struct wi_export *export, struct wi_json_out *json,
                       const struct wi_rec_experiment *experiment, const struct wi_rec_count *count)
{
    const struct wi_model_point *point = export->model->points[count->point];
    bool latency = point->kind == WI_POINT_LATENCY;
    begin_line(json, latency ? "latency-point" : "throughput-point");
    wi_out_text(json, "name", point->name);
    if (latency) {
        wi_out_count(json, "arrivals", count->begins);
        wi_out_count(json, "departures", count->visits);
        wi_out_real(json, "difference", in_flight(experiment, count));
    } else {
        wi_out_count(json, "delta", count->visits);
    }
    wi_out_end_object(json);
}

static void line_experiment(const struct wi_export *export, struct wi_json_out *json,
                            const struct wi_rec_experiment *experiment)
{
    begin_line(json, "experiment");
    wi_out_text(json, "selected", export->model->units[experiment->unit].name);
    wi_out_real(json, "speedup", experiment->speedup_percent / 100);
    wi_out_count(json, "duration", effective_ns(experiment));
    wi_out_count(json, "selected_samples", experiment->hits);
    wi_out_end_object(json);
}

static void line_samples(const struct wi_export *export, struct wi_json_out *json)
{
    begin_line(json, "runtime");
    wi_out_count(json, "time", export->recording->end_ns);
    wi_out_end_object(json);
    for (uint32_t i = 0; i < export->model->n_units; i++) {
        if (export->model->units[i].samples <= 0)
            continue;
        begin_line(json, "samples");
        wi_out_text(json, "location", export->model->units[i].name);
        wi_out_real(json, "count", export->model->units[i].samples);
        wi_out_end_object(json);
    }
}

int wi_export_as_coz_jsonl(const struct wi_export *export)
{
    const struct wi_recording *recording = export->recording;
    struct wi_json_out json = {.out = export->out};
    begin_line(&json, "startup");
    wi_out_integer(&json, "time", start_epoch_ns(export));
    wi_out_end_object(&json);
    for (uint32_t i = 0; i < recording->n_experiments; i++) {
        const struct wi_rec_experiment *experiment = &recording->experiments[i];
        if (!shown(experiment))
            continue;
        line_experiment(export, &json, experiment);
        for (uint32_t j = 0; j < experiment->n_counts; j++)
            if (wi_export_wants_point(export, recording->counts[experiment->first_count + j].point))
                line_count(export, &json, experiment, &recording->counts[experiment->first_count + j]);
    }
    line_samples(export, &json);
    return 0;
}
