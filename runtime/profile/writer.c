/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records to lines of JSON.
 *
 * One function a record, in the order of records.h; each builds an object, and emit() makes a line of it.
 * Samples are by far the most frequent and consist of integers only: they are formatted by hand, as columns,
 * which costs a tenth. Fields that hold their usual value ("none", zero, "") are left out; the reader puts them
 * back.
 *
 * Two limits keep every line below what the reader accepts (WI_PROFILE_MAX_LINE): batches are cut into lines of
 * MAX_BATCH entries, and a command line that is longer than MAX_COMMAND is cut off with "...".
 */
#include "runtime/profile/writer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/format.h"
#include "runtime/profile/json.h"
#include "runtime/profile/lines.h"

#define MAX_BATCH   16384
#define MAX_COMMAND ((size_t)256 * 1024)

struct wi_profile_writer {
    struct wi_lines *lines;
};

/* ---- lines ------------------------------------------------------------------------------------------- */

/* Every object goes through here first and ends in emit(), which wants its type to be there still. */
static json_t *begin(const char *type)
{
    json_t *record = json_object();
    wi_json_set(record, "type", json_string(type));
    return record;
}

static char *dump(json_t *record, size_t *length)
{
    char *text = NULL;
    if (json_object_get(record, "type") != NULL)
        text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(15));
    *length = text != NULL ? strlen(text) : 0;
    json_decref(record);
    return text;
}

static void emit(struct wi_profile_writer *writer, json_t *record)
{
    size_t length;
    char *text = dump(record, &length);
    if (text == NULL) {
        wi_lines_fail(writer->lines, -ENOMEM);
        return;
    }
    wi_lines_put(writer->lines, text, length);
    wi_lines_end(writer->lines);
    free(text);
}

/* ---- the header creates the file ------------------------------------------------------------------------- */

static json_t *command_array(const char *const *command)
{
    json_t *array = json_array();
    size_t length = 0;
    for (size_t i = 0; command != NULL && command[i] != NULL; i++) {
        length += strlen(command[i]) + 1;
        json_array_append_new(array, length > MAX_COMMAND ? json_string("...") : wi_json_string(command[i]));
        if (length > MAX_COMMAND)
            break;
    }
    return array;
}

static json_t *header_object(const struct wi_record_header *header)
{
    json_t *record = begin("header");
    wi_json_set(record, "format", json_string(WI_PROFILE_FORMAT));
    wi_json_set(record, "version", json_integer(WI_PROFILE_VERSION));
    wi_json_set(record, "command", command_array(header->command));
    wi_json_set_string(record, "directory", header->directory);
    wi_json_set(record, "start_epoch_ns", json_integer(header->start_epoch_ns));
    wi_json_set_string(record, "host", header->host);
    wi_json_set_string(record, "cpu", header->cpu);
    wi_json_set_string(record, "kernel", header->kernel);
    wi_json_set_count(record, "n_cpus", header->n_cpus);
    wi_json_set_string(record, "sampler", header->sampler);
    wi_json_set_count(record, "period_ns", header->period_ns);
    wi_json_set_count(record, "sample_cost_ns", header->sample_cost_ns);
    char seed[24]; /* all 64 bits are in use, and most readers of JSON keep 53 */
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)header->seed);
    wi_json_set(record, "seed", json_string(seed));
    wi_json_set_string(record, "whatif_version", header->whatif_version);
    json_t *options = header->options_json != NULL ? json_loads(header->options_json, 0, NULL) : NULL;
    if (json_is_object(options))
        wi_json_set(record, "options", json_incref(options));
    json_decref(options);
    return record;
}

