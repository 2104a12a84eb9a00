/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Experiments and tallies: from records to sums.
 *
 * A block is the profile's block as far as it concerns one unit, so that estimates of a unit see only what was
 * measured on it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/model_internal.h"

#define MAX_REASONS 32

/* ---- experiments --------------------------------------------------------------------------------------------------- */

static void count_invalid(struct wi_model *model, struct wi_model_unit *unit, const char *why)
{
    unit->invalid++;
    why = why != NULL && why[0] != '\0' ? why : "no reason given";
    uint32_t i = 0;
    while (i < model->n_invalid && strcmp(model->invalid[i].why, why) != 0)
        i++;
    if (i == MAX_REASONS)
        i--; /* a hostile file: the last one stands for the rest */
    if (i == model->n_invalid) {
        char *text = wi_model_copy(model, why);
        struct wi_model_invalid *entry =
            text != NULL ? wi_model_append(model, &model->invalid, &model->n_invalid, sizeof *entry) : NULL;
        if (entry == NULL) {
            free(text);
            return;
        }
        entry->why = text;
    }
    model->invalid[i].experiments++;
}

static bool knows_speedup(struct wi_model *model, struct wi_model_unit *unit, double speedup_percent)
{
    for (uint32_t i = 0; i < unit->n_speedups; i++)
        if (unit->speedups[i] == speedup_percent)
            return true;
    if (unit->n_speedups == WI_MODEL_MAX_SPEEDUPS) {
        model->left_out++;
        return false;
    }
    unit->speedups[unit->n_speedups++] = speedup_percent;
    return true;
}

static struct wi_block *find_block(struct wi_model *model, uint32_t unit_index, uint32_t number)
{
    struct wi_model_unit *unit = &model->units[unit_index];
    uint32_t profile = model->n_profiles - 1;
    uint64_t key = wi_map_hash_number((uint64_t)unit_index << 32 | profile) + number;
    uint64_t hash = wi_map_hash_number(key); /* shared by two blocks with probability 2^-64 a pair */
    uint32_t index = wi_map_find(&model->block_keys, hash, NULL, NULL);
    if (index != WI_NONE)
        return &unit->blocks[index];
    struct wi_block *block = wi_model_append(model, &unit->blocks, &unit->n_blocks, sizeof *block);
    if (block == NULL)
        return NULL;
    block->profile = profile;
    block->number = number;
    wi_model_map(model, &model->block_keys, hash, unit->n_blocks - 1);
    return block;
}

static struct wi_arm *find_arm(struct wi_model *model, struct wi_block *block, enum wi_experiment_kind kind,
                               double speedup_percent)
{
    for (uint32_t i = 0; i < block->n_arms; i++)
        if (block->arms[i].kind == kind && block->arms[i].speedup_percent == speedup_percent)
            return &block->arms[i];
    struct wi_arm *arm = wi_model_append(model, &block->arms, &block->n_arms, sizeof *arm);
    if (arm != NULL) {
        arm->kind = kind;
        arm->speedup_percent = speedup_percent;
    }
    return arm;
}

static struct wi_point_sum *arm_point(struct wi_model *model, struct wi_arm *arm, uint32_t point)
{
    if (point < arm->n_points)
        return &arm->points[point];
    struct wi_point_sum *grown = realloc(arm->points, model->n_points * sizeof *grown);
    if (grown == NULL) {
        wi_model_run_out(model);
        return NULL;
    }
    memset(grown + arm->n_points, 0, (model->n_points - arm->n_points) * sizeof *grown);
    arm->points = grown;
    arm->n_points = model->n_points;
    return &arm->points[point];
}

struct wi_point_sum wi_arm_point(const struct wi_arm *arm, uint32_t point)
{
    return point < arm->n_points ? arm->points[point] : (struct wi_point_sum){0};
}

static void add_histogram(struct wi_model_point *point, const struct wi_point_count *count)
{
    for (size_t i = 0; i < count->n_histogram; i++)
        if (count->histogram[i * 2] < WI_LATENCY_BUCKETS)
            point->histogram[count->histogram[i * 2]] += count->histogram[i * 2 + 1];
}

