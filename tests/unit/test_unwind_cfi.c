/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame programs written by hand, byte by byte, and the rules that come out of them.
 *
 * A test writes a section: CIEs and FDEs for functions of invented addresses. `rule_at` reads it, packs the
 * table, and looks one address up, as an agent would.
 */
#include "runtime/symbols/unwind_cfi.h"

#include <check.h>
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION = 0x500000, TEXT = 0x401000, PCREL_SDATA4 = DW_EH_PE_pcrel | DW_EH_PE_sdata4 };

static uint8_t bytes[65536];
static size_t n_bytes;
static size_t last_cie;

static struct wi_unwind_table *table;
static size_t table_size;

/* ---- writing ------------------------------------------------------------------------------------------ */

static void put(uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        bytes[n_bytes++] = (uint8_t)(value >> (8 * i));
}

static void put_all(const uint8_t *more, size_t count)
{
    memcpy(bytes + n_bytes, more, count);
    n_bytes += count;
}

static void patch_length(size_t entry)
{
    uint32_t length = (uint32_t)(n_bytes - entry - 4);
    memcpy(bytes + entry, &length, sizeof length);
}

/* A CIE whose functions begin as the ABI says: CFA = sp + 8, return address at CFA - 8. */
static void put_cie(const char *augmentation)
{
    static const uint8_t entry_state[] = {DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1};
    last_cie = n_bytes;
    put(0, 4);
    put(0, 4);
    put(1, 1);
    put_all((const uint8_t *)augmentation, strlen(augmentation) + 1);
    put(1, 1);    /* code alignment */
    put(0x78, 1); /* data alignment -8 */
    put(16, 1);
    put(1, 1);
    put(PCREL_SDATA4, 1);
    put_all(entry_state, sizeof entry_state);
    patch_length(last_cie);
}

static void put_fde(uint64_t start, uint32_t length, const uint8_t *program, size_t n)
{
    size_t entry = n_bytes;
    put(0, 4);
    put(n_bytes - last_cie, 4);
    put(start - (SECTION + n_bytes), 4);
    put(length, 4);
    put(0, 1);
    put_all(program, n);
    patch_length(entry);
}

