/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which units are tried.
 *
 * Units asked for by --at are; without any, those that the samples show. Functions come first (--unit auto), then the
 * lines of those that have been through a few blocks. What a unit could give is bounded by the share of wall time in
 * which some thread is inside it, so units below --min-impact are left out, and blocks go to units in proportion to
 * that bound.
 */
#include "runtime/control/state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FUNCTIONS 10
#define MOST_LINES     24
#define BLOCKS_TO_OPEN 3 /* of a function before its lines are tried */
#define LEAST_SAMPLES  5 /* fewer say nothing about a unit's bound */
#define N_SUGGESTIONS  5

static void cannot_find(struct wi_controller *controller, const char *name)
{
    char *near[N_SUGGESTIONS];
    size_t n = wi_symbols_suggest(controller->symbols, name, near, N_SUGGESTIONS);
    int used = snprintf(controller->error, sizeof controller->error, "no code in scope is called '%s'", name);
    for (size_t i = 0; i < n; i++) {
        if (used > 0 && (size_t)used < sizeof controller->error)
            used += snprintf(controller->error + used, sizeof controller->error - (size_t)used, "%s%s",
                             i == 0 ? "; near it: " : ", ", near[i]);
        free(near[i]);
    }
}

/* Enter a unit among the tried. Its ranges are taken over. */
static int enter(struct wi_controller *controller, struct wi_unit_ranges *ranges, uint32_t unit, bool fixed)
{
    if (controller->n_tried == WI_MAX_TRIED)
        return -ENOSPC;
    controller->tried[controller->n_tried++] =
        (struct wi_tried){.unit = unit, .ranges = *ranges, .fixed = fixed};
    return 0;
}

static int resolve(struct wi_controller *controller, const char *name, struct wi_unit_ranges *ranges)
{
    int error = wi_symbols_unit(controller->symbols, name, ranges);
    if (error)
        cannot_find(controller, name);
    return error;
}

int wi_contenders_resolve(struct wi_controller *controller)
{
    const struct wi_controller_options *options = &controller->options;
    if (controller->modules_known == 0)
        return -EAGAIN;
    if (options->given) {
        int error = resolve(controller, options->given, &controller->given);
        if (error)
            return error;
        controller->has_given = true;
        controller->session->given_speedup = (uint32_t)(options->given_speedup_percent * 100 + 0.5);
    }
    for (size_t i = 0; i < options->n_at; i++) {
        struct wi_unit_ranges ranges;
        int error = resolve(controller, options->at[i], &ranges);
        if (error)
            return error;
        struct wi_frame about = {
            .function = ranges.function,
            .file = ranges.file,
            .line = ranges.line,
            .function_line = ranges.function_line,
            .in_scope = true,
        };
        uint32_t unit = wi_units_enter(&controller->units, ranges.kind, ranges.name, &about);
        if (unit == WI_NONE || enter(controller, &ranges, unit, true) != 0)
            wi_unit_ranges_fini(&ranges);
    }
    return 0;
}

/* An upper bound of what the unit can give, in percent. */
static double bound_of(const struct wi_controller *controller, const struct wi_unit *unit, uint64_t now_ns)
{
    double elapsed = (double)(now_ns - controller->session->start_ns);
    return elapsed > 0 ? (double)unit->inside_ns / elapsed * 100 : 0;
}

static struct wi_tried *find_tried(struct wi_controller *controller, uint32_t unit)
{
    for (size_t i = 0; i < controller->n_tried; i++)
        if (controller->tried[i].unit == unit)
            return &controller->tried[i];
    return NULL;
}

static void enter_from_samples(struct wi_controller *controller, uint32_t id)
{
    struct wi_unit_ranges ranges;
    if (wi_symbols_unit(controller->symbols, controller->units.all[id].name, &ranges) != 0)
        return;
    if (enter(controller, &ranges, id, false) != 0)
        wi_unit_ranges_fini(&ranges);
}

/* Enter units of a kind that the samples show to matter, the most promising first, up to `most` in all. `of` limits
 * lines to those of one function; WI_NONE does not. */
static void enter_kind(struct wi_controller *controller, enum wi_unit_kind kind, uint32_t of, size_t most,
                       uint64_t now_ns)
{
    size_t n = 0;
    for (size_t i = 0; i < controller->n_tried; i++)
        n += controller->units.all[controller->tried[i].unit].kind == kind;
    while (n < most) {
        uint32_t best = WI_NONE;
        double best_bound = controller->options.min_impact_percent;
        for (uint32_t i = 0; i < controller->units.n; i++) {
            const struct wi_unit *unit = &controller->units.all[i];
            double bound = bound_of(controller, unit, now_ns);
            if (unit->kind == kind && unit->samples >= LEAST_SAMPLES && bound > best_bound &&
                (of == WI_NONE || unit->function == of) && !find_tried(controller, i)) {
                best = i;
                best_bound = bound;
            }
        }
        if (best == WI_NONE)
            return;
        size_t before = controller->n_tried;
        enter_from_samples(controller, best);
        if (controller->n_tried == before)
            return;
        n++;
    }
}

void wi_contenders_refresh(struct wi_controller *controller, uint64_t now_ns)
{
    if (controller->options.n_at > 0)
        return;
    enum wi_granularity granularity = controller->options.granularity;
    if (granularity == WI_BY_LINE) {
        enter_kind(controller, WI_UNIT_LINE, WI_NONE, MOST_LINES, now_ns);
        return;
    }
    enter_kind(controller, WI_UNIT_FUNCTION, WI_NONE, MOST_FUNCTIONS, now_ns);
    if (granularity == WI_BY_FUNCTION)
        return;
    for (size_t i = 0; i < controller->n_tried; i++) {
        struct wi_tried *tried = &controller->tried[i];
        if (tried->is_opened || tried->n_blocks < BLOCKS_TO_OPEN ||
            controller->units.all[tried->unit].kind != WI_UNIT_FUNCTION)
            continue;
        tried->is_opened = true;
        enter_kind(controller, WI_UNIT_LINE, tried->unit, MOST_LINES, now_ns);
    }
}

size_t wi_contenders_next(struct wi_controller *controller, uint64_t now_ns)
{
    struct wi_contender contenders[WI_MAX_TRIED];
    for (size_t i = 0; i < controller->n_tried; i++) {
        const struct wi_tried *tried = &controller->tried[i];
        double bound = bound_of(controller, &controller->units.all[tried->unit], now_ns);
        bool worthwhile = tried->fixed || bound >= controller->options.min_impact_percent;
        contenders[i].worth = tried->fixed ? 100 : worthwhile ? bound : -1;
        contenders[i].n_blocks = tried->n_blocks;
    }
    return wi_plan_next(contenders, controller->n_tried);
}
