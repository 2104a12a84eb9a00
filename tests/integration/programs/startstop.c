/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops experiments at once, allows them for 1.5 s, stops them again; tells when, in seconds from its start.
 */
#include "burn.h"
#include "whatif.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void work(void)
{
    burn_ms(2);
}

static void work_for(double length)
{
    for (double end = seconds() + length; seconds() < end;) {
        work();
        WHATIF_PROGRESS_NAMED("rounds");
    }
}

int main(void)
{
    double begin = seconds();
    whatif_stop();
    work_for(1);
    double start = seconds();
    whatif_start();
    work_for(1.5);
    double stop = seconds();
    whatif_stop();
    work_for(1);
    printf("start=%.3f stop=%.3f\n", start - begin, stop - begin);
    return 0;
}
