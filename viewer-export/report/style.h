/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How text reaches its reader: width, colour, character set.
 */
#ifndef WI_REPORT_STYLE_H
#define WI_REPORT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wi_style {
    uint32_t width; /* columns */
    bool colour;
    bool unicode;
};

/* What suits `out`: a terminal's width, colour unless NO_COLOR or a dumb terminal, Unicode if the locale has it. A
 * pipe gets COLUMNS or 80 columns and no colour. */
struct wi_style wi_style_of(FILE *out, uint32_t width);

enum wi_colour { WI_PLAIN, WI_BOLD, WI_DIM, WI_GREEN, WI_RED };
/* Escape sequences; "" without colour. */
const char *wi_colour(const struct wi_style *style, enum wi_colour colour);
const char *wi_colour_end(const struct wi_style *style);

/* Copy what is safe to show: control characters (C1 and bidirectional overrides too) become '?'. Names come from
 * files that anyone may have made. Cuts at `size` between characters. */
void wi_clean(char *out, size_t size, const char *text);

/* Columns of a text: its characters. */
size_t wi_columns(const char *text);
/* Print exactly `columns` columns: padded on the right, or cut on the left with a mark, since the ends of names
 * tell most. Without Unicode, other characters become '?'. */
void wi_print_cell(const struct wi_style *style, FILE *out, const char *text, size_t columns);
/* Print in lines of the style's width; the first begins with `first`, the others with as many blanks. */
void wi_print_wrapped(const struct wi_style *style, FILE *out, const char *first, const char *text);

#endif
