/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON written as it comes, for documents too large to be built first. Strings are bytes of unknown origin: what is
 * no UTF-8 becomes U+FFFD, and '<' is escaped, so that the document may stand inside a page. Numbers do not
 * depend on the locale.
 *
 * `key` is the member's name inside an object and NULL inside an array. Write errors stay in the stream (ferror).
 */
#ifndef WI_EXPORT_JSON_OUT_H
#define WI_EXPORT_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define WI_JSON_DEPTH 32

struct wi_json_out { /* zero but for `out` to begin with */
    FILE *out;
    unsigned depth;
    bool more[WI_JSON_DEPTH]; /* this level has an entry: the next one needs a comma */
};

void wi_out_object(struct wi_json_out *json, const char *key);
void wi_out_end_object(struct wi_json_out *json);
void wi_out_array(struct wi_json_out *json, const char *key);
void wi_out_end_array(struct wi_json_out *json);

void wi_out_text(struct wi_json_out *json, const char *key, const char *text); /* NULL: null */
void wi_out_text_n(struct wi_json_out *json, const char *key, const char *text, size_t length);
void wi_out_integer(struct wi_json_out *json, const char *key, int64_t value);
void wi_out_count(struct wi_json_out *json, const char *key, uint64_t value);
/* An index into a table: WI_NONE is null. */
void wi_out_index(struct wi_json_out *json, const char *key, uint32_t value);
/* Ten significant digits; null if it is no number. */
void wi_out_real(struct wi_json_out *json, const char *key, double value);
/* Nanoseconds as milliseconds, exactly. */
void wi_out_ms(struct wi_json_out *json, const char *key, uint64_t ns);
void wi_out_flag(struct wi_json_out *json, const char *key, bool value);
void wi_out_null(struct wi_json_out *json, const char *key);

#endif
