/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that use the sampler's signals themselves, or masks and stacks of signals in odd ways. Each scene prints what
 * it sees: the same with a profiler as without.
 */
#include "burn.h"
#include "whatif.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t caught, caught_code, depth, deepest;
static sigjmp_buf out_of_there;
static volatile uintptr_t bad_address = 8;

static void work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        burn_ms(2);
        WHATIF_PROGRESS_NAMED("rounds");
    }
}

static void count(int signal)
{
    (void)signal;
    caught++;
}

static void count_code(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    caught++;
    caught_code = info->si_code;
}

static void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, NULL);
}

static sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

static void block(int how, int signal)
{
    sigset_t set = only(signal);
    pthread_sigmask(how, &set, NULL);
}

static int trap_handler(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = count_code;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < 5; i++) {
        work(40);
        raise(SIGTRAP);
    }
    printf("raised: %d, code %d\n", (int)caught, (int)caught_code);
    for (int i = 0; i < 5; i++) {
        work(40);
        __asm__ volatile("int3");
    }
    printf("and trapped: %d, code %d\n", (int)caught, (int)caught_code);
    kill(getpid(), SIGTRAP);
    printf("and killed: %d\n", (int)caught);
    return 0;
}

static int trap_query(void)
{
    struct sigaction action;
    sigaction(SIGTRAP, NULL, &action);
    printf("default: %d\n", action.sa_handler == SIG_DFL);
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    action.sa_flags = SA_NODEFER;
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGTRAP, &action, NULL);
    work(100);
    memset(&action, 0, sizeof action);
    sigaction(SIGTRAP, NULL, &action);
    printf("own: %d, flags %x, mask %d %d\n", action.sa_handler == count,
           (unsigned)action.sa_flags & ~0x04000000u, sigismember(&action.sa_mask, SIGUSR2),
           sigismember(&action.sa_mask, SIGTRAP));
    printf("signal() returns it: %d\n", signal(SIGTRAP, SIG_IGN) == count);
    raise(SIGTRAP);
    printf("ignored: %d\n", signal(SIGTRAP, SIG_DFL) == SIG_IGN);
    sigset_t full, got;
    sigfillset(&full);
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    action.sa_mask = full;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR1, NULL, &action);
    printf("another's mask: %d\n", sigismember(&action.sa_mask, SIGTRAP));
    pthread_sigmask(SIG_SETMASK, &full, NULL);
    work(50);
    pthread_sigmask(SIG_SETMASK, NULL, &got);
    printf("blocked: %d %d %d\n", sigismember(&got, SIGTRAP), sigismember(&got, SIGPROF),
           sigismember(&got, SIGUSR1));
    return 0;
}

static int trap_blocked(void)
{
    sigset_t pending;
    handle(SIGTRAP, count, 0);
    block(SIG_BLOCK, SIGTRAP);
    work(100);
    raise(SIGTRAP);
    raise(SIGTRAP);
    work(100);
    sigpending(&pending);
    printf("before: %d, pending %d\n", (int)caught, sigismember(&pending, SIGTRAP));
    block(SIG_UNBLOCK, SIGTRAP);
    printf("after: %d\n", (int)caught);
    sigpending(&pending);
    printf("pending %d\n", sigismember(&pending, SIGTRAP));
    return 0;
}

static void raise_again(int signal)
{
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (++caught == 1)
        raise(signal);
    burn_ms(5);
    depth--;
}

static int trap_nested(void)
{
    handle(SIGTRAP, raise_again, 0);
    work(20);
    raise(SIGTRAP);
    printf("caught %d, depth %d\n", (int)caught, (int)deepest);
    caught = deepest = 0;
    handle(SIGTRAP, raise_again, SA_NODEFER);
    raise(SIGTRAP);
    printf("caught %d, depth %d\n", (int)caught, (int)deepest);
    caught = 0;
    handle(SIGTRAP, count, (int)SA_RESETHAND);
    raise(SIGTRAP);
    struct sigaction action;
    sigaction(SIGTRAP, NULL, &action);
    printf("caught %d, default %d\n", (int)caught, action.sa_handler == SIG_DFL);
    return 0;
}

static int trap_default(void)
{
    work(50);
    raise(SIGTRAP);
    printf("survived\n");
    return 0;
}

static int trap_wait(void)
{
    sigset_t set = only(SIGTRAP);
    siginfo_t info;
    struct timespec soon = {0, 100000000};
    block(SIG_BLOCK, SIGTRAP);
    work(50);
    raise(SIGTRAP);
    work(50);
    memset(&info, 0, sizeof info);
    printf("waited: %d", sigtimedwait(&set, &info, &soon));
    printf(" signo %d code %d\n", info.si_signo, info.si_code);
    int again = sigtimedwait(&set, &info, &soon);
    printf("again: %d %d\n", again, errno == EAGAIN);
    return 0;
}

static int prof_timer(void)
{
    struct itimerval every = {{0, 20000}, {0, 20000}}, got;
    handle(SIGPROF, count, SA_RESTART);
    setitimer(ITIMER_PROF, &every, NULL);
    work(500);
    getitimer(ITIMER_PROF, &got);
    printf("interval %ld, ticks come: %d, not too many: %d\n", (long)got.it_interval.tv_usec, caught >= 10,
           caught <= 60);
    return 0;
}

