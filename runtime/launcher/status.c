/* SPDX-License-Identifier: BSD-2-Clause */
/* The status line. See status.h. */
#include "runtime/launcher/status.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define EVERY_NS 500000000ull

void wi_status_init(struct wi_status_line *line, bool quiet)
{
    const char *terminal = getenv("TERM");
    *line = (struct wi_status_line){0};
    line->on = !quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

static unsigned terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

uint64_t wi_status_update(struct wi_status_line *line, struct wi_controller *controller, uint64_t start_ns,
                          uint64_t now_ns)
{
    if (!line->on)
        return UINT64_MAX;
    if (now_ns < line->next_ns)
        return line->next_ns;
    line->next_ns = now_ns + EVERY_NS;
    struct wi_controller_status status;
    wi_controller_status(controller, &status);
    char text[400];
    int n = snprintf(text, sizeof text, "%.0f s  %" PRIu64 " samples  %" PRIu64 " visits  %u experiments",
                     (double)(now_ns - start_ns) / 1e9, status.samples, status.visits, status.n_experiments);
    if (status.best && n > 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "  best: %s, up to %.0f %%", status.best,
                 status.best_percent);
    else if (status.error && n > 0 && (size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "  %s", status.error);
    fprintf(stderr, "\r\033[K%.*s", (int)terminal_width() - 1, text);
    fflush(stderr);
    line->shown = true;
    return line->next_ns;
}

void wi_status_clear(struct wi_status_line *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}
