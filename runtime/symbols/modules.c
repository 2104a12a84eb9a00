/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules, and what they share: see internal.h. A module is read when the first question reaches it; its files and
 * functions then get their global numbers.
 */
#include <errno.h>

#include "runtime/symbols/internal.h"

#define MAX_MODULES (1u << 20)

/* ---- registering -------------------------------------------------------------------------------------- */

static void free_module(struct wi_module *module)
{
    if (!module)
        return;
    wi_extract_release(&module->index);
    free(module->files);
    free(module->functions);
    free(module->build_id);
    free(module->open_path);
    free(module->path);
    free(module);
}

static struct wi_module *new_module(const struct wi_module_source *source)
{
    struct wi_module *module = calloc(1, sizeof *module);
    if (!module)
        return NULL;
    module->path = strdup(source->path);
    module->open_path = strdup(source->open_path ? source->open_path : source->path);
    module->build_id = malloc(source->build_id_length + 1);
    module->is_main = source->is_main;
    if (!module->path || !module->open_path || !module->build_id) {
        free_module(module);
        return NULL;
    }
    module->build_id_length = source->build_id ? source->build_id_length : 0;
    if (module->build_id_length)
        memcpy(module->build_id, source->build_id, module->build_id_length);
    module->base = wi_base_name(module->path);
    return module;
}

static int make_slot(struct wi_symbols *symbols, uint32_t number)
{
    if (number >= MAX_MODULES)
        return -E2BIG;
    if (number < symbols->n_modules)
        return symbols->modules[number] ? -EEXIST : 0;
    struct wi_module **more = realloc(symbols->modules, (number + 1) * sizeof(struct wi_module *));
    if (!more)
        return -ENOMEM;
    symbols->modules = more;
    while (symbols->n_modules <= number)
        symbols->modules[symbols->n_modules++] = NULL;
    return 0;
}

/* A new executable can make a project's library of what was just a library. */
static void judge_modules(struct wi_symbols *symbols)
{
    for (size_t i = 0; i < symbols->n_modules; i++) {
        struct wi_module *module = symbols->modules[i];
        if (module && !module->is_read)
            module->scope = wi_scope_of_module(&symbols->rules, module->path, module->is_main);
    }
}

int wi_symbols_add_module(struct wi_symbols *symbols, const struct wi_module_source *source)
{
    int error = make_slot(symbols, source->index);
    if (error)
        return error;
    struct wi_module *module = new_module(source);
    if (!module)
        return -ENOMEM;
    symbols->modules[source->index] = module;
    if (source->is_main)
        wi_scope_add_main(&symbols->rules, module->path);
    judge_modules(symbols);
    return 0;
}

bool wi_module_may_hold(const struct wi_symbols *symbols, const struct wi_module *module)
{
    return wi_scope_may_hold(&symbols->rules, module->scope, module->path);
}

bool wi_symbols_module_in_scope(const struct wi_symbols *symbols, uint32_t number)
{
    return number < symbols->n_modules && symbols->modules[number] &&
           wi_module_may_hold(symbols, symbols->modules[number]);
}

enum wi_detail wi_symbols_detail(const struct wi_symbols *symbols, uint32_t number)
{
    if (number >= symbols->n_modules || !symbols->modules[number])
        return WI_DETAIL_NONE;
    const struct wi_module *module = symbols->modules[number];
    if (!module->is_read)
        return WI_DETAIL_UNREAD;
    if (!module->index.header)
        return WI_DETAIL_NONE;
    if (module->index.header->has_lines)
        return WI_DETAIL_LINES;
    return module->index.header->has_functions ? WI_DETAIL_FUNCTIONS : WI_DETAIL_NONE;
}

/* ---- global numbers ------------------------------------------------------------------------------------ */

static bool grow(void *array, size_t *capacity, size_t n, size_t element)
{
    void *old, *more;
    if (n < *capacity)
        return true;
    memcpy(&old, array, sizeof old);
    size_t grown = *capacity ? *capacity * 2 : 64;
    if (!(more = realloc(old, grown * element)))
        return false;
    memcpy(array, &more, sizeof more);
    *capacity = grown;
    return true;
}

static uint32_t global_file(struct wi_symbols *symbols, const char *path, bool in_program)
{
    path = wi_strings_intern(&symbols->strings, path);
    uint32_t known = wi_map64_get(&symbols->files_by_path, (uintptr_t)path);
    if (known == WI_MAP64_NONE) {
        if (!grow(&symbols->files, &symbols->files_capacity, symbols->n_files, sizeof *symbols->files))
            return WI_NONE;
        known = (uint32_t)symbols->n_files++;
        const char *base = wi_strings_intern(&symbols->strings, wi_base_name(path));
        symbols->files[known] =
            (struct wi_file){.path = path,
                             .same_base = wi_map64_get(&symbols->files_by_base, (uintptr_t)base),
                             .scope = wi_scope_of_file(&symbols->rules, path)};
        wi_map64_put(&symbols->files_by_base, (uintptr_t)base, known);
        wi_map64_put(&symbols->files_by_path, (uintptr_t)path, known);
    }
    symbols->files[known].in_program |= in_program;
    return known;
}

static const char *module_text(struct wi_symbols *symbols, const struct wi_module *module, uint32_t offset)
{
    return offset ? wi_strings_intern(&symbols->strings, module->index.text + offset) : NULL;
}

