/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeps end by the clock of the world: what falls due meanwhile is settled on return, so that a sleep keeps its length
 * in virtual time (rule 4).
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <unistd.h>

int nanosleep(const struct timespec *length, struct timespec *left)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->nanosleep(length, left);
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    return result;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *length, struct timespec *left)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->clock_nanosleep(clock, flags, length, left);
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    return result;
}

int usleep(useconds_t length)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->usleep(length);
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    return result;
}

unsigned sleep(unsigned length)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    unsigned left = wi_real()->sleep(length);
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    return left;
}

int thrd_sleep(const struct timespec *length, struct timespec *left)
{
    wi_catch_up();
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->thrd_sleep(length, left);
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    return result;
}
