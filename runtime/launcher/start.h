/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starting the target: the program, with the agent in front of it.
 */
#ifndef WI_LAUNCHER_START_H
#define WI_LAUNCHER_START_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Find the program as a shell would. On failure prints one line and returns the status to exit with (127 or 126, or 1
 * for one that no agent can be preloaded into); 0 if all is well. */
int wi_start_find(const char *name, char *path, size_t size);

/* The agent beside this executable: in ../lib/whatif, both when installed and in a build tree. 0 or -errno. */
int wi_start_find_agent(char *path, size_t size);

/* Make writing that fails an error instead of a signal, for the launcher only. Before wi_start. */
void wi_start_ignore_signals(void);

/* Start it. The signal mask of the caller is not inherited: `original` is. With `stdout_to_stderr` the program's
 * output goes to stderr, since stdout is to hold one document. Returns the pid, or -errno of what failed, the exec
 * included. */
pid_t wi_start(const char *path, char *const *command, const char *agent, const char *session,
               const sigset_t *original, bool stdout_to_stderr);

#endif
