/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which stacks are inside the selected code. The scene: module 0 is the program, all of it in scope but [900, 1000);
 * module 1 is libc, out of scope; module 2 has no scope table yet.
 */
#include "runtime/agent/signal/code.h"
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAM, LIBC, UNREAD };

static struct wi_session *session;
static struct wi_range_set *set;

static uint64_t put_scope(uint64_t at, uint32_t n, const uint32_t *bounds)
{
    struct wi_scope_table *table = (void *)((char *)session + at);
    table->n = n;
    for (uint32_t i = 0; i < n; i++) {
        table->ranges[i].low = bounds[2 * i];
        table->ranges[i].high = bounds[2 * i + 1];
    }
    return at;
}

static void set_up(void)
{
    session = calloc(1, sizeof *session + 4096);
    set = calloc(1, sizeof *set);
    ck_assert(session && set);
    uint64_t at = sizeof *session;
    session->modules[PROGRAM].scope_at = put_scope(at, 2, (const uint32_t[]){100, 900, 1000, 2000});
    session->modules[LIBC].scope_at = put_scope(at + 1024, 0, NULL);
}

static void tear_down(void)
{
    free(session);
    free(set);
}

static void select_code(uint32_t module, uint64_t low, uint64_t high, uint32_t flags)
{
    set->ranges[set->n++] = (struct wi_session_range){module, flags, low, high};
}

static uint64_t at(uint64_t module, uint64_t address)
{
    return module << WI_FRAME_MODULE_SHIFT | address;
}

/* The stack, innermost frame first. */
#define MATCH(...)                                                                                           \
    wi_code_match(session, set, (const uint64_t[]){__VA_ARGS__},                                             \
                  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

START_TEST(stack_in_the_code_is_a_hit)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 200)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 299)), WI_RANGE_SELECTED);
}
END_TEST

START_TEST(stack_beside_the_code_is_none)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 199)), 0);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 300)), 0);
    ck_assert_uint_eq(MATCH(at(LIBC, 250)), 0);
    ck_assert_uint_eq(MATCH(at(WI_FRAME_NO_MODULE, 250)), 0);
}
END_TEST

START_TEST(stack_without_frames_is_none)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED);
    ck_assert_uint_eq(wi_code_match(session, set, NULL, 0), 0);
}
END_TEST

START_TEST(nothing_selected_matches_nothing)
{
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250)), 0);
}
END_TEST

START_TEST(code_out_of_scope_counts_for_its_caller_in_scope)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(LIBC, 77), at(LIBC, 99), at(PROGRAM, 250)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 950), at(PROGRAM, 250)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(UNREAD, 5), at(PROGRAM, 250)), WI_RANGE_SELECTED);
}
END_TEST

START_TEST(callee_in_scope_is_not_the_code)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 400), at(PROGRAM, 250)), 0);
    ck_assert_uint_eq(MATCH(at(LIBC, 77), at(PROGRAM, 400), at(PROGRAM, 250)), 0);
}
END_TEST

START_TEST(call_path_needs_its_caller)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_IF_CALLED);
    select_code(PROGRAM, 500, 600, WI_RANGE_CALLER);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250), at(PROGRAM, 550)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250), at(LIBC, 3), at(PROGRAM, 550)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(LIBC, 3), at(PROGRAM, 250), at(PROGRAM, 550)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250)), 0);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 550)), 0);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250), at(PROGRAM, 700), at(PROGRAM, 550)), 0);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 550), at(PROGRAM, 250)), 0);
}
END_TEST

START_TEST(recursive_call_path_may_be_its_own_caller)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_IF_CALLED | WI_RANGE_CALLER);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250), at(PROGRAM, 260)), WI_RANGE_SELECTED);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250), at(PROGRAM, 700)), 0);
}
END_TEST

START_TEST(given_code_is_told_from_the_selected)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED);
    select_code(PROGRAM, 400, 500, WI_RANGE_GIVEN);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 450)), WI_RANGE_GIVEN);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250)), WI_RANGE_SELECTED);
}
END_TEST

START_TEST(code_may_be_given_and_selected)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_SELECTED | WI_RANGE_GIVEN);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250)), WI_RANGE_SELECTED | WI_RANGE_GIVEN);
}
END_TEST

START_TEST(caller_that_is_given_is_not_where_the_thread_is)
{
    select_code(PROGRAM, 200, 300, WI_RANGE_IF_CALLED);
    select_code(PROGRAM, 500, 600, WI_RANGE_GIVEN);
    ck_assert_uint_eq(MATCH(at(PROGRAM, 250), at(PROGRAM, 550)), 0);
}
END_TEST

START_TEST(many_ranges_are_searched_to_their_ends)
{
    for (uint32_t i = 0; i < 1000; i++)
        select_code(i / 500, 10 * (i % 500), 10 * (i % 500) + 5, WI_RANGE_SELECTED);
    for (uint32_t module = 0; module < 3; module++)
        for (uint64_t address = 0; address < 5010; address++)
            ck_assert_uint_eq(wi_code_flags(set, module, address),
                              module < 2 && address % 10 < 5 && address < 5000 ? WI_RANGE_SELECTED : 0);
}
END_TEST

START_TEST(damaged_count_of_ranges_stays_inside_the_set)
{
    set->n = UINT32_MAX;
    ck_assert_uint_eq(wi_code_flags(set, PROGRAM, 250), 0);
}
END_TEST

START_TEST(scope_ends_are_exact)
{
    ck_assert(!wi_code_in_scope(session, PROGRAM, 99));
    ck_assert(wi_code_in_scope(session, PROGRAM, 100));
    ck_assert(wi_code_in_scope(session, PROGRAM, 899));
    ck_assert(!wi_code_in_scope(session, PROGRAM, 900));
    ck_assert(wi_code_in_scope(session, PROGRAM, 1000));
    ck_assert(!wi_code_in_scope(session, PROGRAM, 2000));
}
END_TEST

START_TEST(unknown_module_is_out_of_scope)
{
    ck_assert(!wi_code_in_scope(session, UNREAD, 100));
    ck_assert(!wi_code_in_scope(session, WI_MAX_MODULES, 100));
    ck_assert(!wi_code_in_scope(session, WI_FRAME_NO_MODULE, 100));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code");
    TCase *core = tcase_create("core");
    tcase_add_checked_fixture(core, set_up, tear_down);
    tcase_add_test(core, stack_in_the_code_is_a_hit);
    tcase_add_test(core, stack_beside_the_code_is_none);
    tcase_add_test(core, stack_without_frames_is_none);
    tcase_add_test(core, nothing_selected_matches_nothing);
    tcase_add_test(core, code_out_of_scope_counts_for_its_caller_in_scope);
    tcase_add_test(core, callee_in_scope_is_not_the_code);
    tcase_add_test(core, call_path_needs_its_caller);
    tcase_add_test(core, recursive_call_path_may_be_its_own_caller);
    tcase_add_test(core, given_code_is_told_from_the_selected);
    tcase_add_test(core, code_may_be_given_and_selected);
    tcase_add_test(core, caller_that_is_given_is_not_where_the_thread_is);
    tcase_add_test(core, many_ranges_are_searched_to_their_ends);
    tcase_add_test(core, damaged_count_of_ranges_stays_inside_the_set);
    tcase_add_test(core, scope_ends_are_exact);
    tcase_add_test(core, unknown_module_is_out_of_scope);
    suite_add_tcase(suite, core);
    return wi_unit_run(suite);
}
