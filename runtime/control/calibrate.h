/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a sample and a short sleep cost on this machine: measured in a few milliseconds before the target starts.
 */
#ifndef WI_CONTROL_CALIBRATE_H
#define WI_CONTROL_CALIBRATE_H

#include <stdint.h>

/* Median cost of an empty sample of perf's task clock with a signal, in ns. 0 if perf is refused. */
uint64_t wi_calibrate_sample_ns(void);

/* Median time by which a sleep of 100 us with the least timer slack takes too long, in ns. */
uint64_t wi_calibrate_overshoot_ns(void);

/* The shortest period between 0.1 and 1 ms whose samples cost no more than `overhead_percent` of the time. */
uint64_t wi_calibrate_period_ns(uint64_t sample_ns, double overhead_percent);

#endif
