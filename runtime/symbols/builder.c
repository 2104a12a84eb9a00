/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gathering what readers tell: see reader.h.
 *
 * Everything is interned on arrival: files by path, functions by name and place, lines by file and number. Rows
 * and intervals are only appended; a unit that fails is forgotten by cutting the arrays back to where it began.
 * Addresses that are no code of this module are refused here, once for all readers: linkers leave debug
 * information of functions that they dropped at address 0 or at other places without code.
 */
#include "runtime/symbols/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

/* Ten times what the largest programs have, and what 32-bit numbers and 16 GB can bear. */
#define MAX_ELEMENTS ((size_t)100 << 20)

bool wi_builder_room(struct wi_builder *builder, void *array, size_t *capacity, size_t n, size_t element)
{
    if (n < *capacity)
        return true;
    size_t grown = *capacity ? *capacity * 2 : 256;
    void *old, *more = NULL;
    memcpy(&old, array, sizeof old);
    if (!builder->full && n < MAX_ELEMENTS)
        more = realloc(old, grown * element);
    if (!more) {
        builder->full = true;
        return false;
    }
    memcpy(array, &more, sizeof more);
    *capacity = grown;
    return true;
}

#define ROOM(builder, array)                                                                                 \
    wi_builder_room(builder, &(builder)->array, &(builder)->array##_capacity, (builder)->n_##array,          \
                    sizeof *(builder)->array)

void wi_builder_init(struct wi_builder *builder, const struct wi_code_map *code)
{
    memset(builder, 0, sizeof *builder);
    builder->code = *code;
    builder->deadline_ns = UINT64_MAX;
    builder->text_capacity = 4096;
    builder->text = calloc(1, builder->text_capacity);
    builder->n_text = 1; /* offset 0 is the empty string */
    builder->full = !builder->text;
}

void wi_builder_fini(struct wi_builder *builder)
{
    void *arrays[] = {builder->text,    builder->files,  builder->functions, builder->lines,
                      builder->rows,    builder->nodes,  builder->intervals, builder->symbols,
                      builder->aliases, builder->notices};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    struct wi_map64 *maps[] = {&builder->texts,        &builder->files_by_text, &builder->functions_by_hash,
                               &builder->lines_by_key, &builder->units_done,    &builder->line_tables};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        wi_map64_fini(maps[i]);
}

/* ---- strings and what they name ---------------------------------------------------------------------- */

uint32_t wi_builder_text(struct wi_builder *builder, const char *text)
{
    if (!text || !*text)
        return 0;
    size_t length = strlen(text);
    uint64_t hash = wi_hash_bytes(text, length);
    uint32_t known = wi_map64_get(&builder->texts, hash);
    if (known != WI_MAP64_NONE && strcmp(builder->text + known, text) == 0)
        return known;
    while (builder->n_text + length + 1 > builder->text_capacity) {
        char *more = builder->text_capacity < UINT32_MAX / 2
                         ? realloc(builder->text, builder->text_capacity * 2)
                         : NULL;
        if (!more) {
            builder->full = true;
            return 0;
        }
        builder->text = more;
        builder->text_capacity *= 2;
    }
    uint32_t at = (uint32_t)builder->n_text;
    memcpy(builder->text + at, text, length + 1);
    builder->n_text += length + 1;
    wi_map64_put(&builder->texts, hash, at);
    return at;
}

/* "/a/./b/../c" is "/a/c": compilers spell the same file in many ways. */
static void normalise(char *path)
{
    char *out = path, *at = path;
    bool absolute = *path == '/';
    while (*at) {
        size_t length = strcspn(at, "/");
        bool up = length == 2 && at[0] == '.' && at[1] == '.';
        if (up && out > path + absolute && !(out - path >= 3 && memcmp(out - 3, "../", 3) == 0)) {
            for (out--; out > path && out[-1] != '/';)
                out--;
        } else if (length > 0 && !(length == 1 && at[0] == '.') && !(up && absolute)) {
            memmove(out, at, length);
            out += length;
            if (at[length])
                *out++ = '/';
        } else if (length == 0 && out == path && absolute) {
            *out++ = '/';
        }
        at += length + (at[length] == '/');
    }
    *out = '\0';
}

