/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One step of a stack walk.
 *
 * Everything on the stack is a guess until it is checked: the interrupted code may be the kernel's idea of a
 * coroutine, a JIT's, or in the middle of a longjmp. So no word is read that does not lie, aligned, between the
 * frame's own sp and the end of the stack, and a caller's frame that does not lie above its callee's ends the
 * walk. A wrong stack is worse than a short one, and a fault would be the program's end.
 *
 * Below sp lies the red zone: after `pop %rbp` gcc goes on saying that the caller's rbp is saved in the slot that
 * was popped, and it still is there, since neither kernel nor callee writes it.
 */
#include "runtime/agent/signal/walk.h"

struct stack {
    uintptr_t low, high;
    uintptr_t first; /* the lowest word that may be read for this frame */
};

static bool read_word(const struct stack *stack, uintptr_t address, uintptr_t *word)
{
    if (address % sizeof *word || address < stack->first || address >= stack->high ||
        stack->high - address < sizeof *word)
        return false;
    *word = *(const uintptr_t *)address;
    return true;
}

/* The caller's frame: return address just below the CFA, which is the caller's sp. */
static enum wi_walk_result step_to(struct wi_walk *walk, const struct stack *stack, uintptr_t cfa,
                                   uintptr_t fp)
{
    uintptr_t pc;
    if (cfa <= walk->sp || !read_word(stack, cfa - sizeof pc, &pc))
        return WI_WALK_BROKEN;
    if (pc == 0) /* what thread libraries push below the first frame */
        return WI_WALK_END;
    *walk = (struct wi_walk){.pc = pc, .sp = cfa, .fp = fp, .at_call = true};
    return WI_WALK_STEPPED;
}

/* The record that a function with a frame pointer begins with: the caller's frame pointer, the return address.
 * This layout is the same on x86-64 and on AArch64. */
static enum wi_walk_result step_by_frame_pointer(struct wi_walk *walk, const struct stack *stack)
{
    uintptr_t fp;
    if (walk->fp == 0)
        return WI_WALK_END;
    if (walk->fp < walk->sp || !read_word(stack, walk->fp, &fp))
        return WI_WALK_BROKEN;
    return step_to(walk, stack, walk->fp + 2 * sizeof fp, fp);
}

#ifdef __x86_64__

enum { RED_ZONE = 128, PLT_ALIGNMENT = 16 };

void wi_walk_from_context(struct wi_walk *walk, const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    *walk = (struct wi_walk){
        .pc = (uintptr_t)registers[REG_RIP],
        .sp = (uintptr_t)registers[REG_RSP],
        .fp = (uintptr_t)registers[REG_RBP],
    };
}

/* When the handler returns to the trampoline, sp is the address of the saved context. What that holds may lie
 * on another stack, but if on the same, then above. */
static enum wi_walk_result step_over_signal(struct wi_walk *walk, const struct stack *stack)
{
    const ucontext_t *context = (const ucontext_t *)walk->sp;
    uintptr_t first = (uintptr_t)&context->uc_mcontext.gregs, ignored;
    uintptr_t last = (uintptr_t)&context->uc_mcontext.gregs[NGREG - 1];
    if (!read_word(stack, first, &ignored) || !read_word(stack, last, &ignored))
        return WI_WALK_BROKEN;
    struct wi_walk interrupted;
    wi_walk_from_context(&interrupted, context);
    if (interrupted.sp >= stack->low && interrupted.sp <= last)
        return WI_WALK_BROKEN;
    *walk = interrupted;
    return WI_WALK_STEPPED;
}

static bool find_cfa(const struct wi_walk *walk, const struct wi_unwind_rule *rule, const struct stack *stack,
                     uintptr_t *cfa)
{
    uintptr_t offset = (uintptr_t)(intptr_t)rule->cfa_offset, addend = (uintptr_t)(intptr_t)rule->addend;
    bool found = true;
    switch (rule->cfa) {
    case WI_CFA_SP:
        *cfa = walk->sp + offset;
        return true;
    case WI_CFA_FP:
        *cfa = walk->fp + offset;
        return true;
    case WI_CFA_SP_DEREF:
        found = read_word(stack, walk->sp + offset, cfa);
        *cfa += addend;
        return found;
    case WI_CFA_FP_DEREF:
        found = read_word(stack, walk->fp + offset, cfa);
        *cfa += addend;
        return found;
    case WI_CFA_PLT:
        *cfa = walk->sp + (walk->pc % PLT_ALIGNMENT >= offset ? 16 : 8);
        return true;
    }
    return false;
}

static bool find_fp(const struct wi_walk *walk, const struct wi_unwind_rule *rule, const struct stack *stack,
                    uintptr_t cfa, uintptr_t *fp)
{
    uintptr_t offset = (uintptr_t)(intptr_t)rule->fp_offset;
    switch (rule->fp) {
    case WI_FP_SAME:
        *fp = walk->fp;
        return true;
    case WI_FP_AT_CFA:
        return read_word(stack, cfa + offset, fp);
    case WI_FP_AT_FP:
        return read_word(stack, walk->fp + offset, fp);
    }
    *fp = 0; /* lost; it matters only if a caller's frame hangs on it, and then the bounds stop the walk */
    return true;
}

static enum wi_walk_result step_by_rule(struct wi_walk *walk, const struct wi_unwind_rule *rule,
                                        const struct stack *stack)
{
    uintptr_t cfa = 0, fp;
    if (rule->cfa == WI_CFA_END)
        return WI_WALK_END;
    if (rule->cfa == WI_CFA_SIGNAL)
        return step_over_signal(walk, stack);
    if (!find_cfa(walk, rule, stack, &cfa) || !find_fp(walk, rule, stack, cfa, &fp))
        return WI_WALK_BROKEN;
    return step_to(walk, stack, cfa, fp);
}

enum wi_walk_result wi_walk_step(struct wi_walk *walk, const struct wi_unwind_table *table, uintptr_t bias,
                                 uintptr_t stack_low, uintptr_t stack_high)
{
    if (walk->sp < stack_low || walk->sp >= stack_high)
        return WI_WALK_BROKEN;
    struct stack stack = {stack_low, stack_high, stack_low};
    if (walk->sp - stack_low > RED_ZONE)
        stack.first = walk->sp - RED_ZONE;
    if (!table)
        return step_by_frame_pointer(walk, &stack);
    uintptr_t offset =
        wi_walk_code_address(walk) - bias - table->base; /* below the base: wraps beyond the span */
    return step_by_rule(walk, wi_unwind_find(table, offset), &stack);
}

#else /* other machines: no tables, but frame pointers, where sp is not needed */

void wi_walk_from_context(struct wi_walk *walk, const ucontext_t *context)
{
#ifdef __aarch64__
    *walk = (struct wi_walk){
        .pc = context->uc_mcontext.pc, .sp = context->uc_mcontext.sp, .fp = context->uc_mcontext.regs[29]};
#else
    (void)context;
    *walk = (struct wi_walk){0};
#endif
}

enum wi_walk_result wi_walk_step(struct wi_walk *walk, const struct wi_unwind_table *table, uintptr_t bias,
                                 uintptr_t stack_low, uintptr_t stack_high)
{
    (void)table;
    (void)bias;
    struct stack stack = {stack_low, stack_high, walk->sp > stack_low ? walk->sp : stack_low};
    return step_by_frame_pointer(walk, &stack);
}

#endif
