/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pthread_once and call_once: whoever comes while another thread runs the routine waits for that thread.
 *
 * Whether a call waited or ran the routine itself is told by running it through a trampoline of ours. Routines may nest;
 * the routine to run is handed over in thread-local memory and taken at once.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"

static _Thread_local void (*routine_to_run)(void) __attribute__((tls_model("initial-exec")));
static _Thread_local struct wi_wait *wait_of_runner __attribute__((tls_model("initial-exec")));

/* This thread does not wait: it works. Whoever waits for it is woken when it returns. */
static void run_routine(void)
{
    void (*routine)(void) = routine_to_run;
    struct wi_wait *wait = wait_of_runner;
    *wait = (struct wi_wait){0, 0, 0};
    if (wi_self.slot)
        atomic_store_explicit(&wi_self.slot->state, WI_THREAD_RUNNING, memory_order_relaxed);
    routine();
    wi_catch_up();
}

int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    routine_to_run = routine;
    wait_of_runner = &wait;
    int result = wi_real()->pthread_once(control, run_routine);
    wi_wait_end(&wait, WI_BY_PEER, NULL, NULL);
    return result;
}

void call_once(once_flag *flag, void (*routine)(void))
{
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    routine_to_run = routine;
    wait_of_runner = &wait;
    wi_real()->call_once(flag, run_routine);
    wi_wait_end(&wait, WI_BY_PEER, NULL, NULL);
}
