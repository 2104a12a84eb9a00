/* SPDX-License-Identifier: BSD-2-Clause */
/* Of marked.c: a function in a header of the program's own. */
#ifndef MARKED_H
#define MARKED_H

static inline __attribute__((always_inline)) unsigned helper(unsigned x)
{
    return x % 1000003u; /* @HELPER */
}

#endif
