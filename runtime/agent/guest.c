/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits and wake-ups of interposed calls: the slow paths. See guest.h.
 *
 * While a thread is in a known wait its own samples do not settle: what a spinning or a just woken thread owes is
 * decided at the end of the wait, by what ended it.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/modules.h"
#include "runtime/agent/signal/pause.h"
#include "runtime/session/session.h"
#include <errno.h>

_Atomic uint64_t wi_wakers[WI_WAKERS];

void wi_guest_settle(struct wi_account *account, uintptr_t site)
{
    if (account->busy || wi_session_is_dormant(wi_session))
        return;
    account->busy = true;
    uint64_t adopted = atomic_load_explicit(&account->slot->experiment, memory_order_relaxed);
    uint64_t word = wi_ledger_adopt(account->slot, &wi_session->clock);
    account->busy = false;
    if (word != adopted)
        wi_modules_refresh_if_stale();
    /* What it has earned since its last sample comes first: a thread must not pause for what it is spared. */
    if (wi_is_crediting(account->slot) && wi_ledger_is_due(account->slot, &wi_session->clock))
        wi_guest_cut(account, site);
    if (wi_ledger_is_due(account->slot, &wi_session->clock))
        wi_pause_in_guest(account, word);
}

void wi_guest_cut(struct wi_account *account, uintptr_t site)
{
    if (account->busy)
        return;
    int saved = errno;
    account->busy = true;
    uint64_t word = wi_ledger_adopt(account->slot, &wi_session->clock);
    uint32_t unit = wi_session->sets[wi_experiment_set(word) % WI_RANGE_SETS].unit;
    uint32_t epoch = wi_experiment_epoch(word);
    uint64_t run_ns = wi_run_clock_advance(account);
    uint64_t code_ns = wi_segment_end(&account->segment, epoch, unit, site, run_ns);
    if (word & WI_EXPERIMENT_CREDITING)
        wi_ledger_credit_code(account->slot, &wi_session->clock, word, code_ns);
    wi_segment_begin(&account->segment, epoch, site, run_ns);
    account->busy = false;
    errno = saved;
}

struct wi_wait wi_wait_begin_at(enum wi_wait_source source, uintptr_t site)
{
    struct wi_wait wait = {0, 0, site};
    struct wi_thread *slot = wi_self.slot;
    if (!slot || wi_self.busy)
        return wait;
    if (wi_is_crediting(slot))
        wi_guest_cut(&wi_self, site);
    wait.since_ns = wi_now_ns();
    wait.paused_ns = atomic_load_explicit(&slot->paused_ns, memory_order_relaxed);
    atomic_store_explicit(&slot->waiting_since, wait.since_ns, memory_order_relaxed);
    atomic_store_explicit(&slot->state, source == WI_BY_PEER ? WI_THREAD_WAITING : WI_THREAD_ASLEEP,
                          memory_order_relaxed);
    return wait;
}

/* What the waker had served: the later of the words left at the two objects; D where there is none. */
static uint64_t waker_delay(const void *object, const void *second)
{
    uint64_t ordered = atomic_load_explicit(&wi_session->clock.global_delay, memory_order_relaxed);
    uint64_t served = 0;
    const void *objects[2] = {object, second};
    for (int i = 0; i < 2; i++) {
        if (!objects[i])
            continue;
        uint64_t hash = wi_waker_hash(objects[i]);
        uint64_t word = atomic_load_explicit(&wi_wakers[hash >> 52], memory_order_relaxed);
        if (word == 0 || word >> 48 != (hash & 0xffff))
            return ordered;
        uint64_t left = (word & WI_WAKER_DELAY) | (ordered & ~WI_WAKER_DELAY);
        served = left > served ? left : served;
    }
    return served && served < ordered ? served : ordered;
}

static void note_wait(struct wi_account *account, uint64_t blocked_ns, enum wi_wait_source source)
{
    struct wi_thread *slot = account->slot;
    atomic_store_explicit(&slot->waited_ns,
                          atomic_load_explicit(&slot->waited_ns, memory_order_relaxed) + blocked_ns,
                          memory_order_relaxed);
    account->wait_ns += blocked_ns;
    if (blocked_ns > account->longest_wait_ns) {
        account->longest_wait_ns = blocked_ns;
        account->longest_wait_kind = (uint16_t)source;
    }
}

void wi_wait_end(const struct wi_wait *wait, enum wi_wait_source source, const void *object,
                 const void *second)
{
    struct wi_account *account = &wi_self;
    struct wi_thread *slot = account->slot;
    if (!wait->since_ns || !slot)
        return;
    int saved = errno;
    account->busy = true;
    uint64_t elapsed = wi_now_ns() - wait->since_ns;
    uint64_t paused = atomic_load_explicit(&slot->paused_ns, memory_order_relaxed) - wait->paused_ns;
    uint64_t blocked = elapsed > paused ? elapsed - paused : 0;
    uint64_t word = wi_ledger_adopt(slot, &wi_session->clock);
    if (wi_is_crediting(slot))
        wi_segment_begin(&account->segment, wi_experiment_epoch(word), wait->site,
                         wi_run_clock_rebase(account));
    if (source == WI_BY_PEER)
        wi_ledger_catch_up(slot, waker_delay(object, second), blocked);
    note_wait(account, blocked, source);
    atomic_store_explicit(&slot->waiting_since, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->state, WI_THREAD_RUNNING, memory_order_relaxed);
    account->busy = false;
    if (source == WI_BY_WORLD)
        wi_catch_up(); /* rule 4: the wait keeps its length in virtual time */
    errno = saved;
}
