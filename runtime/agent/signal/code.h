/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is this stack inside the selected code?
 *
 * A stack belongs to its innermost frame in scope: code out of scope (libc, say) counts for whoever called it. The
 * controller has resolved inlining into the ranges already, so one physical frame is one question here.
 * Context: signal.
 */
#ifndef WI_AGENT_CODE_H
#define WI_AGENT_CODE_H

#include "runtime/session/session.h"

/* Whether a module's address is in scope; false while the module's scope is unknown. */
bool wi_code_in_scope(struct wi_session *session, uint32_t module, uint64_t address);

/* Flags (WI_RANGE_*) of the address in a range set. */
uint32_t wi_code_flags(const struct wi_range_set *set, uint32_t module, uint64_t address);

/* WI_RANGE_SELECTED and WI_RANGE_GIVEN as they hold for the stack. `frames` are in the form of struct wi_sample. */
uint32_t wi_code_match(struct wi_session *session, const struct wi_range_set *set, const uint64_t *frames,
                       uint32_t n);

#endif
