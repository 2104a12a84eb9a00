/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The published unwind table of one module: what the controller compiles from .eh_frame and the agent walks by.
 *
 * A table is one position-independent block: this header, then n_rows rows sorted by pc. A row holds from its pc
 * up to the next row's. Published whole, never edited: the agent needs no lock to read it.
 *
 * Writer: controller, before publication. Readers: every agent, in signal context. Addresses are the module's own
 * virtual addresses relative to `base`.
 */
#ifndef WI_UNWIND_TABLE_H
#define WI_UNWIND_TABLE_H

#include <stdint.h>

#define WI_UNWIND_MAGIC 0x31777577u /* "wuw1" */

enum wi_unwind_cfa {
    WI_CFA_NONE,      /* no information: the walk ends here, counted */
    WI_CFA_END,       /* outermost frame: the walk is complete */
    WI_CFA_SP,        /* CFA = sp + cfa_offset */
    WI_CFA_FP,        /* CFA = fp + cfa_offset */
    WI_CFA_PLT,       /* the lazy-binding stub's formula (two sp offsets within 16 bytes) */
    WI_CFA_SIGNAL,    /* signal trampoline: registers are in the saved context */
};

enum wi_unwind_fp {
    WI_FP_SAME,    /* the caller's frame pointer is in the register still */
    WI_FP_AT_CFA,  /* saved at CFA + fp_offset */
    WI_FP_LOST,    /* cannot be known */
};

struct wi_unwind_row {
    uint32_t pc;       /* relative to the table's base */
    uint8_t cfa;       /* enum wi_unwind_cfa */
    uint8_t fp;        /* enum wi_unwind_fp */
    int16_t fp_offset; /* bytes */
    int32_t cfa_offset;
};

struct wi_unwind_table {
    uint32_t magic;
    uint32_t n_rows;
    uint64_t base;
    struct wi_unwind_row rows[];
};

_Static_assert(sizeof(struct wi_unwind_row) == 12, "rows are packed by construction");

#endif
