/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One signal, two owners.
 *
 * The sampler needs a signal (SIGTRAP, or SIGPROF for the other samplers) that the program may want, too. The program
 * sees its own state of it and never ours: its handler and its mask are kept here, its requests are answered from
 * here, and a signal that is not from our events is passed on as the kernel would have done. Ours is never really
 * blocked, and none of the program's handlers blocks it.
 *
 * Context: guest, but for the handler itself.
 */
#ifndef WI_AGENT_DISPOSITION_H
#define WI_AGENT_DISPOSITION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The signal that we share, 0 if none (not profiled). */
extern int wi_shared_signal;

/* Take the signal over, once per process. The program's action so far is what it will see. */
int wi_disposition_take(int signal);

/* Let the shared signal through to the calling thread. Returns whether it was blocked. */
bool wi_disposition_unblock_ours(void);

/* `set` without the shared signal: a copy if that makes a difference. NULL stays NULL. */
static inline const sigset_t *wi_disposition_without_ours(const sigset_t *set, sigset_t *copy)
{
    if (!set || !wi_shared_signal || sigismember(set, wi_shared_signal) != 1)
        return set;
    *copy = *set;
    sigdelset(copy, wi_shared_signal);
    return copy;
}

/* sigaction on the shared signal, as the program should see it. */
int wi_disposition_action(const struct sigaction *action, struct sigaction *old);

/* The program's own arrived while it had the signal blocked: deliver it now that it has not. */
void wi_disposition_deliver_pending(void);

/* The thread is at `sp`: if it has jumped out of its handler of the shared signal, it believes again what it believed
 * before. */
void wi_disposition_notice_jump(uintptr_t sp);

/* Whether one is pending for the calling thread; takes it. For the sigwait family. */
bool wi_disposition_accept_pending(siginfo_t *info);

#endif
