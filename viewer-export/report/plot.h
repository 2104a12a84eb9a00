/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small plot of a curve through the origin, in Braille (two by four dots a character) or plain characters.
 */
#ifndef WI_REPORT_PLOT_H
#define WI_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WI_PLOT_MAX_COLUMNS 64
#define WI_PLOT_MAX_ROWS    16

struct wi_plot {
    uint32_t columns, rows; /* characters */
    bool unicode;
    double low, high; /* values at the lower and upper edge */
};

/* Draw the lines that join (0, 0) and n points, x from 0 to 1 and ascending. `out` gets `rows` lines of at most
 * columns * 3 + 1 bytes each, at `stride` bytes from each other. */
void wi_plot_curve(const struct wi_plot *plot, const double *x, const double *y, size_t n, char *out,
                   size_t stride);

#endif
