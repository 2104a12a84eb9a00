/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subject of symbols-matrix.t: functions, inlined chains and calls that are known by their marks.
 *
 * outer inlines middle, which inlines inner and the header's helper; leaf is called from outer and other; twin is
 * another static function of that name than the one in second.c; never is dropped by a linker told to.
 */
#include <stdio.h>
#include <stdlib.h>

#include "marked.h"

unsigned second(unsigned x);

static inline __attribute__((always_inline)) unsigned inner(unsigned x)
{
    return x * 2654435761u ^ x >> 7; /* @INNER */
}

static inline __attribute__((always_inline)) unsigned middle(unsigned x)
{
    unsigned y = inner(x); /* @MIDDLE */
    return y + helper(y);
}

__attribute__((noinline)) unsigned leaf(unsigned x)
{
    for (int i = 0; i < 10; i++)
        x = x * 1664525u + 1013904223u; /* @LEAF */
    return x;
}

static __attribute__((noinline)) unsigned twin(unsigned x)
{
    return leaf(x + 1) ^ 1; /* @TWIN */
}

__attribute__((noinline)) unsigned outer(unsigned x)
{
    x = middle(x); /* @OUTER */
    return leaf(x) + 1;
}

__attribute__((noinline)) unsigned other(unsigned x)
{
    return leaf(x ^ 5) + 3; /* @OTHER */
}

__attribute__((noinline)) unsigned never(unsigned x)
{
    for (unsigned i = 1; i < x; i++)
        x ^= leaf(i) / i; /* @NEVER */
    return x;
}

int main(int argc, char **argv)
{
    unsigned x = (unsigned)argc;
    for (int i = 0; i < atoi(argv[argc - 1]); i++)
        x = outer(x) + other(x) + twin(x) + second(x);
    printf("%u\n", x);
    return 0;
}
