/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of JSON to records, believing nothing.
 *
 * A profile may be cut, damaged, or made to harm. So every field has a getter that checks type and range and
 * remembers the first complaint; a record with a complaint is not delivered. Identifiers must have been defined
 * by an earlier line, each once, which also means that chains of parents have no loops. A list inside a record
 * (samples, counts, tallies) loses its bad entries only.
 *
 * What depends on meaning rather than form (an experiment that ends before it begins) is checked as well where
 * later arithmetic would go wrong.
 */
#include "runtime/profile/parse.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/profile/fields.h"
#include "runtime/profile/format.h"

#define DELIVER(fields, callback, ...)                                                                       \
    do {                                                                                                     \
        const struct wi_profile_visitor *visitor = (fields)->parser->visitor;                                \
        if (visitor->callback != NULL)                                                                       \
            visitor->callback(__VA_ARGS__, visitor->context);                                                \
    } while (0)

/* ---- records, in the order of records.h ----------------------------------------------------------------------- */

static const char **command_words(struct wi_fields *fields)
{
    json_t *array = json_object_get(fields->object, "command");
    const char **words = calloc(json_array_size(array) + 1, sizeof *words);
    if (words == NULL) {
        wi_complain(fields, "out of memory");
        return NULL;
    }
    size_t i, n = 0;
    json_t *value;
    json_array_foreach(array, i, value)
    {
        if (json_is_string(value))
            words[n++] = json_string_value(value);
    }
    return words;
}

static uint64_t seed_number(struct wi_fields *fields)
{
    return strtoull(wi_field_text(fields, "seed"), NULL, 10);
}

static void deliver_header(struct wi_fields *fields)
{
    const char **words = command_words(fields);
    json_t *options = json_object_get(fields->object, "options");
    char *options_json = json_is_object(options) ? json_dumps(options, JSON_COMPACT) : NULL;
    struct wi_record_header record = {
        .command = words,
        .directory = wi_field_text(fields, "directory"),
        .start_epoch_ns = wi_field_i64(fields, "start_epoch_ns", INT64_MIN, INT64_MAX),
        .host = wi_field_text(fields, "host"),
        .cpu = wi_field_text(fields, "cpu"),
        .kernel = wi_field_text(fields, "kernel"),
        .n_cpus = wi_field_u32(fields, "n_cpus"),
        .sampler = wi_field_text(fields, "sampler"),
        .period_ns = wi_field_u64(fields, "period_ns"),
        .sample_cost_ns = wi_field_u64(fields, "sample_cost_ns"),
        .seed = seed_number(fields),
        .whatif_version = wi_field_text(fields, "whatif_version"),
        .options_json = options_json,
    };
    if (fields->complaint == NULL)
        DELIVER(fields, header, &record);
    free(options_json);
    free(words);
}

static void read_process(struct wi_fields *fields)
{
    struct wi_record_process record = {
        .id = wi_field_id(fields),
        .pid = wi_field_i32(fields, "pid"),
        .parent_pid = wi_field_i32(fields, "parent_pid"),
        .executable = wi_field_text(fields, "executable"),
        .start_ns = wi_field_u64(fields, "start_ns"),
    };
    if (wi_define(fields, WI_DEFINED_PROCESS, record.id))
        DELIVER(fields, process, &record);
}

static void read_thread(struct wi_fields *fields)
{
    struct wi_record_thread record = {
        .id = wi_field_id(fields),
        .process = wi_field_required_reference(fields, "process", WI_DEFINED_PROCESS),
        .tid = wi_field_i32(fields, "tid"),
        .name = wi_field_text(fields, "name"),
        .start_ns = wi_field_u64(fields, "start_ns"),
    };
    if (wi_define(fields, WI_DEFINED_THREAD, record.id))
        DELIVER(fields, thread, &record);
}

