/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of the Firefox Profiler's format share. See firefox.c for the mapping.
 */
#ifndef WI_EXPORT_FIREFOX_H
#define WI_EXPORT_FIREFOX_H

#include "viewer-export/export/internal.h"
#include "viewer-export/export/json_out.h"

enum wi_ff_category { /* positions in meta.categories */
                      WI_FF_OTHER,
                      WI_FF_IN_SCOPE,
                      WI_FF_LIBRARY,
                      WI_FF_IDLE,
                      WI_FF_CAUSAL,
                      WI_FF_DELAY
};

struct
    wi_ff_extra { /* a stack of one frame that no sample had: what waits are shown as, and units not sampled */
    const char *name;
    enum wi_ff_category category;
    uint32_t source; /* position in shared.sources, or WI_NONE */
    uint32_t line;
};

struct wi_ff_marker {
    uint64_t start_ns, end_ns;
    uint32_t name; /* string */
    uint32_t kind; /* enum wi_ff_kind */
    uint32_t category;
    uint32_t first, second; /* what it is about, by kind */
};
enum wi_ff_kind { WI_FF_DELAY_MARKER, WI_FF_EXPERIMENT, WI_FF_RATE, WI_FF_SPEEDUP, WI_FF_RESULT };

struct wi_ff_process {
    uint32_t main_thread; /* WI_NONE if it has no threads */
    char *pid;            /* unique among processes */
};

struct wi_firefox {
    const struct wi_export *export;
    const struct wi_recording *recording;
    const struct wi_model *model;
    struct wi_json_out json;
    struct wi_texts strings; /* shared.stringArray, written last */
    struct wi_texts paths;   /* of sources that no stack named: after those of the recording */
    struct wi_ff_extra *extras;
    uint32_t n_extras;
    uint32_t *unit_stacks; /* by unit of the model: position in shared.stackTable */
    struct wi_ff_process *processes;
    uint32_t n_written; /* threads so far */
    uint32_t *visible;
    uint32_t n_visible;
    uint32_t selected; /* thread that is shown first */
    bool failed;       /* memory ran out */
};

/* The first extras, in this order: one per enum wi_wait_kind. */
#define WI_FF_WAITS 4

uint32_t wi_ff_string(struct wi_firefox *firefox, const char *text);
/* "21.4 %" and the like; "?" if it is no number. The buffer is the caller's. */
#define WI_FF_TEXT 96
const char *wi_ff_percent(char *buffer, double percent);
const char *wi_ff_interval(char *buffer, double percent, double low, double high);

/* ---- firefox_tables.c ---- */
int wi_ff_prepare(struct wi_firefox *firefox);
void wi_ff_fini(struct wi_firefox *firefox);
void wi_ff_write_libs(struct wi_firefox *firefox);
void wi_ff_write_shared(struct wi_firefox *firefox);

/* ---- firefox_schema.c ---- */
void wi_ff_write_categories(struct wi_firefox *firefox);
void wi_ff_write_marker_schema(struct wi_firefox *firefox);

/* ---- firefox_threads.c: real threads ---- */

/* Members that every thread has. `process` may be WI_NONE. `visible` threads are on the first screen. */
void wi_ff_begin_thread(struct wi_firefox *firefox, const char *name, uint32_t process, int64_t tid,
                        bool is_main, bool visible);
void wi_ff_write_thread(struct wi_firefox *firefox, uint32_t thread, bool is_main, bool visible);
/* Calls back for the data of each marker. */
void wi_ff_write_markers(struct wi_firefox *firefox, const struct wi_ff_marker *markers, uint32_t n,
                         void (*data)(struct wi_firefox *, const struct wi_ff_marker *));
void wi_ff_write_no_samples(struct wi_firefox *firefox);

/* ---- firefox_causal.c: threads made of experiments and results ---- */
void wi_ff_write_results(struct wi_firefox *firefox, bool is_main);
void wi_ff_write_experiments(struct wi_firefox *firefox);
void wi_ff_write_impacts(struct wi_firefox *firefox);
void wi_ff_write_counters(struct wi_firefox *firefox);

/* ---- source_text.c ---- */

/* The file's text if it has that SHA-256 (hex) still, to be freed; else NULL. Files of up to 16 MiB. */
char *wi_source_text(const char *directory, const char *path, const char *sha256, size_t *length);

#endif
