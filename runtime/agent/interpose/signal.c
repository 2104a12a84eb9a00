/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal dispositions and masks: the program sees its own state of the shared signal (signal/disposition.h), and
 * everything else goes through.
 *
 * The shared signal is taken out of every mask that the program sets, and put back into every mask that it reads.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include "runtime/agent/signal/disposition.h"
#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

/* Program's handlers whose mask names the shared signal: asked for, never done, told when queried. */
static _Atomic bool mask_names_ours[NSIG + 1];

static bool is_ours(int signal)
{
    return wi_shared_signal && signal == wi_shared_signal;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (is_ours(signal))
        return wi_disposition_action(action, old);
    struct sigaction copy;
    const struct sigaction *given = action;
    bool names_ours = action && wi_shared_signal && sigismember(&action->sa_mask, wi_shared_signal) == 1;
    if (names_ours) {
        copy = *action;
        sigdelset(&copy.sa_mask, wi_shared_signal);
        given = &copy;
    }
    int result = wi_real()->sigaction(signal, given, old);
    if (result == 0 && signal > 0 && signal <= NSIG) {
        if (old && mask_names_ours[signal])
            sigaddset(&old->sa_mask, wi_shared_signal);
        if (action)
            mask_names_ours[signal] = names_ours;
    }
    return result;
}

static sighandler_t set_ours(sighandler_t handler, int flags)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    wi_disposition_action(&action, &old);
    return old.sa_handler;
}

sighandler_t signal(int number, sighandler_t handler)
{
    return is_ours(number) ? set_ours(handler, SA_RESTART) : wi_real()->signal(number, handler);
}

sighandler_t bsd_signal(int number, sighandler_t handler); /* no header declares it any more */

sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return is_ours(number) ? set_ours(handler, (int)(SA_RESETHAND | SA_NODEFER))
                           : wi_real()->sysv_signal(number, handler);
}

sighandler_t sigset(int number, sighandler_t handler)
{
    return is_ours(number) ? set_ours(handler, 0) : wi_real()->sigset(number, handler);
}

int sigignore(int number)
{
    if (!is_ours(number))
        return wi_real()->sigignore(number);
    set_ours(SIG_IGN, 0);
    return 0;
}

int siginterrupt(int number, int interrupt)
{
    if (!is_ours(number))
        return wi_real()->siginterrupt(number, interrupt);
    struct sigaction action;
    wi_disposition_action(NULL, &action);
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return wi_disposition_action(&action, NULL);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    wi_disposition_notice_jump((uintptr_t)__builtin_frame_address(0));
    bool was_blocked = wi_self.shared_blocked;
    bool named = set && wi_shared_signal && sigismember(set, wi_shared_signal) == 1;
    int result = wi_real()->pthread_sigmask(how, wi_disposition_without_ours(set, &copy), old);
    if (result != 0 || !wi_shared_signal)
        return result;
    if (old && was_blocked)
        sigaddset(old, wi_shared_signal);
    if (set && (how == SIG_SETMASK || named))
        wi_self.shared_blocked = named && how != SIG_UNBLOCK;
    if (was_blocked && !wi_self.shared_blocked)
        wi_disposition_deliver_pending();
    return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = pthread_sigmask(how, set, old);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int sigpending(sigset_t *set)
{
    int result = wi_real()->sigpending(set);
    if (result == 0 && wi_self.shared_pending)
        sigaddset(set, wi_shared_signal);
    return result;
}

int sigaltstack(const stack_t *stack, stack_t *old)
{
    int result = wi_real()->sigaltstack(stack, old);
    if (result == 0 && stack) {
        bool off = (stack->ss_flags & SS_DISABLE) != 0;
        wi_self.alternate_low = off ? 0 : (uintptr_t)stack->ss_sp;
        wi_self.alternate_high = off ? 0 : (uintptr_t)stack->ss_sp + stack->ss_size;
    }
    return result;
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    sigset_t copy;
    return wi_real()->signalfd(fd, wi_disposition_without_ours(mask, &copy), flags);
}
