/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entries of .eh_frame.
 *
 * Each is a length and an identifier. Identifier 0 makes it a CIE (what many functions have in common:
 * encodings, factors, the initial rules); anything else an FDE (one function), and is the distance back to its
 * CIE. Pointer encodings and augmentations are those of the Linux Standard Base.
 *
 * Work is bounded by a budget, since in a damaged file every FDE may name a CIE of any length.
 */
#include "runtime/symbols/unwind_cfi.h"

#include "runtime/symbols/unwind_program.h"

#include <errno.h>
#include <string.h>

enum {
    WORK_PER_BYTE = 16, /* bytes of programs run per byte of section; real files need about 2 */
    MIN_WORK = 65536,
};

/* One entry of the section at the cursor. `body` begins at the identifier. Returns false at the end. */
static bool next_entry(struct wi_cursor *section, struct wi_cursor *body)
{
    uint64_t length = wi_cursor_fixed(section, 4);
    if (length == UINT32_MAX)
        length = wi_cursor_fixed(section, 8);
    *body = wi_cursor_take(section, length);
    return !section->failed && length >= 4;
}

static void skip_augmentation(struct wi_cursor *data, const char *letters, struct wi_cfi_cie *cie)
{
    for (; *letters && !data->failed; letters++) {
        uint8_t encoding;
        switch (*letters) {
        case 'R':
            cie->encoding = (uint8_t)wi_cursor_fixed(data, 1);
            break;
        case 'L':
            wi_cursor_fixed(data, 1);
            break;
        case 'P': /* the personality: only its size matters */
            encoding = (uint8_t)wi_cursor_fixed(data, 1);
            wi_cursor_form(data, encoding);
            break;
        case 'S':
            cie->is_signal_frame = true;
            break;
        default: /* what follows an unknown letter cannot be read; the length says where it ends */
            return;
        }
    }
}

/* `body` begins after the identifier. Leaves is_usable false where something is not understood. */
static int read_cie(struct wi_cursor body, struct wi_cfi_cie *cie)
{
    uint64_t version = wi_cursor_fixed(&body, 1);
    const char *augmentation = (const char *)body.at;
    const uint8_t *end = memchr(body.at, 0, (size_t)(body.end - body.at));
    if (body.failed || !end || (version != 1 && version != 3) || (*augmentation && *augmentation != 'z'))
        return 0;
    wi_cursor_take(&body, (uint64_t)(end + 1 - body.at));
    cie->code_factor = wi_cursor_uleb(&body);
    cie->data_factor = wi_cursor_sleb(&body);
    uint64_t return_register = version == 1 ? wi_cursor_fixed(&body, 1) : wi_cursor_uleb(&body);
    cie->has_data_length = *augmentation == 'z';
    if (cie->has_data_length) {
        struct wi_cursor data = wi_cursor_take(&body, wi_cursor_uleb(&body));
        skip_augmentation(&data, augmentation + 1, cie);
        body.failed |= data.failed;
    }
    if (body.failed || return_register != WI_CFI_RETURN_REGISTER)
        return 0;
    struct wi_cfi_program program = {.cie = cie};
    int error = wi_cfi_program_run(&program, &body);
    cie->initial = program.state;
    cie->is_usable = !error;
    return error == -ENOMEM ? error : 0;
}

struct reader {
    struct wi_cursor section;
    const uint8_t *data;
    const struct wi_cfi_range *executable;
    size_t n_executable;
    struct wi_rows *rows;
    struct wi_cfi_cie cie; /* the last one used: FDEs of one come in long runs */
    uint64_t work_left;
};

static bool spend(struct reader *reader, const struct wi_cursor *code)
{
    uint64_t work = (uint64_t)(code->end - code->at) + 1;
    if (work > reader->work_left)
        return false;
    reader->work_left -= work;
    return true;
}

/* Make reader->cie the one at `offset`. */
static int find_cie(struct reader *reader, size_t offset)
{
    if (reader->cie.is_usable && reader->cie.offset == offset)
        return 0;
    reader->cie = (struct wi_cfi_cie){.offset = offset};
    struct wi_cursor at = {reader->data + offset, reader->section.end, 0, false}, body;
    if (!next_entry(&at, &body) || wi_cursor_fixed(&body, 4) != 0)
        return 0;
    return spend(reader, &body) ? read_cie(body, &reader->cie) : -EBADMSG;
}

static bool is_executable(const struct reader *reader, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < reader->n_executable; i++)
        if (start >= reader->executable[i].start && end <= reader->executable[i].end)
            return true;
    return false;
}

static int run_function(struct reader *reader, struct wi_cursor *code, uint64_t start, uint64_t end)
{
    const struct wi_unwind_rule none = {.cfa = WI_CFA_NONE};
    int error = wi_rows_begin(reader->rows, start, end);
    if (error)
        return error == -EINVAL ? 0 : error;
    struct wi_cfi_program program = {
        .cie = &reader->cie, .state = reader->cie.initial, .pc = start, .rows = reader->rows};
    error = wi_cfi_program_run(&program, code);
    if (!error)
        error = wi_cfi_program_end(&program);
    if (error == -EBADMSG) /* its rules cannot be trusted from here on */
        error = wi_rows_add(reader->rows, program.pc, &none);
    return error;
}

/* `body` begins after the identifier, the distance back to the CIE. */
static int read_fde(struct reader *reader, struct wi_cursor body, size_t cie_offset)
{
    int error = find_cie(reader, cie_offset);
    if (error || !reader->cie.is_usable)
        return error;
    uint64_t end, start = wi_cursor_pointer(&body, reader->cie.encoding);
    uint64_t length = wi_cursor_form(&body, reader->cie.encoding);
    if (reader->cie.has_data_length)
        wi_cursor_take(&body, wi_cursor_uleb(&body));
    if (body.failed || __builtin_add_overflow(start, length, &end) || !is_executable(reader, start, end))
        return 0;
    return spend(reader, &body) ? run_function(reader, &body, start, end) : -EBADMSG;
}

int wi_cfi_read(const struct wi_cfi_section *section, const struct wi_cfi_range *executable,
                size_t n_executable, struct wi_rows *rows)
{
    struct reader reader = {
        .section = {section->data, section->data + section->size, section->address, false},
        .data = section->data,
        .executable = executable,
        .n_executable = n_executable,
        .rows = rows,
        .work_left = (uint64_t)section->size * WORK_PER_BYTE + MIN_WORK,
    };
    struct wi_cursor body;
    int error = 0;
    while (!error && reader.section.at < reader.section.end && next_entry(&reader.section, &body)) {
        size_t identifier_at = (size_t)(body.at - reader.data);
        uint64_t distance = wi_cursor_fixed(&body, 4);
        if (distance != 0 && distance <= identifier_at)
            error = read_fde(&reader, body, identifier_at - distance);
    }
    return !error && reader.section.failed ? -EBADMSG : error;
}
