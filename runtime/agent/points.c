/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress points.
 *
 * A point is a name in the session; processes and translation units that use the same name share it. Its counters
 * lie in the visiting thread's slot and only that thread adds to them: a visit costs a few nanoseconds whatever the
 * number of threads. The thread settles first, so that a visit is never counted before its virtual time.
 *
 * Begin and end also add up their virtual times, relative to the start of the session: the difference of the sums is
 * the integral of the number in flight (Little's law). Keyed pairs meet in a table of the session.
 *
 * A thread without a slot (no room, or vforked) counts in the point's own counters, the ones that code compiled
 * against Coz's header uses.
 */
#define WHATIF_INTERFACE_ONLY
#include "runtime/agent/points.h"
#include "include/whatif.h"
#include "runtime/agent/guest.h"
#include "runtime/agent/signal/pause.h"
#include "runtime/session/latency.h"
#include "runtime/session/session.h"
#include <string.h>

#define PAIR_PROBES 32

static struct wi_point *enter(const char *name, bool latency)
{
    for (uint32_t i = 0; i < WI_MAX_POINTS; i++) {
        struct wi_point *point = &wi_session->points[i];
        uint32_t state = atomic_load_explicit(&point->state, memory_order_acquire);
        if (state == 0 && atomic_compare_exchange_strong(&point->state, &state, 1)) {
            uint32_t words = latency ? WI_WORDS_LATENCY : WI_WORDS_THROUGHPUT;
            uint32_t counter = atomic_fetch_add(&wi_session->counters_used, words);
            if (counter + words > WI_MAX_COUNTERS) {
                atomic_store(&point->state, 0);
                break;
            }
            point->latency = latency;
            point->counter = counter;
            memcpy(point->name, name, strnlen(name, sizeof point->name - 1));
            atomic_store_explicit(&point->state, 2, memory_order_release);
            uint32_t high = atomic_load(&wi_session->points_high);
            while (high < i + 1 && !atomic_compare_exchange_weak(&wi_session->points_high, &high, i + 1))
                ;
            return point;
        }
        while (state == 1) /* another thread writes the name just now */
            state = atomic_load_explicit(&point->state, memory_order_acquire);
        if (state == 2 && point->latency == latency &&
            strncmp(point->name, name, sizeof point->name - 1) == 0)
            return point;
    }
    atomic_fetch_add(&wi_session->overflow.points, 1);
    return NULL;
}

/* One instruction on x86: a signal handler of the program that visits the same point then loses nothing. */
static inline void add_own(_Atomic uint64_t *counter, uint64_t value)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(value) : "cc");
#else
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + value,
                          memory_order_relaxed);
#endif
}

static uint64_t virtual_now(const struct wi_thread *slot)
{
    return wi_now_ns() - wi_session->start_ns -
           atomic_load_explicit(&slot->local_delay, memory_order_relaxed);
}

static uint64_t pair_tag(const struct wi_point *point, uint64_t key)
{
    uint64_t z = key + (uint64_t)(point - wi_session->points) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) | 1;
}

static void begin_pair(struct wi_point *point, uint64_t key, uint64_t now)
{
    uint64_t tag = pair_tag(point, key);
    for (uint32_t i = 0; i < PAIR_PROBES; i++) {
        struct wi_pair *pair = &wi_session->pairs[(tag + i) % WI_MAX_PAIRS];
        uint64_t seen = 0;
        if (atomic_compare_exchange_strong(&pair->tag, &seen, tag) || seen == tag) {
            atomic_store_explicit(&pair->begin_ns, now, memory_order_release);
            return;
        }
    }
    atomic_fetch_add(&wi_session->overflow.pairs, 1);
}

static void end_pair(struct wi_point *point, uint64_t key, uint64_t now)
{
    uint64_t tag = pair_tag(point, key);
    for (uint32_t i = 0; i < PAIR_PROBES; i++) {
        struct wi_pair *pair = &wi_session->pairs[(tag + i) % WI_MAX_PAIRS];
        if (atomic_load_explicit(&pair->tag, memory_order_acquire) != tag)
            continue;
        uint64_t begin = atomic_load_explicit(&pair->begin_ns, memory_order_acquire);
        atomic_store_explicit(&pair->tag, 0, memory_order_release);
        uint64_t latency =
            now > begin ? now - begin : 0; /* begin and end on different threads may owe a little */
        atomic_fetch_add_explicit(&point->matched, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&point->matched_sum_ns, latency, memory_order_relaxed);
        atomic_fetch_add_explicit(&point->histogram[wi_latency_bucket(latency)], 1, memory_order_relaxed);
        return;
    }
}

