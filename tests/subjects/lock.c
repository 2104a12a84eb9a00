/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * N threads, each 60 % of its time in a critical section: the lock is the bottleneck until the section is short
 * enough for the threads to miss each other.
 *
 *     T = max(c, (c + o) / N)          c = 0.6 phase inside, o = 0.4 phase outside; per visit
 *
 * Outside the lock nothing is worth anything. N beyond the number of processors is not covered by the formula.
 */
#include "subject.h"

SUBJECT_WORK(work_inside)
SUBJECT_WORK(work_outside)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused)
{
    while (subject_running()) {
        pthread_mutex_lock(&lock);
        work_inside(0.6 * subject.phase_ns);
        pthread_mutex_unlock(&lock);
        work_outside(0.4 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_inside", 10);
    subject_run_threads(subject.n_threads, worker, NULL);
    return subject_end();
}
