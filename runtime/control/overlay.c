/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Overlaying range lists by a sweep over their ends: between two neighbouring ends the set of flags is constant.
 */
#include "runtime/control/overlay.h"
#include <errno.h>
#include <stdlib.h>

#define N_FLAGS 8

struct end {
    uint64_t address;
    uint32_t module;
    uint32_t flags;
    int step; /* +1 where the range begins, -1 where it ends */
};

static int compare_ends(const void *a, const void *b)
{
    const struct end *one = a, *other = b;
    if (one->module != other->module)
        return one->module < other->module ? -1 : 1;
    if (one->address != other->address)
        return one->address < other->address ? -1 : 1;
    return 0;
}

static size_t collect_ends(const struct wi_layer *layers, size_t n_layers, struct end *ends)
{
    size_t n = 0;
    for (size_t layer = 0; layer < n_layers; layer++)
        for (size_t i = 0; i < layers[layer].list->n; i++) {
            const struct wi_range *range = &layers[layer].list->ranges[i];
            if (range->low >= range->high)
                continue;
            ends[n++] = (struct end){range->low, range->module, layers[layer].flags, 1};
            ends[n++] = (struct end){range->high, range->module, layers[layer].flags, -1};
        }
    qsort(ends, n, sizeof *ends, compare_ends);
    return n;
}

static uint32_t flags_in_force(const int depth[N_FLAGS])
{
    uint32_t flags = 0;
    for (uint32_t bit = 0; bit < N_FLAGS; bit++)
        flags |= depth[bit] > 0 ? 1u << bit : 0;
    return flags;
}

int64_t wi_overlay(const struct wi_layer *layers, size_t n_layers, struct wi_session_range *out,
                   size_t capacity)
{
    size_t n_ends = 0;
    for (size_t layer = 0; layer < n_layers; layer++)
        n_ends += 2 * layers[layer].list->n;
    struct end *ends = malloc((n_ends + 1) * sizeof *ends);
    if (!ends)
        return -ENOMEM;
    n_ends = collect_ends(layers, n_layers, ends);

    int depth[N_FLAGS] = {0};
    size_t n_out = 0;
    struct wi_session_range last = {0, 0, 0, 0};
    for (size_t i = 0; i < n_ends; i++) {
        for (uint32_t bit = 0; bit < N_FLAGS; bit++)
            if (ends[i].flags & 1u << bit)
                depth[bit] += ends[i].step;
        uint32_t flags = flags_in_force(depth);
        bool more = i + 1 < n_ends && ends[i + 1].module == ends[i].module;
        if (!flags || !more || ends[i + 1].address == ends[i].address)
            continue;
        if (n_out > 0 && last.module == ends[i].module && last.high == ends[i].address &&
            last.flags == flags) {
            last.high = ends[i + 1].address;
        } else {
            last = (struct wi_session_range){ends[i].module, flags, ends[i].address, ends[i + 1].address};
            n_out++;
        }
        if (n_out <= capacity)
            out[n_out - 1] = last;
    }
    free(ends);
    return (int64_t)n_out;
}
