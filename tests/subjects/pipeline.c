/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three stages with bounded queues between them. The first is the bottleneck until it has been made 40 % faster;
 * from there on it is the second. The third hardly works.
 *
 *     T = max(first, second, third)    first = phase, second = 0.6 phase, third = 0.05 phase
 *
 * The shares are such that two processors can carry all three stages at every speedup.
 */
#include "subject.h"

enum { CAPACITY = 4 };

SUBJECT_WORK(work_first)
SUBJECT_WORK(work_second)
SUBJECT_WORK(work_third)

/* Only how many pieces wait matters, so a queue is a count. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int n_waiting;
    bool closed;
};

static struct queue to_second = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};
static struct queue to_third = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static void queue_put(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->n_waiting == CAPACITY)
        pthread_cond_wait(&queue->changed, &queue->lock);
    queue->n_waiting++;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

/* False when nothing will come any more. */
static bool queue_get(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->n_waiting == 0 && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->lock);
    bool got = queue->n_waiting > 0;
    if (got)
        queue->n_waiting--;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return got;
}

static void *first_stage(void *unused)
{
    while (subject_running()) {
        work_first(subject.phase_ns);
        queue_put(&to_second);
    }
    queue_close(&to_second);
    return unused;
}

static void *second_stage(void *unused)
{
    while (queue_get(&to_second)) {
        work_second(0.6 * subject.phase_ns);
        queue_put(&to_third);
    }
    queue_close(&to_third);
    return unused;
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_first", 10);
    pthread_t first, second;
    pthread_create(&first, NULL, first_stage, NULL);
    pthread_create(&second, NULL, second_stage, NULL);
    while (queue_get(&to_third)) {
        work_third(0.05 * subject.phase_ns);
        SUBJECT_VISIT();
    }
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return subject_end();
}
