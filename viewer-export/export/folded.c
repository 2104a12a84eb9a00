/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collapsed stacks, for flame graphs: `outer;inner WEIGHT`, one line for each stack.
 *
 * By time: the weight is processor time in microseconds. By causal impact on one progress point: one line for each
 * measured unit, the weight its gain in hundredths of a percent. Impacts do not add up, and what gains nothing
 * has no width. Names lose what would break a line: ';' becomes ':', control characters '?'.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/json.h"
#include "viewer-export/export/internal.h"

#define MAX_DEPTH 1024 /* frames of one line; those further out are left out */

static void put_name(FILE *out, const char *name)
{
    if (name[0] == '\0')
        name = "(unknown)";
    while (*name != '\0') {
        size_t n = wi_utf8_length(name);
        if (n == 0)
            fputs("\xef\xbf\xbd", out);
        else if (*name == ';')
            putc(':', out);
        else if (n == 1 && ((unsigned char)*name < 0x20 || *name == 0x7f))
            putc('?', out);
        else
            fwrite(name, 1, n, out);
        name += n > 0 ? n : 1;
    }
}

static void put_stack(const struct wi_export *export, uint32_t node)
{
    const struct wi_recording *recording = export->recording;
    uint32_t path[MAX_DEPTH], n = 0;
    for (; node != WI_NONE && n < MAX_DEPTH; node = recording->stacks[node].parent)
        path[n++] = node;
    while (n > 0) {
        const struct wi_rec_frame *frame = &recording->frames[recording->stacks[path[--n]].frame];
        put_name(export->out, wi_rec_text(recording, recording->functions[frame->function].name));
        if (n > 0)
            putc(';', export->out);
    }
}

static int by_time(const struct wi_export *export)
{
    const struct wi_recording *recording = export->recording;
    uint64_t *time_us = calloc((size_t)recording->n_stacks + 1, sizeof *time_us);
    if (time_us == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < recording->n_samples; i++)
        time_us[recording->samples[i].stack] += recording->samples[i].cpu_us;
    for (uint32_t i = 0; i < recording->n_stacks; i++) {
        if (time_us[i] == 0)
            continue;
        put_stack(export, i);
        fprintf(export->out, " %" PRIu64 "\n", time_us[i]);
    }
    free(time_us);
    return 0;
}

/* The unit's own name ends the line: a frame would say the function only. */
static void put_impact(const struct wi_export *export, uint32_t node, const struct wi_impact *impact)
{
    long long weight = llround(impact->percent * 100);
    if (weight <= 0)
        return;
    if (node != WI_NONE) {
        put_stack(export, node);
        putc(';', export->out);
    }
    put_name(export->out, export->model->units[impact->unit->unit].name);
    fprintf(export->out, " %lld\n", weight);
}

static int by_impact(const struct wi_export *export, const struct wi_point_estimate *point)
{
    uint32_t n = 0;
    struct wi_impact *impacts = wi_export_impacts(export, point, &n);
    uint32_t *nodes = calloc((size_t) export->model->n_units + 1, sizeof *nodes);
    int error =
        impacts != NULL && nodes != NULL ? wi_recording_find_units(export->recording, nodes) : -ENOMEM;
    for (uint32_t i = 0; i < n && error == 0; i++)
        put_impact(export, nodes[impacts[i].unit->unit], &impacts[i]);
    free(nodes);
    free(impacts);
    return error;
}

int wi_export_as_folded(const struct wi_export *export)
{
    const char *name = export->options->impact;
    if (name == NULL)
        return by_time(export);
    for (uint32_t i = 0; i < export->model->n_points; i++) {
        if (strcmp(export->model->points[i]->name, name) != 0)
            continue;
        struct wi_point_estimate point;
        int error = wi_estimate_point(export->model, i, &export->options->estimate, &point);
        if (error == 0)
            error = by_impact(export, &point);
        wi_point_estimate_fini(&point);
        return error;
    }
    return -ENOENT;
}