uint32_t wi_builder_file(struct wi_builder *builder, const char *directory, const char *path)
{
    char joined[4096];
    if (!path || !*path || *path == '<') /* "<built-in>", "<artificial>" */
        return WI_NONE;
    bool join = path[0] != '/' && directory && *directory;
    int length = snprintf(joined, sizeof joined, "%s%s%s", join ? directory : "", join ? "/" : "", path);
    if (length < 0 || (size_t)length >= sizeof joined)
        return WI_NONE;
    normalise(joined);
    uint32_t text = wi_builder_text(builder, joined);
    uint32_t known = wi_map64_get(&builder->files_by_text, text);
    if (known != WI_MAP64_NONE || text == 0 || !ROOM(builder, files))
        return text == 0 ? WI_NONE : known;
    uint32_t number = (uint32_t)builder->n_files++;
    builder->files[number] = text;
    wi_map64_put(&builder->files_by_text, text, number);
    return number;
}

uint32_t wi_builder_function_row(struct wi_builder *builder, const struct wi_function_row *row)
{
    uint64_t hash = wi_hash_bytes(row, sizeof *row);
    uint32_t known = wi_map64_get(&builder->functions_by_hash, hash);
    if (known != WI_MAP64_NONE && memcmp(&builder->functions[known], row, sizeof *row) == 0)
        return known;
    if (!ROOM(builder, functions))
        return WI_NONE;
    uint32_t number = (uint32_t)builder->n_functions++;
    builder->functions[number] = *row;
    wi_map64_put(&builder->functions_by_hash, hash, number);
    return number;
}

uint32_t wi_builder_function(struct wi_builder *builder, const struct wi_function_facts *facts)
{
    struct wi_function_row row = {wi_builder_text(builder, facts->name),
                                  wi_builder_text(builder, facts->linkage_name), facts->file, facts->line};
    return wi_builder_function_row(builder, &row);
}

static uint32_t line_id(struct wi_builder *builder, uint32_t file, uint32_t line)
{
    if (file == WI_NONE)
        return WI_NONE;
    uint64_t key = (uint64_t)file << 32 | line;
    uint32_t known = wi_map64_get(&builder->lines_by_key, key);
    if (known != WI_MAP64_NONE || !ROOM(builder, lines))
        return known;
    uint32_t number = (uint32_t)builder->n_lines++;
    builder->lines[number] = (struct wi_line){file, line};
    wi_map64_put(&builder->lines_by_key, key, number);
    return number;
}

/* ---- code ------------------------------------------------------------------------------------------- */

/* The span of code that holds an address, or NULL. */
static const struct wi_span *code_at(const struct wi_code_map *code, uint64_t address)
{
    for (size_t i = 0; i < code->n; i++)
        if (address >= code->spans[i].low && address < code->spans[i].high)
            return &code->spans[i];
    return NULL;
}

void wi_builder_row(struct wi_builder *builder, uint64_t address, uint32_t file, uint32_t line)
{
    bool is_code = code_at(&builder->code, address) != NULL;
    if (builder->n_rows == builder->sequence_begin && !is_code)
        builder->sequence_is_dead = builder->unit.has_dead_rows = true;
    if (builder->sequence_is_dead || !is_code)
        return;
    uint32_t pc = (uint32_t)(address - builder->code.base), id = line_id(builder, file, line);
    struct wi_point *last =
        builder->n_rows > builder->sequence_begin ? &builder->rows[builder->n_rows - 1] : NULL;
    if (last && last->pc == pc)
        last->id = id; /* the last of several rows at one address counts */
    else if ((!last || last->id != id) && ROOM(builder, rows))
        builder->rows[builder->n_rows++] = (struct wi_point){pc, id};
}

