/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `whatif report`: what a run found, for people and for programs. Context: viewer-export, and the launcher at the
 * end of a run.
 */
#ifndef WI_REPORT_REPORT_H
#define WI_REPORT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "runtime/profile/estimate.h"

enum wi_report_format { WI_REPORT_TEXT, WI_REPORT_MARKDOWN, WI_REPORT_JSON };

struct wi_report_options {
    enum wi_report_format format;
    const char *unit;   /* only units of this name; a glob (fnmatch). NULL: all */
    const char *point;  /* only points of this name, likewise */
    uint32_t top;       /* units of each point; 0: ten in text and Markdown, all in JSON */
    bool verbose;       /* every unit in full */
    bool as_throughput; /* say gains as throughput gained instead of time saved */
    uint32_t width;     /* columns of text; 0: as the terminal has */
    struct wi_estimate_options estimate;
};
#define WI_REPORT_DEFAULTS                                                                                   \
    {                                                                                                        \
        .estimate = WI_ESTIMATE_DEFAULTS                                                                     \
    }

/* The command. Returns an exit status: 0, 1 after an error, 2 for usage; says on stderr what was wrong. */
int wi_report_main(int argc, char **argv);

/* Report on profiles, several of them as one. 0, or 1 after an error, of which one line went to stderr. */
int wi_report_print(const char *const *paths, size_t n, const struct wi_report_options *options, FILE *out);

/* The same for a model that the caller holds. */
int wi_report_print_model(const struct wi_model *model, const struct wi_report_options *options, FILE *out);

#endif
