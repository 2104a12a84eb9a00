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

/*
 * The time that the calling thread has been running or ready to run, its pauses and known waits left out.
 *
 * A thread inside the selected code that is kept off the processor by others spends that time inside, too: were the
 * code faster, it would need the processor less and wait for it less. CPU time alone would miss that on a busy machine.
 * Since the kernel does not tell an unprivileged thread cheaply how long it was ready, wall time stands for it as long
 * as the thread has not blocked of itself (no voluntary context switch), and CPU time where it has.
 *
 * Rebase after every pause and known wait: what passed meanwhile does not count. Both return the clock's time.
 */
uint64_t wi_run_clock_advance(struct wi_account *account);
uint64_t wi_run_clock_rebase(struct wi_account *account);

/* Settle when all signals are blocked already. Context: signal. */
void wi_pause_in_handler(struct wi_account *account, uint64_t in_force);

/* Settle from an interposed call. Signals of the program wait until the pause is over: for it, this thread did not
 * exist meanwhile. Does nothing in a vfork child, which shares its parent's account. Keeps errno. Context: guest. */
void wi_pause_in_guest(struct wi_account *account, uint64_t in_force);

#endif
