/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads that hand a turn to each other by spinning on a flag of their own: no call that a profiler could see.
 *
 *     T = a + b              a = 0.6 phase, b = 0.4 phase
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static atomic_int turn; /* 0: a's, 1: b's, 2: the end */

SUBJECT_OWN_FUNCTION static void spin_until(int mine)
{
    int now;
    while ((now = atomic_load(&turn)) != mine && now != 2)
        __builtin_ia32_pause();
}

static void *thread_b(void *unused)
{
    for (spin_until(1); turn != 2; spin_until(1)) {
        work_b(0.4 * subject.phase_ns);
        turn = 0;
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
        turn = 1;
        spin_until(0);
        SUBJECT_VISIT();
    }
    turn = 2;
    pthread_join(b, NULL);
    return subject_end();
}
