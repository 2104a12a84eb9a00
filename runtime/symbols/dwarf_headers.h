/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The headers of the units in .debug_info, by their bytes alone.
 *
 * A parser that goes from unit to unit loses all that follow a damaged header. Here the damaged ones are overwritten
 * by harmless ones, so that it passes over them.
 */
#ifndef WI_SYMBOLS_DWARF_HEADERS_H
#define WI_SYMBOLS_DWARF_HEADERS_H

#include <stddef.h>
#include <stdint.h>

/* Where the sound units are (malloc'ed, in order); returns how many. `n_abbrev` is the size of .debug_abbrev. Units
 * that are not sound are counted and made harmless in `info`; what follows one whose length is wrong is lost, and
 * counts as one. */
size_t wi_dwarf_find_units(uint8_t *info, uint64_t n_info, uint64_t n_abbrev, uint64_t **units,
                           size_t *n_bad);

#endif
