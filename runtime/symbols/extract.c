/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading one module: see extract.h. Which file holds what, and which notices that gives; the parsing is done by
 * elf_file.h and the readers.
 *
 * Code and build-id are those of the mapped file. Debug information and .symtab may be in it or in a debug file;
 * failing both, there are .gnu_debugdata (Fedora's compressed .symtab) and .dynsym.
 */
#include "runtime/symbols/extract.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "runtime/symbols/builder.h"
#include "runtime/symbols/debug_files.h"
#include "runtime/symbols/inflate.h"

struct module {
    const struct wi_extract_request *request;
    const struct wi_extract_limits *limits;
    struct wi_builder builder;
    struct wi_elf *elf;   /* the mapped file, or NULL */
    const char *elf_path; /* where it was read */
    struct wi_elf *debug; /* its debug file, or NULL */
    struct wi_debug_wanted wanted;
    uint8_t build_id[WI_BUILD_ID_MAX];
    char debug_path[PATH_MAX], alt_path[PATH_MAX];
};

const struct wi_reader *const wi_readers[] = {&wi_elfin_reader, &wi_libdw_reader, NULL};

/* ---- the mapped file --------------------------------------------------------------------------------- */

/* The kernel maps the same vdso into us. It ends with its table of sections. */
static int open_vdso(struct wi_elf **out)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    if (!header || header->e_shoff > 1 << 20)
        return -ENOENT;
    return wi_elf_open_memory(header, header->e_shoff + (size_t)header->e_shnum * header->e_shentsize, out);
}

/* Below /proc/PID a file can be read as long as the process lives; then its name may still do (check_identity()
 * knows whether it is the same). */
static int open_module(struct module *module)
{
    const struct wi_extract_request *request = module->request;
    module->elf_path = request->open_path;
    if (strcmp(request->path, "[vdso]") == 0)
        return open_vdso(&module->elf);
    int error = wi_elf_open(request->open_path, &module->elf);
    if (error == 0 || error == -ENOEXEC || strcmp(request->open_path, request->path) == 0)
        return error;
    module->elf_path = request->path;
    return wi_elf_open(request->path, &module->elf) == 0 ? 0 : error;
}

/* A file that was replaced since it was mapped has other code at the same addresses. */
static void check_identity(struct module *module)
{
    const struct wi_extract_request *request = module->request;
    module->wanted.build_id_length = wi_elf_build_id(module->elf, module->build_id);
    if (request->build_id_length == 0 || module->wanted.build_id_length == 0)
        return;
    if (request->build_id_length == module->wanted.build_id_length &&
        memcmp(request->build_id, module->build_id, request->build_id_length) == 0)
        return;
    wi_elf_close(module->elf);
    module->elf = NULL;
    wi_builder_notice(&module->builder, "module-changed",
                      "%s is not the file that the program has mapped (it was rebuilt or updated meanwhile); "
                      "restart the program",
                      request->path);
}

static void open_or_say(struct module *module)
{
    int error = open_module(module);
    if (error == 0)
        check_identity(module);
    else
        wi_builder_notice(&module->builder, "module-unreadable", "%s cannot be read: %s",
                          module->request->path,
                          error == -ENOEXEC ? "not a sound ELF file" : strerror(-error));
    if (module->elf)
        return;
    size_t length = module->request->build_id_length;
    module->wanted.build_id_length = length < WI_BUILD_ID_MAX ? length : 0;
    memcpy(module->build_id, module->request->build_id, module->wanted.build_id_length);
}

static int by_low(const void *a, const void *b)
{
    const struct wi_span *left = a, *right = b;
    return (left->low > right->low) - (left->low < right->low);
}

static void map_code(struct wi_elf *elf, struct wi_code_map *code)
{
    code->n = elf ? wi_elf_code(elf, code->spans, sizeof code->spans / sizeof *code->spans) : 0;
    qsort(code->spans, code->n, sizeof *code->spans, by_low);
    code->base = code->n ? code->spans[0].low : 0;
    while (code->n > 0 && code->spans[code->n - 1].high - code->base >= UINT32_MAX)
        code->n--; /* addresses of an index are 32 bits wide */
}

/* ---- the debug file ---------------------------------------------------------------------------------- */

static bool has_dwarf(struct wi_elf *elf)
{
    return elf && (wi_elf_has_section(elf, ".debug_info") || wi_elf_has_section(elf, ".zdebug_info"));
}

static void find_debug_file(struct module *module)
{
    struct wi_debug_wanted *wanted = &module->wanted;
    wanted->path = module->elf_path;
    wanted->real_path = module->request->path;
    wanted->build_id = module->build_id;
    if (module->elf)
        wi_debug_link(module->elf, wanted);
    bool whole = has_dwarf(module->elf) && wi_elf_has_section(module->elf, ".symtab");
    if (whole || (wanted->build_id_length == 0 && !wanted->link[0]))
        return;
    if (wi_debug_find(wanted, module->debug_path, &module->debug) == -ESTALE && !has_dwarf(module->elf))
        wi_builder_notice(&module->builder, "debug-file-mismatch",
                          "the debug file of %s is of another build; install the one that matches",
                          module->request->path);
}

/* ---- symbols ----------------------------------------------------------------------------------------- */

