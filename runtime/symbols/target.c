/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a name to the line or the functions it means.
 *
 * A function's name is tried in steps, from the most to the least exact; the first step at which anything matches
 * decides, and all that match there are meant. A line's path must be the tail of one file only, of those that have
 * code at that line.
 */
#include <ctype.h>
#include <errno.h>

#include "runtime/symbols/internal.h"

/* ---- lines --------------------------------------------------------------------------------------------- */

size_t wi_target_line(const char *name, uint32_t *line)
{
    const char *colon = strrchr(name, ':');
    if (!colon || colon == name || colon[-1] == ':' || !isdigit((unsigned char)colon[1]))
        return 0;
    char *end;
    errno = 0;
    unsigned long value = strtoul(colon + 1, &end, 10);
    if (*end || errno || value == 0 || value > UINT32_MAX)
        return 0;
    *line = (uint32_t)value;
    return (size_t)(colon - name);
}

static bool has_code_at(const struct wi_symbols *symbols, uint32_t file, uint32_t line)
{
    for (size_t i = 0; i < symbols->n_modules; i++) {
        const struct wi_module *module = symbols->modules[i];
        if (!module || !module->index.header || !wi_module_may_hold(symbols, module))
            continue;
        for (size_t l = 0; l < module->index.n_lines; l++)
            if (module->index.lines[l].line == line && module->files[module->index.lines[l].file] == file)
                return true;
    }
    return false;
}

static bool can_hold_units(const struct wi_file *file)
{
    if (!file->in_program || (file->scope & WI_SCOPE_EXCLUDED))
        return false;
    return (file->scope & WI_SCOPE_INCLUDED) || !(file->scope & WI_SCOPE_SYSTEM);
}

static int find_line(struct wi_symbols *symbols, const char *path, uint32_t line, struct wi_target *out)
{
    uint32_t found = WI_NONE;
    const char *base = wi_strings_intern(&symbols->strings, wi_base_name(path));
    for (uint32_t i = wi_map64_get(&symbols->files_by_base, (uintptr_t)base); i != WI_NONE;
         i = symbols->files[i].same_base) {
        const struct wi_file *file = &symbols->files[i];
        bool exact = strcmp(file->path, path) == 0 || (file->name && strcmp(file->name, path) == 0);
        if (!can_hold_units(file) || !wi_path_has_tail(file->path, path) || !has_code_at(symbols, i, line))
            continue;
        if (found != WI_NONE && !exact)
            return -ENOENT; /* ambiguous; wi_symbols_suggest() has them all */
        found = i;
        if (exact)
            break;
    }
    if (found == WI_NONE)
        return -ENOENT;
    *out = (struct wi_target){
        .is_line = true, .file = found, .line = line, .name = wi_line_unit_name(symbols, found, line)};
    return out->name ? 0 : -ENOMEM;
}

/* ---- functions: does one match? ------------------------------------------------------------------------- */

struct query {
    struct wi_symbols *symbols;
    const char *name;
    char *bare;        /* the name without template arguments */
    const char *place; /* "parser.c" of "parser.c:helper", else NULL */
    size_t place_length;
};

/* "a::b<c<d>>::e<f>" becomes "a::b::e"; operators keep their signs. malloc'ed. */
static char *without_templates(const char *name)
{
    char *out = malloc(strlen(name) + 1), *to = out;
    int depth = 0;
    for (const char *at = name; out && *at; at++) {
        bool is_operator = to - out >= 8 && memcmp(to - 8, "operator", 8) == 0;
        bool continues = to > out && (to[-1] == '<' || to[-1] == '>' || to[-1] == '-');
        if (depth == 0 && (*at == '<' || *at == '>') && (is_operator || continues))
            *to++ = *at;
        else if (*at == '<' && depth++ == 0 && to - out > 2 && to[-1] == ':')
            to -= 2; /* Rust: "total::<f64>" */
        else if (*at == '>' && depth > 0)
            depth--;
        else if (depth == 0 && *at != '<')
            *to++ = *at;
    }
    if (out)
        *to = '\0';
    return out;
}

static bool has_scoped_tail(const char *name, const char *tail)
{
    size_t whole = strlen(name), part = strlen(tail);
    return whole > part + 2 && strcmp(name + whole - part, tail) == 0 && name[whole - part - 1] == ':' &&
           name[whole - part - 2] == ':';
}

enum step {
    STEP_UNIT, /* handed out under this name */
    STEP_FULL,
    STEP_DISPLAY,
    STEP_LINKAGE,
    STEP_TAIL,
    STEP_BARE,
    STEP_BARE_TAIL,
    N_STEPS,
};

static bool bare_matches(const struct query *query, const char *display, bool tail)
{
    char *bare = strchr(display, '<') || strchr(query->name, '<') ? without_templates(display) : NULL;
    bool matches = bare && (tail ? has_scoped_tail(bare, query->bare) : strcmp(bare, query->bare) == 0);
    free(bare);
    return matches;
}

