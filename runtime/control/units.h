/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The units that a run knows: what the samples were in, how often, for how long.
 *
 * Every function and line in scope that a sample hits becomes a unit; each is named once in the profile. Context:
 * launcher, between experiments.
 */
#ifndef WI_CONTROL_UNITS_H
#define WI_CONTROL_UNITS_H

#include "runtime/control/table.h"
#include "runtime/profile/model.h"
#include "runtime/profile/writer.h"
#include "runtime/symbols/symbols.h"

struct wi_unit {
    uint32_t id;
    enum wi_unit_kind kind;
    char *name;
    uint32_t function; /* id of the function that a line lies in, WI_NONE if unknown */
    uint64_t samples;
    uint64_t time_ns;
    uint64_t inside_ns;
    uint64_t covered_until_ns; /* end of the last interval counted in inside_ns */
};

struct wi_units {
    struct wi_unit *all;
    size_t n;
    size_t capacity;
    struct wi_table by_name;
    struct wi_profile_writer *writer;
    struct wi_model *model; /* told of every unit, too */
};

void wi_units_init(struct wi_units *units, struct wi_profile_writer *writer, struct wi_model *model);
void wi_units_fini(struct wi_units *units);

/* The unit of that name, entered and written to the profile if new. `about` tells file, line and function and may be
 * NULL. Returns the id, or WI_NONE if out of memory. */
uint32_t wi_units_enter(struct wi_units *units, enum wi_unit_kind kind, const char *name,
                        const struct wi_frame *about);

/* A sample in the unit at `time_ns`, standing for `weight_ns`. `ran_ns` is what the thread had run since its last
 * sample, or was ready to: more, since sampling takes time, and others may have had the processor. */
void wi_units_count(struct wi_units *units, uint32_t id, uint64_t time_ns, uint64_t weight_ns,
                    uint64_t ran_ns);

#endif
