/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles into memory: see recording.h. The reader has checked that identifiers are defined, each once, before
 * they are used; so parents stand before their children, and there are no loops.
 */
#include "viewer-export/export/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t number(struct wi_recording *recording, const char *text)
{
    uint32_t string = wi_texts_number(&recording->strings, text);
    if (string == WI_NONE)
        recording->failed = true;
    return string;
}

/* Another entry, or NULL. */
static void *grow(struct wi_recording *recording, void *array, uint32_t *n, size_t size)
{
    void *entry = !recording->failed && *n < UINT32_MAX - 1 ? wi_append(array, n, size) : NULL;
    if (entry == NULL)
        recording->failed = true;
    return entry;
}

static void remember(struct wi_recording *recording, struct wi_map *map, uint32_t id, uint32_t place)
{
    if (wi_map_add(map, wi_map_hash_number(id), place) != 0)
        recording->failed = true;
}

static uint32_t place_of(const struct wi_map *map, uint32_t id)
{
    return id == WI_NONE ? WI_NONE : wi_map_find(map, wi_map_hash_number(id), NULL, NULL);
}

static uint64_t shifted(struct wi_recording *recording, uint64_t time_ns)
{
    uint64_t shift = recording->profiles[recording->n_profiles - 1].shift_ns;
    uint64_t time = time_ns < UINT64_MAX / 4 ? time_ns + shift : UINT64_MAX / 4;
    if (time > recording->end_ns)
        recording->end_ns = time;
    return time;
}

/* ---- who ---------------------------------------------------------------------------------------------------------- */

static uint64_t shift_against_first(const struct wi_recording *recording, int64_t start_epoch_ns)
{
    if (recording->n_profiles == 1)
        return 0;
    int64_t shift;
    bool overflow = __builtin_sub_overflow(start_epoch_ns, recording->profiles[0].start_epoch_ns, &shift);
    return overflow || shift < 0 || shift > INT64_MAX / 4 ? recording->end_ns : (uint64_t)shift;
}

static void on_header(const struct wi_record_header *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.header(record, recording->to_model.context);
    struct wi_rec_profile *profile =
        grow(recording, &recording->profiles, &recording->n_profiles, sizeof *profile);
    if (profile == NULL)
        return;
    profile->start_epoch_ns = record->start_epoch_ns;
    profile->period_ns = record->period_ns;
    profile->directory = number(recording, record->directory);
    profile->shift_ns = shift_against_first(recording, record->start_epoch_ns);
}

static void on_process(const struct wi_record_process *record, void *context)
{
    struct wi_recording *recording = context;
    struct wi_rec_process *process =
        grow(recording, &recording->processes, &recording->n_processes, sizeof *process);
    if (process == NULL)
        return;
    process->profile = recording->n_profiles - 1;
    process->pid = record->pid;
    process->executable = number(recording, record->executable);
    process->start_ns = shifted(recording, record->start_ns);
    remember(recording, &recording->process_ids, record->id, recording->n_processes - 1);
}

static void on_thread(const struct wi_record_thread *record, void *context)
{
    struct wi_recording *recording = context;
    struct wi_rec_thread *thread =
        grow(recording, &recording->threads, &recording->n_threads, sizeof *thread);
    if (thread == NULL)
        return;
    thread->process = place_of(&recording->process_ids, record->process);
    thread->tid = record->tid;
    thread->name = number(recording, record->name);
    thread->start_ns = shifted(recording, record->start_ns);
    remember(recording, &recording->thread_ids, record->id, recording->n_threads - 1);
}

static void on_thread_end(const struct wi_record_thread_end *record, void *context)
{
    struct wi_recording *recording = context;
    uint32_t thread = place_of(&recording->thread_ids, record->thread);
    if (thread == WI_NONE || recording->failed)
        return;
    recording->threads[thread].end_ns = shifted(recording, record->end_ns);
    recording->threads[thread].ended = true;
}

/* ---- where --------------------------------------------------------------------------------------------------------- */

static void on_module(const struct wi_record_module *record, void *context)
{
    struct wi_recording *recording = context;
    struct wi_rec_module *module =
        grow(recording, &recording->modules, &recording->n_modules, sizeof *module);
    if (module == NULL)
        return;
    module->path = number(recording, record->path);
    module->build_id = number(recording, record->build_id);
    remember(recording, &recording->module_ids, record->id, recording->n_modules - 1);
}

static void on_source(const struct wi_record_source *record, void *context)
{
    struct wi_recording *recording = context;
    struct wi_rec_source *source =
        grow(recording, &recording->sources, &recording->n_sources, sizeof *source);
    if (source == NULL)
        return;
    source->path = number(recording, record->path);
    source->sha256 = number(recording, record->sha256);
    remember(recording, &recording->source_ids, record->id, recording->n_sources - 1);
}

struct wanted {
    const struct wi_recording *recording;
    const void *entry;
};

static bool same_function(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    const struct wi_rec_function *a = wanted->entry, *b = &wanted->recording->functions[value];
    return a->name == b->name && a->module == b->module && a->source == b->source;
}

