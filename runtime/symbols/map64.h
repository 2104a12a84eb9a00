/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash map from 64-bit keys to 32-bit numbers, for interning: equal things get equal numbers.
 *
 * Open addressing, no removal. Keys are whatever the caller makes unique: an offset, a pointer, two numbers side
 * by side, or a hash whose rare collisions the caller can bear. A map of zeroes is an empty map. When memory runs
 * out nothing is stored, so that interning degrades to duplicates.
 */
#ifndef WI_MAP64_H
#define WI_MAP64_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WI_MAP64_NONE UINT32_MAX

struct wi_map64_slot {
    uint64_t key;
    uint32_t value; /* WI_MAP64_NONE: the slot is free */
};

struct wi_map64 {
    struct wi_map64_slot *slots;
    size_t n, capacity;
};

static inline uint64_t wi_mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* FNV-1a over words would be slow; this is a multiply-and-fold over eight bytes at a time. */
static inline uint64_t wi_hash_bytes(const void *data, size_t size)
{
    const unsigned char *at = (const unsigned char *)data;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ size;
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = wi_mix64(hash ^ word) + 0x9e3779b97f4a7c15u;
    }
    uint64_t rest = 0;
    memcpy(&rest, at, size);
    return wi_mix64(hash ^ rest);
}

static inline struct wi_map64_slot *wi_map64_slot(const struct wi_map64 *map, uint64_t key)
{
    size_t i = wi_mix64(key) & (map->capacity - 1);
    while (map->slots[i].value != WI_MAP64_NONE && map->slots[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

static inline uint32_t wi_map64_get(const struct wi_map64 *map, uint64_t key)
{
    return map->n ? wi_map64_slot(map, key)->value : WI_MAP64_NONE;
}

static inline int wi_map64_grow(struct wi_map64 *map)
{
    struct wi_map64 grown = {NULL, map->n, map->capacity ? map->capacity * 2 : 64};
    grown.slots = (struct wi_map64_slot *)malloc(grown.capacity * sizeof *grown.slots);
    if (!grown.slots)
        return -1;
    for (size_t i = 0; i < grown.capacity; i++)
        grown.slots[i].value = WI_MAP64_NONE;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].value != WI_MAP64_NONE)
            *wi_map64_slot(&grown, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = grown;
    return 0;
}

/* Store a value that is not there yet, or replace it. */
static inline void wi_map64_put(struct wi_map64 *map, uint64_t key, uint32_t value)
{
    if (map->n * 4 >= map->capacity * 3 && wi_map64_grow(map) != 0 && map->n + 1 >= map->capacity)
        return;
    struct wi_map64_slot *slot = wi_map64_slot(map, key);
    if (slot->value == WI_MAP64_NONE)
        map->n++;
    slot->key = key;
    slot->value = value;
}

static inline void wi_map64_fini(struct wi_map64 *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

#endif
