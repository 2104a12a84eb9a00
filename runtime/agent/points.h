/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress points: counting visits without threads fighting over a cache line. See points.c.
 */
#ifndef WI_AGENT_POINTS_H
#define WI_AGENT_POINTS_H

#include <stdint.h>

struct whatif_point;

/* A visit by macro: settle, then count in the thread's own slot. Context: guest, program's signal handlers. */
void wi_points_visit(struct whatif_point *point, uint64_t key);

/* Answer the header from now on. Once, when there is a session. */
void wi_points_start(void);

#endif
