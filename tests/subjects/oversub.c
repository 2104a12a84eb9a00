/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More threads than processors, none of which waits for another: four (--threads) on whatever there is, each on its
 * own work. Processor time is the bottleneck, so the gain is the function's share of it.
 *
 *     T = (a + b) / processors         a = b = 0.5 phase
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static void *worker(void *unused)
{
    while (subject_running()) {
        work_a(0.5 * subject.phase_ns);
        work_b(0.5 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject.n_threads = 4;
    subject_begin(argc, argv, "work_a", 10);
    subject_run_threads(subject.n_threads, worker, NULL);
    return subject_end();
}
