/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small ELF file in memory with just the debug sections of another, decompressed: what a parser that knows
 * fewer compressions than we do can read.
 */
#ifndef WI_SYMBOLS_ELF_IMAGE_H
#define WI_SYMBOLS_ELF_IMAGE_H

#include "runtime/symbols/elf_file.h"

/* malloc'ed; none if memory runs out or there is no debug section. */
struct wi_bytes wi_elf_image(struct wi_elf *elf);

#endif
