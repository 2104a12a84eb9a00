/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of ranges, made in order: see symbols.h. Capacity is not stored: it is the next power of two. */
#include <errno.h>

#include "runtime/symbols/internal.h"

int wi_range_list_add(struct wi_range_list *list, uint32_t module, uint64_t low, uint64_t high)
{
    struct wi_range *last = list->n ? &list->ranges[list->n - 1] : NULL;
    if (last && last->module == module && last->high == low) {
        last->high = high;
        return 0;
    }
    if ((list->n & (list->n - 1)) == 0) {
        struct wi_range *more = realloc(list->ranges, (list->n ? list->n * 2 : 1) * sizeof *more);
        if (!more)
            return -ENOMEM;
        list->ranges = more;
    }
    list->ranges[list->n++] = (struct wi_range){module, low, high};
    return 0;
}

void wi_range_list_fini(struct wi_range_list *list)
{
    free(list->ranges);
    *list = (struct wi_range_list){NULL, 0};
}