int wi_profile_create(const char *path, const struct wi_record_header *header, struct wi_profile_writer **out)
{
    size_t length;
    char *line = dump(header_object(header), &length);
    struct wi_profile_writer *writer = calloc(1, sizeof *writer);
    int error = line != NULL && writer != NULL ? 0 : -ENOMEM;
    if (error == 0) {
        line[length] = '\n'; /* in the place of the final NUL, which nobody needs */
        error = wi_lines_create(path, line, length + 1, &writer->lines);
    }
    free(line);
    if (error != 0) {
        free(writer);
        return error;
    }
    *out = writer;
    return 0;
}

/* ---- who ran ---------------------------------------------------------------------------------------------- */

void wi_profile_write_process(struct wi_profile_writer *writer, const struct wi_record_process *process)
{
    json_t *record = begin("process");
    wi_json_set_id(record, "id", process->id);
    wi_json_set(record, "pid", json_integer(process->pid));
    wi_json_set(record, "parent_pid", json_integer(process->parent_pid));
    wi_json_set_string(record, "executable", process->executable);
    wi_json_set_count(record, "start_ns", process->start_ns);
    emit(writer, record);
}

void wi_profile_write_thread(struct wi_profile_writer *writer, const struct wi_record_thread *thread)
{
    json_t *record = begin("thread");
    wi_json_set_id(record, "id", thread->id);
    wi_json_set_id(record, "process", thread->process);
    wi_json_set(record, "tid", json_integer(thread->tid));
    wi_json_set_string(record, "name", thread->name);
    wi_json_set_count(record, "start_ns", thread->start_ns);
    emit(writer, record);
}

void wi_profile_write_thread_end(struct wi_profile_writer *writer, const struct wi_record_thread_end *end)
{
    json_t *record = begin("thread_end");
    wi_json_set_id(record, "thread", end->thread);
    wi_json_set_count(record, "end_ns", end->end_ns);
    emit(writer, record);
}

/* ---- code ------------------------------------------------------------------------------------------------- */

void wi_profile_write_module(struct wi_profile_writer *writer, const struct wi_record_module *module)
{
    json_t *record = begin("module");
    wi_json_set_id(record, "id", module->id);
    wi_json_set_string(record, "path", module->path);
    wi_json_set_string(record, "build_id", module->build_id);
    wi_json_set_flag(record, "is_main", module->is_main);
    wi_json_set_string(record, "detail", module->detail);
    emit(writer, record);
}

void wi_profile_write_source(struct wi_profile_writer *writer, const struct wi_record_source *source)
{
    json_t *record = begin("source");
    wi_json_set_id(record, "id", source->id);
    wi_json_set_string(record, "path", source->path);
    wi_json_set_string(record, "sha256", source->sha256);
    emit(writer, record);
}

void wi_profile_write_stack(struct wi_profile_writer *writer, const struct wi_record_stack *stack)
{
    json_t *record = begin("stack");
    wi_json_set_id(record, "id", stack->id);
    wi_json_set_id(record, "parent", stack->parent);
    wi_json_set_id(record, "module", stack->module);
    wi_json_set_count(record, "address", stack->address);
    wi_json_set_string(record, "function", stack->function);
    wi_json_set_id(record, "source", stack->source);
    wi_json_set_count(record, "line", stack->line);
    wi_json_set_count(record, "function_line", stack->function_line);
    wi_json_set_flag(record, "inlined", stack->inlined);
    wi_json_set_flag(record, "in_scope", stack->in_scope);
    emit(writer, record);
}

/* ---- samples ----------------------------------------------------------------------------------------------- */

static void put_number(struct wi_lines *lines, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    value = value > INT64_MAX ? INT64_MAX : value;
    do
        digits[--at] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    wi_lines_put(lines, digits + at, sizeof digits - at);
}

static uint64_t sample_column(const struct wi_record_sample *sample, size_t column)
{
    switch (column) {
    case WI_SAMPLE_TIME:
        return sample->time_ns;
    case WI_SAMPLE_THREAD:
        return sample->thread;
    case WI_SAMPLE_STACK:
        return sample->stack;
    case WI_SAMPLE_CPU:
        return sample->cpu_ns;
    case WI_SAMPLE_WAIT:
        return sample->wait_ns;
    case WI_SAMPLE_WAIT_KIND:
        return sample->wait_kind;
    default:
        return sample->pause_ns;
    }
}

