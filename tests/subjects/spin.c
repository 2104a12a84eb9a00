/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The contended lock again, as a pthread spinlock: who waits burns processor time in libc.
 *
 *     T = max(c, (c + o) / 2)          c = 0.6 phase inside, o = 0.4 phase outside; two threads
 */
#include "subject.h"

SUBJECT_WORK(work_inside)
SUBJECT_WORK(work_outside)

static pthread_spinlock_t lock;

static void *worker(void *unused)
{
    while (subject_running()) {
        pthread_spin_lock(&lock);
        work_inside(0.6 * subject.phase_ns);
        pthread_spin_unlock(&lock);
        work_outside(0.4 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_inside", 10);
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    subject_run_threads(2, worker, NULL);
    return subject_end();
}