static void add_symbol(const struct wi_elf_symbol *symbol, void *context)
{
    wi_builder_symbol(context, symbol);
}

static size_t read_mini_debuginfo(struct module *module)
{
    struct wi_bytes packed = wi_elf_section(module->elf, ".gnu_debugdata");
    struct wi_elf *inner = NULL;
    size_t size, n = 0;
    uint8_t *image = packed.data ? wi_inflate_xz(packed, &size) : NULL;
    if (image && wi_elf_open_memory(image, size, &inner) == 0)
        n = wi_elf_symbols(inner, false, add_symbol, &module->builder);
    wi_elf_close(inner);
    free(image);
    return n;
}

static void read_symbols(struct module *module)
{
    size_t n = 0;
    if (module->elf)
        n = wi_elf_symbols(module->elf, false, add_symbol, &module->builder);
    if (n == 0 && module->debug)
        n = wi_elf_symbols(module->debug, false, add_symbol, &module->builder);
    if (n > 0 || !module->elf)
        return;
    n = read_mini_debuginfo(module);
    n += wi_elf_symbols(module->elf, true, add_symbol, &module->builder);
    if (n == 0 && module->request->want_lines)
        wi_builder_notice(&module->builder, "no-symbols",
                          "%s has no symbols at all: its code cannot be named; do not strip it",
                          module->request->path);
}

/* ---- debug information ------------------------------------------------------------------------------- */

static void say_no_debug_info(struct module *module)
{
    const char *path = module->request->path;
    if (module->wanted.link[0])
        wi_builder_notice(
            &module->builder, "no-debug-info",
            "%s has its debug information in %s, which was not found: only its functions are known; "
            "install its debug package, or put that file beside it",
            path, module->wanted.link);
    else
        wi_builder_notice(&module->builder, "no-debug-info",
                          "%s has no debug information: only its functions are known; compile it with -g, or "
                          "install its debug package",
                          path);
}

static const char *find_alt(struct module *module, struct wi_elf *dwarf, const char *path)
{
    int error = wi_debug_find_alt(dwarf, &module->wanted, path, module->alt_path);
    if (error == -ENOENT)
        wi_builder_notice(
            &module->builder, "debug-alt-missing",
            "part of the debug information of %s is in %s, which was not found; install its debug "
            "package",
            module->request->path, module->alt_path);
    return error == 0 ? module->alt_path : NULL;
}

static void say_skipped(struct module *module)
{
    struct wi_builder *builder = &module->builder;
    for (uint64_t i = 0, n = builder->n_abandoned + builder->n_damaged; i < n; i++)
        wi_builder_notice(
            builder, "dwarf-skipped-units",
            "%s: debug information of some source files is damaged or of an unknown kind, and was left "
            "out",
            module->request->path);
    for (uint64_t i = 0, n = builder->n_late + builder->full; i < n; i++)
        wi_builder_notice(builder, "dwarf-too-large",
                          "%s: debug information was only read in part, since there is too much of it",
                          module->request->path);
}

static void read_debug_info(struct module *module)
{
    struct wi_builder *builder = &module->builder;
    bool own = has_dwarf(module->elf);
    struct wi_elf *dwarf = own ? module->elf : has_dwarf(module->debug) ? module->debug : NULL;
    if (!dwarf) {
        if (module->elf && module->request->path[0] != '[') /* nobody can install that of "[vdso]" */
            say_no_debug_info(module);
        return;
    }
    struct wi_reader_input input = {dwarf, own ? module->elf_path : module->debug_path, NULL};
    input.alt_path = find_alt(module, dwarf, input.path);
    for (uint32_t i = module->limits->first_reader; wi_readers[i]; i++) {
        if (builder->progress)
            atomic_store(&builder->progress->reader, i + 1);
        builder->n_abandoned = 0;
        int error = wi_readers[i]->read(&input, builder);
        if (error == 0 && builder->n_abandoned == 0)
            break;
        if (error != 0 && !wi_readers[i + 1])
            builder->n_abandoned++;
    }
    say_skipped(module);
}

/* ---- all of it --------------------------------------------------------------------------------------- */

static void set_limits(struct module *module, struct wi_progress *progress)
{
    struct wi_builder *builder = &module->builder;
    builder->progress = progress;
    builder->n_bad_units = module->limits->n_bad_units;
    memcpy(builder->bad_units, module->limits->bad_units, sizeof module->limits->bad_units);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (module->limits->seconds)
        builder->deadline_ns = (uint64_t)(now.tv_sec + module->limits->seconds) * 1000000000u;
}

int wi_extract_here(const struct wi_extract_request *request, const struct wi_extract_limits *limits,
                    struct wi_progress *progress, struct wi_index_header **out)
{
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return -ENOMEM;
    module->request = request;
    module->limits = limits;
    wi_builder_init(&module->builder, &(struct wi_code_map){.n = 0});
    open_or_say(module);
    find_debug_file(module);
    map_code(module->elf ? module->elf : module->debug, &module->builder.code);
    set_limits(module, progress);
    read_symbols(module);
    if (request->want_lines)
        read_debug_info(module);
    int error = wi_builder_finish(&module->builder, out);
    wi_builder_fini(&module->builder);
    wi_elf_close(module->debug);
    wi_elf_close(module->elf);
    free(module);
    return error;
}
