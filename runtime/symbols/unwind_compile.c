/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an ELF file to an unwind table: find the section, read it, and mind what has none.
 *
 * Only .eh_frame is read (a library of 100 MB has 5 MB of it), with pread and not by mapping: a file that
 * shrinks meanwhile is then an error and not a SIGBUS. The section's search table (.eh_frame_hdr) is not needed.
 *
 * Some linkers (lld, mold) write no unwind information for lazy-binding stubs, through which every call to
 * another module goes. Their code is always the same, so it is described here.
 */
#include "runtime/symbols/unwind_compile.h"

#include "runtime/symbols/unwind_cfi.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct module {
    Elf *elf;
    size_t names; /* index of the section that names the others */
    struct wi_cfi_range *executable;
    size_t n_executable;
};

static int check_header(Elf *elf)
{
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return -ENOEXEC;
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return -ENOEXEC;
    bool is_ours = header.e_machine == EM_X86_64 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                   header.e_ident[EI_DATA] == ELFDATA2LSB;
    return is_ours ? 0 : -ENOTSUP;
}

static int find_executable(struct module *module)
{
    size_t n_segments;
    if (elf_getphdrnum(module->elf, &n_segments) < 0)
        return -ENOEXEC;
    module->executable = calloc(n_segments ? n_segments : 1, sizeof *module->executable);
    if (!module->executable)
        return -ENOMEM;
    for (size_t i = 0; i < n_segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(module->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            !(segment.p_flags & PF_X) || segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
            continue;
        module->executable[module->n_executable++] =
            (struct wi_cfi_range){segment.p_vaddr, segment.p_vaddr + segment.p_memsz};
    }
    return 0;
}

static Elf_Scn *find_section(const struct module *module, const char *wanted, GElf_Shdr *header)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(module->elf, section))) {
        if (!gelf_getshdr(section, header))
            continue;
        const char *name = elf_strptr(module->elf, module->names, header->sh_name);
        if (name && strcmp(name, wanted) == 0)
            return section;
    }
    return NULL;
}

static int read_cfi(const struct module *module, struct wi_rows *rows)
{
    GElf_Shdr header;
    Elf_Scn *found = find_section(module, ".eh_frame", &header);
    if (!found || header.sh_type == SHT_NOBITS)
        return -ENODATA;
    Elf_Data *data = elf_rawdata(found, NULL);
    if (!data)
        return -EBADMSG;
    if (!data->d_buf || data->d_size == 0)
        return -ENODATA;
    struct wi_cfi_section section = {data->d_buf, data->d_size, header.sh_addr};
    return wi_cfi_read(&section, module->executable, module->n_executable, rows);
}

/* ---- stubs that the linker left undescribed ---------------------------------------------------------------- */

enum { PLT_ENTRY = 16, AFTER_PUSH = 6, PUSHED_AT = 11 }; /* jmp *got; push index; jmp to the first entry */

static int add_stack_row(struct wi_rows *rows, uint64_t pc, int32_t cfa_offset)
{
    struct wi_unwind_rule rule = {.cfa = WI_CFA_SP, .cfa_offset = cfa_offset, .fp = WI_FP_SAME};
    return wi_rows_add(rows, pc, &rule);
}

/* Stubs that only jump. */
static int add_jumps(struct wi_rows *rows, uint64_t start)
{
    return add_stack_row(rows, start, 8);
}

/* Entries that push their index and jump to the first, which pushes the module and calls the resolver. */
static int add_lazy_stubs(struct wi_rows *rows, uint64_t start)
{
    struct wi_unwind_rule entry = {.cfa = WI_CFA_PLT, .cfa_offset = PUSHED_AT, .fp = WI_FP_SAME};
    int error = add_stack_row(rows, start, 16);
    if (!error)
        error = add_stack_row(rows, start + AFTER_PUSH, 24);
    if (!error)
        error = wi_rows_add(rows, start + PLT_ENTRY, &entry);
    return error;
}

static int describe_stubs(const struct module *module, struct wi_rows *rows)
{
    static const struct {
        const char *section;
        int (*add)(struct wi_rows *rows, uint64_t start);
    } kinds[] = {
        {".plt", add_lazy_stubs}, {".plt.got", add_jumps}, {".plt.sec", add_jumps}, {".iplt", add_jumps}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        GElf_Shdr header;
        if (!find_section(module, kinds[i].section, &header) || !(header.sh_flags & SHF_EXECINSTR))
            continue;
        uint64_t start = header.sh_addr, end = start + header.sh_size;
        if (wi_rows_cover(rows, start, end) || wi_rows_begin(rows, start, end) < 0)
            continue;
        int error = kinds[i].add(rows, start);
        if (error)
            return error;
    }
    return 0;
}

/* ---- compiling ----------------------------------------------------------------------------------------------- */

static int compile_module(struct module *module, struct wi_rows *rows, struct wi_unwind_table **table,
                          size_t *size)
{
    int error = check_header(module->elf);
    if (!error && elf_getshdrstrndx(module->elf, &module->names) < 0)
        error = -ENODATA;
    if (!error)
        error = find_executable(module);
    if (!error)
        error = read_cfi(module, rows);
    if (!error)
        error = describe_stubs(module, rows);
    return error ? error : wi_rows_finish(rows, table, size);
}

static int compile_elf(Elf *elf, struct wi_unwind_table **table, size_t *size)
{
    struct module module = {.elf = elf};
    struct wi_rows *rows = wi_rows_create();
    int error = rows ? compile_module(&module, rows, table, size) : -ENOMEM;
    wi_rows_destroy(rows);
    free(module.executable);
    return error;
}

int wi_unwind_compile(const char *path, struct wi_unwind_table **table, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    int error = elf ? compile_elf(elf, table, size) : -ENOEXEC;
    elf_end(elf);
    close(fd);
    return error;
}

int wi_unwind_compile_image(const void *image, size_t image_size, struct wi_unwind_table **table,
                            size_t *size)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)image, image_size); /* reads only, whatever its type says */
    int error = elf ? compile_elf(elf, table, size) : -ENOEXEC;
    elf_end(elf);
    return error;
}
