/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model as a whole: profiles, notices, the visitor, and its end. model_names.c finds points and units,
 * model_sums.c adds up experiments and tallies.
 */
#include "runtime/profile/model_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NOTICES 1000

void wi_model_run_out(struct wi_model *model)
{
    if (model->error == 0)
        model->error = -ENOMEM;
}

char *wi_model_copy(struct wi_model *model, const char *text)
{
    char *result = strdup(text != NULL ? text : "");
    if (result == NULL)
        wi_model_run_out(model);
    return result;
}

void *wi_model_append(struct wi_model *model, void *array, uint32_t *n, size_t size)
{
    char *entries;
    memcpy(&entries, array, sizeof entries);
    if ((*n & (*n - 1)) == 0) {
        entries = realloc(entries, (*n == 0 ? 1 : (size_t)*n * 2) * size);
        if (entries == NULL) {
            wi_model_run_out(model);
            return NULL;
        }
        memcpy(array, &entries, sizeof entries);
    }
    return memset(entries + (*n)++ * size, 0, size);
}

void wi_model_map(struct wi_model *model, struct wi_map *map, uint64_t hash, uint32_t value)
{
    if (wi_map_add(map, hash, value) != 0)
        wi_model_run_out(model);
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
    struct wi_model_profile *profile =
        wi_model_append(model, &model->profiles, &model->n_profiles, sizeof *profile);
    if (profile != NULL)
        profile->exit_status = -1;
    return profile;
}

struct wi_model_profile *wi_model_current(struct wi_model *model)
{
    if (model->n_profiles == 0)
        return add_profile(model);
    return &model->profiles[model->n_profiles - 1];
}

void wi_model_mention_time(struct wi_model *model, uint64_t time_ns)
{
    struct wi_model_profile *profile = wi_model_current(model);
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
        wi_model_run_out(model);
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
        wi_model_run_out(model);
    for (size_t i = 0; i < n && out != NULL; i++)
        out[i] = wi_model_copy(model, words[i]);
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
    profile->host = wi_model_copy(model, record->host);
    profile->cpu = wi_model_copy(model, record->cpu);
    profile->kernel = wi_model_copy(model, record->kernel);
    profile->sampler = wi_model_copy(model, record->sampler);
    profile->whatif_version = wi_model_copy(model, record->whatif_version);
    profile->n_cpus = record->n_cpus;
    profile->period_ns = record->period_ns;
    profile->sample_cost_ns = record->sample_cost_ns;
}

static void on_end(const struct wi_record_end *record, void *context)
{
    struct wi_model *model = context;
    wi_model_mention_time(model, record->time_ns);
    struct wi_model_profile *profile = wi_model_current(model);
    if (profile == NULL)
        return;
    profile->ended = true;
    free(profile->end_reason);
    profile->end_reason = wi_model_copy(model, record->reason);
    profile->exit_status = record->exit_status;
    profile->launcher_cpu_ns = record->launcher_cpu_ns;
}

/* ---- notices ------- */

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
    char *code = wi_model_copy(model, record->code), *text = wi_model_copy(model, record->text);
    struct wi_model_notice *notice =
        code != NULL && text != NULL
            ? wi_model_append(model, &model->notices, &model->n_notices, sizeof *notice)
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
        profile->path = wi_model_copy(model, path);
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
