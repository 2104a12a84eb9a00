/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "Did you mean": names that exist, near to one that does not.
 *
 * For a line: the nearest lines with code in the files meant, one after the other. For a function: the smallest
 * edit distance, of the whole name or of its last part. Of a call path the half that is unknown is replaced.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "runtime/symbols/internal.h"

#define MAX_LENGTH 64 /* of names that are compared letter by letter */

struct candidate {
    uint32_t distance;
    uint32_t id, line; /* of a function: its group, 0 */
};

/* The best so far, sorted. */
struct shortlist {
    struct candidate *at;
    size_t n, max;
};

static void consider(struct shortlist *list, struct candidate new)
{
    size_t i = list->n;
    for (size_t k = 0; k < list->n; k++)
        if (list->at[k].id == new.id && list->at[k].line == new.line)
            return;
    while (i > 0 && list->at[i - 1].distance > new.distance)
        i--;
    if (i == list->max)
        return;
    if (list->n < list->max)
        list->n++;
    memmove(&list->at[i + 1], &list->at[i], (list->n - 1 - i) * sizeof *list->at);
    list->at[i] = new;
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Levenshtein's distance, ignoring case. */
static uint32_t distance(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    uint32_t row[MAX_LENGTH + 1];
    if (length_a > MAX_LENGTH || length_b > MAX_LENGTH)
        return strcmp(a, b) == 0 ? 0 : MAX_LENGTH;
    for (size_t j = 0; j <= length_b; j++)
        row[j] = (uint32_t)j;
    for (size_t i = 1; i <= length_a; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= length_b; j++) {
            uint32_t replaced = diagonal + !same_letter(a[i - 1], b[j - 1]);
            uint32_t shorter = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = replaced < shorter ? replaced : shorter;
        }
    }
    return row[length_b];
}

static const char *last_part(const char *name)
{
    const char *part = name;
    for (const char *at = name; (at = strstr(at, "::")) != NULL; at += 2)
        part = at + 2;
    return part;
}

/* A name that contains the other is nearer than its length says. */
static uint32_t name_distance(const char *wanted, const char *name)
{
    uint32_t whole = distance(wanted, name), part = distance(last_part(wanted), last_part(name)) + 1;
    uint32_t best = whole < part ? whole : part;
    return best > 3 && strlen(wanted) > 3 && strstr(name, wanted) ? 3 : best;
}

/* ---- functions ------------------------------------------------------------------------------------------- */

static void suggest_functions(struct wi_symbols *symbols, const char *name, struct shortlist *list)
{
    uint32_t limit = (uint32_t)strlen(last_part(name)) / 2 + 1;
    const char *colon = strrchr(name, ':');
    const char *function = colon && colon > name && colon[-1] != ':' ? colon + 1 : name;
    wi_functions_group(symbols);
    for (uint32_t i = 0; i < symbols->n_functions; i++) {
        if (symbols->functions[i].group != i)
            continue;
        uint32_t far = name_distance(function, wi_function_display(symbols, i));
        if (far <= limit)
            consider(list, (struct candidate){far, i, 0});
    }
}

/* ---- lines ----------------------------------------------------------------------------------------------- */

/* Files with this tail; failing any, those whose last component is nearest. Judged once per file. */
static uint32_t *file_distances(struct wi_symbols *symbols, const char *path)
{
    uint32_t *far = calloc(symbols->n_files + 1, sizeof *far);
    uint32_t limit = (uint32_t)strlen(wi_base_name(path)) / 3 + 1, best = limit;
    for (size_t i = 0; far && i < symbols->n_files; i++) {
        const struct wi_file *file = &symbols->files[i];
        bool counts = file->in_program && !(file->scope & (WI_SCOPE_SYSTEM | WI_SCOPE_EXCLUDED));
        far[i] = !counts ? UINT32_MAX
                 : wi_path_has_tail(file->path, path)
                     ? 0
                     : 1 + distance(wi_base_name(path), wi_base_name(file->path));
        best = far[i] < best ? far[i] : best;
    }
    for (size_t i = 0; far && i < symbols->n_files; i++)
        far[i] = far[i] > best ? UINT32_MAX : far[i];
    return far;
}

static void suggest_lines(struct wi_symbols *symbols, const char *path, uint32_t line, struct shortlist *list)
{
    uint32_t *far = file_distances(symbols, path);
    for (size_t m = 0; far && m < symbols->n_modules; m++) {
        const struct wi_module *module = symbols->modules[m];
        if (!module || !module->index.header || !wi_module_may_hold(symbols, module))
            continue;
        for (size_t i = 0; i < module->index.n_lines; i++) {
            const struct wi_line *at = &module->index.lines[i];
            uint32_t file = module->files[at->file];
            if (at->line != 0 && far[file] != UINT32_MAX)
                consider(list, (struct candidate){at->line > line ? at->line - line : line - at->line, file,
                                                  at->line});
        }
    }
    free(far);
}

/* ---- names ----------------------------------------------------------------------------------------------- */

static const char *name_of(struct wi_symbols *symbols, const struct candidate *candidate)
{
    return candidate->line ? wi_line_unit_name(symbols, candidate->id, candidate->line)
                           : wi_function_unit_name(symbols, candidate->id);
}

static size_t suggest_half(struct wi_symbols *symbols, const char *before, const char *name,
                           const char *after, char **names, size_t max)
{
    struct shortlist list = {calloc(max + 1, sizeof *list.at), 0, max};
    uint32_t line;
    size_t length = wi_target_line(name, &line), n = 0;
    char *path = length ? strndup(name, length) : NULL;
    if (list.at && path)
        suggest_lines(symbols, path, line, &list);
    else if (list.at && length == 0)
        suggest_functions(symbols, name, &list);
    for (size_t i = 0; i < list.n; i++)
        if (asprintf(&names[n], "%s%s%s", before, name_of(symbols, &list.at[i]), after) >= 0)
            n++;
    free(path);
    free(list.at);
    return n;
}

static bool exists(struct wi_symbols *symbols, const char *name)
{
    struct wi_target target = {0};
    bool found = wi_target_find(symbols, name, &target) == 0;
    wi_target_fini(&target);
    return found;
}

size_t wi_symbols_suggest(struct wi_symbols *symbols, const char *name, char **names, size_t max)
{
    const char *sign = strstr(name, " < ");
    wi_symbols_read_all(symbols);
    if (max == 0)
        return 0;
    if (!sign)
        return suggest_half(symbols, "", name, "", names, max);
    char *lower = strndup(name, (size_t)(sign - name)), *with_sign = NULL;
    size_t n = 0;
    if (lower && !exists(symbols, lower))
        n = suggest_half(symbols, "", lower, sign, names, max);
    else if (lower && asprintf(&with_sign, "%s < ", lower) >= 0)
        n = suggest_half(symbols, with_sign, sign + 3, "", names, max);
    free(with_sign);
    free(lower);
    return n;
}
