/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutexes. Taking one may wait for a peer, releasing one may wake a peer.
 *
 * The lock is tried first: only a call that blocks is a wait, and an uncontended pair must stay cheap. Before the
 * attempt the thread settles: in virtual time, one that owes is not here yet, and must not get in before a thread that
 * is. EBUSY of a try is also what an error-checking mutex says to its owner; the real call then gives its EDEADLK.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <errno.h>

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    wi_catch_up();
    int result = wi_real()->pthread_mutex_trylock(mutex);
    if (__builtin_expect(result != EBUSY, 1)) /* EOWNERDEAD has acquired it, too */
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_mutex_lock(mutex);
    wi_wait_end(&wait, WI_BY_PEER, mutex, NULL);
    return result;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    wi_catch_up();
    return wi_real()->pthread_mutex_trylock(mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
    wi_catch_up();
    int result = wi_real()->pthread_mutex_trylock(mutex);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_mutex_timedlock(mutex, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, mutex, NULL);
    return result;
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline)
{
    wi_catch_up();
    int result = wi_real()->pthread_mutex_trylock(mutex);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_mutex_clocklock(mutex, clock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, mutex, NULL);
    return result;
}

/* Whether somebody waits for it, as far as can be told: glibc's lock word of a plain mutex is 2 then. For other kinds
 * the answer costs or saves accuracy, never correctness. */
static bool has_waiters(const pthread_mutex_t *mutex)
{
    return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) == 2;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (has_waiters(mutex))
        wi_before_wake(mutex);
    else
        wi_before_cheap_wake(mutex);
    return wi_real()->pthread_mutex_unlock(mutex);
}
