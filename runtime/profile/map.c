/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table with open addressing that only grows. Nothing is ever removed from it, and nobody walks it, so
 * that the order of a report never depends on hashes.
 */
#include "runtime/profile/map.h"

#include <errno.h>
#include <stdlib.h>

#include "runtime/profile/records.h"

uint64_t wi_map_hash_number(uint64_t number)
{
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return number ^ number >> 31;
}

uint64_t wi_map_hash_text(const char *text, uint64_t seed)
{
    uint64_t hash = 0xcbf29ce484222325 ^ seed;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return wi_map_hash_number(hash);
}

uint32_t wi_map_find(const struct wi_map *map, uint64_t hash,
                     bool (*same)(uint32_t value, const void *context), const void *context)
{
    if (map->capacity == 0)
        return WI_NONE;
    size_t at = hash & (map->capacity - 1);
    for (; map->slots[at].used; at = (at + 1) & (map->capacity - 1))
        if (map->slots[at].hash == hash && (same == NULL || same(map->slots[at].value, context)))
            return map->slots[at].value;
    return WI_NONE;
}

static void insert(struct wi_map *map, uint64_t hash, uint32_t value)
{
    size_t at = hash & (map->capacity - 1);
    while (map->slots[at].used)
        at = (at + 1) & (map->capacity - 1);
    map->slots[at] = (struct wi_map_slot){hash, value, true};
}

static int grow(struct wi_map *map)
{
    struct wi_map bigger = {.capacity = map->capacity > 0 ? map->capacity * 2 : 64, .n = map->n};
    bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            insert(&bigger, map->slots[i].hash, map->slots[i].value);
    free(map->slots);
    *map = bigger;
    return 0;
}

int wi_map_add(struct wi_map *map, uint64_t hash, uint32_t value)
{
    if (map->n * 2 >= map->capacity && grow(map) != 0)
        return -ENOMEM;
    insert(map, hash, value);
    map->n++;
    return 0;
}

void wi_map_clear(struct wi_map *map)
{
    free(map->slots);
    *map = (struct wi_map){0};
}
