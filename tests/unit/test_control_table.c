/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash table.
 */
#include "runtime/control/table.h"
#include "tests/lib/unit.h"

START_TEST(empty_table_has_nothing)
{
    struct wi_table table = {0};
    ck_assert_uint_eq(wi_table_get(&table, 1, 2), WI_TABLE_ABSENT);
    wi_table_fini(&table);
}
END_TEST

START_TEST(what_was_put_is_found_while_it_grows)
{
    struct wi_table table = {0};
    for (uint32_t i = 0; i < 20000; i++) {
        ck_assert_int_eq(wi_table_put(&table, i % 100, i / 100, i), 0);
        ck_assert_uint_eq(wi_table_get(&table, i % 100, i / 100), i);
    }
    for (uint32_t i = 0; i < 20000; i++)
        ck_assert_uint_eq(wi_table_get(&table, i % 100, i / 100), i);
    ck_assert_uint_eq(wi_table_get(&table, 100, 0), WI_TABLE_ABSENT);
    ck_assert_uint_eq(table.n, 20000);
    wi_table_fini(&table);
    ck_assert_uint_eq(wi_table_get(&table, 1, 1), WI_TABLE_ABSENT);
}
END_TEST

START_TEST(order_of_the_two_words_matters)
{
    struct wi_table table = {0};
    ck_assert_int_eq(wi_table_put(&table, 3, 4, 34), 0);
    ck_assert_uint_eq(wi_table_get(&table, 4, 3), WI_TABLE_ABSENT);
    ck_assert_int_eq(wi_table_put(&table, 4, 3, 43), 0);
    ck_assert_uint_eq(wi_table_get(&table, 3, 4), 34);
    wi_table_fini(&table);
}
END_TEST

START_TEST(zero_is_a_key_and_a_value)
{
    struct wi_table table = {0};
    ck_assert_int_eq(wi_table_put(&table, 0, 0, 0), 0);
    ck_assert_uint_eq(wi_table_get(&table, 0, 0), 0);
    wi_table_fini(&table);
}
END_TEST

START_TEST(strings_hash_by_content)
{
    char text[] = "work_a";
    ck_assert_uint_eq(wi_table_hash(text), wi_table_hash("work_a"));
    ck_assert_uint_ne(wi_table_hash("work_a"), wi_table_hash("work_b"));
    ck_assert_uint_ne(wi_table_hash(""), wi_table_hash("a"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("table");
    TCase *core = tcase_create("core");
    tcase_add_test(core, empty_table_has_nothing);
    tcase_add_test(core, what_was_put_is_found_while_it_grows);
    tcase_add_test(core, order_of_the_two_words_matters);
    tcase_add_test(core, zero_is_a_key_and_a_value);
    tcase_add_test(core, strings_hash_by_content);
    suite_add_tcase(suite, core);
    return wi_unit_run(suite);
}
