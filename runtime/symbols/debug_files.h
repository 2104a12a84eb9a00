/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the debug information of a stripped file is, and what dwz moved out of it.
 *
 * Looked at in this order, each checked by build-id (or the debug link's checksum) before it is believed:
 *   D/.build-id/ab/cdef.debug      D: the directories of WHATIF_DEBUG_PATH (colons between), then /usr/lib/debug
 *   the debug link's name          beside the file, in .debug/ beside it, in D/<directory of the file>
 *   debuginfod                     only when DEBUGINFOD_URLS is set
 * For a file of another mount namespace (/proc/PID/root/...), each D is also looked for below that root.
 */
#ifndef WI_SYMBOLS_DEBUG_FILES_H
#define WI_SYMBOLS_DEBUG_FILES_H

#include <limits.h>

#include "runtime/symbols/elf_file.h"

struct wi_debug_wanted {
    const char *path;      /* of the stripped file, where it can be read */
    const char *real_path; /* its name in its own namespace */
    const uint8_t *build_id;
    size_t build_id_length;
    char link[NAME_MAX + 1]; /* of .gnu_debuglink; may be empty */
    uint32_t link_checksum;
};

/* What a file says about its debug file. */
void wi_debug_link(struct wi_elf *elf, struct wi_debug_wanted *wanted);
/* Open it. -ENOENT: nowhere; -ESTALE: there is one, of another build. */
int wi_debug_find(const struct wi_debug_wanted *wanted, char path[PATH_MAX], struct wi_elf **out);

/* The path of the file that dwz moved common parts to. 0, or -ENOENT if there is one that cannot be found: then
 * `path` holds the name asked for. -ENODATA if there is none. */
int wi_debug_find_alt(struct wi_elf *elf, const struct wi_debug_wanted *wanted, const char *elf_path,
                      char path[PATH_MAX]);

#endif
