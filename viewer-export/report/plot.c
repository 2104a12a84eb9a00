/* SPDX-License-Identifier: BSD-2-Clause */
/* A small plot: one value for each column of dots, joined upwards and downwards. See plot.h. */
#include "viewer-export/report/plot.h"

#include <math.h>
#include <string.h>

#define MAX_DOTS_X (WI_PLOT_MAX_COLUMNS * 2)
#define MAX_DOTS_Y (WI_PLOT_MAX_ROWS * 4)

struct canvas {
    uint32_t width, height; /* dots */
    bool dot[MAX_DOTS_Y][MAX_DOTS_X];
};

static double value_at(const double *x, const double *y, size_t n, double at)
{
    double x0 = 0, y0 = 0;
    for (size_t i = 0; i < n; i++) {
        if (at <= x[i])
            return x[i] > x0 ? y0 + (y[i] - y0) * (at - x0) / (x[i] - x0) : y[i];
        x0 = x[i];
        y0 = y[i];
    }
    return y0;
}

/* Row of dots, counted from the top. */
static uint32_t row_of(const struct wi_plot *plot, const struct canvas *canvas, double value)
{
    double span = plot->high - plot->low;
    double share = span > 0 ? (value - plot->low) / span : 0;
    share = fmin(1, fmax(0, share));
    return canvas->height - 1 - (uint32_t)lround(share * (canvas->height - 1));
}

static void draw(struct canvas *canvas, const struct wi_plot *plot, const double *x, const double *y,
                 size_t n)
{
    uint32_t before = 0;
    double last = n > 0 ? x[n - 1] : 0;
    for (uint32_t column = 0; column < canvas->width; column++) {
        double at = canvas->width > 1 ? (double)column / (canvas->width - 1) : 0;
        if (at > last + 1e-9)
            break;
        uint32_t row = row_of(plot, canvas, value_at(x, y, n, at));
        uint32_t from = column > 0 && before < row ? before + 1 : row;
        uint32_t to = column > 0 && before > row ? before - 1 : row;
        for (uint32_t i = from; i <= to; i++)
            canvas->dot[i][column] = true;
        before = row;
    }
}

/* Bits of a Braille character by row and column of its dots. */
static const unsigned char braille_bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

static char *put_braille(const struct canvas *canvas, uint32_t row, uint32_t column, char *out)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 2; j++)
            if (canvas->dot[row * 4 + i][column * 2 + j])
                bits |= braille_bit[i][j];
    *out++ = (char)0xe2;
    *out++ = (char)(0xa0 | bits >> 6);
    *out++ = (char)(0x80 | (bits & 0x3f));
    return out;
}

void wi_plot_curve(const struct wi_plot *plot, const double *x, const double *y, size_t n, char *out,
                   size_t stride)
{
    struct canvas canvas;
    memset(&canvas, 0, sizeof canvas);
    canvas.width = plot->columns * (plot->unicode ? 2 : 1);
    canvas.height = plot->rows * (plot->unicode ? 4 : 1);
    draw(&canvas, plot, x, y, n);
    for (uint32_t row = 0; row < plot->rows; row++) {
        char *at = out + row * stride;
        for (uint32_t column = 0; column < plot->columns; column++) {
            if (plot->unicode)
                at = put_braille(&canvas, row, column, at);
            else
                *at++ = canvas.dot[row][column] ? '*' : ' ';
        }
        *at = '\0';
    }
}
