/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For programs to be profiled: processor time to be used, and a table of scenes of which argv[1] names one.
 */
#ifndef BURN_H
#define BURN_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static inline double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Use that much processor time of this thread. */
__attribute__((noinline, unused)) static void burn_ms(double ms)
{
    double end = cpu_seconds() + ms / 1e3;
    do {
        uint64_t chain = 1;
        for (int i = 0; i < 20000; i++) {
            chain = chain * 6364136223846793005u + 1442695040888963407u;
            __asm__ volatile("" : "+r"(chain));
        }
    } while (cpu_seconds() < end);
}

struct scene {
    const char *name;
    int (*play)(void);
};

__attribute__((unused)) static int play(const struct scene *scenes, int argc, char **argv)
{
    for (const struct scene *scene = scenes; scene->name && argc > 1; scene++)
        if (strcmp(scene->name, argv[1]) == 0)
            return scene->play();
    fprintf(stderr, "no scene '%s'\n", argc > 1 ? argv[1] : "");
    return 2;
}

#endif
