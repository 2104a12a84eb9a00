/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a profile: see format.h. */
#include "runtime/profile/format.h"

const char *const wi_sample_columns[WI_SAMPLE_COLUMNS] = {"time_ns", "thread",    "stack",   "cpu_ns",
                                                          "wait_ns", "wait_kind", "pause_ns"};
const char *const wi_point_kind_names[2] = {"throughput", "latency"};
const char *const wi_experiment_kind_names[3] = {"baseline", "treatment", "placebo"};
