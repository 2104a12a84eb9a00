/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `whatif export`: what a run found, in the formats of other tools. Context: viewer-export, and the launcher at the
 * end of a run.
 */
#ifndef WI_EXPORT_EXPORT_H
#define WI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/profile/estimate.h"

struct wi_export_options {
    const char *point;      /* only progress points of this name; a glob (fnmatch). NULL: all */
    const char *impact;     /* folded: weigh by causal impact on this point instead of by time. NULL: time */
    uint32_t top;           /* units of each point, where the format wants few */
    double speedup_percent; /* bencher: at which speedup causal-impact is the gain */
    bool with_source;       /* firefox: embed the text of source files */
    struct wi_estimate_options estimate;
};
#define WI_EXPORT_DEFAULTS                                                                                   \
    {                                                                                                        \
        .top = 10, .speedup_percent = 50, .estimate = WI_ESTIMATE_DEFAULTS                                   \
    }

/* The command. Returns an exit status: 0, 1 after an error, 2 for usage; says on stderr what was wrong. */
int wi_export_main(int argc, char **argv);

/* Profiles, several of them as one, in a format of the table. 0, or 1 after an error, of which one line went to
 * stderr. */
int wi_export_profiles(const char *format, const char *const *paths, size_t n,
                       const struct wi_export_options *options, FILE *out);

/* Bencher Metric Format for a model that the caller holds: one JSON document and nothing else. 0, or 1 after an
 * error, of which one line went to stderr. */
int wi_export_bencher(const struct wi_model *model, const struct wi_export_options *options, FILE *out);

#endif
