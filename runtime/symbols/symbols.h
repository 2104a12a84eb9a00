/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From addresses to code, and from code to addresses.
 *
 * A *module* is one ELF file that some process of the target has mapped. Addresses handed in and out are
 * the module's own virtual addresses (as in its program headers and its DWARF), so that they mean the same
 * in every process whatever the load address.
 *
 * Everything here runs in the launcher, on its main thread. Debug information is read lazily: adding a module
 * opens nothing; the first question about an address reads what is needed to answer it, once. A module that
 * cannot be read still answers (with module+offset); why it could not be is a notice. No parser failure ever
 * ends a run, aborts, loops for ever or throws out of here.
 *
 * Two readers stand behind this (elfin_reader.cc: libelfin; libdw_reader.c: elfutils); both fill the same
 * index (reader.h), and nothing but the index is asked afterwards. A third reader is one new file.
 *
 * Strings that are returned live as long as the wi_symbols they came from.
 */
#ifndef WI_SYMBOLS_H
#define WI_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wi_symbols;

/* What counts as the program's own code. A sample elsewhere belongs to the innermost frame inside.
 * Globs are fnmatch(3) without FNM_PATHNAME, tried on a binary's path, a source path, and a function's name;
 * one that contains no slash is also tried on the last component of a path. An exclusion always wins.
 * With no include globs: the main executable and libraries below its project's directory, minus system
 * headers (/usr/include, compiler directories), the C++ and Rust standard libraries, ~/.cargo and the
 * progress-point headers whatif.h and coz.h. */
struct wi_scope {
    const char *const *include;
    size_t n_include;
    const char *const *exclude;
    size_t n_exclude;
};

int wi_symbols_create(const struct wi_scope *scope, struct wi_symbols **out);
void wi_symbols_destroy(struct wi_symbols *symbols);

/* Register a module; `index` is chosen by the caller (the session's module number), each once.
 * `open_path` is where the file can be read now (it may be /proc/PID/root/... or /proc/PID/exe);
 * `path` is its name for people. `is_main` marks a main executable. Returns 0 or -errno. */
struct wi_module_source {
    uint32_t index;
    const char *path;
    const char *open_path;
    const uint8_t *build_id;
    size_t build_id_length;
    bool is_main;
};
int wi_symbols_add_module(struct wi_symbols *symbols, const struct wi_module_source *source);

enum wi_detail { /* how much is known about a module, best first */
    WI_DETAIL_LINES,     /* DWARF: lines, functions, inlining */
    WI_DETAIL_FUNCTIONS, /* symbol tables only */
    WI_DETAIL_NONE,
    WI_DETAIL_UNREAD, /* nobody has asked yet */
};
enum wi_detail wi_symbols_detail(const struct wi_symbols *symbols, uint32_t module);
/* Whether any code of the module can be in scope by its path alone (cheap: opens nothing). */
bool wi_symbols_module_in_scope(const struct wi_symbols *symbols, uint32_t module);

/* One source-level frame. An address has one or more: innermost inlined function first, the concrete
 * function last. */
struct wi_frame {
    const char *function;      /* demangled, never NULL ("module+0x1234" if nothing is known) */
    const char *linkage_name;  /* as in the symbol table, or NULL */
    const char *file;          /* full path, or NULL */
    uint32_t line;             /* 0 if unknown; in an outer frame: the line of the call */
    uint32_t function_line;    /* where the function is declared, 0 if unknown */
    bool in_scope;
};
#define WI_MAX_FRAMES_AT 32
/* Frames at an address; for a return address pass address - 1. Returns how many (at least 1). */
size_t wi_symbols_frames(struct wi_symbols *symbols, uint32_t module, uint64_t address, struct wi_frame *frames,
                         size_t max);

/* ---- ranges --------------------------------------------------------------------------------------- */

/* [low, high) of a module's addresses. */
struct wi_range {
    uint32_t module;
    uint64_t low;
    uint64_t high;
};
struct wi_range_list { /* sorted by (module, low), disjoint, neighbours merged; malloc'ed */
    struct wi_range *ranges;
    size_t n;
};
void wi_range_list_fini(struct wi_range_list *list);

/* A unit as asked for by name. The same string names it everywhere.
 *   "file.c:120", "/full/path/file.c:120"   a line; the path may be any unambiguous tail
 *   "function", "Class::method"             a function: every concrete and every inlined copy of it,
 *                                           without what is inlined into it and in scope itself
 *   "LOWER < UPPER"                         a call path: LOWER (either of the above) as called from UPPER
 */
enum wi_unit_kind {
    WI_UNIT_LINE,
    WI_UNIT_FUNCTION,
    WI_UNIT_CALLPATH,
};
struct wi_unit_ranges {
    enum wi_unit_kind kind;
    char *name;                    /* canonical spelling; malloc'ed */
    const char *file;              /* of LOWER; may be NULL */
    uint32_t line;                 /* the line, or the line where the function is declared */
    const char *function;          /* the function, or the one that holds the line; may be NULL */
    uint32_t function_line;        /* where that function is declared, 0 if unknown */
    struct wi_range_list selected; /* an address here is the unit, whoever called */
    struct wi_range_list if_called; /* an address here is the unit if the next frame in scope lies in callers */
    struct wi_range_list callers;
};
/* The ranges of a unit over all modules read so far that are in scope (modules in scope not read yet are read
 * now). An address belongs to a unit when its innermost frame in scope matches; code out of scope (a system
 * header's function inlined into f) therefore belongs to the line or function of the call.
 * Returns 0; -ENOENT if nothing matches (then ask wi_symbols_suggest); -EINVAL if the name cannot be parsed. */
int wi_symbols_unit(struct wi_symbols *symbols, const char *name, struct wi_unit_ranges *out);
void wi_unit_ranges_fini(struct wi_unit_ranges *unit);
/* Up to `max` existing names nearest to one that does not exist (near lines that have code; near spellings). */
size_t wi_symbols_suggest(struct wi_symbols *symbols, const char *name, char **names, size_t max);

/* Canonical names for what a sample hit; static storage of `symbols`. NULL if the address has no frame in scope
 * (then the caller of the code decides) or, for a line, no line is known. */
const char *wi_symbols_line_name(struct wi_symbols *symbols, uint32_t module, uint64_t address);
const char *wi_symbols_function_name(struct wi_symbols *symbols, uint32_t module, uint64_t address);

/* Addresses whose innermost frame in scope exists, i.e. where a walk up the stack stops. Over all modules in
 * scope; reads those not read yet. */
int wi_symbols_scope_ranges(struct wi_symbols *symbols, struct wi_range_list *out);

/* ---- what went wrong -------------------------------------------------------------------------------- */

struct wi_symbols_notice {
    const char *code; /* stable: "no-debug-info", "dwarf-skipped-units", "split-dwarf-missing", ... */
    char *text;       /* one sentence for people: what, on which file, what to install or which flag to add */
    uint32_t module;
    uint64_t count;
};
/* Visits every notice so far, one per kind and module. */
void wi_symbols_notices(const struct wi_symbols *symbols,
                        void (*visit)(const struct wi_symbols_notice *notice, void *context), void *context);

#endif
