/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running call frame instructions (DWARF 5, section 6.4.2) for x86-64.
 *
 * Three registers are followed: where the CFA is, and where return address and frame pointer are saved. All
 * others are read over. Of the expressions that DWARF allows, compilers and linkers use very few; they are
 * recognised by their shape. What the rules of unwind_table.h cannot say becomes "no information".
 */
#include "runtime/symbols/unwind_program.h"

#include <errno.h>
#include <string.h>

enum {
    REG_FP = 6, /* psABI for x86-64, figure 3.36 */
    REG_SP = 7,
    SIGNAL_FRAME_SP = 40 + 15 * 8, /* offset of gregs[REG_RSP] in ucontext_t, where the kernel saves sp */
};

/* ---- from a state to a rule -------------------------------------------------------------------------------------- */

static bool fits_int32(int64_t value)
{
    return value == (int32_t)value;
}

/* Sets the parts of the rule that concern the CFA; leaves WI_CFA_NONE where the registers that are followed
 * do not lead to it. */
static void cfa_of(const struct wi_cfi_state *state, struct wi_unwind_rule *rule)
{
    if (state->cfa_by_expression) {
        *rule = state->expression;
        return;
    }
    if (!fits_int32(state->cfa_offset))
        return;
    if (state->cfa_register == REG_SP)
        rule->cfa = WI_CFA_SP;
    else if (state->cfa_register == REG_FP)
        rule->cfa = WI_CFA_FP;
    else
        return;
    rule->cfa_offset = (int32_t)state->cfa_offset;
}

static void fp_of(const struct wi_cfi_saved *saved, struct wi_unwind_rule *rule)
{
    rule->fp = WI_FP_LOST;
    if (saved->place == WI_UNSAVED)
        rule->fp = WI_FP_SAME;
    if ((saved->place != WI_SAVED_AT_CFA && saved->place != WI_SAVED_AT_FP) || !fits_int32(saved->offset))
        return;
    rule->fp = saved->place == WI_SAVED_AT_CFA ? WI_FP_AT_CFA : WI_FP_AT_FP;
    rule->fp_offset = (int32_t)saved->offset;
}

static struct wi_unwind_rule rule_of(const struct wi_cfi_state *state)
{
    struct wi_unwind_rule rule = {.cfa = WI_CFA_NONE};
    if (state->return_address.place == WI_UNDEFINED)
        return (struct wi_unwind_rule){.cfa = WI_CFA_END};
    cfa_of(state, &rule);
    if (rule.cfa == WI_CFA_SIGNAL || rule.cfa == WI_CFA_NONE)
        return rule;
    if (state->return_address.place != WI_SAVED_AT_CFA || state->return_address.offset != -8)
        return (struct wi_unwind_rule){.cfa = WI_CFA_NONE};
    fp_of(&state->fp, &rule);
    return rule;
}

/* ---- expressions: the few that occur, by their shape ----------------------------------------------------- */

/* DW_OP_bregN: the register's number, or -1. */
static int read_base_register(struct wi_cursor *block)
{
    uint64_t op = wi_cursor_fixed(block, 1);
    return !block->failed && op >= DW_OP_breg0 && op <= DW_OP_breg31 ? (int)(op - DW_OP_breg0) : -1;
}

/* What ld writes for lazy-binding stubs: sp + 8 + ((pc & 15) >= N) * 8. The cursor stands after "sp + 8". */
static bool is_plt(struct wi_cursor block, int32_t *threshold)
{
    static const uint8_t before[] = {DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and};
    static const uint8_t after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
    if (block.end - block.at != sizeof before + 1 + sizeof after || memcmp(block.at, before, sizeof before) ||
        memcmp(block.at + sizeof before + 1, after, sizeof after))
        return false;
    *threshold = block.at[sizeof before] - DW_OP_lit0;
    return *threshold > 0 && *threshold < 16;
}

