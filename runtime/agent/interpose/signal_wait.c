/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits that name signals: as they wait, the shared signal must neither be blocked nor be taken by them.
 *
 * Signals may come from a peer or from the world; which it was is not known, and the cautious answer is the world.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include "runtime/agent/signal/disposition.h"
#include <errno.h>

/* For the length of a call that swaps masks, the program's belief about the shared signal swaps, too. */
struct belief {
    bool blocked;     /* before the call */
    bool interrupted; /* one that was pending has been delivered: the wait is over before it began */
};

static struct belief swap_belief(const sigset_t *mask)
{
    struct belief before = {wi_self.shared_blocked, false};
    if (mask && wi_shared_signal) {
        wi_self.shared_blocked = sigismember(mask, wi_shared_signal) == 1;
        before.interrupted = before.blocked && !wi_self.shared_blocked && wi_self.shared_pending;
        if (before.interrupted)
            wi_disposition_deliver_pending();
    }
    return before;
}

static void restore_belief(struct belief before)
{
    wi_self.shared_blocked = before.blocked;
}

static int is_interrupted(struct belief before)
{
    restore_belief(before);
    errno = EINTR;
    return -1;
}

int sigsuspend(const sigset_t *mask)
{
    sigset_t copy;
    wi_catch_up();
    struct belief belief = swap_belief(mask);
    if (belief.interrupted)
        return is_interrupted(belief);
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->sigsuspend(wi_disposition_without_ours(mask, &copy));
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    restore_belief(belief);
    return result;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t copy;
    siginfo_t accepted;
    bool names_ours = wi_shared_signal && sigismember(set, wi_shared_signal) == 1;
    wi_catch_up();
    if (names_ours && wi_disposition_accept_pending(&accepted))
        goto ours;
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->sigtimedwait(wi_disposition_without_ours(set, &copy), info, timeout);
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    if (result >= 0 || errno != EINTR || !names_ours || !wi_disposition_accept_pending(&accepted))
        return result;
ours:
    if (accepted.si_code == SI_TKILL)
        accepted.si_code = SI_USER; /* as glibc shows it */
    if (info)
        *info = accepted;
    return wi_shared_signal;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

int sigwait(const sigset_t *set, int *signal)
{
    int saved = errno, result;
    do
        result = sigtimedwait(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    int error = result < 0 ? errno : 0;
    errno = saved;
    if (error == 0)
        *signal = result;
    return error;
}

int ppoll(struct pollfd *descriptors, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    sigset_t copy;
    wi_catch_up();
    struct belief belief = swap_belief(mask);
    if (belief.interrupted)
        return is_interrupted(belief);
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->ppoll(descriptors, n, timeout, wi_disposition_without_ours(mask, &copy));
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    restore_belief(belief);
    return result;
}

int pselect(int n, fd_set *readable, fd_set *writable, fd_set *exceptional, const struct timespec *timeout,
            const sigset_t *mask)
{
    sigset_t copy;
    wi_catch_up();
    struct belief belief = swap_belief(mask);
    if (belief.interrupted)
        return is_interrupted(belief);
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->pselect(n, readable, writable, exceptional, timeout,
                                    wi_disposition_without_ours(mask, &copy));
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    restore_belief(belief);
    return result;
}

int epoll_pwait(int epoll, struct epoll_event *events, int n, int timeout_ms, const sigset_t *mask)
{
    sigset_t copy;
    wi_catch_up();
    struct belief belief = swap_belief(mask);
    if (belief.interrupted)
        return is_interrupted(belief);
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result =
        wi_real()->epoll_pwait(epoll, events, n, timeout_ms, wi_disposition_without_ours(mask, &copy));
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    restore_belief(belief);
    return result;
}

int epoll_pwait2(int epoll, struct epoll_event *events, int n, const struct timespec *timeout,
                 const sigset_t *mask)
{
    sigset_t copy;
    if (!wi_real()->epoll_pwait2) {
        errno = ENOSYS;
        return -1;
    }
    wi_catch_up();
    struct belief belief = swap_belief(mask);
    if (belief.interrupted)
        return is_interrupted(belief);
    struct wi_wait wait = wi_wait_begin(WI_BY_WORLD);
    int result = wi_real()->epoll_pwait2(epoll, events, n, timeout, wi_disposition_without_ours(mask, &copy));
    wi_wait_end(&wait, WI_BY_WORLD, NULL, NULL);
    restore_belief(belief);
    return result;
}
