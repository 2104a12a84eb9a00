/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles of Coz, text or JSON Lines, as records for a visitor. The part of the reader that knows them.
 */
#ifndef WI_PROFILE_COZ_IMPORT_H
#define WI_PROFILE_COZ_IMPORT_H

#include "runtime/profile/reader.h"

struct wi_coz;

/* Whether a file that begins with this line is a profile of Coz. */
bool wi_coz_recognises(const char *line, size_t length);

/* NULL if memory is out. The header is delivered at once. */
struct wi_coz *wi_coz_create(const struct wi_profile_visitor *visitor);
void wi_coz_destroy(struct wi_coz *coz);

/* Any line, the first included. NULL if all was well; else a constant text that says what was wrong. */
const char *wi_coz_line(struct wi_coz *coz, const char *line, size_t length);

/* The file is at its end: deliver what was gathered. */
void wi_coz_finish(struct wi_coz *coz);

#endif
