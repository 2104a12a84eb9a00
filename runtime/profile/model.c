/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records to sums: see model.h.
 *
 * Names lead to units and points through a map that lives as long as the model; identifiers through maps that a
 * header empties. A block is the profile's block as far as it concerns one unit, so that estimates of a unit
 * see only what was measured on it.
 */
#include "runtime/profile/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTICES 1000
#define MAX_REASONS 32

static void run_out(struct wi_model *model)
{
    if (model->error == 0)
        model->error = -ENOMEM;
}

static char *copy(struct wi_model *model, const char *text)
{
    char *result = strdup(text != NULL ? text : "");
    if (result == NULL)
        run_out(model);
    return result;
}

static char *copy_or_null(struct wi_model *model, const char *text)
{
    return text != NULL ? copy(model, text) : NULL;
}

/* Room for one more entry of `size` bytes in an array that doubles; `array` is the address of its pointer, of
 * whatever type, hence the copying. Returns the zeroed entry or NULL. */
static void *append(struct wi_model *model, void *array, uint32_t *n, size_t size)
{
    char *entries;
    memcpy(&entries, array, sizeof entries);
    if ((*n & (*n - 1)) == 0) {
        entries = realloc(entries, (*n == 0 ? 1 : (size_t)*n * 2) * size);
        if (entries == NULL) {
            run_out(model);
            return NULL;
        }
        memcpy(array, &entries, sizeof entries);
    }
    return memset(entries + (*n)++ * size, 0, size);
}

/* ---- profiles --------------------------------------------------------------------------------------------------- */

static void forget_identifiers(struct wi_model *model)
{
    wi_map_clear(&model->unit_ids);
    wi_map_clear(&model->point_ids);
}

static struct wi_model_profile *add_profile(struct wi_model *model)
{
    forget_identifiers(model);
    struct wi_model_profile *profile = append(model, &model->profiles, &model->n_profiles, sizeof *profile);
    if (profile != NULL)
        profile->exit_status = -1;
    return profile;
}

/* Records that come without a header belong to a profile all the same. */
static struct wi_model_profile *current(struct wi_model *model)
{
    if (model->n_profiles == 0)
        return add_profile(model);
    return &model->profiles[model->n_profiles - 1];
}

static void mention_time(struct wi_model *model, uint64_t time_ns)
{
    struct wi_model_profile *profile = current(model);
    if (profile != NULL && time_ns > profile->last_ns)
        profile->last_ns = time_ns;
}

static bool needs_quotes(const char *word)
{
    return word[0] == '\0' || strpbrk(word, " \t\n\\\"'`$&|;<>()*?[]{}~#!") != NULL;
}

static size_t quote(char *out, const char *word)
{
    size_t n = 0;
    bool quotes = needs_quotes(word);
    if (quotes)
        out[n++] = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(out + n, "'\\''", 4);
            n += 4;
        } else {
            out[n++] = *word;
        }
    }
    if (quotes)
        out[n++] = '\'';
    return n;
}

static char *join_command(struct wi_model *model, const char *const *words)
{
    size_t length = 1;
    for (size_t i = 0; words[i] != NULL; i++)
        length += strlen(words[i]) * 4 + 3;
    char *out = malloc(length);
    if (out == NULL) {
        run_out(model);
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; words[i] != NULL; i++) {
        if (i > 0)
            out[n++] = ' ';
        n += quote(out + n, words[i]);
    }
    out[n] = '\0';
    return out;
}

static char **copy_words(struct wi_model *model, const char *const *words)
{
    size_t n = 0;
    while (words[n] != NULL)
        n++;
    char **out = calloc(n + 1, sizeof *out);
    if (out == NULL)
        run_out(model);
    for (size_t i = 0; i < n && out != NULL; i++)
        out[i] = copy(model, words[i]);
    return out;
}

static void on_header(const struct wi_record_header *record, void *context)
{
    static const char *const no_words[] = {NULL};
    struct wi_model *model = context;
    struct wi_model_profile *profile = add_profile(model);
    if (profile == NULL)
        return;
    const char *const *words = record->command != NULL ? record->command : no_words;
    profile->words = copy_words(model, words);
    profile->command = join_command(model, words);
    profile->host = copy(model, record->host);
    profile->cpu = copy(model, record->cpu);
    profile->kernel = copy(model, record->kernel);
    profile->sampler = copy(model, record->sampler);
    profile->whatif_version = copy(model, record->whatif_version);
    profile->n_cpus = record->n_cpus;
    profile->period_ns = record->period_ns;
    profile->sample_cost_ns = record->sample_cost_ns;
}

