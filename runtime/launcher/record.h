/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the options of a run enter its profile and its report.
 */
#ifndef WI_LAUNCHER_RECORD_H
#define WI_LAUNCHER_RECORD_H

#include "runtime/launcher/options.h"
#include "runtime/profile/estimate.h"
#include "runtime/profile/writer.h"
#include "runtime/session/session.h"

/* Create the profile and write its header. 0 or -errno. */
int wi_record_begin(const struct wi_run_options *options, const char *path, const struct wi_session *session,
                    uint64_t sample_cost_ns, struct wi_profile_writer **out);

void wi_record_estimate_options(const struct wi_run_options *options, struct wi_estimate_options *estimate);

#endif
