/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finishing an index: from what readers told, in their order, to sorted points (index.h).
 *
 * Rows are sorted by pc. Intervals are sorted and then swept with a stack: the innermost open interval owns the
 * code. The sweep trusts nothing: an inlined copy counts only inside its parent, a function's own code only where
 * no other function's is; two functions at the same place (folded by the linker) become one with an alias.
 * What is left is for symbols (finish_symbols.c).
 *
 * Sorting is stable, and readers tell parents before children, so that of intervals that begin at the same pc the
 * outer comes first.
 */
#include "runtime/symbols/builder.h"

#include <errno.h>

#define MAX_OPEN 512 /* nesting of inlined copies; gcc and clang stay below 100 */

/* ---- sorting ----------------------------------------------------------------------------------------- */

/* Radix sort of records whose first member is a uint32_t key, 11 bits at a time. Stable. */
static int sort_records(void *records, size_t n, size_t size)
{
    uint8_t *from = records, *to = malloc(n * size + 1), *spare = to;
    if (!to)
        return -ENOMEM;
    for (unsigned shift = 0; shift < 32; shift += 11) {
        size_t starts[2048] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) {
            uint32_t key;
            memcpy(&key, from + i * size, sizeof key);
            starts[key >> shift & 2047]++;
        }
        for (size_t i = 0; i < 2048; i++) {
            size_t count = starts[i];
            starts[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++) {
            uint32_t key;
            memcpy(&key, from + i * size, sizeof key);
            memcpy(to + starts[key >> shift & 2047]++ * size, from + i * size, size);
        }
        uint8_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != records)
        memcpy(records, from, n * size);
    free(spare);
    return 0;
}

static bool is_sorted(const void *records, size_t n, size_t size)
{
    uint32_t last = 0, key;
    for (size_t i = 0; i < n; i++) {
        memcpy(&key, (const uint8_t *)records + i * size, sizeof key);
        if (key < last)
            return false;
        last = key;
    }
    return true;
}

