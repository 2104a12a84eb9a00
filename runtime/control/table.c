/* SPDX-License-Identifier: BSD-2-Clause */
/* Open addressing with linear probes, at most half full. See table.h. */
#include "runtime/control/table.h"
#include <errno.h>
#include <stdlib.h>

struct wi_table_entry {
    uint64_t a;
    uint64_t b;
    uint32_t value; /* WI_TABLE_ABSENT: free */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9e3779b97f4a7c15ull ^ (b + 0x7f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 31)) * 0x94d049bb133111ebull;
    return z ^ (z >> 29);
}

static struct wi_table_entry *find(const struct wi_table *table, uint64_t a, uint64_t b)
{
    for (size_t at = mix(a, b);; at++) {
        struct wi_table_entry *entry = &table->entries[at & (table->capacity - 1)];
        if (entry->value == WI_TABLE_ABSENT || (entry->a == a && entry->b == b))
            return entry;
    }
}

uint32_t wi_table_get(const struct wi_table *table, uint64_t a, uint64_t b)
{
    return table->n ? find(table, a, b)->value : WI_TABLE_ABSENT;
}

static int grow(struct wi_table *table)
{
    struct wi_table bigger = {NULL, table->n, table->capacity ? table->capacity * 2 : 64};
    bigger.entries = malloc(bigger.capacity * sizeof *bigger.entries);
    if (!bigger.entries)
        return -ENOMEM;
    for (size_t i = 0; i < bigger.capacity; i++)
        bigger.entries[i].value = WI_TABLE_ABSENT;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].value != WI_TABLE_ABSENT)
            *find(&bigger, table->entries[i].a, table->entries[i].b) = table->entries[i];
    free(table->entries);
    *table = bigger;
    return 0;
}

int wi_table_put(struct wi_table *table, uint64_t a, uint64_t b, uint32_t value)
{
    if (2 * (table->n + 1) > table->capacity) {
        int error = grow(table);
        if (error)
            return error;
    }
    *find(table, a, b) = (struct wi_table_entry){a, b, value};
    table->n++;
    return 0;
}

void wi_table_fini(struct wi_table *table)
{
    free(table->entries);
    *table = (struct wi_table){NULL, 0, 0};
}

uint64_t wi_table_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash ^ hash >> 32;
}
