/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports, compared with what they looked like when somebody read them. After an intended change:
 * WHATIF_GOLDEN_UPDATE=1, and read the difference.
 */
#include "tests/unit/profile_fixture.h"
#include "tests/unit/report_profiles.h"
#include "viewer-export/report/report.h"

#define GOLDEN "tests/golden/report/"

static bool updates(void)
{
    return getenv("WHATIF_GOLDEN_UPDATE") != NULL;
}

struct look {
    const char *golden, *language;
    struct wi_report_options options;
};

static const struct look looks[] = {
    {"wide.txt", "en_US.UTF-8", {.width = 110, .estimate = WI_ESTIMATE_DEFAULTS}},
    {"narrow.txt", "C", {.width = 60, .estimate = WI_ESTIMATE_DEFAULTS}},
    {"ascii.txt", "C", {.width = 80, .estimate = WI_ESTIMATE_DEFAULTS}},
    {"throughput.txt", "C.UTF-8", {.width = 80, .as_throughput = true, .estimate = WI_ESTIMATE_DEFAULTS}},
    {"one-unit.txt",
     "C.UTF-8",
     {.width = 100, .unit = "hash_lookup", .point = "requests", .estimate = WI_ESTIMATE_DEFAULTS}},
    {"one-unit-ascii.txt",
     "C",
     {.width = 100, .unit = "hash*", .point = "requests", .estimate = WI_ESTIMATE_DEFAULTS}},
    {"report.md", "C", {.format = WI_REPORT_MARKDOWN, .estimate = WI_ESTIMATE_DEFAULTS}},
    {"report.json", "C", {.format = WI_REPORT_JSON, .estimate = WI_ESTIMATE_DEFAULTS}},
    {"verbose.json", "C", {.format = WI_REPORT_JSON, .verbose = true, .estimate = WI_ESTIMATE_DEFAULTS}},
};

START_TEST(report_looks_as_it_did)
{
    const struct look *look = &looks[_i];
    const char *const paths[] = {GOLDEN "run.whatif"};
    char golden[128], *text = NULL;
    size_t size = 0;
    setenv("LC_ALL", look->language, 1);
    setenv("TERM", "xterm", 1);
    snprintf(golden, sizeof golden, GOLDEN "%s", look->golden);
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(wi_report_print(paths, 1, &look->options, out), 0);
    fclose(out);
    if (updates())
        write_bytes(golden, text, size);
    char *expected = read_file(golden, NULL);
    ck_assert_msg(strcmp(text, expected) == 0, "%s differs:\n%s", golden, text);
    free(expected);
    free(text);
}
END_TEST

int main(void)
{
    if (updates())
        write_run(GOLDEN "run.whatif");
    TCase *tests = tcase_create("golden");
    tcase_add_loop_test(tests, report_looks_as_it_did, 0, (int)(sizeof looks / sizeof *looks));
    return run_tests("report golden", tests);
}
