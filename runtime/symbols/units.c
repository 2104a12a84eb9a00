/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a unit to the code that is it: see wi_symbols_unit() in symbols.h.
 *
 * One pass over the stretches of every module in scope. A stretch belongs to the unit when its innermost frame in
 * scope matches; for a call path the next frame in scope decides, and if the inlined chain has none, the caller's
 * frame will, at run time. Most stretches are passed over at once: a byte per node says whether the target occurs
 * anywhere in its chain.
 */
#include <errno.h>
#include <stdio.h>

#include "runtime/symbols/internal.h"

/* A target within one module. */
struct matcher {
    const struct wi_module *module;
    bool is_line;
    uint8_t *ids;   /* by line id or function number: it is the target */
    uint8_t *nodes; /* by node: the target is in its chain (of a line: beyond the innermost frame) */
};

static bool in_target(const struct wi_target *target, uint32_t group)
{
    for (size_t i = 0; i < target->n_groups; i++)
        if (target->groups[i] == group)
            return true;
    return false;
}

static void mark_ids(const struct wi_symbols *symbols, const struct wi_target *target,
                     struct matcher *matcher)
{
    const struct wi_module *module = matcher->module;
    const struct wi_index *index = &module->index;
    for (size_t i = 0; target->is_line && i < index->n_lines; i++)
        matcher->ids[i] =
            index->lines[i].line == target->line && module->files[index->lines[i].file] == target->file;
    for (size_t i = 0; !target->is_line && i < index->n_functions; i++) {
        uint32_t group = symbols->functions[module->functions[i]].group;
        matcher->ids[i] = group != WI_NONE && in_target(target, group);
    }
}

/* Parents come before their children. */
static void mark_nodes(struct matcher *matcher)
{
    const struct wi_index *index = &matcher->module->index;
    for (size_t i = 0; i < index->n_nodes; i++) {
        const struct wi_node *node = &index->nodes[i];
        uint32_t id = matcher->is_line ? node->call : node->function;
        bool outside = node->parent != WI_NONE && matcher->nodes[node->parent];
        matcher->nodes[i] = outside || (id != WI_NONE && matcher->ids[id]);
    }
}

static int matcher_init(const struct wi_symbols *symbols, const struct wi_module *module,
                        const struct wi_target *target, struct matcher *matcher)
{
    const struct wi_index *index = &module->index;
    *matcher = (struct matcher){.module = module, .is_line = target->is_line};
    matcher->ids = calloc((target->is_line ? index->n_lines : index->n_functions) + 1, 1);
    matcher->nodes = calloc(index->n_nodes + 1, 1);
    if (!matcher->ids || !matcher->nodes)
        return -ENOMEM;
    mark_ids(symbols, target, matcher);
    mark_nodes(matcher);
    return 0;
}

static void matcher_fini(struct matcher *matcher)
{
    free(matcher->ids);
    free(matcher->nodes);
}

static bool may_match(const struct matcher *matcher, const struct wi_stretch *stretch)
{
    if (matcher->is_line && stretch->line != WI_NONE && matcher->ids[stretch->line])
        return true;
    return stretch->node != WI_NONE && matcher->nodes[stretch->node];
}

static bool matches(const struct matcher *matcher, const struct wi_step *step)
{
    if (matcher->is_line)
        return step->line != WI_NONE && matcher->ids[step->line];
    return step->node != WI_NONE && matcher->ids[matcher->module->index.nodes[step->node].function];
}

/* ---- collecting ----------------------------------------------------------------------------------------- */

struct collector {
    struct wi_symbols *symbols;
    uint32_t number; /* of the module */
    struct matcher lower, upper;
    bool is_callpath;
    struct wi_unit_ranges *out;
};

static void take_function(struct collector *collector, const struct wi_step *step)
{
    uint32_t function = wi_step_function(collector->lower.module, step);
    if (collector->out->function || function == WI_NONE)
        return;
    collector->out->function = wi_function_display(collector->symbols, function);
    collector->out->function_line = collector->symbols->functions[function].line;
}

static int collect_lower(struct collector *collector, const struct wi_stretch *stretch)
{
    const struct wi_module *module = collector->lower.module;
    struct wi_step step = {stretch->node, stretch->line};
    struct wi_range_list *list = &collector->out->selected;
    if (!wi_step_to_scope(collector->symbols, module, &step) || !matches(&collector->lower, &step))
        return 0;
    take_function(collector, &step);
    if (collector->is_callpath) {
        bool inlined = wi_step_out(module, &step) && wi_step_to_scope(collector->symbols, module, &step);
        if (inlined && !matches(&collector->upper, &step))
            return 0;
        if (!inlined)
            list = &collector->out->if_called;
    }
    return wi_range_list_add(list, collector->number, stretch->low, stretch->high);
}

static int collect_upper(struct collector *collector, const struct wi_stretch *stretch)
{
    struct wi_step step = {stretch->node, stretch->line};
    if (!wi_step_to_scope(collector->symbols, collector->upper.module, &step) ||
        !matches(&collector->upper, &step))
        return 0;
    return wi_range_list_add(&collector->out->callers, collector->number, stretch->low, stretch->high);
}

