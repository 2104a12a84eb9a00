/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the report's formats share: the figures, the selection, the diagnosis, and the phrases that say them.
 */
#ifndef WI_REPORT_INTERNAL_H
#define WI_REPORT_INTERNAL_H

#include "viewer-export/report/report.h"
#include "viewer-export/report/style.h"

struct wi_finding { /* one entry of the diagnosis */
    char *code;
    char *text;
    uint64_t count;
};

struct wi_report {
    const struct wi_model *model;
    const struct wi_report_options *options;
    struct wi_estimate estimate;
    struct wi_finding *findings;
    uint32_t n_findings;
    bool failed; /* memory ran out */
};

/* ---- diagnosis.c: what a person should know about this run, from the notices and from the data ---- */
void wi_diagnose(struct wi_report *report);
void wi_diagnosis_fini(struct wi_report *report);

/* ---- the formats ---- */
void wi_report_as_text(const struct wi_report *report, const struct wi_style *style, FILE *out);
void wi_report_as_markdown(const struct wi_report *report, FILE *out);
int wi_report_as_json(const struct wi_report *report, FILE *out); /* 0 or -ENOMEM */

/* ---- phrases.c: selection and wording ---- */

/* Whether the options ask for it. */
bool wi_wants_point(const struct wi_report *report, const struct wi_point_estimate *point);
bool wi_wants_unit(const struct wi_report *report, const struct wi_unit_estimate *unit);
/* How many of a point's units to show; *untold is how many more were experimented on. */
uint32_t wi_select_units(const struct wi_report *report, const struct wi_point_estimate *point,
                         const struct wi_unit_estimate **selected, uint32_t limit, uint32_t *untold);
/* Whether there is a gain to report anywhere in the selection. */
bool wi_has_gains(const struct wi_report *report);

const struct wi_model_point *wi_point_of(const struct wi_report *report,
                                         const struct wi_point_estimate *point);
const struct wi_model_unit *wi_unit_of(const struct wi_report *report, const struct wi_unit_estimate *unit);

/* A gain in percent as the options want it said. */
double wi_said_gain(const struct wi_report *report, const struct wi_point_estimate *point, double gain);

/* Phrases are written to buffers of WI_PHRASE bytes, cleaned of anything a terminal could act on. */
#define WI_PHRASE 512
void wi_phrase_name(const struct wi_report *report, const struct wi_unit_estimate *unit, char *out);
void wi_phrase_run(const struct wi_report *report, char *out);
void wi_phrase_point(const struct wi_report *report, const struct wi_point_estimate *point, char *out);
/* What speeding a unit up would do: all but its name. */
void wi_phrase_gain(const struct wi_report *report, const struct wi_point_estimate *point,
                    const struct wi_unit_estimate *unit, char *out);
void wi_phrase_command(const struct wi_report *report, char *out);
/* "less time per visit" and the like: what the numbers in columns of gains mean. */
const char *wi_phrase_measure(const struct wi_report *report, const struct wi_point_estimate *point);

#endif
