/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of C as values of JSON: see json.h. Strings are the part that needs care, because names and paths are
 * bytes, JSON strings are Unicode, and jansson refuses to make one of the other.
 */
#include "runtime/profile/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/records.h"

json_t *wi_json_integer(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* The second byte's range depends on the first (overlong forms, surrogates, beyond U+10FFFF); jansson refuses the
 * same. */
size_t wi_utf8_length(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80)
        return 1;
    size_t n = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
        return 0;
    unsigned char low = bytes[0] == 0xe0 ? 0xa0 : bytes[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = bytes[0] == 0xed ? 0x9f : bytes[0] == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* Names and paths are bytes, JSON strings are Unicode: what is no UTF-8 becomes U+FFFD, byte by byte. */
json_t *wi_json_string(const char *text)
{
    json_t *plain = json_string(text);
    if (plain != NULL || text == NULL)
        return plain;
    char *clean = malloc(strlen(text) * 3 + 1);
    if (clean == NULL)
        return NULL;
    size_t length = 0;
    for (const char *at = text; *at != '\0';) {
        size_t n = wi_utf8_length(at);
        memcpy(clean + length, n > 0 ? at : "\xef\xbf\xbd", n > 0 ? n : 3);
        length += n > 0 ? n : 3;
        at += n > 0 ? n : 1;
    }
    json_t *result = json_stringn(clean, length);
    free(clean);
    return result;
}

void wi_json_set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new_nocheck(object, key, value) != 0)
        json_object_clear(object);
}

void wi_json_set_id(json_t *object, const char *key, uint32_t id)
{
    if (id != WI_NONE)
        wi_json_set(object, key, json_integer(id));
}

void wi_json_set_count(json_t *object, const char *key, uint64_t value)
{
    if (value != 0)
        wi_json_set(object, key, wi_json_integer(value));
}

void wi_json_set_real(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        wi_json_set(object, key, json_real(value));
}

void wi_json_set_string(json_t *object, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        wi_json_set(object, key, wi_json_string(text));
}

void wi_json_set_flag(json_t *object, const char *key, bool value)
{
    if (value)
        wi_json_set(object, key, json_true());
}
