/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target has loaded: each module is named to the symbols, its unwind table compiled and published, and the
 * scope published anew when a module that may hold code in scope has come.
 */
#include "runtime/control/state.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the module's file can be read: at its path if that is still the same file, else through a process that has it
 * (another mount namespace, a replaced or deleted file). */
static void find_file(const struct wi_session_module *module, char *path, size_t size)
{
    struct stat status;
    snprintf(path, size, "%s", module->path);
    if (stat(path, &status) == 0 && status.st_dev == module->device && status.st_ino == module->inode)
        return;
    char other[64 + sizeof module->path];
    if (module->is_main)
        snprintf(other, sizeof other, "/proc/%u/exe", module->pid);
    else
        snprintf(other, sizeof other, "/proc/%u/root%s", module->pid, module->path);
    if (stat(other, &status) == 0 && status.st_ino == module->inode)
        snprintf(path, size, "%s", other);
}

static const char *const detail_names[] = {
    [WI_DETAIL_LINES] = "lines",
    [WI_DETAIL_FUNCTIONS] = "functions",
    [WI_DETAIL_NONE] = "none",
    [WI_DETAIL_UNREAD] = "unread",
};

static void write_down(struct wi_controller *controller, uint32_t index,
                       const struct wi_session_module *module)
{
    char build_id[2 * sizeof module->build_id + 1] = "";
    for (uint32_t i = 0; i < module->build_id_length && i < sizeof module->build_id; i++)
        snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
    struct wi_record_module record = {
        .id = index,
        .path = module->path,
        .build_id = build_id,
        .is_main = module->is_main,
        .detail = detail_names[wi_symbols_detail(controller->symbols, index)],
    };
    wi_profile_write_module(controller->writer, &record);
}

static bool take_up(struct wi_controller *controller, uint32_t index)
{
    const struct wi_session_module *module = &controller->session->modules[index];
    char file[96 + sizeof module->path];
    find_file(module, file, sizeof file);
    struct wi_module_source source = {
        .index = index,
        .path = module->path,
        .open_path = file,
        .build_id = module->build_id,
        .build_id_length = module->build_id_length,
        .is_main = module->is_main,
    };
    wi_symbols_add_module(controller->symbols, &source);
    wi_publish_unwind_table(&controller->publisher, index, file); /* without one, frame pointers have to do */
    return wi_symbols_module_in_scope(controller->symbols, index);
}

bool wi_modules_take_up(struct wi_controller *controller)
{
    uint32_t first = controller->modules_known;
    uint32_t high = atomic_load_explicit(&controller->session->modules_high, memory_order_acquire);
    bool scope_grew = false;
    for (; controller->modules_known < high; controller->modules_known++) {
        const struct wi_session_module *module = &controller->session->modules[controller->modules_known];
        if (atomic_load_explicit(&module->state, memory_order_acquire) != 2)
            break;
        scope_grew |= take_up(controller, controller->modules_known);
    }
    if (scope_grew) {
        struct wi_range_list scope;
        if (wi_symbols_scope_ranges(controller->symbols, &scope) == 0) {
            wi_publish_scope(&controller->publisher, &scope);
            wi_range_list_fini(&scope);
        }
    }
    for (uint32_t index = first; index < controller->modules_known; index++)
        write_down(controller, index, &controller->session->modules[index]);
    return controller->modules_known > first;
}
