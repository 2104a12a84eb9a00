/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings by number: see texts.h. */
#include "viewer-export/export/texts.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/profile/records.h"

void *wi_append(void *array, uint32_t *n, size_t size)
{
    char *entries;
    memcpy(&entries, array, sizeof entries);
    if ((*n & (*n - 1)) == 0) { /* a power of two: full */
        char *grown = realloc(entries, (*n == 0 ? 1 : (size_t)*n * 2) * size);
        if (grown == NULL)
            return NULL;
        entries = grown;
        memcpy(array, &entries, sizeof entries);
    }
    return memset(entries + (size_t)(*n)++ * size, 0, size);
}

struct wanted {
    const struct wi_texts *strings;
    const char *text;
};

static bool same(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    return strcmp(wanted->strings->text[value], wanted->text) == 0;
}

uint32_t wi_texts_find(const struct wi_texts *strings, const char *text)
{
    struct wanted wanted = {strings, text != NULL ? text : ""};
    return wi_map_find(&strings->numbers, wi_map_hash_text(wanted.text, strings->seed), same, &wanted);
}

uint32_t wi_texts_number(struct wi_texts *strings, const char *text)
{
    if (text == NULL)
        text = "";
    if (strings->seed == 0)
        strings->seed =
            (uintptr_t)strings; /* decides the layout of the map only, never the order of the output */
    uint32_t number = wi_texts_find(strings, text);
    if (number != WI_NONE)
        return number;
    char *copy = strdup(text);
    char **place = copy != NULL ? wi_append(&strings->text, &strings->n, sizeof *place) : NULL;
    if (place == NULL) {
        free(copy);
        return WI_NONE;
    }
    *place = copy;
    number = strings->n - 1;
    if (wi_map_add(&strings->numbers, wi_map_hash_text(text, strings->seed), number) == 0)
        return number;
    free(copy);
    strings->n--;
    return WI_NONE;
}

void wi_texts_fini(struct wi_texts *strings)
{
    for (uint32_t i = 0; i < strings->n; i++)
        free(strings->text[i]);
    free(strings->text);
    wi_map_clear(&strings->numbers);
    *strings = (struct wi_texts){0};
}
