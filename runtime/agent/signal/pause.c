/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pausing: the ledger's sleeps on the real clock.
 *
 * The sleep is the raw system call, since libc's is a cancellation point. A thread's timer slack (50 us by default)
 * would make every pause that much too long; it is set to its least for the length of the pause and put back, so that
 * the program's own sleeps stay what they were.
 */
#include "runtime/agent/signal/pause.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t wi_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t wi_thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
    long slack = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    syscall(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0);
    struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) != 0 && errno == EINTR)
        ;
    if (slack > 0)
        syscall(SYS_prctl, PR_SET_TIMERSLACK, slack, 0, 0, 0);
}

static uint64_t voluntary_switches(void)
{
    struct rusage usage;
    return syscall(SYS_getrusage, RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : 0;
}

uint64_t wi_run_clock_advance(struct wi_account *account)
{
    struct wi_run_clock *clock = &account->run_clock;
    struct wi_run_clock before = *clock;
    wi_run_clock_rebase(account);
    uint64_t cpu = clock->cpu_ns - before.cpu_ns, wall = clock->wall_ns - before.wall_ns;
    clock->run_ns += clock->blocks == before.blocks && wall > cpu ? wall : cpu;
    return clock->run_ns;
}

uint64_t wi_run_clock_rebase(struct wi_account *account)
{
    struct wi_run_clock *clock = &account->run_clock;
    clock->wall_ns = wi_now_ns();
    clock->cpu_ns = wi_thread_cpu_ns();
    clock->blocks = voluntary_switches();
    return clock->run_ns;
}

const struct wi_time wi_kernel_time = {wi_now_ns, sleep_ns};

void wi_pause_in_handler(struct wi_account *account, uint64_t in_force)
{
    uint64_t slept = wi_ledger_settle(account->slot, &wi_session->clock, in_force, &wi_kernel_time);
    if (slept == 0)
        return;
    account->pause_ns += slept;
    wi_run_clock_rebase(account);
}

void wi_pause_in_guest(struct wi_account *account, uint64_t in_force)
{
    int saved = errno;
    if ((uint32_t)syscall(SYS_gettid) == account->tid) {
        uint64_t all = ~0ull, before;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
        account->busy = true;
        wi_pause_in_handler(account, in_force);
        account->busy = false;
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    }
    errno = saved;
}
