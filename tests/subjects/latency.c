/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latency in an open queue: bursts of three requests arrive by the clock, every phase; one server takes them in turn
 * and is idle before the next burst. The first request takes one service, the second two, the third three.
 *
 *     latency = 2 (a + b)    a = 0.15 phase, b = 0.1 phase for each request
 *     T = phase              visits follow the clock
 */
#include "subject.h"

#include <semaphore.h>

enum { BURST = 3 };

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static sem_t requests;
static uint64_t arrived_ns; /* of the burst that is being served */
static uint64_t latencies_ns;
static atomic_bool go_on = true;

static void sleep_until(uint64_t then_ns)
{
    struct timespec then = {(time_t)(then_ns / 1000000000u), (long)(then_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
        continue;
}

static void *server(void *unused)
{
    for (sem_wait(&requests); go_on; sem_wait(&requests)) {
        work_a(0.15 * subject.phase_ns);
        work_b(0.1 * subject.phase_ns);
        SUBJECT_DEPART();
        latencies_ns += subject_now_ns() - arrived_ns;
        SUBJECT_VISIT();
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 20);
    sem_init(&requests, 0, 0);
    pthread_t serving;
    pthread_create(&serving, NULL, server, NULL);
    for (uint64_t burst = 1; subject_running(); burst++) {
        sleep_until(subject.start_ns + (uint64_t)((double)burst * subject.phase_ns));
        arrived_ns = subject_now_ns();
        for (int i = 0; i < BURST; i++) {
            SUBJECT_ARRIVE();
            sem_post(&requests);
        }
    }
    sleep_until(subject_now_ns() + (uint64_t)subject.phase_ns);
    go_on = false;
    sem_post(&requests);
    pthread_join(serving, NULL);
    return subject_end_latency(latencies_ns);
}
