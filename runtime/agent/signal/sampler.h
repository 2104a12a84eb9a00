/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happens at a sample. See sampler.c.
 */
#ifndef WI_AGENT_SAMPLER_H
#define WI_AGENT_SAMPLER_H

#include "runtime/agent/signal/account.h"
#include <signal.h>

/* The calling thread was interrupted by its own event. All signals are blocked. Keeps errno. Context: signal. */
void wi_sampler_take(struct wi_account *account, const siginfo_t *info, void *context);

/* The calling thread ends: tell the controller. Context: guest. */
void wi_sampler_tell_exit(struct wi_account *account);

#endif
