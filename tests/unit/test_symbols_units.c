/* SPDX-License-Identifier: BSD-2-Clause */
/* Units: which code a name means, what is in scope, and how things are named; on modules made by hand. */
#include <errno.h>

#include "tests/unit/symbols_fixture.h"

static struct wi_symbols *symbols;

static void create(void)
{
    ck_assert_int_eq(wi_symbols_create(NULL, &symbols), 0);
}

static void destroy(void)
{
    wi_symbols_destroy(symbols);
}

static void create_with(const char *include, const char *exclude)
{
    struct wi_scope scope = {&include, include != NULL, &exclude, exclude != NULL};
    wi_symbols_destroy(symbols);
    ck_assert_int_eq(wi_symbols_create(&scope, &symbols), 0);
}

/* "1000-1010 1020-1030" */
static const char *text_of(const struct wi_range_list *list)
{
    static char text[512];
    int n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->n; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%llx-%llx", i ? " " : "",
                      (unsigned long long)list->ranges[i].low, (unsigned long long)list->ranges[i].high);
    return text;
}

/*
 * outer() at 0x1100, with middle() and inner() inlined into it, and std::sort, into which compare() is:
 *   1100 outer:10 | 1110 middle:20 in outer:11 | 1120 inner:30 in middle:21 | 1130 middle:22
 *   1140 std::sort (system header) in outer:12 | 1150 compare:40 in std::sort | 1160 outer:13 | 1170 the end
 * leaf() at 0x1200, other() at 0x1300.
 */
static struct wi_builder *program(void)
{
    static const struct {
        uint64_t address;
        const char *file;
        uint32_t line;
    } rows[] = {
        {0x1100, "/p/src/a.c", 10},
        {0x1110, "/p/src/a.c", 20},
        {0x1120, "/p/src/a.c", 30},
        {0x1130, "/p/src/a.c", 22},
        {0x1140, "/usr/include/c++/12/bits/stl_algo.h", 500},
        {0x1150, "/p/src/a.c", 40},
        {0x1160, "/p/src/a.c", 13},
    };
    struct wi_builder *builder = new_builder();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        row(builder, rows[i].address, rows[i].file, rows[i].line);
    wi_builder_end_sequence(builder, 0x1170);
    row(builder, 0x1200, "/p/src/a.c", 50);
    wi_builder_end_sequence(builder, 0x1210);
    row(builder, 0x1300, "/p/lib/b.c", 60);
    wi_builder_end_sequence(builder, 0x1310);
    uint32_t outer = copy(builder, OWN, function(builder, "outer", "/p/src/a.c", 9), NULL, 0, 0x1100, 0x1170);
    uint32_t middle =
        copy(builder, outer, function(builder, "middle", "/p/src/a.c", 19), "/p/src/a.c", 11, 0x1110, 0x1140);
    copy(builder, middle, function(builder, "inner", "/p/src/a.c", 29), "/p/src/a.c", 21, 0x1120, 0x1130);
    uint32_t sort = copy(builder, outer,
                         function(builder, "_ZSt4sortIPiEvT_S1_", "/usr/include/c++/12/bits/stl_algo.h", 490),
                         "/p/src/a.c", 12, 0x1140, 0x1160);
    copy(builder, sort, function(builder, "_Z7compareii", "/p/src/a.c", 39),
         "/usr/include/c++/12/bits/stl_algo.h", 501, 0x1150, 0x1160);
    copy(builder, OWN, function(builder, "leaf", "/p/src/a.c", 49), NULL, 0, 0x1200, 0x1210);
    copy(builder, OWN, function(builder, "other", "/p/lib/b.c", 59), NULL, 0, 0x1300, 0x1310);
    symbol(builder, "assembly", 0x1400, 0x10);
    symbol(builder, "_start", 0x1500, 0x10);
    return builder;
}

