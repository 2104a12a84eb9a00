/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof: the gzipped protocol buffer of github.com/google/pprof's profile.proto.
 *
 *     samples (count), cpu (nanoseconds)   what ran, one sample for each stack
 *     causal_impact (ppm)                  one sample for each measured unit, labelled with its name: its largest gain
 *                                          in millionths. With several progress points, causal_impact_POINT each
 *
 * pprof's values are integers and its graphs know no negative ones: code whose being faster would harm is not there.
 * Impacts do not add up; sums along stacks are a ranking aid. A location is a place in the code with what is inlined
 * there; those of the recording have their frame's number plus one, those of units that were never sampled follow.
 * The string table comes last, because everything adds to it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/json.h"
#include "viewer-export/export/internal.h"
#include "viewer-export/export/protobuf.h"

#define MAX_POINTS 8    /* sample types of impact */
#define MAX_DEPTH  1024 /* locations of one sample; those further out are left out */

enum { /* fields of the messages */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING_TABLE = 6,
       PROFILE_TIME_NANOS = 9,
       PROFILE_DURATION_NANOS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       PROFILE_COMMENT = 13,
       PROFILE_DEFAULT_SAMPLE_TYPE = 14,
       VALUE_TYPE = 1,
       VALUE_UNIT = 2,
       SAMPLE_LOCATION = 1,
       SAMPLE_VALUE = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_STR = 2,
       MAPPING_ID = 1,
       MAPPING_FILENAME = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7,
       MAPPING_HAS_FILENAMES = 8,
       MAPPING_HAS_LINES = 9,
       MAPPING_HAS_INLINED = 10,
       LOCATION_ID = 1,
       LOCATION_MAPPING = 2,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       LINE_LINE = 2,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
       FUNCTION_FILENAME = 4,
       FUNCTION_START_LINE = 5,
};

struct pprof {
    const struct wi_export *export;
    const struct wi_recording *recording;
    FILE *out;
    struct wi_texts strings;
    uint32_t points[MAX_POINTS]; /* in the estimate */
    uint32_t n_points;
    uint32_t *nodes;         /* by unit: its stack */
    uint32_t *location_node; /* by frame: a stack node that ends in it, WI_NONE: no such location is needed */
    bool *needs_unit;        /* by unit: it has a location of its own */
    struct wi_proto message, inner;
    bool failed;
};

static uint32_t string(struct pprof *pprof, const char *text)
{
    uint32_t number = wi_texts_number(&pprof->strings, text);
    if (number == WI_NONE)
        pprof->failed = true;
    return number == WI_NONE ? 0 : number;
}

/* Write one field of the profile, and begin the next message. */
static void put_message(struct pprof *pprof, unsigned field)
{
    struct wi_proto framed = {0};
    wi_proto_message(&framed, field, &pprof->message);
    if (framed.failed)
        pprof->failed = true;
    else
        fwrite(framed.bytes, 1, framed.length, pprof->out);
    wi_proto_free(&framed);
    wi_proto_clear(&pprof->message);
}

static void put_value_type(struct pprof *pprof, unsigned field, const char *type, const char *unit)
{
    wi_proto_number(&pprof->message, VALUE_TYPE, string(pprof, type));
    wi_proto_number(&pprof->message, VALUE_UNIT, string(pprof, unit));
    put_message(pprof, field);
}

static void put_sample_types(struct pprof *pprof)
{
    put_value_type(pprof, PROFILE_SAMPLE_TYPE, "samples", "count");
    put_value_type(pprof, PROFILE_SAMPLE_TYPE, "cpu", "nanoseconds");
    for (uint32_t i = 0; i < pprof->n_points; i++) {
        const struct wi_point_estimate *point = &pprof->export->estimate.points[pprof->points[i]];
        char *name;
        if (asprintf(&name, "causal_impact%s%s", pprof->n_points > 1 ? "_" : "",
                     pprof->n_points > 1 ? pprof->export->model->points[point->point]->name : "") < 0) {
            pprof->failed = true;
            return;
        }
        put_value_type(pprof, PROFILE_SAMPLE_TYPE, name, "ppm");
        free(name);
    }
}

