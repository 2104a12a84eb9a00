/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that all threads of a Firefox profile share: libraries, sources, functions, frames, stacks, strings.
 *
 * The recording's functions, frames and stacks keep their positions; ours (waits, units that no sample was in) follow.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "viewer-export/export/firefox.h"

#define BREAKPAD_BYTES 16

/* ---- before anything is written ------------------------------------------------------------------------------------------ */

static uint32_t add_extra(struct wi_firefox *firefox, struct wi_ff_extra extra)
{
    struct wi_ff_extra *place = wi_append(&firefox->extras, &firefox->n_extras, sizeof *place);
    if (place == NULL) {
        firefox->failed = true;
        return WI_NONE;
    }
    *place = extra;
    return firefox->recording->n_stacks + firefox->n_extras - 1;
}

static void add_waits(struct wi_firefox *firefox)
{
    static const char *const names[WI_FF_WAITS] = {"(waiting)", "(waiting for another thread)",
                                                   "(waiting for the world outside)", "(waiting)"};
    for (int i = 0; i < WI_FF_WAITS; i++)
        add_extra(firefox, (struct wi_ff_extra){names[i], WI_FF_IDLE, WI_NONE, 0});
}

/* Nodes where there are some; a frame of its own for every other unit. */
static int place_units(struct wi_firefox *firefox)
{
    const struct wi_model *model = firefox->model;
    firefox->unit_stacks = calloc((size_t)model->n_units + 1, sizeof *firefox->unit_stacks);
    if (firefox->unit_stacks == NULL ||
        wi_recording_find_units(firefox->recording, firefox->unit_stacks) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < model->n_units; i++) {
        const struct wi_model_unit *unit = &model->units[i];
        if (firefox->unit_stacks[i] != WI_NONE || unit->experiments == 0)
            continue;
        struct wi_ff_extra extra = {unit->name, WI_FF_CAUSAL, WI_NONE, unit->line};
        if (unit->file != NULL) {
            uint32_t path = wi_texts_number(&firefox->paths, unit->file);
            extra.source = path != WI_NONE ? firefox->recording->n_sources + path : WI_NONE;
        }
        firefox->unit_stacks[i] = add_extra(firefox, extra);
    }
    return firefox->failed ? -ENOMEM : 0;
}

/* Numbers of processes are used again, by the kernel and by exec; the front end wants one main thread for each. */
static int name_processes(struct wi_firefox *firefox)
{
    const struct wi_recording *recording = firefox->recording;
    struct wi_map seen = {0};
    int error = 0;
    firefox->processes = calloc((size_t)recording->n_processes + 1, sizeof *firefox->processes);
    if (firefox->processes == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < recording->n_processes && error == 0; i++) {
        int32_t pid = recording->processes[i].pid;
        uint64_t hash = wi_map_hash_number((uint32_t)pid);
        bool again = wi_map_find(&seen, hash, NULL, NULL) != WI_NONE;
        int n = again ? asprintf(&firefox->processes[i].pid, "%d.%u", pid, i)
                      : asprintf(&firefox->processes[i].pid, "%d", pid);
        if (n < 0)
            firefox->processes[i].pid = NULL;
        error = n < 0 ? -ENOMEM : again ? 0 : wi_map_add(&seen, hash, i);
        firefox->processes[i].main_thread = WI_NONE;
    }
    wi_map_clear(&seen);
    return error;
}

static void find_main_threads(struct wi_firefox *firefox)
{
    const struct wi_recording *recording = firefox->recording;
    for (uint32_t i = 0; i < recording->n_threads; i++) {
        const struct wi_rec_thread *thread = &recording->threads[i];
        if (thread->process == WI_NONE)
            continue;
        uint32_t *main_thread = &firefox->processes[thread->process].main_thread;
        bool is_first = thread->tid == recording->processes[thread->process].pid &&
                        (*main_thread == WI_NONE ||
                         recording->threads[*main_thread].tid != recording->processes[thread->process].pid);
        if (*main_thread == WI_NONE || is_first)
            *main_thread = i;
    }
}

