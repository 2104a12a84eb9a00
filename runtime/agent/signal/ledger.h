/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The delay ledger: the arithmetic of the virtual clock (docs/VIRTUAL-CLOCK.md).
 *
 * A virtual speedup of some code is everyone *else* pausing. The session holds the total of delay ordered so far, D;
 * each thread the part that it has served or been spared, L. What is missing is its debt, D - L, and t - L is the
 * thread's virtual time. D and L only grow, and L never exceeds D, so a stale read of D makes a thread settle late,
 * never twice. Late is harmless while it runs and wrong once it wakes another thread: hence a settlement before
 * every wake-up.
 *
 * Time and sleep come from outside, so that the rules can be tested with a scripted clock. All functions act on the
 * calling thread's slot. Context: signal and guest; no libc calls but through wi_time.
 */
#ifndef WI_AGENT_LEDGER_H
#define WI_AGENT_LEDGER_H

#include "runtime/session/layout.h"
#include <stdbool.h>
#include <stdint.h>

struct wi_time { /* where time comes from */
    uint64_t (*now_ns)(void);
    void (*sleep_ns)(uint64_t ns); /* may take longer, never shorter */
};

/* Rule 8. Take over the running experiment if it is another than the one adopted: what was owed is forgiven.
 * Returns the experiment word in force. */
static inline uint64_t wi_ledger_adopt(struct wi_thread *slot, struct wi_clock *clock)
{
    uint64_t word = atomic_load_explicit(&clock->experiment, memory_order_acquire);
    uint64_t adopted = atomic_load_explicit(&slot->experiment, memory_order_relaxed);
    if (__builtin_expect(word == adopted, 1))
        return word;
    if (wi_experiment_epoch(word) != wi_experiment_epoch(adopted)) {
        uint64_t start = atomic_load_explicit(&clock->start_delay, memory_order_relaxed);
        if (start > atomic_load_explicit(&slot->local_delay, memory_order_relaxed))
            atomic_store_explicit(&slot->local_delay, start, memory_order_relaxed);
        slot->overshoot_ns = 0;
    }
    atomic_store_explicit(&slot->experiment, word, memory_order_relaxed);
    return word;
}

static inline uint64_t wi_ledger_debt(const struct wi_thread *slot, struct wi_clock *clock)
{
    uint64_t ordered = atomic_load_explicit(&clock->global_delay, memory_order_relaxed);
    uint64_t served = atomic_load_explicit(&slot->local_delay, memory_order_relaxed);
    return ordered > served ? ordered - served : 0;
}

/* Debts below this stay owed: the kernel cannot sleep so shortly. */
static inline uint64_t wi_ledger_threshold(const struct wi_thread *slot)
{
    return slot->expected_overshoot_ns;
}

/* Whether wi_ledger_settle would do anything: the one question on the fast path of every wake-up. */
static inline bool wi_ledger_is_due(const struct wi_thread *slot, struct wi_clock *clock)
{
    return wi_ledger_debt(slot, clock) > wi_ledger_threshold(slot);
}

/* Rule 1. The thread ran `ns` of virtual time saved inside the selected code: it is spared that much. With
 * `placebo` all others are charged the same, and the thread is not spared. */
void wi_ledger_credit(struct wi_thread *slot, struct wi_clock *clock, uint64_t ns, bool placebo);

/* The same for `code_ns` inside the selected code, at the speedup of the experiment in force. */
static inline void wi_ledger_credit_code(struct wi_thread *slot, struct wi_clock *clock, uint64_t in_force,
                                         uint64_t code_ns)
{
    uint64_t ns = code_ns * wi_experiment_speedup(in_force) / 10000;
    if (ns)
        wi_ledger_credit(slot, clock, ns, (in_force & WI_EXPERIMENT_SHAM) != 0);
}

/* Rules 2 and 7. Sleep off the debt. Returns the nanoseconds slept, 0 if nothing was due. `in_force` is the word
 * that wi_ledger_adopt returned: a sleep that crosses the end of that experiment is discarded. */
uint64_t wi_ledger_settle(struct wi_thread *slot, struct wi_clock *clock, uint64_t in_force,
                          const struct wi_time *time);

/* Rule 3. A peer whose served delay was `waker_delay` ended a wait that lasted `blocked_ns`: the debt is taken up by
 * the wait as far as it was long enough, and up to what the waker had served. Returns the debt taken up. */
uint64_t wi_ledger_catch_up(struct wi_thread *slot, uint64_t waker_delay, uint64_t blocked_ns);

#endif
