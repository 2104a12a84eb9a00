/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading call frame information: the CIEs and FDEs of an .eh_frame section (x86-64).
 *
 * An FDE is a little program that describes, instruction by instruction of one function, where the canonical
 * frame address (CFA) and the saved registers are. All programs are run here, once, in the launcher, so that
 * the agent needs neither DWARF nor the module's file.
 *
 * Only three registers are followed: stack pointer, frame pointer, return address. Whatever these cannot
 * express (a CFA kept in another register for some instructions) becomes "no information" at those places.
 *
 * Context: launcher.
 */
#ifndef WI_UNWIND_CFI_H
#define WI_UNWIND_CFI_H

#include "runtime/symbols/unwind_rows.h"

struct wi_cfi_section {
    const uint8_t *data;
    size_t size;
    uint64_t address; /* of data[0], in the module's own addresses */
};

/* What is executable: an FDE for anywhere else is a left-over or junk, and is skipped. */
struct wi_cfi_range {
    uint64_t start;
    uint64_t end;
};

/* Run every FDE's program and add its rows. Returns 0, -EBADMSG when the section's structure is broken, or
 * -ENOMEM. An FDE that cannot be understood costs only its own rows, from the bad instruction on. */
int wi_cfi_read(const struct wi_cfi_section *section, const struct wi_cfi_range *executable,
                size_t n_executable, struct wi_rows *rows);

#endif
