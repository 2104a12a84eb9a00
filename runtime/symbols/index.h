/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of one module: all that is kept of its symbols and debug information.
 *
 * One block of memory without pointers, made by the builder in another process (extract.h) and mapped here. Two
 * sorted lists of points say, from each pc up to the next: which line of source (`rows`), and which copy of which
 * function (`scopes`). A copy is a node: a function's own code, or a function inlined into its parent node. A
 * parent's number is always smaller than its child's.
 *
 *     pc --rows--> line id --lines--> file, line
 *     pc --scopes--> node --parent, call--> ... --> node without parent
 *
 * Addresses are 32 bits wide, relative to `base`; both lists end with a point without id. Ten million rows take
 * 80 MB. Numbers of files, functions and lines are the module's own.
 */
#ifndef WI_SYMBOLS_INDEX_H
#define WI_SYMBOLS_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/symbols/reader.h"

struct wi_point {
    uint32_t pc; /* relative to base */
    uint32_t id; /* holds from pc on; WI_NONE: nothing is known */
};

struct wi_line {
    uint32_t file;
    uint32_t line; /* 0: none is known */
};

struct wi_node {
    uint32_t parent; /* WI_NONE: a function's own code */
    uint32_t function;
    uint32_t call; /* line id of the call, or WI_NONE */
};

struct wi_function_row { /* offsets into text, 0 for none */
    uint32_t name;
    uint32_t linkage_name;
    uint32_t file;
    uint32_t line;
};

struct wi_alias { /* another name of the same code */
    uint32_t name;
    uint32_t function;
};

struct wi_notice_row {
    uint32_t code;
    uint32_t text;
    uint64_t count;
};

/* A part of the block: `n` elements from `offset` on. */
struct wi_part {
    uint64_t offset;
    uint64_t n;
};

enum wi_part_number {
    WI_PART_TEXT, /* strings, each with its end; the first is empty */
    WI_PART_FILES,
    WI_PART_FUNCTIONS,
    WI_PART_LINES,
    WI_PART_NODES,
    WI_PART_ROWS,
    WI_PART_ROW_BUCKETS,
    WI_PART_SCOPES,
    WI_PART_SCOPE_BUCKETS,
    WI_PART_ALIASES,
    WI_PART_NOTICES,
    WI_N_PARTS,
};

#define WI_INDEX_MAGIC UINT64_C(0x3178646e69697777)

struct wi_index_header {
    uint64_t magic;
    uint64_t size;
    uint64_t base;
    uint32_t has_lines;     /* debug information was read */
    uint32_t has_functions; /* at least a symbol table was */
    uint32_t row_shift;     /* a bucket holds 1 << shift addresses */
    uint32_t scope_shift;
    struct wi_part parts[WI_N_PARTS];
};

/* Points, with a table of where each 1 << shift addresses begin. */
struct wi_points {
    const struct wi_point *at;
    size_t n;
    const uint32_t *buckets;
    size_t n_buckets;
    unsigned shift;
};

struct wi_index {
    const struct wi_index_header *header; /* the mapping */
    uint64_t base;
    struct wi_points rows, scopes;
    const struct wi_line *lines;
    size_t n_lines;
    const struct wi_node *nodes;
    size_t n_nodes;
    const uint32_t *files; /* offsets into text */
    size_t n_files;
    const struct wi_function_row *functions;
    size_t n_functions;
    const struct wi_alias *aliases;
    size_t n_aliases;
    const struct wi_notice_row *notices;
    size_t n_notices;
    const char *text;
};

/* Look into a finished block of `size` bytes, which stays the caller's. -EBADMSG if it is not one. */
int wi_index_open(const void *block, size_t size, struct wi_index *out);

/* Line id and node at an address; WI_NONE where nothing is known. */
void wi_index_find(const struct wi_index *index, uint64_t address, uint32_t *line, uint32_t *node);

/* A stretch of code with the same line and node throughout. */
struct wi_stretch {
    uint64_t low, high;
    uint32_t line, node;
};
/* Visit all of them in order; start with a cursor of zeroes. False at the end. */
struct wi_index_cursor {
    size_t row, scope;
};
bool wi_index_next(const struct wi_index *index, struct wi_index_cursor *cursor, struct wi_stretch *out);

#endif
