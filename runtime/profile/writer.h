/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a profile as the run goes. Each call appends whole lines; wi_profile_flush hands them to the kernel,
 * and wi_profile_close syncs. Errors stick: the first one is kept, later calls do nothing, and close reports it,
 * so callers need not check every record. Context: launcher.
 */
#ifndef WI_PROFILE_WRITER_H
#define WI_PROFILE_WRITER_H

#include "runtime/profile/records.h"

struct wi_profile_writer;

/* Creates (never follows a symlink in the last component, never reuses another user's file; an existing regular
 * file of ours is replaced) mode 0600 and writes the header. 0 or -errno. */
int wi_profile_create(const char *path, const struct wi_record_header *header, struct wi_profile_writer **out);

void wi_profile_write_process(struct wi_profile_writer *writer, const struct wi_record_process *record);
void wi_profile_write_thread(struct wi_profile_writer *writer, const struct wi_record_thread *record);
void wi_profile_write_thread_end(struct wi_profile_writer *writer, const struct wi_record_thread_end *record);
void wi_profile_write_module(struct wi_profile_writer *writer, const struct wi_record_module *record);
void wi_profile_write_source(struct wi_profile_writer *writer, const struct wi_record_source *record);
void wi_profile_write_stack(struct wi_profile_writer *writer, const struct wi_record_stack *record);
/* One line for the whole batch. */
void wi_profile_write_samples(struct wi_profile_writer *writer, const struct wi_record_sample *samples, size_t n);
void wi_profile_write_point(struct wi_profile_writer *writer, const struct wi_record_point *record);
void wi_profile_write_unit(struct wi_profile_writer *writer, const struct wi_record_unit *record);
void wi_profile_write_experiment(struct wi_profile_writer *writer, const struct wi_record_experiment *record);
void wi_profile_write_tally(struct wi_profile_writer *writer, const struct wi_record_tally *record);
void wi_profile_write_notice(struct wi_profile_writer *writer, const struct wi_record_notice *record);
void wi_profile_write_end(struct wi_profile_writer *writer, const struct wi_record_end *record);

/* 0, or -errno of the first failure so far. */
int wi_profile_flush(struct wi_profile_writer *writer);
int wi_profile_close(struct wi_profile_writer *writer);

#endif
