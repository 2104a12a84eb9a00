/* SPDX-License-Identifier: BSD-2-Clause */
/* From profiles to a report: read, estimate, diagnose, print. */
#include "viewer-export/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/report/internal.h"

static int complain(const char *path, const char *text)
{
    char name[512];
    wi_clean(name, sizeof name, path);
    fprintf(stderr, "whatif report: %s: %s\n", name, text);
    return 1;
}

static int explain_error(const char *path, int error, const struct wi_profile_trouble *trouble)
{
    char text[256];
    switch (error) {
    case -EBADMSG:
        snprintf(text, sizeof text, "is no profile of whatif: line %llu %s",
                 (unsigned long long)trouble->first_line, trouble->why);
        return complain(path, text);
    case -EPROTONOSUPPORT:
        return complain(path, "was written by a later version of whatif; use that one to read it");
    default:
        return complain(path, strerror(-error));
    }
}

static int load(struct wi_model *model, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct wi_profile_trouble trouble;
        int error = wi_model_add(model, paths[i], &trouble);
        if (error != 0)
            return explain_error(paths[i], error, &trouble);
    }
    return 0;
}

/* A filter that matches nothing is a mistake, not an empty report. */
static int check_filters(const struct wi_report *report)
{
    bool point = report->options->point == NULL, unit = report->options->unit == NULL;
    for (uint32_t i = 0; i < report->estimate.n_points; i++) {
        const struct wi_point_estimate *estimate = &report->estimate.points[i];
        point |= wi_wants_point(report, estimate);
        for (uint32_t j = 0; j < estimate->n_units && !unit; j++)
            unit |= wi_wants_unit(report, &estimate->units[j]);
    }
    if (!point)
        return complain(report->options->point, "no progress point of this name in the profile");
    if (!unit)
        return complain(report->options->unit, "no unit of this name in the profile");
    return 0;
}

static int print(const struct wi_report *report, FILE *out)
{
    struct wi_style style;
    switch (report->options->format) {
    case WI_REPORT_JSON:
        return wi_report_as_json(report, out);
    case WI_REPORT_MARKDOWN:
        wi_report_as_markdown(report, out);
        return 0;
    default:
        style = wi_style_of(out, report->options->width);
        wi_report_as_text(report, &style, out);
        return 0;
    }
}

int wi_report_print_model(const struct wi_model *model, const struct wi_report_options *options, FILE *out)
{
    struct wi_report report = {.model = model, .options = options};
    if (model->error != 0 || wi_estimate_model(model, &options->estimate, &report.estimate) != 0)
        return complain("report", "out of memory");
    int status = check_filters(&report);
    if (status == 0) {
        wi_diagnose(&report);
        if (report.failed || print(&report, out) != 0)
            status = complain("report", "out of memory");
    }
    wi_diagnosis_fini(&report);
    wi_estimate_fini(&report.estimate);
    if (status == 0 && (fflush(out) != 0 || ferror(out)))
        status = complain("writing the report", strerror(errno));
    return status;
}

int wi_report_print(const char *const *paths, size_t n, const struct wi_report_options *options, FILE *out)
{
    struct wi_model *model = wi_model_create();
    if (model == NULL)
        return complain("report", "out of memory");
    int status = load(model, paths, n);
    if (status == 0)
        status = wi_report_print_model(model, options, out);
    wi_model_destroy(model);
    return status;
}