static void expect(const char *name, enum wi_unit_kind kind, const char *canonical, const char *selected)
{
    struct wi_unit_ranges unit;
    ck_assert_msg(wi_symbols_unit(symbols, name, &unit) == 0, "%s is not found", name);
    ck_assert_int_eq(unit.kind, kind);
    ck_assert_str_eq(unit.name, canonical);
    ck_assert_str_eq(text_of(&unit.selected), selected);
    wi_unit_ranges_fini(&unit);
}

static int error_of(const char *name)
{
    struct wi_unit_ranges unit;
    int error = wi_symbols_unit(symbols, name, &unit);
    if (error == 0)
        wi_unit_ranges_fini(&unit);
    return error;
}

/* ---- what belongs to a unit ---------------------------------------------------------------------------- */

START_TEST(function_is_its_code_without_what_is_inlined_into_it)
{
    attach(symbols, 0, "/p/bin/p", program());
    expect("outer", WI_UNIT_FUNCTION, "outer", "1100-1110 1140-1150 1160-1170");
    expect("middle", WI_UNIT_FUNCTION, "middle", "1110-1120 1130-1140");
    expect("inner", WI_UNIT_FUNCTION, "inner", "1120-1130");
}
END_TEST

START_TEST(code_out_of_scope_belongs_to_the_line_of_the_call)
{
    attach(symbols, 0, "/p/bin/p", program());
    expect("a.c:12", WI_UNIT_LINE, "a.c:12", "1140-1150");
}
END_TEST

START_TEST(line_that_only_calls_inlined_code_of_ours_has_no_code)
{
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_int_eq(error_of("a.c:11"), -ENOENT);
    ck_assert_int_eq(error_of("a.c:999"), -ENOENT);
    ck_assert_int_eq(error_of("stl_algo.h:500"), -ENOENT);
    ck_assert_int_eq(error_of("std::sort"), -ENOENT);
    ck_assert_int_eq(error_of(""), -EINVAL);
    ck_assert_int_eq(error_of("a < b < c"), -EINVAL);
}
END_TEST

START_TEST(inlined_call_path_is_decided_by_the_next_frame_in_scope)
{
    attach(symbols, 0, "/p/bin/p", program());
    expect("inner < middle", WI_UNIT_CALLPATH, "inner < middle", "1120-1130");
    expect("a.c:30 < a.c:21", WI_UNIT_CALLPATH, "a.c:30 < a.c:21", "1120-1130");
    expect("compare < outer", WI_UNIT_CALLPATH, "compare < outer", "1150-1160"); /* through std::sort */
    expect("compare < a.c:12", WI_UNIT_CALLPATH, "compare < a.c:12", "1150-1160");
    ck_assert_int_eq(error_of("inner < outer"), -ENOENT);
}
END_TEST

START_TEST(call_path_of_a_function_of_its_own_is_decided_by_the_caller)
{
    struct wi_unit_ranges unit;
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_int_eq(wi_symbols_unit(symbols, "leaf < other", &unit), 0);
    ck_assert_uint_eq(unit.selected.n, 0);
    ck_assert_str_eq(text_of(&unit.if_called), "1200-1210");
    ck_assert_str_eq(text_of(&unit.callers), "1300-1310");
    wi_unit_ranges_fini(&unit);
}
END_TEST

START_TEST(unit_says_where_it_is)
{
    struct wi_unit_ranges unit;
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_int_eq(wi_symbols_unit(symbols, "a.c:30", &unit), 0);
    ck_assert_str_eq(unit.file, "/p/src/a.c");
    ck_assert_uint_eq(unit.line, 30);
    ck_assert_str_eq(unit.function, "inner");
    ck_assert_uint_eq(unit.function_line, 29);
    wi_unit_ranges_fini(&unit);
}
END_TEST

/* ---- scope --------------------------------------------------------------------------------------------- */

START_TEST(walk_stops_where_a_frame_is_in_scope)
{
    struct wi_range_list list;
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_int_eq(wi_symbols_scope_ranges(symbols, &list), 0);
    ck_assert_str_eq(text_of(&list), "1100-1170 1200-1210 1300-1310 1400-1410"); /* not _start */
    wi_range_list_fini(&list);
}
END_TEST

