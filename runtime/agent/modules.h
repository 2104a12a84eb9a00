/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process's modules: what is loaded where, told to the session by device, inode and build-id, so that the same
 * library has one number in all processes whatever its address. Context: guest.
 */
#ifndef WI_AGENT_MODULES_H
#define WI_AGENT_MODULES_H

/* Look again at what is loaded: at the agent's start, after dlopen and dlclose. Keeps errno. */
void wi_modules_refresh(void);

#endif
