/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walker on scripted stacks.
 *
 * The stack is one page between two that cannot be read: a step that looks outside its bounds is a crash, not a
 * wrong number. The table is written by hand: code at CODE + n is governed by the rule that was put there.
 */
#include "runtime/agent/signal/walk.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, WORDS = PAGE / 8, CODE = 0x400000, BIAS = 0x10000000, MAX_RULES = 64 };

static uintptr_t *stack; /* WORDS words */
static uintptr_t low, high;

static struct {
    struct wi_unwind_table table;
    struct wi_unwind_rule rules[MAX_RULES];
    uint32_t pages[2];
    struct wi_unwind_row rows[MAX_RULES];
} module;

/* ---- the scene ------------------------------------------------------------------------------------------ */

static void set_up(void)
{
    uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_int_eq(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    stack = (uintptr_t *)(pages + PAGE);
    low = (uintptr_t)stack;
    high = low + PAGE;
    memset(&module, 0, sizeof module);
    module.table =
        (struct wi_unwind_table){WI_UNWIND_MAGIC, MAX_RULES, 1, 1, CODE, UINT64_C(1) << WI_UNWIND_PAGE_BITS};
    module.pages[0] = module.pages[1] = 1;
}

static void tear_down(void)
{
    munmap((uint8_t *)stack - PAGE, 3 * PAGE);
}

/* From CODE + offset on, `rule` holds. */
static void put_rule(uint16_t offset, struct wi_unwind_rule rule)
{
    uint32_t number = module.table.n_rows++;
    module.rules[number] = rule;
    module.rows[number] = (struct wi_unwind_row){offset, (uint16_t)number};
    module.pages[1] = module.table.n_rows;
}

static uintptr_t code(uintptr_t offset)
{
    return BIAS + CODE + offset;
}

static uintptr_t at(size_t word)
{
    return low + 8 * word;
}

static enum wi_walk_result step(struct wi_walk *walk)
{
    return wi_walk_step(walk, &module.table, BIAS, low, high);
}

static void assert_at(const struct wi_walk *walk, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    ck_assert_uint_eq(walk->pc, pc);
    ck_assert_uint_eq(walk->sp, sp);
    ck_assert_uint_eq(walk->fp, fp);
}

/* The step is refused, and the walk left as it was. */
static void assert_broken(struct wi_walk walk)
{
    struct wi_walk before = walk;
    ck_assert_int_eq(step(&walk), WI_WALK_BROKEN);
    assert_at(&walk, before.pc, before.sp, before.fp);
}

/* ---- by tables ------------------------------------------------------------------------------------------ */

START_TEST(frames_found_from_sp_keep_the_frame_pointer)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 24});
    stack[12] = code(99);
    struct wi_walk walk = {.pc = code(0), .sp = at(10), .fp = 1234567};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_at(&walk, code(99), at(13), 1234567);
    ck_assert(walk.at_call);
    ck_assert_uint_eq(wi_walk_code_address(&walk), code(98));
}
END_TEST

START_TEST(frames_found_from_fp_restore_the_callers)
{
    put_rule(
        0, (struct wi_unwind_rule){.cfa = WI_CFA_FP, .cfa_offset = 16, .fp = WI_FP_AT_CFA, .fp_offset = -16});
    stack[20] = at(40);
    stack[21] = code(7);
    struct wi_walk walk = {.pc = code(1), .sp = at(3), .fp = at(20)};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_at(&walk, code(7), at(22), at(40));
}
END_TEST

START_TEST(a_call_as_a_functions_last_instruction_belongs_to_that_function)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 16});
    put_rule(50, (struct wi_unwind_rule){.cfa = WI_CFA_END});
    stack[1] = code(3);
    struct wi_walk returning = {.pc = code(50), .sp = at(0), .at_call = true};
    ck_assert_int_eq(step(&returning), WI_WALK_STEPPED);
    struct wi_walk interrupted = {.pc = code(50), .sp = at(0), .at_call = false};
    ck_assert_int_eq(step(&interrupted), WI_WALK_END);
}
END_TEST

START_TEST(a_frame_pointer_popped_already_is_read_from_the_red_zone)
{
    put_rule(
        0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 8, .fp = WI_FP_AT_CFA, .fp_offset = -16});
    stack[9] = 77;
    stack[10] = code(5);
    struct wi_walk walk = {.pc = code(0), .sp = at(10), .fp = 1};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_at(&walk, code(5), at(11), 77);
}
END_TEST

