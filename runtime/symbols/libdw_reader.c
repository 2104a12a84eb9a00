/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader on elfutils' libdw: DWARF 2 to 5, split units, files of dwz; and what is damaged.
 *
 * The units are walked here, by their headers, not by .debug_aranges (which clang does not write). A unit with a
 * damaged header would hide all units behind it from libdw, which finds them one after the other: such a header
 * is overwritten in memory by a harmless one, and the unit skipped.
 *
 * The tree of a unit is mostly types; they are passed over, and so are functions without code of their own.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/symbols/dwarf_headers.h"
#include "runtime/symbols/elf_image.h"
#include "runtime/symbols/map64.h"
#include "runtime/symbols/reader.h"

#define MAX_DEPTH   512
#define MAX_SPANS   65536 /* of one entry */
#define MAX_ORIGINS 16
#define UNKNOWN     (WI_NONE - 1) /* a file number that was not asked for yet */

struct walk {
    const struct wi_reader_input *input;
    struct wi_builder *builder;
    Dwarf *dwarf;
    struct wi_map64 functions; /* by the address of the entry that copies refer to */
    struct wi_span *spans;
    /* of the present unit */
    Dwarf_CU *unit;
    const char *directory;
    Dwarf_Files *files;
    size_t n_files;
    uint32_t *file_numbers;
    uint64_t entries_left;
};

/* ---- attributes -------------------------------------------------------------------------------------- */

static uint64_t number_of(Dwarf_Die *die, unsigned attribute, uint64_t otherwise)
{
    Dwarf_Attribute storage;
    Dwarf_Word value;
    bool has = dwarf_formudata(dwarf_attr(die, attribute, &storage), &value) == 0;
    return has ? value : otherwise;
}

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute storage;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &storage));
}

static const char *directory_of(Dwarf_Die *unit)
{
    Dwarf_Attribute storage;
    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &storage));
}

static uint32_t file_number(struct walk *walk, size_t index)
{
    if (index >= walk->n_files)
        return WI_NONE;
    if (walk->file_numbers[index] == UNKNOWN)
        walk->file_numbers[index] =
            wi_builder_file(walk->builder, walk->directory, dwarf_filesrc(walk->files, index, NULL, NULL));
    return walk->file_numbers[index];
}

/* The file of a declaration, which may be in another unit. Not dwarf_decl_file(), which takes file 0 for none even
 * in DWARF 5. */
static uint32_t declared_in(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Attribute storage;
    Dwarf_Word index;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t n_files;
    Dwarf_Half version = 0;
    if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &storage), &index) != 0 ||
        !dwarf_cu_die(storage.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
        (index == 0 && version < 5))
        return WI_NONE;
    if (storage.cu == walk->unit)
        return file_number(walk, index);
    if (dwarf_getsrcfiles(&unit, &files, &n_files) != 0 || index >= n_files)
        return WI_NONE;
    return wi_builder_file(walk->builder, directory_of(&unit), dwarf_filesrc(files, index, NULL, NULL));
}

/* A copy refers to the function it is a copy of, and that perhaps to its declaration. */
static uint32_t function_of(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Die origin = *die;
    Dwarf_Attribute storage;
    for (int hop = 0; hop < MAX_ORIGINS; hop++) {
        Dwarf_Attribute *reference = dwarf_attr(&origin, DW_AT_abstract_origin, &storage);
        Dwarf_Die next;
        if (!reference || !dwarf_formref_die(reference, &next))
            break;
        origin = next;
    }
    /* The variants of a destructor are copies of one function, each with a name of its own. */
    bool own_name = dwarf_hasattr(die, DW_AT_linkage_name) || dwarf_hasattr(die, DW_AT_MIPS_linkage_name);
    uint64_t key = (uint64_t)(uintptr_t)(own_name ? die->addr : origin.addr);
    uint32_t known = wi_map64_get(&walk->functions, key);
    if (known != WI_MAP64_NONE)
        return known;
    int line = 0;
    const char *linkage_name = text_of(die, DW_AT_linkage_name);
    if (!linkage_name)
        linkage_name = text_of(die, DW_AT_MIPS_linkage_name);
    dwarf_decl_line(&origin, &line);
    struct wi_function_facts facts = {
        .name = dwarf_diename(&origin),
        .linkage_name = linkage_name,
        .file = declared_in(walk, &origin),
        .line = line > 0 ? (uint32_t)line : 0,
    };
    uint32_t number = wi_builder_function(walk->builder, &facts);
    wi_map64_put(&walk->functions, key, number);
    return number;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

static int read_lines(struct walk *walk, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t n_lines;
    if (dwarf_getsrclines(unit, &lines, &n_lines) != 0)
        return -EBADMSG;
    Dwarf_Addr ended = UINT64_MAX;
    for (size_t i = 0; i < n_lines; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        Dwarf_Files *files;
        size_t file;
        int number = 0;
        bool end = false, begins_statement = true;
        if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0)
            return -EBADMSG;
        if (end) {
            wi_builder_end_sequence(walk->builder, address);
            ended = address;
            continue;
        }
        /* libdw sorts: an empty last row of a sequence comes behind its end, and looks like the first row of the
         * next. But that one begins a statement. */
        if (address == ended && dwarf_linebeginstatement(line, &begins_statement) == 0 && !begins_statement)
            continue;
        bool known =
            dwarf_line_file(line, &files, &file) == 0 && dwarf_lineno(line, &number) == 0 && number > 0;
        wi_builder_row(walk->builder, address, file_number(walk, file), known ? (uint32_t)number : 0);
    }
    return 0;
}

