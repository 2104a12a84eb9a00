/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few things that only /proc knows. Context: launcher.
 */
#ifndef WI_CONTROL_PROC_H
#define WI_CONTROL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a thread is running or runnable, rather than blocked, stopped or gone. */
bool wi_proc_is_running(uint32_t pid, uint32_t tid);

/* Ticks of all processors since boot, and those of them taken by the hypervisor. Zeros if unknown. */
void wi_proc_read_ticks(uint64_t *total, uint64_t *stolen);

/* Model name of the processor; "" if unknown. */
void wi_proc_cpu_model(char *text, size_t size);

/* kernel.perf_event_paranoid, or -100 if unknown. */
int wi_proc_perf_paranoid(void);

#endif
