/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What symbols add to an index: mangled names that debug information left out, and functions for the code that it
 * does not describe (assembly, libraries built without -g, stripped files).
 */
#include <errno.h>

#include "runtime/symbols/builder.h"

void wi_points_emit(struct wi_point_list *out, uint32_t pc, uint32_t node)
{
    if (out->n > 0 && out->at[out->n - 1].pc == pc)
        out->n--;
    if (out->n == 0 ? node != WI_NONE : out->at[out->n - 1].id != node)
        out->at[out->n++] = (struct wi_point){pc, node};
}

void wi_builder_alias(struct wi_builder *builder, uint32_t name, uint32_t function)
{
    bool room = wi_builder_room(builder, &builder->aliases, &builder->aliases_capacity, builder->n_aliases,
                                sizeof *builder->aliases);
    if (room && name != 0)
        builder->aliases[builder->n_aliases++] = (struct wi_alias){name, function};
}

/* ---- names that debug information left out -------------------------------------------------------------- */

/* The mangled symbol at this pc (any symbol for a function without name), or 0. */
static uint32_t symbol_at(const struct wi_builder *builder, uint32_t pc, bool any, size_t *symbol)
{
    while (*symbol < builder->n_symbols && builder->symbols[*symbol].pc < pc)
        ++*symbol;
    for (size_t i = *symbol; i < builder->n_symbols && builder->symbols[i].pc == pc; i++) {
        const char *name = builder->text + builder->symbols[i].name;
        if (any || (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')))
            return builder->symbols[i].name;
    }
    return 0;
}

#define CLAIMED_TWICE UINT32_MAX

/* With line tables only, compilers leave mangled names out: a function has its own from the symbol where its code
 * begins, and lends it to its inlined copies. Instances of a template look like one function there: if they differ,
 * only their own code gets their names. Called with `claims` of zeroes to find out, then to act. */
static void complete_names(struct wi_builder *builder, const struct wi_point_list *scopes, uint32_t *claims,
                           bool act)
{
    size_t symbol = 0;
    for (size_t i = 0; i < scopes->n; i++) {
        uint32_t node = scopes->at[i].id;
        if (node == WI_NONE)
            continue;
        while (builder->nodes[node].parent != WI_NONE)
            node = builder->nodes[node].parent;
        uint32_t function = builder->nodes[node].function;
        struct wi_function_row row = builder->functions[function];
        uint32_t name = row.linkage_name ? 0 : symbol_at(builder, scopes->at[i].pc, row.name == 0, &symbol);
        if (name == 0)
            continue;
        if (!act) {
            claims[function] = claims[function] == 0 || claims[function] == name ? name : CLAIMED_TWICE;
        } else if (claims[function] == CLAIMED_TWICE) {
            row.linkage_name = name;
            builder->nodes[node].function = wi_builder_function_row(builder, &row);
        } else {
            builder->functions[function].linkage_name = name;
        }
    }
}

int wi_builder_complete_names(struct wi_builder *builder, const struct wi_point_list *scopes)
{
    uint32_t *claims = calloc(builder->n_functions + 1, sizeof *claims);
    if (!claims)
        return -ENOMEM;
    complete_names(builder, scopes, claims, false);
    complete_names(builder, scopes, claims, true);
    free(claims);
    return 0;
}

/* ---- symbols in the gaps ------------------------------------------------------------------------------- */

struct symbol_node {
    uint32_t low, high, node;
};

/* The function that debug information knows at this pc, or WI_NONE. `*scope` only moves forward. */
static uint32_t known_function(const struct wi_builder *builder, const struct wi_point_list *scopes,
                               size_t *scope, uint32_t pc)
{
    while (*scope < scopes->n && scopes->at[*scope].pc <= pc)
        ++*scope;
    uint32_t node = *scope ? scopes->at[*scope - 1].id : WI_NONE;
    while (node != WI_NONE && builder->nodes[node].parent != WI_NONE)
        node = builder->nodes[node].parent;
    return node == WI_NONE ? WI_NONE : builder->nodes[node].function;
}

/* Where the symbols from `first` to before `next` end, all at one pc. Those from assembly have no size: up to the
 * next symbol, or the end of the section. */
static uint32_t symbol_end(const struct wi_builder *builder, size_t first, size_t next)
{
    uint32_t size = 0, pc = builder->symbols[first].pc;
    for (size_t i = first; i < next; i++)
        if (builder->symbols[i].size > size)
            size = builder->symbols[i].size;
    uint64_t end = size ? (uint64_t)pc + size : UINT64_MAX;
    if (next < builder->n_symbols && builder->symbols[next].pc < end)
        end = builder->symbols[next].pc;
    for (size_t i = 0; i < builder->code.n; i++) {
        uint64_t low = builder->code.spans[i].low - builder->code.base;
        uint64_t high = builder->code.spans[i].high - builder->code.base;
        if (pc >= low && pc < high && high < end)
            end = high;
    }
    return end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
}

/* One entry for each address that has symbols, named by the best of them; the others become aliases. */
static size_t name_symbols(struct wi_builder *builder, const struct wi_point_list *scopes,
                           struct symbol_node *out)
{
    size_t n = 0, scope = 0;
    for (size_t i = 0, next; i < builder->n_symbols; i = next) {
        size_t best = i;
        for (next = i; next < builder->n_symbols && builder->symbols[next].pc == builder->symbols[i].pc;
             next++)
            if (builder->symbols[next].rank > builder->symbols[best].rank)
                best = next;
        uint32_t function = known_function(builder, scopes, &scope, builder->symbols[i].pc);
        if (function == WI_NONE)
            function = wi_builder_function_row(
                builder, &(struct wi_function_row){0, builder->symbols[best].name, WI_NONE, 0});
        if (function == WI_NONE || !wi_builder_room(builder, &builder->nodes, &builder->nodes_capacity,
                                                    builder->n_nodes, sizeof *builder->nodes))
            break;
        for (size_t other = i; other < next; other++)
            if (builder->symbols[other].name != builder->symbols[best].name)
                wi_builder_alias(builder, builder->symbols[other].name, function);
        out[n++] = (struct symbol_node){builder->symbols[i].pc, symbol_end(builder, i, next),
                                        (uint32_t)builder->n_nodes};
        builder->nodes[builder->n_nodes++] = (struct wi_node){WI_NONE, function, WI_NONE};
    }
    return n;
}

/* Both lists side by side; debug information wins. */
int wi_builder_fill_gaps(struct wi_builder *builder, struct wi_point_list *scopes)
{
    struct symbol_node *symbols = malloc((builder->n_symbols + 1) * sizeof *symbols);
    struct wi_point_list filled = {NULL, 0};
    if (symbols)
        filled.at = malloc((3 * scopes->n + 2 * builder->n_symbols + 4) * sizeof *filled.at);
    if (!filled.at) {
        free(symbols);
        return -ENOMEM;
    }
    size_t n_symbols = name_symbols(builder, scopes, symbols), symbol = 0, scope = 0;
    uint32_t pc = 0, owner = WI_NONE;
    for (;;) {
        /* the owner by debug information holds from pc to the next point; within it symbols take what is free */
        uint32_t next = scope < scopes->n ? scopes->at[scope].pc : UINT32_MAX;
        while (symbol < n_symbols && symbols[symbol].high <= pc)
            symbol++;
        if (owner != WI_NONE) {
            wi_points_emit(&filled, pc, owner);
        } else {
            uint32_t at = pc;
            for (; symbol < n_symbols && symbols[symbol].low < next; symbol++) {
                if (symbols[symbol].low > at)
                    wi_points_emit(&filled, at, WI_NONE);
                wi_points_emit(&filled, symbols[symbol].low > at ? symbols[symbol].low : at,
                               symbols[symbol].node);
                at = symbols[symbol].high;
                if (at > next)
                    break; /* goes on behind what has an owner */
            }
            if (at < next)
                wi_points_emit(&filled, at, WI_NONE);
        }
        if (scope == scopes->n)
            break;
        owner = scopes->at[scope].id;
        pc = scopes->at[scope++].pc;
    }
    free(symbols);
    free(scopes->at);
    *scopes = filled;
    return 0;
}