int wi_ff_prepare(struct wi_firefox *firefox)
{
    wi_ff_string(firefox, "");
    add_waits(firefox);
    firefox->visible = calloc((size_t)firefox->recording->n_threads + firefox->model->n_points + 8,
                              sizeof *firefox->visible);
    if (firefox->visible == NULL || name_processes(firefox) != 0)
        return -ENOMEM;
    find_main_threads(firefox);
    return place_units(firefox);
}

void wi_ff_fini(struct wi_firefox *firefox)
{
    for (uint32_t i = 0; i < firefox->recording->n_processes && firefox->processes != NULL; i++)
        free(firefox->processes[i].pid);
    free(firefox->processes);
    free(firefox->extras);
    free(firefox->unit_stacks);
    free(firefox->visible);
    wi_texts_fini(&firefox->strings);
    wi_texts_fini(&firefox->paths);
}

/* ---- libraries -------------------------------------------------------------------------------------------------------------- */

/* A build-id as breakpad writes it: its first 16 bytes, of which the first fields are little-endian numbers, and an
 * age of 0. Short ones are filled up with zeros. */
static void breakpad_id(const char *build_id, char *out)
{
    static const unsigned char order[BREAKPAD_BYTES] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    size_t length = 0;
    while (isxdigit((unsigned char)build_id[length]))
        length++;
    for (size_t i = 0; i < BREAKPAD_BYTES; i++) {
        size_t at = (size_t)order[i] * 2;
        out[2 * i] = at + 1 < length ? (char)toupper((unsigned char)build_id[at]) : '0';
        out[2 * i + 1] = at + 1 < length ? (char)toupper((unsigned char)build_id[at + 1]) : '0';
    }
    memcpy(out + (size_t)2 * BREAKPAD_BYTES, "0", 2);
}