static int sort_if_needed(void *records, size_t n, size_t size)
{
    return is_sorted(records, n, size) ? 0 : sort_records(records, n, size);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* One point per pc: the last real row there, or the end of a sequence; and none that says what the one before
 * says. In place. */
static struct wi_point_list finish_rows(struct wi_builder *builder)
{
    struct wi_point *rows = builder->rows;
    size_t kept = 0;
    for (size_t i = 0, next; i < builder->n_rows; i = next) {
        uint32_t id = WI_NONE;
        for (next = i; next < builder->n_rows && rows[next].pc == rows[i].pc; next++)
            if (rows[next].id != WI_NONE)
                id = rows[next].id;
        if (kept == 0 ? id != WI_NONE : rows[kept - 1].id != id)
            rows[kept++] = (struct wi_point){rows[i].pc, id};
    }
    return (struct wi_point_list){rows, kept};
}

/* ---- scopes ------------------------------------------------------------------------------------------ */

struct sweep {
    struct wi_builder *builder;
    struct {
        uint32_t node, high;
    } open[MAX_OPEN];
    size_t n_open;
    struct wi_point_list out;
};

static uint32_t top_node(const struct sweep *sweep)
{
    return sweep->n_open ? sweep->open[sweep->n_open - 1].node : WI_NONE;
}

static void close_until(struct sweep *sweep, uint32_t pc)
{
    while (sweep->n_open > 0 && sweep->open[sweep->n_open - 1].high <= pc) {
        uint32_t end = sweep->open[--sweep->n_open].high;
        wi_points_emit(&sweep->out, end, top_node(sweep));
    }
}

/* A function's own code begins. Whether it may. */
static bool begin_function(struct sweep *sweep, const struct wi_interval *interval)
{
    const struct wi_builder *builder = sweep->builder;
    if (sweep->n_open == 0)
        return true;
    const struct wi_node *holder = &builder->nodes[sweep->open[0].node],
                         *late = &builder->nodes[interval->node];
    if (sweep->open[0].high == interval->high && holder->function != late->function) {
        const struct wi_function_row *row = &builder->functions[late->function];
        wi_builder_alias(sweep->builder, row->linkage_name ? row->linkage_name : row->name, holder->function);
    }
    if (sweep->open[0].high >= interval->high)
        return false;
    sweep->n_open = 0; /* they overlap: each keeps what it began first */
    return true;
}

/* An inlined copy begins: it interrupts its siblings, never its ancestors. Whether it may. */
static bool begin_inlined(struct sweep *sweep, struct wi_interval *interval)
{
    uint32_t parent = sweep->builder->nodes[interval->node].parent;
    size_t i = sweep->n_open;
    while (i > 0 && sweep->open[i - 1].node != parent)
        i--;
    if (i == 0)
        return false;
    sweep->n_open = i;
    if (interval->high > sweep->open[i - 1].high)
        interval->high = sweep->open[i - 1].high;
    return true;
}

static int finish_scopes(struct wi_builder *builder, struct wi_point_list *out)
{
    struct sweep sweep = {.builder = builder};
    sweep.out.at = malloc((builder->n_intervals * 2 + 1) * sizeof *sweep.out.at);
    if (!sweep.out.at)
        return -ENOMEM;
    for (size_t i = 0; i < builder->n_intervals; i++) {
        struct wi_interval interval = builder->intervals[i];
        close_until(&sweep, interval.low);
        bool own = builder->nodes[interval.node].parent == WI_NONE;
        if (!(own ? begin_function(&sweep, &interval) : begin_inlined(&sweep, &interval)))
            continue;
        if (sweep.n_open == MAX_OPEN)
            continue;
        sweep.open[sweep.n_open].node = interval.node;
        sweep.open[sweep.n_open++].high = interval.high;
        wi_points_emit(&sweep.out, interval.low, interval.node);
    }
    close_until(&sweep, UINT32_MAX);
    *out = sweep.out;
    return 0;
}

/* ---- the block --------------------------------------------------------------------------------------- */

/* About four points to a bucket. Two more buckets than addresses need, so that each has an end. */
static uint32_t *make_buckets(const struct wi_point_list *points, uint32_t *shift, size_t *n)
{
    uint32_t span = points->n ? points->at[points->n - 1].pc : 0;
    for (*shift = 4; *shift < 31 && ((uint64_t)span >> *shift) > points->n / 4 + 16;)
        ++*shift;
    *n = ((size_t)span >> *shift) + 2;
    uint32_t *buckets = malloc(*n * sizeof *buckets);
    size_t point = 0;
    for (size_t i = 0; buckets && i < *n; i++) {
        while (point < points->n && points->at[point].pc < (uint64_t)i << *shift)
            point++;
        buckets[i] = (uint32_t)point;
    }
    return buckets;
}

struct piece {
    const void *data;
    size_t n, size;
};

static struct wi_index_header *pack(const struct wi_builder *builder, const struct piece pieces[WI_N_PARTS])
{
    uint64_t size = sizeof(struct wi_index_header);
    for (int i = 0; i < WI_N_PARTS; i++)
        size += (pieces[i].n * pieces[i].size + 7) / 8 * 8;
    struct wi_index_header *header = calloc(1, size);
    if (!header)
        return NULL;
    header->size = size;
    header->base = builder->code.base;
    uint64_t offset = sizeof *header;
    for (int i = 0; i < WI_N_PARTS; i++) {
        header->parts[i] = (struct wi_part){offset, pieces[i].n};
        if (pieces[i].n)
            memcpy((char *)header + offset, pieces[i].data, pieces[i].n * pieces[i].size);
        offset += (pieces[i].n * pieces[i].size + 7) / 8 * 8;
    }
    header->magic = WI_INDEX_MAGIC;
    return header;
}

static int make_block(struct wi_builder *builder, struct wi_point_list rows, struct wi_point_list scopes,
                      struct wi_index_header **out)
{
    uint32_t row_shift, scope_shift;
    size_t n_row_buckets, n_scope_buckets;
    uint32_t *row_buckets = make_buckets(&rows, &row_shift, &n_row_buckets);
    uint32_t *scope_buckets = make_buckets(&scopes, &scope_shift, &n_scope_buckets);
    struct piece pieces[WI_N_PARTS] = {
        [WI_PART_TEXT] = {builder->text, builder->n_text, 1},
        [WI_PART_FILES] = {builder->files, builder->n_files, sizeof *builder->files},
        [WI_PART_FUNCTIONS] = {builder->functions, builder->n_functions, sizeof *builder->functions},
        [WI_PART_LINES] = {builder->lines, builder->n_lines, sizeof *builder->lines},
        [WI_PART_NODES] = {builder->nodes, builder->n_nodes, sizeof *builder->nodes},
        [WI_PART_ROWS] = {rows.at, rows.n, sizeof *rows.at},
        [WI_PART_ROW_BUCKETS] = {row_buckets, n_row_buckets, sizeof *row_buckets},
        [WI_PART_SCOPES] = {scopes.at, scopes.n, sizeof *scopes.at},
        [WI_PART_SCOPE_BUCKETS] = {scope_buckets, n_scope_buckets, sizeof *scope_buckets},
        [WI_PART_ALIASES] = {builder->aliases, builder->n_aliases, sizeof *builder->aliases},
        [WI_PART_NOTICES] = {builder->notices, builder->n_notices, sizeof *builder->notices},
    };
    *out = row_buckets && scope_buckets ? pack(builder, pieces) : NULL;
    free(row_buckets);
    free(scope_buckets);
    if (!*out)
        return -ENOMEM;
    (*out)->row_shift = row_shift;
    (*out)->scope_shift = scope_shift;
    (*out)->has_lines = builder->n_committed > 0 && (rows.n > 0 || builder->n_intervals > 0);
    (*out)->has_functions = scopes.n > 0;
    return 0;
}

int wi_builder_finish(struct wi_builder *builder, struct wi_index_header **out)
{
    struct wi_point_list scopes = {NULL, 0};
    int error = sort_if_needed(builder->rows, builder->n_rows, sizeof *builder->rows);
    if (error == 0)
        error = sort_if_needed(builder->intervals, builder->n_intervals, sizeof *builder->intervals);
    if (error == 0)
        error = sort_if_needed(builder->symbols, builder->n_symbols, sizeof *builder->symbols);
    if (error == 0)
        error = finish_scopes(builder, &scopes);
    if (error == 0)
        error = wi_builder_complete_names(builder, &scopes);
    if (error == 0)
        error = wi_builder_fill_gaps(builder, &scopes);
    if (error == 0)
        error = make_block(builder, finish_rows(builder), scopes, out);
    free(scopes.at);
    return error;
}
