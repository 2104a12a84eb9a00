/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `whatif report`. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/report/report.h"

static const char usage[] =
    "Usage: whatif report [OPTIONS] PROFILE...\n"
    "Say what a run found: which code is worth making faster, and by how much the program would gain.\n"
    "Several profiles are reported as one.\n"
    "\n"
    "  --format FORMAT    text (default), markdown or json\n"
    "  --unit NAME        only this unit, in full; a glob pattern works\n"
    "  --point NAME       only this progress point; a glob pattern works\n"
    "  --top N            so many units of each point (default 10)\n"
    "  --as FORM          gain: time saved (default); throughput: throughput gained\n"
    "  --precision P      a unit is decided when its gain is known to +-P percent (default 2)\n"
    "  --min-impact P     gains below P percent are of no interest (default 1)\n"
    "  --seed N           of the resampling; the same seed gives the same figures (default 1)\n"
    "  -o, --output FILE  write there instead of to standard output\n"
    "  -v, --verbose      every unit in full\n"
    "  -h, --help         this text\n";

struct command {
    struct wi_report_options options;
    const char *output;
    bool help;
};

static int misuse(const char *text, const char *value)
{
    fprintf(stderr, "whatif report: %s%s%s; try whatif report --help\n", text, value != NULL ? ": " : "",
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

static bool parse_format(const char *text, enum wi_report_format *out)
{
    static const char *const names[] = {"text", "markdown", "json"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum wi_report_format)i;
            return true;
        }
    }
    return false;
}

static bool take_number(int option, const char *text, struct wi_report_options *options)
{
    unsigned long long number = 0;
    switch (option) {
    case 'P':
        return parse_percent(text, &options->estimate.precision_percent);
    case 'M':
        return parse_percent(text, &options->estimate.min_impact_percent);
    case 'T':
        if (!parse_count(text, 1000000, &number) || number == 0)
            return false;
        options->top = (uint32_t)number;
        return true;
    default:
        if (!parse_count(text, UINT64_MAX, &number))
            return false;
        options->estimate.seed = number;
        return true;
    }
}

/* 0, or the exit status of a misuse. */
static int take_option(int option, char **argv, struct command *command)
{
    switch (option) {
    case 'h':
        command->help = true;
        return 0;
    case 'v':
        command->options.verbose = true;
        return 0;
    case 'o':
        command->output = optarg;
        return 0;
    case 'u':
        command->options.unit = optarg;
        return 0;
    case 'p':
        command->options.point = optarg;
        return 0;
    case 'f':
        return parse_format(optarg, &command->options.format) ? 0 : misuse("unknown format", optarg);
    case 'a':
        command->options.as_throughput = strcmp(optarg, "throughput") == 0;
        return command->options.as_throughput || strcmp(optarg, "gain") == 0
                   ? 0
                   : misuse("--as takes gain or throughput", optarg);
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
        {"format", required_argument, NULL, 'f'},
        {"unit", required_argument, NULL, 'u'},
        {"point", required_argument, NULL, 'p'},
        {"top", required_argument, NULL, 'T'},
        {"as", required_argument, NULL, 'a'},
        {"precision", required_argument, NULL, 'P'},
        {"min-impact", required_argument, NULL, 'M'},
        {"seed", required_argument, NULL, 'S'},
        {"output", required_argument, NULL, 'o'},
        {"verbose", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    optind = 0; /* the launcher may have parsed before */
    int option;
    while ((option = getopt_long(argc, argv, ":o:vh", options, NULL)) != -1) {
        int status = take_option(option, argv, command);
        if (status != 0)
            return status;
    }
    return 0;
}

static int print_to(const char *output, const char *const *paths, size_t n,
                    const struct wi_report_options *options)
{
    FILE *out = fopen(output, "we");
    if (out == NULL) {
        fprintf(stderr, "whatif report: %s: %s\n", output, strerror(errno));
        return 1;
    }
    int status = wi_report_print(paths, n, options, out);
    if (fclose(out) != 0 && status == 0) {
        fprintf(stderr, "whatif report: %s: %s\n", output, strerror(errno));
        status = 1;
    }
    return status;
}

int wi_report_main(int argc, char **argv)
{
    struct command command = {.options = WI_REPORT_DEFAULTS};
    int status = parse(argc, argv, &command);
    if (status != 0)
        return status;
    if (command.help) {
        fputs(usage, stdout);
        return 0;
    }
    if (optind == argc)
        return misuse("no profile given", NULL);
    const char *const *paths = (const char *const *)argv + optind;
    size_t n = (size_t)(argc - optind);
    if (command.output != NULL)
        return print_to(command.output, paths, n, &command.options);
    return wi_report_print(paths, n, &command.options, stdout);
}
