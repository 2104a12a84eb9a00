/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to an index: see index.h. A lookup is one table read, which leaves a handful of points, and a binary
 * search among those.
 */
#include "runtime/symbols/index.h"

#include <errno.h>

static const size_t element_size[WI_N_PARTS] = {
    [WI_PART_TEXT] = 1,
    [WI_PART_FILES] = sizeof(uint32_t),
    [WI_PART_FUNCTIONS] = sizeof(struct wi_function_row),
    [WI_PART_LINES] = sizeof(struct wi_line),
    [WI_PART_NODES] = sizeof(struct wi_node),
    [WI_PART_ROWS] = sizeof(struct wi_point),
    [WI_PART_ROW_BUCKETS] = sizeof(uint32_t),
    [WI_PART_SCOPES] = sizeof(struct wi_point),
    [WI_PART_SCOPE_BUCKETS] = sizeof(uint32_t),
    [WI_PART_ALIASES] = sizeof(struct wi_alias),
    [WI_PART_NOTICES] = sizeof(struct wi_notice_row),
};

static bool parts_fit(const struct wi_index_header *header)
{
    for (int i = 0; i < WI_N_PARTS; i++) {
        const struct wi_part *part = &header->parts[i];
        if (part->offset > header->size || part->n > (header->size - part->offset) / element_size[i])
            return false;
    }
    return header->parts[WI_PART_TEXT].n > 0;
}

static const void *part(const struct wi_index_header *header, enum wi_part_number number, size_t *n)
{
    *n = header->parts[number].n;
    return (const char *)header + header->parts[number].offset;
}

int wi_index_open(const void *block, size_t size, struct wi_index *out)
{
    const struct wi_index_header *header = block;
    if (size < sizeof *header || header->magic != WI_INDEX_MAGIC || header->size > size || !parts_fit(header))
        return -EBADMSG;
    size_t n_text;
    *out = (struct wi_index){.header = header, .base = header->base};
    out->text = part(header, WI_PART_TEXT, &n_text);
    out->files = part(header, WI_PART_FILES, &out->n_files);
    out->functions = part(header, WI_PART_FUNCTIONS, &out->n_functions);
    out->lines = part(header, WI_PART_LINES, &out->n_lines);
    out->nodes = part(header, WI_PART_NODES, &out->n_nodes);
    out->rows.at = part(header, WI_PART_ROWS, &out->rows.n);
    out->rows.buckets = part(header, WI_PART_ROW_BUCKETS, &out->rows.n_buckets);
    out->rows.shift = header->row_shift;
    out->scopes.at = part(header, WI_PART_SCOPES, &out->scopes.n);
    out->scopes.buckets = part(header, WI_PART_SCOPE_BUCKETS, &out->scopes.n_buckets);
    out->scopes.shift = header->scope_shift;
    out->aliases = part(header, WI_PART_ALIASES, &out->n_aliases);
    out->notices = part(header, WI_PART_NOTICES, &out->n_notices);
    return 0;
}

/* The last point at or before pc. */
static uint32_t find_point(const struct wi_points *points, uint32_t pc)
{
    size_t bucket = pc >> points->shift;
    if (points->n == 0 || bucket + 1 >= points->n_buckets)
        return WI_NONE; /* behind the last point, which says that nothing is known */
    size_t low = points->buckets[bucket], high = points->buckets[bucket + 1];
    while (low < high) { /* first point behind pc */
        size_t middle = low + (high - low) / 2;
        if (points->at[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? WI_NONE : points->at[low - 1].id;
}

void wi_index_find(const struct wi_index *index, uint64_t address, uint32_t *line, uint32_t *node)
{
    *line = *node = WI_NONE;
    if (address < index->base || address - index->base > UINT32_MAX)
        return;
    *line = find_point(&index->rows, (uint32_t)(address - index->base));
    *node = find_point(&index->scopes, (uint32_t)(address - index->base));
}

/* The two lists side by side: each step ends where either of them has its next point. */
bool wi_index_next(const struct wi_index *index, struct wi_index_cursor *cursor, struct wi_stretch *out)
{
    const struct wi_points *rows = &index->rows, *scopes = &index->scopes;
    while (cursor->row < rows->n || cursor->scope < scopes->n) {
        uint64_t row_pc = cursor->row < rows->n ? rows->at[cursor->row].pc : UINT64_MAX;
        uint64_t scope_pc = cursor->scope < scopes->n ? scopes->at[cursor->scope].pc : UINT64_MAX;
        uint64_t pc = row_pc < scope_pc ? row_pc : scope_pc;
        cursor->row += row_pc == pc;
        cursor->scope += scope_pc == pc;
        row_pc = cursor->row < rows->n ? rows->at[cursor->row].pc : UINT64_MAX;
        scope_pc = cursor->scope < scopes->n ? scopes->at[cursor->scope].pc : UINT64_MAX;
        uint64_t end = row_pc < scope_pc ? row_pc : scope_pc;
        out->line = cursor->row ? rows->at[cursor->row - 1].id : WI_NONE;
        out->node = cursor->scope ? scopes->at[cursor->scope - 1].id : WI_NONE;
        if (end == UINT64_MAX)
            return false; /* both lists end with nothing known */
        if (out->line == WI_NONE && out->node == WI_NONE)
            continue;
        out->low = index->base + pc;
        out->high = index->base + end;
        return true;
    }
    return false;
}
