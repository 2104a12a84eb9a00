/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of C as values of JSON, and objects that are built of them. Context: launcher, viewer-export.
 *
 * The setters leave a field out where it holds its usual value (zero, "none", "", not a number). If memory runs
 * out, the object is emptied and stays without the fields set so far: check for the first one at the end.
 */
#ifndef WI_PROFILE_JSON_H
#define WI_PROFILE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 sequence at the start of `text`, 0 if there is none. A NUL byte is one of length 1. */
size_t wi_utf8_length(const char *text);

/* Integers of JSON are signed here: what is above the limit becomes the limit. */
json_t *wi_json_integer(uint64_t value);
/* What is no UTF-8 becomes U+FFFD, byte by byte. NULL if `text` is. */
json_t *wi_json_string(const char *text);

/* Takes over `value`. */
void wi_json_set(json_t *object, const char *key, json_t *value);
void wi_json_set_id(json_t *object, const char *key, uint32_t id);
void wi_json_set_count(json_t *object, const char *key, uint64_t value);
void wi_json_set_real(json_t *object, const char *key, double value);
void wi_json_set_string(json_t *object, const char *key, const char *text);
void wi_json_set_flag(json_t *object, const char *key, bool value);

#endif