static void put_column(struct wi_lines *lines, const struct wi_record_sample *samples, size_t n,
                       size_t column)
{
    wi_lines_put(lines, ",\"", 2);
    wi_lines_put(lines, wi_sample_columns[column], strlen(wi_sample_columns[column]));
    wi_lines_put(lines, "\":[", 3);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            wi_lines_put(lines, ",", 1);
        put_number(lines, sample_column(&samples[i], column));
    }
    wi_lines_put(lines, "]", 1);
}

static bool all_zero(const struct wi_record_sample *samples, size_t n, size_t column)
{
    for (size_t i = 0; i < n; i++)
        if (sample_column(&samples[i], column) != 0)
            return false;
    return true;
}

static void write_batch(struct wi_lines *lines, const struct wi_record_sample *samples, size_t n)
{
    wi_lines_put(lines, WI_SAMPLES_PREFIX, strlen(WI_SAMPLES_PREFIX));
    for (size_t column = 0; column < WI_SAMPLE_COLUMNS; column++)
        if (column <= WI_SAMPLE_STACK || !all_zero(samples, n, column))
            put_column(lines, samples, n, column);
    wi_lines_put(lines, "}", 1);
    wi_lines_end(lines);
}

void wi_profile_write_samples(struct wi_profile_writer *writer, const struct wi_record_sample *samples,
                              size_t n)
{
    for (size_t done = 0; done < n; done += MAX_BATCH)
        write_batch(writer->lines, samples + done, n - done < MAX_BATCH ? n - done : MAX_BATCH);
}

/* ---- experiments -------------------------------------------------------------------------------------------- */

void wi_profile_write_point(struct wi_profile_writer *writer, const struct wi_record_point *point)
{
    json_t *record = begin("point");
    wi_json_set_id(record, "id", point->id);
    wi_json_set_string(record, "name", point->name);
    wi_json_set(record, "kind", json_string(wi_point_kind_names[point->kind == WI_POINT_LATENCY]));
    emit(writer, record);
}

void wi_profile_write_unit(struct wi_profile_writer *writer, const struct wi_record_unit *unit)
{
    json_t *record = begin("unit");
    wi_json_set_id(record, "id", unit->id);
    wi_json_set_string(record, "name", unit->name);
    wi_json_set_string(record, "kind", unit->kind);
    wi_json_set_string(record, "file", unit->file);
    wi_json_set_count(record, "line", unit->line);
    wi_json_set_string(record, "function", unit->function);
    wi_json_set_count(record, "function_line", unit->function_line);
    emit(writer, record);
}

static json_t *point_count_object(const struct wi_point_count *count)
{
    json_t *object = json_object();
    wi_json_set_id(object, "point", count->point);
    wi_json_set(object, "visits", wi_json_integer(count->visits));
    wi_json_set_count(object, "begins", count->begins);
    if (count->in_flight_ns != 0)
        wi_json_set_real(object, "in_flight_ns", count->in_flight_ns);
    if (count->matched == 0)
        return object;
    wi_json_set(object, "matched", wi_json_integer(count->matched));
    wi_json_set_real(object, "matched_sum_ns", count->matched_sum_ns);
    json_t *histogram = json_array();
    for (size_t i = 0; i < count->n_histogram * 2; i++)
        json_array_append_new(histogram, json_integer(count->histogram[i]));
    wi_json_set(object, "histogram", histogram);
    return object;
}

