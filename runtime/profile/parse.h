/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of a profile, checked, as a record for a visitor. The part of the reader that knows the records.
 */
#ifndef WI_PROFILE_PARSE_H
#define WI_PROFILE_PARSE_H

#include <jansson.h>

#include "runtime/profile/reader.h"

enum wi_defined { /* what identifiers stand for */
                  WI_DEFINED_PROCESS,
                  WI_DEFINED_THREAD,
                  WI_DEFINED_MODULE,
                  WI_DEFINED_SOURCE,
                  WI_DEFINED_STACK,
                  WI_DEFINED_POINT,
                  WI_DEFINED_UNIT,
                  WI_DEFINED_KINDS
};

struct wi_parser {
    const struct wi_profile_visitor *visitor;
    struct wi_bits {
        uint8_t *bytes;
        size_t n_bytes;
    } defined[WI_DEFINED_KINDS]; /* one bit an identifier, as far as there are any */
};

void wi_parser_init(struct wi_parser *parser, const struct wi_profile_visitor *visitor);
void wi_parser_fini(struct wi_parser *parser);

/* The first line. NULL and the record is delivered, or what is wrong with it: then *newer says whether it is
 * the header of a later version. */
const char *wi_parse_header(struct wi_parser *parser, const char *line, size_t length, bool *newer);

/* Any other line. NULL if all was well; else a constant text that says what was wrong. Where only a part of the
 * record was, the rest has been delivered. */
const char *wi_parse_line(struct wi_parser *parser, const char *line, size_t length);

#endif
