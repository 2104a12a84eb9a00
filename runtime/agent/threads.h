/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads coming and going: a slot in the session, a sampling event, an end. Context: guest.
 */
#ifndef WI_AGENT_THREADS_H
#define WI_AGENT_THREADS_H

#include "runtime/agent/signal/account.h"

/* Where a new thread starts from: its creator's account (rule 6). */
struct wi_heritage {
    uint64_t local_delay;
    uint64_t experiment;
    bool shared_blocked;
};

/* Settle, then tell what a child of the calling thread would start from. */
struct wi_heritage wi_threads_bequeath(void);

/* The calling thread takes part from now on. `stack_high` is where its stack ends, `site` tells what it was started to
 * do. */
void wi_threads_enter(const struct wi_heritage *heritage, uintptr_t stack_high, uintptr_t site);

/* It ends: settle, leave word for its joiner, close its event, free its slot. */
void wi_threads_leave(void);

/* In a fork's child: the only thread, with the parent's slot left to the parent. */
void wi_threads_after_fork(void);

/* Once per process. */
void wi_threads_init(void);

#endif
