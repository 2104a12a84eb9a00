/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is loaded when the program has run for a while; with -DEARLY its constructor makes a thread. */
#include "burn.h"
#include "whatif.h"

#include <pthread.h>

__attribute__((noinline)) int late_work(int rounds);

int late_work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        burn_ms(2);
        WHATIF_PROGRESS_NAMED("rounds");
    }
    return rounds;
}

#ifdef EARLY
static void *early_thread(void *unused)
{
    late_work(300);
    return unused;
}

static pthread_t early;

__attribute__((constructor)) static void make_thread(void)
{
    pthread_create(&early, NULL, early_thread, NULL);
}

__attribute__((destructor)) static void end_thread(void)
{
    pthread_join(early, NULL);
    printf("early thread joined\n");
}
#endif
