/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files behind symbols.h share: modules, and the files and functions of all of them.
 *
 * Each module has its own index with its own numbers. Source files and functions are one thing across modules (a
 * header's inline function is in many), so each gets a second, global number when a module is read; the module
 * keeps the translation. Names that were handed out once never change.
 */
#ifndef WI_SYMBOLS_INTERNAL_H
#define WI_SYMBOLS_INTERNAL_H

#include "runtime/symbols/extract.h"
#include "runtime/symbols/map64.h"
#include "runtime/symbols/symbols.h"

/* ---- strings ----------------------------------------------------------------------------------------- */

struct wi_strings {
    char **chunks;
    size_t n_chunks;
    size_t used, size; /* of the last chunk */
    const char **texts;
    size_t n_texts;
    struct wi_map64 by_hash;
};
/* One copy of each text, until the end. Never NULL. */
const char *wi_strings_intern(struct wi_strings *strings, const char *text);
void wi_strings_fini(struct wi_strings *strings);

/* ---- scope ------------------------------------------------------------------------------------------- */

enum wi_scope_flag { /* what the rules say about one path or name */
                     WI_SCOPE_KNOWN = 1,
                     WI_SCOPE_INCLUDED = 2, /* an include glob matches */
                     WI_SCOPE_EXCLUDED = 4, /* an exclude glob matches */
                     WI_SCOPE_SYSTEM =
                         8, /* part of the language or the system: out unless included by itself */
                     WI_SCOPE_PROJECT =
                         16, /* a binary of the program: its executable, or a library below its directory */
};

struct wi_scope_rules {
    char **include, **exclude;
    size_t n_include, n_exclude;
    char **projects; /* directories, each with a slash at its end */
    size_t n_projects;
};
int wi_scope_init(struct wi_scope_rules *rules, const struct wi_scope *scope);
void wi_scope_fini(struct wi_scope_rules *rules);
/* A main executable tells where the program's own libraries are. */
void wi_scope_add_main(struct wi_scope_rules *rules, const char *path);
uint8_t wi_scope_of_module(const struct wi_scope_rules *rules, const char *path, bool is_main);
uint8_t wi_scope_of_file(const struct wi_scope_rules *rules, const char *path);
/* `placed`: its source file is known, which then decides what is system. */
uint8_t wi_scope_of_function(const struct wi_scope_rules *rules, const char *name, const char *full_name,
                             bool placed);
bool wi_scope_may_hold(const struct wi_scope_rules *rules, uint8_t module, const char *path);
bool wi_scope_holds(const struct wi_scope_rules *rules, uint8_t module, uint8_t file, uint8_t function);

/* ---- files, functions, modules ------------------------------------------------------------------------ */

struct wi_file {
    const char *path;
    const char *name;   /* shortest tail that no other file has; NULL until asked for */
    uint32_t same_base; /* next file with the same last component, or WI_NONE */
    uint8_t scope;
    bool in_program; /* some module that may be in scope has code of it */
};

struct wi_function {
    const char *name, *linkage_name; /* as found; NULL if unknown */
    uint32_t file, line;
    uint32_t module;     /* position of the first module that has it */
    const char *display; /* demangled, without parameters; NULL until asked for */
    const char *full;    /* demangled, with parameters; likewise */
    const char *unit;    /* name as a unit; likewise */
    uint32_t group;      /* the first function that is the same by name and place; WI_NONE until grouped */
    uint32_t same_name;  /* of the first of a group: next group with the same display name, or WI_NONE */
    uint8_t scope;
    bool in_program;
};

struct wi_module {
    char *path, *open_path;
    uint8_t *build_id;
    size_t build_id_length;
    bool is_main, is_read;
    uint8_t scope;
    const char *base; /* last component of path */
    struct wi_index index;
    uint32_t *files, *functions; /* from the index's numbers to ours */
};

struct wi_symbols {
    struct wi_scope_rules rules;
    struct wi_strings strings;
    struct wi_module **modules; /* by the caller's number; holes are NULL */
    size_t n_modules;
    struct wi_file *files;
    size_t n_files, files_capacity;
    struct wi_map64 files_by_path; /* interned pointer */
    struct wi_map64 files_by_base; /* interned pointer: first in the chain */
    struct wi_function *functions;
    size_t n_functions, functions_capacity;
    struct wi_map64 functions_by_hash;
    size_t n_grouped; /* functions before this one have a group */
    struct wi_map64 groups_by_hash;
    struct wi_map64 groups_by_name; /* interned pointer of the display name: first in the chain */
    struct wi_map64 line_names;     /* file and line: position in line_name_texts */
    const char **line_name_texts;
    size_t n_line_names, line_names_capacity;
    struct wi_symbols_notice *notices;
    size_t n_notices, notices_capacity;
};

/* The module, read if it was not. NULL if there is none of that number. */
struct wi_module *wi_symbols_module(struct wi_symbols *symbols, uint32_t number);
/* What reading a module ends with. The index (a mapping) is the module's from then on. */
int wi_module_attach(struct wi_symbols *symbols, uint32_t number, const struct wi_index *index);
/* Read every module that may be in scope. */
void wi_symbols_read_all(struct wi_symbols *symbols);
bool wi_module_may_hold(const struct wi_symbols *symbols, const struct wi_module *module);

/* ---- frames ------------------------------------------------------------------------------------------ */

/* A frame within the chain at an address, by the module's numbers. */
struct wi_step {
    uint32_t node; /* WI_NONE: no function is known */
    uint32_t line; /* line id, or WI_NONE */
};
/* To the frame that this one is inlined into. False at the last. */
static inline bool wi_step_out(const struct wi_module *module, struct wi_step *step)
{
    if (step->node == WI_NONE || module->index.nodes[step->node].parent == WI_NONE)
        return false;
    step->line = module->index.nodes[step->node].call;
    step->node = module->index.nodes[step->node].parent;
    return true;
}
bool wi_step_in_scope(struct wi_symbols *symbols, const struct wi_module *module, const struct wi_step *step);
/* From this frame outwards, the first in scope. False if there is none. */
bool wi_step_to_scope(struct wi_symbols *symbols, const struct wi_module *module, struct wi_step *step);
uint32_t wi_step_function(const struct wi_module *module, const struct wi_step *step);
/* File and line by global number; WI_NONE and 0 if unknown. */
void wi_step_place(const struct wi_module *module, const struct wi_step *step, uint32_t *file,
                   uint32_t *line);

/* ---- names ------------------------------------------------------------------------------------------- */

const char *wi_function_display(struct wi_symbols *symbols, uint32_t function);
const char *wi_function_full(struct wi_symbols *symbols, uint32_t function);
/* Whether it counts as the program's own, wherever it is. */
uint8_t wi_function_scope(struct wi_symbols *symbols, uint32_t function);
/* Put functions that are the same under two numbers into one group. */
void wi_functions_group(struct wi_symbols *symbols);
const char *wi_function_unit_name(struct wi_symbols *symbols, uint32_t function);
const char *wi_file_name(struct wi_symbols *symbols, uint32_t file);
const char *wi_line_unit_name(struct wi_symbols *symbols, uint32_t file, uint32_t line);
const char *wi_base_name(const char *path);
/* Whether `tail` is the whole path or what follows one of its slashes. */
bool wi_path_has_tail(const char *path, const char *tail);

/* ---- ranges ------------------------------------------------------------------------------------------ */

/* Append at the end; a range that continues the last one is merged with it. -ENOMEM. */
int wi_range_list_add(struct wi_range_list *list, uint32_t module, uint64_t low, uint64_t high);

/* A line or a function by name, found. */
struct wi_target {
    bool is_line;
    uint32_t line;
    uint32_t file;    /* of a line: global number */
    uint32_t *groups; /* of functions: sorted; malloc'ed */
    size_t n_groups;
    const char *name; /* canonical */
};
/* 0, -ENOENT, -EINVAL. */
int wi_target_find(struct wi_symbols *symbols, const char *name, struct wi_target *out);
void wi_target_fini(struct wi_target *target);

/* "FILE:LINE": the length of FILE, and the line. 0 if it is not of that form. */
size_t wi_target_line(const char *name, uint32_t *line);

#endif