static bool same_frame(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    const struct wi_rec_frame *a = wanted->entry, *b = &wanted->recording->frames[value];
    return a->function == b->function && a->address == b->address && a->line == b->line &&
           a->source == b->source && a->inlined == b->inlined && a->in_scope == b->in_scope;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return wi_map_hash_number(hash ^ wi_map_hash_number(value));
}

static uint32_t enter_function(struct wi_recording *recording, const struct wi_rec_function *function)
{
    struct wanted wanted = {recording, function};
    uint64_t hash =
        mix(mix(mix(recording->strings.seed, function->name), function->module), function->source);
    uint32_t place = wi_map_find(&recording->function_keys, hash, same_function, &wanted);
    if (place != WI_NONE)
        return place;
    struct wi_rec_function *entry =
        grow(recording, &recording->functions, &recording->n_functions, sizeof *entry);
    if (entry == NULL)
        return WI_NONE;
    *entry = *function;
    if (wi_map_add(&recording->function_keys, hash, recording->n_functions - 1) != 0)
        recording->failed = true;
    return recording->n_functions - 1;
}

static uint32_t enter_frame(struct wi_recording *recording, const struct wi_rec_frame *frame)
{
    struct wanted wanted = {recording, frame};
    uint64_t hash = mix(mix(mix(recording->strings.seed, frame->function), frame->address), frame->line);
    uint32_t place = wi_map_find(&recording->frame_keys, hash, same_frame, &wanted);
    if (place != WI_NONE)
        return place;
    struct wi_rec_frame *entry = grow(recording, &recording->frames, &recording->n_frames, sizeof *entry);
    if (entry == NULL)
        return WI_NONE;
    *entry = *frame;
    if (wi_map_add(&recording->frame_keys, hash, recording->n_frames - 1) != 0)
        recording->failed = true;
    return recording->n_frames - 1;
}

static void on_stack(const struct wi_record_stack *record, void *context)
{
    struct wi_recording *recording = context;
    struct wi_rec_function function = {.name = number(recording, record->function),
                                       .module = place_of(&recording->module_ids, record->module),
                                       .source = place_of(&recording->source_ids, record->source),
                                       .line = record->function_line};
    struct wi_rec_frame frame = {.function = enter_function(recording, &function),
                                 .module = function.module,
                                 .source = function.source,
                                 .line = record->line,
                                 .address = record->address,
                                 .inlined = record->inlined,
                                 .in_scope = record->in_scope};
    uint32_t place = recording->failed ? WI_NONE : enter_frame(recording, &frame);
    struct wi_rec_stack *stack = grow(recording, &recording->stacks, &recording->n_stacks, sizeof *stack);
    if (place == WI_NONE || stack == NULL)
        return;
    stack->frame = place;
    stack->parent = place_of(&recording->stack_ids, record->parent);
    const struct wi_rec_stack *parent = stack->parent != WI_NONE ? &recording->stacks[stack->parent] : NULL;
    stack->scope = record->in_scope ? recording->n_stacks - 1 : parent != NULL ? parent->scope : WI_NONE;
    if (record->inlined && parent != NULL && parent->inline_depth < UINT16_MAX)
        stack->inline_depth = (uint16_t)(parent->inline_depth + 1);
    remember(recording, &recording->stack_ids, record->id, recording->n_stacks - 1);
}

/* ---- when ------------------------------------------------------------------------------------------------------------- */

static uint32_t microseconds(uint64_t ns)
{
    return ns / 1000 < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
}

static void on_samples(const struct wi_record_sample *samples, size_t n, void *context)
{
    struct wi_recording *recording = context;
    for (size_t i = 0; i < n; i++) {
        struct wi_rec_sample *sample =
            grow(recording, &recording->samples, &recording->n_samples, sizeof *sample);
        if (sample == NULL)
            return;
        *sample = (struct wi_rec_sample){.time_ns = shifted(recording, samples[i].time_ns),
                                         .thread = place_of(&recording->thread_ids, samples[i].thread),
                                         .stack = place_of(&recording->stack_ids, samples[i].stack),
                                         .cpu_us = microseconds(samples[i].cpu_ns),
                                         .wait_us = microseconds(samples[i].wait_ns),
                                         .pause_us = microseconds(samples[i].pause_ns),
                                         .wait_kind = (uint8_t)samples[i].wait_kind};
        if (sample->thread == WI_NONE || sample->stack == WI_NONE)
            recording->n_samples--; /* the reader lets none through; an array index must not rest on that */
        else
            recording->threads[sample->thread].n_samples++;
    }
}

static void on_point(const struct wi_record_point *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.point(record, recording->to_model.context);
}

static void on_unit(const struct wi_record_unit *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.unit(record, recording->to_model.context);
}

static void add_counts(struct wi_recording *recording, const struct wi_record_experiment *record)
{
    for (size_t i = 0; i < record->n_points; i++) {
        uint32_t point = wi_model_point_of(recording->model, record->points[i].point);
        struct wi_rec_count *count =
            point != WI_NONE ? grow(recording, &recording->counts, &recording->n_counts, sizeof *count)
                             : NULL;
        if (count == NULL)
            continue;
        *count = (struct wi_rec_count){point, record->points[i].visits, record->points[i].begins,
                                       record->points[i].in_flight_ns};
    }
}