void wi_profile_write_experiment(struct wi_profile_writer *writer,
                                 const struct wi_record_experiment *experiment)
{
    json_t *record = begin("experiment");
    wi_json_set_id(record, "id", experiment->id);
    wi_json_set_id(record, "block", experiment->block);
    wi_json_set_id(record, "unit", experiment->unit);
    wi_json_set(record, "kind", json_string(wi_experiment_kind_names[experiment->kind]));
    wi_json_set_real(record, "speedup_percent", experiment->speedup_percent);
    wi_json_set(record, "start_ns", wi_json_integer(experiment->start_ns));
    wi_json_set(record, "end_ns", wi_json_integer(experiment->end_ns));
    wi_json_set_count(record, "delay_ns", experiment->delay_ns);
    wi_json_set_count(record, "samples", experiment->samples);
    wi_json_set_count(record, "hits", experiment->hits);
    wi_json_set_count(record, "pauses", experiment->pauses);
    wi_json_set_count(record, "paused_ns", experiment->paused_ns);
    wi_json_set_count(record, "absorbed_ns", experiment->absorbed_ns);
    wi_json_set_count(record, "guessed_ns", experiment->guessed_ns);
    if (experiment->noise >= 0)
        wi_json_set_real(record, "noise", experiment->noise);
    wi_json_set(record, "valid", json_boolean(experiment->valid));
    if (!experiment->valid)
        wi_json_set_string(record, "invalid_because", experiment->invalid_because);
    json_t *points = json_array();
    for (size_t i = 0; i < experiment->n_points; i++)
        json_array_append_new(points, point_count_object(&experiment->points[i]));
    wi_json_set(record, "points", points);
    emit(writer, record);
}

/* ---- totals, notices, the end --------------------------------------------------------------------------------- */

static json_t *tally_units(const struct wi_unit_tally *units, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();
        json_array_append_new(row, wi_json_integer(units[i].unit));
        json_array_append_new(row, wi_json_integer(units[i].samples));
        json_array_append_new(row, wi_json_integer(units[i].time_ns));
        json_array_append_new(row, wi_json_integer(units[i].inside_ns));
        json_array_append_new(rows, row);
    }
    return rows;
}

/* More units than fit a line continue on the next, with the same totals: a unit's last row counts. */
void wi_profile_write_tally(struct wi_profile_writer *writer, const struct wi_record_tally *tally)
{
    size_t done = 0;
    do {
        size_t n = tally->n_units - done < MAX_BATCH ? tally->n_units - done : MAX_BATCH;
        json_t *record = begin("tally");
        wi_json_set(record, "time_ns", wi_json_integer(tally->time_ns));
        wi_json_set_count(record, "samples", tally->samples);
        wi_json_set_count(record, "samples_in_scope", tally->samples_in_scope);
        wi_json_set_count(record, "samples_lost", tally->samples_lost);
        wi_json_set_count(record, "stacks_broken", tally->stacks_broken);
        wi_json_set(record, "units", tally_units(tally->units + done, n));
        emit(writer, record);
        done += n;
    } while (done < tally->n_units);
}

void wi_profile_write_notice(struct wi_profile_writer *writer, const struct wi_record_notice *notice)
{
    json_t *record = begin("notice");
    wi_json_set_string(record, "code", notice->code);
    wi_json_set_string(record, "text", notice->text);
    wi_json_set_count(record, "count", notice->count);
    emit(writer, record);
}

void wi_profile_write_end(struct wi_profile_writer *writer, const struct wi_record_end *end)
{
    json_t *record = begin("end");
    wi_json_set(record, "time_ns", wi_json_integer(end->time_ns));
    wi_json_set_string(record, "reason", end->reason);
    wi_json_set(record, "exit_status", json_integer(end->exit_status));
    wi_json_set_count(record, "launcher_cpu_ns", end->launcher_cpu_ns);
    emit(writer, record);
}

int wi_profile_flush(struct wi_profile_writer *writer)
{
    return wi_lines_flush(writer->lines);
}

int wi_profile_close(struct wi_profile_writer *writer)
{
    int error = wi_lines_close(writer->lines);
    free(writer);
    return error;
}
