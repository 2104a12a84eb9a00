/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in the recorded stacks a unit is: the node ending in its code that most samples had.
 *
 * A sample belongs to the innermost frame in scope, as in the experiments. Nodes are looked up by what a unit is
 * known by: file and line, or function and file. A call path is looked up by its lower end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/export/recording.h"

struct lookup {
    const struct wi_recording *recording;
    struct wi_map lines, functions; /* to units */
};

struct wanted {
    const struct wi_model *model;
    const char *file, *function;
    uint32_t line;
};

static bool same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool same_line(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    const struct wi_model_unit *unit = &wanted->model->units[value];
    return unit->line == wanted->line && same_text(unit->file, wanted->file);
}

static bool same_function(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    const struct wi_model_unit *unit = &wanted->model->units[value];
    return same_text(unit->function, wanted->function) && same_text(unit->file, wanted->file);
}

static uint64_t line_hash(const char *file, uint32_t line, uint64_t seed)
{
    return wi_map_hash_text(file != NULL ? file : "", seed ^ wi_map_hash_number(line));
}

static uint64_t function_hash(const char *function, const char *file, uint64_t seed)
{
    return wi_map_hash_text(function != NULL ? function : "",
                            wi_map_hash_text(file != NULL ? file : "", seed));
}

static bool is_function(const struct wi_model_unit *unit)
{
    return strcmp(unit->kind, "function") == 0;
}

static bool is_code(const struct wi_model_unit *unit)
{
    return is_function(unit) || strcmp(unit->kind, "line") == 0 || strcmp(unit->kind, "callpath") == 0;
}

/* The first unit of a place stands for it; share_nodes serves the others. */
static int enter_unit(struct lookup *lookup, const struct wi_model *model, uint32_t index)
{
    const struct wi_model_unit *unit = &model->units[index];
    struct wanted wanted = {model, unit->file, unit->function, unit->line};
    struct wi_map *map = is_function(unit) ? &lookup->functions : &lookup->lines;
    uint64_t hash = is_function(unit) ? function_hash(unit->function, unit->file, model->hash_seed)
                                      : line_hash(unit->file, unit->line, model->hash_seed);
    if (wi_map_find(map, hash, is_function(unit) ? same_function : same_line, &wanted) != WI_NONE)
        return 0;
    return wi_map_add(map, hash, index);
}

static int enter_units(struct lookup *lookup)
{
    const struct wi_model *model = lookup->recording->model;
    int error = 0;
    for (uint32_t i = 0; i < model->n_units && error == 0; i++)
        if (is_code(&model->units[i]) && (is_function(&model->units[i]) || model->units[i].line != 0))
            error = enter_unit(lookup, model, i);
    return error;
}

static void offer(uint32_t unit, uint32_t node, const uint32_t *weights, uint32_t *nodes)
{
    if (unit != WI_NONE && (nodes[unit] == WI_NONE || weights[node] > weights[nodes[unit]]))
        nodes[unit] = node;
}

static void match_node(const struct lookup *lookup, uint32_t node, const uint32_t *weights, uint32_t *nodes)
{
    const struct wi_recording *recording = lookup->recording;
    const struct wi_rec_frame *frame = &recording->frames[recording->stacks[node].frame];
    const char *path =
        frame->source != WI_NONE ? wi_rec_text(recording, recording->sources[frame->source].path) : NULL;
    const char *name = wi_rec_text(recording, recording->functions[frame->function].name);
    struct wanted wanted = {recording->model, path, name, frame->line};
    uint64_t seed = recording->model->hash_seed;
    offer(wi_map_find(&lookup->lines, line_hash(path, frame->line, seed), same_line, &wanted), node, weights,
          nodes);
    offer(wi_map_find(&lookup->functions, function_hash(name, path, seed), same_function, &wanted), node,
          weights, nodes);
}

/* Units that share a place with another (a call path and the line at its lower end) share its node. */
static void share_nodes(const struct lookup *lookup, uint32_t *nodes)
{
    const struct wi_model *model = lookup->recording->model;
    for (uint32_t i = 0; i < model->n_units; i++) {
        const struct wi_model_unit *unit = &model->units[i];
        if (nodes[i] != WI_NONE || !is_code(unit) || is_function(unit))
            continue;
        struct wanted wanted = {model, unit->file, unit->function, unit->line};
        uint32_t other = wi_map_find(&lookup->lines, line_hash(unit->file, unit->line, model->hash_seed),
                                     same_line, &wanted);
        if (other != WI_NONE)
            nodes[i] = nodes[other];
    }
}

int wi_recording_find_units(const struct wi_recording *recording, uint32_t *nodes)
{
    struct lookup lookup = {.recording = recording};
    uint32_t *weights = calloc((size_t)recording->n_stacks + 1, sizeof *weights);
    int error = weights != NULL ? enter_units(&lookup) : -ENOMEM;
    for (uint32_t i = 0; i < recording->model->n_units; i++)
        nodes[i] = WI_NONE;
    for (uint32_t i = 0; i < recording->n_samples && error == 0; i++) {
        uint32_t node = recording->stacks[recording->samples[i].stack].scope;
        if (node != WI_NONE)
            weights[node]++;
    }
    for (uint32_t i = 0; i < recording->n_stacks && error == 0; i++)
        if (weights[i] > 0)
            match_node(&lookup, i, weights, nodes);
    if (error == 0)
        share_nodes(&lookup, nodes);
    wi_map_clear(&lookup.lines);
    wi_map_clear(&lookup.functions);
    free(weights);
    return error;
}