static void *wait_for_any(void *result)
{
    sigset_t full;
    sigfillset(&full);
    for (int i = 0; i < 3; i++)
        sigwait(&full, (int *)result + i);
    return NULL;
}

static int sigwait_full(void)
{
    pthread_t thread;
    sigset_t full;
    int got[3] = {0};
    sigfillset(&full);
    pthread_sigmask(SIG_SETMASK, &full, NULL);
    pthread_create(&thread, NULL, wait_for_any, got);
    const int sent[3] = {SIGUSR1, SIGTERM, SIGUSR2};
    for (int i = 0; i < 3; i++) {
        work(50);
        kill(getpid(), sent[i]);
    }
    pthread_join(thread, NULL);
    printf("%d\n", got[0] == SIGUSR1 && got[1] == SIGTERM && got[2] == SIGUSR2);
    return 0;
}

static int poll_mask(void)
{
    sigset_t none, full, got;
    struct timespec soon = {0, 50000000};
    sigemptyset(&none);
    sigfillset(&full);
    handle(SIGUSR1, count, 0);
    handle(SIGTRAP, count, 0);
    pthread_sigmask(SIG_SETMASK, &full, NULL);
    work(30);
    raise(SIGUSR1);
    int result = ppoll(NULL, 0, &soon, &none);
    printf("ppoll %d %d, caught %d\n", result, errno == EINTR, (int)caught);
    printf("ppoll %d, caught %d\n", ppoll(NULL, 0, &soon, &full), (int)caught);
    raise(SIGTRAP);
    result = ppoll(NULL, 0, &soon, &none);
    printf("ppoll %d %d, caught %d\n", result, result < 0 && errno == EINTR, (int)caught);
    raise(SIGUSR1);
    result = sigsuspend(&none);
    printf("sigsuspend %d %d, caught %d\n", result, errno == EINTR, (int)caught);
    pthread_sigmask(SIG_SETMASK, NULL, &got);
    printf("blocked: %d %d\n", sigismember(&got, SIGTRAP), sigismember(&got, SIGUSR1));
    return 0;
}

static int signal_fd(void)
{
    struct signalfd_siginfo info;
    sigset_t set = only(SIGUSR1);
    sigaddset(&set, SIGTRAP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    work(50);
    printf("nothing yet: %d\n", read(fd, &info, sizeof info) < 0);
    raise(SIGUSR1);
    work(20);
    printf("read %d", (int)read(fd, &info, sizeof info));
    printf(" signal %u\n", info.ssi_signo);
    return 0;
}

static void burn_in_handler(int signal)
{
    (void)signal;
    caught++;
    burn_ms(20);
}

static int small_stack(void)
{
    static char memory[8192];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    sigaltstack(&stack, NULL);
    handle(SIGUSR1, burn_in_handler, SA_ONSTACK);
    for (int i = 0; i < 20; i++) {
        work(5);
        raise(SIGUSR1);
    }
    printf("caught %d\n", (int)caught);
    return 0;
}

static void jump_out(int signal)
{
    (void)signal;
    caught++;
    siglongjmp(out_of_there, 1);
}

static int own_fault(void)
{
    handle(SIGSEGV, jump_out, 0);
    for (volatile int i = 0; i < 100; i++) {
        work(1);
        if (sigsetjmp(out_of_there, 1) == 0)
            *(volatile int *)bad_address = 1;
    }
    printf("caught %d\n", (int)caught);
    return 0;
}

static int jump_from_trap(void)
{
    handle(SIGTRAP, jump_out, 0);
    for (volatile int i = 0; i < 50; i++) {
        work(2);
        if (sigsetjmp(out_of_there, 1) == 0)
            raise(SIGTRAP);
    }
    sigset_t got;
    pthread_sigmask(SIG_SETMASK, NULL, &got);
    printf("caught %d, blocked %d\n", (int)caught, sigismember(&got, SIGTRAP));
    return 0;
}

static int interrupted_calls(void)
{
    /* Samples and pauses must not show as EINTR, nor as short sleeps. */
    int pipes[2], short_sleeps = 0;
    char byte;
    if (pipe(pipes) != 0)
        return 1;
    for (int i = 0; i < 20; i++) {
        struct timespec length = {0, 5000000}, before, after;
        work(5);
        clock_gettime(CLOCK_MONOTONIC, &before);
        int result = nanosleep(&length, NULL);
        clock_gettime(CLOCK_MONOTONIC, &after);
        long slept = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
        short_sleeps += result != 0 || slept < 5000000;
        if (write(pipes[1], "x", 1) != 1 || read(pipes[0], &byte, 1) != 1)
            printf("pipe: %d\n", errno);
    }
    printf("short sleeps: %d\n", short_sleeps);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"trap-handler", trap_handler},
        {"trap-query", trap_query},
        {"trap-blocked", trap_blocked},
        {"trap-nested", trap_nested},
        {"trap-default", trap_default},
        {"trap-wait", trap_wait},
        {"prof-timer", prof_timer},
        {"sigwait-full", sigwait_full},
        {"poll-mask", poll_mask},
        {"signal-fd", signal_fd},
        {"small-stack", small_stack},
        {"own-fault", own_fault},
        {"jump-from-trap", jump_from_trap},
        {"interrupted-calls", interrupted_calls},
        {NULL, NULL},
    };
    return play(scenes, argc, argv);
}
