/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Barriers. Each arrival may be the one that wakes the others, so each settles and leaves word; the last word is the
 * last arrival's. The last one itself does not block, and catches up with nothing.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    wi_before_wake(barrier);
    struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
    int result = wi_real()->pthread_barrier_wait(barrier);
    wi_wait_end(&wait, WI_BY_PEER, barrier, NULL);
    return result;
}
