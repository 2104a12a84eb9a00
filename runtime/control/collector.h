/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the rings to the profile: samples are taken out of the session, given names, counted for their units, and
 * written down.
 *
 * Taking them out is cheap and may happen at any time, so that no ring overflows. Naming them may read debug
 * information and happens between experiments only: the launcher is a guest on the target's processors.
 */
#ifndef WI_CONTROL_COLLECTOR_H
#define WI_CONTROL_COLLECTOR_H

#include "runtime/control/table.h"
#include "runtime/control/units.h"
#include "runtime/profile/writer.h"
#include "runtime/session/session.h"
#include "runtime/symbols/symbols.h"

struct wi_collector {
    struct wi_session *session;
    struct wi_symbols *symbols;
    struct wi_profile_writer *writer;
    struct wi_units *units;

    struct wi_sample *raw; /* taken out, not yet named */
    size_t n_raw;
    size_t raw_capacity;

    struct wi_table codes; /* (module, address) -> index into code */
    struct wi_code *code;
    size_t n_code;
    size_t code_capacity;
    struct wi_table stacks; /* (parent, code index and inline depth) -> stack id */
    uint32_t n_stacks;
    struct wi_table threads; /* (slot, generation) -> thread id */
    uint32_t n_threads;
    struct wi_table processes; /* session index -> known */
    struct wi_table sources;   /* hash of path -> source id */
    uint32_t n_sources;

    uint64_t samples;
    uint64_t samples_in_scope;
    uint64_t stacks_broken;
    uint64_t lost;                            /* no memory to keep them */
    uint64_t out_of_scope_ns[WI_MAX_MODULES]; /* time in modules of samples with no frame in scope */
    uint64_t unmapped_ns;                     /* ... in code of no module */
};

void wi_collector_init(struct wi_collector *collector, struct wi_session *session, struct wi_symbols *symbols,
                       struct wi_profile_writer *writer, struct wi_units *units);
void wi_collector_fini(struct wi_collector *collector);

/* Empty the rings. */
void wi_collector_take(struct wi_collector *collector);

/* Name, count and write what has been taken. */
void wi_collector_name(struct wi_collector *collector);

/* Samples dropped by full rings so far. */
uint64_t wi_collector_dropped(const struct wi_collector *collector);

/* Write the running totals. */
void wi_collector_write_tally(struct wi_collector *collector, uint64_t time_ns);

#endif
