/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parsing the options of `whatif run`.
 *
 * One table holds each option's name, what it takes and what it does; getopt_long, the environment and the usage text
 * all follow from it.
 */
#include "runtime/launcher/options.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_row {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: a flag */
    const char *help;
    /* NULL if it went well, else what is wrong with the value */
    const char *(*set)(struct wi_run_options *options, const char *value);
};

/* ---- values --------------------------------------------------------------------------------------------- */

static const char *parse_number(const char *text, double least, double most, double *out)
{
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (*end == '%' && end[1] == '\0')
        end++;
    if (end == text || *end || errno || !isfinite(value))
        return "is not a number";
    if (value < least || value > most)
        return "is out of range";
    *out = value;
    return NULL;
}

static const char *parse_duration(const char *text, uint64_t *out_ns)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (end == text || errno || !isfinite(value) || value < 0)
        return "is not a duration (like 20s, 500ms, 2m)";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            if (value * units[i].seconds > 1e9)
                return "is too long";
            *out_ns = (uint64_t)(value * units[i].seconds * 1e9);
            return NULL;
        }
    return "has an unknown unit (s, ms, us, m, h)";
}

static const char *add(struct wi_list *list, const char *value)
{
    if (!*value)
        return "is empty";
    if (list->n == WI_MAX_LIST)
        return "is one too many";
    list->items[list->n++] = value;
    return NULL;
}

static const char *set_duration(struct wi_run_options *options, const char *value)
{
    const char *wrong = parse_duration(value, &options->duration_ns);
    return wrong ? wrong : options->duration_ns == 0 ? "must be longer than nothing" : NULL;
}

static const char *set_warmup(struct wi_run_options *options, const char *value)
{
    return parse_duration(value, &options->warmup_ns);
}

static const char *set_speedups(struct wi_run_options *options, const char *value)
{
    options->n_speedups = 0;
    while (*value) {
        char item[32];
        size_t length = strcspn(value, ",");
        if (length >= sizeof item || options->n_speedups == WI_MAX_SPEEDUPS)
            return "is too long a list";
        memcpy(item, value, length);
        item[length] = '\0';
        const char *wrong = parse_number(item, 0, 100, &options->speedups[options->n_speedups]);
        if (wrong)
            return "is not a list of percentages from 0 to 100 (like 0,25,50,75,100)";
        options->n_speedups++;
        value += length + (value[length] == ',');
    }
    return options->n_speedups ? NULL : "is an empty list";
}

static const char *set_at(struct wi_run_options *options, const char *value)
{
    return add(&options->at, value);
}

static const char *set_scope(struct wi_run_options *options, const char *value)
{
    return add(&options->scope, value);
}

static const char *set_exclude(struct wi_run_options *options, const char *value)
{
    return add(&options->exclude, value);
}

static const char *set_given(struct wi_run_options *options, const char *value)
{
    const char *mark = strrchr(value, '@');
    if (!mark || mark == value)
        return "must be UNIT@SPEEDUP (like parse@50)";
    const char *wrong = parse_number(mark + 1, 0, 100, &options->given_speedup_percent);
    if (wrong)
        return "must end in a speedup from 0 to 100 (like parse@50)";
    free(options->given);
    options->given = strndup(value, (size_t)(mark - value));
    return options->given ? NULL : "is too much for memory";
}

static const char *set_unit(struct wi_run_options *options, const char *value)
{
    static const struct {
        const char *name;
        enum wi_granularity granularity;
    } names[] = {{"auto", WI_BY_AUTO}, {"line", WI_BY_LINE}, {"function", WI_BY_FUNCTION}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i].name) == 0) {
            options->granularity = names[i].granularity;
            return NULL;
        }
    return "is none of auto, line, function";
}

