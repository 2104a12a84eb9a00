/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this thread knows of itself: the private half of its account.
 *
 * The public half is its slot in the session (struct wi_thread). This half is thread-local in the static TLS block,
 * so that it can be reached from a signal handler without an allocation. Only the thread itself touches it; its own
 * signal handler may interrupt any access, which `busy` and the order of stores provide for.
 */
#ifndef WI_AGENT_ACCOUNT_H
#define WI_AGENT_ACCOUNT_H

#include "runtime/agent/signal/segment.h"
#include "runtime/session/layout.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A clock of the time that a thread was running or ready to run: see wi_run_clock_advance. */
struct wi_run_clock {
    uint64_t run_ns;
    uint64_t wall_ns;
    uint64_t cpu_ns;
    uint64_t blocks; /* voluntary context switches so far */
};

struct wi_account {
    struct wi_thread *slot; /* NULL: this thread takes no part (not yet, no more, or no room) */
    uint16_t slot_index;
    uint16_t process_index;
    uint32_t tid;            /* kernel's; in a vfork child it is not the running thread's */
    bool busy;               /* the ledger is in the middle of something: a sample now is skipped */
    bool leaving;            /* the thread is past its last destructor */
    bool shared_blocked;     /* the program believes that the shared signal is blocked: disposition.h */
    bool shared_pending;     /* one of the program's own arrived meanwhile */
    bool blocked_before;     /* what it believed when its handler of the shared signal was called ... */
    uintptr_t handler_frame; /* ... from this place of the stack; 0: it is in none */
    uint8_t exit_rounds;     /* of the thread-specific destructor */
    /* since the last sample */
    uint64_t wait_ns;
    uint64_t longest_wait_ns;
    uint16_t longest_wait_kind;
    uint64_t pause_ns;
    uint64_t sampled_cpu_ns; /* thread's CPU clock at the last sample */
    uint64_t sampled_run_ns; /* its run clock then */
    struct wi_segment segment;
    struct wi_run_clock run_clock;
    /* where the stack ends; a program's alternate stack, if it has one */
    uintptr_t stack_high;
    uintptr_t alternate_low;
    uintptr_t alternate_high;
    /* the sampling event: see event.h */
    void *event_page;
    int event_fd;
    int timer_id;
    bool event_is_first; /* its first period is random; the regular event replaces it at its first sample */
    uint8_t sampler;
};

extern _Thread_local struct wi_account wi_self __attribute__((tls_model("initial-exec")));
extern struct wi_session *wi_session; /* NULL: not profiled */

enum wi_wait_source { WI_BY_PEER = 1, WI_BY_WORLD = 2, WI_BY_UNKNOWN = 3 };

#endif
