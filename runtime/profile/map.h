/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a hash to a number: how the model finds what it has seen before. Context: launcher, viewer-export.
 */
#ifndef WI_PROFILE_MAP_H
#define WI_PROFILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wi_map { /* all zero is an empty map */
    struct wi_map_slot {
        uint64_t hash;
        uint32_t value;
        bool used;
    } * slots;
    size_t capacity; /* 0 or a power of two */
    size_t n;
};

/* A hash that no two numbers share, so that it needs no comparison. */
uint64_t wi_map_hash_number(uint64_t number);
uint64_t wi_map_hash_text(const char *text, uint64_t seed);

/* The value of the first entry with that hash that `same` accepts (NULL accepts any); WI_NONE if there is none. */
uint32_t wi_map_find(const struct wi_map *map, uint64_t hash,
                     bool (*same)(uint32_t value, const void *context), const void *context);
/* Adds without looking. 0 or -ENOMEM. */
int wi_map_add(struct wi_map *map, uint64_t hash, uint32_t value);
void wi_map_clear(struct wi_map *map);

#endif
