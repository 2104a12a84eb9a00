/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buckets of latencies: eight to a power of two, so that a bucket is never wider than an eighth of its value.
 *
 * Values below 16 have a bucket each. Above, a bucket is the position of the highest bit and the three bits
 * after it. 496 buckets cover every 64-bit value; those up to WI_LATENCY_BUCKETS stay empty.
 */
#include "runtime/profile/latency.h"

#define SUB_BITS 3
#define SUB      (1u << SUB_BITS)
#define USED     ((64 - SUB_BITS) * SUB + SUB) /* 496 */

uint64_t wi_latency_bucket_low(uint32_t bucket)
{
    if (bucket < SUB)
        return bucket;
    if (bucket >= USED)
        return UINT64_MAX;
    return (uint64_t)(SUB + bucket % SUB) << (bucket / SUB - 1);
}

uint32_t wi_latency_bucket_of(uint64_t latency_ns)
{
    if (latency_ns < SUB)
        return (uint32_t)latency_ns;
    unsigned shift = 63 - (unsigned)__builtin_clzll(latency_ns) - SUB_BITS;
    return (shift + 1) * SUB + (uint32_t)(latency_ns >> shift) % SUB;
}

/* Where in its bucket the quantile lies is unknown: counts are taken as spread evenly. */
double wi_latency_quantile(const uint64_t counts[WI_LATENCY_BUCKETS], double quantile)
{
    double total = 0;
    for (uint32_t i = 0; i < USED; i++)
        total += (double)counts[i];
    double wanted = quantile * total, before = 0;
    for (uint32_t i = 0; i < USED; i++) {
        double n = (double)counts[i];
        if (n > 0 && before + n >= wanted) {
            double low = (double)wi_latency_bucket_low(i);
            double high = i + 1 < USED ? (double)wi_latency_bucket_low(i + 1) : 18446744073709551616.0;
            return low + (high - low) * (wanted > before ? (wanted - before) / n : 0);
        }
        before += n;
    }
    return -1;
}
