/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions behind the interposed ones.
 *
 * Each is looked up behind this object in the search order, so that another preloaded library between us and libc
 * keeps its place. All are looked up at once, by the first of: the agent's constructor, the first interposed call
 * (calls arrive before constructors have run). The lookup itself may lead back into an interposed function: an
 * allocator that takes a lock in its own start. Those find the table half full and use libc's own names.
 *
 * Context: guest. A pointer is NULL only where this libc lacks the function.
 */
#ifndef WI_AGENT_REAL_H
#define WI_AGENT_REAL_H

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>

/* X(result, name, arguments) for every function whose original is called. */
#define WI_REAL_FUNCTIONS(X)                                                                                 \
    X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))                 \
    X(int, pthread_join, (pthread_t, void **))                                                               \
    X(int, pthread_tryjoin_np, (pthread_t, void **))                                                         \
    X(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *))                              \
    X(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *))                   \
    X(void, pthread_exit, (void *))                                                                          \
    X(int, pthread_detach, (pthread_t))                                                                      \
    X(int, pthread_cancel, (pthread_t))                                                                      \
    X(int, pthread_kill, (pthread_t, int))                                                                   \
    X(int, pthread_sigqueue, (pthread_t, int, const union sigval))                                           \
    X(int, pthread_mutex_lock, (pthread_mutex_t *))                                                          \
    X(int, pthread_mutex_trylock, (pthread_mutex_t *))                                                       \
    X(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *))                            \
    X(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *))                 \
    X(int, pthread_mutex_unlock, (pthread_mutex_t *))                                                        \
    X(int, pthread_rwlock_rdlock, (pthread_rwlock_t *))                                                      \
    X(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                                                   \
    X(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *))                        \
    X(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))             \
    X(int, pthread_rwlock_wrlock, (pthread_rwlock_t *))                                                      \
    X(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *))                                                   \
    X(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *))                        \
    X(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *))             \
    X(int, pthread_rwlock_unlock, (pthread_rwlock_t *))                                                      \
    X(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                                         \
    X(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))           \
    X(int, pthread_cond_clockwait,                                                                           \
      (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))                             \
    X(int, pthread_cond_signal, (pthread_cond_t *))                                                          \
    X(int, pthread_cond_broadcast, (pthread_cond_t *))                                                       \
    X(int, pthread_barrier_wait, (pthread_barrier_t *))                                                      \
    X(int, pthread_spin_lock, (pthread_spinlock_t *))                                                        \
    X(int, pthread_spin_trylock, (pthread_spinlock_t *))                                                     \
    X(int, pthread_spin_unlock, (pthread_spinlock_t *))                                                      \
    X(int, pthread_once, (pthread_once_t *, void (*)(void)))                                                 \
    X(void, call_once, (once_flag *, void (*)(void)))                                                        \
    X(int, sem_wait, (sem_t *))                                                                              \
    X(int, sem_trywait, (sem_t *))                                                                           \
    X(int, sem_timedwait, (sem_t *, const struct timespec *))                                                \
    X(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *))                                     \
    X(int, sem_post, (sem_t *))                                                                              \
    X(int, mtx_lock, (mtx_t *))                                                                              \
    X(int, mtx_trylock, (mtx_t *))                                                                           \
    X(int, mtx_timedlock, (mtx_t *, const struct timespec *))                                                \
    X(int, mtx_unlock, (mtx_t *))                                                                            \
    X(int, cnd_wait, (cnd_t *, mtx_t *))                                                                     \
    X(int, cnd_timedwait, (cnd_t *, mtx_t *, const struct timespec *))                                       \
    X(int, cnd_signal, (cnd_t *))                                                                            \
    X(int, cnd_broadcast, (cnd_t *))                                                                         \
    X(int, thrd_create, (thrd_t *, thrd_start_t, void *))                                                    \
    X(int, thrd_join, (thrd_t, int *))                                                                       \
    X(void, thrd_exit, (int))                                                                                \
    X(int, thrd_detach, (thrd_t))                                                                            \
    X(int, thrd_sleep, (const struct timespec *, struct timespec *))                                         \
    X(int, nanosleep, (const struct timespec *, struct timespec *))                                          \
    X(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *))                    \
    X(int, usleep, (useconds_t))                                                                             \
    X(unsigned, sleep, (unsigned))                                                                           \
    X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                                   \
    X(int, siginterrupt, (int, int))                                                                         \
    X(sighandler_t, signal, (int, sighandler_t))                                                             \
    X(sighandler_t, sysv_signal, (int, sighandler_t))                                                        \
    X(sighandler_t, sigset, (int, sighandler_t))                                                             \
    X(int, sigignore, (int))                                                                                 \
    X(int, pthread_sigmask, (int, const sigset_t *, sigset_t *))                                             \
    X(int, sigsuspend, (const sigset_t *))                                                                   \
    X(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *))                           \
    X(int, sigpending, (sigset_t *))                                                                         \
    X(int, sigaltstack, (const stack_t *, stack_t *))                                                        \
    X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))                      \
    X(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))          \
    X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))                             \
    X(int, epoll_pwait2, (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))        \
    X(int, signalfd, (int, const sigset_t *, int))                                                           \
    X(void, _exit, (int))                                                                                    \
    X(void, quick_exit, (int))                                                                               \
    X(int, dlclose, (void *))

#define WI_REAL_FIELD(result, name, arguments) result(*name) arguments;
struct wi_real {
    WI_REAL_FUNCTIONS(WI_REAL_FIELD)
};
#undef WI_REAL_FIELD

extern struct wi_real wi_real_table;
extern bool wi_real_ready;

/* Fill the table. Idempotent; safe to re-enter from within. */
void wi_real_resolve(void);

static inline const struct wi_real *wi_real(void)
{
    if (__builtin_expect(!wi_real_ready, 0))
        wi_real_resolve();
    return &wi_real_table;
}

#endif