/* ---- functions --------------------------------------------------------------------------------------- */

static ptrdiff_t spans_of(struct walk *walk, Dwarf_Die *die)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0, n = 0;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        if (n == MAX_SPANS)
            return -1;
        walk->spans[n++] = (struct wi_span){low, high};
    }
    return at < 0 ? -1 : n;
}

static int read_children(struct walk *walk, Dwarf_Die *parent, uint32_t node, int depth);

static int read_function(struct walk *walk, Dwarf_Die *die, uint32_t parent, int depth)
{
    ptrdiff_t n_spans = spans_of(walk, die);
    if (n_spans <= 0)
        return n_spans < 0 ? -EBADMSG : 0;
    uint32_t call_file = WI_NONE, call_line = 0;
    if (parent != WI_NONE) {
        call_file = file_number(walk, number_of(die, DW_AT_call_file, SIZE_MAX));
        call_line = (uint32_t)number_of(die, DW_AT_call_line, 0);
    }
    uint32_t node = wi_builder_node(walk->builder, parent, function_of(walk, die), call_file, call_line,
                                    walk->spans, (size_t)n_spans);
    return node == WI_NONE ? 0 : read_children(walk, die, node, depth);
}

static int read_entry(struct walk *walk, Dwarf_Die *die, uint32_t node, int depth)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_subprogram:
        return read_function(walk, die, WI_NONE, depth);
    case DW_TAG_inlined_subroutine:
        return node == WI_NONE ? 0 : read_function(walk, die, node, depth);
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
        return read_children(walk, die, node, depth);
    default:
        return 0; /* types and variables: the bulk, and nothing to do with code */
    }
}

static int read_children(struct walk *walk, Dwarf_Die *parent, uint32_t node, int depth)
{
    Dwarf_Die child;
    int more = dwarf_child(parent, &child);
    while (more == 0) {
        if (depth > MAX_DEPTH || walk->entries_left-- == 0)
            return -EBADMSG; /* an endless tree: siblings that point backwards */
        int error = read_entry(walk, &child, node, depth + 1);
        if (error != 0)
            return error;
        more = dwarf_siblingof(&child, &child);
    }
    return more < 0 ? -EBADMSG : 0;
}

/* ---- units ------------------------------------------------------------------------------------------- */

static void open_files(struct walk *walk, Dwarf_Die *unit)
{
    free(walk->file_numbers);
    walk->file_numbers = NULL;
    walk->unit = unit->cu;
    walk->directory = directory_of(unit);
    if (dwarf_getsrcfiles(unit, &walk->files, &walk->n_files) != 0)
        walk->n_files = 0;
    walk->file_numbers = malloc((walk->n_files + 1) * sizeof *walk->file_numbers);
    for (size_t i = 0; walk->file_numbers && i < walk->n_files; i++)
        walk->file_numbers[i] = UNKNOWN;
    if (!walk->file_numbers)
        walk->n_files = 0;
}

static void say_split_missing(struct walk *walk, Dwarf_Die *unit)
{
    const char *name = text_of(unit, DW_AT_dwo_name);
    if (!name)
        name = text_of(unit, DW_AT_GNU_dwo_name);
    char package[4096];
    snprintf(package, sizeof package, "%s.dwp", walk->input->path);
    if (access(package, R_OK) == 0)
        wi_builder_notice(
            walk->builder, "split-dwarf-package",
            "%s: functions and inlining are in %s, which cannot be read; keep the .dwo files beside "
            "the objects, or build without -gsplit-dwarf",
            walk->input->path, package);
    else
        wi_builder_notice(
            walk->builder, "split-dwarf-missing",
            "%s: functions and inlining of a unit are in %s, which was not found; keep the .dwo files "
            "where they were built, or build without -gsplit-dwarf",
            walk->input->path, name ? name : "a .dwo file");
}

/* The entry whose tree describes the unit's code: that of the .dwo file if the unit is split. */
static Dwarf_Die code_entry(struct walk *walk, Dwarf_Die *unit)
{
    Dwarf_Die split = {0};
    uint8_t type = 0;
    if (dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0 || type != DW_UT_skeleton)
        return *unit;
    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL);
    if (split.addr)
        return split;
    say_split_missing(walk, unit);
    return *unit;
}

