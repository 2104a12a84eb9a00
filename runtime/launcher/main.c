/* SPDX-License-Identifier: BSD-2-Clause */
/* `whatif COMMAND ...`: find the command in the table and call it. */
#include "runtime/launcher/command.h"
#include "runtime/launcher/version.h"
#include "viewer-export/export/export.h"
#include "viewer-export/report/report.h"
#include "viewer-export/upload/upload.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct wi_command wi_commands[] = {
    {"run", "profile a program: find out what making code faster would be worth", wi_run_main},
    {"report", "print what one or more profiles say", wi_report_main},
    {"export", "write what a run found in the format of another tool", wi_export_main},
    {"upload", "send what a run found to Bencher or the Firefox Profiler", wi_upload_main},
    {NULL, NULL, NULL},
};

static void print_usage(FILE *out)
{
    fputs("usage: whatif COMMAND [OPTIONS] ...\n\n"
          "whatif is a causal profiler: it tells how much faster a program would be if some of its code "
          "were.\n\n",
          out);
    for (const struct wi_command *command = wi_commands; command->name; command++)
        fprintf(out, "  %-10s %s\n", command->name, command->summary);
    fputs("\n`whatif COMMAND --help` tells more of each.\n", out);
}

/* A caller may have closed them: a file opened in their place would be written to by whoever prints. */
static void open_standard_descriptors(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    open_standard_descriptors();
    if (argc < 2) {
        print_usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("whatif %s\n", wi_version);
        return 0;
    }
    for (const struct wi_command *command = wi_commands; command->name; command++)
        if (strcmp(argv[1], command->name) == 0)
            return command->main(argc - 1, argv + 1);
    fprintf(stderr, "whatif: there is no command '%s'; `whatif --help` lists them\n", argv[1]);
    return 2;
}
