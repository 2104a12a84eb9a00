/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creating, attaching and leaving a session. The only code that launcher and agent share.
 */
#ifndef WI_SESSION_H
#define WI_SESSION_H

#include "runtime/session/layout.h"
#include <stdbool.h>
#include <stddef.h>

/* Map an existing session read-write. 0 or -errno; -EPROTO if it is none of ours or of another version.
 * The descriptor is closed again. Context: guest (agent's start); raw system calls only. */
int wi_session_attach(const char *path, struct wi_session **out);

/* Create a session file at `path`, which must not exist, allocate and initialise it, and map it. The caller fills
 * the settings. `*fd` stays open for wi_session_grow. 0 or -errno. Context: launcher. */
int wi_session_create(const char *path, uint32_t n_rings, struct wi_session **out, int *fd);

/* Allocate the file up to `bytes` from its start, which must be below mapped_bytes. 0 or -errno. */
int wi_session_grow(int fd, uint64_t bytes);

/* Bytes of the fixed part and the rings, page-rounded: where the arena starts. */
uint64_t wi_session_fixed_bytes(uint32_t n_rings);

static inline struct wi_sample *wi_session_ring_slots(struct wi_session *session, uint32_t ring)
{
    return (struct wi_sample *)((char *)session + session->rings_at) + (size_t)ring * WI_RING_SLOTS;
}

/* Whether agents must leave the program alone: the session has ended, or its launcher is dead. */
static inline bool wi_session_is_dormant(struct wi_session *session)
{
    return atomic_load_explicit(&session->clock.dormant, memory_order_relaxed) != 0 ||
           (atomic_load_explicit(&session->launcher_alive.word, memory_order_relaxed) & WI_OWNER_DIED) != 0;
}

/* Total of a slot's counters; `word` as in struct wi_point. Context: controller. */
uint64_t wi_session_count(struct wi_session *session, uint32_t word);

#endif
