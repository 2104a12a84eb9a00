/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the rings to the profile. See collector.h.
 *
 * What an address means is asked once and kept (struct wi_code); a stack is a path in a tree of such answers, kept by
 * (parent, answer). So a sample costs a few hash probes, and the profile names each node once.
 */
#include "runtime/control/collector.h"
#include "runtime/control/hash_file.h"
#include "runtime/session/ring.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_RAW  (1u << 17)
#define BATCH     512
#define MASK      ((1ull << WI_FRAME_MODULE_SHIFT) - 1)
#define KINDS_BIT 32 /* inlined frames at one address are told apart by this many */

struct wi_code { /* what is known of one address */
    uint32_t n_frames;
    struct wi_frame *frames; /* innermost first */
    uint32_t function_unit;  /* of the innermost frame in scope, or WI_NONE */
    uint32_t line_unit;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void wi_collector_init(struct wi_collector *collector, struct wi_session *session, struct wi_symbols *symbols,
                       struct wi_profile_writer *writer, struct wi_units *units)
{
    memset(collector, 0, sizeof *collector);
    collector->session = session;
    collector->symbols = symbols;
    collector->writer = writer;
    collector->units = units;
}

void wi_collector_fini(struct wi_collector *collector)
{
    for (size_t i = 0; i < collector->n_code; i++)
        free(collector->code[i].frames);
    free(collector->code);
    free(collector->raw);
    wi_table_fini(&collector->codes);
    wi_table_fini(&collector->stacks);
    wi_table_fini(&collector->threads);
    wi_table_fini(&collector->processes);
    wi_table_fini(&collector->sources);
}

uint64_t wi_collector_dropped(const struct wi_collector *collector)
{
    uint64_t dropped = collector->lost;
    for (uint32_t ring = 0; ring < collector->session->n_rings; ring++)
        dropped += atomic_load_explicit(&collector->session->rings[ring].dropped, memory_order_relaxed);
    return dropped;
}

/* ---- taking --------------------------------------------------------------------------------------------- */

static struct wi_sample *room_for_one(struct wi_collector *collector)
{
    if (collector->n_raw < collector->raw_capacity)
        return &collector->raw[collector->n_raw];
    size_t capacity = collector->raw_capacity ? collector->raw_capacity * 2 : 4096;
    struct wi_sample *raw = capacity <= MOST_RAW ? realloc(collector->raw, capacity * sizeof *raw) : NULL;
    if (!raw)
        return NULL;
    collector->raw = raw;
    collector->raw_capacity = capacity;
    return &raw[collector->n_raw];
}

void wi_collector_take(struct wi_collector *collector)
{
    uint64_t now = now_ns();
    struct wi_sample spill;
    for (uint32_t ring = 0; ring < collector->session->n_rings; ring++)
        for (;;) {
            struct wi_sample *room = room_for_one(collector);
            if (!wi_ring_pop(collector->session, ring, now, room ? room : &spill))
                break;
            if (room)
                collector->n_raw++;
            else
                collector->lost++;
        }
}

/* ---- who ------------------------------------------------------------------------------------------------ */

static void read_name(int32_t pid, int32_t tid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", pid, tid);
    FILE *file = fopen(path, "re");
    name[0] = '\0';
    if (file) {
        if (fgets(name, (int)size, file))
            name[strcspn(name, "\n")] = '\0';
        fclose(file);
    }
}

static void name_process(struct wi_collector *collector, uint32_t index)
{
    if (wi_table_get(&collector->processes, index, 0) != WI_TABLE_ABSENT)
        return;
    const struct wi_process *process = &collector->session->processes[index];
    uint32_t module = atomic_load(&process->main_module);
    uint64_t start = atomic_load(&process->start_ns);
    struct wi_record_process record = {
        .id = index,
        .pid = (int32_t)atomic_load(&process->pid),
        .parent_pid = (int32_t)atomic_load(&process->parent),
        .executable = module < WI_MAX_MODULES ? collector->session->modules[module].path : "",
        .start_ns = start > collector->session->start_ns ? start - collector->session->start_ns : 0,
    };
    wi_profile_write_process(collector->writer, &record);
    wi_table_put(&collector->processes, index, 0, index);
}

static uint32_t name_thread(struct wi_collector *collector, const struct wi_sample *sample)
{
    uint32_t id = wi_table_get(&collector->threads, sample->slot, sample->generation);
    if (id != WI_TABLE_ABSENT)
        return id;
    name_process(collector, sample->process);
    char name[32];
    read_name((int32_t)atomic_load(&collector->session->processes[sample->process].pid), (int32_t)sample->tid,
              name, sizeof name);
    id = collector->n_threads++;
    struct wi_record_thread record = {
        .id = id,
        .process = sample->process,
        .tid = (int32_t)sample->tid,
        .name = name,
        .start_ns = sample->time_ns - collector->session->start_ns,
    };
    wi_profile_write_thread(collector->writer, &record);
    wi_table_put(&collector->threads, sample->slot, sample->generation, id);
    return id;
}

/* ---- where ---------------------------------------------------------------------------------------------- */

static void find_units(struct wi_collector *collector, struct wi_code *code, uint32_t module,
                       uint64_t address)
{
    code->function_unit = code->line_unit = WI_NONE;
    const struct wi_frame *about = NULL;
    for (uint32_t i = 0; i < code->n_frames && !about; i++)
        if (code->frames[i].in_scope)
            about = &code->frames[i];
    if (!about)
        return;
    const char *function = wi_symbols_function_name(collector->symbols, module, address);
    if (function)
        code->function_unit = wi_units_enter(collector->units, WI_UNIT_FUNCTION, function, about);
    const char *line = wi_symbols_line_name(collector->symbols, module, address);
    if (line)
        code->line_unit = wi_units_enter(collector->units, WI_UNIT_LINE, line, about);
    if (code->line_unit != WI_NONE)
        collector->units->all[code->line_unit].function = code->function_unit;
}

/* Index of what is known of a frame, or WI_NONE if out of memory. */
static uint32_t look_up(struct wi_collector *collector, uint64_t frame)
{
    uint32_t module = (uint32_t)(frame >> WI_FRAME_MODULE_SHIFT);
    uint64_t address = frame & MASK;
    uint32_t index = wi_table_get(&collector->codes, module, address);
    if (index != WI_TABLE_ABSENT)
        return index;
    if (collector->n_code == collector->code_capacity) {
        size_t capacity = collector->code_capacity ? collector->code_capacity * 2 : 256;
        struct wi_code *code = realloc(collector->code, capacity * sizeof *code);
        if (!code)
            return WI_NONE;
        collector->code = code;
        collector->code_capacity = capacity;
    }
    struct wi_frame frames[WI_MAX_FRAMES_AT];
    size_t n = wi_symbols_frames(collector->symbols, module, address, frames, WI_MAX_FRAMES_AT);
    struct wi_code code = {(uint32_t)n, malloc(n * sizeof *code.frames + 1), WI_NONE, WI_NONE};
    if (!code.frames)
        return WI_NONE;
    memcpy(code.frames, frames, n * sizeof *frames);
    find_units(collector, &code, module, address);
    index = (uint32_t)collector->n_code;
    collector->code[collector->n_code++] = code;
    wi_table_put(&collector->codes, module, address, index);
    return index;
}

static uint32_t name_source(struct wi_collector *collector, const char *path)
{
    if (!path)
        return WI_NONE;
    uint64_t key = wi_table_hash(path);
    uint32_t id = wi_table_get(&collector->sources, key, 0);
    if (id != WI_TABLE_ABSENT)
        return id;
    char sha256[WI_HASH_TEXT];
    wi_hash_file(path, sha256);
    id = collector->n_sources++;
    struct wi_record_source record = {.id = id, .path = path, .sha256 = sha256};
    wi_profile_write_source(collector->writer, &record);
    wi_table_put(&collector->sources, key, 0, id);
    return id;
}

static uint32_t name_node(struct wi_collector *collector, uint32_t parent, uint32_t code_index,
                          uint32_t depth, uint64_t frame)
{
    uint64_t key = (uint64_t)code_index * KINDS_BIT + depth;
    uint32_t id = wi_table_get(&collector->stacks, parent, key);
    if (id != WI_TABLE_ABSENT)
        return id;
    const struct wi_code *code = &collector->code[code_index];
    const struct wi_frame *about = &code->frames[depth];
    uint32_t module = (uint32_t)(frame >> WI_FRAME_MODULE_SHIFT);
    id = collector->n_stacks++;
    struct wi_record_stack record = {
        .id = id,
        .parent = parent,
        .module = module < WI_MAX_MODULES ? module : WI_NONE,
        .address = frame & MASK,
        .function = about->function,
        .source = name_source(collector, about->file),
        .line = about->line,
        .function_line = about->function_line,
        .inlined = depth + 1 < code->n_frames,
        .in_scope = about->in_scope,
    };
    wi_profile_write_stack(collector->writer, &record);
    wi_table_put(&collector->stacks, parent, key, id);
    return id;
}

/* ---- naming --------------------------------------------------------------------------------------------- */

/* Count the sample for the innermost frame in scope. */
static void count_units(struct wi_collector *collector, const struct wi_sample *sample, const uint32_t *codes)
{
    for (uint32_t i = 0; i < sample->n_frames; i++) {
        if (codes[i] == WI_NONE)
            continue;
        const struct wi_code *code = &collector->code[codes[i]];
        if (code->function_unit == WI_NONE && code->line_unit == WI_NONE)
            continue;
        collector->samples_in_scope++;
        uint64_t ran_ns = sample->run_us * 1000ull;
        wi_units_count(collector->units, code->function_unit, sample->time_ns, sample->weight_ns, ran_ns);
        wi_units_count(collector->units, code->line_unit, sample->time_ns, sample->weight_ns, ran_ns);
        return;
    }
    uint32_t module =
        sample->n_frames ? (uint32_t)(sample->frames[0] >> WI_FRAME_MODULE_SHIFT) : WI_MAX_MODULES;
    if (module < WI_MAX_MODULES)
        collector->out_of_scope_ns[module] += sample->weight_ns;
    else
        collector->unmapped_ns += sample->weight_ns;
}

static uint32_t name_stack(struct wi_collector *collector, const struct wi_sample *sample,
                           const uint32_t *codes)
{
    uint32_t node = WI_NONE;
    for (uint32_t i = sample->n_frames; i-- > 0;) {
        if (codes[i] == WI_NONE)
            continue;
        for (uint32_t depth = collector->code[codes[i]].n_frames; depth-- > 0;)
            node = name_node(collector, node, codes[i], depth, sample->frames[i]);
    }
    return node;
}

static void end_thread(struct wi_collector *collector, const struct wi_sample *sample)
{
    uint32_t id = wi_table_get(&collector->threads, sample->slot, sample->generation);
    if (id == WI_TABLE_ABSENT)
        return; /* too short for a sample: no thread of the profile */
    struct wi_record_thread_end record = {id, sample->time_ns - collector->session->start_ns};
    wi_profile_write_thread_end(collector->writer, &record);
}

void wi_collector_name(struct wi_collector *collector)
{
    struct wi_record_sample batch[BATCH];
    size_t n = 0;
    for (size_t i = 0; i < collector->n_raw; i++) {
        const struct wi_sample *sample = &collector->raw[i];
        if (sample->n_frames > WI_STACK_FRAMES || sample->process >= WI_MAX_PROCESSES)
            continue; /* not written by an agent of ours */
        if (sample->flags & WI_SAMPLE_EXIT) {
            end_thread(collector, sample);
            continue;
        }
        uint32_t codes[WI_STACK_FRAMES];
        for (uint32_t frame = 0; frame < sample->n_frames; frame++)
            codes[frame] = look_up(collector, sample->frames[frame]);
        collector->samples++;
        collector->stacks_broken += (sample->flags & WI_SAMPLE_BROKEN) != 0;
        count_units(collector, sample, codes);
        batch[n++] = (struct wi_record_sample){
            .time_ns = sample->time_ns - collector->session->start_ns,
            .thread = name_thread(collector, sample),
            .stack = name_stack(collector, sample, codes),
            .cpu_ns = sample->cpu_us * 1000ull,
            .wait_ns = sample->wait_us * 1000ull,
            .wait_kind = sample->wait_kind,
            .pause_ns = sample->pause_us * 1000ull,
        };
        if (n == BATCH) {
            wi_profile_write_samples(collector->writer, batch, n);
            n = 0;
        }
    }
    if (n)
        wi_profile_write_samples(collector->writer, batch, n);
    collector->n_raw = 0;
}

void wi_collector_write_tally(struct wi_collector *collector, uint64_t time_ns)
{
    struct wi_unit_tally *tallies = malloc((collector->units->n + 1) * sizeof *tallies);
    if (!tallies)
        return;
    size_t n = 0;
    for (size_t i = 0; i < collector->units->n; i++) {
        const struct wi_unit *unit = &collector->units->all[i];
        if (unit->samples)
            tallies[n++] = (struct wi_unit_tally){unit->id, unit->samples, unit->time_ns, unit->inside_ns};
    }
    struct wi_record_tally record = {
        .time_ns = time_ns,
        .samples = collector->samples,
        .samples_in_scope = collector->samples_in_scope,
        .samples_lost = wi_collector_dropped(collector),
        .stacks_broken = collector->stacks_broken,
        .units = tallies,
        .n_units = n,
    };
    wi_profile_write_tally(collector->writer, &record);
    free(tallies);
}
