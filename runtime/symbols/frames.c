/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an address to its frames: a row of the line table for the innermost, and the chain of nodes outwards, each
 * with the line of its call. What is in scope is decided frame by frame.
 */
#include <stdio.h>

#include "runtime/symbols/internal.h"

/* ---- steps --------------------------------------------------------------------------------------------- */

uint32_t wi_step_function(const struct wi_module *module, const struct wi_step *step)
{
    return step->node == WI_NONE ? WI_NONE : module->functions[module->index.nodes[step->node].function];
}

void wi_step_place(const struct wi_module *module, const struct wi_step *step, uint32_t *file, uint32_t *line)
{
    *file = WI_NONE;
    *line = 0;
    if (step->line == WI_NONE)
        return;
    *file = module->files[module->index.lines[step->line].file];
    *line = module->index.lines[step->line].line;
}

/* A frame is where its line is and whose its function is: an instruction of std::sort that carries a line of ours
 * is still the library's. Code that nothing is known of is nobody's. */
bool wi_step_in_scope(struct wi_symbols *symbols, const struct wi_module *module, const struct wi_step *step)
{
    uint32_t file, line, function = wi_step_function(module, step);
    wi_step_place(module, step, &file, &line);
    if (file == WI_NONE && function == WI_NONE)
        return false;
    uint8_t of_file = file == WI_NONE ? 0 : symbols->files[file].scope;
    uint8_t of_function = function == WI_NONE ? 0 : wi_function_scope(symbols, function);
    return wi_scope_holds(&symbols->rules, module->scope, of_file, of_function);
}

bool wi_step_to_scope(struct wi_symbols *symbols, const struct wi_module *module, struct wi_step *step)
{
    do
        if (wi_step_in_scope(symbols, module, step))
            return true;
    while (wi_step_out(module, step));
    return false;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

static const char *unknown_name(struct wi_symbols *symbols, const struct wi_module *module, uint64_t address)
{
    char text[512];
    snprintf(text, sizeof text, "%s+0x%llx", module ? module->base : "unknown", (unsigned long long)address);
    return wi_strings_intern(&symbols->strings, text);
}

static void fill_frame(struct wi_symbols *symbols, const struct wi_module *module, const struct wi_step *step,
                       uint64_t address, struct wi_frame *frame)
{
    uint32_t file, function = wi_step_function(module, step);
    *frame = (struct wi_frame){.in_scope = wi_step_in_scope(symbols, module, step)};
    wi_step_place(module, step, &file, &frame->line);
    frame->file = file == WI_NONE ? NULL : symbols->files[file].path;
    if (function == WI_NONE) {
        frame->function = unknown_name(symbols, module, address);
        return;
    }
    frame->function = wi_function_display(symbols, function);
    frame->linkage_name = symbols->functions[function].linkage_name;
    frame->function_line = symbols->functions[function].line;
}

size_t wi_symbols_frames(struct wi_symbols *symbols, uint32_t number, uint64_t address,
                         struct wi_frame *frames, size_t max)
{
    const struct wi_module *module = wi_symbols_module(symbols, number);
    if (max == 0)
        return 0;
    if (!module || !module->index.header) {
        frames[0] = (struct wi_frame){.function = unknown_name(symbols, module, address)};
        return 1;
    }
    struct wi_step step;
    size_t n = 0;
    wi_index_find(&module->index, address, &step.line, &step.node);
    do
        fill_frame(symbols, module, &step, address, &frames[n++]);
    while (n < max && wi_step_out(module, &step));
    return n;
}

/* The innermost frame in scope. */
static bool find_in_scope(struct wi_symbols *symbols, uint32_t number, uint64_t address,
                          const struct wi_module **module, struct wi_step *step)
{
    *module = wi_symbols_module(symbols, number);
    if (!*module || !(*module)->index.header || !wi_module_may_hold(symbols, *module))
        return false;
    wi_index_find(&(*module)->index, address, &step->line, &step->node);
    return wi_step_to_scope(symbols, *module, step);
}

const char *wi_symbols_line_name(struct wi_symbols *symbols, uint32_t number, uint64_t address)
{
    const struct wi_module *module;
    struct wi_step step;
    uint32_t file, line;
    if (!find_in_scope(symbols, number, address, &module, &step))
        return NULL;
    wi_step_place(module, &step, &file, &line);
    return file == WI_NONE || line == 0 ? NULL : wi_line_unit_name(symbols, file, line);
}

const char *wi_symbols_function_name(struct wi_symbols *symbols, uint32_t number, uint64_t address)
{
    const struct wi_module *module;
    struct wi_step step;
    if (!find_in_scope(symbols, number, address, &module, &step))
        return NULL;
    uint32_t function = wi_step_function(module, &step);
    return function == WI_NONE ? NULL : wi_function_unit_name(symbols, function);
}
