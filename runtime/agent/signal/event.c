/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening and closing sampling events. See event.h.
 *
 * System calls are raw where the wrapper would do more: glibc's timer_create allocates for SIGEV_THREAD_ID, and close
 * is a cancellation point.
 */
#include "runtime/agent/signal/event.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE            4096u
#define RING_PAGES      1u /* of data, behind the control page */
#define COOKIE          0x77696c6cu
#define SHORTEST_PERIOD 20000u
#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif
#define LATE_FLAG 1u /* TRAP_PERF_FLAG_ASYNC */

/* The layout of siginfo for TRAP_PERF; older libc headers lack it. */
struct perf_siginfo {
    int signo, error, code, pad;
    uint64_t address;
    uint64_t data;
    uint32_t type;
    uint32_t flags;
};

uint64_t wi_event_random(void)
{
    static _Atomic uint64_t state;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t z = atomic_fetch_add(&state, 0x9e3779b97f4a7c15ull) + (uint64_t)now.tv_nsec +
                 ((uint64_t)now.tv_sec << 30);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static int open_perf(enum wi_sampler sampler, uint64_t period_ns, void **page)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    attr.sample_period = period_ns;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    size_t bytes = PAGE;
    if (sampler == WI_SAMPLER_SIGTRAP) {
        attr.sigtrap = 1;
        attr.remove_on_exec = 1;
        attr.sig_data = COOKIE;
    } else {
        attr.sample_type = PERF_SAMPLE_IP;
        attr.wakeup_events = 1;
        attr.disabled = 1; /* until its signal is set */
        bytes += RING_PAGES * PAGE;
    }
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (*page == MAP_FAILED)
        *page = NULL;
    if (sampler == WI_SAMPLER_RING) {
        struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
        if (!*page || fcntl(fd, F_SETOWN_EX, &owner) != 0 || fcntl(fd, F_SETSIG, WI_SIGNAL_PROF) != 0 ||
            fcntl(fd, F_SETFL, O_ASYNC | O_RDWR) != 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
            int error = errno ? -errno : -EIO;
            if (*page)
                munmap(*page, bytes);
            syscall(SYS_close, fd);
            return error;
        }
    }
    return fd;
}

static int open_timer(uint64_t period_ns, int *id)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = WI_SIGNAL_PROF;
    event.sigev_value.sival_int = (int)COOKIE;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, id) != 0)
        return -errno;
    uint64_t first = wi_event_random() % period_ns + 1;
    struct itimerspec setting = {{(time_t)(period_ns / 1000000000), (long)(period_ns % 1000000000)},
                                 {(time_t)(first / 1000000000), (long)(first % 1000000000)}};
    if (syscall(SYS_timer_settime, *id, 0, &setting, NULL) != 0) {
        int error = -errno;
        syscall(SYS_timer_delete, *id);
        return error;
    }
    return 0;
}

static bool start(struct wi_account *account, enum wi_sampler sampler, uint64_t period_ns)
{
    int error, saved = errno;
    account->event_fd = -1;
    account->event_page = NULL;
    account->timer_id = -1;
    account->sampler =
        WI_SAMPLER_NONE; /* a sample from the half-open event is discarded: see wi_event_is_ready */
    if (sampler == WI_SAMPLER_TIMER) {
        error = open_timer(period_ns, &account->timer_id);
    } else {
        error = open_perf(sampler, period_ns, &account->event_page);
        if (error >= 0 && account->event_page)
            syscall(SYS_close, error); /* the mapping keeps the event */
        else if (error >= 0)
            account->event_fd = error; /* no locked memory left: the descriptor keeps it */
    }
    errno = saved;
    atomic_signal_fence(memory_order_seq_cst);
    if (error >= 0)
        account->sampler = (uint8_t)sampler;
    return error >= 0;
}

bool wi_event_open(struct wi_account *account, enum wi_sampler sampler, uint64_t period_ns)
{
    uint64_t first = wi_event_random() % period_ns;
    if (first < SHORTEST_PERIOD)
        first = SHORTEST_PERIOD;
    account->event_is_first = sampler != WI_SAMPLER_TIMER;
    return start(account, sampler, sampler == WI_SAMPLER_TIMER ? period_ns : first);
}