static void on_end(const struct wi_record_end *record, void *context)
{
    struct wi_model *model = context;
    mention_time(model, record->time_ns);
    struct wi_model_profile *profile = current(model);
    if (profile == NULL)
        return;
    profile->ended = true;
    free(profile->end_reason);
    profile->end_reason = copy(model, record->reason);
    profile->exit_status = record->exit_status;
    profile->launcher_cpu_ns = record->launcher_cpu_ns;
}

/* ---- points and units --------------------------------------------------------------------------------------------- */

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

static void add_to_map(struct wi_model *model, struct wi_map *map, uint64_t hash, uint32_t value)
{
    if (wi_map_add(map, hash, value) != 0)
        run_out(model);
}

static uint32_t new_point(struct wi_model *model, const struct wi_record_point *record)
{
    if (model->n_points == WI_MODEL_MAX_POINTS) {
        model->left_out++;
        return WI_NONE;
    }
    struct wi_model_point *point = calloc(1, sizeof *point);
    char *name = copy(model, record->name);
    struct wi_model_point **place =
        point != NULL && name != NULL ? append(model, &model->points, &model->n_points, sizeof *place) : NULL;
    if (place == NULL) {
        run_out(model);
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
    if (current(model) == NULL)
        return;
    struct wanted wanted = {model, record->name, record->kind};
    uint64_t hash = wi_map_hash_text(record->name, model->hash_seed);
    uint32_t point = wi_map_find(&model->point_names, hash, same_point, &wanted);
    if (point == WI_NONE) {
        point = new_point(model, record);
        if (point == WI_NONE)
            return;
        add_to_map(model, &model->point_names, hash, point);
    }
    add_to_map(model, &model->point_ids, wi_map_hash_number(record->id), point);
}

static uint32_t new_unit(struct wi_model *model, const struct wi_record_unit *record)
{
    char *name = copy(model, record->name);
    struct wi_model_unit *unit =
        name != NULL ? append(model, &model->units, &model->n_units, sizeof *unit) : NULL;
    if (unit == NULL) {
        free(name);
        return WI_NONE;
    }
    unit->name = name;
    unit->kind = copy(model, record->kind);
    unit->file = copy_or_null(model, record->file);
    unit->function = copy_or_null(model, record->function);
    unit->line = record->line;
    unit->function_line = record->function_line;
    unit->tally_profile = WI_NONE;
    return model->n_units - 1;
}

void wi_model_add_unit(struct wi_model *model, const struct wi_record_unit *record)
{
    if (current(model) == NULL)
        return;
    struct wanted wanted = {model, record->name, WI_POINT_THROUGHPUT};
    uint64_t hash = wi_map_hash_text(record->name, model->hash_seed);
    uint32_t unit = wi_map_find(&model->unit_names, hash, same_unit, &wanted);
    if (unit == WI_NONE) {
        unit = new_unit(model, record);
        if (unit == WI_NONE)
            return;
        add_to_map(model, &model->unit_names, hash, unit);
    }
    add_to_map(model, &model->unit_ids, wi_map_hash_number(record->id), unit);
}

uint32_t wi_model_unit_of(const struct wi_model *model, uint32_t id)
{
    return wi_map_find(&model->unit_ids, wi_map_hash_number(id), NULL, NULL);
}

uint32_t wi_model_point_of(const struct wi_model *model, uint32_t id)
{
    return wi_map_find(&model->point_ids, wi_map_hash_number(id), NULL, NULL);
}

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
        char *text = copy(model, why);
        struct wi_model_invalid *entry =
            text != NULL ? append(model, &model->invalid, &model->n_invalid, sizeof *entry) : NULL;
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
    struct wi_block *block = append(model, &unit->blocks, &unit->n_blocks, sizeof *block);
    if (block == NULL)
        return NULL;
    block->profile = profile;
    block->number = number;
    add_to_map(model, &model->block_keys, hash, unit->n_blocks - 1);
    return block;
}

static struct wi_arm *find_arm(struct wi_model *model, struct wi_block *block, enum wi_experiment_kind kind,
                               double speedup_percent)
{
    for (uint32_t i = 0; i < block->n_arms; i++)
        if (block->arms[i].kind == kind && block->arms[i].speedup_percent == speedup_percent)
            return &block->arms[i];
    struct wi_arm *arm = append(model, &block->arms, &block->n_arms, sizeof *arm);
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
        run_out(model);
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
    mention_time(model, record->end_ns);
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

/* ---- tallies and notices ---------------------------------------------------------------------------------------------- */

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
    struct wi_model_profile *profile = current(model);
    if (profile == NULL)
        return;
    mention_time(model, record->time_ns);
    profile->tally = *record;
    profile->tally.units = NULL;
    profile->tally.n_units = 0;
    for (size_t i = 0; i < record->n_units; i++)
        add_unit_tally(model, &record->units[i], record->time_ns);
}

