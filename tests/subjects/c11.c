/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C11 threads, which do not go through the pthread functions: a thread per round, created and joined with thrd_*,
 * and a turn handed over within the round with mtx_* and cnd_*.
 *
 *     T = a + b + hand-offs          a = 0.6 phase, b = 0.4 phase
 */
#include "subject.h"

#include <threads.h>

SUBJECT_WORK(work_a)
SUBJECT_WORK(work_b)

static mtx_t lock;
static cnd_t done_changed;
static bool a_is_done;

static int thread_b(void *unused)
{
    (void)unused;
    mtx_lock(&lock);
    while (!a_is_done)
        cnd_wait(&done_changed, &lock);
    mtx_unlock(&lock);
    work_b(0.4 * subject.phase_ns);
    return 0;
}

static void one_round(void)
{
    thrd_t b;
    a_is_done = false;
    thrd_create(&b, thread_b, NULL);
    work_a(0.6 * subject.phase_ns);
    mtx_lock(&lock);
    a_is_done = true;
    cnd_signal(&done_changed);
    mtx_unlock(&lock);
    thrd_join(b, NULL);
}

int main(int argc, char **argv)
{
    subject_begin(argc, argv, "work_a", 10);
    mtx_init(&lock, mtx_plain);
    cnd_init(&done_changed);
    while (subject_running()) {
        one_round();
        SUBJECT_VISIT();
    }
    return subject_end();
}