void wi_event_regularise(struct wi_account *account, uint64_t period_ns)
{
    enum wi_sampler sampler = (enum wi_sampler)account->sampler;
    account->event_is_first = false;
    wi_event_close(account);
    start(account, sampler, period_ns);
}

void wi_event_close(struct wi_account *account)
{
    int saved = errno;
    if (account->event_page)
        munmap(account->event_page, PAGE + (account->sampler == WI_SAMPLER_RING ? RING_PAGES * PAGE : 0));
    if (account->event_fd >= 0)
        syscall(SYS_close, account->event_fd);
    if (account->timer_id >= 0)
        syscall(SYS_timer_delete, account->timer_id);
    wi_event_forget(account);
    errno = saved;
}

void wi_event_forget(struct wi_account *account)
{
    account->event_page = NULL; /* perf pages are not inherited */
    account->event_fd = -1;
    account->timer_id = -1;
    account->sampler = WI_SAMPLER_NONE;
}

uint32_t wi_event_drain(struct wi_account *account)
{
    struct perf_event_mmap_page *control = account->event_page;
    if (account->sampler != WI_SAMPLER_RING || !control)
        return 1;
    uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = control->data_tail;
    uint32_t samples = 0;
    const char *data = (const char *)control + PAGE;
    while (tail < head && samples < 64) {
        const struct perf_event_header *record = (const void *)(data + tail % (RING_PAGES * PAGE));
        if (record->size == 0)
            break;
        samples += record->type == PERF_RECORD_SAMPLE;
        tail += record->size;
    }
    __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
    return samples > 0 ? samples : 1;
}

bool wi_event_is_ours(const struct wi_account *account, int signal, const siginfo_t *info)
{
    switch (account->sampler) {
    case WI_SAMPLER_SIGTRAP:
        return signal == WI_SIGNAL_TRAP && info->si_code == TRAP_PERF &&
               ((const struct perf_siginfo *)info)->data == COOKIE;
    case WI_SAMPLER_RING:
        return signal == WI_SIGNAL_PROF && info->si_code == POLL_IN;
    case WI_SAMPLER_TIMER:
        return signal == WI_SIGNAL_PROF && info->si_code == SI_TIMER &&
               info->si_value.sival_int == (int)COOKIE;
    default: /* one that was on its way when the event was closed */
        return (signal == WI_SIGNAL_TRAP && info->si_code == TRAP_PERF) ||
               (signal == WI_SIGNAL_PROF && (info->si_code == POLL_IN || info->si_code == SI_TIMER));
    }
}

bool wi_event_is_late(const siginfo_t *info)
{
    return info->si_signo == WI_SIGNAL_TRAP && (((const struct perf_siginfo *)info)->flags & LATE_FLAG) != 0;
}

static bool is_traced(void)
{
    char text[2048];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "TracerPid:");
    if (!line)
        return false;
    line += 10;
    while (*line == ' ' || *line == '\t')
        line++;
    return *line >= '1' && *line <= '9';
}

static bool works(enum wi_sampler sampler, int *refused)
{
    const uint64_t never = 3600ull * 1000000000;
    void *page = NULL;
    int id, result;
    if (sampler == WI_SAMPLER_TIMER) {
        result = open_timer(never, &id);
        if (result == 0)
            syscall(SYS_timer_delete, id);
    } else {
        result = open_perf(sampler, never, &page);
        if (result >= 0) {
            if (page)
                munmap(page, PAGE + (sampler == WI_SAMPLER_RING ? RING_PAGES * PAGE : 0));
            syscall(SYS_close, result);
        }
    }
    if (result < 0 && *refused == 0)
        *refused = -result;
    return result >= 0;
}

enum wi_sampler wi_event_choose(enum wi_sampler wanted, int *refused)
{
    *refused = 0;
    if (wanted != WI_SAMPLER_AUTO)
        return works(wanted, refused) ? wanted : WI_SAMPLER_NONE;
    if (!is_traced() && works(WI_SAMPLER_SIGTRAP, refused))
        return WI_SAMPLER_SIGTRAP;
    if (works(WI_SAMPLER_RING, refused))
        return WI_SAMPLER_RING;
    return works(WI_SAMPLER_TIMER, refused) ? WI_SAMPLER_TIMER : WI_SAMPLER_NONE;
}
