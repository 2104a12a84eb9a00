/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a file to its index.
 *
 * Parsers of ELF and DWARF meet whatever compilers, strippers and disks made of a file, and neither of the two
 * used here survives everything. So a module is read in a process forked for it, which hands back one block of
 * memory (index.h) and exits. If it crashes, loops or takes too much memory, it is run again without the reader,
 * or without the unit, that it died of. Nothing of that reaches the caller but a notice, and the memory for
 * parsing goes with the process.
 */
#ifndef WI_SYMBOLS_EXTRACT_H
#define WI_SYMBOLS_EXTRACT_H

#include "runtime/symbols/index.h"

struct wi_extract_request {
    const char *path;      /* for people */
    const char *open_path; /* where it can be read; path "[vdso]" is read from memory */
    const uint8_t *build_id;
    size_t build_id_length; /* 0: unknown, do not check */
    bool want_lines;        /* else symbols are enough */
};

/* Always gives an index, if only one with notices. -errno if even that could not be had. */
int wi_extract(const struct wi_extract_request *request, struct wi_index *out);
void wi_extract_release(struct wi_index *index);

/* ---- for extract.c and sandbox.c, and for tests that want no process of their own ---------------------- */

struct wi_builder;
struct wi_progress;

/* What earlier attempts taught. */
struct wi_extract_limits {
    uint32_t first_reader; /* readers before this one are not asked */
    uint64_t bad_units[16];
    size_t n_bad_units;
    uint32_t seconds; /* of wall time; 0: no limit */
};

/* Do it, here and now. The block is malloc'ed. */
int wi_extract_here(const struct wi_extract_request *request, const struct wi_extract_limits *limits,
                    struct wi_progress *progress, struct wi_index_header **out);

#endif
