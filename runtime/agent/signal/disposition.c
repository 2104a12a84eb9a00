/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One signal, two owners. See disposition.h.
 *
 * The handler runs with all signals blocked, so that nothing of the program runs on top of it; it uses the program's
 * alternate stack if there is one, and restarts what it interrupted.
 */
#include "runtime/agent/signal/disposition.h"
#include "runtime/agent/real.h"
#include "runtime/agent/signal/account.h"
#include "runtime/agent/signal/event.h"
#include "runtime/agent/signal/sampler.h"
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

int wi_shared_signal;

static struct sigaction programs;         /* what the program believes to have installed */
static _Atomic uint32_t programs_version; /* odd while `programs` is being written */
static _Thread_local siginfo_t pending_info __attribute__((tls_model("initial-exec")));

static struct sigaction programs_action(void)
{
    for (;;) {
        uint32_t before = atomic_load_explicit(&programs_version, memory_order_acquire);
        struct sigaction copy = programs;
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && atomic_load_explicit(&programs_version, memory_order_relaxed) == before)
            return copy;
    }
}

static void set_programs_action(const struct sigaction *action)
{
    uint32_t even;
    do
        even = atomic_load(&programs_version) & ~1u;
    while (!atomic_compare_exchange_weak(&programs_version, &even, even + 1));
    programs = *action;
    atomic_store_explicit(&programs_version, even + 2, memory_order_release);
}

/* End as the default action would: install it and let the signal come again. */
static void default_action(int signal)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    wi_real()->sigaction(signal, &action, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    uint64_t one = 1ull << (signal - 1);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, NULL, sizeof one);
}

/* Call the program's handler under the mask that it asked for. */
static void call_handler(const struct sigaction *action, int signal, siginfo_t *info, ucontext_t *context)
{
    sigset_t mask = context->uc_sigmask, before;
    sigorset(&mask, &mask, &action->sa_mask);
    sigdelset(&mask, signal); /* really blocking it would blind the sampler */
    wi_real()->pthread_sigmask(SIG_SETMASK, &mask, &before);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signal, info, context);
    else
        action->sa_handler(signal);
    wi_real()->pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    bool synchronous = info->si_code > 0 && signal == WI_SIGNAL_TRAP;
    if (wi_self.shared_blocked && !synchronous) {
        wi_self.shared_pending = true;
        pending_info = *info;
        return;
    }
    struct sigaction action = programs_action();
    if (action.sa_handler == SIG_IGN && !synchronous)
        return;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN || wi_self.shared_blocked) {
        default_action(signal); /* a trap that nobody may have: the kernel kills for it, too */
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND) {
        struct sigaction reset;
        memset(&reset, 0, sizeof reset);
        set_programs_action(&reset);
    }
    bool was = wi_self.shared_blocked;
    uintptr_t outer_frame = wi_self.handler_frame;
    if (!outer_frame)
        wi_self.blocked_before = was;
    wi_self.handler_frame = (uintptr_t)__builtin_frame_address(0);
    wi_self.shared_blocked = !(action.sa_flags & SA_NODEFER);
    call_handler(&action, signal, info, context);
    wi_self.shared_blocked = was;
    wi_self.handler_frame = outer_frame;
    if (!was)
        wi_disposition_deliver_pending(); /* what came while it was in its handler; the kernel has it wait for our return */
}

static bool on_alternate_stack(uintptr_t address)
{
    return address >= wi_self.alternate_low && address < wi_self.alternate_high;
}

void wi_disposition_notice_jump(uintptr_t sp)
{
    uintptr_t frame = wi_self.handler_frame;
    if (!frame)
        return;
    bool frame_on_alternate = on_alternate_stack(frame);
    bool left = frame_on_alternate == on_alternate_stack(sp) ? sp > frame : frame_on_alternate;
    if (!left)
        return;
    wi_self.handler_frame = 0;
    wi_self.shared_blocked =
        wi_self.blocked_before; /* as siglongjmp restores the mask, which we do not see */
}

static uintptr_t interrupted_sp(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.sp;
#else
    (void)context;
    return 0; /* a jump stays unnoticed */
#endif
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    if (wi_event_is_ours(&wi_self, signal, info)) {
        wi_sampler_take(&wi_self, info, context);
        return;
    }
    int saved = errno;
    wi_disposition_notice_jump(interrupted_sp(context));
    pass_on(signal, info, context);
    errno = saved;
}

int wi_disposition_take(int signal)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&ours.sa_mask);
    if (wi_real()->sigaction(signal, &ours, &programs) != 0)
        return -errno;
    wi_shared_signal = signal;
    return 0;
}

bool wi_disposition_unblock_ours(void)
{
    if (!wi_shared_signal)
        return false;
    uint64_t ours = 1ull << (wi_shared_signal - 1), before = 0;
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, &before, sizeof before);
    return (before & ours) != 0;
}

int wi_disposition_action(const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before = programs_action();
    if (action)
        set_programs_action(action);
    if (old)
        *old = before;
    return 0;
}

void wi_disposition_deliver_pending(void)
{
    siginfo_t info;
    if (!wi_disposition_accept_pending(&info))
        return;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), wi_shared_signal, &info);
}

bool wi_disposition_accept_pending(siginfo_t *info)
{
    if (!wi_self.shared_pending)
        return false;
    wi_self.shared_pending = false;
    *info = pending_info;
    return true;
}