void wi_builder_end_sequence(struct wi_builder *builder, uint64_t address)
{
    uint64_t end = address - builder->code.base;
    while (builder->n_rows > builder->sequence_begin && builder->rows[builder->n_rows - 1].pc >= end)
        builder->n_rows--; /* rows that hold for no code at all */
    if (builder->n_rows > builder->sequence_begin && end <= UINT32_MAX && ROOM(builder, rows))
        builder->rows[builder->n_rows++] = (struct wi_point){(uint32_t)end, WI_NONE};
    builder->sequence_begin = builder->n_rows;
    builder->sequence_is_dead = false;
}

bool wi_builder_new_line_table(struct wi_builder *builder, uint64_t offset)
{
    builder->unit.line_table = offset; /* remembered once the unit is committed */
    return wi_map64_get(&builder->line_tables, offset) == WI_MAP64_NONE;
}

static void add_intervals(struct wi_builder *builder, uint32_t node, const struct wi_span *spans,
                          size_t n_spans)
{
    for (size_t i = 0; i < n_spans; i++) {
        const struct wi_span *code = code_at(&builder->code, spans[i].low);
        if (!code || spans[i].high <= spans[i].low || !ROOM(builder, intervals))
            continue;
        uint64_t high = spans[i].high < code->high ? spans[i].high : code->high;
        builder->intervals[builder->n_intervals++] = (struct wi_interval){
            (uint32_t)(spans[i].low - builder->code.base), (uint32_t)(high - builder->code.base), node};
    }
}

uint32_t wi_builder_node(struct wi_builder *builder, uint32_t parent, uint32_t function, uint32_t call_file,
                         uint32_t call_line, const struct wi_span *spans, size_t n_spans)
{
    if (function == WI_NONE || !ROOM(builder, nodes))
        return WI_NONE;
    size_t before = builder->n_intervals;
    uint32_t node = (uint32_t)builder->n_nodes;
    add_intervals(builder, node, spans, n_spans);
    if (builder->n_intervals == before)
        return WI_NONE;
    builder->nodes[builder->n_nodes++] = (struct wi_node){
        parent, function, parent == WI_NONE ? WI_NONE : line_id(builder, call_file, call_line)};
    return node;
}

void wi_builder_symbol(struct wi_builder *builder, const struct wi_elf_symbol *symbol)
{
    const struct wi_span *code = code_at(&builder->code, symbol->address);
    if (!code || !*symbol->name || !ROOM(builder, symbols))
        return;
    uint64_t size = symbol->size < code->high - symbol->address ? symbol->size : code->high - symbol->address;
    uint8_t underscores = 0;
    while (underscores < 3 && symbol->name[underscores] == '_')
        underscores++;
    bool mangled = symbol->name[0] == '_' && (symbol->name[1] == 'Z' || symbol->name[1] == 'R');
    builder->symbols[builder->n_symbols++] = (struct wi_raw_symbol){
        (uint32_t)(symbol->address - builder->code.base), (uint32_t)size,
        wi_builder_text(builder, symbol->name),
        (uint8_t)(symbol->is_function * 16 + (symbol->binding != 0) * 8 + 4 - (mangled ? 0 : underscores))};
}