static void read_thread_end(struct wi_fields *fields)
{
    struct wi_record_thread_end record = {
        .thread = wi_field_required_reference(fields, "thread", WI_DEFINED_THREAD),
        .end_ns = wi_field_u64(fields, "end_ns"),
    };
    if (fields->complaint == NULL)
        DELIVER(fields, thread_end, &record);
}

static void read_module(struct wi_fields *fields)
{
    struct wi_record_module record = {
        .id = wi_field_id(fields),
        .path = wi_field_text(fields, "path"),
        .build_id = wi_field_text(fields, "build_id"),
        .is_main = wi_field_flag(fields, "is_main"),
        .detail = wi_field_text(fields, "detail"),
    };
    if (wi_define(fields, WI_DEFINED_MODULE, record.id))
        DELIVER(fields, module, &record);
}

static void read_source(struct wi_fields *fields)
{
    struct wi_record_source record = {
        .id = wi_field_id(fields),
        .path = wi_field_text(fields, "path"),
        .sha256 = wi_field_text(fields, "sha256"),
    };
    if (wi_define(fields, WI_DEFINED_SOURCE, record.id))
        DELIVER(fields, source, &record);
}

static void read_stack(struct wi_fields *fields)
{
    struct wi_record_stack record = {
        .id = wi_field_id(fields),
        .parent = wi_field_reference(fields, "parent", WI_DEFINED_STACK),
        .module = wi_field_reference(fields, "module", WI_DEFINED_MODULE),
        .address = wi_field_u64(fields, "address"),
        .function = wi_field_text(fields, "function"),
        .source = wi_field_reference(fields, "source", WI_DEFINED_SOURCE),
        .line = wi_field_u32(fields, "line"),
        .function_line = wi_field_u32(fields, "function_line"),
        .inlined = wi_field_flag(fields, "inlined"),
        .in_scope = wi_field_flag(fields, "in_scope"),
    };
    if (wi_define(fields, WI_DEFINED_STACK, record.id))
        DELIVER(fields, stack, &record);
}

static void read_point(struct wi_fields *fields)
{
    struct wi_record_point record = {
        .id = wi_field_id(fields),
        .name = wi_field_name(fields, "name"),
        .kind = (enum wi_point_kind)wi_field_word(fields, "kind", wi_point_kind_names, 2),
    };
    if (wi_define(fields, WI_DEFINED_POINT, record.id))
        DELIVER(fields, point, &record);
}

static void read_unit(struct wi_fields *fields)
{
    struct wi_record_unit record = {
        .id = wi_field_id(fields),
        .name = wi_field_name(fields, "name"),
        .kind = wi_field_text(fields, "kind"),
        .file = wi_field_text_or_null(fields, "file"),
        .line = wi_field_u32(fields, "line"),
        .function = wi_field_text_or_null(fields, "function"),
        .function_line = wi_field_u32(fields, "function_line"),
    };
    if (wi_define(fields, WI_DEFINED_UNIT, record.id))
        DELIVER(fields, unit, &record);
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

/* One column of `n` numbers; a column that is absent is all zero. */
static void sample_column(struct wi_fields *fields, size_t column, size_t n, uint64_t *values)
{
    memset(values, 0, n * sizeof *values);
    json_t *array = json_object_get(fields->object, wi_sample_columns[column]);
    if (array == NULL && column > WI_SAMPLE_STACK)
        return;
    if (!json_is_array(array) || json_array_size(array) != n) {
        wi_complain(fields, "columns of samples differ in length");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        json_t *value = json_array_get(array, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            wi_complain(fields, "a number is out of range or of the wrong type");
            return;
        }
        values[i] = (uint64_t)json_integer_value(value);
    }
}

/* Rows that name something undefined are left out. Returns how many remain. */
static size_t join_columns(struct wi_fields *fields, uint64_t *const columns[], size_t n,
                           struct wi_record_sample *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t thread = columns[WI_SAMPLE_THREAD][i], stack = columns[WI_SAMPLE_STACK][i];
        if (!wi_is_defined(fields->parser, WI_DEFINED_THREAD, thread) ||
            !wi_is_defined(fields->parser, WI_DEFINED_STACK, stack)) {
            wi_complain(fields, wi_undefined_id);
            continue;
        }
        uint64_t kind = columns[WI_SAMPLE_WAIT_KIND][i];
        out[kept++] = (struct wi_record_sample){
            .time_ns = columns[WI_SAMPLE_TIME][i],
            .thread = (uint32_t)thread,
            .stack = (uint32_t)stack,
            .cpu_ns = columns[WI_SAMPLE_CPU][i],
            .wait_ns = columns[WI_SAMPLE_WAIT][i],
            .wait_kind = kind <= WI_WAIT_UNKNOWN ? (uint32_t)kind : WI_WAIT_UNKNOWN,
            .pause_ns = columns[WI_SAMPLE_PAUSE][i],
        };
    }
    return kept;
}

