/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking up an address among the process's mappings. See mappings.h. */
#include "runtime/agent/signal/mappings.h"

struct wi_mappings wi_mappings;

bool wi_mappings_find(uintptr_t address, struct wi_mapping *found)
{
    uint32_t generation = atomic_load_explicit(&wi_mappings.generation, memory_order_acquire);
    const struct wi_mapping *rows = wi_mappings.tables[generation % 2].rows;
    uint32_t low = 0, high = wi_mappings.tables[generation % 2].n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (address >= rows[middle].high)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= WI_MAX_MAPPINGS || low >= wi_mappings.tables[generation % 2].n || address < rows[low].low) {
        atomic_store_explicit(&wi_mappings.stale, true, memory_order_relaxed);
        return false;
    }
    *found = rows[low];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&wi_mappings.generation, memory_order_relaxed) - generation < 2;
}
