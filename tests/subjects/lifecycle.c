/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rarer ways in which threads begin, meet and end. Each round a detached child and the main thread both ask for
 * the same pthread_once: one of them does it, the other waits. Then the child works, while the main thread cancels a
 * third thread that was waiting, joins it, and waits for the child.
 *
 *     T = init + child       init = 0.3 phase, child = 0.7 phase
 */
#include "subject.h"

#include <semaphore.h>

SUBJECT_WORK(work_init)
SUBJECT_WORK(work_child)

static pthread_once_t once;
static sem_t child_is_done, never;
static int n_cleaned_up;

static void init(void)
{
    work_init(0.3 * subject.phase_ns);
}

static void *child(void *unused)
{
    pthread_once(&once, init);
    work_child(0.7 * subject.phase_ns);
    sem_post(&child_is_done);
    return unused;
}

static void clean_up(void *unused)
{
    (void)unused;
    n_cleaned_up++;
}

static void *wait_to_be_cancelled(void *unused)
{
    pthread_cleanup_push(clean_up, NULL);
    while (sem_wait(&never) != 0)
        continue;
    pthread_cleanup_pop(0);
    return unused;
}

static void one_round(const pthread_attr_t *detached)
{
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
    pthread_t quick, waiting;
    void *result;
    pthread_create(&waiting, NULL, wait_to_be_cancelled, NULL);
    pthread_create(&quick, detached, child, NULL);
    pthread_once(&once, init);
    pthread_cancel(waiting);
    pthread_join(waiting, &result);
    if (result != PTHREAD_CANCELED)
        subject_fail("not cancelled", "waiting thread");
    while (sem_wait(&child_is_done) != 0)
        continue;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_child", 10);
    sem_init(&child_is_done, 0, 0);
    sem_init(&never, 0, 0);
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (subject_running()) {
        one_round(&detached);
        SUBJECT_VISIT();
    }
    if ((uint64_t)n_cleaned_up > subject.visits)
        subject_fail("cleaned up too often", "waiting thread");
    return subject_end();
}
