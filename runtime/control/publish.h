/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishing to the agents: what code is in scope, how to walk stacks, which code is selected.
 *
 * Tables go into the session's arena, which only grows: a published table is never changed, a newer one takes its place
 * in the module's entry. Context: launcher, between experiments.
 */
#ifndef WI_CONTROL_PUBLISH_H
#define WI_CONTROL_PUBLISH_H

#include "runtime/session/session.h"
#include "runtime/symbols/symbols.h"

struct wi_publisher {
    struct wi_session *session;
    int fd;
    uint64_t used;      /* of the arena */
    uint64_t allocated; /* of the file, from its start */
    uint32_t next_set;
    uint64_t truncated_sets; /* units with more ranges than a set holds */
    uint64_t too_large;      /* tables that found no room */
};

void wi_publisher_init(struct wi_publisher *publisher, struct wi_session *session, int fd);

/* Copy a block into the arena and set `*where` (a field of the session) to it. 0 or -errno. */
int wi_publish_block(struct wi_publisher *publisher, const void *block, size_t bytes,
                     _Atomic uint64_t *where);

/* The scope of all modules, as wi_symbols_scope_ranges tells it. 0 or -errno. */
int wi_publish_scope(struct wi_publisher *publisher, const struct wi_range_list *scope);

/* The unwind table of one module, compiled from the file at `open_path`. 0 or -errno. */
int wi_publish_unwind_table(struct wi_publisher *publisher, uint32_t module, const char *open_path);

/* Fill the next range set with the code of unit `id` (and what is given, or NULL). Returns its index, or -errno. */
int wi_publish_unit(struct wi_publisher *publisher, uint32_t id, const struct wi_unit_ranges *unit,
                    const struct wi_unit_ranges *given);

#endif