static void read_unit(struct walk *walk, uint64_t offset, size_t header_size, uint64_t length)
{
    Dwarf_Die unit;
    if (!dwarf_offdie(walk->dwarf, offset + header_size, &unit)) {
        wi_builder_unit_abandon(walk->builder);
        return;
    }
    walk->entries_left = length;
    uint64_t line_table = number_of(&unit, DW_AT_stmt_list, UINT64_MAX);
    bool partial = dwarf_tag(&unit) == DW_TAG_partial_unit;
    if (line_table != UINT64_MAX && !partial && wi_builder_new_line_table(walk->builder, line_table)) {
        open_files(walk, &unit);
        if (read_lines(walk, &unit) != 0)
            wi_builder_unit_drop_rows(walk->builder);
    }
    Dwarf_Die code = code_entry(walk, &unit);
    if (code.addr != unit.addr)
        walk->entries_left = UINT32_MAX; /* the size of the other file's unit is not at hand */
    open_files(walk, &code);
    if (read_children(walk, &code, WI_NONE, 0) != 0)
        wi_builder_unit_drop_functions(walk->builder);
    wi_builder_unit_commit(walk->builder);
}

/* ---- headers ----------------------------------------------------------------------------------------- */

/* libdw's own copy of a section. */
static Elf_Data *section_data(Dwarf *dwarf, const char *name)
{
    Elf *elf = dwarf_getelf(dwarf);
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *found = elf_strptr(elf, names, header.sh_name);
        if (found && strcmp(found, name) == 0)
            return elf_getdata(section, NULL);
    }
    return NULL;
}

/* Each unit's header is looked at before libdw sees any. */
static size_t find_units(struct walk *walk, uint64_t **units)
{
    Elf_Data *info = section_data(walk->dwarf, ".debug_info"),
             *abbrev = section_data(walk->dwarf, ".debug_abbrev");
    size_t n_bad = 0;
    *units = NULL;
    if (!info || !abbrev || !info->d_buf)
        return 0;
    size_t n = wi_dwarf_find_units(info->d_buf, info->d_size, abbrev->d_size, units, &n_bad);
    while (n_bad-- > 0)
        wi_builder_unit_unreadable(walk->builder);
    return n;
}

static void read_units(struct walk *walk)
{
    uint64_t *units;
    size_t n = find_units(walk, &units);
    for (size_t i = 0; i < n; i++) {
        Dwarf_Off next, abbrev;
        size_t header_size;
        uint8_t address_size, offset_size;
        Dwarf_Half version;
        if (!wi_builder_unit_begin(walk->builder, units[i]))
            continue;
        if (dwarf_next_unit(walk->dwarf, units[i], &next, &header_size, &version, &abbrev, &address_size,
                            &offset_size, NULL, NULL) != 0 ||
            next <= units[i]) {
            wi_builder_unit_abandon(walk->builder);
            continue;
        }
        read_unit(walk, units[i], header_size, next - units[i]);
    }
    free(units);
}

/* ---- files ------------------------------------------------------------------------------------------- */

/* The file as it is, or an image of its debug sections if those are packed in a way that libdw does not know. */
static Elf *open_elf(struct wi_elf *elf, struct wi_bytes *image)
{
    *image = (struct wi_bytes){NULL, 0};
    elf_version(EV_CURRENT);
    if (wi_elf_fd(elf) >= 0 && !wi_elf_has_zstd(elf))
        return elf_begin(wi_elf_fd(elf), ELF_C_READ_MMAP_PRIVATE, NULL);
    *image = wi_elf_image(elf);
    return image->data ? elf_memory((char *)image->data, image->size) : NULL;
}

struct opened {
    struct wi_elf *file; /* of the other file, if we opened it */
    struct wi_bytes image;
    Elf *elf;
    Dwarf *dwarf;
};

static int open_dwarf(struct wi_elf *elf, struct opened *out)
{
    out->elf = open_elf(elf, &out->image);
    out->dwarf = out->elf ? dwarf_begin_elf(out->elf, DWARF_C_READ, NULL) : NULL;
    return out->dwarf ? 0 : -EBADMSG;
}

static void close_dwarf(struct opened *opened)
{
    dwarf_end(opened->dwarf);
    elf_end(opened->elf);
    free((void *)opened->image.data);
    wi_elf_close(opened->file);
}

static int read_with_libdw(const struct wi_reader_input *input, struct wi_builder *builder)
{
    struct opened main = {0}, alt = {0};
    struct walk walk = {.input = input, .builder = builder};
    walk.spans = malloc(MAX_SPANS * sizeof *walk.spans);
    int error = walk.spans ? open_dwarf(input->elf, &main) : -ENOMEM;
    if (error == 0 && input->alt_path && wi_elf_open(input->alt_path, &alt.file) == 0 &&
        open_dwarf(alt.file, &alt) == 0)
        dwarf_setalt(main.dwarf, alt.dwarf);
    if (error == 0) {
        walk.dwarf = main.dwarf;
        read_units(&walk);
    }
    wi_map64_fini(&walk.functions);
    free(walk.file_numbers);
    free(walk.spans);
    close_dwarf(&main);
    close_dwarf(&alt);
    return error;
}

const struct wi_reader wi_libdw_reader = {"libdw", read_with_libdw};