static int collect(struct collector *collector)
{
    struct wi_index_cursor cursor = {0, 0};
    struct wi_stretch stretch;
    int error = 0;
    while (error == 0 && wi_index_next(&collector->lower.module->index, &cursor, &stretch)) {
        if (may_match(&collector->lower, &stretch))
            error = collect_lower(collector, &stretch);
        if (error == 0 && collector->is_callpath && may_match(&collector->upper, &stretch))
            error = collect_upper(collector, &stretch);
    }
    return error;
}

static int collect_module(struct wi_symbols *symbols, uint32_t number, const struct wi_target *lower,
                          const struct wi_target *upper, struct wi_unit_ranges *out)
{
    const struct wi_module *module = symbols->modules[number];
    struct collector collector = {
        .symbols = symbols, .number = number, .is_callpath = upper != NULL, .out = out};
    if (!module || !module->index.header || !wi_module_may_hold(symbols, module))
        return 0;
    int error = matcher_init(symbols, module, lower, &collector.lower);
    if (error == 0 && upper)
        error = matcher_init(symbols, module, upper, &collector.upper);
    if (error == 0)
        error = collect(&collector);
    matcher_fini(&collector.lower);
    matcher_fini(&collector.upper);
    return error;
}

/* ---- units ---------------------------------------------------------------------------------------------- */

static void describe(const struct wi_symbols *symbols, const struct wi_target *lower,
                     struct wi_unit_ranges *out)
{
    if (lower->is_line) {
        out->file = symbols->files[lower->file].path;
        out->line = lower->line;
        return;
    }
    const struct wi_function *function = &symbols->functions[lower->groups[0]];
    out->file = function->file == WI_NONE ? NULL : symbols->files[function->file].path;
    out->line = out->function_line = function->line;
    out->function = function->display;
}

static int make_unit(struct wi_symbols *symbols, const struct wi_target *lower, const struct wi_target *upper,
                     struct wi_unit_ranges *out)
{
    int error = asprintf(&out->name, "%s%s%s", lower->name, upper ? " < " : "", upper ? upper->name : "") < 0;
    if (error) {
        out->name = NULL;
        return -ENOMEM;
    }
    out->kind = upper ? WI_UNIT_CALLPATH : lower->is_line ? WI_UNIT_LINE : WI_UNIT_FUNCTION;
    describe(symbols, lower, out);
    for (uint32_t i = 0; error == 0 && i < symbols->n_modules; i++)
        error = collect_module(symbols, i, lower, upper, out);
    bool reachable = out->selected.n > 0 || (out->if_called.n > 0 && out->callers.n > 0);
    return error == 0 && !reachable ? -ENOENT : error;
}

/* "LOWER < UPPER". An operator's name has no spaces around its sign. */
static const char *call_sign(const char *name)
{
    return strstr(name, " < ");
}

static int find_both(struct wi_symbols *symbols, const char *name, struct wi_target *lower,
                     struct wi_target *upper, bool *has_upper)
{
    const char *sign = call_sign(name);
    *has_upper = sign != NULL;
    if (!sign)
        return wi_target_find(symbols, name, lower);
    if (call_sign(sign + 3))
        return -EINVAL;
    char *first = strndup(name, (size_t)(sign - name));
    int error = first ? wi_target_find(symbols, first, lower) : -ENOMEM;
    free(first);
    return error ? error : wi_target_find(symbols, sign + 3, upper);
}

int wi_symbols_unit(struct wi_symbols *symbols, const char *name, struct wi_unit_ranges *out)
{
    struct wi_target lower = {0}, upper = {0};
    bool has_upper;
    memset(out, 0, sizeof *out);
    wi_symbols_read_all(symbols);
    int error = find_both(symbols, name, &lower, &upper, &has_upper);
    if (error == 0)
        error = make_unit(symbols, &lower, has_upper ? &upper : NULL, out);
    wi_target_fini(&lower);
    wi_target_fini(&upper);
    if (error != 0)
        wi_unit_ranges_fini(out);
    return error;
}

void wi_unit_ranges_fini(struct wi_unit_ranges *unit)
{
    free(unit->name);
    wi_range_list_fini(&unit->selected);
    wi_range_list_fini(&unit->if_called);
    wi_range_list_fini(&unit->callers);
    memset(unit, 0, sizeof *unit);
}

/* ---- scope ---------------------------------------------------------------------------------------------- */

static int add_scope(struct wi_symbols *symbols, uint32_t number, struct wi_range_list *out)
{
    const struct wi_module *module = symbols->modules[number];
    struct wi_index_cursor cursor = {0, 0};
    struct wi_stretch stretch;
    int error = 0;
    if (!module || !module->index.header || !wi_module_may_hold(symbols, module))
        return 0;
    while (error == 0 && wi_index_next(&module->index, &cursor, &stretch)) {
        struct wi_step step = {stretch.node, stretch.line};
        if (wi_step_to_scope(symbols, module, &step))
            error = wi_range_list_add(out, number, stretch.low, stretch.high);
    }
    return error;
}

int wi_symbols_scope_ranges(struct wi_symbols *symbols, struct wi_range_list *out)
{
    int error = 0;
    *out = (struct wi_range_list){NULL, 0};
    wi_symbols_read_all(symbols);
    for (uint32_t i = 0; error == 0 && i < symbols->n_modules; i++)
        error = add_scope(symbols, i, out);
    if (error)
        wi_range_list_fini(out);
    return error;
}