/* ---- samples ------------------------------------------------------------------------------------------------------------ */

/* Locations from the innermost out: a node that is not inlined ends one. */
static void put_locations(struct pprof *pprof, uint32_t node)
{
    const struct wi_rec_stack *stacks = pprof->recording->stacks;
    bool begins = true;
    wi_proto_clear(&pprof->inner);
    for (uint32_t n = 0; node != WI_NONE && n < MAX_DEPTH; node = stacks[node].parent) {
        uint32_t frame = stacks[node].frame;
        if (begins) {
            pprof->location_node[frame] = node;
            wi_proto_pack(&pprof->inner, (uint64_t)frame + 1);
            n++;
        }
        begins = !pprof->recording->frames[frame].inlined;
    }
}

static void end_sample(struct pprof *pprof, uint64_t samples, uint64_t cpu_ns, uint32_t impact_of,
                       uint64_t impact)
{
    wi_proto_message(&pprof->message, SAMPLE_LOCATION, &pprof->inner);
    wi_proto_clear(&pprof->inner);
    wi_proto_pack(&pprof->inner, samples);
    wi_proto_pack(&pprof->inner, cpu_ns);
    for (uint32_t i = 0; i < pprof->n_points; i++)
        wi_proto_pack(&pprof->inner, i == impact_of ? impact : 0);
    wi_proto_message(&pprof->message, SAMPLE_VALUE, &pprof->inner);
}

static int put_time_samples(struct pprof *pprof)
{
    const struct wi_recording *recording = pprof->recording;
    struct sum {
        uint64_t samples, cpu_us;
    } *sums = calloc((size_t)recording->n_stacks + 1, sizeof *sums);
    if (sums == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < recording->n_samples; i++) {
        sums[recording->samples[i].stack].samples++;
        sums[recording->samples[i].stack].cpu_us += recording->samples[i].cpu_us;
    }
    for (uint32_t i = 0; i < recording->n_stacks; i++) {
        if (sums[i].samples == 0)
            continue;
        put_locations(pprof, i);
        end_sample(pprof, sums[i].samples, sums[i].cpu_us * 1000, WI_NONE, 0);
        put_message(pprof, PROFILE_SAMPLE);
    }
    free(sums);
    return 0;
}

static void put_impact(struct pprof *pprof, uint32_t number, const struct wi_impact *impact)
{
    uint32_t unit = impact->unit->unit;
    long long ppm = llround(impact->percent * 1e4);
    if (ppm <= 0)
        return;
    if (pprof->nodes[unit] != WI_NONE) {
        put_locations(pprof, pprof->nodes[unit]);
    } else {
        pprof->needs_unit[unit] = true;
        wi_proto_clear(&pprof->inner);
        wi_proto_pack(&pprof->inner, (uint64_t)pprof->recording->n_frames + unit + 1);
    }
    end_sample(pprof, 0, 0, number, (uint64_t)ppm);
    wi_proto_clear(&pprof->inner);
    wi_proto_number(&pprof->inner, LABEL_KEY, string(pprof, "unit"));
    wi_proto_number(&pprof->inner, LABEL_STR, string(pprof, pprof->export->model->units[unit].name));
    wi_proto_message(&pprof->message, SAMPLE_LABEL, &pprof->inner);
    put_message(pprof, PROFILE_SAMPLE);
}

static int put_impacts(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->n_points; i++) {
        uint32_t n = 0;
        struct wi_impact *impacts =
            wi_export_impacts(pprof->export, &pprof->export->estimate.points[pprof->points[i]], &n);
        if (impacts == NULL)
            return -ENOMEM;
        for (uint32_t j = 0; j < n; j++)
            put_impact(pprof, i, &impacts[j]);
        free(impacts);
    }
    return 0;
}

/* ---- tables --------------------------------------------------------------------------------------------------------------- */

