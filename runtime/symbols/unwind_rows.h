/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From rows in the order of .eh_frame to a published table.
 *
 * Functions arrive in any order, each with its rows in ascending order. They are kept as they come; finishing
 * sorts the functions, settles overlaps (the later start wins), fills the gaps with "no information", merges
 * equal neighbours and packs the result (runtime/session/unwind_table.h).
 *
 * Context: launcher.
 */
#ifndef WI_UNWIND_ROWS_H
#define WI_UNWIND_ROWS_H

#include "runtime/session/unwind_table.h"

#include <stdbool.h>

struct wi_rows;

/* Returns NULL when out of memory. */
struct wi_rows *wi_rows_create(void);
void wi_rows_destroy(struct wi_rows *rows);

/* Begin a function that covers [start, end) of the module's addresses. Returns 0, -EINVAL when the range is
 * empty or not below 4 GiB, or -ENOMEM. */
int wi_rows_begin(struct wi_rows *rows, uint64_t start, uint64_t end);

/* In the function begun last, `rule` holds from `pc` on. A pc that is not above the one before replaces its
 * rule; one outside the function is ignored. Returns 0 or -ENOMEM. */
int wi_rows_add(struct wi_rows *rows, uint64_t pc, const struct wi_unwind_rule *rule);

/* Whether some function covers any of [start, end). */
bool wi_rows_cover(const struct wi_rows *rows, uint64_t start, uint64_t end);

/* Pack everything into one malloc'ed block. Returns 0, -ENODATA without any row, or -ENOMEM. */
int wi_rows_finish(struct wi_rows *rows, struct wi_unwind_table **table, size_t *size);

/* Whether a block obeys every promise of unwind_table.h: no reader that trusts it can leave it. */
bool wi_unwind_table_is_valid(const struct wi_unwind_table *table, size_t size);

#endif
