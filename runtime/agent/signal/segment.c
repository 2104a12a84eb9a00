/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments and the shares that samples teach. See segment.h.
 *
 * What was learned is kept per process in a small table: one word an entry, 32 bits of the kind's hash, 16 bits each of
 * samples and hits, halved when full. Threads update it without locks; a lost update costs one sample of the lesson.
 */
#include "runtime/agent/signal/segment.h"
#include <stdatomic.h>

#define KINDS         1024
#define LEAST_SAMPLES 8
#define FULL          0x7fffu
#define MOSTLY        0.9 /* of a kind's samples must have hit, for its share to be used */

static _Atomic uint64_t lessons[KINDS];

static uint64_t kind_of(uint32_t unit, uintptr_t start, uintptr_t end)
{
    uint64_t z = start * 0x9e3779b97f4a7c15ull ^ (end + unit * 0x632be59bd9b4e019ull) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 31)) * 0x94d049bb133111ebull;
    return z ^ (z >> 29);
}

/* Add to what is known of a kind; returns the samples and hits known then. */
static void learn(uint64_t kind, uint32_t *samples, uint32_t *hits)
{
    _Atomic uint64_t *entry = &lessons[kind % KINDS];
    uint64_t word = atomic_load_explicit(entry, memory_order_relaxed);
    if (word >> 32 != kind >> 32)
        word = kind >> 32 << 32; /* another kind lived here */
    uint32_t known_samples = (word >> 16 & 0xffff) + *samples, known_hits = (word & 0xffff) + *hits;
    while (known_samples > FULL) {
        known_samples /= 2;
        known_hits /= 2;
    }
    atomic_store_explicit(entry, (kind >> 32 << 32) | (uint64_t)known_samples << 16 | known_hits,
                          memory_order_relaxed);
    *samples = known_samples;
    *hits = known_hits;
}

/* Take what was credited too much off a credit. */
static uint64_t less_deficit(struct wi_segment *segment, uint64_t code_ns)
{
    uint64_t taken = code_ns < segment->deficit_ns ? code_ns : segment->deficit_ns;
    segment->deficit_ns -= taken;
    return code_ns - taken;
}

static void start_over(struct wi_segment *segment, uint32_t epoch)
{
    segment->given_ns = segment->sampled_ns = segment->deficit_ns = 0;
    segment->samples = segment->hits = 0;
    segment->start_site = 0; /* its true beginning lies before the experiment: no kind */
    segment->epoch = epoch;
}

uint64_t wi_segment_sample(struct wi_segment *segment, uint32_t epoch, uint64_t now_ns, uint64_t weight_ns,
                           bool hit)
{
    if (segment->epoch != epoch)
        start_over(segment, epoch);
    uint64_t passed = now_ns - segment->credited_to_ns;
    segment->credited_to_ns = now_ns;
    segment->samples++;
    if (!hit)
        return 0;
    segment->hits++;
    segment->sampled_ns += passed > weight_ns ? passed : weight_ns;
    segment->given_ns += passed;
    return less_deficit(segment, passed);
}

uint64_t wi_segment_end(struct wi_segment *segment, uint32_t epoch, uint32_t unit, uintptr_t site,
                        uint64_t now_ns)
{
    if (segment->epoch != epoch || segment->start_site == 0)
        return 0;
    uint64_t target = segment->sampled_ns;
    uint32_t samples = segment->samples, hits = segment->hits;
    learn(kind_of(unit, segment->start_site, site), &samples, &hits);
    if (samples >= LEAST_SAMPLES && hits >= samples * MOSTLY && segment->hits == segment->samples)
        target = (uint64_t)((double)(now_ns - segment->began_ns) * hits / samples);
    if (target >= segment->given_ns)
        return less_deficit(segment, target - segment->given_ns);
    segment->deficit_ns += segment->given_ns - target;
    return 0;
}

void wi_segment_begin(struct wi_segment *segment, uint32_t epoch, uintptr_t site, uint64_t now_ns)
{
    if (segment->epoch != epoch)
        segment->deficit_ns = 0;
    segment->epoch = epoch;
    segment->began_ns = segment->credited_to_ns = now_ns;
    segment->given_ns = segment->sampled_ns = 0;
    segment->samples = segment->hits = 0;
    segment->start_site = site;
}
