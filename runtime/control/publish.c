/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishing tables and selections to the agents. See publish.h. */
#include "runtime/control/publish.h"
#include "runtime/control/overlay.h"
#include "runtime/symbols/unwind_compile.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROW_BYTES (1u << 20)

void wi_publisher_init(struct wi_publisher *publisher, struct wi_session *session, int fd)
{
    *publisher = (struct wi_publisher){.session = session, .fd = fd, .allocated = session->arena_at};
}

int wi_publish_block(struct wi_publisher *publisher, const void *block, size_t bytes, _Atomic uint64_t *where)
{
    struct wi_session *session = publisher->session;
    uint64_t at = session->arena_at + publisher->used;
    uint64_t end = at + bytes;
    if (end > session->mapped_bytes) {
        publisher->too_large++;
        return -ENOSPC;
    }
    if (end > publisher->allocated) {
        uint64_t target = end + GROW_BYTES < session->mapped_bytes ? end + GROW_BYTES : session->mapped_bytes;
        int error = wi_session_grow(publisher->fd, target);
        if (error)
            return error;
        publisher->allocated = target;
    }
    memcpy((char *)session + at, block, bytes);
    publisher->used += (bytes + 63) / 64 * 64;
    atomic_store_explicit(where, at, memory_order_release);
    return 0;
}

static int publish_scope_of(struct wi_publisher *publisher, const struct wi_range *ranges, size_t n)
{
    struct wi_scope_table *table = malloc(sizeof *table + n * sizeof table->ranges[0]);
    if (!table)
        return -ENOMEM;
    table->n = 0;
    table->reserved = 0;
    for (size_t i = 0; i < n; i++) {
        if (ranges[i].high > UINT32_MAX)
            break; /* no module is that large; such addresses are damage */
        table->ranges[table->n].low = (uint32_t)ranges[i].low;
        table->ranges[table->n++].high = (uint32_t)ranges[i].high;
    }
    int error = wi_publish_block(publisher, table, sizeof *table + table->n * sizeof table->ranges[0],
                                 &publisher->session->modules[ranges[0].module].scope_at);
    free(table);
    return error;
}

int wi_publish_scope(struct wi_publisher *publisher, const struct wi_range_list *scope)
{
    int error = 0;
    for (size_t i = 0, end; i < scope->n; i = end) {
        uint32_t module = scope->ranges[i].module;
        for (end = i; end < scope->n && scope->ranges[end].module == module;)
            end++;
        if (module < WI_MAX_MODULES) {
            int failed = publish_scope_of(publisher, &scope->ranges[i], end - i);
            error = error ? error : failed;
        }
    }
    return error;
}

int wi_publish_unwind_table(struct wi_publisher *publisher, uint32_t module, const char *open_path)
{
    struct wi_unwind_table *table;
    size_t bytes;
    int error = wi_unwind_compile(open_path, &table, &bytes);
    if (error)
        return error;
    error = wi_publish_block(publisher, table, bytes, &publisher->session->modules[module].unwind_at);
    free(table);
    return error;
}

int wi_publish_unit(struct wi_publisher *publisher, uint32_t id, const struct wi_unit_ranges *unit,
                    const struct wi_unit_ranges *given)
{
    uint32_t index = publisher->next_set++ % WI_RANGE_SETS;
    struct wi_range_set *set = &publisher->session->sets[index];
    struct wi_layer layers[4] = {
        {&unit->selected, WI_RANGE_SELECTED},
        {&unit->if_called, WI_RANGE_IF_CALLED},
        {&unit->callers, WI_RANGE_CALLER},
    };
    size_t n_layers = 3;
    if (given)
        layers[n_layers++] = (struct wi_layer){&given->selected, WI_RANGE_GIVEN};
    set->n = 0;
    int64_t n = wi_overlay(layers, n_layers, set->ranges, WI_RANGE_CAPACITY);
    if (n < 0)
        return (int)n;
    if (n > WI_RANGE_CAPACITY) {
        publisher->truncated_sets++;
        n = WI_RANGE_CAPACITY;
    }
    set->n = (uint32_t)n;
    set->unit = id;
    return (int)index;
}