static void on_notice(const struct wi_record_notice *record, void *context)
{
    struct wi_model *model = context;
    for (uint32_t i = 0; i < model->n_notices; i++) {
        struct wi_model_notice *notice = &model->notices[i];
        if (strcmp(notice->code, record->code) == 0 && strcmp(notice->text, record->text) == 0) {
            notice->count += record->count;
            return;
        }
    }
    if (model->n_notices == MAX_NOTICES) {
        model->left_out++;
        return;
    }
    char *code = copy(model, record->code), *text = copy(model, record->text);
    struct wi_model_notice *notice = code != NULL && text != NULL
                                         ? append(model, &model->notices, &model->n_notices, sizeof *notice)
                                         : NULL;
    if (notice == NULL) {
        free(code);
        free(text);
        return;
    }
    *notice = (struct wi_model_notice){code, text, record->count};
}

/* ---- the model ---------------------------------------------------------------------------------------------------------- */

static void on_point(const struct wi_record_point *record, void *context)
{
    wi_model_add_point(context, record);
}

static void on_unit(const struct wi_record_unit *record, void *context)
{
    wi_model_add_unit(context, record);
}

static void on_experiment(const struct wi_record_experiment *record, void *context)
{
    wi_model_add_experiment(context, record);
}

static void on_tally(const struct wi_record_tally *record, void *context)
{
    wi_model_add_tally(context, record);
}

struct wi_profile_visitor wi_model_visitor(struct wi_model *model)
{
    return (struct wi_profile_visitor){.header = on_header,
                                       .point = on_point,
                                       .unit = on_unit,
                                       .experiment = on_experiment,
                                       .tally = on_tally,
                                       .notice = on_notice,
                                       .end = on_end,
                                       .context = model};
}

struct wi_model *wi_model_create(void)
{
    struct wi_model *model = calloc(1, sizeof *model);
    if (model != NULL)
        model->hash_seed = (uintptr_t)model; /* names come from outside: let them not know their hash */
    return model;
}

int wi_model_add(struct wi_model *model, const char *path, struct wi_profile_trouble *trouble)
{
    struct wi_profile_visitor visitor = wi_model_visitor(model);
    struct wi_profile_trouble own;
    uint32_t before = model->n_profiles;
    int error = wi_profile_read(path, &visitor, &own);
    if (trouble != NULL)
        *trouble = own;
    if (model->n_profiles > before) {
        struct wi_model_profile *profile = &model->profiles[model->n_profiles - 1];
        profile->path = copy(model, path);
        profile->trouble = own;
    }
    return error != 0 ? error : model->error;
}

double wi_model_duration_s(const struct wi_model *model)
{
    double total = 0;
    for (uint32_t i = 0; i < model->n_profiles; i++)
        total += (double)model->profiles[i].last_ns / 1e9;
    return total;
}

static void free_profile(struct wi_model_profile *profile)
{
    for (size_t i = 0; profile->words != NULL && profile->words[i] != NULL; i++)
        free(profile->words[i]);
    free(profile->words);
    free(profile->path);
    free(profile->command);
    free(profile->host);
    free(profile->cpu);
    free(profile->kernel);
    free(profile->sampler);
    free(profile->whatif_version);
    free(profile->end_reason);
}

static void free_unit(struct wi_model_unit *unit)
{
    for (uint32_t i = 0; i < unit->n_blocks; i++) {
        for (uint32_t j = 0; j < unit->blocks[i].n_arms; j++)
            free(unit->blocks[i].arms[j].points);
        free(unit->blocks[i].arms);
    }
    free(unit->blocks);
    free(unit->name);
    free(unit->kind);
    free(unit->file);
    free(unit->function);
}

void wi_model_destroy(struct wi_model *model)
{
    if (model == NULL)
        return;
    for (uint32_t i = 0; i < model->n_profiles; i++)
        free_profile(&model->profiles[i]);
    for (uint32_t i = 0; i < model->n_units; i++)
        free_unit(&model->units[i]);
    for (uint32_t i = 0; i < model->n_points; i++) {
        free(model->points[i]->name);
        free(model->points[i]);
    }
    for (uint32_t i = 0; i < model->n_notices; i++) {
        free(model->notices[i].code);
        free(model->notices[i].text);
    }
    for (uint32_t i = 0; i < model->n_invalid; i++)
        free(model->invalid[i].why);
    free(model->profiles);
    free(model->units);
    free(model->points);
    free(model->notices);
    free(model->invalid);
    wi_map_clear(&model->unit_names);
    wi_map_clear(&model->point_names);
    wi_map_clear(&model->block_keys);
    forget_identifiers(model);
    free(model);
}
