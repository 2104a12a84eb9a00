/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock that the ledger runs on, and settling from either context. See pause.c.
 */
#ifndef WI_AGENT_PAUSE_H
#define WI_AGENT_PAUSE_H

#include "runtime/agent/signal/account.h"
#include "runtime/agent/signal/ledger.h"

extern const struct wi_time wi_kernel_time;

uint64_t wi_now_ns(void);        /* CLOCK_MONOTONIC */
uint64_t wi_thread_cpu_ns(void); /* of the calling thread; a system call */

/* Settle when all signals are blocked already. Context: signal. */
void wi_pause_in_handler(struct wi_account *account, uint64_t in_force);

/* Settle from an interposed call. Signals of the program wait until the pause is over: for it, this thread did not
 * exist meanwhile. Does nothing in a vfork child, which shares its parent's account. Keeps errno. Context: guest. */
void wi_pause_in_guest(struct wi_account *account, uint64_t in_force);

#endif