void wi_ff_write_libs(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    wi_out_array(json, "libs");
    for (uint32_t i = 0; i < firefox->recording->n_modules; i++) {
        const struct wi_rec_module *module = &firefox->recording->modules[i];
        const char *path = wi_rec_text(firefox->recording, module->path);
        const char *build_id = wi_rec_text(firefox->recording, module->build_id);
        char debug_id[2 * BREAKPAD_BYTES + 2];
        breakpad_id(build_id, debug_id);
        wi_out_object(json, NULL);
        wi_out_text(json, "arch", "");
        wi_out_text(json, "name", wi_export_base_name(path));
        wi_out_text(json, "path", path);
        wi_out_text(json, "debugName", wi_export_base_name(path));
        wi_out_text(json, "debugPath", path);
        wi_out_text(json, "breakpadId", debug_id);
        wi_out_text(json, "codeId", build_id[0] != '\0' ? build_id : NULL);
        wi_out_end_object(json);
    }
    wi_out_end_array(json);
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------ */

/* A column of n equal entries. */
static void write_same(struct wi_json_out *json, const char *key, uint32_t n,
                       void (*entry)(struct wi_json_out *))
{
    wi_out_array(json, key);
    for (uint32_t i = 0; i < n; i++)
        entry(json);
    wi_out_end_array(json);
}

static void null_entry(struct wi_json_out *json)
{
    wi_out_null(json, NULL);
}

static void false_entry(struct wi_json_out *json)
{
    wi_out_flag(json, NULL, false);
}

static void zero_entry(struct wi_json_out *json)
{
    wi_out_integer(json, NULL, 0);
}

static void one_entry(struct wi_json_out *json)
{
    wi_out_integer(json, NULL, 1);
}

static void write_source_text(struct wi_firefox *firefox, uint32_t index)
{
    const struct wi_recording *recording = firefox->recording;
    size_t length = 0;
    char *text = NULL;
    if (firefox->export->options->with_source && index < recording->n_sources && recording->n_profiles > 0)
        text = wi_source_text(wi_rec_text(recording, recording->profiles[0].directory),
                              wi_rec_text(recording, recording->sources[index].path),
                              wi_rec_text(recording, recording->sources[index].sha256), &length);
    if (text != NULL)
        wi_out_text_n(&firefox->json, NULL, text, length);
    else
        wi_out_null(&firefox->json, NULL);
    free(text);
}

static void write_sources(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    uint32_t n = recording->n_sources + firefox->paths.n;
    wi_out_object(json, "sources");
    wi_out_count(json, "length", n);
    write_same(json, "id", n, null_entry);
    wi_out_array(json, "filename");
    for (uint32_t i = 0; i < n; i++) {
        const char *path = i < recording->n_sources ? wi_rec_text(recording, recording->sources[i].path)
                                                    : firefox->paths.text[i - recording->n_sources];
        wi_out_count(json, NULL, wi_ff_string(firefox, path));
    }
    wi_out_end_array(json);
    write_same(json, "startLine", n, one_entry);
    write_same(json, "startColumn", n, one_entry);
    write_same(json, "sourceMapURL", n, null_entry);
    wi_out_array(json, "content");
    for (uint32_t i = 0; i < n; i++)
        write_source_text(firefox, i);
    wi_out_end_array(json);
    wi_out_end_object(json);
}

static void write_resources(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    wi_out_object(json, "resourceTable");
    wi_out_count(json, "length", recording->n_modules);
    wi_out_array(json, "lib");
    for (uint32_t i = 0; i < recording->n_modules; i++)
        wi_out_count(json, NULL, i);
    wi_out_end_array(json);
    wi_out_array(json, "name");
    for (uint32_t i = 0; i < recording->n_modules; i++)
        wi_out_count(
            json, NULL,
            wi_ff_string(firefox, wi_export_base_name(wi_rec_text(recording, recording->modules[i].path))));
    wi_out_end_array(json);
    write_same(json, "host", recording->n_modules, null_entry);
    write_same(json, "type", recording->n_modules, one_entry); /* 1: a library */
    wi_out_end_object(json);
}

static uint32_t function_name(struct wi_firefox *firefox, const struct wi_rec_function *function)
{
    const struct wi_recording *recording = firefox->recording;
    const char *name = wi_rec_text(recording, function->name);
    if (name[0] != '\0')
        return wi_ff_string(firefox, name);
    const char *path =
        function->module != WI_NONE ? wi_rec_text(recording, recording->modules[function->module].path) : "";
    char *text;
    if (asprintf(&text, "(unknown%s%s)", path[0] != '\0' ? " in " : "",
                 path[0] != '\0' ? wi_export_base_name(path) : "") < 0)
        return 0;
    uint32_t number = wi_ff_string(firefox, text);
    free(text);
    return number;
}

static void write_lines(struct wi_firefox *firefox, const char *key, uint32_t line)
{
    wi_out_index(&firefox->json, key, line != 0 ? line : WI_NONE);
}

static void write_functions(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    uint32_t n = recording->n_functions + firefox->n_extras;
    wi_out_object(json, "funcTable");
    wi_out_count(json, "length", n);
    wi_out_array(json, "name");
    for (uint32_t i = 0; i < recording->n_functions; i++)
        wi_out_count(json, NULL, function_name(firefox, &recording->functions[i]));
    for (uint32_t i = 0; i < firefox->n_extras; i++)
        wi_out_count(json, NULL, wi_ff_string(firefox, firefox->extras[i].name));
    wi_out_end_array(json);
    write_same(json, "isJS", n, false_entry);
    write_same(json, "relevantForJS", n, false_entry);
    wi_out_array(json, "resource");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t module = i < recording->n_functions ? recording->functions[i].module : WI_NONE;
        wi_out_integer(json, NULL, module != WI_NONE ? (int64_t)module : -1);
    }
    wi_out_end_array(json);
    wi_out_array(json, "source");
    for (uint32_t i = 0; i < n; i++)
        wi_out_index(json, NULL,
                     i < recording->n_functions ? recording->functions[i].source
                                                : firefox->extras[i - recording->n_functions].source);
    wi_out_end_array(json);
    wi_out_array(json, "lineNumber");
    for (uint32_t i = 0; i < n; i++)
        write_lines(firefox, NULL, i < recording->n_functions ? recording->functions[i].line : 0);
    wi_out_end_array(json);
    write_same(json, "columnNumber", n, null_entry);
    write_same(json, "originalLocation", n, null_entry);
    wi_out_end_object(json);
}

static uint32_t *inline_depths(const struct wi_recording *recording)
{
    uint32_t *depths = calloc((size_t)recording->n_frames + 1, sizeof *depths);
    for (uint32_t i = 0; i < recording->n_stacks && depths != NULL; i++)
        depths[recording->stacks[i].frame] = recording->stacks[i].inline_depth;
    return depths;
}

