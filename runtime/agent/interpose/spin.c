/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spin locks of libc. Spinning is waiting: while it lasts the thread is marked so, and its samples do not settle.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <errno.h>

int pthread_spin_lock(pthread_spinlock_t *lock)
{
    wi_catch_up();
    int result = wi_real()->pthread_spin_trylock(lock);
    if (result != EBUSY)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->pthread_spin_lock(lock);
    wi_wait_end(&wait, WI_BY_PEER, (const void *)lock, NULL);
    return result;
}

int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    wi_catch_up();
    return wi_real()->pthread_spin_trylock(lock);
}

int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    wi_before_cheap_wake((const void *)lock);
    return wi_real()->pthread_spin_unlock(lock);
}
