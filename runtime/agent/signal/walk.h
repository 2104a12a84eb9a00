/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking a thread's stack, one frame a call.
 *
 * By the unwind table of the module that the program counter lies in, or by frame pointers where there is no
 * table. Which module that is, is the caller's to find; how many frames to walk at most, too: it also bounds
 * the walk of a stack that is nothing but signal frames.
 *
 * Pure: no call, no lock, no allocation, no state. What is read is the walk, the table, and words of the stack
 * inside the bounds. Context: signal, anywhere.
 */
#ifndef WI_AGENT_WALK_H
#define WI_AGENT_WALK_H

#include "runtime/session/unwind_table.h"

#include <stdbool.h>
#include <ucontext.h>

/* One frame: the registers as they are, or as they will be once its callees have returned. */
struct wi_walk {
    uintptr_t pc;
    uintptr_t sp;
    uintptr_t fp; /* 0 if it could not be recovered */
    bool at_call; /* pc is a return address: the frame's code is the call before it, so look up pc - 1 */
};

enum wi_walk_result {
    WI_WALK_STEPPED, /* the walk stands at the caller now */
    WI_WALK_END,     /* this was the outermost frame */
    WI_WALK_BROKEN,  /* the caller cannot be found: no information here, or a value outside the bounds */
};

/* Begin at what a signal interrupted. */
void wi_walk_from_context(struct wi_walk *walk, const ucontext_t *context);

/* The address whose module, table and source line are the frame's. */
static inline uintptr_t wi_walk_code_address(const struct wi_walk *walk)
{
    return walk->pc - walk->at_call;
}

/*
 * Go from a frame to its caller. `table` is that of the module at wi_walk_code_address(), or NULL, and `bias`
 * what was added to the module's own addresses when it was loaded. [stack_low, stack_high) is the stack that
 * the frame lies on: readable memory from the frame's sp (less the red zone) up to stack_high. A signal frame
 * may lead to another stack; the next call then needs the bounds of that one.
 *
 * The walk is changed only when it stepped. On one stack sp only grows.
 */
enum wi_walk_result wi_walk_step(struct wi_walk *walk, const struct wi_unwind_table *table, uintptr_t bias,
                                 uintptr_t stack_low, uintptr_t stack_high);

#endif