static void read_samples(struct wi_fields *fields)
{
    size_t n = json_array_size(json_object_get(fields->object, wi_sample_columns[WI_SAMPLE_TIME]));
    uint64_t *numbers = calloc(n * WI_SAMPLE_COLUMNS + 1, sizeof *numbers);
    struct wi_record_sample *samples = calloc(n + 1, sizeof *samples);
    if (numbers == NULL || samples == NULL)
        wi_complain(fields, "out of memory");
    uint64_t *columns[WI_SAMPLE_COLUMNS];
    for (size_t i = 0; i < WI_SAMPLE_COLUMNS && fields->complaint == NULL; i++) {
        columns[i] = numbers + i * n;
        sample_column(fields, i, n, columns[i]);
    }
    if (fields->complaint == NULL) {
        size_t kept = join_columns(fields, columns, n, samples);
        if (kept > 0)
            DELIVER(fields, samples, samples, kept);
    }
    free(samples);
    free(numbers);
}

/* ---- experiments ---------------------------------------------------------------------------------------------- */

static uint32_t *read_histogram(struct wi_fields *fields, size_t *n_pairs)
{
    json_t *array = json_object_get(fields->object, "histogram");
    size_t n = json_array_size(array) / 2;
    *n_pairs = 0;
    if (n == 0)
        return NULL;
    uint32_t *pairs = calloc(n * 2, sizeof *pairs);
    for (size_t i = 0; i < n && pairs != NULL; i++) {
        json_t *bucket = json_array_get(array, i * 2), *count = json_array_get(array, i * 2 + 1);
        json_int_t b = json_integer_value(bucket), c = json_integer_value(count);
        if (!json_is_integer(bucket) || !json_is_integer(count) || b < 0 || b >= WI_LATENCY_BUCKETS ||
            c < 0 || c > UINT32_MAX) {
            wi_complain(fields, "a histogram is out of range");
            break;
        }
        pairs[i * 2] = (uint32_t)b;
        pairs[i * 2 + 1] = (uint32_t)c;
        *n_pairs = i + 1;
    }
    return pairs;
}

/* False, with the complaint handed up, if this count must be left out. */
static bool read_point_count(struct wi_fields *outer, json_t *object, struct wi_point_count *count)
{
    struct wi_fields fields = {.parser = outer->parser, .object = object};
    if (!json_is_object(object))
        wi_complain(&fields, "a count is of the wrong type");
    *count = (struct wi_point_count){
        .point = wi_field_required_reference(&fields, "point", WI_DEFINED_POINT),
        .visits = wi_field_u64(&fields, "visits"),
        .begins = wi_field_u64(&fields, "begins"),
        .in_flight_ns = wi_field_real(&fields, "in_flight_ns", 0, -1e30, 1e30),
        .matched = wi_field_u64(&fields, "matched"),
        .matched_sum_ns = wi_field_real(&fields, "matched_sum_ns", 0, -1e30, 1e30),
    };
    count->histogram = read_histogram(&fields, &count->n_histogram);
    if (fields.complaint == NULL)
        return true;
    wi_complain(outer, fields.complaint);
    free((void *)count->histogram);
    return false;
}