static void put_mappings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->recording->n_modules; i++) {
        const struct wi_rec_module *module = &pprof->recording->modules[i];
        wi_proto_number(&pprof->message, MAPPING_ID, (uint64_t)i + 1);
        wi_proto_number(&pprof->message, MAPPING_FILENAME,
                        string(pprof, wi_rec_text(pprof->recording, module->path)));
        wi_proto_number(&pprof->message, MAPPING_BUILD_ID,
                        string(pprof, wi_rec_text(pprof->recording, module->build_id)));
        wi_proto_number(&pprof->message, MAPPING_HAS_FUNCTIONS, 1);
        wi_proto_number(&pprof->message, MAPPING_HAS_FILENAMES, 1);
        wi_proto_number(&pprof->message, MAPPING_HAS_LINES, 1);
        wi_proto_number(&pprof->message, MAPPING_HAS_INLINED, 1);
        put_message(pprof, PROFILE_MAPPING);
    }
}

static void put_line(struct pprof *pprof, uint64_t function, uint32_t line)
{
    wi_proto_clear(&pprof->inner);
    wi_proto_number(&pprof->inner, LINE_FUNCTION, function);
    wi_proto_number(&pprof->inner, LINE_LINE, line);
    wi_proto_message(&pprof->message, LOCATION_LINE, &pprof->inner);
}

static void put_location(struct pprof *pprof, uint32_t frame)
{
    const struct wi_recording *recording = pprof->recording;
    const struct wi_rec_frame *inside = &recording->frames[frame];
    wi_proto_number(&pprof->message, LOCATION_ID, (uint64_t)frame + 1);
    wi_proto_number(&pprof->message, LOCATION_MAPPING,
                    inside->module != WI_NONE ? (uint64_t)inside->module + 1 : 0);
    wi_proto_number(&pprof->message, LOCATION_ADDRESS, inside->address);
    uint32_t node = pprof->location_node[frame];
    for (uint32_t n = 0; node != WI_NONE && n < MAX_DEPTH; n++) {
        const struct wi_rec_frame *at = &recording->frames[recording->stacks[node].frame];
        put_line(pprof, (uint64_t)at->function + 1, at->line);
        node = at->inlined ? recording->stacks[node].parent : WI_NONE;
    }
    put_message(pprof, PROFILE_LOCATION);
}

static void put_function(struct pprof *pprof, uint64_t id, const char *name, const char *file, uint32_t line)
{
    wi_proto_number(&pprof->message, FUNCTION_ID, id);
    wi_proto_number(&pprof->message, FUNCTION_NAME, string(pprof, name));
    wi_proto_number(&pprof->message, FUNCTION_SYSTEM_NAME, string(pprof, name));
    wi_proto_number(&pprof->message, FUNCTION_FILENAME, string(pprof, file));
    wi_proto_number(&pprof->message, FUNCTION_START_LINE, line);
    put_message(pprof, PROFILE_FUNCTION);
}

static void put_places(struct pprof *pprof)
{
    const struct wi_recording *recording = pprof->recording;
    for (uint32_t i = 0; i < recording->n_frames; i++)
        if (pprof->location_node[i] != WI_NONE)
            put_location(pprof, i);
    for (uint32_t i = 0; i < recording->n_functions; i++) {
        const struct wi_rec_function *function = &recording->functions[i];
        const char *name = wi_rec_text(recording, function->name);
        put_function(pprof, (uint64_t)i + 1, name[0] != '\0' ? name : "(unknown)",
                     function->source != WI_NONE
                         ? wi_rec_text(recording, recording->sources[function->source].path)
                         : "",
                     function->line);
    }
    for (uint32_t i = 0; i < pprof->export->model->n_units; i++) {
        const struct wi_model_unit *unit = &pprof->export->model->units[i];
        if (!pprof->needs_unit[i])
            continue;
        uint64_t function = (uint64_t)recording->n_functions + i + 1;
        wi_proto_number(&pprof->message, LOCATION_ID, (uint64_t)recording->n_frames + i + 1);
        put_line(pprof, function, unit->line);
        put_message(pprof, PROFILE_LOCATION);
        put_function(pprof, function, unit->name, unit->file, unit->function_line);
    }
}

