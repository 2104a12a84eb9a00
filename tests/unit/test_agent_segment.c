/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments: credit as it flows. */
#include "runtime/agent/signal/segment.h"
#include "tests/lib/unit.h"

#define MS 1000000ull

/* A segment of `ms` whose samples come at `phase`, `phase` + 1 ms, ...; all or none hit. Returns the code time credited. */
static uint64_t run_segment(struct wi_segment *segment, uint64_t *clock, uintptr_t site, uint64_t length, uint64_t phase,
                            bool hit)
{
    uint64_t begin = *clock, code = 0;
    wi_segment_begin(segment, 1, site, begin);
    for (uint64_t at = phase; at < length; at += MS)
        code += wi_segment_sample(segment, 1, begin + at, MS, hit);
    *clock = begin + length;
    return code + wi_segment_end(segment, 1, 7, site + 1, *clock);
}

START_TEST(a_kind_that_is_filled_is_credited_exactly)
{
    struct wi_segment segment = {0};
    uint64_t clock = 5 * MS;
    for (int i = 0; i < 10; i++)
        run_segment(&segment, &clock, 0x1000, 4 * MS, MS / 2, true);
    segment.deficit_ns = 0;
    ck_assert_uint_eq(run_segment(&segment, &clock, 0x1000, 6 * MS, MS / 10, true), 6 * MS);
    ck_assert_uint_eq(run_segment(&segment, &clock, 0x1000, 6 * MS, MS - 1, true), 6 * MS);
    ck_assert_uint_eq(run_segment(&segment, &clock, 0x1000, MS / 4, MS / 2, true), MS / 4);
}
END_TEST

START_TEST(a_kind_that_is_unknown_gets_a_period_for_each_hit)
{
    struct wi_segment segment = {0};
    uint64_t clock = MS;
    ck_assert_uint_eq(run_segment(&segment, &clock, 0x2000, 2 * MS, MS / 4, true), 2 * MS);
    ck_assert_uint_eq(run_segment(&segment, &clock, 0x2000, MS / 2, MS / 4, true), MS);
}
END_TEST

START_TEST(code_elsewhere_is_credited_nothing)
{
    struct wi_segment segment = {0};
    uint64_t clock = MS;
    for (int i = 0; i < 20; i++)
        ck_assert_uint_eq(run_segment(&segment, &clock, 0x3000, 5 * MS, MS / 3, false), 0);
}
END_TEST

/* The same two calls around other work: what one kind of work has taught must not credit the other. */
START_TEST(a_segment_whose_samples_missed_is_not_credited_for_its_kind)
{
    struct wi_segment segment = {0};
    uint64_t clock = MS;
    for (int i = 0; i < 30; i++)
        run_segment(&segment, &clock, 0x4000, 3 * MS, MS / 2, true);
    ck_assert_uint_eq(run_segment(&segment, &clock, 0x4000, 3 * MS, MS / 2, false), 0);
}
END_TEST

START_TEST(a_deficit_is_taken_off_later_credits)
{
    struct wi_segment segment = {.deficit_ns = 3 * MS};
    wi_segment_begin(&segment, 0, 0x5000, 0);
    ck_assert_uint_eq(wi_segment_sample(&segment, 0, 2 * MS, MS, true), 0);
    ck_assert_uint_eq(wi_segment_sample(&segment, 0, 4 * MS, MS, true), MS);
}
END_TEST

START_TEST(a_new_experiment_forgets_what_was_owed)
{
    struct wi_segment segment = {.deficit_ns = 3 * MS};
    wi_segment_begin(&segment, 1, 0x6000, 0);
    segment.deficit_ns = 3 * MS;
    ck_assert_uint_eq(wi_segment_sample(&segment, 2, MS, MS, true), MS);
    ck_assert_uint_eq(wi_segment_end(&segment, 2, 7, 0x6001, 2 * MS), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("segment");
    TCase *all = tcase_create("segment");
    tcase_add_test(all, a_kind_that_is_filled_is_credited_exactly);
    tcase_add_test(all, a_kind_that_is_unknown_gets_a_period_for_each_hit);
    tcase_add_test(all, code_elsewhere_is_credited_nothing);
    tcase_add_test(all, a_segment_whose_samples_missed_is_not_credited_for_its_kind);
    tcase_add_test(all, a_deficit_is_taken_off_later_credits);
    tcase_add_test(all, a_new_experiment_forgets_what_was_owed);
    suite_add_tcase(suite, all);
    return wi_unit_run(suite);
}
