/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nothing but locks: N threads, each taking a lock of its own for a microsecond, and one time in sixteen a lock that
 * all share. What interposed calls cost shows here at its worst. A visit is a thousand turns, a phase of work.
 *
 *     T = (phase + 1000 locks and unlocks) / N        but for waiting at the shared lock
 */
#include "subject.h"

enum { TURNS = 1000, SHARED_EVERY = 16 };

SUBJECT_WORK(work_inside)

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;

static void turn(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    work_inside(subject.phase_ns / TURNS);
    pthread_mutex_unlock(lock);
}

static void *worker(void *unused)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    while (subject_running()) {
        for (int i = 0; i < TURNS; i++)
            turn(i % SHARED_EVERY == 0 ? &shared : &own);
        SUBJECT_VISIT();
    }
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_inside", 1);
    subject_run_threads(subject.n_threads, worker, NULL);
    return subject_end();
}
