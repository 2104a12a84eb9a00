/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * simple [SECONDS [STATUS]]: visits a progress point every 2 ms of work, counts SIGINT and SIGTERM (the third ends it),
 * tells what it saw, and exits with STATUS. A negative STATUS is a signal that it dies of.
 */
#include "burn.h"
#include "whatif.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t interrupts, terminations, hangups;

static void count(int signal)
{
    if (signal == SIGINT)
        interrupts++;
    else if (signal == SIGHUP)
        hangups++;
    else
        terminations++;
}

__attribute__((noinline)) static void work(void)
{
    burn_ms(2);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int status = argc > 2 ? atoi(argv[2]) : 0;
    struct timespec start, now;
    signal(SIGINT, count);
    signal(SIGTERM, count);
    signal(SIGHUP, count);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        work();
        WHATIF_PROGRESS_NAMED("rounds");
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < seconds &&
             interrupts + terminations < 3);
    printf("INT %d TERM %d HUP %d\n", (int)interrupts, (int)terminations, (int)hangups);
    fflush(stdout);
    if (status < 0) {
        signal(-status, SIG_DFL);
        raise(-status);
    }
    return status;
}
