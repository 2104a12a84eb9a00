/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finding the process's modules.
 *
 * dl_iterate_phdr names each loaded object, its load bias and its segments; the build-id is read from its note in
 * memory. The session's table is searched for the same file first: processes of one program share their entries.
 * A change is built in the spare table of wi_mappings and then switched to.
 */
#include "runtime/agent/modules.h"
#include "runtime/agent/signal/account.h"
#include "runtime/agent/signal/mappings.h"
#include "runtime/session/session.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct candidate { /* a module as this process sees it */
    char path[sizeof((struct wi_session_module *)0)->path];
    uint64_t device;
    uint64_t inode;
    uint8_t build_id[20];
    uint32_t build_id_length;
    bool is_main;
};

static void find_build_id(const struct dl_phdr_info *info, struct candidate *out)
{
    out->build_id_length = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        const char *at = (const char *)info->dlpi_addr + segment->p_vaddr;
        size_t left = segment->p_memsz;
        while (left >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            size_t name = ((size_t)note->n_namesz + 3) & ~(size_t)3,
                   content = ((size_t)note->n_descsz + 3) & ~(size_t)3;
            if (name + content + sizeof *note > left)
                break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0 &&
                note->n_descsz <= sizeof out->build_id) {
                memcpy(out->build_id, (const char *)(note + 1) + name, note->n_descsz);
                out->build_id_length = note->n_descsz;
                return;
            }
            at += sizeof *note + name + content;
            left -= sizeof *note + name + content;
        }
    }
}

static void identify(const struct dl_phdr_info *info, bool is_main, struct candidate *out)
{
    memset(out, 0, sizeof *out);
    out->is_main = is_main;
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    struct stat status;
    bool known;
    if (is_main) {
        ssize_t n = readlink("/proc/self/exe", out->path, sizeof out->path - 1);
        out->path[n > 0 ? n : 0] = '\0';
        known = stat("/proc/self/exe", &status) == 0;
    } else {
        size_t n = strnlen(name, sizeof out->path - 1);
        memcpy(out->path, name, n);
        known = name[0] == '/' && stat(name, &status) == 0;
    }
    if (known) {
        out->device = status.st_dev;
        out->inode = status.st_ino;
    }
    find_build_id(info, out);
}

static bool is_same(const struct wi_session_module *module, const struct candidate *candidate)
{
    if (module->is_main != candidate->is_main)
        return false; /* ld.so run as a program, say */
    if (module->inode != candidate->inode || module->device != candidate->device)
        return false;
    if (module->build_id_length != candidate->build_id_length ||
        memcmp(module->build_id, candidate->build_id, candidate->build_id_length) != 0)
        return false;
    return candidate->inode != 0 || strcmp(module->path, candidate->path) == 0;
}

/* The module's number in the session, entering it if it is new. WI_MAX_MODULES if the table is full. Two processes
 * that start at once may both enter the same file; then it has two numbers, which costs a table and no truth. */
static uint32_t enter(const struct candidate *candidate)
{
    for (uint32_t i = 0; i < WI_MAX_MODULES; i++) {
        struct wi_session_module *module = &wi_session->modules[i];
        uint32_t state = atomic_load_explicit(&module->state, memory_order_acquire);
        if (state == 2 && is_same(module, candidate))
            return i;
        if (state != 0 || !atomic_compare_exchange_strong(&module->state, &state, 1))
            continue;
        module->is_main = candidate->is_main;
        module->device = candidate->device;
        module->inode = candidate->inode;
        memcpy(module->build_id, candidate->build_id, sizeof module->build_id);
        module->build_id_length = candidate->build_id_length;
        module->pid = (uint32_t)getpid();
        memcpy(module->path, candidate->path, sizeof module->path);
        atomic_store_explicit(&module->state, 2, memory_order_release);
        uint32_t high = atomic_load(&wi_session->modules_high);
        while (high < i + 1 && !atomic_compare_exchange_weak(&wi_session->modules_high, &high, i + 1))
            ;
        return i;
    }
    atomic_fetch_add(&wi_session->overflow.modules, 1);
    return WI_MAX_MODULES;
}

struct collection {
    struct wi_mapping *rows;
    uint32_t n;
    uint32_t seen;
};

static void insert(struct collection *into, struct wi_mapping mapping)
{
    if (into->n == WI_MAX_MAPPINGS)
        return;
    uint32_t at = into->n++;
    for (; at > 0 && into->rows[at - 1].low > mapping.low; at--)
        into->rows[at] = into->rows[at - 1];
    into->rows[at] = mapping;
}

static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct collection *into = context;
    static struct candidate candidate; /* the refresh lock guards it; the stack may be small */
    identify(info, into->seen++ == 0, &candidate);
    uint32_t module = enter(&candidate);
    if (module == WI_MAX_MODULES)
        return 0;
    if (candidate.is_main)
        atomic_store(&wi_session->processes[wi_self.process_index].main_module, module);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        uintptr_t low = info->dlpi_addr + segment->p_vaddr;
        insert(into, (struct wi_mapping){low, low + segment->p_memsz, info->dlpi_addr, module});
    }
    return 0;
}

void wi_modules_refresh(void)
{
    static atomic_flag running = ATOMIC_FLAG_INIT;
    if (!wi_session || atomic_flag_test_and_set(&running))
        return; /* the other thread's look may miss ours; the next change brings it */
    int saved = errno;
    uint32_t next = atomic_load(&wi_mappings.generation) + 1;
    struct collection into = {wi_mappings.tables[next % 2].rows, 0, 0};
    dl_iterate_phdr(collect, &into);
    wi_mappings.tables[next % 2].n = into.n;
    atomic_store_explicit(&wi_mappings.generation, next, memory_order_release);
    errno = saved;
    atomic_flag_clear(&running);
}

void wi_modules_refresh_if_stale(void)
{
    if (atomic_exchange_explicit(&wi_mappings.stale, false, memory_order_relaxed))
        wi_modules_refresh();
}
