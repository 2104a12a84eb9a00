/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real files compiled, and every row held against a second opinion: libdw's own interpreter of call frame
 * information, asked at the first and at the last address of each row.
 */
#include "runtime/symbols/unwind_compile.h"

#include "runtime/symbols/unwind_rows.h"

#include <check.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REG_FP = 6, REG_SP = 7, REG_RETURN = 16 };

/* ---- libdw's opinion ------------------------------------------------------------------------------------ */

static bool has_shape(const Dwarf_Op *ops, size_t n_ops, const uint8_t *atoms, size_t n_atoms)
{
    if (n_ops != n_atoms)
        return false;
    for (size_t i = 0; i < n_ops; i++)
        if (ops[i].atom != atoms[i])
            return false;
    return true;
}

#define HAS_SHAPE(ops, n_ops, ...)                                                                           \
    has_shape(ops, n_ops, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* A base register and an offset, however they are written. */
static bool is_base(const Dwarf_Op *op, Dwarf_Word *reg, int32_t *offset)
{
    bool by_number = op->atom == DW_OP_bregx;
    if (!by_number && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31))
        return false;
    *reg = by_number ? op->number : (Dwarf_Word)op->atom - DW_OP_breg0;
    *offset = (int32_t)(by_number ? op->number2 : op->number);
    return *reg == REG_FP || *reg == REG_SP;
}

static void expect_cfa(Dwarf_Frame *frame, bool is_signal, struct wi_unwind_rule *rule)
{
    Dwarf_Op *ops;
    size_t n_ops;
    Dwarf_Word reg;
    if (dwarf_frame_cfa(frame, &ops, &n_ops) != 0 || n_ops == 0 || !is_base(&ops[0], &reg, &rule->cfa_offset))
        return;
    if (n_ops == 1)
        rule->cfa = reg == REG_SP ? WI_CFA_SP : WI_CFA_FP;
    else if (is_signal)
        rule->cfa = WI_CFA_SIGNAL;
    else if (HAS_SHAPE(ops + 1, n_ops - 1, DW_OP_deref) ||
             HAS_SHAPE(ops + 1, n_ops - 1, DW_OP_deref, DW_OP_plus_uconst))
        rule->cfa = reg == REG_SP ? WI_CFA_SP_DEREF : WI_CFA_FP_DEREF;
    else if (HAS_SHAPE(ops + 1, n_ops - 1, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
                       DW_OP_lit3, DW_OP_shl, DW_OP_plus))
        rule->cfa = WI_CFA_PLT;
    if (rule->cfa == WI_CFA_PLT)
        rule->cfa_offset = 11;
    else if (n_ops == 3)
        rule->addend = (int16_t)ops[2].number;
}

static void expect_fp(Dwarf_Frame *frame, struct wi_unwind_rule *rule)
{
    Dwarf_Op memory[3], *ops;
    size_t n_ops;
    ck_assert_int_eq(dwarf_frame_register(frame, REG_FP, memory, &ops, &n_ops), 0);
    rule->fp = WI_FP_LOST;
    if (n_ops == 0 &&
        (ops == NULL || ops == memory)) /* same value; or libdw's "undefined", which is its default */
        rule->fp = WI_FP_SAME;
    else if (HAS_SHAPE(ops, n_ops, DW_OP_call_frame_cfa, DW_OP_plus_uconst))
        rule->fp = WI_FP_AT_CFA;
    else if (HAS_SHAPE(ops, n_ops, DW_OP_breg6))
        rule->fp = WI_FP_AT_FP;
    if (rule->fp == WI_FP_AT_CFA || rule->fp == WI_FP_AT_FP)
        rule->fp_offset = (int32_t)ops[n_ops - 1].number;
}

static struct wi_unwind_rule expect(Dwarf_CFI *cfi, uint64_t pc)
{
    const struct wi_unwind_rule none = {.cfa = WI_CFA_NONE};
    struct wi_unwind_rule rule = none;
    Dwarf_Frame *frame;
    if (dwarf_cfi_addrframe(cfi, pc, &frame) != 0)
        return none;
    bool is_signal;
    Dwarf_Op memory[3], *ops;
    size_t n_ops;
    dwarf_frame_info(frame, NULL, NULL, &is_signal);
    ck_assert_int_eq(dwarf_frame_register(frame, REG_RETURN, memory, &ops, &n_ops), 0);
    expect_cfa(frame, is_signal, &rule);
    if (n_ops == 0 && ops == memory)
        rule = (struct wi_unwind_rule){.cfa = WI_CFA_END};
    else if (rule.cfa == WI_CFA_SIGNAL)
        rule = (struct wi_unwind_rule){.cfa = WI_CFA_SIGNAL};
    else if (rule.cfa == WI_CFA_NONE || !HAS_SHAPE(ops, n_ops, DW_OP_call_frame_cfa, DW_OP_plus_uconst) ||
             (int64_t)ops[1].number != -8)
        rule = none;
    else
        expect_fp(frame, &rule);
    free(frame);
    return rule;
}

/* ---- comparing -------------------------------------------------------------------------------------------- */

static void assert_agree(Dwarf_CFI *cfi, const struct wi_unwind_table *table, uint64_t offset)
{
    struct wi_unwind_rule wanted = expect(cfi, table->base + offset), got = *wi_unwind_find(table, offset);
    ck_assert_msg(memcmp(&wanted, &got, sizeof got) == 0,
                  "at %#lx: wanted cfa %d%+d fp %d%+d, got cfa %d%+d fp %d%+d",
                  (unsigned long)(table->base + offset), wanted.cfa, wanted.cfa_offset, wanted.fp,
                  wanted.fp_offset, got.cfa, got.cfa_offset, got.fp, got.fp_offset);
}

