/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampling event of a thread: something that interrupts it once per period of its own CPU time.
 *
 *   sigtrap   perf's task clock with a synchronous SIGTRAP: arrives at the sampled instruction, needs no ring
 *   ring      the same event through a ring and SIGPROF: older kernels, and under a debugger, which wants SIGTRAP
 *   timer     a POSIX timer on the thread's CPU clock, SIGPROF: where perf is refused; as fine as the kernel's tick
 *
 * Perf events live on in one mapped page after their descriptor is closed, so that programs which close or run out of
 * descriptors are safe. A thread's first period is random (else a thread that lives 0.9 periods would never be seen,
 * and one of 5.5 always five times); its first sample replaces that event by the regular one. Each thread's regular
 * period is its own, within a tenth of the session's, so that no program runs in step with all of them.
 *
 * Context: guest for open at a thread's start and close at its end; signal for the replacement.
 */
#ifndef WI_AGENT_EVENT_H
#define WI_AGENT_EVENT_H

#include "runtime/agent/signal/account.h"
#include <signal.h>

#define WI_SIGNAL_TRAP SIGTRAP
#define WI_SIGNAL_PROF SIGPROF

/* Choose the sampler that works in this process, `wanted` or the best. *refused is the errno of the first one that
 * did not work, 0 if none. Opens and closes an event. */
enum wi_sampler wi_event_choose(enum wi_sampler wanted, int *refused);

/* Start sampling the calling thread with a random first period; everything its handler needs must be ready.
 * False if the kernel refuses. */
bool wi_event_open(struct wi_account *account, enum wi_sampler sampler, uint64_t period_ns);

/* At the first sample: go over to the regular period. */
void wi_event_regularise(struct wi_account *account, uint64_t period_ns);

/* Whether the event is whole. The kernel may sample a thread while it is still opening its event. */
static inline bool wi_event_is_ready(const struct wi_account *account)
{
    return account->sampler != WI_SAMPLER_NONE;
}

void wi_event_close(struct wi_account *account);

/* After fork, in the child: the parent's event is not ours. */
void wi_event_forget(struct wi_account *account);

/* Number of samples that this signal stands for, at least 1: the ring holds those that came while it was blocked. */
uint32_t wi_event_drain(struct wi_account *account);

/* Whether a signal came from the calling thread's event. */
bool wi_event_is_ours(const struct wi_account *account, int signal, const siginfo_t *info);
/* Whether it was delivered later than its instruction (the signal was blocked). */
bool wi_event_is_late(const siginfo_t *info);

/* A number that is different each time, for phases. */
uint64_t wi_event_random(void);

#endif