START_TEST(exclusion_wins_and_hands_code_to_the_caller)
{
    create_with("*", "middle");
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_int_eq(error_of("middle"), -ENOENT);
    expect("a.c:11", WI_UNIT_LINE, "a.c:11", "1110-1120 1130-1140");
}
END_TEST

START_TEST(include_of_a_source_takes_in_just_that)
{
    create_with("b.c", NULL);
    attach(symbols, 0, "/p/bin/p", program());
    expect("other", WI_UNIT_FUNCTION, "other", "1300-1310");
    ck_assert_int_eq(error_of("leaf"), -ENOENT);
}
END_TEST

START_TEST(include_of_a_function_takes_in_even_system_code)
{
    create_with("std::sort*", NULL);
    attach(symbols, 0, "/p/bin/p", program());
    expect("std::sort", WI_UNIT_FUNCTION, "std::sort<int*>", "1140-1160");
}
END_TEST

START_TEST(include_of_the_binary_leaves_system_code_out)
{
    create_with("/p/bin/*", NULL);
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_int_eq(error_of("std::sort"), -ENOENT);
    expect("leaf", WI_UNIT_FUNCTION, "leaf", "1200-1210");
}
END_TEST

START_TEST(library_elsewhere_is_out_of_scope)
{
    attach(symbols, 0, "/p/bin/p", new_builder());
    attach(symbols, 1, "/usr/lib/libx.so", program());
    attach(symbols, 2, "/p/lib/liby.so", new_builder());
    ck_assert(wi_symbols_module_in_scope(symbols, 0));
    ck_assert(!wi_symbols_module_in_scope(symbols, 1));
    ck_assert(wi_symbols_module_in_scope(symbols, 2));
    ck_assert(!wi_symbols_module_in_scope(symbols, 77));
    ck_assert_int_eq(error_of("leaf"), -ENOENT);
    ck_assert_ptr_null(wi_symbols_function_name(symbols, 1, 0x1200));
    struct wi_frame frame;
    ck_assert_uint_eq(wi_symbols_frames(symbols, 1, 0x1200, &frame, 1), 1);
    ck_assert_str_eq(frame.function, "leaf");
    ck_assert(!frame.in_scope);
}
END_TEST

/* ---- frames and names ------------------------------------------------------------------------------------ */

START_TEST(frames_go_outwards_with_the_lines_of_their_calls)
{
    struct wi_frame frames[WI_MAX_FRAMES_AT];
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_uint_eq(wi_symbols_frames(symbols, 0, 0x1155, frames, WI_MAX_FRAMES_AT), 3);
    ck_assert_str_eq(frames[0].function, "compare");
    ck_assert_str_eq(frames[0].linkage_name, "_Z7compareii");
    ck_assert_uint_eq(frames[0].line, 40);
    ck_assert(frames[0].in_scope);
    ck_assert_str_eq(frames[1].function, "std::sort<int*>");
    ck_assert_uint_eq(frames[1].line, 501);
    ck_assert(!frames[1].in_scope);
    ck_assert_str_eq(frames[2].function, "outer");
    ck_assert_str_eq(frames[2].file, "/p/src/a.c");
    ck_assert_uint_eq(frames[2].line, 12);
    ck_assert_uint_eq(frames[2].function_line, 9);
    ck_assert_uint_eq(wi_symbols_frames(symbols, 0, 0x1155, frames, 1), 1);
    ck_assert_uint_eq(wi_symbols_frames(symbols, 0, 0x1900, frames, WI_MAX_FRAMES_AT), 1);
    ck_assert_str_eq(frames[0].function, "p+0x1900");
    ck_assert_ptr_null(frames[0].file);
    ck_assert_uint_eq(wi_symbols_frames(symbols, 9, 0x1900, frames, WI_MAX_FRAMES_AT), 1);
    ck_assert_str_eq(frames[0].function, "unknown+0x1900");
}
END_TEST

