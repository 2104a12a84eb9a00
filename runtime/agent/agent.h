/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent in this process: started at most once. Context: guest.
 */
#ifndef WI_AGENT_H
#define WI_AGENT_H

/* Attach to the session that the environment names, if any, and make the calling thread take part. */
void wi_agent_start(void);

#endif