/* Strings are Unicode here, too. */
static void put_strings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < pprof->strings.n; i++) {
        struct wi_proto field = {0};
        json_t *clean = wi_json_string(pprof->strings.text[i]);
        if (clean == NULL)
            pprof->failed = true;
        else
            wi_proto_element(&field, PROFILE_STRING_TABLE, json_string_value(clean),
                             json_string_length(clean));
        fwrite(field.bytes != NULL ? (const char *)field.bytes : "", 1, field.length, pprof->out);
        pprof->failed |= field.failed;
        wi_proto_free(&field);
        json_decref(clean);
    }
}

static void put_about(struct pprof *pprof)
{
    const struct wi_recording *recording = pprof->recording;
    const struct wi_rec_profile *profile = recording->n_profiles > 0 ? &recording->profiles[0] : NULL;
    struct wi_proto fields = {0};
    if (profile != NULL && profile->start_epoch_ns > 0)
        wi_proto_number(&fields, PROFILE_TIME_NANOS, (uint64_t)profile->start_epoch_ns);
    wi_proto_number(&fields, PROFILE_DURATION_NANOS, recording->end_ns);
    wi_proto_number(&fields, PROFILE_PERIOD, profile != NULL ? profile->period_ns : 0);
    wi_proto_number(&fields, PROFILE_COMMENT,
                    string(pprof, "whatif: causal_impact is the largest gain in ppm; gains do not add up"));
    wi_proto_number(&fields, PROFILE_DEFAULT_SAMPLE_TYPE, string(pprof, "cpu"));
    fwrite(fields.bytes != NULL ? (const char *)fields.bytes : "", 1, fields.length, pprof->out);
    pprof->failed |= fields.failed;
    wi_proto_free(&fields);
    put_value_type(pprof, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
}

/* ---- the profile -------------------------------------------------------------------------------------------------------------- */

static int prepare(struct pprof *pprof)
{
    const struct wi_export *export = pprof->export;
    for (uint32_t i = 0; i < export->estimate.n_points && pprof->n_points < MAX_POINTS; i++)
        if (wi_export_wants_point(export, export->estimate.points[i].point))
            pprof->points[pprof->n_points++] = i;
    pprof->nodes = calloc((size_t) export->model->n_units + 1, sizeof *pprof->nodes);
    pprof->needs_unit = calloc((size_t) export->model->n_units + 1, sizeof *pprof->needs_unit);
    pprof->location_node = malloc(((size_t)pprof->recording->n_frames + 1) * sizeof *pprof->location_node);
    if (pprof->nodes == NULL || pprof->needs_unit == NULL || pprof->location_node == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < pprof->recording->n_frames; i++)
        pprof->location_node[i] = WI_NONE;
    string(pprof, "");
    return wi_recording_find_units(pprof->recording, pprof->nodes);
}

static int write_profile(struct pprof *pprof)
{
    put_sample_types(pprof);
    int error = put_time_samples(pprof);
    if (error == 0)
        error = put_impacts(pprof);
    put_mappings(pprof);
    put_places(pprof);
    put_about(pprof);
    put_strings(pprof);
    return error != 0 ? error : pprof->failed ? -ENOMEM : 0;
}

int wi_export_as_pprof(const struct wi_export *export)
{
    struct pprof pprof = {.export = export, .recording = export->recording, .out = wi_gzip_open(export->out)};
    if (pprof.out == NULL)
        return -ENOMEM;
    int error = prepare(&pprof);
    if (error == 0)
        error = write_profile(&pprof);
    errno = 0;
    if (fclose(pprof.out) != 0 && error == 0)
        error = errno != 0 ? -errno : -EIO;
    wi_texts_fini(&pprof.strings);
    wi_proto_free(&pprof.message);
    wi_proto_free(&pprof.inner);
    free(pprof.nodes);
    free(pprof.needs_unit);
    free(pprof.location_node);
    return error;
}
