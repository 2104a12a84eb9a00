/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads: created with their creator's delays, joined by catching up with them.
 *
 * A new thread starts in a wrapper. What the wrapper needs is handed over in a fixed table of this process, so that
 * nothing is allocated; when the table is full the thread runs unsampled, and is counted. A thread's end is seen by its
 * thread-specific destructor (threads.c), whichever way it ends.
 */
#include "runtime/agent/agent.h"
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include "runtime/agent/threads.h"
#include <errno.h>

#define HANDOVERS 4096 /* threads created and not yet running */

static struct handover {
    _Atomic int taken;
    void *(*start)(void *);
    thrd_start_t start_c11;
    void *argument;
    struct wi_heritage heritage;
} handovers[HANDOVERS];

static struct handover *take_handover(void)
{
    static _Atomic uint32_t next;
    if (!wi_session)
        return NULL;
    for (uint32_t tries = 0; tries < HANDOVERS; tries++) {
        struct handover *handover = &handovers[atomic_fetch_add(&next, 1) % HANDOVERS];
        int unused = 0;
        if (atomic_compare_exchange_strong(&handover->taken, &unused, 1)) {
            handover->heritage = wi_threads_bequeath();
            return handover;
        }
    }
    atomic_fetch_add(&wi_session->overflow.threads, 1);
    return NULL;
}

static struct handover receive(struct handover *handover)
{
    struct handover copy = *handover;
    atomic_store_explicit(&handover->taken, 0, memory_order_release);
    return copy;
}

/* Frames above the wrapper's are libc's; a few words beyond it are always readable. */
static uintptr_t end_of_stack(void)
{
    return (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *);
}

__attribute__((noinline)) static void *run_thread(void *argument)
{
    struct handover handover = receive(argument);
    wi_threads_enter(&handover.heritage, end_of_stack(), (uintptr_t)handover.start);
    return handover.start(handover.argument);
}

__attribute__((noinline)) static int run_thread_c11(void *argument)
{
    struct handover handover = receive(argument);
    wi_threads_enter(&handover.heritage, end_of_stack(), (uintptr_t)handover.start_c11);
    return handover.start_c11(handover.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    wi_agent_start(); /* a library's constructor may be earlier than ours */
    struct handover *handover = take_handover();
    if (!handover)
        return wi_real()->pthread_create(thread, attributes, start, argument);
    handover->start = start;
    handover->argument = argument;
    int result = wi_real()->pthread_create(thread, attributes, run_thread, handover);
    if (result != 0)
        atomic_store(&handover->taken, 0);
    return result;
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    wi_agent_start();
    struct handover *handover = take_handover();
    if (!handover)
        return wi_real()->thrd_create(thread, start, argument);
    handover->start_c11 = start;
    handover->argument = argument;
    int result = wi_real()->thrd_create(thread, run_thread_c11, handover);
    if (result != thrd_success)
        atomic_store(&handover->taken, 0);
    return result;
}

int pthread_join(pthread_t thread, void **value)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_join(thread, value);
    wi_wait_end(&wait, WI_BY_PEER, (const void *)thread, NULL);
    return result;
}

int pthread_tryjoin_np(pthread_t thread, void **value)
{
    wi_catch_up();
    return wi_real()->pthread_tryjoin_np(thread, value);
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *deadline)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_timedjoin_np(thread, value, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, (const void *)thread, NULL);
    return result;
}

int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *deadline)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_clockjoin_np(thread, value, clock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, (const void *)thread, NULL);
    return result;
}

int thrd_join(thrd_t thread, int *value)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->thrd_join(thread, value);
    wi_wait_end(&wait, WI_BY_PEER, (const void *)thread, NULL);
    return result;
}

/* What may wake another thread, or end it: settle first. The destructor does the rest of an exit. */

__attribute__((noreturn)) void pthread_exit(void *value)
{
    wi_catch_up();
    wi_real()->pthread_exit(value);
    __builtin_unreachable();
}

__attribute__((noreturn)) void thrd_exit(int value)
{
    wi_catch_up();
    wi_real()->thrd_exit(value);
    __builtin_unreachable();
}

int pthread_detach(pthread_t thread)
{
    wi_catch_up();
    return wi_real()->pthread_detach(thread);
}

int thrd_detach(thrd_t thread)
{
    wi_catch_up();
    return wi_real()->thrd_detach(thread);
}

int pthread_cancel(pthread_t thread)
{
    wi_before_wake((const void *)thread);
    return wi_real()->pthread_cancel(thread);
}

int pthread_kill(pthread_t thread, int signal)
{
    wi_catch_up();
    return wi_real()->pthread_kill(thread, signal);
}

int pthread_sigqueue(pthread_t thread, int signal, const union sigval value)
{
    wi_catch_up();
    return wi_real()->pthread_sigqueue(thread, signal, value);
}
