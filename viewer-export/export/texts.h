/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings, each once, by number: what string tables of other formats are made of.
 */
#ifndef WI_EXPORT_TEXTS_H
#define WI_EXPORT_TEXTS_H

#include "runtime/profile/map.h"

struct wi_texts { /* all zero is empty */
    char **text;  /* by number, in the order of their first coming */
    uint32_t n;
    struct wi_map numbers;
    uint64_t seed; /* of the hashes: names come from outside */
};

/* The number of a text (NULL counts as ""), WI_NONE if memory is out. */
uint32_t wi_texts_number(struct wi_texts *strings, const char *text);
/* The number of a text if it has one, else WI_NONE. */
uint32_t wi_texts_find(const struct wi_texts *strings, const char *text);
void wi_texts_fini(struct wi_texts *strings);

/* Room for one more in an array of n entries of `size` bytes, which grows by doubling and never shrinks: the new
 * entry, zeroed, or NULL if memory is out. `array` is the address of the pointer. */
void *wi_append(void *array, uint32_t *n, size_t size);

#endif
