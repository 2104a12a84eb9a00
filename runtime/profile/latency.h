/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies in buckets: see records.h for the scheme's face, latency.c for its shape. Context: launcher,
 * viewer-export.
 */
#ifndef WI_PROFILE_LATENCY_H
#define WI_PROFILE_LATENCY_H

#include "runtime/profile/records.h"

/* The bucket that a latency falls into: wi_latency_bucket_low(bucket) <= latency_ns. */
uint32_t wi_latency_bucket_of(uint64_t latency_ns);

/* The latency below which the share `quantile` (0..1) of all counts lies, in ns; negative without counts. */
double wi_latency_quantile(const uint64_t counts[WI_LATENCY_BUCKETS], double quantile);

#endif
