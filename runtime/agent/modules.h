/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process's modules: what is loaded where, told to the session by device, inode and build-id, so that the same
 * library has one number in all processes whatever its address. Context: guest.
 */
#ifndef WI_AGENT_MODULES_H
#define WI_AGENT_MODULES_H

/* Look again at what is loaded: at the agent's start, after dlclose. Takes the loader's lock. Keeps errno. */
void wi_modules_refresh(void);

/* The same if a sample has met code outside all known modules since. At most once an experiment: a program that makes
 * code at run time would ask for ever. */
void wi_modules_refresh_if_stale(void);

#endif
