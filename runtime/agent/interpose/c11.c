/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C11 mutexes and condition variables, which do not go through pthread_* in libc. The rules are those of mutex.c and
 * cond.c; a try that would block says thrd_busy.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"

int mtx_lock(mtx_t *mutex)
{
    wi_catch_up();
    int result = wi_real()->mtx_trylock(mutex);
    if (result != thrd_busy)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->mtx_lock(mutex);
    wi_wait_end(&wait, WI_BY_PEER, mutex, NULL);
    return result;
}

int mtx_trylock(mtx_t *mutex)
{
    wi_catch_up();
    return wi_real()->mtx_trylock(mutex);
}

int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
    wi_catch_up();
    int result = wi_real()->mtx_trylock(mutex);
    if (result != thrd_busy)
        return result;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    result = wi_real()->mtx_timedlock(mutex, deadline);
    wi_wait_end(&wait, result == thrd_timedout ? WI_BY_WORLD : WI_BY_PEER, mutex, NULL);
    return result;
}

int mtx_unlock(mtx_t *mutex)
{
    wi_before_cheap_wake(mutex);
    return wi_real()->mtx_unlock(mutex);
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    wi_before_wake(mutex);
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->cnd_wait(condition, mutex);
    wi_wait_end(&wait, WI_BY_PEER, condition, mutex);
    return result;
}

int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex, const struct timespec *restrict deadline)
{
    wi_before_wake(mutex);
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->cnd_timedwait(condition, mutex, deadline);
    wi_wait_end(&wait, result == thrd_timedout ? WI_BY_WORLD : WI_BY_PEER, condition, mutex);
    return result;
}

int cnd_signal(cnd_t *condition)
{
    wi_before_wake(condition);
    return wi_real()->cnd_signal(condition);
}

int cnd_broadcast(cnd_t *condition)
{
    wi_before_wake(condition);
    return wi_real()->cnd_broadcast(condition);
}
