/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of a line, checked: see fields.h. */
#include "runtime/profile/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/format.h"

const char wi_undefined_id[] = "names an identifier that was not defined before";

/* ---- identifiers --------------------------------------------------------------------------------------- */

void wi_parser_init(struct wi_parser *parser, const struct wi_profile_visitor *visitor)
{
    *parser = (struct wi_parser){.visitor = visitor};
}

void wi_parser_fini(struct wi_parser *parser)
{
    for (int i = 0; i < WI_DEFINED_KINDS; i++)
        free(parser->defined[i].bytes);
}

bool wi_is_defined(const struct wi_parser *parser, enum wi_defined kind, uint64_t id)
{
    const struct wi_bits *bits = &parser->defined[kind];
    return id / 8 < bits->n_bytes && (bits->bytes[id / 8] >> id % 8 & 1) != 0;
}

/* False if memory is out. Identifiers are below WI_PROFILE_MAX_ID, which bounds this. */
static bool set_bit(struct wi_bits *bits, uint32_t id)
{
    if (id / 8 >= bits->n_bytes) {
        size_t n = ((size_t)id / 8 + 64) * 2;
        uint8_t *grown = realloc(bits->bytes, n);
        if (grown == NULL)
            return false;
        memset(grown + bits->n_bytes, 0, n - bits->n_bytes);
        bits->bytes = grown;
        bits->n_bytes = n;
    }
    bits->bytes[id / 8] |= (uint8_t)(1u << id % 8);
    return true;
}

/* ---- fields: each returns a harmless value after a complaint ----------------------------------------------- */

void wi_complain(struct wi_fields *fields, const char *complaint)
{
    if (fields->complaint == NULL)
        fields->complaint = complaint;
}

int64_t wi_field_i64(struct wi_fields *fields, const char *key, int64_t low, int64_t high)
{
    json_t *value = json_object_get(fields->object, key);
    if (value == NULL)
        return 0;
    if (!json_is_integer(value)) {
        wi_complain(fields, "a number is missing or of the wrong type");
        return 0;
    }
    if (json_integer_value(value) < low || json_integer_value(value) > high) {
        wi_complain(fields, "a number is out of range");
        return 0;
    }
    return json_integer_value(value);
}

uint64_t wi_field_u64(struct wi_fields *fields, const char *key)
{
    return (uint64_t)wi_field_i64(fields, key, 0, INT64_MAX);
}

uint32_t wi_field_u32(struct wi_fields *fields, const char *key)
{
    return (uint32_t)wi_field_i64(fields, key, 0, UINT32_MAX - 1);
}

int32_t wi_field_i32(struct wi_fields *fields, const char *key)
{
    return (int32_t)wi_field_i64(fields, key, INT32_MIN, INT32_MAX);
}

double wi_field_real(struct wi_fields *fields, const char *key, double absent, double low, double high)
{
    json_t *value = json_object_get(fields->object, key);
    if (value == NULL)
        return absent;
    double number = json_number_value(value);
    if (!json_is_number(value) || !isfinite(number) || number < low || number > high) {
        wi_complain(fields, "a number is out of range or of the wrong type");
        return absent;
    }
    return number;
}

bool wi_field_flag(struct wi_fields *fields, const char *key)
{
    return json_is_true(json_object_get(fields->object, key));
}

const char *wi_field_text_or_null(struct wi_fields *fields, const char *key)
{
    json_t *value = json_object_get(fields->object, key);
    if (value == NULL || json_is_null(value))
        return NULL;
    if (!json_is_string(value))
        wi_complain(fields, "a text is of the wrong type");
    return json_string_value(value);
}

const char *wi_field_text(struct wi_fields *fields, const char *key)
{
    const char *value = wi_field_text_or_null(fields, key);
    return value != NULL ? value : "";
}

const char *wi_field_name(struct wi_fields *fields, const char *key)
{
    const char *value = wi_field_text(fields, key);
    if (value[0] == '\0')
        wi_complain(fields, "a name is missing");
    return value;
}

/* Position of a text in a list of words. */
size_t wi_field_word(struct wi_fields *fields, const char *key, const char *const *words, size_t n)
{
    const char *value = wi_field_text(fields, key);
    for (size_t i = 0; i < n; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    wi_complain(fields, "an unknown kind");
    return 0;
}

uint32_t wi_field_reference(struct wi_fields *fields, const char *key, enum wi_defined kind)
{
    if (json_object_get(fields->object, key) == NULL)
        return WI_NONE;
    uint32_t id = wi_field_u32(fields, key);
    if (!wi_is_defined(fields->parser, kind, id))
        wi_complain(fields, wi_undefined_id);
    return id;
}

uint32_t wi_field_required_reference(struct wi_fields *fields, const char *key, enum wi_defined kind)
{
    uint32_t id = wi_field_reference(fields, key, kind);
    if (id == WI_NONE)
        wi_complain(fields, "an identifier is missing");
    return id;
}

uint32_t wi_field_id(struct wi_fields *fields)
{
    if (json_object_get(fields->object, "id") == NULL)
        wi_complain(fields, "an identifier is missing");
    uint32_t id = wi_field_u32(fields, "id");
    if (id >= WI_PROFILE_MAX_ID)
        wi_complain(fields, "an identifier is out of range");
    return id;
}

/* To be called last, when the rest of the record is known to be good. */
bool wi_define(struct wi_fields *fields, enum wi_defined kind, uint32_t id)
{
    if (fields->complaint == NULL && wi_is_defined(fields->parser, kind, id))
        wi_complain(fields, "defines an identifier for the second time");
    if (fields->complaint == NULL && !set_bit(&fields->parser->defined[kind], id))
        wi_complain(fields, "out of memory");
    return fields->complaint == NULL;
}
