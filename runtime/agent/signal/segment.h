/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments: what a thread runs between two interposed calls that matter to others.
 *
 * A sample credits a lump, and lumps do not fit phases: of two threads that run the same 6 ms of selected code side by
 * side, one is sampled five times and the other seven, and the one with fewer credits would pause for the difference
 * before it wakes whoever waits for both. So time is credited as it flows:
 *
 *   - a sample inside the selected code credits the time since the last one, or since the segment began;
 *   - when the segment ends and samples have taught that segments of its kind (between these two call sites) are filled
 *     by the selected code, its exact length is credited, as far as it has not been;
 *   - any other segment comes to one period for each sample that hit, as samples are worth on average (more, where the
 *     thread was kept from running in between).
 *
 * What was given too much is a deficit, taken off later credits. A share well below one is not used for the remainder:
 * two threads that do different work between the same two calls would then be credited for each other's.
 *
 * Times are those of the thread's run clock (pause.h). Context: signal and guest, by the owner of the account.
 */
#ifndef WI_AGENT_SEGMENT_H
#define WI_AGENT_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

struct wi_segment { /* a thread's segment at hand; part of its account */
    uint64_t began_ns;
    uint64_t credited_to_ns; /* up to where time has been accounted for */
    uint64_t given_ns;       /* code time credited in this segment */
    uint64_t sampled_ns;     /* code time that its samples stand for */
    uint64_t deficit_ns;     /* code time credited too much, over all segments */
    uintptr_t start_site;
    uint32_t samples;
    uint32_t hits;
    uint32_t epoch; /* of the experiment in which it began; another one ends it without a correction */
};

/* A sample `hit` the selected code or not. Returns the code time to credit. */
uint64_t wi_segment_sample(struct wi_segment *segment, uint32_t epoch, uint64_t now_ns, uint64_t weight_ns,
                           bool hit);

/* The segment ends at a call site. Returns the code time still to credit. `unit` tells what is selected. */
uint64_t wi_segment_end(struct wi_segment *segment, uint32_t epoch, uint32_t unit, uintptr_t site,
                        uint64_t now_ns);

void wi_segment_begin(struct wi_segment *segment, uint32_t epoch, uintptr_t site, uint64_t now_ns);

#endif
