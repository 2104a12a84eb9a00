/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries going: their addresses may soon be another library's.
 *
 * dlopen is not interposed: it searches by the run path of whoever calls it, and that must not become the agent. A new
 * library is found out by the first sample in it (modules.h).
 */
#include "runtime/agent/modules.h"
#include "runtime/agent/real.h"

int dlclose(void *handle)
{
    int result = wi_real()->dlclose(handle);
    wi_modules_refresh();
    return result;
}