START_TEST(nothing_is_read_below_the_red_zone)
{
    put_rule(
        0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 8, .fp = WI_FP_AT_CFA, .fp_offset = -144});
    stack[100] = code(5);
    assert_broken((struct wi_walk){.pc = code(0), .sp = at(100)});
}
END_TEST

START_TEST(realigned_frames_are_read_through_memory)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_FP_DEREF, .cfa_offset = -8, .fp = WI_FP_AT_FP});
    put_rule(
        50, (struct wi_unwind_rule){.cfa = WI_CFA_SP_DEREF, .cfa_offset = 16, .addend = 8, .fp = WI_FP_LOST});
    stack[29] = at(48);   /* what gcc keeps of the old stack pointer */
    stack[30] = 4242;     /* the caller's rbp */
    stack[47] = code(60); /* the return address */
    stack[50] = at(90);
    stack[90] = code(3);
    struct wi_walk walk = {.pc = code(1), .sp = at(8), .fp = at(30)};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_at(&walk, code(60), at(48), 4242);
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_at(&walk, code(3), at(91), 0);
}
END_TEST

START_TEST(stubs_count_what_they_pushed)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_PLT, .cfa_offset = 11});
    stack[5] = code(100);
    stack[6] = code(200);
    struct wi_walk before = {.pc = code(16 + 6), .sp = at(5)}, after = {.pc = code(16 + 11), .sp = at(5)};
    ck_assert_int_eq(step(&before), WI_WALK_STEPPED);
    assert_at(&before, code(100), at(6), 0);
    ck_assert_int_eq(step(&after), WI_WALK_STEPPED);
    assert_at(&after, code(200), at(7), 0);
}
END_TEST

START_TEST(the_outermost_frame_ends_the_walk)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_END});
    put_rule(50, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 8});
    struct wi_walk outermost = {.pc = code(10), .sp = at(10)}, no_caller = {.pc = code(50), .sp = at(10)};
    ck_assert_int_eq(step(&outermost), WI_WALK_END);
    ck_assert_int_eq(step(&no_caller), WI_WALK_END); /* a return address of 0 */
}
END_TEST

START_TEST(code_without_information_breaks_the_walk)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_NONE});
    assert_broken((struct wi_walk){.pc = code(0), .sp = at(10), .fp = at(10)});
    assert_broken((struct wi_walk){.pc = code(0) - 1, .sp = at(10)});
    assert_broken((struct wi_walk){.pc = code(UINT64_C(1) << WI_UNWIND_PAGE_BITS), .sp = at(10)});
    assert_broken((struct wi_walk){.pc = 0, .sp = at(10)});
    assert_broken((struct wi_walk){.pc = UINTPTR_MAX, .sp = at(10), .at_call = true});
}
END_TEST

START_TEST(a_caller_below_its_callee_breaks_the_walk)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 0});
    put_rule(10, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = -8});
    put_rule(20, (struct wi_unwind_rule){.cfa = WI_CFA_FP, .cfa_offset = 16});
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = code(0);
    assert_broken((struct wi_walk){.pc = code(0), .sp = at(10)});
    assert_broken((struct wi_walk){.pc = code(10), .sp = at(10)});
    assert_broken((struct wi_walk){.pc = code(20), .sp = at(10), .fp = at(8)});
}
END_TEST

START_TEST(values_outside_the_stack_break_the_walk)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 8});
    put_rule(10, (struct wi_unwind_rule){.cfa = WI_CFA_FP, .cfa_offset = 16});
    put_rule(20,
             (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 16, .fp = WI_FP_AT_CFA, .fp_offset = 8});
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = code(0);
    assert_broken((struct wi_walk){.pc = code(0), .sp = low - 8});
    assert_broken((struct wi_walk){.pc = code(0), .sp = high});
    assert_broken((struct wi_walk){.pc = code(0), .sp = at(10) + 4});
    assert_broken((struct wi_walk){.pc = code(10), .sp = at(10), .fp = 0});
    assert_broken((struct wi_walk){.pc = code(10), .sp = at(10), .fp = high - 8});
    assert_broken((struct wi_walk){.pc = code(10), .sp = at(10), .fp = UINTPTR_MAX - 15});
    assert_broken((struct wi_walk){.pc = code(10), .sp = at(10), .fp = at(30) + 1});
    assert_broken((struct wi_walk){.pc = code(20), .sp = high - 16});
}
END_TEST

