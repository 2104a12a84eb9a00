/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `whatif export`. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "viewer-export/export/internal.h"

static const char options_help[] =
    "\n"
    "  -o, --output FILE  write there instead of to standard output; gzip if it ends in .gz\n"
    "  --point NAME       only this progress point; a glob pattern works\n"
    "  --impact POINT     folded: by causal impact on this progress point instead of by time\n"
    "  --with-source      firefox: embed the text of source files that are still as they were\n"
    "  --top N            bencher: so many units of each point (default 10)\n"
    "  --speedup P        bencher: causal-impact is the gain at a speedup of P percent (default 50)\n"
    "  --seed N           of the resampling; the same seed gives the same figures (default 1)\n"
    "  -h, --help         this text\n";

struct command {
    struct wi_export_options options;
    const char *output;
    bool help;
};

static void print_help(void)
{
    fputs("Usage: whatif export FORMAT [OPTIONS] PROFILE...\n"
          "Write what a run found in the format of another tool. Several profiles are taken as one.\n"
          "Formats:\n\n",
          stdout);
    for (const struct wi_export_format *format = wi_export_formats; format->name != NULL; format++)
        printf("  %-18s %s\n", format->name, format->summary);
    fputs(options_help, stdout);
}

static int misuse(const char *text, const char *value)
{
    fprintf(stderr, "whatif export: %s%s%s; try whatif export --help\n", text, value != NULL ? ": " : "",
            value != NULL ? value : "");
    return 2;
}

static bool parse_percent(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < 0 || value > 100)
        return false;
    *out = value;
    return true;
}

static bool parse_count(const char *text, unsigned long long most, unsigned long long *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || text[0] == '-' || value > most)
        return false;
    *out = value;
    return true;
}

static bool take_number(int option, const char *text, struct wi_export_options *options)
{
    unsigned long long number = 0;
    if (option == 'P')
        return parse_percent(text, &options->speedup_percent);
    if (!parse_count(text, option == 'T' ? 1000000 : UINT64_MAX, &number))
        return false;
    if (option == 'T')
        options->top = (uint32_t)number;
    else
        options->estimate.seed = number;
    return option != 'T' || number > 0;
}

/* 0, or the exit status of a misuse. */
static int take_option(int option, char **argv, struct command *command)
{
    switch (option) {
    case 'h':
        command->help = true;
        return 0;
    case 'o':
        command->output = optarg;
        return 0;
    case 'p':
        command->options.point = optarg;
        return 0;
    case 'i':
        command->options.impact = optarg;
        return 0;
    case 's':
        command->options.with_source = true;
        return 0;
    case ':':
        return misuse("an option lacks its value", argv[optind - 1]);
    case '?':
        return misuse("unknown option", argv[optind - 1]);
    default:
        return take_number(option, optarg, &command->options) ? 0 : misuse("not a number in range", optarg);
    }
}

static int parse(int argc, char **argv, struct command *command)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"point", required_argument, NULL, 'p'},
        {"impact", required_argument, NULL, 'i'},
        {"with-source", no_argument, NULL, 's'},
        {"top", required_argument, NULL, 'T'},
        {"speedup", required_argument, NULL, 'P'},
        {"seed", required_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    optind = 0; /* the launcher may have parsed before */
    int option;
    while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
        int status = take_option(option, argv, command);
        if (status != 0)
            return status;
    }
    return 0;
}

static bool ends_in_gz(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && strcmp(name + length - 3, ".gz") == 0;
}

static int write_compressed(const struct wi_export_format *format, const char *const *paths, size_t n,
                            const struct wi_export_options *options, FILE *under)
{
    FILE *out = wi_gzip_open(under);
    if (out == NULL)
        return wi_export_complain(format->name, "out of memory");
    int status = wi_export_profiles(format->name, paths, n, options, out);
    if (fclose(out) != 0 && status == 0)
        status = wi_export_complain("writing", strerror(errno));
    return status;
}

static int write_to(const char *output, const struct wi_export_format *format, const char *const *paths,
                    size_t n, const struct wi_export_options *options)
{
    FILE *out = fopen(output, "we");
    if (out == NULL)
        return wi_export_complain(output, strerror(errno));
    int status = ends_in_gz(output) && !format->is_binary
                     ? write_compressed(format, paths, n, options, out)
                     : wi_export_profiles(format->name, paths, n, options, out);
    if (fclose(out) != 0 && status == 0)
        status = wi_export_complain(output, strerror(errno));
    return status;
}

int wi_export_main(int argc, char **argv)
{
    struct command command = {.options = WI_EXPORT_DEFAULTS};
    int status = parse(argc, argv, &command);
    if (status != 0)
        return status;
    if (command.help) {
        print_help();
        return 0;
    }
    if (optind == argc)
        return misuse("no format given", NULL);
    const struct wi_export_format *format = wi_export_format_of(argv[optind]);
    if (format == NULL)
        return misuse("unknown format", argv[optind]);
    if (optind + 1 == argc)
        return misuse("no profile given", NULL);
    if (format->is_binary && command.output == NULL && isatty(STDOUT_FILENO))
        return misuse("this format is not for a terminal: give -o FILE", NULL);
    const char *const *paths = (const char *const *)argv + optind + 1;
    size_t n = (size_t)(argc - optind - 1);
    if (command.output != NULL)
        return write_to(command.output, format, paths, n, &command.options);
    return wi_export_profiles(format->name, paths, n, &command.options, stdout);
}
