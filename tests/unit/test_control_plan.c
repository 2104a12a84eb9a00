/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of experiments, and who gets the next one.
 */
#include "runtime/control/plan.h"
#include "tests/lib/unit.h"

#include <stdlib.h>

static const double usual[] = {0, 25, 50, 75, 100};
static struct wi_trial trials[WI_MAX_BLOCK];

static size_t count(size_t n, enum wi_experiment_kind kind)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += trials[i].kind == kind;
    return found;
}

START_TEST(block_has_every_speedup_once)
{
    struct wi_random random = {1};
    size_t n = wi_plan_block(usual, 5, 0, &random, trials);
    ck_assert_uint_eq(count(n, WI_EXPERIMENT_TREATMENT), 4);
    for (size_t speedup = 1; speedup < 5; speedup++) {
        size_t found = 0;
        for (size_t i = 0; i < n; i++)
            found += trials[i].kind == WI_EXPERIMENT_TREATMENT && trials[i].speedup_percent == usual[speedup];
        ck_assert_uint_eq(found, 1);
    }
}
END_TEST

START_TEST(block_always_has_baselines)
{
    struct wi_random random = {1};
    const double one[] = {50}, two[] = {50, 100};
    ck_assert_uint_eq(count(wi_plan_block(usual, 5, 9, &random, trials), WI_EXPERIMENT_BASELINE), 2);
    ck_assert_uint_eq(count(wi_plan_block(two, 2, 9, &random, trials), WI_EXPERIMENT_BASELINE), 1);
    ck_assert_uint_eq(count(wi_plan_block(one, 1, 9, &random, trials), WI_EXPERIMENT_BASELINE), 1);
}
END_TEST

START_TEST(zeros_among_the_speedups_add_no_treatment)
{
    struct wi_random random = {1};
    const double zeros[] = {0, 0, 50};
    size_t n = wi_plan_block(zeros, 3, 100, &random, trials);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(count(n, WI_EXPERIMENT_TREATMENT), 1);
}
END_TEST

START_TEST(zero_alone_makes_a_block_of_baselines)
{
    struct wi_random random = {1};
    size_t n = wi_plan_block(usual, 1, 0, &random, trials);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(trials[0].kind, WI_EXPERIMENT_BASELINE);
}
END_TEST

START_TEST(first_blocks_and_every_third_one_have_a_placebo)
{
    struct wi_random random = {1};
    for (uint32_t earlier = 0; earlier < 30; earlier++) {
        size_t n = wi_plan_block(usual, 5, earlier, &random, trials);
        bool wanted = earlier < WI_PLACEBO_FIRST || earlier % 3 == 0;
        ck_assert_uint_eq(count(n, WI_EXPERIMENT_PLACEBO), wanted);
    }
}
END_TEST

START_TEST(placebo_has_the_speedup_of_a_treatment)
{
    struct wi_random random = {1};
    for (int round = 0; round < 100; round++) {
        size_t n = wi_plan_block(usual, 5, 0, &random, trials);
        for (size_t i = 0; i < n; i++)
            if (trials[i].kind == WI_EXPERIMENT_PLACEBO)
                ck_assert(trials[i].speedup_percent >= 25);
    }
}
END_TEST

START_TEST(longest_list_of_speedups_fits_into_a_block)
{
    struct wi_random random = {1};
    double many[WI_MAX_SPEEDUPS];
    for (int i = 0; i < WI_MAX_SPEEDUPS; i++)
        many[i] = i + 1;
    ck_assert_uint_le(wi_plan_block(many, WI_MAX_SPEEDUPS, 0, &random, trials), WI_MAX_BLOCK);
}
END_TEST

