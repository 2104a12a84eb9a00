/* SPDX-License-Identifier: BSD-2-Clause */
/* The report's edges: empty runs, damaged and hostile files, filters, misuse, and every width. */
#include <jansson.h>
#include <sys/stat.h>

#include "tests/unit/profile_fixture.h"
#include "tests/unit/report_profiles.h"
#include "viewer-export/report/plot.h"
#include "viewer-export/report/report.h"
#include "viewer-export/report/style.h"

#define RUN    "tests/golden/report/run.whatif"
#define HEADER "{\"type\":\"header\",\"format\":\"whatif-profile\",\"version\":1,\"command\":[\"./x\"]}\n"

static struct wi_report_options options = WI_REPORT_DEFAULTS;
static char *text; /* of the last report */
static char errors[4096];
static int status;

/* Run something with stderr in `errors`. */
static void with_errors(void (*run)(void *), void *context)
{
    char name[96];
    snprintf(name, sizeof name, "%s/errors", directory);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    ck_assert_ptr_nonnull(freopen(name, "w", stderr));
    run(context);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    char *content = read_file(name, NULL);
    snprintf(errors, sizeof errors, "%s", content);
    free(content);
}

static void print_report(void *context)
{
    const char *const paths[] = {context};
    size_t size;
    free(text);
    FILE *out = open_memstream(&text, &size);
    status = wi_report_print(paths, 1, &options, out);
    fclose(out);
}

static void report_on(const char *name)
{
    with_errors(print_report, (void *)name);
}

static void report_on_text(const char *profile)
{
    write_file(path, profile);
    report_on(path);
}

static bool says(const char *what)
{
    return strstr(text, what) != NULL;
}

static uint32_t lines_in(const char *what)
{
    uint32_t n = 0;
    for (; *what != '\0'; what++)
        n += *what == '\n';
    return n;
}

/* ---- nothing to report -------------------------------------------------------------------------------------------------- */

START_TEST(empty_run_says_why)
{
    report_on_text(HEADER);
    ck_assert_int_eq(status, 0);
    ck_assert(says("There is no gain to report"));
    ck_assert(says("no progress point"));
    ck_assert(says("No sample arrived"));
    ck_assert(says("No experiment was made"));
}
END_TEST

START_TEST(notice_of_the_run_is_not_said_twice)
{
    report_on_text(HEADER "{\"type\":\"notice\",\"code\":\"no-progress-point\",\"text\":\"Mark one.\"}\n"
                          "{\"type\":\"notice\",\"code\":\"no-samples\"}\n"
                          "{\"type\":\"notice\",\"code\":\"brand-new\",\"text\":\"Something else.\"}\n");
    ck_assert(says("Mark one."));
    ck_assert(!says("WHATIF_PROGRESS"));
    ck_assert(says("whatif doctor"));
    ck_assert(says("Something else."));
}
END_TEST

START_TEST(run_without_gains_still_shows_where_the_time_went)
{
    report_on_text(HEADER
                   "{\"type\":\"unit\",\"id\":0,\"name\":\"a.c:1\",\"kind\":\"line\"}\n"
                   "{\"type\":\"unit\",\"id\":1,\"name\":\"b.c:2\",\"kind\":\"line\"}\n"
                   "{\"type\":\"tally\",\"time_ns\":1000,\"samples\":10,\"samples_in_scope\":8,\"units\":"
                   "[[0,2,2,2],[1,6,6,6]]}\n");
    ck_assert(says("Where the time went"));
    ck_assert(strstr(text, "b.c:2") < strstr(text, "a.c:1"));
    ck_assert(says(" 75.0  b.c:2"));
}
END_TEST

START_TEST(point_that_was_never_visited_is_said)
{
    report_on_text(HEADER "{\"type\":\"point\",\"id\":0,\"name\":\"p\",\"kind\":\"throughput\"}\n"
                          "{\"type\":\"unit\",\"id\":0,\"name\":\"a.c:1\",\"kind\":\"line\"}\n"
                          "{\"type\":\"experiment\",\"unit\":0,\"kind\":\"baseline\",\"end_ns\":9,\"valid\":"
                          "true,\"points\":[]}\n");
    ck_assert(says("p: was not visited in any experiment"));
    ck_assert(says("no figure: no visits"));
}
END_TEST

/* ---- errors ------------------------------------------------------------------------------------------------------------------ */

