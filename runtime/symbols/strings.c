/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One copy of each text, until the end. Texts with the same hash (one pair in 2^64) just get two copies, which
 * costs nothing but a name that looks ambiguous.
 */
#include "runtime/symbols/internal.h"

#define CHUNK ((size_t)1 << 16)

static char *room_for(struct wi_strings *strings, size_t length)
{
    if (strings->size - strings->used < length) {
        size_t size = length > CHUNK ? length : CHUNK;
        char **more = realloc(strings->chunks, (strings->n_chunks + 1) * sizeof *more);
        if (!more)
            return NULL;
        strings->chunks = more;
        char *chunk = malloc(size);
        if (!chunk)
            return NULL;
        strings->chunks[strings->n_chunks++] = chunk;
        strings->size = size;
        strings->used = 0;
    }
    char *at = strings->chunks[strings->n_chunks - 1] + strings->used;
    strings->used += length;
    return at;
}

const char *wi_strings_intern(struct wi_strings *strings, const char *text)
{
    size_t length = strlen(text);
    uint64_t hash = wi_hash_bytes(text, length);
    uint32_t known = wi_map64_get(&strings->by_hash, hash);
    if (known != WI_MAP64_NONE && strcmp(strings->texts[known], text) == 0)
        return strings->texts[known];
    if ((strings->n_texts & (strings->n_texts - 1)) == 0) {
        const char **more =
            realloc(strings->texts, (strings->n_texts ? strings->n_texts * 2 : 1) * sizeof *more);
        if (!more)
            return "";
        strings->texts = more;
    }
    char *copy = room_for(strings, length + 1);
    if (!copy)
        return "";
    memcpy(copy, text, length + 1);
    strings->texts[strings->n_texts] = copy;
    wi_map64_put(&strings->by_hash, hash, (uint32_t)strings->n_texts++);
    return copy;
}

void wi_strings_fini(struct wi_strings *strings)
{
    for (size_t i = 0; i < strings->n_chunks; i++)
        free(strings->chunks[i]);
    free(strings->chunks);
    free(strings->texts);
    wi_map64_fini(&strings->by_hash);
}
