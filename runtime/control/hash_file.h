/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SHA-256 of a source file, so that only that very content is ever shown later. Context: launcher.
 */
#ifndef WI_CONTROL_HASH_FILE_H
#define WI_CONTROL_HASH_FILE_H

#define WI_HASH_TEXT 65 /* 64 hex digits and the end */

/* Lower-case hex; "" if the file is no regular one, too large to be source (16 MB), or unreadable. */
void wi_hash_file(const char *path, char text[WI_HASH_TEXT]);

#endif
