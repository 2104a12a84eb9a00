/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of lines that is only ever appended to, created so that nobody else's file can be harmed.
 * Context: launcher.
 */
#ifndef WI_PROFILE_LINES_H
#define WI_PROFILE_LINES_H

#include <stddef.h>

struct wi_lines;

/* Create `path`, mode 0600, holding `first` (`length` bytes, whole lines). The file appears under its name at
 * once with that content; whatever stands there before is either a regular file of this user's, which is
 * replaced, or makes this fail: -ELOOP for a symbolic link, -EPERM for another user's file, -EISDIR for a
 * directory, -EEXIST for any other kind of file. 0 or -errno. */
int wi_lines_create(const char *path, const char *first, size_t length, struct wi_lines **out);

/* Append bytes to the line being built, and end it. Whole lines reach the kernel when enough have gathered. */
void wi_lines_put(struct wi_lines *lines, const char *bytes, size_t length);
void wi_lines_end(struct wi_lines *lines);
/* Forget the line being built. */
void wi_lines_drop(struct wi_lines *lines);

/* Keep an error of the caller's, unless there is one already. */
void wi_lines_fail(struct wi_lines *lines, int error);

/* 0, or -errno of the first failure so far. After a failure nothing is written any more. */
int wi_lines_flush(struct wi_lines *lines);
/* Flush, sync, close, free. A line that was not ended is dropped. */
int wi_lines_close(struct wi_lines *lines);

#endif
