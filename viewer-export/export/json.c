/* SPDX-License-Identifier: BSD-2-Clause */
/* The analysed result as JSON: the document of `whatif report --format json`, whose schema is docs/report.schema.json. */
#include <errno.h>

#include "viewer-export/export/internal.h"
#include "viewer-export/report/report.h"

int wi_export_as_json(const struct wi_export *export)
{
    struct wi_report_options options = WI_REPORT_DEFAULTS;
    options.format = WI_REPORT_JSON;
    options.point = export->options->point;
    options.estimate = export->options->estimate;
    return wi_report_print_model(export->model, &options, export->out) == 0 ? 0 : -ENOMEM;
}