static const char *set_sampler(struct wi_run_options *options, const char *value)
{
    static const struct {
        const char *name;
        enum wi_sampler sampler;
    } names[] = {{"auto", WI_SAMPLER_AUTO},
                 {"sigtrap", WI_SAMPLER_SIGTRAP},
                 {"ring", WI_SAMPLER_RING},
                 {"timer", WI_SAMPLER_TIMER}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i].name) == 0) {
            options->sampler = names[i].sampler;
            return NULL;
        }
    return "is none of auto, sigtrap, ring, timer";
}

static const char *set_overhead(struct wi_run_options *options, const char *value)
{
    return parse_number(value, 0.01, 100, &options->overhead_percent);
}

static const char *set_max_slowdown(struct wi_run_options *options, const char *value)
{
    return parse_number(value, 1, 100, &options->max_slowdown_percent);
}

static const char *set_min_impact(struct wi_run_options *options, const char *value)
{
    return parse_number(value, 0, 100, &options->min_impact_percent);
}

static const char *set_precision(struct wi_run_options *options, const char *value)
{
    return parse_number(value, 0.01, 100, &options->precision_percent);
}

static const char *set_seed(struct wi_run_options *options, const char *value)
{
    char *end;
    errno = 0;
    options->seed = strtoull(value, &end, 0);
    options->seed_given = true;
    return end == value || *end || errno || *value == '-' ? "is not a whole number" : NULL;
}

static const char *set_no_follow(struct wi_run_options *options, const char *value)
{
    (void)value;
    options->follow = false;
    return NULL;
}

static const char *set_kill(struct wi_run_options *options, const char *value)
{
    (void)value;
    options->kill = true;
    return NULL;
}

static const char *set_output(struct wi_run_options *options, const char *value)
{
    options->output = value;
    return *value ? NULL : "is empty";
}

static const char *set_format(struct wi_run_options *options, const char *value)
{
    static const char *const names[] = {"text", "markdown", "json", "bencher"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            options->format = names[i];
            return NULL;
        }
    return "is none of text, markdown, json, bencher";
}

static const char *set_quiet(struct wi_run_options *options, const char *value)
{
    (void)value;
    options->quiet = true;
    return NULL;
}

static const struct option_row rows[] = {
    {"duration", 0, "D", "end the experiments after D (20s, 2m); the program runs on, undisturbed",
     set_duration},
    {"kill", 0, NULL, "end the program when the experiments end", set_kill},
    {"warmup", 0, "D", "make no experiment before D has passed", set_warmup},
    {"at", 0, "UNIT", "try this code only: FILE:LINE, FUNCTION or 'LOWER < UPPER'; may be repeated", set_at},
    {"speedups", 0, "LIST", "speedups to try, in percent (0,25,50,75,100)", set_speedups},
    {"unit", 0, "KIND", "what to try: auto (functions, then their lines), function, line", set_unit},
    {"scope", 0, "GLOB", "take in binaries, source files, functions that match; may be repeated", set_scope},
    {"exclude", 0, "GLOB", "leave out what matches; may be repeated", set_exclude},
    {"given", 0, "UNIT@S", "with UNIT sped up by S % throughout, what is worth doing next?", set_given},
    {"min-impact", 0, "P", "leave out code that could not give P percent (1)", set_min_impact},
    {"precision", 0, "P", "call an answer decided when it is good to P percentage points (2)", set_precision},
    {"sampler", 0, "KIND", "auto, sigtrap, ring (perf), or timer (where perf is refused)", set_sampler},
    {"overhead", 0, "P", "let samples take up to P percent of the time (5)", set_overhead},
    {"max-slowdown", 0, "P", "let pauses take up to P percent of the time (100)", set_max_slowdown},
    {"no-follow", 0, NULL, "leave the processes that the program starts alone", set_no_follow},
    {"seed", 0, "N", "make the random choices from this number", set_seed},
    {"output", 'o', "FILE", "write the profile there (PROGRAM.whatif)", set_output},
    {"format", 0, "KIND", "of the report: text, markdown, json, bencher", set_format},
    {"quiet", 'q', NULL, "print the report only", set_quiet},
};
#define N_ROWS (sizeof rows / sizeof *rows)

