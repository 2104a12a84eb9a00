/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which module an address of this process lies in.
 *
 * The process keeps its executable mappings sorted, in one of two tables; loading or unloading a library fills the
 * other one and then switches. A reader takes the current table's generation before and after: while a table that it
 * reads is being refilled (two changes during one lookup), it finds out and gives up, which is counted.
 *
 * Writers: guest context, one at a time (modules.c). Readers: signal context.
 */
#ifndef WI_AGENT_MAPPINGS_H
#define WI_AGENT_MAPPINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WI_MAX_MAPPINGS 2048

struct wi_mapping {
    uintptr_t low;
    uintptr_t high;
    uintptr_t bias; /* address = module's virtual address + bias */
    uint32_t module;
};

struct wi_mappings {
    _Atomic uint32_t generation; /* table = generation % 2 */
    _Atomic bool stale;          /* an address was looked for in vain */
    struct {
        uint32_t n;
        struct wi_mapping rows[WI_MAX_MAPPINGS];
    } tables[2];
};

extern struct wi_mappings wi_mappings;

/* False if the address is in no known module; marks the table stale. Context: signal. */
bool wi_mappings_find(uintptr_t address, struct wi_mapping *found);

#endif
