/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buckets of matched latencies: log-linear, eight to an octave. Bucket 0..7 are exact nanoseconds; the lower bound of
 * any other is (8 + b % 8) << (b / 8 - 1).
 */
#ifndef WI_SESSION_LATENCY_H
#define WI_SESSION_LATENCY_H

#include <stdint.h>

static inline uint32_t wi_latency_bucket(uint64_t ns)
{
    if (ns < 8)
        return (uint32_t)ns;
    uint32_t octave = 60 - (uint32_t)__builtin_clzll(ns); /* how far beyond three bits */
    return (octave + 1) * 8 + (uint32_t)((ns >> octave) & 7);
}

#endif