START_TEST(sample_is_named_after_its_innermost_frame_in_scope)
{
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_str_eq(wi_symbols_line_name(symbols, 0, 0x1145), "a.c:12");
    ck_assert_str_eq(wi_symbols_function_name(symbols, 0, 0x1145), "outer");
    ck_assert_ptr_null(wi_symbols_line_name(symbols, 0, 0x1400)); /* no line is known */
    ck_assert_str_eq(wi_symbols_function_name(symbols, 0, 0x1400), "assembly");
    ck_assert_ptr_null(wi_symbols_function_name(symbols, 0, 0x1500));
    ck_assert_ptr_null(wi_symbols_function_name(symbols, 0, 0x1900));
}
END_TEST

/* Two parser.c, two static helper(), two overloads. */
static struct wi_builder *twins(void)
{
    struct wi_builder *builder = new_builder();
    row(builder, 0x1100, "/p/x/parser.c", 10);
    wi_builder_end_sequence(builder, 0x1110);
    row(builder, 0x1200, "/p/y/parser.c", 10);
    wi_builder_end_sequence(builder, 0x1210);
    row(builder, 0x1300, "/p/y/parser.c", 20);
    wi_builder_end_sequence(builder, 0x1320);
    copy(builder, OWN, function(builder, "helper", "/p/x/parser.c", 9), NULL, 0, 0x1100, 0x1110);
    copy(builder, OWN, function(builder, "helper", "/p/y/parser.c", 9), NULL, 0, 0x1200, 0x1210);
    copy(builder, OWN, function(builder, "_ZN2ns5scaleEi", "/p/y/parser.c", 19), NULL, 0, 0x1300, 0x1310);
    copy(builder, OWN, function(builder, "_ZN2ns5scaleEd", "/p/y/parser.c", 19), NULL, 0, 0x1310, 0x1320);
    return builder;
}

START_TEST(ambiguous_names_are_made_longer)
{
    attach(symbols, 0, "/p/bin/p", twins());
    ck_assert_str_eq(wi_symbols_line_name(symbols, 0, 0x1100), "x/parser.c:10");
    ck_assert_str_eq(wi_symbols_line_name(symbols, 0, 0x1200), "y/parser.c:10");
    ck_assert_str_eq(wi_symbols_function_name(symbols, 0, 0x1100), "x/parser.c:helper");
    ck_assert_str_eq(wi_symbols_function_name(symbols, 0, 0x1300), "ns::scale(int)");
    expect("x/parser.c:helper", WI_UNIT_FUNCTION, "x/parser.c:helper", "1100-1110");
    expect("helper", WI_UNIT_FUNCTION, "helper", "1100-1110 1200-1210");
    expect("ns::scale(int)", WI_UNIT_FUNCTION, "ns::scale(int)", "1300-1310");
    expect("ns::scale", WI_UNIT_FUNCTION, "ns::scale", "1300-1320");
    expect("scale", WI_UNIT_FUNCTION, "scale", "1300-1320");
    expect("_ZN2ns5scaleEd", WI_UNIT_FUNCTION, "ns::scale(double)", "1310-1320");
    expect("parser.c:20", WI_UNIT_LINE, "y/parser.c:20", "1300-1320"); /* only one of them has code there */
    ck_assert_int_eq(error_of("parser.c:10"), -ENOENT);
    ck_assert_int_eq(error_of("arser.c:20"), -ENOENT);
}
END_TEST

