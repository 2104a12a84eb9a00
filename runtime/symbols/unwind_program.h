/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter of call frame instructions: between the entries of .eh_frame (unwind_cfi.c) and rows.
 *
 * A CIE's instructions give the state in which every one of its functions begins. An FDE's edit that state and
 * move the program counter on; each move makes the state so far a row.
 *
 * Context: launcher.
 */
#ifndef WI_UNWIND_PROGRAM_H
#define WI_UNWIND_PROGRAM_H

#include "runtime/symbols/unwind_cursor.h"
#include "runtime/symbols/unwind_rows.h"

enum { WI_CFI_RETURN_REGISTER = 16, WI_CFI_MAX_REMEMBERED = 16 /* compilers nest one deep */ };

enum wi_cfi_place { WI_UNSAVED, WI_SAVED_AT_CFA, WI_SAVED_AT_FP, WI_UNDEFINED, WI_SAVED_ELSEWHERE };

struct wi_cfi_saved {
    enum wi_cfi_place place;
    int64_t offset;
};

struct wi_cfi_state {
    uint64_t cfa_register;
    int64_t cfa_offset;
    bool cfa_by_expression;
    struct wi_unwind_rule expression; /* its cfa, cfa_offset and addend only */
    struct wi_cfi_saved fp, return_address;
};

struct wi_cfi_cie {
    size_t offset; /* in the section: its name */
    bool is_usable;
    bool is_signal_frame;
    bool has_data_length; /* augmentation 'z' */
    uint8_t encoding;
    uint64_t code_factor;
    int64_t data_factor;
    struct wi_cfi_state initial;
};

struct wi_cfi_program {
    const struct wi_cfi_cie *cie;
    struct wi_cfi_state state;
    struct wi_cfi_state remembered[WI_CFI_MAX_REMEMBERED];
    unsigned n_remembered;
    uint64_t pc;
    struct wi_rows *rows; /* NULL while a CIE's own instructions run */
};

/* Run all instructions. Returns 0, -EBADMSG at the first that is not understood, or -ENOMEM. */
int wi_cfi_program_run(struct wi_cfi_program *program, struct wi_cursor *code);

/* Make the last state a row, which holds up to the function's end. Returns as wi_cfi_program_run(). */
int wi_cfi_program_end(struct wi_cfi_program *program);

#endif
