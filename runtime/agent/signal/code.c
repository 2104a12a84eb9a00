/* SPDX-License-Identifier: BSD-2-Clause */
/* Matching stacks against the selected code. See code.h. */
#include "runtime/agent/signal/code.h"

bool wi_code_in_scope(struct wi_session *session, uint32_t module, uint64_t address)
{
    if (module >= WI_MAX_MODULES)
        return false;
    uint64_t at = atomic_load_explicit(&session->modules[module].scope_at, memory_order_acquire);
    if (at == 0)
        return false;
    const struct wi_scope_table *table = (const void *)((const char *)session + at);
    uint32_t low = 0, high = table->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (address >= table->ranges[middle].high)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->n && address >= table->ranges[low].low;
}

static int compare(const struct wi_session_range *range, uint32_t module, uint64_t address)
{
    if (range->module != module)
        return range->module < module ? -1 : 1;
    if (address >= range->high)
        return -1;
    return address < range->low ? 1 : 0;
}

uint32_t wi_code_flags(const struct wi_range_set *set, uint32_t module, uint64_t address)
{
    uint32_t low = 0, high = set->n < WI_RANGE_CAPACITY ? set->n : WI_RANGE_CAPACITY;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = compare(&set->ranges[middle], module, address);
        if (order == 0)
            return set->ranges[middle].flags;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

uint32_t wi_code_match(struct wi_session *session, const struct wi_range_set *set, const uint64_t *frames,
                       uint32_t n)
{
    const uint64_t mask = (1ull << WI_FRAME_MODULE_SHIFT) - 1;
    uint32_t match = 0;
    bool below = false; /* a frame in scope was found that is the unit if called from a caller */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t module = (uint32_t)(frames[i] >> WI_FRAME_MODULE_SHIFT);
        uint64_t address = frames[i] & mask;
        uint32_t flags = wi_code_flags(set, module, address);
        if (below)
            flags &= WI_RANGE_CALLER;
        match |= flags & (WI_RANGE_SELECTED | WI_RANGE_GIVEN);
        if (flags & WI_RANGE_CALLER && below)
            return match | WI_RANGE_SELECTED;
        if (flags & WI_RANGE_SELECTED)
            return match;
        if (flags & WI_RANGE_IF_CALLED && !below) {
            below = true;
            continue;
        }
        if (wi_code_in_scope(session, module, address))
            return match;
    }
    return match;
}