static void add_count(struct wi_model *model, struct wi_arm *arm, const struct wi_point_count *count)
{
    uint32_t index = wi_model_point_of(model, count->point);
    struct wi_point_sum *sum = index != WI_NONE ? arm_point(model, arm, index) : NULL;
    if (sum == NULL)
        return;
    struct wi_model_point *point = model->points[index];
    bool none = count->visits == 0;
    sum->visits += (double)count->visits;
    sum->in_flight_ns += fmax(count->in_flight_ns, 0);
    sum->matched += (double)count->matched;
    sum->matched_sum_ns += fmax(count->matched_sum_ns, 0);
    sum->experiments++;
    sum->without_visits += none;
    point->visits += (double)count->visits;
    point->experiments++;
    point->without_visits += none;
    if (arm->kind == WI_EXPERIMENT_BASELINE)
        add_histogram(point, count);
}

static void add_valid(struct wi_model *model, uint32_t unit_index, const struct wi_record_experiment *record)
{
    double speedup = record->kind == WI_EXPERIMENT_BASELINE ? 0 : round(record->speedup_percent * 100) / 100;
    struct wi_model_unit *unit = &model->units[unit_index];
    enum wi_experiment_kind kind = record->kind;
    if (kind == WI_EXPERIMENT_TREATMENT && speedup == 0)
        kind = WI_EXPERIMENT_BASELINE;
    if (kind != WI_EXPERIMENT_BASELINE && !knows_speedup(model, unit, speedup))
        return;
    struct wi_block *block = find_block(model, unit_index, record->block);
    struct wi_arm *arm = block != NULL ? find_arm(model, block, kind, speedup) : NULL;
    if (arm == NULL)
        return;
    double effective_ns = (double)(record->end_ns - record->start_ns - record->delay_ns);
    arm->experiments++;
    arm->effective_ns += effective_ns;
    arm->delay_ns += (double)record->delay_ns;
    arm->pauses += (double)record->pauses;
    arm->paused_ns += (double)record->paused_ns;
    for (size_t i = 0; i < record->n_points; i++)
        add_count(model, arm, &record->points[i]);
    unit->experiments++;
    model->valid++;
    model->effective_ns += effective_ns;
    model->delay_ns += (double)record->delay_ns;
    model->paused_ns += (double)record->paused_ns;
    model->absorbed_ns += (double)record->absorbed_ns;
    model->guessed_ns += (double)record->guessed_ns;
}

void wi_model_add_experiment(struct wi_model *model, const struct wi_record_experiment *record)
{
    uint32_t unit = wi_model_unit_of(model, record->unit);
    if (unit == WI_NONE)
        return;
    wi_model_mention_time(model, record->end_ns);
    model->experiments++;
    if (record->noise >= 0) {
        model->noise_sum += record->noise;
        model->noise_n++;
    }
    if (!record->valid)
        count_invalid(model, &model->units[unit], record->invalid_because);
    else if (record->end_ns <= record->start_ns || record->delay_ns >= record->end_ns - record->start_ns)
        count_invalid(model, &model->units[unit], "no effective time");
    else
        add_valid(model, unit, record);
}

/* ---- tallies ---------------------------------------------------------------------------------------------- */

static void add_unit_tally(struct wi_model *model, const struct wi_unit_tally *tally, uint64_t wall_ns)
{
    uint32_t index = wi_model_unit_of(model, tally->unit);
    if (index == WI_NONE)
        return;
    struct wi_model_unit *unit = &model->units[index];
    if (unit->tally_profile == model->n_profiles - 1) {
        unit->samples -= unit->tally_samples;
        unit->time_ns -= unit->tally_time_ns;
        unit->inside_ns -= unit->tally_inside_ns;
        unit->wall_ns -= unit->tally_wall_ns;
    }
    unit->tally_profile = model->n_profiles - 1;
    unit->samples += unit->tally_samples = (double)tally->samples;
    unit->time_ns += unit->tally_time_ns = (double)tally->time_ns;
    unit->inside_ns += unit->tally_inside_ns = (double)tally->inside_ns;
    unit->wall_ns += unit->tally_wall_ns = (double)wall_ns;
}

void wi_model_add_tally(struct wi_model *model, const struct wi_record_tally *record)
{
    struct wi_model_profile *profile = wi_model_current(model);
    if (profile == NULL)
        return;
    wi_model_mention_time(model, record->time_ns);
    profile->tally = *record;
    profile->tally.units = NULL;
    profile->tally.n_units = 0;
    for (size_t i = 0; i < record->n_units; i++)
        add_unit_tally(model, &record->units[i], record->time_ns);
}
