/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What single calls cost, in nanoseconds: run it bare and under a profiler, and compare. Each figure is the best of
 * several batches, so that pauses and neighbours stay out. Prints one line of JSON.
 *
 * Visits are timed by the threads' processor time, since there may be more threads than processors: what threads
 * lose by fighting over a cache line is in it, what they wait for a processor is not.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef USE_COZ
#include <coz.h>
#define VISIT() COZ_PROGRESS_NAMED("visits")
#else
#include "whatif.h"
#define VISIT() WHATIF_PROGRESS_NAMED("visits")
#endif

enum { BATCHES = 12, CALLS = 50000, THREADS_A_BATCH = 100, VISITS = 400000, MAX_THREADS = 8 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore, never;

static double now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Time of one call within the best batch. */
static double best_ns(void (*batch)(void), int calls)
{
    double best = 1e18;
    for (int i = 0; i < BATCHES; i++) {
        double start = now_ns(CLOCK_MONOTONIC);
        batch();
        double took = now_ns(CLOCK_MONOTONIC) - start;
        if (took < best)
            best = took;
    }
    return best / calls;
}

static void mutex_pairs(void)
{
    for (int i = 0; i < CALLS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
}

static void rwlock_pairs(void)
{
    for (int i = 0; i < CALLS; i++) {
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
}

static void spin_pairs(void)
{
    for (int i = 0; i < CALLS; i++) {
        pthread_spin_lock(&spin);
        pthread_spin_unlock(&spin);
    }
}

static void semaphore_pairs(void)
{
    for (int i = 0; i < CALLS; i++) {
        sem_post(&semaphore);
        sem_wait(&semaphore);
    }
}

static void signals_to_nobody(void)
{
    for (int i = 0; i < CALLS; i++)
        pthread_cond_signal(&cond);
}

static void *do_nothing(void *unused)
{
    return unused;
}

static void threads(void)
{
    for (int i = 0; i < THREADS_A_BATCH; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static void visits(void)
{
    for (int i = 0; i < VISITS; i++)
        VISIT();
}

/* A second thread that only exists: libc's locks are cheaper in a process that has none. */
static void *exist(void *unused)
{
    sem_wait(&never);
    return unused;
}

static void *visitor(void *took_ns)
{
    double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    visits();
    *(double *)took_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    return NULL;
}

static double visit_ns(int n_threads)
{
    pthread_t ids[MAX_THREADS];
    double took_ns[MAX_THREADS] = {0}, sum = 0;
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&ids[i], NULL, visitor, &took_ns[i]) != 0)
            return -1;
    for (int i = 0; i < n_threads; i++) {
        pthread_join(ids[i], NULL);
        sum += took_ns[i];
    }
    return sum / n_threads / VISITS;
}

int main(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 0);
    sem_init(&never, 0, 0);
    pthread_t second;
    if (pthread_create(&second, NULL, exist, NULL) != 0)
        return 1;
    printf("{\"mutex\":%.2f", best_ns(mutex_pairs, CALLS));
    printf(",\"rwlock\":%.2f", best_ns(rwlock_pairs, CALLS));
    printf(",\"spin\":%.2f", best_ns(spin_pairs, CALLS));
    printf(",\"semaphore\":%.2f", best_ns(semaphore_pairs, CALLS));
    printf(",\"cond_signal\":%.2f", best_ns(signals_to_nobody, CALLS));
    printf(",\"thread\":%.0f", best_ns(threads, THREADS_A_BATCH));
    for (int n_threads = 1; n_threads <= MAX_THREADS; n_threads *= 2)
        printf(",\"visit_%d\":%.2f", n_threads, visit_ns(n_threads));
    printf("}\n");
    sem_post(&never);
    pthread_join(second, NULL);
    return 0;
}
