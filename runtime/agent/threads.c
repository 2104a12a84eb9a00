/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads coming and going. See threads.h.
 *
 * The end of a thread is a thread-specific destructor that asks for another round as long as it may: destructors of
 * the program then run before it, still sampled and paused. What runs later belongs to libc.
 */
#include "runtime/agent/threads.h"
#include "runtime/agent/guest.h"
#include "runtime/agent/signal/disposition.h"
#include "runtime/agent/signal/event.h"
#include "runtime/agent/signal/pause.h"
#include "runtime/agent/signal/sampler.h"
#include "runtime/session/session.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct wi_account wi_self __attribute__((tls_model("initial-exec")));
struct wi_session *wi_session;

static pthread_key_t end_of_thread;
static bool have_key;

static void at_thread_end(void *mark)
{
    if (++wi_self.exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
        pthread_setspecific(end_of_thread, mark) == 0)
        return;
    wi_threads_leave();
}

void wi_threads_init(void)
{
    have_key = pthread_key_create(&end_of_thread, at_thread_end) == 0;
}

struct wi_heritage wi_threads_bequeath(void)
{
    struct wi_heritage heritage = {0, 0, wi_self.shared_blocked};
    if (wi_self.slot) {
        wi_catch_up();
        heritage.local_delay = atomic_load_explicit(&wi_self.slot->local_delay, memory_order_relaxed);
        heritage.experiment = atomic_load_explicit(&wi_self.slot->experiment, memory_order_relaxed);
    }
    return heritage;
}

/* Slots freed last are taken first: the table stays short and warm. */
static _Atomic uint32_t likely_free;

static struct wi_thread *claim(uint32_t tid, uint16_t *index)
{
    uint32_t start = atomic_load_explicit(&likely_free, memory_order_relaxed);
    for (uint32_t n = 0; n < WI_MAX_THREADS; n++) {
        uint32_t i = (start + n) % WI_MAX_THREADS;
        struct wi_thread *slot = &wi_session->threads[i];
        uint32_t free_slot = 0;
        if (atomic_load_explicit(&slot->tid, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong(&slot->tid, &free_slot, tid))
            continue;
        uint32_t high = atomic_load(&wi_session->threads_high);
        while (high < i + 1 && !atomic_compare_exchange_weak(&wi_session->threads_high, &high, i + 1))
            ;
        atomic_store_explicit(&likely_free, i + 1, memory_order_relaxed);
        *index = (uint16_t)i;
        return slot;
    }
    atomic_fetch_add(&wi_session->overflow.threads, 1);
    return NULL;
}

/* Within a tenth of the session's period, each thread its own. */
static uint64_t own_period(void)
{
    uint64_t tenth = wi_session->period_ns / 10;
    return wi_session->period_ns - tenth + wi_event_random() % (2 * tenth + 1);
}

void wi_threads_enter(const struct wi_heritage *heritage, uintptr_t stack_high, uintptr_t site)
{
    struct wi_account *self = &wi_self;
    if (!wi_session || self->slot || self->leaving || wi_session_is_dormant(wi_session))
        return;
    int saved = errno;
    self->tid = (uint32_t)syscall(SYS_gettid);
    struct wi_thread *slot = claim(self->tid, &self->slot_index);
    if (slot) {
        atomic_fetch_add(&slot->generation, 1);
        atomic_store(&slot->process, self->process_index);
        atomic_store(&slot->local_delay, heritage->local_delay);
        atomic_store(&slot->experiment, heritage->experiment);
        atomic_store(&slot->state, WI_THREAD_RUNNING);
        atomic_store(&slot->waiting_since, 0);
        slot->overshoot_ns = slot->sham_delay = 0;
        slot->expected_overshoot_ns = wi_session->expected_overshoot_ns;
        slot->period_ns = own_period();
        self->stack_high = stack_high;
        bool was_blocked = wi_disposition_unblock_ours();
        self->shared_blocked = heritage->shared_blocked || was_blocked;
        self->busy = false;
        self->exit_rounds = 0;
        self->wait_ns = self->pause_ns = self->longest_wait_ns = 0;
        self->sampled_cpu_ns = wi_thread_cpu_ns();
        wi_segment_begin(&self->segment, wi_experiment_epoch(heritage->experiment), site,
                         wi_run_clock_rebase(self));
        self->slot = slot;
        if (have_key)
            pthread_setspecific(end_of_thread, self);
        enum wi_sampler sampler = wi_session->processes[self->process_index].sampler;
        if (sampler != WI_SAMPLER_NONE && !wi_event_open(self, sampler, slot->period_ns))
            atomic_fetch_add(&wi_session->overflow.events_refused, 1);
    }
    errno = saved;
}

void wi_threads_leave(void)
{
    struct wi_account *self = &wi_self;
    struct wi_thread *slot = self->slot;
    self->leaving = true;
    if (!slot)
        return;
    int saved = errno;
    wi_event_close(self);
    wi_before_wake((const void *)pthread_self());
    wi_sampler_tell_exit(self);
    self->slot = NULL;
    atomic_store_explicit(&slot->tid, 0, memory_order_release);
    if (self->slot_index < atomic_load_explicit(&likely_free, memory_order_relaxed))
        atomic_store_explicit(&likely_free, self->slot_index, memory_order_relaxed);
    errno = saved;
}

void wi_threads_after_fork(void)
{
    struct wi_account *self = &wi_self;
    struct wi_thread *parents = self->slot;
    if (!parents)
        return;
    struct wi_heritage heritage = {atomic_load_explicit(&parents->local_delay, memory_order_relaxed),
                                   atomic_load_explicit(&parents->experiment, memory_order_relaxed),
                                   self->shared_blocked};
    wi_event_forget(self);
    self->slot = NULL;
    wi_threads_enter(&heritage, self->stack_high, self->segment.start_site);
}
