/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of samples: bounded, many producers, one consumer (the sequence-number queue of D. Vyukov).
 *
 * A slot's sequence tells whose turn it is: equal to the position, a producer's; one more, the consumer's. A producer
 * that dies between claim and commit leaves a hole, which the consumer jumps over after a while. Producers never wait.
 */
#ifndef WI_SESSION_RING_H
#define WI_SESSION_RING_H

#include "runtime/session/session.h"

/* Claim a slot to write in place, or NULL (counted) if the ring is full. Context: signal. */
static inline struct wi_sample *wi_ring_claim(struct wi_session *session, uint32_t ring_index,
                                              uint64_t *position)
{
    struct wi_ring *ring = &session->rings[ring_index];
    struct wi_sample *slots = wi_session_ring_slots(session, ring_index);
    uint64_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (;;) {
        struct wi_sample *slot = &slots[at % WI_RING_SLOTS];
        int64_t turn = (int64_t)(atomic_load_explicit(&slot->sequence, memory_order_acquire) - at);
        if (turn == 0) {
            if (atomic_compare_exchange_weak_explicit(&ring->tail, &at, at + 1, memory_order_relaxed,
                                                      memory_order_relaxed)) {
                *position = at;
                return slot;
            }
        } else if (turn < 0) {
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
            return NULL;
        } else {
            at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        }
    }
}

/* Hand a claimed slot over. If the consumer has given it up meanwhile, the sample is lost. Context: signal. */
static inline void wi_ring_commit(struct wi_sample *slot, uint64_t position)
{
    atomic_compare_exchange_strong_explicit(&slot->sequence, &position, position + 1, memory_order_release,
                                            memory_order_relaxed);
}

/* Copy the oldest sample out. False if there is none. `now_ns` dates holes. Context: controller. */
static inline bool wi_ring_pop(struct wi_session *session, uint32_t ring_index, uint64_t now_ns,
                               struct wi_sample *out)
{
    const uint64_t patience_ns = 200u * 1000 * 1000;
    struct wi_ring *ring = &session->rings[ring_index];
    for (;;) {
        struct wi_sample *slot = &wi_session_ring_slots(session, ring_index)[ring->head % WI_RING_SLOTS];
        uint64_t sequence = atomic_load_explicit(&slot->sequence, memory_order_acquire);
        if (sequence == ring->head + 1) {
            *out = *slot;
            atomic_store_explicit(&slot->sequence, ring->head + WI_RING_SLOTS, memory_order_release);
            ring->head++;
            ring->stuck_since = 0;
            return true;
        }
        if (sequence != ring->head || atomic_load_explicit(&ring->tail, memory_order_relaxed) == ring->head)
            return false;
        if (ring->stuck_since == 0)
            ring->stuck_since = now_ns;
        if (now_ns - ring->stuck_since < patience_ns)
            return false;
        if (atomic_compare_exchange_strong_explicit(&slot->sequence, &sequence, ring->head + WI_RING_SLOTS,
                                                    memory_order_release, memory_order_relaxed)) {
            ring->head++;
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        }
        ring->stuck_since = 0;
    }
}

#endif
