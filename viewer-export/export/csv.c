/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Experiments as a flat table (RFC 4180, lines ended by LF): one row for each experiment and progress point counted in
 * it, as measured, nothing corrected. For spreadsheets and for whoever wants to try statistics of their own.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/profile/json.h"
#include "viewer-export/export/internal.h"

/* A spreadsheet takes a text for a formula if it begins like one: such a text gets an apostrophe in front. */
static void put_text(FILE *out, const char *text)
{
    putc('"', out);
    if (text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL)
        putc('\'', out);
    while (*text != '\0') {
        size_t n = wi_utf8_length(text);
        if (n == 0)
            fputs("\xef\xbf\xbd", out);
        else if (*text == '"')
            fputs("\"\"", out);
        else if (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))
            putc(' ', out);
        else
            fwrite(text, 1, n, out);
        text += n > 0 ? n : 1;
    }
    fputs("\",", out);
}

static void put_row(const struct wi_export *export, uint32_t number,
                    const struct wi_rec_experiment *experiment, const struct wi_rec_count *count)
{
    static const char *const kinds[] = {"baseline", "treatment", "placebo"};
    const struct wi_model_unit *unit = &export->model->units[experiment->unit];
    const struct wi_model_point *point = export->model->points[count->point];
    FILE *out = export->out;
    double effective =
        (double)experiment->end_ns - (double)experiment->start_ns - (double)experiment->delay_ns;
    fprintf(out, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",", experiment->profile, number, experiment->block);
    put_text(out, unit->name);
    fprintf(out, "%s,%.6g,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.0f,", kinds[experiment->kind],
            experiment->speedup_percent, experiment->start_ns, experiment->end_ns, experiment->delay_ns,
            effective > 0 ? effective : 0);
    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,", experiment->samples, experiment->hits,
            experiment->pauses, experiment->paused_ns, experiment->valid ? "true" : "false");
    put_text(out, wi_rec_text(export->recording, experiment->why));
    put_text(out, point->name);
    fprintf(out, "%s,%" PRIu64 ",", point->kind == WI_POINT_LATENCY ? "latency" : "throughput",
            count->visits);
    if (point->kind == WI_POINT_LATENCY)
        fprintf(out, "%" PRIu64 ",%.0f\n", count->begins, count->in_flight_ns);
    else
        fputs(",\n", out);
}

int wi_export_as_csv(const struct wi_export *export)
{
    const struct wi_recording *recording = export->recording;
    fputs("profile,experiment,block,unit,kind,speedup_percent,start_ns,end_ns,delay_ns,effective_ns,samples,"
          "hits,pauses,"
          "paused_ns,valid,invalid_because,point,point_kind,visits,begins,in_flight_ns\n",
          export->out);
    for (uint32_t i = 0; i < recording->n_experiments; i++) {
        const struct wi_rec_experiment *experiment = &recording->experiments[i];
        for (uint32_t j = 0; j < experiment->n_counts; j++) {
            const struct wi_rec_count *count = &recording->counts[experiment->first_count + j];
            if (wi_export_wants_point(export, count->point))
                put_row(export, i, experiment, count);
        }
    }
    return 0;
}