START_TEST(error_is_one_line_that_names_file_and_cause)
{
    static const char *const cases[][2] = {
        {"hello\n", "line 1 is not JSON"},
        {"", "line 1 is missing: the file is empty"},
        {"{\"type\":\"header\",\"format\":\"whatif-profile\",\"version\":9}\n", "later version"},
    };
    for (size_t i = 0; i < 3; i++) {
        report_on_text(cases[i][0]);
        ck_assert_int_eq(status, 1);
        ck_assert_uint_eq(lines_in(errors), 1);
        ck_assert_ptr_nonnull(strstr(errors, cases[i][1]));
        ck_assert_ptr_nonnull(strstr(errors, path));
        ck_assert_str_eq(text, "");
    }
    report_on("/nowhere/profile");
    ck_assert_str_eq(errors, "whatif report: /nowhere/profile: No such file or directory\n");
}
END_TEST

START_TEST(damage_is_part_of_the_report)
{
    options.width = 200;
    report_on_text(HEADER
                   "rubbish\n{\"type\":\"notice\",\"code\":\"c\",\"text\":\"kept\"}\n{\"type\":\"noti");
    ck_assert_int_eq(status, 0);
    ck_assert(says("kept"));
    ck_assert(says("ends in the middle of line 4"));
    ck_assert(says("1 of 4 lines"));
    ck_assert(says("line 2: it is not"));
}
END_TEST

START_TEST(filter_that_matches_nothing_is_an_error)
{
    options.unit = "nothing";
    report_on(RUN);
    ck_assert_int_eq(status, 1);
    ck_assert_str_eq(errors, "whatif report: nothing: no unit of this name in the profile\n");
    options.unit = NULL;
    options.point = "nothing";
    report_on(RUN);
    ck_assert_str_eq(errors, "whatif report: nothing: no progress point of this name in the profile\n");
}
END_TEST

START_TEST(filters_and_top_select)
{
    options.unit = "queue.c:9 < server.c:210";
    options.point = "request time";
    report_on(RUN);
    ck_assert(says("queue_push"));
    ck_assert(!says("parser.c") && !says("visits per second"));
    options = (struct wi_report_options)WI_REPORT_DEFAULTS;
    options.top = 2;
    report_on(RUN);
    ck_assert(says("hash_lookup"));
    ck_assert(!says("log.c"));
    ck_assert(says("and 2 more (--top 4 shows them)"));
}
END_TEST

/* ---- the command line ----------------------------------------------------------------------------------------------------- */

struct invocation {
    char *arguments[8];
    int argc;
};

static void invoke(void *context)
{
    struct invocation *invocation = context;
    status = wi_report_main(invocation->argc, invocation->arguments);
}

START_TEST(misuse_is_status_2_and_one_line)
{
    static struct invocation invocations[] = {
        {{"report"}, 1},
        {{"report", "--format", "html", "x"}, 4},
        {{"report", "--nonsense", "x"}, 3},
        {{"report", "x", "--top"}, 3},
        {{"report", "--top", "0", "x"}, 4},
        {{"report", "--precision", "abc", "x"}, 4},
        {{"report", "--min-impact=-1", "x"}, 3},
        {{"report", "--precision=nan", "x"}, 3},
        {{"report", "--as", "money", "x"}, 4},
    };
    for (size_t i = 0; i < sizeof invocations / sizeof *invocations; i++) {
        with_errors(invoke, &invocations[i]);
        ck_assert_msg(status == 2, "invocation %zu: status %d", i, status);
        ck_assert_uint_eq(lines_in(errors), 1);
    }
}
END_TEST

START_TEST(output_goes_to_a_file)
{
    struct invocation invocation = {{"report", RUN, "--format=json", "-o", path}, 5};
    with_errors(invoke, &invocation);
    ck_assert_int_eq(status, 0);
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_int_eq(json_integer_value(json_object_get(document, "version")), 1);
    json_decref(document);
    invocation.arguments[4] = "/nowhere/file";
    with_errors(invoke, &invocation);
    ck_assert_int_eq(status, 1);
    ck_assert_uint_eq(lines_in(errors), 1);
}
END_TEST

START_TEST(full_disk_is_an_error)
{
    if (access("/dev/full", W_OK) != 0)
        return; /* no such device here */
    struct invocation invocation = {{"report", RUN, "-o", "/dev/full"}, 4};
    with_errors(invoke, &invocation);
    ck_assert_int_eq(status, 1);
    ck_assert_uint_eq(lines_in(errors), 1);
}
END_TEST

/* ---- how it looks ----------------------------------------------------------------------------------------------------------- */

START_TEST(every_line_fits_the_width)
{
    for (int unicode = 0; unicode < 2; unicode++) {
        setenv("LC_ALL", unicode ? "C.UTF-8" : "C", 1);
        for (options.width = 40; options.width <= 200; options.width += 7) {
            options.verbose = options.width % 2;
            report_on(RUN);
            for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
                ck_assert_msg(wi_columns(line) <= options.width, "width %u: %s", options.width, line);
        }
    }
}
END_TEST