START_TEST(one_seed_gives_one_order)
{
    struct wi_random one = {42}, same = {42}, other = {43};
    struct wi_trial first[WI_MAX_BLOCK];
    bool differs = false;
    for (uint32_t block = 0; block < 10; block++) {
        size_t n = wi_plan_block(usual, 5, block, &one, first);
        ck_assert_uint_eq(wi_plan_block(usual, 5, block, &same, trials), n);
        for (size_t i = 0; i < n; i++) {
            ck_assert_int_eq(trials[i].kind, first[i].kind);
            ck_assert(trials[i].speedup_percent == first[i].speedup_percent);
        }
        wi_plan_block(usual, 5, block, &other, trials);
        for (size_t i = 0; i < n; i++)
            differs |=
                trials[i].kind != first[i].kind || trials[i].speedup_percent != first[i].speedup_percent;
    }
    ck_assert(differs);
}
END_TEST

START_TEST(every_place_in_a_block_is_as_likely)
{
    enum { BLOCKS = 6000 };
    struct wi_random random = {5};
    size_t first = 0, last = 0;
    for (int block = 0; block < BLOCKS; block++) {
        size_t n = wi_plan_block(usual, 5, 100, &random, trials); /* no placebo: 6 trials */
        ck_assert_uint_eq(n, 6);
        first += trials[0].kind == WI_EXPERIMENT_BASELINE;
        last += trials[5].kind == WI_EXPERIMENT_BASELINE;
    }
    ck_assert_uint_ge(first, BLOCKS / 3 - 200);
    ck_assert_uint_le(first, BLOCKS / 3 + 200);
    ck_assert_uint_ge(last, BLOCKS / 3 - 200);
    ck_assert_uint_le(last, BLOCKS / 3 + 200);
}
END_TEST

START_TEST(blocks_end_up_in_proportion_to_worth)
{
    struct wi_contender contenders[] = {{60, 0}, {30, 0}, {10, 0}, {-1, 0}, {0, 0}};
    for (int block = 0; block < 1000; block++) {
        size_t next = wi_plan_next(contenders, 5);
        ck_assert_uint_lt(next, 3);
        contenders[next].n_blocks++;
    }
    ck_assert_int_le(abs((int)contenders[0].n_blocks - 600), 3);
    ck_assert_int_le(abs((int)contenders[1].n_blocks - 300), 3);
    ck_assert_int_le(abs((int)contenders[2].n_blocks - 100), 3);
}
END_TEST

START_TEST(nobody_is_next_when_nothing_is_worth_it)
{
    const struct wi_contender contenders[] = {{0, 0}, {-5, 3}};
    ck_assert_uint_eq(wi_plan_next(contenders, 2), 2);
    ck_assert_uint_eq(wi_plan_next(contenders, 0), 0);
}
END_TEST

START_TEST(length_follows_the_rate_of_visits)
{
    ck_assert_uint_eq(wi_plan_length_ns(100, 30, 1, UINT64_MAX), 300000000);
    ck_assert_uint_eq(wi_plan_length_ns(1e6, 30, 100, 500), 500);
    ck_assert_uint_eq(wi_plan_length_ns(1e9, 30, 100, 500), 100);
}
END_TEST

START_TEST(length_without_visits_is_the_longest)
{
    ck_assert_uint_eq(wi_plan_length_ns(0, 30, 100, 500), 500);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *core = tcase_create("core");
    tcase_add_test(core, block_has_every_speedup_once);
    tcase_add_test(core, block_always_has_baselines);
    tcase_add_test(core, zeros_among_the_speedups_add_no_treatment);
    tcase_add_test(core, zero_alone_makes_a_block_of_baselines);
    tcase_add_test(core, first_blocks_and_every_third_one_have_a_placebo);
    tcase_add_test(core, placebo_has_the_speedup_of_a_treatment);
    tcase_add_test(core, longest_list_of_speedups_fits_into_a_block);
    tcase_add_test(core, one_seed_gives_one_order);
    tcase_add_test(core, every_place_in_a_block_is_as_likely);
    tcase_add_test(core, blocks_end_up_in_proportion_to_worth);
    tcase_add_test(core, nobody_is_next_when_nothing_is_worth_it);
    tcase_add_test(core, length_follows_the_rate_of_visits);
    tcase_add_test(core, length_without_visits_is_the_longest);
    suite_add_tcase(suite, core);
    return wi_unit_run(suite);
}
