/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of one line of a profile, checked for type and range, and identifiers, checked for definition.
 *
 * The first complaint about a line is kept; after one, getters return something harmless, so that a record can
 * be built first and judged once. A field that is absent has its usual value: 0, false, "", none.
 */
#ifndef WI_PROFILE_FIELDS_H
#define WI_PROFILE_FIELDS_H

#include <jansson.h>

#include "runtime/profile/parse.h"

struct wi_fields {
    struct wi_parser *parser;
    json_t *object;
    const char *complaint; /* a constant; NULL if there is none */
};

extern const char wi_undefined_id[]; /* the complaint about an identifier that nobody defined */

void wi_complain(struct wi_fields *fields, const char *complaint);

int64_t wi_field_i64(struct wi_fields *fields, const char *key, int64_t low, int64_t high);
uint64_t wi_field_u64(struct wi_fields *fields, const char *key);
uint32_t wi_field_u32(struct wi_fields *fields, const char *key);
int32_t wi_field_i32(struct wi_fields *fields, const char *key);
double wi_field_real(struct wi_fields *fields, const char *key, double absent, double low, double high);
bool wi_field_flag(struct wi_fields *fields, const char *key);

/* Texts live as long as the line's object. A name is a text that must not be empty. */
const char *wi_field_text(struct wi_fields *fields, const char *key);
const char *wi_field_text_or_null(struct wi_fields *fields, const char *key);
const char *wi_field_name(struct wi_fields *fields, const char *key);
/* Position of a text in a list of words; any other is a complaint. */
size_t wi_field_word(struct wi_fields *fields, const char *key, const char *const *words, size_t n);

/* "id", of which this line is the definition: complete it with wi_define when all other fields are read. */
uint32_t wi_field_id(struct wi_fields *fields);
bool wi_define(struct wi_fields *fields, enum wi_defined kind, uint32_t id);
bool wi_is_defined(const struct wi_parser *parser, enum wi_defined kind, uint64_t id);

/* An identifier that must have been defined before. */
uint32_t wi_field_reference(struct wi_fields *fields, const char *key, enum wi_defined kind);
uint32_t wi_field_required_reference(struct wi_fields *fields, const char *key, enum wi_defined kind);

#endif
