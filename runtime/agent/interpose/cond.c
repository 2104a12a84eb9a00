/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Condition variables. A wait releases its mutex, which may wake a peer, and is ended by a signal and then by whoever
 * releases the mutex; word of what the waker had served may lie at either, and the later one holds. A timeout is the
 * world's doing.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <errno.h>

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    wi_before_wake(mutex);
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_cond_wait(condition, mutex);
    wi_wait_end(&wait, WI_BY_PEER, condition, mutex);
    return result;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline)
{
    wi_before_wake(mutex);
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_cond_timedwait(condition, mutex, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, condition, mutex);
    return result;
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *deadline)
{
    wi_before_wake(mutex);
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_cond_clockwait(condition, mutex, clock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, condition, mutex);
    return result;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    wi_before_wake(condition);
    return wi_real()->pthread_cond_signal(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    wi_before_wake(condition);
    return wi_real()->pthread_cond_broadcast(condition);
}
