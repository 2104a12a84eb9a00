/* SPDX-License-Identifier: BSD-2-Clause */
/* The units that a run knows. See units.h. */
#include "runtime/control/units.h"
#include <stdlib.h>
#include <string.h>

#define MOST_PERIODS                                                                                         \
    20 /* between two samples of a thread that runs or is ready to: more is a gap in sampling */

static const char *const kind_names[] = {
    [WI_UNIT_LINE] = "line",
    [WI_UNIT_FUNCTION] = "function",
    [WI_UNIT_CALLPATH] = "callpath",
};

void wi_units_init(struct wi_units *units, struct wi_profile_writer *writer, struct wi_model *model)
{
    *units = (struct wi_units){.writer = writer, .model = model};
}

void wi_units_fini(struct wi_units *units)
{
    for (size_t i = 0; i < units->n; i++)
        free(units->all[i].name);
    free(units->all);
    wi_table_fini(&units->by_name);
}

static void write_down(struct wi_units *units, const struct wi_unit *unit, const struct wi_frame *about)
{
    struct wi_record_unit record = {.id = unit->id, .name = unit->name, .kind = kind_names[unit->kind]};
    if (about) {
        record.file = about->file;
        record.line = unit->kind == WI_UNIT_FUNCTION ? about->function_line : about->line;
        record.function = about->function;
        record.function_line = about->function_line;
    }
    wi_profile_write_unit(units->writer, &record);
    wi_model_add_unit(units->model, &record);
}

uint32_t wi_units_enter(struct wi_units *units, enum wi_unit_kind kind, const char *name,
                        const struct wi_frame *about)
{
    uint64_t key = wi_table_hash(name);
    uint32_t id = wi_table_get(&units->by_name, key, kind);
    if (id != WI_TABLE_ABSENT)
        return id;
    if (units->n == units->capacity) {
        size_t capacity = units->capacity ? units->capacity * 2 : 64;
        struct wi_unit *all = realloc(units->all, capacity * sizeof *all);
        if (!all)
            return WI_NONE;
        units->all = all;
        units->capacity = capacity;
    }
    struct wi_unit unit = {.id = (uint32_t)units->n, .kind = kind, .name = strdup(name), .function = WI_NONE};
    if (!unit.name || wi_table_put(&units->by_name, key, kind, unit.id) != 0) {
        free(unit.name);
        return WI_NONE;
    }
    units->all[units->n++] = unit;
    write_down(units, &unit, about);
    return unit.id;
}

void wi_units_count(struct wi_units *units, uint32_t id, uint64_t time_ns, uint64_t weight_ns,
                    uint64_t ran_ns)
{
    if (id >= units->n)
        return;
    struct wi_unit *unit = &units->all[id];
    unit->samples++;
    unit->time_ns += weight_ns;
    uint64_t inside_ns = ran_ns > weight_ns && ran_ns < MOST_PERIODS * weight_ns ? ran_ns : weight_ns;
    uint64_t from = time_ns > inside_ns ? time_ns - inside_ns : 0;
    if (from < unit->covered_until_ns)
        from = unit->covered_until_ns;
    if (time_ns > from) {
        unit->inside_ns += time_ns - from;
        unit->covered_until_ns = time_ns;
    }
}
