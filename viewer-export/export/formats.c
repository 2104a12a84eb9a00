/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of formats, and the way from profiles to one of them: read, estimate, write. To add a format: its file,
 * its line in internal.h, its row here.
 */
#include <errno.h>
#include <string.h>

#include "viewer-export/export/internal.h"

const struct wi_export_format wi_export_formats[] = {
    {"firefox", "Firefox Profiler, processed profile", wi_export_as_firefox, true, true, false},
    {"bencher", "Bencher Metric Format", wi_export_as_bencher, false, true, false},
    {"pprof", "pprof, gzipped protocol buffer", wi_export_as_pprof, true, true, true},
    {"coz", "Coz, text", wi_export_as_coz, true, false, false},
    {"coz-jsonl", "Coz, JSON Lines", wi_export_as_coz_jsonl, true, false, false},
    {"folded", "collapsed stacks for flame graphs", wi_export_as_folded, true, false, false},
    {"csv", "experiments as a flat table", wi_export_as_csv, true, false, false},
    {"json", "the report as one JSON document", wi_export_as_json, false, false, false},
    {NULL, NULL, NULL, false, false, false},
};

const struct wi_export_format *wi_export_format_of(const char *name)
{
    for (const struct wi_export_format *format = wi_export_formats; format->name != NULL; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

int wi_export_complain(const char *subject, const char *text)
{
    fputs("whatif export: ", stderr);
    for (; *subject != '\0'; subject++) /* a name may hold what a terminal would act on */
        putc((unsigned char)*subject < 0x20 || *subject == 0x7f ? '?' : *subject, stderr);
    fprintf(stderr, ": %s\n", text);
    return 1;
}

static int explain_error(const char *path, int error, const struct wi_profile_trouble *trouble)
{
    char text[256];
    switch (error) {
    case -EBADMSG:
        snprintf(text, sizeof text, "is no profile of whatif: line %llu %s",
                 (unsigned long long)trouble->first_line, trouble->why);
        return wi_export_complain(path, text);
    case -EPROTONOSUPPORT:
        return wi_export_complain(path, "was written by a later version of whatif; use that one to read it");
    default:
        return wi_export_complain(path, strerror(-error));
    }
}

/* A damaged profile is exported as far as it goes, but not in silence. */
static void mention_trouble(const char *path, const struct wi_profile_trouble *trouble)
{
    char text[256];
    if (trouble->skipped == 0)
        return;
    snprintf(text, sizeof text, "%llu damaged lines were left out; the first is line %llu: %s",
             (unsigned long long)trouble->skipped, (unsigned long long)trouble->first_line, trouble->why);
    wi_export_complain(path, text);
}

static int load(struct wi_model *model, struct wi_recording *recording, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct wi_profile_trouble trouble;
        int error = recording != NULL ? wi_recording_add(recording, paths[i], &trouble)
                                      : wi_model_add(model, paths[i], &trouble);
        if (error != 0)
            return explain_error(paths[i], error, &trouble);
        mention_trouble(paths[i], &trouble);
    }
    return 0;
}

/* A filter that matches nothing is a mistake, not an empty export. */
static bool matches_a_point(const struct wi_export *export)
{
    if (export->options->point == NULL)
        return true;
    for (uint32_t i = 0; i < export->model->n_points; i++)
        if (wi_export_wants_point(export, i))
            return true;
    return false;
}

static bool is_a_point(const struct wi_model *model, const char *name)
{
    for (uint32_t i = 0; i < model->n_points; i++)
        if (strcmp(model->points[i]->name, name) == 0)
            return true;
    return false;
}

static int write_model(const struct wi_export_format *format, struct wi_export *export)
{
    if (export->model->error != 0)
        return wi_export_complain(format->name, "out of memory");
    if (export->options->impact != NULL && !is_a_point(export->model, export->options->impact))
        return wi_export_complain(export->options->impact, "no progress point of this name in the profile");
    if (!matches_a_point(export))
        return wi_export_complain(export->options->point, "no progress point of this name in the profile");
    int error = 0;
    if (format->wants_estimate)
        error = wi_estimate_model(export->model, &export->options->estimate, &export->estimate);
    if (error == 0)
        error = format->write(export);
    wi_estimate_fini(&export->estimate);
    if (error != 0)
        return wi_export_complain(format->name, strerror(-error));
    if (fflush(export->out) != 0 || ferror(export->out))
        return wi_export_complain("writing", strerror(errno));
    return 0;
}

int wi_export_bencher(const struct wi_model *model, const struct wi_export_options *options, FILE *out)
{
    struct wi_export export = {.options = options, .model = model, .out = out};
    return write_model(wi_export_format_of("bencher"), &export);
}

static int write_profiles(const struct wi_export_format *format, struct wi_model *model,
                          struct wi_recording *recording, const char *const *paths, size_t n,
                          struct wi_export *export)
{
    int status = load(model, recording, paths, n);
    if (status != 0)
        return status;
    if (recording != NULL && wi_recording_finish(recording) != 0)
        return wi_export_complain(format->name, "out of memory");
    return write_model(format, export);
}

int wi_export_profiles(const char *name, const char *const *paths, size_t n,
                       const struct wi_export_options *options, FILE *out)
{
    const struct wi_export_format *format = wi_export_format_of(name);
    if (format == NULL)
        return wi_export_complain(name, "no such format");
    struct wi_model *model = wi_model_create();
    struct wi_recording recording;
    bool wants = format->wants_recording;
    if (model == NULL || (wants && wi_recording_init(&recording, model) != 0)) {
        wi_model_destroy(model);
        return wi_export_complain(name, "out of memory");
    }
    struct wi_export export = {
        .options = options, .model = model, .recording = wants ? &recording : NULL, .out = out};
    int status = write_profiles(format, model, wants ? &recording : NULL, paths, n, &export);
    if (wants)
        wi_recording_fini(&recording);
    wi_model_destroy(model);
    return status;
}
