/* SPDX-License-Identifier: BSD-2-Clause */
/* Which figures an export shows, and a unit's impact as one number: see internal.h. */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/export/internal.h"

bool wi_export_wants_point(const struct wi_export *export, uint32_t point)
{
    const char *pattern = export->options->point;
    const char *name = export->model->points[point]->name;
    return pattern == NULL || strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

const struct wi_point_estimate *wi_export_point(const struct wi_export *export, uint32_t point)
{
    for (uint32_t i = 0; i < export->estimate.n_points; i++)
        if (export->estimate.points[i].point == point)
            return &export->estimate.points[i];
    return NULL;
}

double wi_export_impact(const struct wi_unit_estimate *unit)
{
    const struct wi_gains *gains = &unit->gains;
    if (!gains->has_curve)
        return NAN;
    double harm = 0;
    for (uint32_t i = 0; i < gains->n; i++)
        if (gains->at[i].in_fit && gains->at[i].fitted < harm)
            harm = gains->at[i].fitted;
    return 100 * (gains->max > 0 ? gains->max : harm);
}

const struct wi_gain *wi_export_gain_at(const struct wi_unit_estimate *unit, double speedup_percent)
{
    for (uint32_t i = 0; i < unit->gains.n; i++)
        if (fabs(unit->gains.at[i].speedup_percent - speedup_percent) < 0.01)
            return &unit->gains.at[i];
    return NULL;
}

const char *wi_export_base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash != NULL && slash[1] != '\0')
        return slash + 1;
    return path != NULL && path[0] != '\0' ? path : "program";
}

const char *wi_export_program(const struct wi_model *model)
{
    if (model->n_profiles == 0 || model->profiles[0].words == NULL)
        return "program";
    return wi_export_base_name(model->profiles[0].words[0]);
}

static uint64_t function_key(const struct wi_model *model, const struct wi_model_unit *unit)
{
    uint64_t seed = wi_map_hash_text(unit->file != NULL ? unit->file : "", model->hash_seed);
    return wi_map_hash_text(unit->function != NULL ? unit->function : "", seed);
}

static bool is_kind(const struct wi_model_unit *unit, const char *kind)
{
    return strcmp(unit->kind, kind) == 0;
}

/* Each key once: entries of one hash would make the map slow. Two functions of one hash would cost a row, no more. */
static int note_function(struct wi_map *functions, uint64_t key)
{
    return wi_map_find(functions, key, NULL, NULL) != WI_NONE ? 0 : wi_map_add(functions, key, 0);
}

struct wi_impact *wi_export_impacts(const struct wi_export *export, const struct wi_point_estimate *point,
                                    uint32_t *n)
{
    const struct wi_model *model = export->model;
    struct wi_impact *impacts = calloc((size_t)point->n_units + 1, sizeof *impacts);
    struct wi_map with_lines = {0};
    *n = 0;
    for (uint32_t i = 0; i < point->n_units && impacts != NULL; i++) {
        const struct wi_model_unit *unit = &model->units[point->units[i].unit];
        if (is_kind(unit, "line") && point->units[i].gains.has_curve &&
            note_function(&with_lines, function_key(model, unit)) != 0) {
            free(impacts);
            impacts = NULL;
        }
    }
    for (uint32_t i = 0; i < point->n_units && impacts != NULL; i++) {
        const struct wi_model_unit *unit = &model->units[point->units[i].unit];
        bool shown = is_kind(unit, "line") ||
                     (is_kind(unit, "function") &&
                      wi_map_find(&with_lines, function_key(model, unit), NULL, NULL) == WI_NONE);
        double percent = wi_export_impact(&point->units[i]);
        if (shown && !isnan(percent))
            impacts[(*n)++] = (struct wi_impact){&point->units[i], percent};
    }
    wi_map_clear(&with_lines);
    return impacts;
}
