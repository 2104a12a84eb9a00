/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream that compresses what is written to it.
 */
#ifndef WI_EXPORT_GZIP_H
#define WI_EXPORT_GZIP_H

#include <stdio.h>

/* Bytes written go compressed to `under`, which stays open after fclose; NULL if memory is out. The same bytes give the
 * same bytes: no name, no date. */
FILE *wi_gzip_open(FILE *under);

#endif
