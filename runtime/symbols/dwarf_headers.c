/* SPDX-License-Identifier: BSD-2-Clause */
/* See dwarf_headers.h. DWARF 2 to 4: length, version, abbreviations, address size; DWARF 5 has other places for them. */
#include "runtime/symbols/dwarf_headers.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct unit_header {
    uint64_t length; /* of the whole unit; 0: it does not fit */
    size_t size_bytes;
    bool sound;
};

static struct unit_header look_at(const uint8_t *data, uint64_t left, uint64_t n_abbrev)
{
    uint32_t narrow;
    uint64_t wide = 0, abbrev = 0;
    uint16_t version;
    struct unit_header header = {0};
    if (left < 12)
        return header;
    memcpy(&narrow, data, sizeof narrow);
    memcpy(&wide, data + 4, sizeof wide);
    bool is_wide = narrow == UINT32_MAX;
    header.size_bytes = is_wide ? 12 : 4;
    uint64_t length = is_wide ? wide : narrow;
    if (length < 12 || length > left - header.size_bytes)
        return header;
    header.length = header.size_bytes + length;
    const uint8_t *at = data + header.size_bytes;
    memcpy(&version, at, sizeof version);
    size_t type_bytes = version == 5 ? 2 : 0, offset_bytes = is_wide ? 8 : 4;
    memcpy(&abbrev, at + 2 + type_bytes, offset_bytes);
    uint8_t address_size = version == 5 ? at[3] : at[2 + offset_bytes];
    bool known_type = version != 5 || (at[2] >= DW_UT_compile && at[2] <= DW_UT_split_type);
    header.sound = version >= 2 && version <= 5 && (address_size == 8 || address_size == 4) && known_type &&
                   abbrev < n_abbrev;
    return header;
}

/* Version 4, its abbreviations at 0, addresses of 8 bytes. */
static void make_harmless(uint8_t *unit, const struct unit_header *header)
{
    uint8_t *at = unit + header->size_bytes;
    size_t offset_bytes = header->size_bytes == 12 ? 8 : 4;
    memset(at, 0, 2 + offset_bytes);
    at[0] = 4;
    at[2 + offset_bytes] = 8;
}

size_t wi_dwarf_find_units(uint8_t *info, uint64_t n_info, uint64_t n_abbrev, uint64_t **units, size_t *n_bad)
{
    size_t n = 0, capacity = 0;
    *units = NULL;
    *n_bad = 0;
    for (uint64_t at = 0; at < n_info;) {
        struct unit_header header = look_at(info + at, n_info - at, n_abbrev);
        *n_bad += !header.sound;
        if (header.length == 0)
            break; /* nobody knows where the next one would be */
        if (!header.sound)
            make_harmless(info + at, &header);
        if (n == capacity) {
            uint64_t *more = realloc(*units, (capacity = capacity * 2 + 64) * sizeof *more);
            if (!more)
                break;
            *units = more;
        }
        if (header.sound)
            (*units)[n++] = at;
        at += header.length;
    }
    return n;
}
