/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files, lines and functions: for people, and as units.
 *
 * A file is named by the shortest tail of its path that no other file of the program has. A function is named
 * without its parameters if no other function of the program has that name; else with them; else with its file
 * (or binary) in front: "parser.c:helper". A name that was handed out stays, whatever is loaded later: the
 * newcomer gets the longer one.
 *
 * The same function can be under several numbers (variants of a constructor, instances of a Rust generic): what
 * agrees in its full name and its file is one group, and only groups are units.
 */
#include <libiberty/demangle.h>
#include <stdio.h>

#include "runtime/symbols/internal.h"

#define MAX_MANGLED 16384 /* longer ones are shown as they are */

/* ---- demangling ---------------------------------------------------------------------------------------- */

/* What compilers append to the name of a part or copy of a function. */
static size_t without_suffix(const char *name)
{
    static const char *const suffixes[] = {".part.",     ".constprop.", ".isra.",   ".cold",
                                           ".lto_priv.", ".localalias", ".llvm.",   ".clone.",
                                           ".__uniq.",   ".resume",     ".destroy", ".actor"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *at = strstr(name, suffixes[i]);
        if (at && at > name && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

/* gfortran's procedures of modules: "__grid_MOD_relax" is grid::relax. */
static char *demangle_fortran(const char *name)
{
    const char *middle = strncmp(name, "__", 2) == 0 ? strstr(name, "_MOD_") : NULL;
    char *out = NULL;
    if (middle && middle > name + 2 &&
        asprintf(&out, "%.*s::%s", (int)(middle - name - 2), name + 2, middle + 5) < 0)
        out = NULL;
    return out;
}

static bool is_mangled(const char *name)
{
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == '_');
}

/* malloc'ed, or NULL if it is not mangled. */
static char *demangle(const char *name, bool parameters)
{
    if (!is_mangled(name) || strlen(name) > MAX_MANGLED)
        return NULL;
    char *stem = strndup(name, without_suffix(name));
    if (!stem)
        return NULL;
    char *out = demangle_fortran(stem);
    if (!out)
        out = cplus_demangle(stem, DMGL_AUTO | DMGL_ANSI | DMGL_RET_DROP | (parameters ? DMGL_PARAMS : 0));
    free(stem);
    return out;
}

static const char *plain_name(struct wi_symbols *symbols, const struct wi_function *function)
{
    if (function->name)
        return function->name;
    if (!function->linkage_name)
        return "(unnamed)";
    char *stem = strndup(function->linkage_name, without_suffix(function->linkage_name));
    const char *name = wi_strings_intern(&symbols->strings, stem ? stem : function->linkage_name);
    free(stem);
    return name;
}

static const char *readable(struct wi_symbols *symbols, uint32_t number, bool parameters)
{
    const struct wi_function *function = &symbols->functions[number];
    char *text = function->linkage_name ? demangle(function->linkage_name, parameters) : NULL;
    const char *name = text ? wi_strings_intern(&symbols->strings, text) : plain_name(symbols, function);
    free(text);
    return name;
}

const char *wi_function_display(struct wi_symbols *symbols, uint32_t number)
{
    if (!symbols->functions[number].display)
        symbols->functions[number].display = readable(symbols, number, false);
    return symbols->functions[number].display;
}

const char *wi_function_full(struct wi_symbols *symbols, uint32_t number)
{
    if (!symbols->functions[number].full)
        symbols->functions[number].full = readable(symbols, number, true);
    return symbols->functions[number].full;
}

/* ---- scope of a function -------------------------------------------------------------------------------- */

/* Only globs and code without debug information need the name. */
uint8_t wi_function_scope(struct wi_symbols *symbols, uint32_t number)
{
    struct wi_function *function = &symbols->functions[number];
    if (function->scope & WI_SCOPE_KNOWN)
        return function->scope;
    const struct wi_scope_rules *rules = &symbols->rules;
    bool placed = function->file != WI_NONE;
    uint8_t scope = WI_SCOPE_KNOWN;
    if (!placed || rules->n_include + rules->n_exclude > 0)
        scope = wi_scope_of_function(rules, wi_function_display(symbols, number),
                                     wi_function_full(symbols, number), placed);
    if (placed)
        scope |= symbols->files[function->file].scope & WI_SCOPE_SYSTEM;
    return function->scope = scope;
}

/* Whether it can be a unit. */
static bool is_nameable(struct wi_symbols *symbols, uint32_t number)
{
    const struct wi_function *function = &symbols->functions[number];
    if (!function->in_program)
        return false;
    uint8_t own = wi_function_scope(symbols, number);
    uint8_t file = function->file == WI_NONE ? 0 : symbols->files[function->file].scope;
    if ((own | file) & WI_SCOPE_EXCLUDED)
        return false;
    return ((own | file) & WI_SCOPE_INCLUDED) || !((own | file) & WI_SCOPE_SYSTEM);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static uint64_t group_key(struct wi_symbols *symbols, uint32_t number)
{
    const struct wi_function *function = &symbols->functions[number];
    uint64_t key[2] = {(uintptr_t)wi_function_full(symbols, number),
                       function->file == WI_NONE ? (uint64_t)function->module << 32 | WI_NONE
                                                 : function->file};
    return wi_hash_bytes(key, sizeof key);
}

static void group(struct wi_symbols *symbols, uint32_t number)
{
    uint64_t key = group_key(symbols, number);
    uint32_t first = wi_map64_get(&symbols->groups_by_hash, key);
    if (first != WI_MAP64_NONE) {
        symbols->functions[number].group = first;
        return;
    }
    uint64_t name = (uintptr_t)wi_function_display(symbols, number);
    symbols->functions[number].group = number;
    symbols->functions[number].same_name = wi_map64_get(&symbols->groups_by_name, name);
    wi_map64_put(&symbols->groups_by_name, name, number);
    wi_map64_put(&symbols->groups_by_hash, key, number);
}

void wi_functions_group(struct wi_symbols *symbols)
{
    for (; symbols->n_grouped < symbols->n_functions; symbols->n_grouped++)
        if (is_nameable(symbols, (uint32_t)symbols->n_grouped))
            group(symbols, (uint32_t)symbols->n_grouped);
}

/* ---- names of functions as units ------------------------------------------------------------------------- */

static size_t count_same(struct wi_symbols *symbols, uint32_t first, const char *full)
{
    size_t n = 0;
    uint64_t name = (uintptr_t)symbols->functions[first].display;
    for (uint32_t at = wi_map64_get(&symbols->groups_by_name, name); at != WI_NONE;
         at = symbols->functions[at].same_name)
        n += !full || wi_function_full(symbols, at) == full;
    return n;
}

static const char *with_place(struct wi_symbols *symbols, uint32_t number, const char *name)
{
    const struct wi_function *function = &symbols->functions[number];
    const char *place = function->file != WI_NONE ? wi_file_name(symbols, function->file)
                                                  : symbols->modules[function->module]->base;
    char *text = NULL;
    const char *out =
        asprintf(&text, "%s:%s", place, name) < 0 ? name : wi_strings_intern(&symbols->strings, text);
    free(text);
    return out;
}

const char *wi_function_unit_name(struct wi_symbols *symbols, uint32_t number)
{
    wi_functions_group(symbols);
    uint32_t first = symbols->functions[number].group;
    if (first == WI_NONE) { /* an address asked about before its module could be in scope */
        group(symbols, number);
        first = symbols->functions[number].group;
    }
    struct wi_function *function = &symbols->functions[first];
    if (function->unit)
        return function->unit;
    const char *display = wi_function_display(symbols, first), *full = wi_function_full(symbols, first);
    if (count_same(symbols, first, NULL) == 1)
        function->unit = display;
    else if (count_same(symbols, first, full) == 1)
        function->unit = full;
    else
        function->unit = with_place(symbols, first, full);
    return function->unit;
}

/* ---- names of files and lines ------------------------------------------------------------------------------ */

const char *wi_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool wi_path_has_tail(const char *path, const char *tail)
{
    size_t whole = strlen(path), part = strlen(tail);
    if (part > whole || strcmp(path + whole - part, tail) != 0)
        return false;
    return part == whole || tail[0] == '/' || path[whole - part - 1] == '/';
}

/* Whether another file of the program has this tail, too. */
static bool is_shared_tail(struct wi_symbols *symbols, uint32_t file, const char *tail)
{
    const char *base = wi_strings_intern(&symbols->strings, wi_base_name(tail));
    for (uint32_t other = wi_map64_get(&symbols->files_by_base, (uintptr_t)base); other != WI_NONE;
         other = symbols->files[other].same_base) {
        const struct wi_file *at = &symbols->files[other];
        bool counts = at->in_program && !(at->scope & (WI_SCOPE_SYSTEM | WI_SCOPE_EXCLUDED));
        if (other != file && (counts || at->name) && wi_path_has_tail(at->path, tail))
            return true;
    }
    return false;
}

const char *wi_file_name(struct wi_symbols *symbols, uint32_t number)
{
    struct wi_file *file = &symbols->files[number];
    if (file->name)
        return file->name;
    const char *tail = wi_base_name(file->path);
    while (tail > file->path && is_shared_tail(symbols, number, tail))
        for (tail--; tail > file->path && tail[-1] != '/';)
            tail--;
    return file->name = tail;
}

const char *wi_line_unit_name(struct wi_symbols *symbols, uint32_t file, uint32_t line)
{
    uint64_t key = (uint64_t)file << 32 | line;
    uint32_t known = wi_map64_get(&symbols->line_names, key);
    if (known != WI_MAP64_NONE)
        return symbols->line_name_texts[known];
    if (symbols->n_line_names == symbols->line_names_capacity) {
        size_t grown = symbols->line_names_capacity * 2 + 64;
        const char **more = realloc(symbols->line_name_texts, grown * sizeof *more);
        if (!more)
            return NULL;
        symbols->line_name_texts = more;
        symbols->line_names_capacity = grown;
    }
    char *text = NULL;
    if (asprintf(&text, "%s:%u", wi_file_name(symbols, file), line) < 0)
        return NULL;
    const char *name = wi_strings_intern(&symbols->strings, text);
    free(text);
    wi_map64_put(&symbols->line_names, key, (uint32_t)symbols->n_line_names);
    return symbols->line_name_texts[symbols->n_line_names++] = name;
}
