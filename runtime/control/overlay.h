/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Laying lists of address ranges over each other: what an agent searches is one sorted, disjoint list whose entries
 * say everything that holds there. Pure.
 */
#ifndef WI_CONTROL_OVERLAY_H
#define WI_CONTROL_OVERLAY_H

#include "runtime/session/layout.h"
#include "runtime/symbols/symbols.h"

struct wi_layer {
    const struct wi_range_list *list;
    uint32_t flags; /* WI_RANGE_* */
};

/* Overlay `layers` into out[0..capacity), sorted by (module, low), flags combined where they overlap. Returns how many
 * entries there are; more than `capacity` means that only the first `capacity` were written. -ENOMEM if out of memory. */
int64_t wi_overlay(const struct wi_layer *layers, size_t n_layers, struct wi_session_range *out,
                   size_t capacity);

#endif