static void count_latency(struct wi_thread *slot, struct wi_point *point, const struct whatif_point *site,
                          uint64_t key)
{
    _Atomic uint64_t *counters = &slot->counters[point->counter];
    uint64_t now = virtual_now(slot);
    if (site->kind == WHATIF_KIND_BEGIN) {
        add_own(&counters[WI_WORD_BEGIN_TIMES], now);
        add_own(&counters[WI_WORD_BEGINS], 1);
        if (site->keyed)
            begin_pair(point, key, now);
    } else {
        add_own(&counters[WI_WORD_END_TIMES], now);
        add_own(&counters[WI_WORD_VISITS], 1);
        if (site->keyed)
            end_pair(point, key, now);
    }
}

void wi_points_visit(struct whatif_point *site, uint64_t key)
{
    static struct wi_point no_room;
    if (__builtin_expect(!wi_session, 0)) /* a child that is not followed */
        return;
    struct wi_point *point = __atomic_load_n((struct wi_point **)&site->handle, __ATOMIC_RELAXED);
    if (__builtin_expect(!point, 0)) {
        point = enter(site->name, site->kind != WHATIF_KIND_VISIT);
        __atomic_store_n((struct wi_point **)&site->handle, point ? point : &no_room, __ATOMIC_RELAXED);
    }
    if (__builtin_expect(!point || point == &no_room, 0))
        return;
    wi_catch_up();
    struct wi_thread *slot = wi_self.slot;
    if (__builtin_expect(!slot, 0))
        atomic_fetch_add(&point->coz[site->kind == WHATIF_KIND_END].count, 1);
    else if (site->kind == WHATIF_KIND_VISIT)
        add_own(&slot->counters[point->counter], 1);
    else
        count_latency(slot, point, site, key);
}

/* ---- what programs call or look up --------------------------------------------------------------------- */

static _Thread_local struct wi_wait home_made_wait __attribute__((tls_model("initial-exec")));

static void pre_block(void)
{
    home_made_wait = wi_wait_begin(WI_BY_PEER);
}

static void post_block(int woken_by_peer)
{
    wi_wait_end(&home_made_wait, woken_by_peer ? WI_BY_PEER : WI_BY_WORLD, NULL, NULL);
    home_made_wait = (struct wi_wait){0, 0, 0};
}

static void set_experiments(int on)
{
    atomic_store(&wi_session->clock.experiments_on, on ? 1 : 2);
}

static void nothing(void)
{
}

static void nothing_int(int ignored)
{
    (void)ignored;
}

static void no_visit(struct whatif_point *point, uint64_t key)
{
    (void)point;
    (void)key;
}

/* Inert until the agent has a session: a program may run its first visit before that, or without one. */
struct whatif_agent whatif_agent_v1 __attribute__((visibility("default"))) = {
    sizeof(struct whatif_agent), no_visit, nothing, nothing, nothing_int, nothing_int,
};

static void catch_up(void)
{
    wi_catch_up();
}

void wi_points_start(void)
{
    whatif_agent_v1 = (struct whatif_agent){
        sizeof whatif_agent_v1, wi_points_visit, catch_up, pre_block, post_block, set_experiments};
}

/* The interface of code compiled against Coz's own header, which counts inline in what it gets here. */

enum { COZ_THROUGHPUT = 1, COZ_BEGIN = 2, COZ_END = 3 };

struct wi_coz_counter *_coz_get_counter(int type, const char *name);
void _coz_add_delays(void);
void _coz_pre_block(void);
void _coz_post_block(int skip_delays);
void _coz_wake_other(void);

struct wi_coz_counter *_coz_get_counter(int type, const char *name)
{
    if (!wi_session || !name || type < COZ_THROUGHPUT || type > COZ_END)
        return NULL;
    struct wi_point *point = enter(name, type != COZ_THROUGHPUT);
    return point ? &point->coz[type == COZ_END] : NULL;
}

void _coz_add_delays(void)
{
    if (wi_session)
        wi_catch_up();
}

void _coz_pre_block(void)
{
    if (wi_session)
        pre_block();
}

void _coz_post_block(int skip_delays)
{
    if (wi_session)
        post_block(skip_delays);
}

void _coz_wake_other(void)
{
    if (wi_session)
        wi_catch_up();
}
