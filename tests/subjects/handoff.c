/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads that hand a turn to each other with a condition variable: only one of them runs at a time.
 *
 *     T = a + b + 2 h        a = 0.6 phase, b = 0.4 phase; h = what a hand-off takes
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn; /* 0: a's, 1: b's, 2: the end */

static void await_turn(int mine)
{
    pthread_mutex_lock(&lock);
    while (turn != mine && turn != 2)
        pthread_cond_wait(&turn_changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void pass_turn(int to)
{
    pthread_mutex_lock(&lock);
    turn = to;
    pthread_cond_signal(&turn_changed);
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