static void read_points(struct wi_fields *fields, struct wi_record_experiment *record,
                        struct wi_point_count **out)
{
    json_t *array = json_object_get(fields->object, "points");
    struct wi_point_count *counts = calloc(json_array_size(array) + 1, sizeof *counts);
    size_t i;
    json_t *value;
    json_array_foreach(array, i, value)
    {
        if (counts != NULL && read_point_count(fields, value, &counts[record->n_points]))
            record->n_points++;
    }
    *out = counts;
    record->points = counts;
}

static void read_experiment(struct wi_fields *fields)
{
    struct wi_record_experiment record = {
        .id = wi_field_u32(fields, "id"),
        .block = wi_field_u32(fields, "block"),
        .unit = wi_field_required_reference(fields, "unit", WI_DEFINED_UNIT),
        .kind = (enum wi_experiment_kind)wi_field_word(fields, "kind", wi_experiment_kind_names, 3),
        .speedup_percent = wi_field_real(fields, "speedup_percent", 0, 0, 100),
        .start_ns = wi_field_u64(fields, "start_ns"),
        .end_ns = wi_field_u64(fields, "end_ns"),
        .delay_ns = wi_field_u64(fields, "delay_ns"),
        .samples = wi_field_u64(fields, "samples"),
        .hits = wi_field_u64(fields, "hits"),
        .pauses = wi_field_u64(fields, "pauses"),
        .paused_ns = wi_field_u64(fields, "paused_ns"),
        .absorbed_ns = wi_field_u64(fields, "absorbed_ns"),
        .guessed_ns = wi_field_u64(fields, "guessed_ns"),
        .noise = wi_field_real(fields, "noise", -1, 0, 1),
        .valid = wi_field_flag(fields, "valid"),
        .invalid_because = wi_field_text_or_null(fields, "invalid_because"),
    };
    if (record.end_ns < record.start_ns)
        wi_complain(fields, "an experiment ends before it begins");
    if (fields->complaint != NULL)
        return;
    struct wi_point_count *counts;
    read_points(fields, &record, &counts);
    DELIVER(fields, experiment, &record);
    for (size_t i = 0; i < record.n_points; i++)
        free((void *)counts[i].histogram);
    free(counts);
}

/* ---- totals, notices, the end ------------------------------------------------------------------------------------ */

static bool read_tally_row(struct wi_fields *fields, json_t *row, struct wi_unit_tally *out)
{
    uint64_t numbers[4];
    for (size_t i = 0; i < 4; i++) {
        json_t *value = json_array_get(row, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            wi_complain(fields, "a row of a tally is damaged");
            return false;
        }
        numbers[i] = (uint64_t)json_integer_value(value);
    }
    if (!wi_is_defined(fields->parser, WI_DEFINED_UNIT, numbers[0])) {
        wi_complain(fields, wi_undefined_id);
        return false;
    }
    *out = (struct wi_unit_tally){(uint32_t)numbers[0], numbers[1], numbers[2], numbers[3]};
    return true;
}

static void read_tally(struct wi_fields *fields)
{
    struct wi_record_tally record = {
        .time_ns = wi_field_u64(fields, "time_ns"),
        .samples = wi_field_u64(fields, "samples"),
        .samples_in_scope = wi_field_u64(fields, "samples_in_scope"),
        .samples_lost = wi_field_u64(fields, "samples_lost"),
        .stacks_broken = wi_field_u64(fields, "stacks_broken"),
    };
    if (fields->complaint != NULL)
        return;
    json_t *array = json_object_get(fields->object, "units"), *row;
    struct wi_unit_tally *units = calloc(json_array_size(array) + 1, sizeof *units);
    size_t i;
    json_array_foreach(array, i, row)
    {
        if (units != NULL && read_tally_row(fields, row, &units[record.n_units]))
            record.n_units++;
    }
    record.units = units;
    DELIVER(fields, tally, &record);
    free(units);
}