START_TEST(pipes_get_no_escape_sequences)
{
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C", 1);
    report_on(RUN);
    ck_assert_ptr_null(strchr(text, '\x1b'));
    for (const char *byte = text; *byte != '\0'; byte++)
        ck_assert_int_gt(*byte, 0); /* and in a plain locale nothing but ASCII */
}
END_TEST

START_TEST(hostile_names_cannot_reach_the_terminal_or_markup)
{
    static const char profile[] =
        HEADER "{\"type\":\"point\",\"id\":0,\"name\":\"p\\u001b[2J\\u009b31m\",\"kind\":\"throughput\"}\n"
               "{\"type\":\"unit\",\"id\":0,\"name\":\"<script>|`x`\\n\\u202e\\u001b]0;t\\u0007\",\"kind\":"
               "\"line\"}\n"
               "{\"type\":\"experiment\",\"unit\":0,\"kind\":\"baseline\",\"end_ns\":9,\"valid\":true,"
               "\"points\":[{\"point\":0,\"visits\":3}]}\n"
               "{\"type\":\"notice\",\"code\":\"x\",\"text\":\"a\\u001b[1mb <img>\"}\n";
    setenv("LC_ALL", "C.UTF-8", 1);
    for (int format = 0; format < 2; format++) {
        options.format = (enum wi_report_format)format;
        report_on_text(profile);
        ck_assert_int_eq(status, 0);
        for (const char *byte = text; *byte != '\0'; byte++)
            ck_assert(*byte == '\n' || (unsigned char)*byte >= 0x20);
        ck_assert(!says("\xc2\x9b") && !says("\xe2\x80\xae"));
    }
    ck_assert(!says("<script>") && !says("<img>"));
    ck_assert(says("&lt;script&gt;\\|\\`x\\`"));
}
END_TEST

START_TEST(cleaning_keeps_letters_and_cuts_between_them)
{
    char out[8];
    wi_clean(out, sizeof out, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(out, "a\xc3\xa9\xe2\x82\xac");
    wi_clean(out, sizeof out,
             "\x80\xff"
             "b\x7f");
    ck_assert_str_eq(out, "??b?");
}
END_TEST

START_TEST(plot_draws_the_curve)
{
    const double x[] = {.5, 1}, y[] = {1, 1};
    char lines[2][16];
    struct wi_plot plot = {.columns = 5, .rows = 2, .unicode = false, .low = 0, .high = 1};
    wi_plot_curve(&plot, x, y, 2, lines[0], sizeof lines[0]);
    ck_assert_str_eq(lines[0], " ****");
    ck_assert_str_eq(lines[1], "*    ");
}
END_TEST

START_TEST(json_is_whole_for_every_profile)
{
    options.format = WI_REPORT_JSON;
    const char *const names[] = {RUN, path};
    write_file(path, HEADER);
    for (int i = 0; i < 2; i++) {
        report_on(names[i]);
        json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        static const char *const keys[] = {"version", "command", "machine",  "duration_s",
                                           "sampler", "points",  "diagnosis"};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            ck_assert_ptr_nonnull(json_object_get(document, keys[k]));
        ck_assert_uint_eq(json_object_size(document), sizeof keys / sizeof *keys);
        json_decref(document);
    }
}
END_TEST

START_TEST(several_profiles_are_one)
{
    size_t size;
    const char *const paths[] = {RUN, RUN};
    free(text);
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(wi_report_print(paths, 2, &options, out), 0);
    fclose(out);
    ck_assert(says("122.0 s in 2 profiles, 324 experiments"));
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("report");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, empty_run_says_why);
    tcase_add_test(tests, notice_of_the_run_is_not_said_twice);
    tcase_add_test(tests, run_without_gains_still_shows_where_the_time_went);
    tcase_add_test(tests, point_that_was_never_visited_is_said);
    tcase_add_test(tests, error_is_one_line_that_names_file_and_cause);
    tcase_add_test(tests, damage_is_part_of_the_report);
    tcase_add_test(tests, filter_that_matches_nothing_is_an_error);
    tcase_add_test(tests, filters_and_top_select);
    tcase_add_test(tests, misuse_is_status_2_and_one_line);
    tcase_add_test(tests, output_goes_to_a_file);
    tcase_add_test(tests, full_disk_is_an_error);
    tcase_add_test(tests, every_line_fits_the_width);
    tcase_add_test(tests, pipes_get_no_escape_sequences);
    tcase_add_test(tests, hostile_names_cannot_reach_the_terminal_or_markup);
    tcase_add_test(tests, cleaning_keeps_letters_and_cuts_between_them);
    tcase_add_test(tests, plot_draws_the_curve);
    tcase_add_test(tests, json_is_whole_for_every_profile);
    tcase_add_test(tests, several_profiles_are_one);
    return run_tests("report", tests);
}
