/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounded reading of call frame information.
 *
 * The input may be damaged. All reading goes through a cursor that never leaves its bounds: past the end every
 * read gives 0, and the cursor remembers that it failed, so that callers check once, after several reads.
 */
#ifndef WI_UNWIND_CURSOR_H
#define WI_UNWIND_CURSOR_H

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>

struct wi_cursor {
    const uint8_t *at, *end;
    uint64_t address; /* of *at: pointers may be relative to where they stand */
    bool failed;
};

static inline struct wi_cursor wi_cursor_take(struct wi_cursor *from, uint64_t size)
{
    struct wi_cursor part = {from->at, from->at, from->address, true};
    if (from->failed || size > (uint64_t)(from->end - from->at)) {
        from->failed = true;
        return part;
    }
    part.end += size;
    part.failed = false;
    from->at += size;
    from->address += size;
    return part;
}

/* An unsigned little-endian integer. */
static inline uint64_t wi_cursor_fixed(struct wi_cursor *from, unsigned size)
{
    struct wi_cursor bytes = wi_cursor_take(from, size);
    uint64_t value = 0;
    for (unsigned i = 0; !bytes.failed && i < size; i++)
        value |= (uint64_t)bytes.at[i] << (8 * i);
    return value;
}

static inline int64_t wi_cursor_signed(struct wi_cursor *from, unsigned size)
{
    unsigned unused_bits = 64 - 8 * size;
    return (int64_t)(wi_cursor_fixed(from, size) << unused_bits) >> unused_bits;
}

static inline uint64_t wi_cursor_uleb(struct wi_cursor *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)wi_cursor_fixed(from, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static inline int64_t wi_cursor_sleb(struct wi_cursor *from)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)wi_cursor_fixed(from, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

/* A pointer by its DW_EH_PE_ encoding, without application (pcrel and so on). */
static inline uint64_t wi_cursor_form(struct wi_cursor *from, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return wi_cursor_fixed(from, 8);
    case DW_EH_PE_uleb128:
        return wi_cursor_uleb(from);
    case DW_EH_PE_sleb128:
        return (uint64_t)wi_cursor_sleb(from);
    case DW_EH_PE_udata2:
        return wi_cursor_fixed(from, 2);
    case DW_EH_PE_udata4:
        return wi_cursor_fixed(from, 4);
    case DW_EH_PE_sdata2:
        return (uint64_t)wi_cursor_signed(from, 2);
    case DW_EH_PE_sdata4:
        return (uint64_t)wi_cursor_signed(from, 4);
    }
    from->failed = true;
    return 0;
}

static inline uint64_t wi_cursor_pointer(struct wi_cursor *from, uint8_t encoding)
{
    uint64_t origin = 0;
    if ((encoding & 0xf0) == DW_EH_PE_pcrel)
        origin = from->address;
    else if ((encoding & 0xf0) != DW_EH_PE_absptr)
        from->failed = true;
    return origin + wi_cursor_form(from, encoding);
}

#endif