#define FDE(start, length, ...)                                                                              \
    put_fde(start, length, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* ---- reading ------------------------------------------------------------------------------------------ */

static int compile(void)
{
    struct wi_cfi_section section = {bytes, n_bytes, SECTION};
    struct wi_cfi_range text = {TEXT, SECTION};
    struct wi_rows *rows = wi_rows_create();
    int error = wi_cfi_read(&section, &text, 1, rows);
    free(table);
    table = NULL;
    if (!error)
        error = wi_rows_finish(rows, &table, &table_size);
    wi_rows_destroy(rows);
    return error;
}

static struct wi_unwind_rule rule_at(uint64_t pc)
{
    ck_assert_int_eq(compile(), 0);
    ck_assert(wi_unwind_table_is_valid(table, table_size));
    return *wi_unwind_find(table, pc - table->base);
}

static void assert_cfa(uint64_t pc, enum wi_unwind_cfa cfa, int offset)
{
    struct wi_unwind_rule rule = rule_at(pc);
    ck_assert_int_eq(rule.cfa, cfa);
    ck_assert_int_eq(rule.cfa_offset, offset);
}

static void assert_fp(uint64_t pc, enum wi_unwind_fp fp, int offset)
{
    struct wi_unwind_rule rule = rule_at(pc);
    ck_assert_int_eq(rule.fp, fp);
    ck_assert_int_eq(rule.fp_offset, offset);
}

static void begin(void)
{
    n_bytes = 0;
    put_cie("zR");
}

static void end(void)
{
    free(table);
    table = NULL;
}

/* ---- claims ------------------------------------------------------------------------------------------- */

START_TEST(a_function_begins_with_the_rules_of_its_cie)
{
    FDE(TEXT, 16, DW_CFA_nop);
    assert_cfa(TEXT, WI_CFA_SP, 8);
    assert_cfa(TEXT + 15, WI_CFA_SP, 8);
    assert_fp(TEXT, WI_FP_SAME, 0);
}
END_TEST

START_TEST(a_frame_pointer_is_followed_through_prologue_and_epilogue)
{
    FDE(TEXT, 64, /* clang-format off */
        DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
        DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
        DW_CFA_advance_loc1, 50, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6); /* clang-format on */
    assert_cfa(TEXT, WI_CFA_SP, 8);
    assert_cfa(TEXT + 1, WI_CFA_SP, 16);
    assert_fp(TEXT + 1, WI_FP_AT_CFA, -16);
    assert_cfa(TEXT + 4, WI_CFA_FP, 16);
    assert_cfa(TEXT + 53, WI_CFA_FP, 16);
    assert_cfa(TEXT + 54, WI_CFA_SP, 8);
    assert_fp(TEXT + 54, WI_FP_SAME, 0);
}
END_TEST

START_TEST(other_registers_make_no_rows)
{
    FDE(TEXT, 64, DW_CFA_advance_loc | 4, DW_CFA_offset | 3, 2, DW_CFA_advance_loc | 4, DW_CFA_undefined, 12);
    FDE(TEXT + 64, 64, DW_CFA_nop);
    assert_cfa(TEXT + 100, WI_CFA_SP, 8);
    ck_assert_uint_eq(table->n_rows, 2); /* the sentinel, and one for everything */
}
END_TEST

START_TEST(remembered_state_comes_back)
{
    FDE(TEXT, 64, /* clang-format off */
        DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 6, 4,
        DW_CFA_advance_loc | 8, DW_CFA_remember_state, DW_CFA_def_cfa_offset, 8, DW_CFA_same_value, 6,
        DW_CFA_advance_loc | 1, DW_CFA_restore_state); /* clang-format on */
    assert_cfa(TEXT + 8, WI_CFA_SP, 8);
    assert_fp(TEXT + 8, WI_FP_SAME, 0);
    assert_cfa(TEXT + 9, WI_CFA_SP, 32);
    assert_fp(TEXT + 9, WI_FP_AT_CFA, -32);
}
END_TEST

START_TEST(every_width_of_advance_and_offset_is_read)
{
    FDE(TEXT, 0x80000, /* clang-format off */
        DW_CFA_advance_loc1, 0xf0, DW_CFA_def_cfa_offset, 0x90, 0x01,
        DW_CFA_advance_loc2, 0x10, 0x0f, DW_CFA_def_cfa_offset_sf, 0x7e,
        DW_CFA_advance_loc4, 0, 0, 5, 0, DW_CFA_def_cfa_sf, 6, 0x7d, DW_CFA_offset_extended, 6, 5,
        DW_CFA_advance_loc | 1, DW_CFA_offset_extended_sf, 6, 6,
        DW_CFA_advance_loc | 1, DW_CFA_GNU_negative_offset_extended, 6, 2, DW_CFA_GNU_args_size, 0x80, 1);
                       /* clang-format on */
    assert_cfa(TEXT + 0xf0, WI_CFA_SP, 144);
    assert_cfa(TEXT + 0x1000, WI_CFA_SP, 16);
    assert_cfa(TEXT + 0x50fff, WI_CFA_SP, 16); /* in a page without a row of its own */
    assert_cfa(TEXT + 0x51000, WI_CFA_FP, 24);
    assert_fp(TEXT + 0x51000, WI_FP_AT_CFA, -40);
    assert_fp(TEXT + 0x51001, WI_FP_AT_CFA, -48);
    assert_fp(TEXT + 0x51002, WI_FP_AT_CFA, 16);
    assert_cfa(TEXT + 0x7ffff, WI_CFA_FP, 24);
}
END_TEST

START_TEST(set_loc_moves_to_an_address)
{
    uint8_t program[] = {DW_CFA_set_loc, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 48};
    uint32_t distance = (uint32_t)(TEXT + 32 - (SECTION + n_bytes + 17 + 1));
    memcpy(program + 1, &distance, sizeof distance);
    put_fde(TEXT, 64, program, sizeof program);
    assert_cfa(TEXT + 31, WI_CFA_SP, 8);
    assert_cfa(TEXT + 32, WI_CFA_SP, 48);
}
END_TEST

START_TEST(lazy_binding_stubs_have_a_rule_of_their_own)
{
    FDE(TEXT, 64, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
        DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
    assert_cfa(TEXT, WI_CFA_PLT, 11);
}
END_TEST

START_TEST(a_signal_trampoline_is_recognised)
{
    put_cie("zRS");
    FDE(TEXT, 10, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1, DW_OP_deref, DW_CFA_expression, 16, 3,
        DW_OP_breg7, 0xa8, 1);
    assert_cfa(TEXT + 5, WI_CFA_SIGNAL, 0);
}
END_TEST

START_TEST(a_signal_frame_of_another_layout_is_not_trusted)
{
    put_cie("zRS");
    FDE(TEXT, 10, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa8, 1, DW_OP_deref);
    FDE(TEXT + 10, 10, DW_CFA_nop);
    assert_cfa(TEXT, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 10, WI_CFA_SP, 8);
}
END_TEST

START_TEST(an_undefined_return_address_is_the_outermost_frame)
{
    FDE(TEXT, 32, DW_CFA_undefined, 16, DW_CFA_advance_loc | 9, DW_CFA_def_cfa_offset, 16);
    assert_cfa(TEXT, WI_CFA_END, 0);
    assert_cfa(TEXT + 20, WI_CFA_END, 0);
}
END_TEST

START_TEST(realigned_stacks_are_read_through_memory)
{
    FDE(TEXT, 32, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_expression, 6, 2,
        DW_OP_breg6, 0);
    FDE(TEXT + 32, 32, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 40, DW_OP_deref, DW_OP_plus_uconst, 8,
        DW_CFA_offset | 6, 3);
    assert_cfa(TEXT, WI_CFA_FP_DEREF, -8);
    assert_fp(TEXT, WI_FP_AT_FP, 0);
    assert_cfa(TEXT + 32, WI_CFA_SP_DEREF, 40);
    assert_fp(TEXT + 32, WI_FP_AT_CFA, -24);
    ck_assert_int_eq(rule_at(TEXT + 32).addend, 8);
}
END_TEST

START_TEST(what_three_registers_cannot_say_is_no_information)
{
    FDE(TEXT, 64, /* clang-format off */
        DW_CFA_def_cfa_register, 10,
        DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 2, DW_OP_breg3, 0,
        DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 8, DW_OP_deref, DW_OP_deref,
        DW_CFA_advance_loc | 4, DW_CFA_def_cfa, 7, 8, DW_CFA_register, 16, 5,
        DW_CFA_advance_loc | 4, DW_CFA_val_offset, 16, 1,
        DW_CFA_advance_loc | 4, DW_CFA_offset | 16, 2,
        DW_CFA_advance_loc | 4, DW_CFA_restore | 16); /* clang-format on */
    for (int pc = 0; pc < 24; pc++)
        assert_cfa(TEXT + (uint64_t)pc, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 24, WI_CFA_SP, 8);
}
END_TEST

START_TEST(a_frame_pointer_saved_elsewhere_is_lost)
{
    FDE(TEXT, 64, /* clang-format off */
        DW_CFA_register, 6, 3,
        DW_CFA_advance_loc | 4, DW_CFA_restore_extended, 6,
        DW_CFA_advance_loc | 4, DW_CFA_val_expression, 6, 2, DW_OP_breg7, 0,
        DW_CFA_advance_loc | 4, DW_CFA_expression, 6, 2, DW_OP_breg7, 0); /* clang-format on */
    assert_fp(TEXT, WI_FP_LOST, 0);
    assert_fp(TEXT + 4, WI_FP_SAME, 0);
    assert_fp(TEXT + 8, WI_FP_LOST, 0);
    assert_fp(TEXT + 12, WI_FP_LOST, 0);
}
END_TEST

START_TEST(functions_are_sorted_and_gaps_have_no_information)
{
    FDE(TEXT + 200, 50, DW_CFA_def_cfa_offset, 24);
    FDE(TEXT, 100, DW_CFA_def_cfa_offset, 16);
    assert_cfa(TEXT + 99, WI_CFA_SP, 16);
    assert_cfa(TEXT + 100, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 199, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 200, WI_CFA_SP, 24);
    assert_cfa(TEXT + 250, WI_CFA_NONE, 0);
    assert_cfa(TEXT - 1, WI_CFA_NONE, 0);
}
END_TEST

START_TEST(of_overlapping_functions_the_later_start_wins)
{
    FDE(TEXT, 100, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc1, 60, DW_CFA_def_cfa_offset, 32);
    FDE(TEXT + 50, 20, DW_CFA_def_cfa_offset, 24);
    assert_cfa(TEXT + 49, WI_CFA_SP, 16);
    assert_cfa(TEXT + 69, WI_CFA_SP, 24);
    assert_cfa(TEXT + 70, WI_CFA_NONE, 0);
}
END_TEST

START_TEST(left_overs_outside_the_code_are_skipped)
{
    FDE(TEXT - 64, 64, DW_CFA_def_cfa_offset, 16);
    FDE(TEXT, 64, DW_CFA_nop);
    FDE(SECTION - 8, 64, DW_CFA_def_cfa_offset, 16);
    assert_cfa(TEXT, WI_CFA_SP, 8);
    ck_assert_uint_eq(table->base, TEXT);
    ck_assert_uint_eq(table->span, 64);
}
END_TEST

START_TEST(a_function_that_ends_on_a_page_boundary_ends_there)
{
    FDE(TEXT, 0x10000, DW_CFA_nop);
    assert_cfa(TEXT + 0xffff, WI_CFA_SP, 8);
    assert_cfa(TEXT + 0x10000, WI_CFA_NONE, 0);
    ck_assert_uint_eq(table->n_pages, 1);
}
END_TEST

START_TEST(a_bad_instruction_costs_only_the_rest_of_its_function)
{
    FDE(TEXT, 64, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 8, 0x3f, DW_CFA_advance_loc | 8);
    FDE(TEXT + 64, 64, DW_CFA_advance_loc | 1, DW_CFA_restore_state);
    FDE(TEXT + 128, 64, DW_CFA_def_cfa_offset, 24);
    assert_cfa(TEXT + 7, WI_CFA_SP, 16);
    assert_cfa(TEXT + 8, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 64, WI_CFA_SP, 8);
    assert_cfa(TEXT + 65, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 128, WI_CFA_SP, 24);
}
END_TEST

START_TEST(instructions_that_are_cut_off_cost_only_their_function)
{
    FDE(TEXT, 64, DW_CFA_def_cfa_expression, 100, DW_OP_breg7);
    FDE(TEXT + 64, 64, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 0x80);
    FDE(TEXT + 128, 64, DW_CFA_nop);
    assert_cfa(TEXT, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 65, WI_CFA_NONE, 0);
    assert_cfa(TEXT + 128, WI_CFA_SP, 8);
}
END_TEST

START_TEST(a_cie_that_is_not_understood_costs_its_functions)
{
    size_t good = last_cie;
    put_cie("zR");
    bytes[last_cie + 8] = 77; /* version */
    FDE(TEXT, 64, DW_CFA_nop);
    put_cie("zR");
    bytes[last_cie + 14] = 3; /* return address register */
    FDE(TEXT + 64, 64, DW_CFA_nop);
    put_cie("eh");
    FDE(TEXT + 128, 64, DW_CFA_nop);
    last_cie = good;
    FDE(TEXT + 192, 64, DW_CFA_nop);
    assert_cfa(TEXT + 192, WI_CFA_SP, 8);
    ck_assert_uint_eq(table->base, TEXT + 192);
}
END_TEST

START_TEST(a_section_whose_structure_is_broken_is_refused)
{
    FDE(TEXT, 64, DW_CFA_nop);
    ck_assert_int_eq(compile(), 0);
    n_bytes -= 1;
    ck_assert_int_eq(compile(), -EBADMSG);
}
END_TEST

START_TEST(a_section_without_functions_has_no_table)
{
    ck_assert_int_eq(compile(), -ENODATA);
    n_bytes = 0;
    ck_assert_int_eq(compile(), -ENODATA);
}
END_TEST

START_TEST(a_terminator_ends_the_section)
{
    FDE(TEXT, 64, DW_CFA_nop);
    put(0, 4);
    put(0xffffffffu, 4); /* junk that must not be read */
    assert_cfa(TEXT, WI_CFA_SP, 8);
}
END_TEST

START_TEST(work_is_bounded_however_often_a_long_cie_is_named)
{
    size_t cies[2];
    for (int i = 0; i < 2; i++) { /* two, used in turn, so that none stays at hand */
        put_cie("zR");
        cies[i] = last_cie;
        for (int nops = 0; nops < 25000; nops++)
            put(DW_CFA_nop, 1);
        patch_length(last_cie);
    }
    for (unsigned i = 0; i < 400; i++) {
        last_cie = cies[i % 2];
        FDE(TEXT + 16 * i, 16, DW_CFA_nop);
    }
    ck_assert_int_eq(compile(), -EBADMSG);
}
END_TEST

START_TEST(more_different_rules_than_a_row_can_name_become_no_information)
{
    struct wi_rows *rows = wi_rows_create();
    ck_assert_int_eq(wi_rows_begin(rows, TEXT, TEXT + 100000), 0);
    for (int i = 0; i < 70000; i++) {
        struct wi_unwind_rule rule = {.cfa = WI_CFA_SP, .cfa_offset = 8 * (i + 1), .fp = WI_FP_SAME};
        ck_assert_int_eq(wi_rows_add(rows, TEXT + (uint64_t)i, &rule), 0);
    }
    ck_assert_int_eq(wi_rows_finish(rows, &table, &table_size), 0);
    wi_rows_destroy(rows);
    ck_assert(wi_unwind_table_is_valid(table, table_size));
    ck_assert_int_eq(wi_unwind_find(table, 65000)->cfa_offset, 8 * 65001);
    ck_assert_int_eq(wi_unwind_find(table, 69000)->cfa, WI_CFA_NONE);
}
END_TEST

static Suite *suite(void)
{
    Suite *cfi = suite_create("unwind_cfi");
    TCase *rules = tcase_create("rules"), *structure = tcase_create("structure");
    tcase_add_checked_fixture(rules, begin, end);
    tcase_add_test(rules, a_function_begins_with_the_rules_of_its_cie);
    tcase_add_test(rules, a_frame_pointer_is_followed_through_prologue_and_epilogue);
    tcase_add_test(rules, other_registers_make_no_rows);
    tcase_add_test(rules, remembered_state_comes_back);
    tcase_add_test(rules, every_width_of_advance_and_offset_is_read);
    tcase_add_test(rules, set_loc_moves_to_an_address);
    tcase_add_test(rules, lazy_binding_stubs_have_a_rule_of_their_own);
    tcase_add_test(rules, a_signal_trampoline_is_recognised);
    tcase_add_test(rules, a_signal_frame_of_another_layout_is_not_trusted);
    tcase_add_test(rules, an_undefined_return_address_is_the_outermost_frame);
    tcase_add_test(rules, realigned_stacks_are_read_through_memory);
    tcase_add_test(rules, what_three_registers_cannot_say_is_no_information);
    tcase_add_test(rules, a_frame_pointer_saved_elsewhere_is_lost);
    suite_add_tcase(cfi, rules);
    tcase_add_checked_fixture(structure, begin, end);
    tcase_add_test(structure, functions_are_sorted_and_gaps_have_no_information);
    tcase_add_test(structure, of_overlapping_functions_the_later_start_wins);
    tcase_add_test(structure, left_overs_outside_the_code_are_skipped);
    tcase_add_test(structure, a_function_that_ends_on_a_page_boundary_ends_there);
    tcase_add_test(structure, a_bad_instruction_costs_only_the_rest_of_its_function);
    tcase_add_test(structure, instructions_that_are_cut_off_cost_only_their_function);
    tcase_add_test(structure, a_cie_that_is_not_understood_costs_its_functions);
    tcase_add_test(structure, a_section_whose_structure_is_broken_is_refused);
    tcase_add_test(structure, a_section_without_functions_has_no_table);
    tcase_add_test(structure, a_terminator_ends_the_section);
    tcase_add_test(structure, work_is_bounded_however_often_a_long_cie_is_named);
    tcase_add_test(structure, more_different_rules_than_a_row_can_name_become_no_information);
    suite_add_tcase(cfi, structure);
    return cfi;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