static bool matches(const struct query *query, uint32_t number, enum step step)
{
    struct wi_symbols *symbols = query->symbols;
    const struct wi_function *function = &symbols->functions[number];
    switch (step) {
    case STEP_UNIT:
        return function->unit && !query->place && strcmp(function->unit, query->name) == 0;
    case STEP_FULL:
        return strcmp(wi_function_full(symbols, number), query->name) == 0;
    case STEP_DISPLAY:
        return strcmp(wi_function_display(symbols, number), query->name) == 0;
    case STEP_LINKAGE:
        return function->linkage_name && strcmp(function->linkage_name, query->name) == 0;
    case STEP_TAIL:
        return has_scoped_tail(wi_function_display(symbols, number), query->name);
    case STEP_BARE:
        return bare_matches(query, wi_function_display(symbols, number), false);
    case STEP_BARE_TAIL:
        return bare_matches(query, wi_function_display(symbols, number), true);
    default:
        return false;
    }
}

static bool in_place(const struct query *query, uint32_t number)
{
    if (!query->place)
        return true;
    const struct wi_function *function = &query->symbols->functions[number];
    char *place = strndup(query->place, query->place_length);
    const char *path = function->file != WI_NONE ? query->symbols->files[function->file].path
                                                 : query->symbols->modules[function->module]->path;
    bool is = place && wi_path_has_tail(path, place);
    free(place);
    return is;
}

/* ---- functions: all that match -------------------------------------------------------------------------- */

static int add_group(struct wi_target *target, uint32_t group)
{
    for (size_t i = 0; i < target->n_groups; i++)
        if (target->groups[i] == group)
            return 0;
    uint32_t *more = realloc(target->groups, (target->n_groups + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    target->groups = more;
    target->groups[target->n_groups++] = group;
    return 0;
}

static int run_query(const struct query *query, struct wi_target *out)
{
    struct wi_symbols *symbols = query->symbols;
    for (enum step step = 0; step < N_STEPS && out->n_groups == 0; step++) {
        for (uint32_t i = 0; i < symbols->n_functions; i++)
            if (symbols->functions[i].group != WI_NONE && matches(query, i, step) && in_place(query, i))
                if (add_group(out, symbols->functions[i].group) != 0)
                    return -ENOMEM;
    }
    return out->n_groups ? 0 : -ENOENT;
}

/* Other symbols of the same code, and functions that the linker found to be the same. */
static int find_alias(struct wi_symbols *symbols, const char *name, struct wi_target *out)
{
    for (size_t m = 0; m < symbols->n_modules; m++) {
        const struct wi_module *module = symbols->modules[m];
        for (size_t i = 0; module && module->index.header && i < module->index.n_aliases; i++) {
            const struct wi_alias *alias = &module->index.aliases[i];
            uint32_t group = symbols->functions[module->functions[alias->function]].group;
            if (group != WI_NONE && strcmp(module->index.text + alias->name, name) == 0)
                return add_group(out, group);
        }
    }
    return -ENOENT;
}

static int find_named(struct wi_symbols *symbols, const char *name, const char *place, size_t place_length,
                      struct wi_target *out)
{
    struct query query = {symbols, name, without_templates(name), place, place_length};
    int error = query.bare ? run_query(&query, out) : -ENOMEM;
    free(query.bare);
    return error;
}

/* The colon of "parser.c:helper": a single one. */
static const char *single_colon(const char *name)
{
    for (const char *at = name; (at = strchr(at, ':')) != NULL; at++) {
        if (at[1] == ':')
            at++;
        else
            return at > name && at[1] ? at : NULL;
    }
    return NULL;
}

static int find_function(struct wi_symbols *symbols, const char *name, struct wi_target *out)
{
    wi_functions_group(symbols);
    *out = (struct wi_target){.is_line = false};
    int error = find_named(symbols, name, NULL, 0, out);
    const char *colon = single_colon(name);
    if (error == -ENOENT && colon)
        error = find_named(symbols, colon + 1, name, (size_t)(colon - name), out);
    if (error == -ENOENT)
        error = find_alias(symbols, name, out);
    if (error == 0)
        out->name = out->n_groups == 1 ? wi_function_unit_name(symbols, out->groups[0])
                                       : wi_strings_intern(&symbols->strings, name);
    return error;
}

int wi_target_find(struct wi_symbols *symbols, const char *name, struct wi_target *out)
{
    uint32_t line;
    size_t length = wi_target_line(name, &line);
    if (!*name)
        return -EINVAL;
    if (length == 0)
        return find_function(symbols, name, out);
    char *path = strndup(name, length);
    int error = path ? find_line(symbols, path, line, out) : -ENOMEM;
    free(path);
    return error;
}

void wi_target_fini(struct wi_target *target)
{
    free(target->groups);
    memset(target, 0, sizeof *target);
}
