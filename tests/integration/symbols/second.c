/* SPDX-License-Identifier: BSD-2-Clause */
/* Of marked.c: another unit. */
#include "marked.h"

unsigned leaf(unsigned x);
unsigned second(unsigned x);

static __attribute__((noinline)) unsigned twin(unsigned x)
{
    return leaf(x + 2) ^ 2; /* @SECOND_TWIN */
}

unsigned second(unsigned x)
{
    return helper(twin(x)) + 1; /* @SECOND */
}
