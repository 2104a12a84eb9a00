/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every subject shares. A subject is a small program whose answer is known by arithmetic: it says how much
 * faster it would be if one of its functions were, and it has a knob that really makes that function faster.
 *
 *     SUBJECT_WORK(work_a)                           a function that burns processor time: work_a(ns)
 *     subject_begin(argc, argv, "work_a", 10);       options; the unit that --speedup means; phase in ms
 *     while (subject_running()) { ...; SUBJECT_VISIT(); }
 *     return subject_end();                          one line of JSON on stdout
 *
 *     --speedup S    make the unit S percent faster, really (0 to 100)
 *     --unit NAME    the work function that --speedup means
 *     --phase-ms X   the length that all phases of the subject are shares of
 *     --seconds N    run for N seconds of wall time
 *     --rounds N     run until N visits instead
 *     --threads N    where the subject has a number of threads to choose
 *     --rate R       nanoseconds per step of work instead of calibrating: runs to be compared should agree on it
 *     --calibrate    print that rate and exit
 *
 * Work is a chain of dependent multiplications in a register, since loops over memory run at different speeds
 * from run to run. A work function is written on one source line: function and line are the same code, so that a
 * profiler of lines and one of functions can be asked the same question.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef USE_COZ
#include <coz.h>
#define SUBJECT_PROGRESS() COZ_PROGRESS_NAMED("rounds")
#define SUBJECT_ARRIVE()   COZ_BEGIN("request")
#define SUBJECT_DEPART()   COZ_END("request")
#else
#include "whatif.h"
#define SUBJECT_PROGRESS() WHATIF_PROGRESS_NAMED("rounds")
#define SUBJECT_ARRIVE()   WHATIF_BEGIN("request")
#define SUBJECT_DEPART()   WHATIF_END("request")
#endif

#ifdef __clang__
#define SUBJECT_OWN_FUNCTION __attribute__((noinline))
#else
#define SUBJECT_OWN_FUNCTION __attribute__((noipa))
#endif

/* Options and counts of this process. Written by the main thread before others start; visits by all. */
static struct {
    double phase_ns;
    double seconds;
    double speedup_percent;
    const char *unit;
    uint64_t max_rounds;
    int n_threads;
    double ns_per_step;
    uint64_t start_ns;
    _Atomic uint64_t visits;
} subject = {.seconds = 10, .max_rounds = UINT64_MAX, .n_threads = 2};

/* A work function, and the share of its time that is left (1 - speedup). */
struct subject_unit {
    const char *name;
    double left;
    struct subject_unit *next;
};

static struct subject_unit *subject_units;

#define SUBJECT_STEPS(n)                                                                                     \
    do {                                                                                                     \
        uint64_t chain = 1;                                                                                  \
        for (uint64_t steps_left = (n); steps_left > 0; steps_left--) {                                      \
            chain = chain * 6364136223846793005u + 1442695040888963407u;                                     \
            __asm__ volatile("" : "+r"(chain));                                                              \
        }                                                                                                    \
    } while (0)

