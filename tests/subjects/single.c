/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread, two functions: the gain is the function's share of the time.
 *
 *     T = a + b              a = 0.6 phase, b = 0.4 phase
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    while (subject_running()) {
        work_a(0.6 * subject.phase_ns);
        work_b(0.4 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    return subject_end();
}
