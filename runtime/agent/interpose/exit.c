/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaving a process without its exit handlers: what is owed is served before the parent hears of it. An exit() runs the
 * agent's destructor instead.
 */
#include "runtime/agent/guest.h"
#include "runtime/agent/real.h"
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noreturn)) void _exit(int status)
{
    wi_catch_up();
    wi_real()->_exit(status);
    __builtin_unreachable();
}

__attribute__((noreturn)) void _Exit(int status)
{
    _exit(status);
}

__attribute__((noreturn)) void quick_exit(int status)
{
    wi_catch_up();
    wi_real()->quick_exit(status);
    __builtin_unreachable();
}