START_TEST(the_last_word_of_the_stack_can_be_a_return_address)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 8});
    stack[WORDS - 1] = code(0);
    struct wi_walk walk = {.pc = code(0), .sp = high - 8};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_broken(walk);
}
END_TEST

/* ---- signal frames -------------------------------------------------------------------------------------- */

static ucontext_t *put_context(size_t word, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    ucontext_t *context = (ucontext_t *)&stack[word];
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
    context->uc_mcontext.gregs[REG_RBP] = (greg_t)fp;
    return context;
}

START_TEST(a_signal_frame_leads_to_what_was_interrupted)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SIGNAL});
    put_context(10, code(300), at(200), 99);
    struct wi_walk walk = {.pc = code(1), .sp = at(10), .fp = 5, .at_call = true};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_at(&walk, code(300), at(200), 99);
    ck_assert(!walk.at_call);
}
END_TEST

START_TEST(a_signal_frame_may_lead_to_another_stack)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SIGNAL});
    put_rule(50, (struct wi_unwind_rule){.cfa = WI_CFA_SP, .cfa_offset = 8});
    uintptr_t other[4] = {0, code(7), 0, 0};
    put_context(10, code(50), (uintptr_t)&other[1], 99);
    struct wi_walk walk = {.pc = code(1), .sp = at(10)};
    ck_assert_int_eq(step(&walk), WI_WALK_STEPPED);
    assert_broken(walk); /* by the bounds of the first stack */
    ck_assert_int_eq(wi_walk_step(&walk, &module.table, BIAS, (uintptr_t)other, (uintptr_t)(other + 4)),
                     WI_WALK_STEPPED);
    assert_at(&walk, code(7), (uintptr_t)&other[2], 99);
}
END_TEST

START_TEST(a_signal_frame_that_leads_down_its_own_stack_breaks_the_walk)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SIGNAL});
    put_context(100, code(1), at(100), 0);
    assert_broken((struct wi_walk){.pc = code(1), .sp = at(100)});
    put_context(100, code(1), at(0), 0);
    assert_broken((struct wi_walk){.pc = code(1), .sp = at(100)});
}
END_TEST

START_TEST(a_saved_context_that_reaches_out_of_the_stack_is_not_read)
{
    put_rule(0, (struct wi_unwind_rule){.cfa = WI_CFA_SIGNAL});
    assert_broken((struct wi_walk){.pc = code(1), .sp = high - 64});
    assert_broken((struct wi_walk){.pc = code(1), .sp = at(10) + 2});
}
END_TEST

START_TEST(a_walk_begins_at_what_the_signal_interrupted)
{
    struct wi_walk walk = {.at_call = true};
    wi_walk_from_context(&walk, put_context(10, 111, 222, 333));
    assert_at(&walk, 111, 222, 333);
    ck_assert(!walk.at_call);
}
END_TEST

/* ---- by frame pointers ------------------------------------------------------------------------------------ */

static enum wi_walk_result step_without_table(struct wi_walk *walk)
{
    return wi_walk_step(walk, NULL, 0, low, high);
}

START_TEST(frame_pointers_are_followed_without_a_table)
{
    stack[20] = at(40);
    stack[21] = 1001;
    stack[40] = 0;
    stack[41] = 1002;
    struct wi_walk walk = {.pc = 1000, .sp = at(4), .fp = at(20)};
    ck_assert_int_eq(step_without_table(&walk), WI_WALK_STEPPED);
    assert_at(&walk, 1001, at(22), at(40));
    ck_assert_int_eq(step_without_table(&walk), WI_WALK_STEPPED);
    assert_at(&walk, 1002, at(42), 0);
    ck_assert_int_eq(step_without_table(&walk), WI_WALK_END);
}
END_TEST

START_TEST(frame_pointers_that_are_none_break_the_walk)
{
    const uintptr_t bad[] = {1,    low - 16, at(9),       at(20) + 1,     high - 8,
                             high, high + 8, UINTPTR_MAX, UINTPTR_MAX - 7};
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = 1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct wi_walk walk = {.pc = 1000, .sp = at(10), .fp = bad[i]};
        ck_assert_int_eq(step_without_table(&walk), WI_WALK_BROKEN);
        assert_at(&walk, 1000, at(10), bad[i]);
    }
}
END_TEST

