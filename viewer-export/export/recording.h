/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What profiles recorded, in memory, for formats that need samples and experiments in another order than the file
 * has them: threads one by one, tables before what refers to them.
 *
 * Several profiles stand one after another in the same arrays; their times are shifted by when each began, so that
 * all lie on one line. Identifiers of records are replaced by positions in the arrays (WI_NONE: none), strings by
 * numbers. Stacks come parents first. Memory is linear in the input, some 40 bytes a sample.
 */
#ifndef WI_EXPORT_RECORDING_H
#define WI_EXPORT_RECORDING_H

#include "runtime/profile/model.h"
#include "viewer-export/export/texts.h"

struct wi_rec_profile {
    int64_t start_epoch_ns;
    uint64_t period_ns;
    uint64_t shift_ns;  /* of its times against the first profile's */
    uint32_t directory; /* string */
};

struct wi_rec_process {
    uint32_t profile;
    int32_t pid;
    uint32_t executable; /* string */
    uint64_t start_ns;
};

struct wi_rec_thread {
    uint32_t process;
    int32_t tid;
    uint32_t name; /* string, "" if it has none */
    uint64_t start_ns, end_ns;
    bool ended;
    uint32_t n_samples, first_sample; /* set by wi_recording_finish */
};

struct wi_rec_module {
    uint32_t path, build_id; /* strings */
};

struct wi_rec_source {
    uint32_t path, sha256; /* strings */
};

struct wi_rec_function { /* one per name, module and source */
    uint32_t name;       /* string */
    uint32_t module, source;
    uint32_t line;
};

struct wi_rec_frame { /* one per place in the code */
    uint32_t function, module, source;
    uint32_t line;
    uint64_t address;
    bool inlined, in_scope;
};

struct wi_rec_stack {
    uint32_t parent, frame;
    uint32_t scope;        /* innermost node in scope, this one included */
    uint16_t inline_depth; /* how many inlined frames this is inside the function that was called */
};

struct wi_rec_sample {
    uint64_t time_ns;
    uint32_t thread, stack;
    uint32_t cpu_us, wait_us, pause_us; /* at most 71 minutes each */
    uint8_t wait_kind;
};

struct wi_rec_experiment {
    uint32_t profile, block;
    uint32_t unit; /* in the model */
    enum wi_experiment_kind kind;
    double speedup_percent;
    uint64_t start_ns, end_ns, delay_ns;
    uint64_t samples, hits, pauses, paused_ns;
    bool valid;
    uint32_t why; /* string */
    uint32_t first_count, n_counts;
};

struct wi_rec_count {
    uint32_t point; /* in the model */
    uint64_t visits, begins;
    double in_flight_ns;
};

struct wi_recording {
    struct wi_model *model; /* filled in the same pass */
    struct wi_texts strings;
    struct wi_rec_profile *profiles;
    uint32_t n_profiles;
    struct wi_rec_process *processes;
    uint32_t n_processes;
    struct wi_rec_thread *threads;
    uint32_t n_threads;
    struct wi_rec_module *modules;
    uint32_t n_modules;
    struct wi_rec_source *sources;
    uint32_t n_sources;
    struct wi_rec_function *functions;
    uint32_t n_functions;
    struct wi_rec_frame *frames;
    uint32_t n_frames;
    struct wi_rec_stack *stacks;
    uint32_t n_stacks;
    struct wi_rec_sample *samples; /* after wi_recording_finish: thread by thread, by time */
    uint32_t n_samples;
    struct wi_rec_experiment *experiments;
    uint32_t n_experiments;
    struct wi_rec_count *counts;
    uint32_t n_counts;
    uint64_t end_ns; /* latest time of all */
    /* Of the profile being read. */
    struct wi_profile_visitor to_model;
    struct wi_map process_ids, thread_ids, module_ids, source_ids, stack_ids;
    struct wi_map function_keys, frame_keys;
    bool failed; /* memory ran out */
};

/* 0 or -ENOMEM. The model is not owned. */
int wi_recording_init(struct wi_recording *recording, struct wi_model *model);
void wi_recording_fini(struct wi_recording *recording);

/* Read one more profile into the recording and its model. As wi_profile_read. */
int wi_recording_add(struct wi_recording *recording, const char *path, struct wi_profile_trouble *trouble);

/* Sort the samples. 0 or -ENOMEM (also of anything before). */
int wi_recording_finish(struct wi_recording *recording);

static inline const char *wi_rec_text(const struct wi_recording *recording, uint32_t string)
{
    return string < recording->strings.n ? recording->strings.text[string] : "";
}

/* For each of the model's units the stack node, ending in its code, that most samples had; WI_NONE if it was in none.
 * `nodes` has room for all units. 0 or -ENOMEM. */
int wi_recording_find_units(const struct wi_recording *recording, uint32_t *nodes);

#endif
