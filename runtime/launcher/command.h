/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of `whatif`: one table, each command a function with the shape of main. Exit statuses: 0, 1 for a
 * failure that was told in one line, 2 for a misuse; `run` passes the program's own on.
 */
#ifndef WI_LAUNCHER_COMMAND_H
#define WI_LAUNCHER_COMMAND_H

struct wi_command {
    const char *name;
    const char *summary;
    int (*main)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct wi_command wi_commands[]; /* ends with a NULL name */

int wi_run_main(int argc, char **argv);

#endif