START_TEST(a_cycle_of_frame_pointers_breaks_the_walk)
{
    stack[20] = at(20);
    stack[21] = 1001;
    struct wi_walk walk = {.pc = 1000, .sp = at(4), .fp = at(20)};
    ck_assert_int_eq(step_without_table(&walk), WI_WALK_STEPPED);
    ck_assert_int_eq(step_without_table(&walk), WI_WALK_BROKEN);
}
END_TEST

/* ---- garbage ---------------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* Code, the stack, near its ends, or anything. */
static uintptr_t garbage(void)
{
    switch (draw(4)) {
    case 0:
        return code(draw(1 << WI_UNWIND_PAGE_BITS));
    case 1:
        return at(draw(WORDS)) + (draw(8) ? 0 : draw(8));
    case 2:
        return (draw(2) ? low : high) + draw(64) - 32;
    }
    return draw(2) ? 0 : random_state;
}

static void put_garbage(void)
{
    static const uint16_t spacing = (1 << WI_UNWIND_PAGE_BITS) / MAX_RULES;
    for (size_t i = 0; i < WORDS; i++)
        stack[i] = garbage();
    module.table.n_rows = 1;
    for (uint16_t i = 1; i < MAX_RULES; i++)
        put_rule((uint16_t)(i * spacing),
                 (struct wi_unwind_rule){
                     .cfa = (uint8_t)draw(WI_CFA_SIGNAL + 2),
                     .cfa_offset = (int32_t)(draw(8) ? draw(64) * 8 - 64 : random_state),
                     .fp = (uint8_t)draw(WI_FP_LOST + 2),
                     .fp_offset = (int32_t)(draw(8) ? draw(64) * 8 - 256 : random_state),
                     .addend = (int16_t)draw(65536),
                 });
}

/* Every step either ends the walk or climbs; what is read outside the page is a crash. */
START_TEST(garbage_ends_every_walk)
{
    for (int round = 0; round < 20000; round++) {
        if (round % 100 == 0)
            put_garbage();
        struct wi_walk walk = {code(draw(1 << WI_UNWIND_PAGE_BITS)), at(draw(WORDS)), garbage(), draw(2)};
        const struct wi_unwind_table *table = draw(4) ? &module.table : NULL;
        unsigned n_steps = 0;
        for (uintptr_t sp = walk.sp; wi_walk_step(&walk, table, BIAS, low, high) == WI_WALK_STEPPED;
             sp = walk.sp) {
            ck_assert(walk.sp > sp || walk.sp < low);
            ck_assert_uint_le(++n_steps, WORDS);
        }
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *walks = suite_create("agent_walk");
    TCase *walk = tcase_create("walk");
    tcase_add_checked_fixture(walk, set_up, tear_down);
    tcase_add_test(walk, frames_found_from_sp_keep_the_frame_pointer);
    tcase_add_test(walk, frames_found_from_fp_restore_the_callers);
    tcase_add_test(walk, a_call_as_a_functions_last_instruction_belongs_to_that_function);
    tcase_add_test(walk, a_frame_pointer_popped_already_is_read_from_the_red_zone);
    tcase_add_test(walk, nothing_is_read_below_the_red_zone);
    tcase_add_test(walk, realigned_frames_are_read_through_memory);
    tcase_add_test(walk, stubs_count_what_they_pushed);
    tcase_add_test(walk, the_outermost_frame_ends_the_walk);
    tcase_add_test(walk, code_without_information_breaks_the_walk);
    tcase_add_test(walk, a_caller_below_its_callee_breaks_the_walk);
    tcase_add_test(walk, values_outside_the_stack_break_the_walk);
    tcase_add_test(walk, the_last_word_of_the_stack_can_be_a_return_address);
    tcase_add_test(walk, a_signal_frame_leads_to_what_was_interrupted);
    tcase_add_test(walk, a_signal_frame_may_lead_to_another_stack);
    tcase_add_test(walk, a_signal_frame_that_leads_down_its_own_stack_breaks_the_walk);
    tcase_add_test(walk, a_saved_context_that_reaches_out_of_the_stack_is_not_read);
    tcase_add_test(walk, a_walk_begins_at_what_the_signal_interrupted);
    tcase_add_test(walk, frame_pointers_are_followed_without_a_table);
    tcase_add_test(walk, frame_pointers_that_are_none_break_the_walk);
    tcase_add_test(walk, a_cycle_of_frame_pointers_breaks_the_walk);
    tcase_add_test(walk, garbage_ends_every_walk);
    suite_add_tcase(walks, walk);
    return walks;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
