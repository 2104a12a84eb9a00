/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The published unwind table of one module: what the controller compiles from .eh_frame and the agent walks by.
 *
 * A table answers one question: with the program counter here, where are the caller's stack pointer, return
 * address and frame pointer? The answers are *rules*; a module has hundreds of thousands of places and a few
 * hundred different rules, so a *row* is only the low half of an address and the number of a rule: four bytes.
 * The high half is the *page* (64 KiB) that the row lies in. A row holds from its address up to the next row's.
 *
 *     struct wi_unwind_table | rules[n_rules] | pages[n_pages + 1] | rows[n_rows]
 *
 * pages[p] is the first row at or after page p's first byte, pages[n_pages] is n_rows. Rule 0 is "no
 * information", and so is row 0, a sentinel at address 0, so that every page has a row before its own.
 *
 * A table is one position-independent block, published whole and never edited: no lock is needed to read it.
 * Writer: controller, before publication. Readers: every agent, in signal context. Addresses are the module's
 * own virtual addresses (as in its program headers), relative to `base`.
 */
#ifndef WI_UNWIND_TABLE_H
#define WI_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define WI_UNWIND_MAGIC     0x32777577u /* "wuw2" */
#define WI_UNWIND_PAGE_BITS 16

/* The CFA is the value of the caller's stack pointer after the return; the return address lies just below. */
enum wi_unwind_cfa {
    WI_CFA_NONE,     /* no information: the walk ends here, counted */
    WI_CFA_END,      /* outermost frame: the walk is complete */
    WI_CFA_SP,       /* CFA = sp + cfa_offset */
    WI_CFA_FP,       /* CFA = fp + cfa_offset */
    WI_CFA_SP_DEREF, /* CFA = *(sp + cfa_offset) + addend: stacks aligned by hand-written code */
    WI_CFA_FP_DEREF, /* CFA = *(fp + cfa_offset) + addend: stacks aligned by gcc */
    WI_CFA_PLT,      /* lazy-binding stub: CFA = sp + 8, and 8 more once pc % 16 >= cfa_offset */
    WI_CFA_SIGNAL,   /* signal trampoline: all registers are in the saved context at sp */
};

enum wi_unwind_fp {
    WI_FP_SAME,   /* the caller's frame pointer is in the register still */
    WI_FP_AT_CFA, /* saved at CFA + fp_offset */
    WI_FP_AT_FP,  /* saved at fp + fp_offset */
    WI_FP_LOST,   /* cannot be known */
};

struct wi_unwind_rule {
    int32_t cfa_offset; /* bytes, as are the others */
    int32_t fp_offset;
    int16_t addend;
    uint8_t cfa; /* enum wi_unwind_cfa */
    uint8_t fp;  /* enum wi_unwind_fp */
};

struct wi_unwind_row {
    uint16_t pc; /* the low bits, relative to the table's base */
    uint16_t rule;
};

struct wi_unwind_table {
    uint32_t magic;
    uint32_t n_rules;
    uint32_t n_pages;
    uint32_t n_rows;
    uint64_t base;
    uint64_t span; /* bytes from base to where the information ends; at most 4 GiB */
};

_Static_assert(sizeof(struct wi_unwind_rule) == 12, "rules are packed by construction");
_Static_assert(sizeof(struct wi_unwind_row) == 4, "rows are packed by construction");
_Static_assert(sizeof(struct wi_unwind_table) == 32, "the rules follow the header directly");

static inline const struct wi_unwind_rule *wi_unwind_rules(const struct wi_unwind_table *table)
{
    return (const struct wi_unwind_rule *)(table + 1);
}

static inline const uint32_t *wi_unwind_pages(const struct wi_unwind_table *table)
{
    return (const uint32_t *)(wi_unwind_rules(table) + table->n_rules);
}

static inline const struct wi_unwind_row *wi_unwind_rows(const struct wi_unwind_table *table)
{
    return (const struct wi_unwind_row *)(wi_unwind_pages(table) + table->n_pages + 1);
}

/* The rule at `offset` bytes from the table's base; rule 0 where there is no information. At most 17 steps. */
static inline const struct wi_unwind_rule *wi_unwind_find(const struct wi_unwind_table *table,
                                                          uint64_t offset)
{
    if (offset >= table->span)
        return wi_unwind_rules(table);
    const uint32_t *page = wi_unwind_pages(table) + (offset >> WI_UNWIND_PAGE_BITS);
    const struct wi_unwind_row *row = wi_unwind_rows(table) + page[0] - 1; /* in force as the page begins */
    uint32_t n_rows = page[1] - page[0] + 1;
    uint16_t pc = (uint16_t)offset;
    while (n_rows > 1) {
        uint32_t half = n_rows / 2;
        if (row[half].pc <= pc)
            row += half;
        n_rows -= half;
    }
    return wi_unwind_rules(table) + row->rule;
}

#endif