static struct wi_unwind_rule cfa_expression(struct wi_cursor block, bool is_signal_frame)
{
    const struct wi_unwind_rule none = {.cfa = WI_CFA_NONE};
    struct wi_unwind_rule rule = none;
    int base = read_base_register(&block);
    int64_t offset = wi_cursor_sleb(&block);
    if ((base != REG_SP && base != REG_FP) || block.failed || !fits_int32(offset))
        return none;
    if (base == REG_SP && offset == 8 && is_plt(block, &rule.cfa_offset)) {
        rule.cfa = WI_CFA_PLT;
        return rule;
    }
    rule.cfa_offset = (int32_t)offset;
    rule.cfa = base == REG_SP ? WI_CFA_SP_DEREF : WI_CFA_FP_DEREF;
    if (wi_cursor_fixed(&block, 1) != DW_OP_deref)
        return none;
    if (block.at == block.end && is_signal_frame)
        return (struct wi_unwind_rule){.cfa = base == REG_SP && offset == SIGNAL_FRAME_SP ? WI_CFA_SIGNAL
                                                                                          : WI_CFA_NONE};
    if (block.at != block.end) {
        uint64_t op = wi_cursor_fixed(&block, 1), addend = wi_cursor_uleb(&block);
        if (op != DW_OP_plus_uconst || addend > INT16_MAX)
            return none;
        rule.addend = (int16_t)addend;
    }
    return block.failed || block.at != block.end ? none : rule;
}

static struct wi_cfi_saved saved_expression(struct wi_cursor block)
{
    int base = read_base_register(&block);
    int64_t offset = wi_cursor_sleb(&block);
    if (base != REG_FP || block.failed || block.at != block.end)
        return (struct wi_cfi_saved){WI_SAVED_ELSEWHERE, 0};
    return (struct wi_cfi_saved){WI_SAVED_AT_FP, offset};
}

/* ---- instructions ---------------------------------------------------------------------------------------- */

static void save(struct wi_cfi_program *program, uint64_t reg, enum wi_cfi_place place, int64_t offset)
{
    if (reg == REG_FP)
        program->state.fp = (struct wi_cfi_saved){place, offset};
    else if (reg == WI_CFI_RETURN_REGISTER)
        program->state.return_address = (struct wi_cfi_saved){place, offset};
}

/* An offset in units of the CIE's factor; one that overflows is too large for every later check. */
static int64_t factored(const struct wi_cfi_program *program, int64_t value)
{
    int64_t offset;
    return __builtin_mul_overflow(value, program->cie->data_factor, &offset) ? INT64_MAX : offset;
}

static void save_at_cfa(struct wi_cfi_program *program, uint64_t reg, int64_t value)
{
    save(program, reg, WI_SAVED_AT_CFA, factored(program, value));
}

static void restore(struct wi_cfi_program *program, uint64_t reg)
{
    if (reg == REG_FP)
        program->state.fp = program->cie->initial.fp;
    else if (reg == WI_CFI_RETURN_REGISTER)
        program->state.return_address = program->cie->initial.return_address;
}

static void define_cfa(struct wi_cfi_program *program, uint64_t reg, int64_t offset)
{
    program->state.cfa_by_expression = false;
    program->state.cfa_register = reg;
    program->state.cfa_offset = offset;
}

/* The state so far held up to here: make it a row, then move on. */
static int move_to(struct wi_cfi_program *program, uint64_t pc)
{
    struct wi_unwind_rule rule = rule_of(&program->state);
    if (!program->rows)
        return -EBADMSG; /* a CIE describes no place */
    int error = wi_rows_add(program->rows, program->pc, &rule);
    if (!error && pc < program->pc)
        error = -EBADMSG;
    program->pc = pc;
    return error;
}

static int advance(struct wi_cfi_program *program, uint64_t delta)
{
    uint64_t bytes, pc;
    if (__builtin_mul_overflow(delta, program->cie->code_factor, &bytes) ||
        __builtin_add_overflow(program->pc, bytes, &pc))
        return -EBADMSG;
    return move_to(program, pc);
}

static int remember(struct wi_cfi_program *program)
{
    if (program->n_remembered == WI_CFI_MAX_REMEMBERED)
        return -EBADMSG;
    program->remembered[program->n_remembered++] = program->state;
    return 0;
}

static int recall(struct wi_cfi_program *program)
{
    if (program->n_remembered == 0)
        return -EBADMSG;
    program->state = program->remembered[--program->n_remembered];
    return 0;
}

