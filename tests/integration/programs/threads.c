/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads and processes that come, go and end in every odd way. Each scene prints what it sees: the same with a profiler
 * as without.
 */
#include "burn.h"
#include "whatif.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;
static _Atomic int n_done, n_cleaned;

static void work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        burn_ms(2);
        WHATIF_PROGRESS_NAMED("rounds");
    }
}

static void *worker(void *rounds)
{
    work((int)(intptr_t)rounds);
    n_done++;
    return rounds;
}

static void *ends_the_process(void *unused)
{
    (void)unused;
    work(300);
    printf("main is gone\n");
    exit(7);
}

static int main_leaves(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, ends_the_process, NULL);
    pthread_exit(NULL);
}

static int detached(void)
{
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, (void *)(intptr_t)10);
        pthread_detach(thread);
    }
    while (n_done < 20)
        usleep(1000);
    printf("all done\n");
    return 0;
}

static void clean(void *unused)
{
    (void)unused;
    n_cleaned++;
}

static void *sleeps_for_ever(void *unused)
{
    (void)unused;
    pthread_cleanup_push(clean, NULL);
    for (;;) {
        work(1);
        usleep(1000);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static int cancelled(void)
{
    pthread_t threads[10];
    void *value;
    int n_cancelled = 0;
    for (int i = 0; i < 10; i++)
        pthread_create(&threads[i], NULL, sleeps_for_ever, NULL);
    work(200);
    for (int i = 0; i < 10; i++) {
        pthread_cancel(threads[i]);
        pthread_join(threads[i], &value);
        n_cancelled += value == PTHREAD_CANCELED;
    }
    printf("cancelled %d, cleaned %d\n", n_cancelled, (int)n_cleaned);
    return 0;
}

static int forks(void)
{
    int good = 0, status;
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            pthread_t thread;
            pthread_create(&thread, NULL, worker, (void *)(intptr_t)100);
            pthread_join(thread, NULL);
            work(100);
            _exit(40 + i);
        }
    while (wait(&status) > 0)
        good += WIFEXITED(status) && WEXITSTATUS(status) >= 40;
    printf("good children %d\n", good);
    return 0;
}

static int many_forks(void)
{
    int good = 0, status;
    for (int i = 0; i < 1100; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(i % 100);
        good += waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == i % 100;
    }
    work(100);
    printf("good children %d\n", good);
    return 0;
}

static int spawns(void)
{
    char *const self[] = {"/proc/self/exe", "work", NULL};
    volatile int good = 0;
    int status;
    pid_t pid;
    for (volatile int i = 0; i < 3; i++) {
        if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, self, environ) == 0 &&
            waitpid(pid, &status, 0) == pid)
            good += status == 0;
        pid = vfork();
        if (pid == 0) {
            execv(self[0], self);
            _exit(1);
        }
        waitpid(pid, &status, 0);
        good += status == 0;
    }
    printf("good children %d\n", good);
    fflush(stdout);
    execv(self[0], self);
    return 1;
}

static int only_work(void)
{
    work(100);
    return 0;
}

static int closes_all(void)
{
    pthread_t thread;
    for (int fd = 3; fd < 1000; fd++)
        close(fd);
    work(100);
    int fd = open("/dev/null", O_RDONLY);
    pthread_create(&thread, NULL, worker, (void *)(intptr_t)100);
    work(100);
    pthread_join(thread, NULL);
    printf("next descriptor is the lowest: %d\n", fd == 3);
    return 0;
}

static void *lives(void *barrier)
{
    pthread_barrier_wait(barrier);
    work(1);
    pthread_barrier_wait(barrier);
    return NULL;
}

static int many_live(void)
{
    pthread_t threads[300];
    pthread_barrier_t barrier;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&barrier, NULL, 301);
    for (int i = 0; i < 300; i++)
        if (pthread_create(&threads[i], &attributes, lives, &barrier) != 0)
            return 1;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 300; i++)
        pthread_join(threads[i], NULL);
    work(50);
    printf("300 lived\n");
    return 0;
}

static void *lives_shortly(void *unused)
{
    burn_ms(0.3);
    WHATIF_PROGRESS_NAMED("rounds");
    n_done++;
    return unused;
}

static int many_short(void)
{
    for (int i = 0; i < 1000; i++) {
        pthread_t one, other;
        if (pthread_create(&one, NULL, lives_shortly, NULL) != 0 ||
            pthread_create(&other, NULL, lives_shortly, NULL) != 0)
            return 1;
        pthread_join(one, NULL);
        pthread_join(other, NULL);
    }
    printf("%d lived\n", (int)n_done);
    return 0;
}

static int c11_worker(void *rounds)
{
    work((int)(intptr_t)rounds);
    return 11;
}

static int c11(void)
{
    thrd_t threads[2];
    int results[2] = {0};
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], c11_worker, (void *)(intptr_t)250);
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], &results[i]);
    printf("%d %d\n", results[0], results[1]);
    return 0;
}

static int loads(void)
{
    work(150);
    void *library = dlopen("./late.so", RTLD_NOW);
    int (*late)(int) = library ? (int (*)(int))(intptr_t)dlsym(library, "late_work") : NULL;
    if (!late) {
        printf("%s\n", dlerror());
        return 1;
    }
    printf("late: %d\n", late(400));
    dlclose(library);
    work(50);
    return 0;
}

static void at_exit(void)
{
    work(20);
    printf("at exit\n");
}

static void *calls_exit(void *unused)
{
    (void)unused;
    work(100);
    exit(9);
}

static int exit_from_thread(void)
{
    pthread_t thread;
    atexit(at_exit);
    pthread_create(&thread, NULL, calls_exit, NULL);
    work(100000);
    return 0;
}

static void *own_stack_limit(void *unused)
{
    (void)unused;
    work(100);
    return NULL;
}

/* A stack that the program made, as small as libc allows. */
static int smallest_stack(void)
{
    static char memory[16384 + 4096] __attribute__((aligned(4096)));
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    int error = pthread_attr_setstack(&attributes, memory, 16384 + 4096);
    error = error ? error : pthread_create(&thread, &attributes, own_stack_limit, NULL);
    if (error)
        return 1;
    pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}

static void *passes_errno(void *unused)
{
    (void)unused;
    for (int i = 0; i < 300; i++) {
        errno = 77;
        burn_ms(1);
        if (errno != 77)
            return (void *)1;
        WHATIF_PROGRESS_NAMED("rounds");
        if (errno != 77)
            return (void *)2;
    }
    return NULL;
}

static int keeps_errno(void)
{
    pthread_t threads[2];
    void *wrong[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, passes_errno, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &wrong[i]);
    printf("changed errno: %d %d\n", (int)(intptr_t)wrong[0], (int)(intptr_t)wrong[1]);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"main-leaves", main_leaves},
        {"detached", detached},
        {"cancelled", cancelled},
        {"forks", forks},
        {"spawns", spawns},
        {"many-forks", many_forks},
        {"work", only_work},
        {"closes-all", closes_all},
        {"many-live", many_live},
        {"many-short", many_short},
        {"c11", c11},
        {"loads", loads},
        {"exit-from-thread", exit_from_thread},
        {"smallest-stack", smallest_stack},
        {"keeps-errno", keeps_errno},
        {NULL, NULL},
    };
    return play(scenes, argc, argv);
}
