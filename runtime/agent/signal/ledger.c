/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The delay ledger: credit, settle, catch up. ledger.h has the idea; what is subtle stands at the lines.
 */
#include "runtime/agent/signal/ledger.h"

#define LONGEST_SLEEP_NS  (20u * 1000 * 1000) /* then look again whether the session still wants it */
#define MEDIAN_STEP_NS    500
#define LEAST_OVERSHOOT   2000
#define LARGEST_OVERSHOOT 200000

static void raise_to(_Atomic uint64_t *total, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(total, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak_explicit(total, &seen, value, memory_order_relaxed,
                                                                  memory_order_relaxed))
        ;
}

static void add(_Atomic uint64_t *own_total, uint64_t value)
{
    uint64_t sum = atomic_load_explicit(own_total, memory_order_relaxed) + value;
    atomic_store_explicit(own_total, sum, memory_order_relaxed);
}

void wi_ledger_credit(struct wi_thread *slot, struct wi_clock *clock, uint64_t ns, bool placebo)
{
    uint64_t spared = atomic_load_explicit(&slot->local_delay, memory_order_relaxed) + ns;
    if (!placebo) {
        atomic_store_explicit(&slot->local_delay, spared, memory_order_relaxed);
    } else {
        /* L lags by what is too short to be slept: from there, small lumps would never add up. */
        if (slot->sham_delay > spared - ns)
            spared = slot->sham_delay + ns;
        slot->sham_delay = spared;
    }
    raise_to(&clock->global_delay, spared);
}

/* A running median: robust against the rare sleep that takes a millisecond longer. */
static void learn_overshoot(struct wi_thread *slot, uint64_t overshoot_ns)
{
    uint64_t expected = slot->expected_overshoot_ns;
    if (overshoot_ns > expected && expected < LARGEST_OVERSHOOT)
        expected += MEDIAN_STEP_NS;
    else if (overshoot_ns < expected && expected > LEAST_OVERSHOOT)
        expected -= MEDIAN_STEP_NS;
    slot->expected_overshoot_ns = expected;
}

uint64_t wi_ledger_settle(struct wi_thread *slot, struct wi_clock *clock, uint64_t in_force,
                          const struct wi_time *time)
{
    uint64_t slept = 0;
    while (wi_ledger_is_due(slot, clock)) {
        uint64_t debt = wi_ledger_debt(slot, clock);

        /* What an earlier sleep took too much pays first. */
        if (slot->overshoot_ns >= debt) {
            slot->overshoot_ns -= debt;
            add(&slot->local_delay, debt);
            break;
        }
        uint64_t due = debt - slot->overshoot_ns;
        if (due <= wi_ledger_threshold(slot))
            break;

        /* Aim short by what sleeps usually take too long: then the error is as often early as late. */
        uint64_t ask = due > LONGEST_SLEEP_NS ? LONGEST_SLEEP_NS : due;
        ask = ask > slot->expected_overshoot_ns ? ask - slot->expected_overshoot_ns : 1;
        uint64_t before = time->now_ns();
        time->sleep_ns(ask);
        uint64_t took = time->now_ns() - before;
        slept += took;
        add(&slot->pauses, 1);
        add(&slot->paused_ns, took);
        learn_overshoot(slot, took > ask ? took - ask : 0);

        /* The experiment may have ended meanwhile; its debts are void, and so is what was slept for them. */
        if (wi_experiment_epoch(atomic_load_explicit(&clock->experiment, memory_order_acquire)) !=
            wi_experiment_epoch(in_force))
            break;

        uint64_t paid = took + slot->overshoot_ns;
        slot->overshoot_ns = paid > debt ? paid - debt : 0;
        add(&slot->local_delay, paid > debt ? debt : paid);
        if (atomic_load_explicit(&clock->dormant, memory_order_relaxed))
            break;
    }
    return slept;
}

uint64_t wi_ledger_catch_up(struct wi_thread *slot, uint64_t waker_delay, uint64_t blocked_ns)
{
    uint64_t own = atomic_load_explicit(&slot->local_delay, memory_order_relaxed);
    uint64_t reach = own + blocked_ns;
    uint64_t target = waker_delay < reach ? waker_delay : reach;
    slot->overshoot_ns = 0; /* a thread that had to wait anyway was not held up by it */
    if (target <= own)
        return 0;
    atomic_store_explicit(&slot->local_delay, target, memory_order_relaxed);
    add(&slot->absorbed_ns, target - own);
    return target - own;
}
