/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A writer and two readers. Each round the writer already holds the lock when the readers ask for it; when it lets
 * go, both read side by side.
 *
 *     T = write + read       write = 0.4 phase, read = 0.6 phase
 *
 * The readers are bound to a processor each: both are woken by the same call, and a scheduler that puts both onto
 * one processor and parts them some milliseconds later would add a time that no formula knows.
 */
#include "subject.h"

#include <sched.h>

SUBJECT_WORK(work_write)
SUBJECT_WORK(work_read)

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t round_begin, round_end;
static bool go_on = true; /* written between the barriers of a round's end and the next one's beginning */

/* To the n-th processor, counted around, of those that this process may use. */
static void bind_to_processor(int n)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    n %= CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || n-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void *reader(void *unused)
{
    static atomic_int n_readers;
    bind_to_processor(n_readers++);
    for (pthread_barrier_wait(&round_begin); go_on; pthread_barrier_wait(&round_begin)) {
        pthread_rwlock_rdlock(&lock);
        work_read(0.6 * subject.phase_ns);
        pthread_rwlock_unlock(&lock);
        pthread_barrier_wait(&round_end);
    }
    return unused;
}

static void *writer(void *unused)
{
    for (;;) {
        pthread_rwlock_wrlock(&lock);
        go_on = subject_running();
        pthread_barrier_wait(&round_begin);
        if (go_on)
            work_write(0.4 * subject.phase_ns);
        pthread_rwlock_unlock(&lock);
        if (!go_on)
            return unused;
        pthread_barrier_wait(&round_end);
        SUBJECT_VISIT();
    }
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_read", 10);
    pthread_barrier_init(&round_begin, NULL, 3);
    pthread_barrier_init(&round_end, NULL, 3);
    pthread_t other;
    pthread_create(&other, NULL, writer, NULL);
    subject_run_threads(2, reader, NULL);
    pthread_join(other, NULL);
    return subject_end();
}
