/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorting, merging and packing unwind rows.
 *
 * While functions arrive, a row is eight bytes: its distance from the function's start and its rule's number.
 * Rules are interned at once (there are few). Finishing walks the sorted functions one time to make a flat list
 * without gaps, overlaps or equal neighbours, and a second time to pack that list page by page.
 *
 * Input comes from files that may be damaged: ranges are checked where they come in, and everything after that
 * relies on it.
 */
#include "runtime/symbols/unwind_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES   65536u /* a row has 16 bits for its rule; later ones become "no information" */
#define HASH_SLOTS  (2 * MAX_RULES)
#define NO_RULE     0u
#define MAX_SPAN    ((uint64_t)1 << 32)
#define PAGE_OF(pc) ((pc) >> WI_UNWIND_PAGE_BITS)

struct row {
    uint32_t pc; /* while collecting: from the function's start; when flat: from the table's base */
    uint32_t rule;
};

struct function {
    uint64_t start;
    uint32_t length;
    uint32_t n_rows;
    size_t first_row;
};

struct wi_rows {
    struct function *functions;
    size_t n_functions, functions_capacity;
    struct row *rows;
    size_t n_rows, rows_capacity;
    struct wi_unwind_rule *rules;
    size_t n_rules, rules_capacity;
    uint32_t *slots; /* hash of a rule to its number, 0 is free */
};

/* ---- collecting ------------------------------------------------------------------------------------ */

/* Make room for one more element. */
static int reserve(void **array, size_t count, size_t *capacity, size_t element_size)
{
    if (count < *capacity)
        return 0;
    size_t wanted = *capacity ? *capacity * 2 : 64;
    void *grown = reallocarray(*array, wanted, element_size);
    if (!grown)
        return -ENOMEM;
    *array = grown;
    *capacity = wanted;
    return 0;
}

struct wi_rows *wi_rows_create(void)
{
    struct wi_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return NULL;
    rows->slots = calloc(HASH_SLOTS, sizeof *rows->slots);
    if (!rows->slots || reserve((void **)&rows->rules, 0, &rows->rules_capacity, sizeof *rows->rules) < 0) {
        wi_rows_destroy(rows);
        return NULL;
    }
    rows->rules[rows->n_rules++] = (struct wi_unwind_rule){.cfa = WI_CFA_NONE};
    return rows;
}

void wi_rows_destroy(struct wi_rows *rows)
{
    if (!rows)
        return;
    free(rows->functions);
    free(rows->rows);
    free(rows->rules);
    free(rows->slots);
    free(rows);
}

static uint32_t hash_of(const struct wi_unwind_rule *rule)
{
    uint64_t hash = ((uint64_t)(uint32_t)rule->cfa_offset << 32) | (uint32_t)rule->fp_offset;
    hash ^= ((uint64_t)(uint16_t)rule->addend << 16 | rule->cfa << 8 | rule->fp) * 0x9e3779b97f4a7c15u;
    hash *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(hash >> 40) % HASH_SLOTS;
}

static bool equal(const struct wi_unwind_rule *a, const struct wi_unwind_rule *b)
{
    return memcmp(a, b, sizeof *a) == 0; /* no padding: the header asserts the size */
}

static int intern(struct wi_rows *rows, const struct wi_unwind_rule *rule, uint32_t *number)
{
    *number = NO_RULE;
    if (rule->cfa == WI_CFA_NONE)
        return 0;
    uint32_t slot = hash_of(rule);
    for (; rows->slots[slot]; slot = (slot + 1) % HASH_SLOTS) {
        if (equal(&rows->rules[rows->slots[slot]], rule)) {
            *number = rows->slots[slot];
            return 0;
        }
    }
    if (rows->n_rules == MAX_RULES)
        return 0;
    if (reserve((void **)&rows->rules, rows->n_rules, &rows->rules_capacity, sizeof *rows->rules) < 0)
        return -ENOMEM;
    rows->rules[rows->n_rules] = *rule;
    *number = rows->slots[slot] = (uint32_t)rows->n_rules++;
    return 0;
}

