/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The status line: one line on stderr that is rewritten in place, on a terminal only.
 */
#ifndef WI_LAUNCHER_STATUS_H
#define WI_LAUNCHER_STATUS_H

#include "runtime/control/controller.h"
#include <stdbool.h>

struct wi_status_line {
    bool on;
    bool shown;
    uint64_t next_ns;
};

void wi_status_init(struct wi_status_line *line, bool quiet);
/* Rewrite it if it is time to. Returns when to call again. */
uint64_t wi_status_update(struct wi_status_line *line, struct wi_controller *controller, uint64_t start_ns,
                          uint64_t now_ns);
void wi_status_clear(struct wi_status_line *line);

#endif
