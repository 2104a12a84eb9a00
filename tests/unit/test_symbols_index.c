/* SPDX-License-Identifier: BSD-2-Clause */
/* From what readers tell to an index: rows, nesting, symbols, and what is refused. */
#include "tests/unit/symbols_fixture.h"

static uint32_t line_at(const struct wi_index *index, uint64_t address)
{
    uint32_t line, node;
    wi_index_find(index, address, &line, &node);
    return line == WI_NONE ? 0 : index->lines[line].line;
}

static const char *function_at(const struct wi_index *index, uint64_t address)
{
    uint32_t line, node;
    wi_index_find(index, address, &line, &node);
    if (node == WI_NONE)
        return "";
    const struct wi_function_row *row = &index->functions[index->nodes[node].function];
    return index->text + (row->linkage_name ? row->linkage_name : row->name);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

START_TEST(row_holds_until_the_next_and_ends_with_its_sequence)
{
    struct wi_builder *builder = new_builder();
    row(builder, 0x1010, "/a.c", 1);
    row(builder, 0x1020, "/a.c", 2);
    wi_builder_end_sequence(builder, 0x1030);
    struct wi_index index = finished(builder);
    ck_assert_uint_eq(line_at(&index, 0x100f), 0);
    ck_assert_uint_eq(line_at(&index, 0x1010), 1);
    ck_assert_uint_eq(line_at(&index, 0x101f), 1);
    ck_assert_uint_eq(line_at(&index, 0x1020), 2);
    ck_assert_uint_eq(line_at(&index, 0x102f), 2);
    ck_assert_uint_eq(line_at(&index, 0x1030), 0);
    ck_assert_uint_eq(line_at(&index, 0), 0);
    ck_assert_uint_eq(line_at(&index, UINT64_MAX), 0);
    wi_extract_release(&index);
}
END_TEST

START_TEST(last_of_several_rows_at_one_address_counts)
{
    struct wi_builder *builder = new_builder();
    row(builder, 0x1010, "/a.c", 1);
    row(builder, 0x1010, "/a.c", 7);
    row(builder, 0x1020, "/a.c", 8); /* holds for no code */
    wi_builder_end_sequence(builder, 0x1020);
    struct wi_index index = finished(builder);
    ck_assert_uint_eq(line_at(&index, 0x1010), 7);
    ck_assert_uint_eq(line_at(&index, 0x1020), 0);
    wi_extract_release(&index);
}
END_TEST

START_TEST(sequences_in_any_order_are_sorted)
{
    struct wi_builder *builder = new_builder();
    row(builder, 0x1800, "/a.c", 8);
    wi_builder_end_sequence(builder, 0x1810);
    row(builder, 0x1100, "/a.c", 1);
    wi_builder_end_sequence(builder, 0x1800); /* right before the other */
    struct wi_index index = finished(builder);
    ck_assert_uint_eq(line_at(&index, 0x17ff), 1);
    ck_assert_uint_eq(line_at(&index, 0x1800), 8);
    ck_assert_uint_eq(line_at(&index, 0x1810), 0);
    wi_extract_release(&index);
}
END_TEST

START_TEST(dropped_functions_leave_nothing_behind)
{
    struct wi_builder *builder = new_builder();
    uint32_t real = function(builder, "real", "/a.c", 1);
    ck_assert_uint_ne(copy(builder, OWN, real, NULL, 0, 0x1400, 0x1500), WI_NONE);
    ck_assert_uint_eq(copy(builder, OWN, function(builder, "dropped", "/a.c", 9), NULL, 0, 0, 0x1500),
                      WI_NONE);
    row(builder, 0, "/a.c", 9);
    row(builder, 0x1450, "/a.c", 10); /* reaches into real code */
    wi_builder_end_sequence(builder, 0x1500);
    row(builder, 0x1300, "/a.c", 11); /* what a sort made of two sequences that began at 0 */
    wi_builder_end_sequence(builder, 0x1400);
    row(builder, 0x1400, "/a.c", 1);
    wi_builder_end_sequence(builder, 0x1500);
    struct wi_index index = finished(builder);
    ck_assert_uint_eq(line_at(&index, 0x1300), 0);
    ck_assert_uint_eq(line_at(&index, 0x1450), 1);
    ck_assert_str_eq(function_at(&index, 0x1450), "real");
    wi_extract_release(&index);
}
END_TEST

START_TEST(abandoned_unit_leaves_nothing_behind_and_is_read_again)
{
    struct wi_builder *builder = new_builder();
    ck_assert(wi_builder_new_line_table(builder, 0));
    row(builder, 0x1010, "/a.c", 1);
    wi_builder_end_sequence(builder, 0x1020);
    copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1010, 0x1020);
    wi_builder_unit_abandon(builder);
    ck_assert(wi_builder_unit_begin(builder, 0));
    ck_assert(wi_builder_new_line_table(builder, 0));
    row(builder, 0x1010, "/a.c", 2);
    wi_builder_end_sequence(builder, 0x1020);
    wi_builder_unit_commit(builder);
    ck_assert(!wi_builder_unit_begin(builder, 0));
    ck_assert(wi_builder_unit_begin(builder, 100));
    ck_assert(!wi_builder_new_line_table(builder, 0));
    struct wi_index index = finished(builder);
    ck_assert_uint_eq(line_at(&index, 0x1010), 2);
    ck_assert_str_eq(function_at(&index, 0x1010), "");
    wi_extract_release(&index);
}
END_TEST