START_TEST(names_once_handed_out_stay)
{
    struct wi_builder *late = new_builder();
    row(late, 0x1100, "/p/late/a.c", 30);
    wi_builder_end_sequence(late, 0x1110);
    copy(late, OWN, function(late, "leaf", "/p/late/a.c", 29), NULL, 0, 0x1100, 0x1110);
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_str_eq(wi_symbols_line_name(symbols, 0, 0x1120), "a.c:30");
    ck_assert_str_eq(wi_symbols_function_name(symbols, 0, 0x1200), "leaf");
    attach(symbols, 1, "/p/lib/late.so", late);
    ck_assert_str_eq(wi_symbols_line_name(symbols, 1, 0x1100), "late/a.c:30");
    ck_assert_str_eq(wi_symbols_function_name(symbols, 1, 0x1100), "late/a.c:leaf");
    ck_assert_str_eq(wi_symbols_line_name(symbols, 0, 0x1120), "a.c:30");
    expect("a.c:30", WI_UNIT_LINE, "a.c:30", "1120-1130");
    expect("leaf", WI_UNIT_FUNCTION, "leaf", "1200-1210");
    expect("late/a.c:leaf", WI_UNIT_FUNCTION, "late/a.c:leaf", "1100-1110");
}
END_TEST

START_TEST(same_header_in_two_modules_is_one_unit)
{
    struct wi_unit_ranges unit;
    attach(symbols, 0, "/p/bin/p", program());
    attach(symbols, 1, "/p/lib/p.so", program());
    ck_assert_int_eq(wi_symbols_unit(symbols, "inner", &unit), 0);
    ck_assert_uint_eq(unit.selected.n, 2);
    ck_assert_uint_eq(unit.selected.ranges[0].module, 0);
    ck_assert_uint_eq(unit.selected.ranges[1].module, 1);
    wi_unit_ranges_fini(&unit);
}
END_TEST

START_TEST(suggestions_are_near)
{
    char *names[2];
    attach(symbols, 0, "/p/bin/p", program());
    ck_assert_uint_eq(wi_symbols_suggest(symbols, "a.c:45", names, 2), 2);
    ck_assert_str_eq(names[0], "a.c:40");
    ck_assert_str_eq(names[1], "a.c:50");
    free(names[0]);
    free(names[1]);
    ck_assert_uint_eq(wi_symbols_suggest(symbols, "lefa < other", names, 1), 1);
    ck_assert_str_eq(names[0], "leaf < other");
    free(names[0]);
    ck_assert_uint_eq(wi_symbols_suggest(symbols, "leaf < othr", names, 1), 1);
    ck_assert_str_eq(names[0], "leaf < other");
    free(names[0]);
    ck_assert_uint_eq(wi_symbols_suggest(symbols, "nothing_like_it_at_all", names, 2), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("symbols: units");
    TCase *tcase = tcase_create("units");
    tcase_add_checked_fixture(tcase, create, destroy);
    tcase_add_test(tcase, function_is_its_code_without_what_is_inlined_into_it);
    tcase_add_test(tcase, code_out_of_scope_belongs_to_the_line_of_the_call);
    tcase_add_test(tcase, line_that_only_calls_inlined_code_of_ours_has_no_code);
    tcase_add_test(tcase, inlined_call_path_is_decided_by_the_next_frame_in_scope);
    tcase_add_test(tcase, call_path_of_a_function_of_its_own_is_decided_by_the_caller);
    tcase_add_test(tcase, unit_says_where_it_is);
    tcase_add_test(tcase, walk_stops_where_a_frame_is_in_scope);
    tcase_add_test(tcase, exclusion_wins_and_hands_code_to_the_caller);
    tcase_add_test(tcase, include_of_a_source_takes_in_just_that);
    tcase_add_test(tcase, include_of_a_function_takes_in_even_system_code);
    tcase_add_test(tcase, include_of_the_binary_leaves_system_code_out);
    tcase_add_test(tcase, library_elsewhere_is_out_of_scope);
    tcase_add_test(tcase, frames_go_outwards_with_the_lines_of_their_calls);
    tcase_add_test(tcase, sample_is_named_after_its_innermost_frame_in_scope);
    tcase_add_test(tcase, ambiguous_names_are_made_longer);
    tcase_add_test(tcase, names_once_handed_out_stay);
    tcase_add_test(tcase, same_header_in_two_modules_is_one_unit);
    tcase_add_test(tcase, suggestions_are_near);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return wi_unit_run(suite());
}
