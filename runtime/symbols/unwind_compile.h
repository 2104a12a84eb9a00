/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiling a module's unwind information into the table that agents walk by.
 *
 * Context: launcher. Reading is bounded by the file's size in memory and time, whatever the file contains.
 */
#ifndef WI_UNWIND_COMPILE_H
#define WI_UNWIND_COMPILE_H

#include "runtime/session/unwind_table.h"

/* Compile the .eh_frame of the ELF file at `path`. On success *table is one malloc'ed, position-independent
 * block of *size bytes, the caller's to copy and to free.
 *
 * Returns 0; -errno of opening and reading; -ENOEXEC when it is no ELF file of a program or library; -ENOTSUP
 * for other machines than x86-64; -ENODATA when it has no unwind information; -EBADMSG when that is broken. */
int wi_unwind_compile(const char *path, struct wi_unwind_table **table, size_t *size);

/* The same for an ELF file in memory, such as the kernel's vDSO. `image` is only read. */
int wi_unwind_compile_image(const void *image, size_t image_size, struct wi_unwind_table **table,
                            size_t *size);

#endif
