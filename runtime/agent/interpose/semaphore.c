/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX semaphores. A post may wake; a wait is tried first. EINTR and a timeout are the world's doing.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <errno.h>

static enum wi_wait_source who_ended_it(int result)
{
    return result == 0 ? WI_BY_PEER : WI_BY_WORLD;
}

/* Whether the wait is over without blocking. A failed try must not show in errno. */
static bool taken_at_once(sem_t *semaphore)
{
    int saved = errno;
    wi_catch_up();
    if (wi_real()->sem_trywait(semaphore) == 0)
        return true;
    errno = saved;
    return false;
}

int sem_wait(sem_t *semaphore)
{
    if (taken_at_once(semaphore))
        return 0;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->sem_wait(semaphore);
    wi_wait_end(&wait, who_ended_it(result), semaphore, NULL);
    return result;
}

int sem_trywait(sem_t *semaphore)
{
    wi_catch_up();
    return wi_real()->sem_trywait(semaphore);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *deadline)
{
    if (taken_at_once(semaphore))
        return 0;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->sem_timedwait(semaphore, deadline);
    wi_wait_end(&wait, who_ended_it(result), semaphore, NULL);
    return result;
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *deadline)
{
    if (taken_at_once(semaphore))
        return 0;
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->sem_clockwait(semaphore, clock, deadline);
    wi_wait_end(&wait, who_ended_it(result), semaphore, NULL);
    return result;
}

int sem_post(sem_t *semaphore)
{
    wi_before_wake(semaphore);
    return wi_real()->sem_post(semaphore);
}
