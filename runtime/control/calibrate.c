/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calibration.
 *
 * The cost of a sample is the hole that it tears into a loop that does nothing but read the clock: the longest step of
 * the loop around each sample. That counts everything, the timer interrupt and the delivery of the signal included,
 * which is more than any clock in the handler would show.
 */
#include "runtime/control/calibrate.h"
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_SAMPLES   25
#define N_SLEEPS    15
#define PERIOD_NS   200000u
#define PATIENCE_NS 60000000u
#define AGENT_NS    2500u /* what the agent's own work adds: clocks, a stack walk, the ring */

static volatile sig_atomic_t n_signals;

static void on_sample(int signal)
{
    (void)signal;
    n_signals++;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

static uint64_t median(uint64_t *values, size_t n)
{
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

/* A signal may be noticed one step after its hole, if it came between the reading of the clock and the look at the
 * count: so the longer of the two steps around the notice counts. */
static uint64_t measure_holes(void)
{
    uint64_t holes[N_SAMPLES];
    size_t n = 0;
    uint64_t start = now_ns(), before = start, last_step = 0;
    sig_atomic_t seen = n_signals;
    bool noticed = false;
    while (n < N_SAMPLES && before - start < PATIENCE_NS) {
        uint64_t now = now_ns(), step = now - before;
        if (noticed)
            holes[n++] = step > last_step ? step : last_step;
        noticed = n_signals != seen;
        seen = n_signals;
        last_step = step;
        before = now;
    }
    return median(holes, n);
}

uint64_t wi_calibrate_sample_ns(void)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = PERIOD_NS;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.sigtrap = 1;
    attr.remove_on_exec = 1;
    attr.disabled = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return 0;
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_sample;
    action.sa_flags = SA_RESTART;
    sigaction(SIGTRAP, &action, &before);
    uint64_t cost = 0;
    if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
        cost = measure_holes();
    close(fd);
    sigaction(SIGTRAP, &before, NULL);
    return cost ? cost + AGENT_NS : 0;
}

uint64_t wi_calibrate_overshoot_ns(void)
{
    const uint64_t asked = 100000;
    uint64_t overshoots[N_SLEEPS];
    long slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (size_t i = 0; i < N_SLEEPS; i++) {
        struct timespec length = {0, (long)asked};
        uint64_t before = now_ns();
        nanosleep(&length, NULL);
        uint64_t took = now_ns() - before;
        overshoots[i] = took > asked ? took - asked : 0;
    }
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
    return median(overshoots, N_SLEEPS);
}

uint64_t wi_calibrate_period_ns(uint64_t sample_ns, double overhead_percent)
{
    const double shortest = 100000, longest = 1000000;
    double period = overhead_percent > 0 ? (double)sample_ns * 100 / overhead_percent : longest;
    if (sample_ns == 0 || period > longest)
        period = longest;
    return (uint64_t)(period < shortest ? shortest : period);
}