static void on_experiment(const struct wi_record_experiment *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.experiment(record, recording->to_model.context);
    uint32_t unit = wi_model_unit_of(recording->model, record->unit);
    if (unit == WI_NONE)
        return;
    uint32_t first_count = recording->n_counts;
    add_counts(recording, record);
    struct wi_rec_experiment *experiment =
        grow(recording, &recording->experiments, &recording->n_experiments, sizeof *experiment);
    if (experiment == NULL)
        return;
    *experiment = (struct wi_rec_experiment){
        .profile = recording->n_profiles - 1,
        .block = record->block,
        .unit = unit,
        .kind = record->kind,
        .speedup_percent = record->speedup_percent,
        .start_ns = shifted(recording, record->start_ns),
        .end_ns = shifted(recording, record->end_ns),
        .delay_ns = record->delay_ns,
        .samples = record->samples,
        .hits = record->hits,
        .pauses = record->pauses,
        .paused_ns = record->paused_ns,
        .valid = record->valid,
        .why = number(recording, record->invalid_because),
        .first_count = first_count,
        .n_counts = recording->n_counts - first_count,
    };
}

static void on_tally(const struct wi_record_tally *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.tally(record, recording->to_model.context);
}

static void on_notice(const struct wi_record_notice *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.notice(record, recording->to_model.context);
}

static void on_end(const struct wi_record_end *record, void *context)
{
    struct wi_recording *recording = context;
    recording->to_model.end(record, recording->to_model.context);
    shifted(recording, record->time_ns);
}

/* ---- the recording ---------------------------------------------------------------------------------------------------- */

int wi_recording_init(struct wi_recording *recording, struct wi_model *model)
{
    *recording = (struct wi_recording){.model = model, .to_model = wi_model_visitor(model)};
    return number(recording, "") == 0 ? 0 : -ENOMEM;
}

static void forget_identifiers(struct wi_recording *recording)
{
    wi_map_clear(&recording->process_ids);
    wi_map_clear(&recording->thread_ids);
    wi_map_clear(&recording->module_ids);
    wi_map_clear(&recording->source_ids);
    wi_map_clear(&recording->stack_ids);
}

int wi_recording_add(struct wi_recording *recording, const char *path, struct wi_profile_trouble *trouble)
{
    forget_identifiers(recording);
    struct wi_profile_visitor visitor = {.header = on_header,
                                         .process = on_process,
                                         .thread = on_thread,
                                         .thread_end = on_thread_end,
                                         .module = on_module,
                                         .source = on_source,
                                         .stack = on_stack,
                                         .samples = on_samples,
                                         .point = on_point,
                                         .unit = on_unit,
                                         .experiment = on_experiment,
                                         .tally = on_tally,
                                         .notice = on_notice,
                                         .end = on_end,
                                         .context = recording};
    int error = wi_profile_read(path, &visitor, trouble);
    if (error == 0 && (recording->failed || recording->model->error != 0))
        error = -ENOMEM;
    return error;
}

static int by_time(const void *left, const void *right)
{
    const struct wi_rec_sample *a = left, *b = right;
    return a->time_ns != b->time_ns ? (a->time_ns < b->time_ns ? -1 : 1) : 0;
}

static void sort_if_needed(struct wi_rec_sample *samples, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (samples[i].time_ns < samples[i - 1].time_ns) {
            qsort(samples, n, sizeof *samples, by_time);
            return;
        }
    }
}

int wi_recording_finish(struct wi_recording *recording)
{
    if (recording->failed)
        return -ENOMEM;
    struct wi_rec_sample *sorted = calloc((size_t)recording->n_samples + 1, sizeof *sorted);
    uint32_t *next = calloc((size_t)recording->n_threads + 1, sizeof *next);
    if (sorted == NULL || next == NULL) {
        free(sorted);
        free(next);
        return -ENOMEM;
    }
    uint32_t place = 0;
    for (uint32_t i = 0; i < recording->n_threads; i++) {
        recording->threads[i].first_sample = next[i] = place;
        place += recording->threads[i].n_samples;
    }
    for (uint32_t i = 0; i < recording->n_samples; i++)
        sorted[next[recording->samples[i].thread]++] = recording->samples[i];
    for (uint32_t i = 0; i < recording->n_threads; i++)
        sort_if_needed(sorted + recording->threads[i].first_sample, recording->threads[i].n_samples);
    free(recording->samples);
    free(next);
    recording->samples = sorted;
    return 0;
}

void wi_recording_fini(struct wi_recording *recording)
{
    forget_identifiers(recording);
    wi_map_clear(&recording->function_keys);
    wi_map_clear(&recording->frame_keys);
    wi_texts_fini(&recording->strings);
    free(recording->profiles);
    free(recording->processes);
    free(recording->threads);
    free(recording->modules);
    free(recording->sources);
    free(recording->functions);
    free(recording->frames);
    free(recording->stacks);
    free(recording->samples);
    free(recording->experiments);
    free(recording->counts);
    *recording = (struct wi_recording){0};
}
