/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sample: walk the stack, credit it if it lies in the selected code, tell the controller, settle.
 *
 * Each sample is acted on when it happens: a credit that comes late has missed the wake-up that should have seen it.
 * Baselines do the same work with a speedup of zero, so that the cost of a sample cancels.
 *
 * Runs in the signal handler, perhaps on a small alternate stack: the frames lie in thread-local memory.
 */
#include "runtime/agent/signal/sampler.h"
#include "runtime/agent/signal/code.h"
#include "runtime/agent/signal/event.h"
#include "runtime/agent/signal/mappings.h"
#include "runtime/agent/signal/pause.h"
#include "runtime/agent/signal/walk.h"
#include "runtime/session/ring.h"
#include <errno.h>
#include <string.h>

static _Thread_local struct {
    uint64_t frames[WI_STACK_FRAMES];
    uint32_t n;
    uint8_t flags;
} stack __attribute__((tls_model("initial-exec")));

static const struct wi_unwind_table *unwind_table(uint32_t module)
{
    uint64_t at = atomic_load_explicit(&wi_session->modules[module].unwind_at, memory_order_acquire);
    return at ? (const void *)((const char *)wi_session + at) : NULL;
}

/* Bounds of the stack that `sp` is on: the thread's own or the program's alternate one. */
static void bounds(const struct wi_account *account, uintptr_t sp, uintptr_t *low, uintptr_t *high)
{
    bool alternate = sp >= account->alternate_low && sp < account->alternate_high;
    *low = sp;
    *high = alternate ? account->alternate_high : account->stack_high;
}

static void walk_stack(const struct wi_account *account, const ucontext_t *context)
{
    struct wi_walk walk;
    wi_walk_from_context(&walk, context);
    stack.n = 0;
    stack.flags = 0;
    enum wi_walk_result result = WI_WALK_STEPPED;
    while (result == WI_WALK_STEPPED) {
        struct wi_mapping mapping;
        uintptr_t pc = wi_walk_code_address(&walk);
        bool known = wi_mappings_find(pc, &mapping);
        if (stack.n == WI_STACK_FRAMES) {
            stack.flags |= WI_SAMPLE_TRUNCATED;
            return;
        }
        uint64_t module = known ? mapping.module : WI_FRAME_NO_MODULE;
        uint64_t address = (known ? pc - mapping.bias : pc) & ((1ull << WI_FRAME_MODULE_SHIFT) - 1);
        stack.frames[stack.n++] = module << WI_FRAME_MODULE_SHIFT | address;
        uintptr_t low, high;
        bounds(account, walk.sp, &low, &high);
        result = wi_walk_step(&walk, known ? unwind_table(mapping.module) : NULL, known ? mapping.bias : 0,
                              low, high);
        if (result == WI_WALK_STEPPED && walk.sp == high)
            return; /* what called the thread's first function is libc's */
    }
    if (result == WI_WALK_BROKEN)
        stack.flags |= WI_SAMPLE_BROKEN;
}

/* Rule 1, for the selected code and for what is given. False if the range set changed under us. */
static bool credit(struct wi_account *account, uint64_t word, uint64_t weight_ns, uint64_t run_ns)
{
    if (!(word & (WI_EXPERIMENT_CREDITING | WI_EXPERIMENT_GIVEN)))
        return true;
    const struct wi_range_set *set = &wi_session->sets[wi_experiment_set(word) % WI_RANGE_SETS];
    uint32_t match = wi_code_match(wi_session, set, stack.frames, stack.n);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&wi_session->clock.experiment, memory_order_relaxed) != word)
        return false;
    bool hit = match & WI_RANGE_SELECTED && word & WI_EXPERIMENT_CREDITING;
    uint64_t code_ns =
        wi_segment_sample(&account->segment, wi_experiment_epoch(word), run_ns, weight_ns, hit);
    if (hit) {
        stack.flags |= WI_SAMPLE_HIT;
        wi_ledger_credit_code(account->slot, &wi_session->clock, word, code_ns);
    } else if (match & WI_RANGE_GIVEN && word & WI_EXPERIMENT_GIVEN) {
        wi_ledger_credit(account->slot, &wi_session->clock, weight_ns / 10000 * wi_session->given_speedup,
                         false);
    }
    return true;
}

static void record(struct wi_account *account, uint64_t weight_ns, uint64_t cpu_ns)
{
    uint64_t position;
    struct wi_sample *sample =
        wi_ring_claim(wi_session, account->slot_index % wi_session->n_rings, &position);
    if (!sample)
        return;
    struct wi_thread *slot = account->slot;
    sample->time_ns = wi_now_ns();
    sample->tid = account->tid;
    sample->slot = account->slot_index;
    sample->process = account->process_index;
    sample->generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    sample->flags = stack.flags;
    sample->n_frames = (uint8_t)stack.n;
    sample->wait_kind = account->longest_wait_kind;
    sample->weight_ns = weight_ns;
    sample->cpu_us = (uint32_t)((cpu_ns - account->sampled_cpu_ns) / 1000);
    sample->wait_us = (uint32_t)(account->wait_ns / 1000);
    sample->run_us = (uint32_t)((account->run_clock.run_ns - account->sampled_run_ns) / 1000);
    sample->pause_us = (uint32_t)(account->pause_ns / 1000);
    memcpy(sample->frames, stack.frames, stack.n * sizeof stack.frames[0]);
    wi_ring_commit(sample, position);
    account->wait_ns = account->longest_wait_ns = account->pause_ns = 0;
    account->longest_wait_kind = 0;
    account->sampled_cpu_ns = cpu_ns;
    account->sampled_run_ns = account->run_clock.run_ns;
}

static void count(_Atomic uint64_t *own_total)
{
    atomic_store_explicit(own_total, atomic_load_explicit(own_total, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void act_on(struct wi_account *account, const siginfo_t *info, const ucontext_t *context)
{
    struct wi_thread *slot = account->slot;
    if (!wi_event_is_ready(account))
        return;
    uint32_t periods = wi_event_drain(account);
    if (account->event_is_first)
        wi_event_regularise(account, slot->period_ns);
    if (wi_event_is_late(info) || account->busy) {
        atomic_fetch_add_explicit(&wi_session->overflow.discarded_samples, 1, memory_order_relaxed);
        return;
    }
    uint64_t word = wi_ledger_adopt(slot, &wi_session->clock);
    uint64_t run_ns = wi_run_clock_advance(account), cpu_ns = account->run_clock.cpu_ns;
    uint64_t weight_ns = slot->period_ns * periods;
    if (account->sampler == WI_SAMPLER_TIMER) /* as fine as the tick: what really passed */
        weight_ns = cpu_ns - account->sampled_cpu_ns;
    count(&slot->samples);
    walk_stack(account, context);
    if (!credit(account, word, weight_ns, run_ns))
        count(&slot->skipped);
    else if (stack.flags & WI_SAMPLE_HIT)
        count(&slot->hits);
    record(account, weight_ns, cpu_ns);
    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != WI_THREAD_WAITING)
        wi_pause_in_handler(account, word);
}

void wi_sampler_take(struct wi_account *account, const siginfo_t *info, void *context)
{
    int saved = errno;
    if (account->slot) {
        if (wi_session_is_dormant(wi_session))
            wi_event_close(account);
        else
            act_on(account, info, context);
    }
    errno = saved;
}

void wi_sampler_tell_exit(struct wi_account *account)
{
    stack.n = 0;
    stack.flags = WI_SAMPLE_EXIT;
    record(account, 0, wi_thread_cpu_ns());
}