static void read_notice(struct wi_fields *fields)
{
    struct wi_record_notice record = {
        .code = wi_field_name(fields, "code"),
        .text = wi_field_text(fields, "text"),
        .count = wi_field_u64(fields, "count"),
    };
    if (fields->complaint == NULL)
        DELIVER(fields, notice, &record);
}

static void read_end(struct wi_fields *fields)
{
    struct wi_record_end record = {
        .time_ns = wi_field_u64(fields, "time_ns"),
        .reason = wi_field_text(fields, "reason"),
        .exit_status = wi_field_i32(fields, "exit_status"),
        .launcher_cpu_ns = wi_field_u64(fields, "launcher_cpu_ns"),
    };
    if (fields->complaint == NULL)
        DELIVER(fields, end, &record);
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *type;
    void (*read)(struct wi_fields *fields);
} readers[] = {
    {"process", read_process}, {"thread", read_thread}, {"thread_end", read_thread_end},
    {"module", read_module},   {"source", read_source}, {"stack", read_stack},
    {"samples", read_samples}, {"point", read_point},   {"unit", read_unit},
    {"tally", read_tally},     {"notice", read_notice}, {"experiment", read_experiment},
    {"end", read_end},
};

static bool begins_with(const char *line, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(line, prefix, strlen(prefix)) == 0;
}

/* Samples are most of a profile, and most readers do not look at them. */
static bool nobody_wants(const struct wi_profile_visitor *visitor, const char *line, size_t length)
{
    return visitor->samples == NULL && begins_with(line, length, WI_SAMPLES_PREFIX);
}

const char *wi_parse_line(struct wi_parser *parser, const char *line, size_t length)
{
    if (nobody_wants(parser->visitor, line, length))
        return NULL;
    struct wi_fields fields = {.parser = parser, .object = json_loadb(line, length, 0, NULL)};
    const char *type = json_string_value(json_object_get(fields.object, "type"));
    if (fields.object == NULL)
        wi_complain(&fields, "is not JSON");
    else if (type == NULL)
        wi_complain(&fields, "is not a record");
    else if (strcmp(type, "header") == 0)
        wi_complain(&fields, "is a second header");
    for (size_t i = 0; i < sizeof readers / sizeof *readers && fields.complaint == NULL; i++) {
        if (strcmp(type, readers[i].type) == 0) {
            readers[i].read(&fields);
            break;
        }
    }
    json_decref(fields.object);
    return fields.complaint;
}

const char *wi_parse_header(struct wi_parser *parser, const char *line, size_t length, bool *newer)
{
    struct wi_fields fields = {.parser = parser, .object = json_loadb(line, length, 0, NULL)};
    const char *type = json_string_value(json_object_get(fields.object, "type"));
    const char *format = json_string_value(json_object_get(fields.object, "format"));
    json_int_t version = json_integer_value(json_object_get(fields.object, "version"));
    *newer = false;
    if (fields.object == NULL)
        wi_complain(&fields, "is not JSON");
    else if (type == NULL || strcmp(type, "header") != 0 || format == NULL ||
             strcmp(format, WI_PROFILE_FORMAT) != 0)
        wi_complain(&fields, "is not the header of a profile");
    else if (version > WI_PROFILE_VERSION)
        *newer = true;
    else if (version < 1)
        wi_complain(&fields, "has no valid version");
    if (*newer)
        wi_complain(&fields, "is the header of a later version of whatif");
    if (fields.complaint == NULL)
        deliver_header(&fields);
    json_decref(fields.object);
    return fields.complaint;
}