/* Rows at pseudo-random places give what a plain table gives. */
START_TEST(lookup_agrees_with_a_table)
{
    static uint32_t table[0x1000];
    struct wi_builder *builder = new_builder();
    uint32_t random = 1;
    for (int i = 0; i < 1000; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t low = random >> 20, high = low + (random >> 8 & 15) + 1;
        if (high > 0x1000)
            continue;
        for (uint32_t at = low; at < high; at++)
            if (table[at])
                goto taken;
        for (uint32_t at = low; at < high; at++)
            table[at] = (random >> 4 & 0xff) | 1;
        row(builder, 0x1000 + low, "/a.c", table[low]);
        wi_builder_end_sequence(builder, 0x1000 + high);
    taken:;
    }
    struct wi_index index = finished(builder);
    for (uint32_t at = 0; at < 0x1000; at++)
        ck_assert_uint_eq(line_at(&index, 0x1000 + at), table[at]);
    wi_extract_release(&index);
}
END_TEST

/* ---- scopes ------------------------------------------------------------------------------------------- */

START_TEST(innermost_copy_owns_the_code)
{
    struct wi_builder *builder = new_builder();
    uint32_t f = copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1000, 0x1100);
    uint32_t g = copy(builder, f, function(builder, "g", "/a.c", 5), "/a.c", 2, 0x1000, 0x1080);
    copy(builder, g, function(builder, "h", "/a.c", 9), "/a.c", 6, 0x1020, 0x1080);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x1000), "g");
    ck_assert_str_eq(function_at(&index, 0x1020), "h");
    ck_assert_str_eq(function_at(&index, 0x107f), "h");
    ck_assert_str_eq(function_at(&index, 0x1080), "f");
    ck_assert_str_eq(function_at(&index, 0x1100), "");
    wi_extract_release(&index);
}
END_TEST

START_TEST(inlined_copy_counts_only_inside_its_parent)
{
    struct wi_builder *builder = new_builder();
    uint32_t f = copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1000, 0x1100);
    copy(builder, f, function(builder, "long", "/a.c", 5), "/a.c", 2, 0x10f0, 0x1200);
    copy(builder, f, function(builder, "stray", "/a.c", 5), "/a.c", 2, 0x1300, 0x1400);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x10ff), "long");
    ck_assert_str_eq(function_at(&index, 0x1100), "");
    ck_assert_str_eq(function_at(&index, 0x1300), "");
    wi_extract_release(&index);
}
END_TEST

START_TEST(functions_that_the_linker_folded_are_aliases)
{
    struct wi_builder *builder = new_builder();
    copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1000, 0x1100);
    uint32_t g = copy(builder, OWN, function(builder, "g", "/a.c", 5), NULL, 0, 0x1000, 0x1100);
    copy(builder, g, function(builder, "h", "/a.c", 5), "/a.c", 6, 0x1010, 0x1020);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x1010), "f");
    ck_assert_uint_eq(index.n_aliases, 1);
    ck_assert_str_eq(index.text + index.aliases[0].name, "g");
    wi_extract_release(&index);
}
END_TEST

START_TEST(functions_that_overlap_are_survived)
{
    struct wi_builder *builder = new_builder();
    copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1000, 0x1100);
    copy(builder, OWN, function(builder, "g", "/a.c", 5), NULL, 0, 0x1080, 0x1180);
    copy(builder, OWN, function(builder, "empty", "/a.c", 5), NULL, 0, 0x1080, 0x1080);
    copy(builder, OWN, function(builder, "backwards", "/a.c", 5), NULL, 0, 0x1180, 0x1080);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x107f), "f");
    ck_assert_str_eq(function_at(&index, 0x1080), "g");
    ck_assert_str_eq(function_at(&index, 0x117f), "g");
    ck_assert_str_eq(function_at(&index, 0x1180), "");
    wi_extract_release(&index);
}
END_TEST

START_TEST(nesting_without_end_is_survived)
{
    struct wi_builder *builder = new_builder();
    uint32_t node = copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1000, 0x1100);
    uint32_t g = function(builder, "g", "/a.c", 2);
    for (int i = 0; i < 2000; i++)
        node = copy(builder, node, g, "/a.c", 3, 0x1000, 0x1100);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x1000), "g");
    ck_assert_str_eq(function_at(&index, 0x1100), "");
    wi_extract_release(&index);
}
END_TEST

/* ---- symbols ------------------------------------------------------------------------------------------- */