int wi_rows_begin(struct wi_rows *rows, uint64_t start, uint64_t end)
{
    if (end <= start || end - start >= MAX_SPAN)
        return -EINVAL;
    if (reserve((void **)&rows->functions, rows->n_functions, &rows->functions_capacity,
                sizeof *rows->functions) < 0)
        return -ENOMEM;
    rows->functions[rows->n_functions++] =
        (struct function){.start = start, .length = (uint32_t)(end - start), .first_row = rows->n_rows};
    return 0;
}

int wi_rows_add(struct wi_rows *rows, uint64_t pc, const struct wi_unwind_rule *rule)
{
    struct function *function = &rows->functions[rows->n_functions - 1];
    if (pc < function->start || pc - function->start >= function->length)
        return 0;
    uint32_t number, offset = (uint32_t)(pc - function->start);
    if (intern(rows, rule, &number) < 0)
        return -ENOMEM;
    struct row *last = function->n_rows ? &rows->rows[rows->n_rows - 1] : NULL;
    if (last && offset <= last->pc) {
        last->rule = number;
        return 0;
    }
    if (last && last->rule == number)
        return 0;
    if (reserve((void **)&rows->rows, rows->n_rows, &rows->rows_capacity, sizeof *rows->rows) < 0)
        return -ENOMEM;
    rows->rows[rows->n_rows++] = (struct row){offset, number};
    function->n_rows++;
    return 0;
}

bool wi_rows_cover(const struct wi_rows *rows, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < rows->n_functions; i++) {
        const struct function *function = &rows->functions[i];
        if (function->start < end && start < function->start + function->length)
            return true;
    }
    return false;
}

/* ---- flattening: sorted, without gaps, overlaps or equal neighbours ---------------------------------- */

struct flat {
    struct row *rows;
    size_t n_rows;
    uint64_t base;
    uint64_t span;
};

static int by_start(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->first_row > b->first_row) - (a->first_row < b->first_row);
}

static void append(struct flat *flat, uint64_t pc, uint32_t rule)
{
    if (rule == flat->rows[flat->n_rows - 1].rule)
        return;
    flat->rows[flat->n_rows++] = (struct row){(uint32_t)pc, rule};
}

/* `limit` is where the next function begins, and this one ends at the latest. */
static void append_function(struct flat *flat, const struct function *function, const struct row *rows,
                            uint64_t limit)
{
    uint64_t start = function->start - flat->base;
    uint64_t end = start + function->length;
    if (!function->n_rows || rows[0].pc > 0)
        append(flat, start, NO_RULE);
    for (uint32_t i = 0; i < function->n_rows && start + rows[i].pc < limit; i++)
        append(flat, start + rows[i].pc, rows[i].rule);
    if (end < limit && end < MAX_SPAN)
        append(flat, end, NO_RULE);
    flat->span = end < limit ? end : limit;
}

static int flatten(struct wi_rows *rows, struct flat *flat)
{
    qsort(rows->functions, rows->n_functions, sizeof *rows->functions, by_start);
    flat->base = rows->functions[0].start;
    flat->rows = malloc((rows->n_rows + 2 * rows->n_functions + 1) * sizeof *flat->rows);
    if (!flat->rows)
        return -ENOMEM;
    flat->rows[flat->n_rows++] = (struct row){0, NO_RULE};
    for (size_t i = 0; i < rows->n_functions; i++) {
        const struct function *function = &rows->functions[i];
        if (function->start - flat->base >= MAX_SPAN)
            break;
        uint64_t limit = MAX_SPAN;
        if (i + 1 < rows->n_functions && function[1].start - flat->base < MAX_SPAN)
            limit = function[1].start - flat->base;
        if (limit > function->start - flat->base) /* of several with one start, the last is taken */
            append_function(flat, function, rows->rows + function->first_row, limit);
    }
    if (flat->rows[flat->n_rows - 1].pc >= flat->span) /* the end of the last function: the span says it */
        flat->n_rows--;
    return 0;
}

/* ---- packing ----------------------------------------------------------------------------------------- */

