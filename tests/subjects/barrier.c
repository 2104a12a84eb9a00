/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads of 10 : 8 that stay and meet at a barrier each round.
 *
 *     T = max(a, b)          a = phase, b = 0.8 phase
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static pthread_barrier_t round_end;
static atomic_bool go_on = true;

static void *thread_b(void *unused)
{
    while (go_on) {
        work_b(0.8 * subject.phase_ns);
        pthread_barrier_wait(&round_end);
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    pthread_barrier_init(&round_end, NULL, 2);
    pthread_t b;
    pthread_create(&b, NULL, thread_b, NULL);
    while (go_on) {
        work_a(subject.phase_ns);
        go_on = subject_running(); /* decided before the meeting: both threads leave after the same one */
        pthread_barrier_wait(&round_end);
        SUBJECT_VISIT();
    }
    pthread_join(b, NULL);
    return subject_end();
}