START_TEST(symbols_name_what_debug_information_leaves)
{
    struct wi_builder *builder = new_builder();
    copy(builder, OWN, function(builder, "f", "/a.c", 1), NULL, 0, 0x1100, 0x1200);
    symbol(builder, "f", 0x1100, 0x100);
    symbol(builder, "before", 0x1000, 0x80);
    symbol(builder, "assembly", 0x1300, 0);
    symbol(builder, "last", 0x1400, 0);
    symbol(builder, "around", 0x10f0, 0x150);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x1000), "before");
    ck_assert_str_eq(function_at(&index, 0x1080), "");
    ck_assert_str_eq(function_at(&index, 0x10f0), "around");
    ck_assert_str_eq(function_at(&index, 0x1100), "f");
    ck_assert_str_eq(function_at(&index, 0x13ff), "assembly");
    ck_assert_str_eq(function_at(&index, 0x1fff), "last");
    ck_assert_str_eq(function_at(&index, 0x2000), "");
    wi_extract_release(&index);
}
END_TEST

START_TEST(best_name_of_an_address_wins_and_others_are_aliases)
{
    struct wi_builder *builder = new_builder();
    symbol(builder, "__write", 0x1000, 0x10);
    symbol(builder, "write", 0x1000, 0x10);
    symbol(builder, "__libc_write", 0x1000, 0x10);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x1000), "write");
    ck_assert_uint_eq(index.n_aliases, 2);
    wi_extract_release(&index);
}
END_TEST

START_TEST(function_without_mangled_name_has_it_from_its_symbol)
{
    struct wi_builder *builder = new_builder();
    copy(builder, OWN, function(builder, "run", "/a.cc", 1), NULL, 0, 0x1100, 0x1200);
    symbol(builder, "_ZN3app3runEi", 0x1100, 0x100);
    struct wi_index index = finished(builder);
    ck_assert_str_eq(function_at(&index, 0x1100), "_ZN3app3runEi");
    wi_extract_release(&index);
}
END_TEST

/* ---- files ---------------------------------------------------------------------------------------------- */

START_TEST(paths_are_made_normal)
{
    static const char *const cases[][3] = {
        {"/src", "a.c", "/src/a.c"},
        {"/src", "./a.c", "/src/a.c"},
        {"/src/x", "../a.c", "/src/a.c"},
        {"/src", "/b//c/./d.c", "/b/c/d.c"},
        {NULL, "a.c", "a.c"},
        {NULL, "../x/../a.c", "../a.c"},
        {"/", "../../a.c", "/a.c"},
        {".", "x/a.c", "x/a.c"},
        {"/a/b", "../../../../c.c", "/c.c"},
    };
    struct wi_builder *builder = new_builder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t file = wi_builder_file(builder, cases[i][0], cases[i][1]);
        ck_assert_str_eq(builder->text + builder->files[file], cases[i][2]);
    }
    ck_assert_uint_eq(wi_builder_file(builder, "/src", "<built-in>"), WI_NONE);
    ck_assert_uint_eq(wi_builder_file(builder, "/src", ""), WI_NONE);
    wi_builder_fini(builder);
    free(builder);
}
END_TEST

START_TEST(damaged_block_is_refused)
{
    struct wi_index index = finished(new_builder()), other;
    struct wi_index_header copy_of = *index.header;
    ck_assert_int_ne(wi_index_open(&copy_of, sizeof copy_of - 1, &other), 0);
    ck_assert_int_ne(wi_index_open(&copy_of, sizeof copy_of, &other), 0); /* the rest is missing */
    wi_extract_release(&index);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("symbols: index");
    TCase *tcase = tcase_create("index");
    tcase_add_test(tcase, row_holds_until_the_next_and_ends_with_its_sequence);
    tcase_add_test(tcase, last_of_several_rows_at_one_address_counts);
    tcase_add_test(tcase, sequences_in_any_order_are_sorted);
    tcase_add_test(tcase, dropped_functions_leave_nothing_behind);
    tcase_add_test(tcase, abandoned_unit_leaves_nothing_behind_and_is_read_again);
    tcase_add_test(tcase, lookup_agrees_with_a_table);
    tcase_add_test(tcase, innermost_copy_owns_the_code);
    tcase_add_test(tcase, inlined_copy_counts_only_inside_its_parent);
    tcase_add_test(tcase, functions_that_the_linker_folded_are_aliases);
    tcase_add_test(tcase, functions_that_overlap_are_survived);
    tcase_add_test(tcase, nesting_without_end_is_survived);
    tcase_add_test(tcase, symbols_name_what_debug_information_leaves);
    tcase_add_test(tcase, best_name_of_an_address_wins_and_others_are_aliases);
    tcase_add_test(tcase, function_without_mangled_name_has_it_from_its_symbol);
    tcase_add_test(tcase, paths_are_made_normal);
    tcase_add_test(tcase, damaged_block_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return wi_unit_run(suite());
}
