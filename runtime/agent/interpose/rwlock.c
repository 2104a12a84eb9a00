/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read-write locks: as mutexes, twice. A try that would block says EBUSY, also to the owner of the write lock; the real
 * call then gives its EDEADLK.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <errno.h>

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    wi_catch_up();
    int result = wi_real()->pthread_rwlock_tryrdlock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_rwlock_rdlock(lock);
    wi_wait_end(&wait, WI_BY_PEER, lock, NULL);
    return result;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    wi_catch_up();
    return wi_real()->pthread_rwlock_tryrdlock(lock);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
    wi_catch_up();
    int result = wi_real()->pthread_rwlock_tryrdlock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_rwlock_timedrdlock(lock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, lock, NULL);
    return result;
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline)
{
    wi_catch_up();
    int result = wi_real()->pthread_rwlock_tryrdlock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_rwlock_clockrdlock(lock, clock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, lock, NULL);
    return result;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    wi_catch_up();
    int result = wi_real()->pthread_rwlock_trywrlock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_rwlock_wrlock(lock);
    wi_wait_end(&wait, WI_BY_PEER, lock, NULL);
    return result;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    wi_catch_up();
    return wi_real()->pthread_rwlock_trywrlock(lock);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *deadline)
{
    wi_catch_up();
    int result = wi_real()->pthread_rwlock_trywrlock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_rwlock_timedwrlock(lock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, lock, NULL);
    return result;
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline)
{
    wi_catch_up();
    int result = wi_real()->pthread_rwlock_trywrlock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_rwlock_clockwrlock(lock, clock, deadline);
    wi_wait_end(&wait, result == ETIMEDOUT ? WI_BY_WORLD : WI_BY_PEER, lock, NULL);
    return result;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    wi_before_cheap_wake(lock);
    return wi_real()->pthread_rwlock_unlock(lock);
}