#define SUBJECT_WORK(function)                                                                               \
    static struct subject_unit function##_unit = {#function, 1, NULL};                                       \
    __attribute__((constructor)) static void function##_register(void)                                       \
    {                                                                                                        \
        function##_unit.next = subject_units;                                                                \
        subject_units = &function##_unit;                                                                    \
    }                                                                                                        \
    SUBJECT_OWN_FUNCTION static void function(double ns)                                                     \
    {                                                                                                        \
        SUBJECT_STEPS((uint64_t)(ns * function##_unit.left / subject.ns_per_step));                          \
    }

/* A visit of the progress point. */
#define SUBJECT_VISIT()                                                                                      \
    do {                                                                                                     \
        SUBJECT_PROGRESS();                                                                                  \
        atomic_fetch_add_explicit(&subject.visits, 1, memory_order_relaxed);                                 \
    } while (0)

static inline uint64_t subject_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The fastest of many short runs: what an undisturbed processor needs. */
SUBJECT_OWN_FUNCTION static void subject_calibrate(void)
{
    const uint64_t steps = 40000;
    uint64_t best_ns = UINT64_MAX;
    for (int run = 0; run < 200; run++) {
        uint64_t start_ns = subject_now_ns();
        SUBJECT_STEPS(steps);
        uint64_t took_ns = subject_now_ns() - start_ns;
        if (took_ns < best_ns)
            best_ns = took_ns;
    }
    subject.ns_per_step = (double)best_ns / (double)steps;
}

static inline void subject_fail(const char *what, const char *name)
{
    fprintf(stderr, "subject: %s '%s'\n", what, name);
    exit(2);
}

static inline void subject_set(const char *option, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    bool is_number = end != value && *end == '\0';
    if (strcmp(option, "--unit") == 0)
        subject.unit = value;
    else if (!is_number)
        subject_fail("not a number", value);
    else if (strcmp(option, "--speedup") == 0)
        subject.speedup_percent = number;
    else if (strcmp(option, "--phase-ms") == 0)
        subject.phase_ns = number * 1e6;
    else if (strcmp(option, "--seconds") == 0)
        subject.seconds = number;
    else if (strcmp(option, "--rounds") == 0) {
        subject.max_rounds = (uint64_t)number;
        subject.seconds = 1e9;
    } else if (strcmp(option, "--threads") == 0)
        subject.n_threads = (int)number;
    else if (strcmp(option, "--rate") == 0)
        subject.ns_per_step = number;
    else
        subject_fail("unknown option", option);
}

/* Make the chosen unit faster. */
static inline void subject_speed_up(void)
{
    struct subject_unit *unit = subject_units;
    while (unit != NULL && strcmp(unit->name, subject.unit) != 0)
        unit = unit->next;
    if (unit == NULL)
        subject_fail("no work function", subject.unit);
    unit->left = 1 - subject.speedup_percent / 100;
}

static inline void subject_begin(int argc, char **argv, const char *default_unit, double default_phase_ms)
{
    subject.unit = default_unit;
    subject.phase_ns = default_phase_ms * 1e6;
    if (argc == 2 && strcmp(argv[1], "--calibrate") == 0) {
        subject_calibrate();
        printf("%.6f\n", subject.ns_per_step);
        exit(0);
    }
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            subject_fail("no value for", argv[i]);
        subject_set(argv[i], argv[i + 1]);
    }
    subject_speed_up();
    if (subject.ns_per_step <= 0)
        subject_calibrate();
    subject.start_ns = subject_now_ns();
}

static inline bool subject_running(void)
{
    if (atomic_load_explicit(&subject.visits, memory_order_relaxed) >= subject.max_rounds)
        return false;
    return (double)(subject_now_ns() - subject.start_ns) < subject.seconds * 1e9;
}

static inline double subject_seconds(void)
{
    return (double)(subject_now_ns() - subject.start_ns) / 1e9;
}

static inline int subject_end(void)
{
    printf("{\"visits\":%llu,\"seconds\":%.6f}\n", (unsigned long long)subject.visits, subject_seconds());
    return 0;
}

/* The same with the mean latency of all visits. */
static inline int subject_end_latency(uint64_t latencies_ns)
{
    unsigned long long visits = subject.visits;
    double mean_ns = visits > 0 ? (double)latencies_ns / (double)visits : 0;
    printf("{\"visits\":%llu,\"seconds\":%.6f,\"latency_ns\":%.0f}\n", visits, subject_seconds(), mean_ns);
    return 0;
}

/* Threads that all run the same function until the subject ends. */
static inline void subject_run_threads(int n_threads, void *(*function)(void *), void *argument)
{
    pthread_t threads[64];
    for (int i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, function, argument) != 0)
            subject_fail("no thread for", subject.unit);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

#endif