static void assert_all_rows_agree(Dwarf_CFI *cfi, const struct wi_unwind_table *table)
{
    const uint32_t *pages = wi_unwind_pages(table);
    const struct wi_unwind_row *rows = wi_unwind_rows(table);
    for (uint32_t page = 0; page < table->n_pages; page++) {
        for (uint32_t i = pages[page]; i < pages[page + 1]; i++) {
            uint64_t offset = ((uint64_t)page << WI_UNWIND_PAGE_BITS) + rows[i].pc;
            assert_agree(cfi, table, offset);
            if (offset > 0)
                assert_agree(cfi, table, offset - 1);
        }
    }
    assert_agree(cfi, table, table->span - 1);
}

static void assert_agrees_with_libdw(const char *path)
{
    struct wi_unwind_table *table;
    size_t size;
    ck_assert_int_eq(wi_unwind_compile(path, &table, &size), 0);
    ck_assert(wi_unwind_table_is_valid(table, size));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
    ck_assert_ptr_nonnull(cfi);
    assert_all_rows_agree(cfi, table);
    dwarf_cfi_end(cfi);
    elf_end(elf);
    close(fd);
    free(table);
}

static const char *path_of(void *symbol)
{
    struct link_map *map;
    Dl_info info;
    ck_assert_int_ne(dladdr1(symbol, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
    return map->l_name[0] ? map->l_name : "/proc/self/exe";
}

/* ---- claims ----------------------------------------------------------------------------------------------- */

START_TEST(libc_agrees_with_libdw)
{
    assert_agrees_with_libdw(path_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")));
}
END_TEST

START_TEST(the_loader_agrees_with_libdw)
{
    assert_agrees_with_libdw(path_of(dlsym(RTLD_DEFAULT, "_r_debug")));
}
END_TEST

START_TEST(hand_written_cryptography_agrees_with_libdw)
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW);
    if (library)
        assert_agrees_with_libdw(path_of(dlsym(library, "EVP_DigestInit")));
}
END_TEST

START_TEST(this_program_agrees_with_libdw)
{
    assert_agrees_with_libdw("/proc/self/exe");
}
END_TEST

START_TEST(libc_has_a_trampoline_an_outermost_frame_and_stubs)
{
    struct wi_unwind_table *table;
    size_t size;
    unsigned n_rows[WI_CFA_SIGNAL + 1] = {0};
    ck_assert_int_eq(wi_unwind_compile(path_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version")), &table, &size),
                     0);
    for (uint32_t i = 0; i < table->n_rows; i++)
        n_rows[wi_unwind_rules(table)[wi_unwind_rows(table)[i].rule].cfa]++;
    ck_assert_uint_eq(n_rows[WI_CFA_SIGNAL], 1);
    ck_assert_uint_ge(n_rows[WI_CFA_END], 1);
    ck_assert_uint_ge(n_rows[WI_CFA_PLT], 1);
    free(table);
}
END_TEST

START_TEST(the_vdso_is_compiled_from_memory)
{
    const ElfW(Ehdr) *vdso = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
    if (!vdso)
        return;
    struct wi_unwind_table *table;
    size_t size, image_size = vdso->e_shoff + (size_t)vdso->e_shentsize * vdso->e_shnum;
    ck_assert_int_eq(wi_unwind_compile_image(vdso, image_size, &table, &size), 0);
    ck_assert(wi_unwind_table_is_valid(table, size));
    free(table);
}
END_TEST

static int compile_bytes(const void *image, size_t image_size)
{
    struct wi_unwind_table *table = NULL;
    size_t size;
    int error = wi_unwind_compile_image(image, image_size, &table, &size);
    free(table);
    return error;
}

START_TEST(what_is_no_module_is_refused_with_the_reason)
{
    struct wi_unwind_table *table;
    size_t size;
    ElfW(Ehdr) header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_DYN,
                         .e_machine = EM_AARCH64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = sizeof header};
    ck_assert_int_eq(wi_unwind_compile("/nonexistent", &table, &size), -ENOENT);
    ck_assert_int_eq(wi_unwind_compile("/", &table, &size), -ENOEXEC);
    ck_assert_int_eq(wi_unwind_compile("/dev/null", &table, &size), -ENOEXEC);
    ck_assert_int_eq(wi_unwind_compile("/etc/passwd", &table, &size), -ENOEXEC);
    ck_assert_int_eq(compile_bytes(&header, sizeof header), -ENOTSUP);
    header.e_machine = EM_X86_64;
    ck_assert_int_eq(compile_bytes(&header, sizeof header), -ENODATA);
    header.e_type = ET_REL;
    ck_assert_int_eq(compile_bytes(&header, sizeof header), -ENOEXEC);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unwind_compile");
    TCase *files = tcase_create("files");
    elf_version(EV_CURRENT);
    tcase_set_timeout(files, 60);
    tcase_add_test(files, libc_agrees_with_libdw);
    tcase_add_test(files, the_loader_agrees_with_libdw);
    tcase_add_test(files, hand_written_cryptography_agrees_with_libdw);
    tcase_add_test(files, this_program_agrees_with_libdw);
    tcase_add_test(files, libc_has_a_trampoline_an_outermost_frame_and_stubs);
    tcase_add_test(files, the_vdso_is_compiled_from_memory);
    tcase_add_test(files, what_is_no_module_is_refused_with_the_reason);
    suite_add_tcase(suite, files);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
