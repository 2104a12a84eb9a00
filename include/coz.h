/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The macros of Coz, for programs that already carry them: put this in place of Coz's header. It is better
 * than running a binary compiled against Coz's own (which works, too): a visit here serves the pauses owed
 * before it is counted, so that a progress point is exact where Coz's is off by up to one sampling period.
 */
#ifndef COZ_H
#define COZ_H

#include "whatif.h"

/* A block, as in Coz's header: programs were written that leave out the semicolon. */
#define COZ_VISIT_(visit)                                                                                    \
    if (1) {                                                                                                 \
        visit;                                                                                               \
    }
#define COZ_PROGRESS_NAMED(name) COZ_VISIT_(WHATIF_PROGRESS_NAMED(name))
#define COZ_PROGRESS             COZ_VISIT_(WHATIF_PROGRESS())
#define COZ_BEGIN(name)          COZ_VISIT_(WHATIF_BEGIN(name))
#define COZ_END(name)            COZ_VISIT_(WHATIF_END(name))
#define COZ_PRE_BLOCK()          WHATIF_PRE_BLOCK()
#define COZ_POST_BLOCK(skip)     WHATIF_POST_BLOCK(skip)
#define COZ_CATCH_UP()           WHATIF_CATCH_UP()

#endif
