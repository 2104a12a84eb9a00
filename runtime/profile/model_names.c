/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points and units: from names to their place in the model, which lasts as long as the model does, and from a
 * profile's identifiers to the same, which lasts as long as the profile.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/model_internal.h"

static char *copy_or_null(struct wi_model *model, const char *text)
{
    return text != NULL ? wi_model_copy(model, text) : NULL;
}

struct wanted {
    const struct wi_model *model;
    const char *name;
    enum wi_point_kind kind;
};

static bool same_point(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    const struct wi_model_point *point = wanted->model->points[value];
    return point->kind == wanted->kind && strcmp(point->name, wanted->name) == 0;
}

static bool same_unit(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    return strcmp(wanted->model->units[value].name, wanted->name) == 0;
}

static uint32_t new_point(struct wi_model *model, const struct wi_record_point *record)
{
    if (model->n_points == WI_MODEL_MAX_POINTS) {
        model->left_out++;
        return WI_NONE;
    }
    struct wi_model_point *point = calloc(1, sizeof *point);
    char *name = wi_model_copy(model, record->name);
    struct wi_model_point **place =
        point != NULL && name != NULL
            ? wi_model_append(model, &model->points, &model->n_points, sizeof *place)
            : NULL;
    if (place == NULL) {
        wi_model_run_out(model);
        free(name);
        free(point);
        return WI_NONE;
    }
    point->name = name;
    point->kind = record->kind;
    *place = point;
    return model->n_points - 1;
}

void wi_model_add_point(struct wi_model *model, const struct wi_record_point *record)
{
    if (wi_model_current(model) == NULL)
        return;
    struct wanted wanted = {model, record->name, record->kind};
    uint64_t hash = wi_map_hash_text(record->name, model->hash_seed);
    uint32_t point = wi_map_find(&model->point_names, hash, same_point, &wanted);
    if (point == WI_NONE) {
        point = new_point(model, record);
        if (point == WI_NONE)
            return;
        wi_model_map(model, &model->point_names, hash, point);
    }
    wi_model_map(model, &model->point_ids, wi_map_hash_number(record->id), point);
}

static uint32_t new_unit(struct wi_model *model, const struct wi_record_unit *record)
{
    char *name = wi_model_copy(model, record->name);
    struct wi_model_unit *unit =
        name != NULL ? wi_model_append(model, &model->units, &model->n_units, sizeof *unit) : NULL;
    if (unit == NULL) {
        free(name);
        return WI_NONE;
    }
    unit->name = name;
    unit->kind = wi_model_copy(model, record->kind);
    unit->file = copy_or_null(model, record->file);
    unit->function = copy_or_null(model, record->function);
    unit->line = record->line;
    unit->function_line = record->function_line;
    unit->tally_profile = WI_NONE;
    return model->n_units - 1;
}

void wi_model_add_unit(struct wi_model *model, const struct wi_record_unit *record)
{
    if (wi_model_current(model) == NULL)
        return;
    struct wanted wanted = {model, record->name, WI_POINT_THROUGHPUT};
    uint64_t hash = wi_map_hash_text(record->name, model->hash_seed);
    uint32_t unit = wi_map_find(&model->unit_names, hash, same_unit, &wanted);
    if (unit == WI_NONE) {
        unit = new_unit(model, record);
        if (unit == WI_NONE)
            return;
        wi_model_map(model, &model->unit_names, hash, unit);
    }
    wi_model_map(model, &model->unit_ids, wi_map_hash_number(record->id), unit);
}

uint32_t wi_model_unit_of(const struct wi_model *model, uint32_t id)
{
    return wi_map_find(&model->unit_ids, wi_map_hash_number(id), NULL, NULL);
}

uint32_t wi_model_point_of(const struct wi_model *model, uint32_t id)
{
    return wi_map_find(&model->point_ids, wi_map_hash_number(id), NULL, NULL);
}
