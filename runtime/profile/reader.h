/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading profiles: a stream of records to callbacks, in file order. Memory does not grow with the file.
 * Gzip is recognised by its magic, and profiles of Coz (text or JSON Lines) by their first line: those come as records
 * of the same kinds, as far as Coz knows them. Context: launcher and viewer-export.
 */
#ifndef WI_PROFILE_READER_H
#define WI_PROFILE_READER_H

#include "runtime/profile/records.h"

struct wi_profile_visitor { /* any may be NULL: those records are skipped */
    void (*header)(const struct wi_record_header *record, void *context);
    void (*process)(const struct wi_record_process *record, void *context);
    void (*thread)(const struct wi_record_thread *record, void *context);
    void (*thread_end)(const struct wi_record_thread_end *record, void *context);
    void (*module)(const struct wi_record_module *record, void *context);
    void (*source)(const struct wi_record_source *record, void *context);
    void (*stack)(const struct wi_record_stack *record, void *context);
    void (*samples)(const struct wi_record_sample *samples, size_t n, void *context);
    void (*point)(const struct wi_record_point *record, void *context);
    void (*unit)(const struct wi_record_unit *record, void *context);
    void (*experiment)(const struct wi_record_experiment *record, void *context);
    void (*tally)(const struct wi_record_tally *record, void *context);
    void (*notice)(const struct wi_record_notice *record, void *context);
    void (*end)(const struct wi_record_end *record, void *context);
    void *context;
};

struct wi_profile_trouble { /* what a damaged file cost */
    uint64_t lines;         /* read in all */
    uint64_t skipped;       /* lines that were no valid record, or named something undefined */
    uint64_t first_line;    /* number of the first of these, 0 if none */
    char why[120];          /* what was wrong with it */
    bool truncated;         /* the last line has no end: the writer was killed */
};

/* 0; -errno if the file cannot be opened or read; -EBADMSG if it is no profile (trouble says which line and why;
 * nothing was delivered); -EPROTONOSUPPORT if it is a newer version. A damaged line is skipped and counted: the
 * rest is still delivered. Unknown record types and fields are ignored (newer writers). */
int wi_profile_read(const char *path, const struct wi_profile_visitor *visitor,
                    struct wi_profile_trouble *trouble);

#endif
