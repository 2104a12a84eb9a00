/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work and a sleep: a wait that the world ends, not a peer, and that keeps its length whatever else is faster. A
 * second thread does the same beside it and must not disturb.
 *
 *     T = a + sleep          a = 0.6 phase, sleep = 0.4 phase
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static void sleep_ns(double ns)
{
    struct timespec left = {(time_t)(ns / 1e9), (long)(ns - 1e9 * (double)(time_t)(ns / 1e9))};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static void *beside(void *unused)
{
    while (subject_running()) {
        work_b(0.6 * subject.phase_ns);
        sleep_ns(0.4 * subject.phase_ns);
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    pthread_t other;
    pthread_create(&other, NULL, beside, NULL);
    while (subject_running()) {
        work_a(0.6 * subject.phase_ns);
        sleep_ns(0.4 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    pthread_join(other, NULL);
    return subject_end();
}
