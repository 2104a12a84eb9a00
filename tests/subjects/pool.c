/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Amdahl's law: a serial part, then four tasks for a pool of N workers behind a queue (a mutex and two condition
 * variables), then the next round.
 *
 *     T = serial + 4 task / N          serial = 0.4 phase, task = 0.3 phase; N = 2 gives 0.4 + 0.6
 */
#include "subject.h"

enum { TASKS = 4 };

SUBJECT_WORK(work_serial)
SUBJECT_WORK(work_task)

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work_waits, all_done;
    int waiting, unfinished;
    bool closed;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};

/* Take a task; false when the pool is closed. */
static bool pool_take(void)
{
    pthread_mutex_lock(&pool.lock);
    while (pool.waiting == 0 && !pool.closed)
        pthread_cond_wait(&pool.work_waits, &pool.lock);
    bool taken = pool.waiting > 0;
    if (taken)
        pool.waiting--;
    pthread_mutex_unlock(&pool.lock);
    return taken;
}

static void pool_finish_task(void)
{
    pthread_mutex_lock(&pool.lock);
    if (--pool.unfinished == 0)
        pthread_cond_signal(&pool.all_done);
    pthread_mutex_unlock(&pool.lock);
}

static void pool_run_tasks(int n_tasks)
{
    pthread_mutex_lock(&pool.lock);
    pool.waiting = pool.unfinished = n_tasks;
    pthread_cond_broadcast(&pool.work_waits);
    while (pool.unfinished > 0)
        pthread_cond_wait(&pool.all_done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

static void pool_close(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.closed = true;
    pthread_cond_broadcast(&pool.work_waits);
    pthread_mutex_unlock(&pool.lock);
}

static void *worker(void *unused)
{
    while (pool_take()) {
        work_task(0.3 * subject.phase_ns);
        pool_finish_task();
    }
    return unused;
}

static void *producer(void *unused)
{
    while (subject_running()) {
        work_serial(0.4 * subject.phase_ns);
        pool_run_tasks(TASKS);
        SUBJECT_VISIT();
    }
    pool_close();
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_task", 10);
    pthread_t serial;
    pthread_create(&serial, NULL, producer, NULL);
    subject_run_threads(subject.n_threads, worker, NULL);
    pthread_join(serial, NULL);
    return subject_end();
}
