/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table from two words to a small number, and one from strings. Grows, never shrinks. Pure.
 */
#ifndef WI_CONTROL_TABLE_H
#define WI_CONTROL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define WI_TABLE_ABSENT UINT32_MAX

struct wi_table { /* zero-initialised is empty */
    struct wi_table_entry *entries;
    size_t n;
    size_t capacity; /* a power of two */
};

/* The value, or WI_TABLE_ABSENT. */
uint32_t wi_table_get(const struct wi_table *table, uint64_t a, uint64_t b);
/* Enter a pair that is not in the table yet. 0, or -ENOMEM (then nothing changed). */
int wi_table_put(struct wi_table *table, uint64_t a, uint64_t b, uint32_t value);
void wi_table_fini(struct wi_table *table);

/* A 64-bit hash of a string, for use as a key. */
uint64_t wi_table_hash(const char *text);

#endif