void wi_options_exclude(struct wi_run_options *options, const char *glob)
{
    options->exclude.items[options->exclude.n++] = glob;
}

/* ---- where they come from -------------------------------------------------------------------------------- */

static void print_usage(void)
{
    puts("usage: whatif run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n\n"
         "Runs the program and finds out, by experiments while it runs, what making its code faster would be "
         "worth.\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                 rows[i].argument ? rows[i].argument : "");
        char letter[5] = "    ";
        if (rows[i].letter)
            snprintf(letter, sizeof letter, "-%c, ", rows[i].letter);
        printf("  %s%-20s %s\n", letter, left, rows[i].help);
    }
    puts("\nEvery option is also read from the environment: WHATIF_DURATION=30s, WHATIF_MIN_IMPACT=2, ...");
}

static int complain(const char *where, const char *name, const char *value, const char *wrong)
{
    fprintf(stderr, "whatif: %s%s: '%s' %s\n", where, name, value ? value : "", wrong);
    return 2;
}

static void variable_of(const struct option_row *row, char *name, size_t size)
{
    snprintf(name, size, "WHATIF_%s", row->name);
    for (char *at = name; *at; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
}

static int read_environment(struct wi_run_options *options)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        char name[64];
        variable_of(&rows[i], name, sizeof name);
        const char *value = getenv(name);
        if (!value || !*value)
            continue;
        if (!rows[i].argument && (strcmp(value, "0") == 0 || strcmp(value, "no") == 0))
            continue;
        const char *wrong = rows[i].set(options, value);
        if (wrong)
            return complain("", name, value, wrong);
    }
    return -1;
}

static void set_defaults(struct wi_run_options *options)
{
    static const double speedups[] = {0, 25, 50, 75, 100};
    memset(options, 0, sizeof *options);
    memcpy(options->speedups, speedups, sizeof speedups);
    options->n_speedups = sizeof speedups / sizeof *speedups;
    options->sampler = WI_SAMPLER_AUTO;
    options->overhead_percent = 5;
    options->max_slowdown_percent = 100;
    options->min_impact_percent = 1;
    options->precision_percent = 2;
    options->format = "text";
    options->follow = true;
}

int wi_options_parse(int argc, char **argv, struct wi_run_options *options)
{
    struct option longs[N_ROWS + 2];
    char shorts[2 * N_ROWS + 4] = "+h"; /* '+': the first word that is no option is the program */
    set_defaults(options);
    int status = read_environment(options);
    if (status >= 0)
        return status;
    for (size_t i = 0; i < N_ROWS; i++) {
        longs[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument, NULL,
                                   256 + (int)i};
        if (rows[i].letter) {
            size_t length = strlen(shorts);
            snprintf(shorts + length, sizeof shorts - length, "%c%s", rows[i].letter,
                     rows[i].argument ? ":" : "");
        }
    }
    longs[N_ROWS] = (struct option){"help", no_argument, NULL, 'h'};
    longs[N_ROWS + 1] = (struct option){NULL, 0, NULL, 0};
    int found;
    optind = 0;
    while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (found == 'h') {
            print_usage();
            return 0;
        }
        if (found == '?') {
            fputs("whatif: `whatif run --help` lists the options\n", stderr);
            return 2;
        }
        size_t row = 0;
        while (found >= 256 ? row != (size_t)found - 256 : rows[row].letter != found)
            row++;
        const char *wrong = rows[row].set(options, optarg);
        if (wrong)
            return complain("--", rows[row].name, optarg, wrong);
    }
    if (optind == argc) {
        fputs("whatif: which program? `whatif run [OPTIONS] [--] PROGRAM [ARGUMENTS]`\n", stderr);
        return 2;
    }
    options->command = argv + optind;
    return -1;
}
