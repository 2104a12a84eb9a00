/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of this build. */
#include "runtime/launcher/version.h"

#ifndef WHATIF_VERSION
#define WHATIF_VERSION "unknown"
#endif

const char wi_version[] = WHATIF_VERSION;
