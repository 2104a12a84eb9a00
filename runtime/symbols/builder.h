/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making an index: gathering (builder.c, called by readers through reader.h) and finishing (finish.c).
 *
 * A builder lives in the process that reads one module, and dies with it.
 */
#ifndef WI_SYMBOLS_BUILDER_H
#define WI_SYMBOLS_BUILDER_H

#include <stdatomic.h>

#include "runtime/symbols/index.h"
#include "runtime/symbols/map64.h"

/* Where a reader is, in memory shared with the process that waits for it: what to leave out next time. */
struct wi_progress {
    _Atomic uint32_t reader; /* its place in wi_readers[], plus one; 0: none yet */
    _Atomic uint64_t unit;   /* offset of the unit that is being read; UINT64_MAX: none */
};

#define WI_MAX_BAD_UNITS 16

struct wi_interval { /* code of a node, before nesting is resolved */
    uint32_t low, high;
    uint32_t node;
};

struct wi_raw_symbol {
    uint32_t pc, size;
    uint32_t name;
    uint8_t rank; /* among names of one address: higher is better */
};

struct wi_code_map { /* where this module has code, sorted */
    struct wi_span spans[64];
    size_t n;
    uint64_t base;
};

struct wi_builder {
    struct wi_code_map code;
    struct wi_progress *progress;
    uint64_t bad_units[WI_MAX_BAD_UNITS];
    size_t n_bad_units;
    uint64_t deadline_ns; /* monotonic; units are left out from then on */

    char *text;
    size_t n_text, text_capacity;
    struct wi_map64 texts;

    uint32_t *files; /* offsets into text */
    size_t n_files, files_capacity;
    struct wi_map64 files_by_text;

    struct wi_function_row *functions;
    size_t n_functions, functions_capacity;
    struct wi_map64 functions_by_hash;

    struct wi_line *lines;
    size_t n_lines, lines_capacity;
    struct wi_map64 lines_by_key;

    struct wi_point *rows; /* in the order told; WI_NONE ends a sequence */
    size_t n_rows, rows_capacity;
    struct wi_node *nodes;
    size_t n_nodes, nodes_capacity;
    struct wi_interval *intervals;
    size_t n_intervals, intervals_capacity;
    struct wi_raw_symbol *symbols;
    size_t n_symbols, symbols_capacity;
    struct wi_alias *aliases;
    size_t n_aliases, aliases_capacity;
    struct wi_notice_row *notices;
    size_t n_notices, notices_capacity;

    struct wi_map64 units_done;
    struct wi_map64 line_tables;
    struct { /* what the present unit began with */
        uint64_t offset, line_table;
        size_t rows, nodes, intervals;
        bool has_dead_rows;
    } unit;
    size_t sequence_begin;
    bool sequence_is_dead;
    uint64_t n_committed, n_abandoned, n_damaged, n_late;
    bool full; /* out of memory or beyond a limit: nothing more is taken */
};

void wi_builder_init(struct wi_builder *builder, const struct wi_code_map *code);
void wi_builder_fini(struct wi_builder *builder);

/* A symbol, for code that no debug information describes. */
void wi_builder_symbol(struct wi_builder *builder, const struct wi_elf_symbol *symbol);

/* Sort, nest and fill up with symbols; then the block of index.h is malloc'ed. */
int wi_builder_finish(struct wi_builder *builder, struct wi_index_header **out);

/* For finish.c and finish_symbols.c. Offset of a string in text; 0 for NULL and "". */
uint32_t wi_builder_text(struct wi_builder *builder, const char *text);
uint32_t wi_builder_function_row(struct wi_builder *builder, const struct wi_function_row *row);
/* Room for `n` more elements; false (and full) if there is none. */
bool wi_builder_room(struct wi_builder *builder, void *array, size_t *capacity, size_t n, size_t element);

/* Points in the making. */
struct wi_point_list {
    struct wi_point *at;
    size_t n;
};
/* From pc on the code is the node's. */
void wi_points_emit(struct wi_point_list *out, uint32_t pc, uint32_t node);
/* Another name (offset into text) of a function. */
void wi_builder_alias(struct wi_builder *builder, uint32_t name, uint32_t function);
/* Give functions without mangled name that of their symbol; symbols are sorted. */
int wi_builder_complete_names(struct wi_builder *builder, const struct wi_point_list *scopes);
/* Give code that no node owns to symbols. Replaces the list. */
int wi_builder_fill_gaps(struct wi_builder *builder, struct wi_point_list *scopes);

#endif