static uint32_t global_function(struct wi_symbols *symbols, const struct wi_module *module, uint32_t number,
                                const struct wi_function_row *row, bool in_program)
{
    struct wi_function function = {.name = module_text(symbols, module, row->name),
                                   .linkage_name = module_text(symbols, module, row->linkage_name),
                                   .file =
                                       row->file < module->index.n_files ? module->files[row->file] : WI_NONE,
                                   .line = row->line,
                                   .module = number,
                                   .group = WI_NONE,
                                   .same_name = WI_NONE};
    /* Without a place two modules' functions of one name are two functions. */
    uint64_t key[5] = {(uintptr_t)function.name, (uintptr_t)function.linkage_name, function.file,
                       function.line, function.file == WI_NONE ? number : 0};
    uint64_t hash = wi_hash_bytes(key, sizeof key);
    uint32_t known = wi_map64_get(&symbols->functions_by_hash, hash);
    if (known == WI_MAP64_NONE) {
        if (!grow(&symbols->functions, &symbols->functions_capacity, symbols->n_functions,
                  sizeof *symbols->functions))
            return WI_NONE;
        known = (uint32_t)symbols->n_functions++;
        symbols->functions[known] = function;
        wi_map64_put(&symbols->functions_by_hash, hash, known);
    }
    symbols->functions[known].in_program |= in_program;
    return known;
}

/* The functions that were grouped without this module may gain homonyms only from here on. */
static int translate(struct wi_symbols *symbols, struct wi_module *module, uint32_t number)
{
    bool in_program = wi_module_may_hold(symbols, module);
    const struct wi_index *index = &module->index;
    module->files = malloc((index->n_files + 1) * sizeof *module->files);
    module->functions = malloc((index->n_functions + 1) * sizeof *module->functions);
    if (!module->files || !module->functions)
        return -ENOMEM;
    for (size_t i = 0; i < index->n_files; i++)
        module->files[i] = global_file(symbols, index->text + index->files[i], in_program);
    for (size_t i = 0; i < index->n_functions; i++)
        module->functions[i] = global_function(symbols, module, number, &index->functions[i], in_program);
    return 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static void add_notice(struct wi_symbols *symbols, const char *code, const char *text, uint32_t module,
                       uint64_t count)
{
    char *copy = strdup(text);
    if (!copy ||
        !grow(&symbols->notices, &symbols->notices_capacity, symbols->n_notices, sizeof *symbols->notices))
        free(copy);
    else
        symbols->notices[symbols->n_notices++] = (struct wi_symbols_notice){code, copy, module, count};
}

static void take_notices(struct wi_symbols *symbols, const struct wi_module *module, uint32_t number)
{
    for (size_t i = 0; i < module->index.n_notices; i++) {
        const struct wi_notice_row *row = &module->index.notices[i];
        add_notice(symbols, module_text(symbols, module, row->code), module->index.text + row->text, number,
                   row->count);
    }
}

int wi_module_attach(struct wi_symbols *symbols, uint32_t number, const struct wi_index *index)
{
    struct wi_module *module = symbols->modules[number];
    module->is_read = true;
    module->index = *index;
    int error = translate(symbols, module, number);
    if (error == 0)
        take_notices(symbols, module, number);
    else
        wi_extract_release(&module->index);
    return error;
}

static void read_module(struct wi_symbols *symbols, struct wi_module *module, uint32_t number)
{
    struct wi_index index;
    struct wi_extract_request request = {.path = module->path,
                                         .open_path = module->open_path,
                                         .build_id = module->build_id,
                                         .build_id_length = module->build_id_length,
                                         .want_lines = wi_module_may_hold(symbols, module)};
    module->is_read = true;
    if (wi_extract(&request, &index) == 0)
        wi_module_attach(symbols, number, &index);
    else
        add_notice(symbols, "module-unreadable", "a file could not be read at all; its code has no names",
                   number, 1);
}

struct wi_module *wi_symbols_module(struct wi_symbols *symbols, uint32_t number)
{
    if (number >= symbols->n_modules || !symbols->modules[number])
        return NULL;
    struct wi_module *module = symbols->modules[number];
    if (!module->is_read)
        read_module(symbols, module, number);
    return module;
}

void wi_symbols_read_all(struct wi_symbols *symbols)
{
    for (uint32_t i = 0; i < symbols->n_modules; i++)
        if (wi_symbols_module_in_scope(symbols, i))
            wi_symbols_module(symbols, i);
}

void wi_symbols_notices(const struct wi_symbols *symbols,
                        void (*visit)(const struct wi_symbols_notice *notice, void *context), void *context)
{
    for (size_t i = 0; i < symbols->n_notices; i++)
        visit(&symbols->notices[i], context);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

int wi_symbols_create(const struct wi_scope *scope, struct wi_symbols **out)
{
    struct wi_symbols *symbols = calloc(1, sizeof *symbols);
    int error = symbols ? wi_scope_init(&symbols->rules, scope) : -ENOMEM;
    if (error)
        wi_symbols_destroy(symbols);
    else
        *out = symbols;
    return error;
}

void wi_symbols_destroy(struct wi_symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->n_modules; i++)
        free_module(symbols->modules[i]);
    for (size_t i = 0; i < symbols->n_notices; i++)
        free(symbols->notices[i].text);
    struct wi_map64 *maps[] = {&symbols->files_by_path,     &symbols->files_by_base,
                               &symbols->functions_by_hash, &symbols->groups_by_hash,
                               &symbols->groups_by_name,    &symbols->line_names};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        wi_map64_fini(maps[i]);
    wi_strings_fini(&symbols->strings);
    wi_scope_fini(&symbols->rules);
    free(symbols->modules);
    free(symbols->files);
    free(symbols->functions);
    free(symbols->line_name_texts);
    free(symbols->notices);
    free(symbols);
}
