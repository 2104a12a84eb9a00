/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two branches of 10 : 8, threads that are created and joined each round. The longer one sets the pace until it is
 * no longer the longer one; the shorter one is worth nothing.
 *
 *     T = max(a, b)          a = phase, b = 0.8 phase
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static void *branch_a(void *unused)
{
    work_a(subject.phase_ns);
    return unused;
}

static void *branch_b(void *unused)
{
    work_b(0.8 * subject.phase_ns);
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    while (subject_running()) {
        pthread_t a, b;
        pthread_create(&a, NULL, branch_a, NULL);
        pthread_create(&b, NULL, branch_b, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        SUBJECT_VISIT();
    }
    return subject_end();
}
