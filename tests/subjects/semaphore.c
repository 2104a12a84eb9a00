/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A producer and a consumer with four slots between them, counted by two semaphores. The slower one sets the pace.
 *
 *     T = max(p, c)          p = 0.7 phase, c = phase
 */
#include "subject.h"

#include <semaphore.h>

enum { SLOTS = 4 };

SUBJECT_WORK(work_produce)
SUBJECT_WORK(work_consume)

static sem_t free_slots, full_slots;
static atomic_bool go_on = true;

static void *producer(void *unused)
{
    while (go_on) {
        work_produce(0.7 * subject.phase_ns);
        sem_wait(&free_slots);
        sem_post(&full_slots);
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_consume", 10);
    sem_init(&free_slots, 0, SLOTS);
    sem_init(&full_slots, 0, 0);
    pthread_t other;
    pthread_create(&other, NULL, producer, NULL);
    while (subject_running()) {
        sem_wait(&full_slots);
        work_consume(subject.phase_ns);
        SUBJECT_VISIT();
        sem_post(&free_slots);
    }
    go_on = false;
    sem_post(&free_slots);
    pthread_join(other, NULL);
    return subject_end();
}