static int pack(const struct wi_rows *rows, const struct flat *flat, struct wi_unwind_table **table,
                size_t *size)
{
    uint32_t n_pages = (uint32_t)PAGE_OF(flat->span - 1) + 1;
    *size = sizeof **table + rows->n_rules * sizeof(struct wi_unwind_rule) +
            ((size_t)n_pages + 1) * sizeof(uint32_t) + flat->n_rows * sizeof(struct wi_unwind_row);
    *table = malloc(*size);
    if (!*table)
        return -ENOMEM;
    **table = (struct wi_unwind_table){
        .magic = WI_UNWIND_MAGIC,
        .n_rules = (uint32_t)rows->n_rules,
        .n_pages = n_pages,
        .n_rows = (uint32_t)flat->n_rows,
        .base = flat->base,
        .span = flat->span,
    };
    memcpy((void *)wi_unwind_rules(*table), rows->rules, rows->n_rules * sizeof *rows->rules);
    uint32_t *pages = (uint32_t *)wi_unwind_pages(*table);
    struct wi_unwind_row *packed = (struct wi_unwind_row *)wi_unwind_rows(*table);
    uint32_t page = 0;
    for (uint32_t i = 0; i < flat->n_rows; i++) {
        packed[i] = (struct wi_unwind_row){(uint16_t)flat->rows[i].pc, (uint16_t)flat->rows[i].rule};
        if (i > 0) /* the sentinel lies before all pages */
            while (page <= PAGE_OF(flat->rows[i].pc) && page < n_pages)
                pages[page++] = i;
    }
    while (page <= n_pages)
        pages[page++] = (uint32_t)flat->n_rows;
    return 0;
}

int wi_rows_finish(struct wi_rows *rows, struct wi_unwind_table **table, size_t *size)
{
    if (rows->n_functions == 0 || rows->n_rows == 0 || rows->n_rows >= UINT32_MAX / 4)
        return -ENODATA;
    struct flat flat = {0};
    int error = flatten(rows, &flat);
    if (!error)
        error = pack(rows, &flat, table, size);
    free(flat.rows);
    return error;
}

/* ---- the promises of unwind_table.h -------------------------------------------------------------------- */

static bool rules_are_valid(const struct wi_unwind_table *table)
{
    const struct wi_unwind_rule *rules = wi_unwind_rules(table);
    for (uint32_t i = 0; i < table->n_rules; i++)
        if (rules[i].cfa > WI_CFA_SIGNAL || rules[i].fp > WI_FP_LOST)
            return false;
    return rules[0].cfa == WI_CFA_NONE;
}

static bool page_is_sorted(const struct wi_unwind_row *rows, uint32_t first, uint32_t end)
{
    for (uint32_t i = first + 1; i < end; i++)
        if (rows[i].pc <= rows[i - 1].pc)
            return false;
    return true;
}

static bool rows_are_valid(const struct wi_unwind_table *table)
{
    const uint32_t *pages = wi_unwind_pages(table);
    const struct wi_unwind_row *rows = wi_unwind_rows(table);
    if (pages[0] != 1 || pages[table->n_pages] != table->n_rows || rows[0].rule != NO_RULE)
        return false;
    for (uint32_t i = 0; i < table->n_pages; i++)
        if (pages[i + 1] < pages[i] || pages[i + 1] > table->n_rows ||
            !page_is_sorted(rows, pages[i], pages[i + 1]))
            return false;
    for (uint32_t i = 0; i < table->n_rows; i++)
        if (rows[i].rule >= table->n_rules)
            return false;
    return true;
}

bool wi_unwind_table_is_valid(const struct wi_unwind_table *table, size_t size)
{
    if (size < sizeof *table || table->magic != WI_UNWIND_MAGIC)
        return false;
    if (table->n_rules == 0 || table->n_rules > MAX_RULES || table->n_rows == 0)
        return false;
    if (table->span == 0 || table->span > MAX_SPAN || table->n_pages != PAGE_OF(table->span - 1) + 1)
        return false;
    uint64_t wanted = sizeof *table + (uint64_t)table->n_rules * sizeof(struct wi_unwind_rule) +
                      ((uint64_t)table->n_pages + 1) * sizeof(uint32_t) +
                      (uint64_t)table->n_rows * sizeof(struct wi_unwind_row);
    return size == wanted && rules_are_valid(table) && rows_are_valid(table);
}
