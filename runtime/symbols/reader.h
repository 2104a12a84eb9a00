/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader of debug information is, and what it reports to.
 *
 * A reader is one file with one function: it walks the units of a file and tells the builder, unit by unit, the
 * rows of the line table, the functions with code of their own and what is inlined into them. The builder
 * interns, checks that addresses are code of this module, and makes the index (index.h) of what it was told;
 * nothing else is kept. Readers are tried in the order of wi_readers[]; a unit that one of them abandons is left
 * to the next, and counted as skipped when none could read it.
 *
 * Readers run in a process of their own (extract.h): a parser that crashes or loops costs that process, and is
 * not asked again.
 */
#ifndef WI_SYMBOLS_READER_H
#define WI_SYMBOLS_READER_H

#include "runtime/symbols/elf_file.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WI_NONE UINT32_MAX /* no file, no function, no node */

struct wi_builder;

/* ---- what a reader calls ---------------------------------------------------------------------------- */

/* Begin the unit at this offset. False: not this one (read already, or it killed a reader). */
bool wi_builder_unit_begin(struct wi_builder *builder, uint64_t offset);
/* Keep what was told since. */
void wi_builder_unit_commit(struct wi_builder *builder);
/* Forget what was told since, and leave the unit to the next reader. */
void wi_builder_unit_abandon(struct wi_builder *builder);
/* Keep what is whole of a unit that is damaged: drop its rows, or its functions, and count it. */
void wi_builder_unit_drop_rows(struct wi_builder *builder);
void wi_builder_unit_drop_functions(struct wi_builder *builder);
/* A unit so damaged that it could not even be begun. */
void wi_builder_unit_unreadable(struct wi_builder *builder);

/* A source file; `directory` is where a relative path starts, may be NULL. Returns its number. */
uint32_t wi_builder_file(struct wi_builder *builder, const char *directory, const char *path);

/* Rows of a line table in the order of their sequence; a row holds until the next. Line 0: no line is known. */
void wi_builder_row(struct wi_builder *builder, uint64_t address, uint32_t file, uint32_t line);
void wi_builder_end_sequence(struct wi_builder *builder, uint64_t address);
/* Whether this line table (by its offset) has not been told yet; several units may share one. */
bool wi_builder_new_line_table(struct wi_builder *builder, uint64_t offset);

struct wi_function_facts {
    const char *name;         /* as in the source, or NULL */
    const char *linkage_name; /* as in the symbol table, or NULL */
    uint32_t file, line;      /* of the declaration; WI_NONE and 0 if unknown */
};
uint32_t wi_builder_function(struct wi_builder *builder, const struct wi_function_facts *facts);

/* A copy of a function: its own code (parent WI_NONE) or inlined into the node `parent`, called at
 * call_file:call_line. Parents before children. WI_NONE if none of the spans is code: then skip what is inside. */
uint32_t wi_builder_node(struct wi_builder *builder, uint32_t parent, uint32_t function, uint32_t call_file,
                         uint32_t call_line, const struct wi_span *spans, size_t n_spans);

void wi_builder_notice(struct wi_builder *builder, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- what a reader is ------------------------------------------------------------------------------- */

struct wi_reader_input {
    struct wi_elf *elf;   /* the file with the debug information */
    const char *path;     /* its path */
    const char *alt_path; /* the file that dwz moved common parts to, or NULL */
};

struct wi_reader {
    const char *name;
    /* 0: every unit was committed or abandoned. Else -errno: this file is not for this reader. */
    int (*read)(const struct wi_reader_input *input, struct wi_builder *builder);
};

extern const struct wi_reader wi_elfin_reader; /* DWARF 2 to 4 */
extern const struct wi_reader wi_libdw_reader; /* DWARF 2 to 5, and damaged files */

/* NULL-terminated, in the order in which they are tried. */
extern const struct wi_reader *const wi_readers[];

#ifdef __cplusplus
}
#endif
#endif
