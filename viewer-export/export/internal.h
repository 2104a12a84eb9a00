/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the formats share: the figures, the recording where a format wants one, and the way to the output.
 */
#ifndef WI_EXPORT_INTERNAL_H
#define WI_EXPORT_INTERNAL_H

#include "viewer-export/export/export.h"
#include "viewer-export/export/gzip.h"
#include "viewer-export/export/recording.h"

struct wi_export {
    const struct wi_export_options *options;
    const struct wi_model *model;
    struct wi_estimate estimate;          /* empty unless the format asks for it */
    const struct wi_recording *recording; /* NULL unless the format asks for it */
    FILE *out;
};

/* Each returns 0 or -errno. Write errors of `out` need not be reported: the caller looks. */
int wi_export_as_firefox(const struct wi_export *export);
int wi_export_as_bencher(const struct wi_export *export);
int wi_export_as_pprof(const struct wi_export *export);
int wi_export_as_coz(const struct wi_export *export);
int wi_export_as_coz_jsonl(const struct wi_export *export);
int wi_export_as_folded(const struct wi_export *export);
int wi_export_as_csv(const struct wi_export *export);
int wi_export_as_json(const struct wi_export *export);

struct wi_export_format {
    const char *name;
    const char *summary;
    int (*write)(const struct wi_export *export);
    bool wants_recording;
    bool wants_estimate;
    bool is_binary; /* not for a terminal */
};
extern const struct wi_export_format wi_export_formats[]; /* ends with a NULL name */
const struct wi_export_format *wi_export_format_of(const char *name);

/* One line to stderr; returns 1. */
int wi_export_complain(const char *subject, const char *text);

/* ---- figures.c: which figures, and as what ---- */

bool wi_export_wants_point(const struct wi_export *export, uint32_t point);
/* The estimate of a point of the model; NULL if there is none. */
const struct wi_point_estimate *wi_export_point(const struct wi_export *export, uint32_t point);

/* What a unit's impact on a point comes to as one number, in percent: its largest gain, or the most it harms where it
 * gains nothing. NAN without a curve. */
double wi_export_impact(const struct wi_unit_estimate *unit);
/* The curve at a tested speedup; NULL if it was not tested there. */
const struct wi_gain *wi_export_gain_at(const struct wi_unit_estimate *unit, double speedup_percent);

/* The program's name: the last part of the first word of the first profile's command. */
const char *wi_export_program(const struct wi_model *model);
const char *wi_export_base_name(const char *path);

/* A measured unit and where it stands in the recorded stacks. */
struct wi_impact {
    const struct wi_unit_estimate *unit;
    double percent;
};
/* The units whose impact on a point stands for themselves: measured lines, call paths left out, and functions none of
 * whose lines were measured, so that no code is there twice. To be freed; *n of them; NULL if memory is out. */
struct wi_impact *wi_export_impacts(const struct wi_export *export, const struct wi_point_estimate *point,
                                    uint32_t *n);

#endif
