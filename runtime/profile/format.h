/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words and limits that writer and reader of a profile share. Nobody else needs them.
 */
#ifndef WI_PROFILE_FORMAT_H
#define WI_PROFILE_FORMAT_H

#include "runtime/profile/records.h"

#define WI_PROFILE_FORMAT "whatif-profile"

/* Longest line that is read. Longer ones are no line of ours: they are skipped and counted. */
#define WI_PROFILE_MAX_LINE ((size_t)4 * 1024 * 1024)

/* Identifiers are small and dense; the reader keeps one bit for each to know which are defined. */
#define WI_PROFILE_MAX_ID ((uint32_t)1 << 24)

/* Every line of samples begins like this, so that whoever does not want them need not parse them. */
#define WI_SAMPLES_PREFIX "{\"type\":\"samples\""

enum {
    WI_SAMPLE_TIME,
    WI_SAMPLE_THREAD,
    WI_SAMPLE_STACK,
    WI_SAMPLE_CPU, /* this column and those after it are left out where all are zero */
    WI_SAMPLE_WAIT,
    WI_SAMPLE_WAIT_KIND,
    WI_SAMPLE_PAUSE,
    WI_SAMPLE_COLUMNS
};

extern const char *const wi_sample_columns[WI_SAMPLE_COLUMNS];
extern const char *const wi_point_kind_names[2];      /* by enum wi_point_kind */
extern const char *const wi_experiment_kind_names[3]; /* by enum wi_experiment_kind */

#endif
