/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of this build. */
#ifndef WI_LAUNCHER_VERSION_H
#define WI_LAUNCHER_VERSION_H

extern const char wi_version[];

#endif
