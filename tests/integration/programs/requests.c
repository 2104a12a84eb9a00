/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that begin on one thread and end on another, keyed by their address; every tenth takes four times as long.
 * C99 and C++11. -DFOR_COZ builds the same with the macros of Coz, which know no keys; -DDEBIAN_COZ with those of the
 * coz-profiler package.
 */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>

#if defined(DEBIAN_COZ)
#include "/usr/include/coz.h"
#elif defined(FOR_COZ)
#include "coz.h"
#else
#include "whatif.h"
#endif

#if defined(DEBIAN_COZ) || defined(FOR_COZ)
#define ARRIVES(key)
#define LEAVES(key)
#define BEGINS()   COZ_BEGIN("request")
#define ENDS()     COZ_END("request")
#define PROGRESS() COZ_PROGRESS_NAMED("done")
#else
#define ARRIVES(key) WHATIF_BEGIN_KEY("keyed", key)
#define LEAVES(key)  WHATIF_END_KEY("keyed", key)
#define BEGINS()     WHATIF_BEGIN("request")
#define ENDS()       WHATIF_END("request")
#define PROGRESS()   WHATIF_PROGRESS_NAMED("done")
#endif

enum { SLOTS = 4 };

static struct request {
    int number;
} slots[SLOTS];
static int n_put, n_taken, n_requests;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) static void serve(const struct request *request)
{
    burn_ms(request->number % 10 == 0 ? 8 : 2);
}

static void *serve_all(void *unused)
{
    for (int i = 0; i < n_requests; i++) {
        pthread_mutex_lock(&lock);
        while (n_put == n_taken)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        serve(&slots[i % SLOTS]);
        LEAVES(&slots[i % SLOTS]);
        ENDS();
        PROGRESS();
        pthread_mutex_lock(&lock);
        n_taken++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t server;
    n_requests = argc > 1 ? atoi(argv[1]) : 500;
    pthread_create(&server, NULL, serve_all, NULL);
    for (int i = 0; i < n_requests; i++) {
        pthread_mutex_lock(&lock);
        while (n_put - n_taken == SLOTS)
            pthread_cond_wait(&changed, &lock);
        slots[i % SLOTS].number = i;
        ARRIVES(&slots[i % SLOTS]);
        BEGINS();
        n_put++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(server, NULL);
    printf("served %d\n", n_taken);
    return 0;
}
