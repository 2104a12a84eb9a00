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
/* Not a flag: a thread that is late in leaving one meeting must still come to the next. */
static _Atomic uint64_t last_round = UINT64_MAX;

static void *thread_b(void *unused)
{
    for (uint64_t round = 0; round <= last_round; round++) {
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
    for (uint64_t round = 0; round <= last_round; round++) {
        work_a(subject.phase_ns);
        if (!subject_running())
            last_round = round;
        pthread_barrier_wait(&round_end);
        SUBJECT_VISIT();
    }
    pthread_join(b, NULL);
    return subject_end();
}
