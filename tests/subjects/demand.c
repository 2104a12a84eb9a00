/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limited by demand: a piece of work arrives by the clock, every phase, and is done long before the next one.
 * Nothing gains visits; a profiler should say that it is the arrivals that set the pace.
 *
 *     T = phase              a = 0.5 phase of work each
 */
#include "subject.h"

SUBJECT_WORK(work_a)

static void sleep_until(uint64_t then_ns)
{
    struct timespec then = {(time_t)(then_ns / 1000000000u), (long)(then_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
        continue;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    for (uint64_t arrival = 1; subject_running(); arrival++) {
        sleep_until(subject.start_ns + (uint64_t)((double)arrival * subject.phase_ns));
        work_a(0.5 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    return subject_end();
}
