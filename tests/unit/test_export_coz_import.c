/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles of Coz through the reader. */
#include <string.h>

#include "runtime/profile/reader.h"
#include "tests/unit/profile_fixture.h"

static struct {
    uint32_t headers, units, points, experiments, invalid, notices;
    struct wi_record_experiment last;
    struct wi_point_count count;
    uint32_t blocks[16];
    char unit_file[64];
    uint32_t unit_line;
    uint64_t samples;
} seen;
static struct wi_profile_trouble trouble;

static void on_header(const struct wi_record_header *record, void *context)
{
    (void)context;
    ck_assert_str_eq(record->sampler, "coz");
    seen.headers++;
}

static void on_unit(const struct wi_record_unit *record, void *context)
{
    (void)context;
    ck_assert_uint_eq(record->id, seen.units++);
    snprintf(seen.unit_file, sizeof seen.unit_file, "%s", record->file != NULL ? record->file : "");
    seen.unit_line = record->line;
}

static void on_point(const struct wi_record_point *record, void *context)
{
    (void)context;
    ck_assert_uint_eq(record->id, seen.points++);
}

static void on_experiment(const struct wi_record_experiment *record, void *context)
{
    (void)context;
    seen.last = *record;
    if (record->n_points > 0)
        seen.count = record->points[0];
    seen.invalid += !record->valid;
    seen.blocks[seen.experiments++ % 16] = record->block;
}

static void on_tally(const struct wi_record_tally *record, void *context)
{
    (void)context;
    seen.samples = record->samples;
    ck_assert_uint_eq(record->time_ns, 0);
}

static void on_notice(const struct wi_record_notice *record, void *context)
{
    (void)record, (void)context;
    seen.notices++;
}

static int read_text(const char *text)
{
    static const struct wi_profile_visitor visitor = {.header = on_header,
                                                      .unit = on_unit,
                                                      .point = on_point,
                                                      .experiment = on_experiment,
                                                      .tally = on_tally,
                                                      .notice = on_notice};
    memset(&seen, 0, sizeof seen);
    write_file(path, text);
    return wi_profile_read(path, &visitor, &trouble);
}

START_TEST(a_text_profile_becomes_records)
{
    ck_assert_int_eq(
        read_text("startup\ttime=5\n"
                  "experiment\tselected=dir/a.c:12\tspeedup=0.35\tduration=1000\tselected-samples=7\n"
                  "throughput-point\tname=x\tdelta=42\n"
                  "runtime\ttime=9\n"
                  "samples\tlocation=dir/a.c:12\tcount=3\n"
                  "samples\tlocation=dir/a.c:12\tcount=5\n"),
        0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert_uint_eq(seen.headers, 1);
    ck_assert_uint_eq(seen.experiments, 1);
    ck_assert_str_eq(seen.unit_file, "dir/a.c");
    ck_assert_uint_eq(seen.unit_line, 12);
    ck_assert_double_eq(seen.last.speedup_percent, 35);
    ck_assert_uint_eq(seen.last.end_ns - seen.last.start_ns, 1000);
    ck_assert_uint_eq(seen.last.hits, 7);
    ck_assert_uint_eq(seen.count.visits, 42);
    ck_assert_uint_eq(seen.samples, 5);
    ck_assert_uint_eq(seen.notices, 1);
}
END_TEST

START_TEST(json_lines_say_the_same_with_either_spelling)
{
    ck_assert_int_eq(
        read_text("{\"type\":\"startup\",\"time\":1}\n"
                  "{\"type\":\"experiment\",\"selected\":\"a.c:1\",\"speedup\":0,\"duration\":100,"
                  "\"selected_samples\":2}\n"
                  "{\"type\":\"latency_point\",\"name\":\"l\",\"arrivals\":3,\"departures\":4,"
                  "\"difference\":2.5}\n"),
        0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert_int_eq(seen.last.kind, WI_EXPERIMENT_BASELINE);
    ck_assert_uint_eq(seen.last.hits, 2);
    ck_assert_uint_eq(seen.count.begins, 3);
    ck_assert_uint_eq(seen.count.visits, 4);
    ck_assert_double_eq(seen.count.in_flight_ns, 250);
}
END_TEST

static void append_experiment(char *text, const char *unit, const char *speedup)
{
    sprintf(text + strlen(text), "experiment\tselected=%s\tspeedup=%s\tduration=100\n", unit, speedup);
}

START_TEST(a_block_has_a_baseline_and_a_treatment_before_the_next_begins)
{
    char text[2048] = "startup\ttime=5\n";
    static const char *const speedups[] = {"0.5", "0", "0", "0.25", "0", "1"};
    for (size_t i = 0; i < 6; i++)
        append_experiment(text, "a.c:1", speedups[i]);
    append_experiment(text, "b.c:1", "0");
    ck_assert_int_eq(read_text(text), 0);
    static const uint32_t expected[] = {0, 0, 1, 1, 2, 2, 3};
    ck_assert_uint_eq(seen.experiments, 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_uint_eq(seen.blocks[i], expected[i]);
}
END_TEST

START_TEST(durations_that_wrapped_around_do_not_count)
{
    ck_assert_int_eq(read_text("startup\ttime=5\n"
                               "experiment\tselected=a.c:1\tspeedup=1.00\tduration=18446744073705875774\n"),
                     0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert_uint_eq(seen.invalid, 1);
}
END_TEST

START_TEST(lines_that_make_no_sense_are_skipped_and_counted)
{
    ck_assert_int_eq(read_text("startup\ttime=5\n"
                               "throughput-point\tname=x\tdelta=1\n"
                               "experiment\tselected=a.c:1\tspeedup=2\tduration=1\n"
                               "experiment\tselected=\tspeedup=0\tduration=1\n"
                               "experiment\tselected=a.c:1\tspeedup=0\tduration=-5\n"
                               "experiment\tselected=a.c:1\tspeedup=nan\tduration=5\n"
                               "{\"type\":\n"
                               "[]\n"
                               "\n"
                               "hello\n"
                               "experiment\tselected=a.c:1\tspeedup=0\tduration=5\r\n"),
                     0);
    ck_assert_uint_eq(trouble.skipped, 8);
    ck_assert_uint_eq(trouble.first_line, 2);
    ck_assert_uint_eq(seen.experiments, 1);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("coz");
    tcase_add_test(tests, a_text_profile_becomes_records);
    tcase_add_test(tests, json_lines_say_the_same_with_either_spelling);
    tcase_add_test(tests, a_block_has_a_baseline_and_a_treatment_before_the_next_begins);
    tcase_add_test(tests, durations_that_wrapped_around_do_not_count);
    tcase_add_test(tests, lines_that_make_no_sense_are_skipped_and_counted);
    return run_tests("coz import", tests);
}
