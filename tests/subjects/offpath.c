/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hot and worthless: one thread does what counts, another one burns as much processor time for nobody. A profiler
 * of time calls both equally important.
 *
 *     T = a                  a = phase; whatever work_b does
 */
#include "subject.h"

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static void *burn(void *unused)
{
    while (subject_running())
        work_b(subject.phase_ns);
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    pthread_t burner;
    pthread_create(&burner, NULL, burn, NULL);
    while (subject_running()) {
        work_a(subject.phase_ns);
        SUBJECT_VISIT();
    }
    pthread_join(burner, NULL);
    return subject_end();
}
