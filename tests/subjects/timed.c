/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The timed and clock variants, with time limits that are never reached: a lock and a turn handed over by
 * pthread_mutex_clocklock, pthread_cond_clockwait and pthread_cond_timedwait.
 *
 *     T = a + b + 2 h        a = 0.6 phase, b = 0.4 phase; h = what a hand-off takes
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn; /* 0: a's, 1: b's, 2: the end */

static struct timespec in_a_minute(clockid_t clock)
{
    struct timespec limit;
    clock_gettime(clock, &limit);
    limit.tv_sec += 60;
    return limit;
}

static void lock_in_time(void)
{
    struct timespec limit = in_a_minute(CLOCK_MONOTONIC);
    pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &limit);
}

static void wait_in_time(void)
{
    struct timespec by_monotonic = in_a_minute(CLOCK_MONOTONIC), by_realtime = in_a_minute(CLOCK_REALTIME);
    if (turn == 1)
        pthread_cond_clockwait(&turn_changed, &lock, CLOCK_MONOTONIC, &by_monotonic);
    else
        pthread_cond_timedwait(&turn_changed, &lock, &by_realtime);
}

static void await_turn(int mine)
{
    lock_in_time();
    while (turn != mine && turn != 2)
        wait_in_time();
    pthread_mutex_unlock(&lock);
}

static void pass_turn(int to)
{
    lock_in_time();
    turn = to;
    pthread_cond_broadcast(&turn_changed);
    pthread_mutex_unlock(&lock);
}

static void *thread_b(void *unused)
{
    for (await_turn(1); turn != 2; await_turn(1)) {
        work_b(0.4 * subject.phase_ns);
        pass_turn(0);
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    pthread_t b;
    pthread_create(&b, NULL, thread_b, NULL);
    while (subject_running()) {
        work_a(0.6 * subject.phase_ns);
        pass_turn(1);
        await_turn(0);
        SUBJECT_VISIT();
    }
    pass_turn(2);
    pthread_join(b, NULL);
    return subject_end();
}