/* The opcodes that say where the CFA is. Returns false if it is none of them. */
static bool run_cfa(struct wi_cfi_program *program, uint8_t op, struct wi_cursor *code)
{
    struct wi_cfi_state *state = &program->state;
    uint64_t reg;
    switch (op) {
    case DW_CFA_def_cfa:
        reg = wi_cursor_uleb(code);
        define_cfa(program, reg, (int64_t)wi_cursor_uleb(code));
        return true;
    case DW_CFA_def_cfa_sf:
        reg = wi_cursor_uleb(code);
        define_cfa(program, reg, factored(program, wi_cursor_sleb(code)));
        return true;
    case DW_CFA_def_cfa_register:
        define_cfa(program, wi_cursor_uleb(code), state->cfa_offset);
        return true;
    case DW_CFA_def_cfa_offset:
        state->cfa_offset = (int64_t)wi_cursor_uleb(code);
        return true;
    case DW_CFA_def_cfa_offset_sf:
        state->cfa_offset = factored(program, wi_cursor_sleb(code));
        return true;
    case DW_CFA_def_cfa_expression:
        state->cfa_by_expression = true;
        state->expression =
            cfa_expression(wi_cursor_take(code, wi_cursor_uleb(code)), program->cie->is_signal_frame);
        return true;
    }
    return false;
}

/* The opcodes that say where one register is saved. Returns false if it is none of them. */
static bool run_register(struct wi_cfi_program *program, uint8_t op, struct wi_cursor *code)
{
    uint64_t reg = wi_cursor_uleb(code);
    struct wi_cfi_saved saved;
    switch (op) {
    case DW_CFA_offset_extended:
        save_at_cfa(program, reg, (int64_t)wi_cursor_uleb(code));
        return true;
    case DW_CFA_offset_extended_sf:
        save_at_cfa(program, reg, wi_cursor_sleb(code));
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        save_at_cfa(program, reg, (int64_t)(0 - wi_cursor_uleb(code)));
        return true;
    case DW_CFA_restore_extended:
        restore(program, reg);
        return true;
    case DW_CFA_undefined:
        save(program, reg, WI_UNDEFINED, 0);
        return true;
    case DW_CFA_same_value:
        save(program, reg, WI_UNSAVED, 0);
        return true;
    case DW_CFA_expression:
        saved = saved_expression(wi_cursor_take(code, wi_cursor_uleb(code)));
        save(program, reg, saved.place, saved.offset);
        return true;
    case DW_CFA_val_expression:
        wi_cursor_take(code, wi_cursor_uleb(code));
        save(program, reg, WI_SAVED_ELSEWHERE, 0);
        return true;
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
        wi_cursor_uleb(code);
        save(program, reg, WI_SAVED_ELSEWHERE, 0);
        return true;
    }
    return false;
}

static int run_extended(struct wi_cfi_program *program, uint8_t op, struct wi_cursor *code)
{
    switch (op) {
    case DW_CFA_nop:
        return 0;
    case DW_CFA_set_loc:
        return move_to(program, wi_cursor_pointer(code, program->cie->encoding));
    case DW_CFA_advance_loc1:
        return advance(program, wi_cursor_fixed(code, 1));
    case DW_CFA_advance_loc2:
        return advance(program, wi_cursor_fixed(code, 2));
    case DW_CFA_advance_loc4:
        return advance(program, wi_cursor_fixed(code, 4));
    case DW_CFA_remember_state:
        return remember(program);
    case DW_CFA_restore_state:
        return recall(program);
    case DW_CFA_GNU_args_size:
        wi_cursor_uleb(code);
        return 0;
    }
    return run_cfa(program, op, code) || run_register(program, op, code) ? 0 : -EBADMSG;
}

static int run_one(struct wi_cfi_program *program, struct wi_cursor *code)
{
    uint8_t op = (uint8_t)wi_cursor_fixed(code, 1);
    uint8_t operand = op & 0x3f;
    switch (op & 0xc0) {
    case DW_CFA_advance_loc:
        return advance(program, operand);
    case DW_CFA_offset:
        save_at_cfa(program, operand, (int64_t)wi_cursor_uleb(code));
        return 0;
    case DW_CFA_restore:
        restore(program, operand);
        return 0;
    }
    return run_extended(program, op, code);
}

int wi_cfi_program_run(struct wi_cfi_program *program, struct wi_cursor *code)
{
    int error = 0;
    while (!error && !code->failed && code->at < code->end)
        error = run_one(program, code);
    return !error && code->failed ? -EBADMSG : error;
}

int wi_cfi_program_end(struct wi_cfi_program *program)
{
    return move_to(program, program->pc);
}
