/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an interposed call does to the ledger: before it wakes somebody, and around a wait.
 *
 *     wi_before_wake(object);           settle, and leave word of what was served for whoever is woken
 *     result = real(...);
 *
 *     struct wi_wait wait = wi_wait_begin(WI_BY_PEER);
 *     result = real(...);
 *     wi_wait_end(&wait, WI_BY_PEER, object);       or WI_BY_WORLD, if that turns out to have ended it
 *
 * The word left for the woken is one entry of a small process-private table, by the object's address: the waker's L
 * just before the call that wakes. Without it (another process's waker, an entry overwritten) D at the return is the
 * next best: the waker had settled, and only what strangers earned since is forgiven too much.
 *
 * The fast paths are inline: with no delay owed, a wake-up costs two loads and two compares. Context: guest.
 */
#ifndef WI_AGENT_GUEST_H
#define WI_AGENT_GUEST_H

#include "runtime/agent/signal/account.h"
#include "runtime/agent/signal/ledger.h"

/* One word an entry, so that it is read whole: 16 bits of the address's hash, 48 bits of L. */
#define WI_WAKERS      4096
#define WI_WAKER_DELAY ((1ull << 48) - 1)
extern _Atomic uint64_t wi_wakers[WI_WAKERS];

struct wi_wait {
    uint64_t since_ns; /* 0: this thread takes no part */
    uint64_t paused_ns;
    uintptr_t site; /* of the call */
};

static inline uint64_t wi_waker_hash(const void *object)
{
    return (uint64_t)(uintptr_t)object * 0x9e3779b97f4a7c15ull;
}

static inline void wi_waker_publish(const struct wi_thread *slot, const void *object)
{
    uint64_t hash = wi_waker_hash(object);
    uint64_t delay = atomic_load_explicit(&slot->local_delay, memory_order_relaxed) & WI_WAKER_DELAY;
    atomic_store_explicit(&wi_wakers[hash >> 52], (hash << 48) | delay, memory_order_relaxed);
}

/* The slow half of wi_before_wake and wi_catch_up: adopt, settle. */
void wi_guest_settle(struct wi_account *account, uintptr_t site);

/* Serve what is owed. */
__attribute__((always_inline)) static inline void wi_catch_up(void)
{
    struct wi_thread *slot = wi_self.slot;
    if (__builtin_expect(!slot, 0))
        return;
    uint64_t word = atomic_load_explicit(&wi_session->clock.experiment, memory_order_relaxed);
    if (__builtin_expect(word != atomic_load_explicit(&slot->experiment, memory_order_relaxed) ||
                             wi_ledger_is_due(slot, &wi_session->clock),
                         0))
        wi_guest_settle(&wi_self, (uintptr_t)__builtin_return_address(0));
}

static inline bool wi_is_crediting(const struct wi_thread *slot)
{
    return (atomic_load_explicit(&slot->experiment, memory_order_relaxed) &
            (WI_EXPERIMENT_CREDITING | WI_EXPERIMENT_GIVEN)) != 0;
}

/* The thread's segment ends here (segment.h) and the next one begins: credit what is left of it. */
void wi_guest_cut(struct wi_account *account, uintptr_t site);

/* Before a call that may wake another thread by way of `object`, where a segment need not end: what is cheap, and
 * seldom wakes anybody. */
__attribute__((always_inline)) static inline void wi_before_cheap_wake(const void *object)
{
    struct wi_thread *slot = wi_self.slot;
    if (__builtin_expect(!slot, 0))
        return;
    wi_catch_up();
    if (wi_is_crediting(slot))
        wi_waker_publish(slot, object);
}

__attribute__((always_inline)) static inline void wi_before_wake_at(const void *object, uintptr_t site)
{
    struct wi_thread *slot = wi_self.slot;
    if (__builtin_expect(!slot, 0))
        return;
    if (wi_is_crediting(slot))
        wi_guest_cut(&wi_self, site);
    wi_before_cheap_wake(object);
}

/* Before a call that may wake another thread by way of `object`. */
#define wi_before_wake(object) wi_before_wake_at(object, (uintptr_t)__builtin_return_address(0))

/* Before a call that may block. A thread that owes keeps owing: the wait may take it up. */
struct wi_wait wi_wait_begin_at(enum wi_wait_source source, uintptr_t site);
#define wi_wait_begin(source) wi_wait_begin_at(source, (uintptr_t)__builtin_return_address(0))

/* After it. `source` says who ended the wait; `object` is where the waker left word, `second` where the last of
 * several did (the mutex of a condition variable), or NULL. Keeps errno. */
void wi_wait_end(const struct wi_wait *wait, enum wi_wait_source source, const void *object,
                 const void *second);

#endif
