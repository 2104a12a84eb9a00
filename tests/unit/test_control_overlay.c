/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Overlaying range lists: a few by hand, and many at random against counting address by address.
 */
#include "runtime/control/overlay.h"
#include "runtime/profile/stats.h"
#include "tests/lib/unit.h"

enum { MANY = 256 };

static struct wi_session_range out[MANY];

#define LIST(...)                                                                                            \
    {                                                                                                        \
        (struct wi_range[]){__VA_ARGS__}, sizeof((struct wi_range[]){__VA_ARGS__}) / sizeof(struct wi_range) \
    }

static void range_is(int64_t i, uint32_t module, uint64_t low, uint64_t high, uint32_t flags)
{
    ck_assert_uint_eq(out[i].module, module);
    ck_assert_uint_eq(out[i].low, low);
    ck_assert_uint_eq(out[i].high, high);
    ck_assert_uint_eq(out[i].flags, flags);
}

START_TEST(nothing_over_nothing_is_nothing)
{
    const struct wi_range_list none = {NULL, 0};
    ck_assert_int_eq(wi_overlay((const struct wi_layer[]){{&none, 1}}, 1, out, MANY), 0);
    ck_assert_int_eq(wi_overlay(NULL, 0, out, MANY), 0);
}
END_TEST

START_TEST(one_layer_stays_as_it_is)
{
    const struct wi_range_list list = LIST({0, 10, 20}, {0, 30, 40}, {1, 5, 6});
    ck_assert_int_eq(wi_overlay((const struct wi_layer[]){{&list, 2}}, 1, out, MANY), 3);
    range_is(0, 0, 10, 20, 2);
    range_is(1, 0, 30, 40, 2);
    range_is(2, 1, 5, 6, 2);
}
END_TEST

START_TEST(flags_are_combined_where_layers_overlap)
{
    const struct wi_range_list selected = LIST({0, 10, 30}), given = LIST({0, 20, 40});
    const struct wi_layer layers[] = {{&selected, WI_RANGE_SELECTED}, {&given, WI_RANGE_GIVEN}};
    ck_assert_int_eq(wi_overlay(layers, 2, out, MANY), 3);
    range_is(0, 0, 10, 20, WI_RANGE_SELECTED);
    range_is(1, 0, 20, 30, WI_RANGE_SELECTED | WI_RANGE_GIVEN);
    range_is(2, 0, 30, 40, WI_RANGE_GIVEN);
}
END_TEST

START_TEST(neighbours_of_equal_flags_become_one)
{
    const struct wi_range_list one = LIST({0, 10, 20}), other = LIST({0, 20, 30});
    const struct wi_layer layers[] = {{&one, 1}, {&other, 1}};
    ck_assert_int_eq(wi_overlay(layers, 2, out, MANY), 1);
    range_is(0, 0, 10, 30, 1);
}
END_TEST

START_TEST(equal_addresses_of_two_modules_do_not_meet)
{
    const struct wi_range_list one = LIST({0, 10, 20}), other = LIST({1, 10, 20});
    const struct wi_layer layers[] = {{&one, 1}, {&other, 2}};
    ck_assert_int_eq(wi_overlay(layers, 2, out, MANY), 2);
    range_is(0, 0, 10, 20, 1);
    range_is(1, 1, 10, 20, 2);
}
END_TEST

START_TEST(empty_and_inverted_ranges_are_left_out)
{
    const struct wi_range_list list = LIST({0, 10, 10}, {0, 20, 15}, {0, 30, 31});
    ck_assert_int_eq(wi_overlay((const struct wi_layer[]){{&list, 1}}, 1, out, MANY), 1);
    range_is(0, 0, 30, 31, 1);
}
END_TEST

START_TEST(too_many_are_counted_and_the_first_ones_written)
{
    const struct wi_range_list list = LIST({0, 10, 20}, {0, 30, 40}, {0, 50, 60});
    out[2].high = 99;
    ck_assert_int_eq(wi_overlay((const struct wi_layer[]){{&list, 1}}, 1, out, 2), 3);
    range_is(1, 0, 30, 40, 1);
    ck_assert_uint_eq(out[2].high, 99);
}
END_TEST

START_TEST(any_layers_say_of_each_address_what_holds_there)
{
    enum { ADDRESSES = 60, ROUNDS = 2000 };
    struct wi_random random = {7};
    for (int round = 0; round < ROUNDS; round++) {
        struct wi_range ranges[3][6];
        struct wi_range_list lists[3];
        struct wi_layer layers[3];
        uint32_t expected[2][ADDRESSES] = {{0}};
        for (int layer = 0; layer < 3; layer++) {
            lists[layer] = (struct wi_range_list){ranges[layer], wi_random_below(&random, 7)};
            layers[layer] = (struct wi_layer){&lists[layer], 1u << layer};
            for (size_t i = 0; i < lists[layer].n; i++) {
                uint32_t low = wi_random_below(&random, ADDRESSES - 1);
                uint32_t high = low + wi_random_below(&random, ADDRESSES - low);
                ranges[layer][i] = (struct wi_range){wi_random_below(&random, 2), low, high};
                for (uint32_t address = low; address < high; address++)
                    expected[ranges[layer][i].module][address] |= 1u << layer;
            }
        }
        uint32_t got[2][ADDRESSES] = {{0}};
        int64_t n = wi_overlay(layers, 3, out, MANY);
        for (int64_t i = 0; i < n; i++) {
            ck_assert_uint_lt(out[i].low, out[i].high);
            if (i > 0 && out[i].module == out[i - 1].module)
                ck_assert_uint_ge(out[i].low, out[i - 1].high);
            for (uint64_t address = out[i].low; address < out[i].high; address++)
                got[out[i].module][address] = out[i].flags;
        }
        ck_assert_mem_eq(got, expected, sizeof got);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("overlay");
    TCase *core = tcase_create("core");
    tcase_add_test(core, nothing_over_nothing_is_nothing);
    tcase_add_test(core, one_layer_stays_as_it_is);
    tcase_add_test(core, flags_are_combined_where_layers_overlap);
    tcase_add_test(core, neighbours_of_equal_flags_become_one);
    tcase_add_test(core, equal_addresses_of_two_modules_do_not_meet);
    tcase_add_test(core, empty_and_inverted_ranges_are_left_out);
    tcase_add_test(core, too_many_are_counted_and_the_first_ones_written);
    tcase_add_test(core, any_layers_say_of_each_address_what_holds_there);
    suite_add_tcase(suite, core);
    return wi_unit_run(suite);
}