/* ---- units ------------------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool unit_is_bad(const struct wi_builder *builder, uint64_t offset)
{
    for (size_t i = 0; i < builder->n_bad_units; i++)
        if (builder->bad_units[i] == offset)
            return true;
    return false;
}

bool wi_builder_unit_begin(struct wi_builder *builder, uint64_t offset)
{
    if (wi_map64_get(&builder->units_done, offset) != WI_MAP64_NONE)
        return false;
    if (unit_is_bad(builder, offset)) {
        builder->n_abandoned++;
        return false;
    }
    if (builder->full || now_ns() > builder->deadline_ns) {
        builder->n_late++;
        return false;
    }
    if (builder->progress)
        atomic_store_explicit(&builder->progress->unit, offset, memory_order_relaxed);
    builder->unit.offset = offset;
    builder->unit.line_table = UINT64_MAX;
    builder->unit.rows = builder->sequence_begin = builder->n_rows;
    builder->unit.nodes = builder->n_nodes;
    builder->unit.intervals = builder->n_intervals;
    builder->unit.has_dead_rows = builder->sequence_is_dead = false;
    return true;
}

static int by_low(const void *a, const void *b)
{
    const struct wi_span *left = a, *right = b;
    return (left->low > right->low) - (left->low < right->low);
}

/* The unit's own functions, sorted; malloc'ed. */
static struct wi_span *unit_functions(const struct wi_builder *builder, size_t *n)
{
    *n = 0;
    struct wi_span *spans = malloc((builder->n_intervals - builder->unit.intervals + 1) * sizeof *spans);
    for (size_t i = builder->unit.intervals; spans && i < builder->n_intervals; i++)
        if (builder->nodes[builder->intervals[i].node].parent == WI_NONE)
            spans[(*n)++] = (struct wi_span){builder->intervals[i].low, builder->intervals[i].high};
    if (spans)
        qsort(spans, *n, sizeof *spans, by_low);
    return spans;
}

static bool in_sorted(const struct wi_span *spans, size_t n, uint32_t pc)
{
    size_t low = 0, high = n;
    while (low < high) { /* first span that begins behind pc */
        size_t middle = low + (high - low) / 2;
        if (spans[middle].low <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc < spans[low - 1].high;
}

/* libdw sorts the rows of a unit, so that those of functions which the linker dropped (all at address 0) can reach
 * into real code. In such a unit only rows within its own functions count. */
static void drop_strays(struct wi_builder *builder)
{
    size_t n, kept = builder->unit.rows;
    struct wi_span *functions = unit_functions(builder, &n);
    for (size_t i = kept; functions && i < builder->n_rows; i++)
        if (builder->rows[i].id == WI_NONE || in_sorted(functions, n, builder->rows[i].pc))
            builder->rows[kept++] = builder->rows[i];
    if (functions)
        builder->n_rows = kept;
    free(functions);
}

void wi_builder_unit_commit(struct wi_builder *builder)
{
    if (builder->n_rows >
        builder->sequence_begin) /* a sequence without end: where it ends is anyone's guess */
        builder->n_rows = builder->sequence_begin;
    if (builder->unit.has_dead_rows && builder->n_intervals > builder->unit.intervals)
        drop_strays(builder);
    wi_map64_put(&builder->units_done, builder->unit.offset, 0);
    wi_map64_put(&builder->line_tables, builder->unit.line_table, 0);
    builder->n_committed++;
    if (builder->progress)
        atomic_store_explicit(&builder->progress->unit, UINT64_MAX, memory_order_relaxed);
}

void wi_builder_unit_drop_rows(struct wi_builder *builder)
{
    builder->n_rows = builder->sequence_begin = builder->unit.rows;
    builder->n_damaged++;
}

void wi_builder_unit_drop_functions(struct wi_builder *builder)
{
    builder->n_nodes = builder->unit.nodes;
    builder->n_intervals = builder->unit.intervals;
    builder->n_damaged++;
}

void wi_builder_unit_abandon(struct wi_builder *builder)
{
    builder->n_rows = builder->sequence_begin = builder->unit.rows;
    builder->n_nodes = builder->unit.nodes;
    builder->n_intervals = builder->unit.intervals;
    builder->n_abandoned++;
}

void wi_builder_unit_unreadable(struct wi_builder *builder)
{
    builder->n_abandoned++;
}

void wi_builder_notice(struct wi_builder *builder, const char *code, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    uint32_t number = wi_builder_text(builder, code);
    for (size_t i = 0; i < builder->n_notices; i++) {
        if (builder->notices[i].code == number) {
            builder->notices[i].count++;
            return;
        }
    }
    if (ROOM(builder, notices))
        builder->notices[builder->n_notices++] =
            (struct wi_notice_row){number, wi_builder_text(builder, text), 1};
}