static void write_frame_places(struct wi_firefox *firefox, uint32_t n)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    uint32_t *depths = inline_depths(recording);
    if (depths == NULL)
        firefox->failed = true;
    wi_out_array(json, "address");
    for (uint32_t i = 0; i < n; i++) {
        bool known = i < recording->n_frames && recording->frames[i].module != WI_NONE &&
                     recording->frames[i].address < (UINT64_C(1) << 53);
        wi_out_integer(json, NULL, known ? (int64_t)recording->frames[i].address : -1);
    }
    wi_out_end_array(json);
    wi_out_array(json, "inlineDepth");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, depths != NULL && i < recording->n_frames ? depths[i] : 0);
    wi_out_end_array(json);
    free(depths);
}

static uint32_t frame_category(const struct wi_firefox *firefox, uint32_t frame)
{
    if (frame >= firefox->recording->n_frames)
        return firefox->extras[frame - firefox->recording->n_frames].category;
    return firefox->recording->frames[frame].in_scope ? WI_FF_IN_SCOPE : WI_FF_LIBRARY;
}

static void write_frames(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    uint32_t n = recording->n_frames + firefox->n_extras;
    wi_out_object(json, "frameTable");
    wi_out_count(json, "length", n);
    write_frame_places(firefox, n);
    wi_out_array(json, "category");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL, frame_category(firefox, i));
    wi_out_end_array(json);
    write_same(json, "subcategory", n, zero_entry);
    wi_out_array(json, "func");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL,
                     i < recording->n_frames ? recording->frames[i].function
                                             : recording->n_functions + i - recording->n_frames);
    wi_out_end_array(json);
    write_same(json, "nativeSymbol", n, null_entry);
    write_same(json, "innerWindowID", n, zero_entry);
    wi_out_array(json, "line");
    for (uint32_t i = 0; i < n; i++)
        write_lines(firefox, NULL,
                    i < recording->n_frames ? recording->frames[i].line
                                            : firefox->extras[i - recording->n_frames].line);
    wi_out_end_array(json);
    write_same(json, "column", n, null_entry);
    write_same(json, "originalLocation", n, null_entry);
    wi_out_end_object(json);
}

static void write_stacks(struct wi_firefox *firefox)
{
    struct wi_json_out *json = &firefox->json;
    const struct wi_recording *recording = firefox->recording;
    uint32_t n = recording->n_stacks + firefox->n_extras;
    wi_out_object(json, "stackTable");
    wi_out_count(json, "length", n);
    wi_out_array(json, "frame");
    for (uint32_t i = 0; i < n; i++)
        wi_out_count(json, NULL,
                     i < recording->n_stacks ? recording->stacks[i].frame
                                             : recording->n_frames + i - recording->n_stacks);
    wi_out_end_array(json);
    wi_out_array(json, "prefixOffset"); /* how far above its parent stands; 0: it has none */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = i < recording->n_stacks ? recording->stacks[i].parent : WI_NONE;
        wi_out_count(json, NULL, parent != WI_NONE ? i - parent : 0);
    }
    wi_out_end_array(json);
    wi_out_end_object(json);
}

static void write_empty_table(struct wi_json_out *json, const char *key, const char *const *columns)
{
    wi_out_object(json, key);
    wi_out_integer(json, "length", 0);
    for (; *columns != NULL; columns++) {
        wi_out_array(json, *columns);
        wi_out_end_array(json);
    }
    wi_out_end_object(json);
}

void wi_ff_write_shared(struct wi_firefox *firefox)
{
    static const char *const locations[] = {"source", "line", "column", NULL};
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
    struct wi_json_out *json = &firefox->json;
    wi_out_object(json, "shared");
    write_sources(firefox);
    write_empty_table(json, "sourceLocationTable", locations);
    write_resources(firefox);
    write_empty_table(json, "nativeSymbols", symbols); /* profiles do not say where functions begin */
    write_functions(firefox);
    write_frames(firefox);
    write_stacks(firefox);
    wi_out_array(json, "stringArray");
    for (uint32_t i = 0; i < firefox->strings.n; i++)
        wi_out_text(json, NULL, firefox->strings.text[i]);
    wi_out_end_array(json);
    wi_out_end_object(json);
}
