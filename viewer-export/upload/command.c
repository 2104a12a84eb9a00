/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of `whatif upload`. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/upload/internal.h"

static const char usage[] =
    "Usage: whatif upload bencher|firefox [OPTIONS] PROFILE...\n"
    "Send what a run found to Bencher or to the Firefox Profiler's server.\n"
    "\n"
    "  --server URL        instead of the public one (bencher: BENCHER_HOST)\n"
    "  --point NAME        only this progress point; a glob pattern works\n"
    "  --dry-run           send nothing; say what would be sent\n"
    "  -q, --quiet         only the address, and errors\n"
    "  -h, --help          this text\n"
    "\n"
    "bencher: the key is taken from BENCHER_API_KEY or BENCHER_API_TOKEN.\n"
    "  --project NAME      BENCHER_PROJECT\n"
    "  --branch NAME       BENCHER_BRANCH; default: git's\n"
    "  --hash HASH         of the commit; default: git's\n"
    "  --testbed NAME      BENCHER_TESTBED; default: localhost\n"
    "  --top N             so many units of each progress point (default 10)\n"
    "  --speedup P         causal-impact is the gain at a speedup of P percent (default 50)\n"
    "  --no-thresholds     set none on throughput and latency\n"
    "  --error-on-alert    exit with status 1 if there are alerts\n"
    "\n"
    "firefox: the profile becomes public.\n"
    "  --yes               do not ask\n"
    "  --with-source       source code, too\n"
    "  --token-file FILE   keep the token for deleting there (default: beside the profile)\n"
    "  --delete            delete the profile whose token is in the token file\n";

static const struct {
    const char *name;
    int (*upload)(const struct wi_upload_options *options);
} destinations[] = {
    {"bencher", wi_upload_to_bencher},
    {"firefox", wi_upload_to_firefox},
};

int wi_upload_complain(const char *subject, const char *text)
{
    char line[1024];
    snprintf(line, sizeof line, "whatif upload: %s: %s", subject, text != NULL ? text : "");
    for (char *at = line; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "%s\n", line);
    return 1;
}

static int misuse(const char *text, const char *value)
{
    fprintf(stderr, "whatif upload: %s%s%s; try whatif upload --help\n", text, value != NULL ? ": " : "",
            value != NULL ? value : "");
    return 2;
}

static bool take_number(int option, const char *text, struct wi_upload_options *options)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value) || value < 0)
        return false;
    if (option == 'P') {
        options->export.speedup_percent = value;
        return value <= 100;
    }
    options->export.top = value < 1e6 ? (uint32_t)value : 0;
    return options->export.top > 0;
}

/* 0, or the exit status of a misuse; -1 for help. */
static int take_option(int option, char **argv, struct wi_upload_options *options)
{
    const char **texts[] = {
        ['s'] = &options->server,    ['p'] = &options->export.point, ['j'] = &options->project,
        ['b'] = &options->branch,    ['c'] = &options->hash,         ['t'] = &options->testbed,
        ['k'] = &options->token_file};
    bool *flags[] = {
        ['n'] = &options->dry_run, ['q'] = &options->quiet,       ['e'] = &options->error_on_alert,
        ['y'] = &options->yes,     ['w'] = &options->with_source, ['d'] = &options->delete};
    if (option == 'h')
        return -1;
    if (option == ':')
        return misuse("an option lacks its value", argv[optind - 1]);
    if (option == '?')
        return misuse("unknown option", argv[optind - 1]);
    if (option == 'T' || option == 'P')
        return take_number(option, optarg, options) ? 0 : misuse("not a number in range", optarg);
    if (option == 'N')
        options->thresholds = false;
    else if (option < (int)(sizeof texts / sizeof *texts) && texts[option] != NULL)
        *texts[option] = optarg;
    else if (option < (int)(sizeof flags / sizeof *flags) && flags[option] != NULL)
        *flags[option] = true;
    return 0;
}

static int parse(int argc, char **argv, struct wi_upload_options *out)
{
    static const struct option options[] = {
        {"server", required_argument, NULL, 's'},   {"point", required_argument, NULL, 'p'},
        {"dry-run", no_argument, NULL, 'n'},        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},           {"project", required_argument, NULL, 'j'},
        {"branch", required_argument, NULL, 'b'},   {"hash", required_argument, NULL, 'c'},
        {"testbed", required_argument, NULL, 't'},  {"top", required_argument, NULL, 'T'},
        {"speedup", required_argument, NULL, 'P'},  {"no-thresholds", no_argument, NULL, 'N'},
        {"error-on-alert", no_argument, NULL, 'e'}, {"yes", no_argument, NULL, 'y'},
        {"with-source", no_argument, NULL, 'w'},    {"token-file", required_argument, NULL, 'k'},
        {"delete", no_argument, NULL, 'd'},         {NULL, 0, NULL, 0},
    };
    optind = 0; /* the launcher may have parsed before */
    int option;
    while ((option = getopt_long(argc, argv, ":qh", options, NULL)) != -1) {
        int status = take_option(option, argv, out);
        if (status != 0)
            return status;
    }
    return 0;
}

int wi_upload_main(int argc, char **argv)
{
    struct wi_upload_options options = {.thresholds = true, .export = WI_EXPORT_DEFAULTS};
    int status = parse(argc, argv, &options);
    if (status == -1) {
        fputs(usage, stdout);
        return 0;
    }
    if (status != 0)
        return status;
    if (optind == argc)
        return misuse("upload where to?", NULL);
    const char *where = argv[optind];
    options.paths = (const char *const *)argv + optind + 1;
    options.n_paths = (size_t)(argc - optind - 1);
    if (options.delete &&strcmp(where, "firefox") != 0)
        return misuse("--delete is for firefox", NULL);
    if (options.n_paths == 0 && !options.delete)
        return misuse("no profile given", NULL);
    for (size_t i = 0; i < sizeof destinations / sizeof *destinations; i++)
        if (strcmp(where, destinations[i].name) == 0)
            return destinations[i].upload(&options);
    return misuse("unknown destination", where);
}
