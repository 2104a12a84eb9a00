/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks runtime/symbols on the command line, for the tests of it.
 *
 *     symbols_dump [OPTION]... MODULE... -- QUESTION...
 *
 * The first module is the main executable. Options: --include GLOB, --exclude GLOB. Questions, each answered by
 * lines of text:
 *     frames M ADDRESS   the chain at an address of module number M: function, file, line, scope
 *     stdin M            the same for each address on standard input, one line each
 *     unit NAME          its ranges
 *     suggest NAME
 *     name M ADDRESS     names as line and function units
 *     scope, notices, detail
 *     functions          each function with code of its own, and where it begins
 *     time M             nanoseconds per lookup, over addresses of module M
 *     readers PATH       whether the two readers of debug information make the same of a file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/symbols/internal.h"

static struct wi_symbols *symbols;

static void print_frames(uint32_t module, uint64_t address, const char *separator)
{
    struct wi_frame frames[WI_MAX_FRAMES_AT];
    size_t n = wi_symbols_frames(symbols, module, address, frames, WI_MAX_FRAMES_AT);
    for (size_t i = 0; i < n; i++)
        printf("%s%s\t%s\t%s:%u\t%u\t%s", i ? separator : "", frames[i].function,
               frames[i].linkage_name ? frames[i].linkage_name : "-", frames[i].file ? frames[i].file : "??",
               frames[i].line, frames[i].function_line, frames[i].in_scope ? "in" : "out");
    printf("\n");
}

static void print_ranges(const char *title, const struct wi_range_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        printf("%s %u 0x%llx 0x%llx\n", title, list->ranges[i].module,
               (unsigned long long)list->ranges[i].low, (unsigned long long)list->ranges[i].high);
}

static void print_unit(const char *name)
{
    struct wi_unit_ranges unit;
    int error = wi_symbols_unit(symbols, name, &unit);
    if (error) {
        printf("error %s\n", strerror(-error));
        return;
    }
    printf("unit %d %s\nplace %s:%u in %s:%u\n", unit.kind, unit.name, unit.file ? unit.file : "??",
           unit.line, unit.function ? unit.function : "??", unit.function_line);
    print_ranges("selected", &unit.selected);
    print_ranges("if_called", &unit.if_called);
    print_ranges("callers", &unit.callers);
    wi_unit_ranges_fini(&unit);
}

static void print_suggestions(const char *name)
{
    char *names[5];
    size_t n = wi_symbols_suggest(symbols, name, names, 5);
    for (size_t i = 0; i < n; i++) {
        printf("%s\n", names[i]);
        free(names[i]);
    }
}

static void print_notice(const struct wi_symbols_notice *notice, void *context)
{
    (void)context;
    printf("notice %s %u %llu %s\n", notice->code, notice->module, (unsigned long long)notice->count,
           notice->text);
}

static void print_scope(void)
{
    struct wi_range_list list;
    if (wi_symbols_scope_ranges(symbols, &list) != 0)
        return;
    print_ranges("scope", &list);
    wi_range_list_fini(&list);
}

static void print_functions(void)
{
    for (uint32_t m = 0; m < symbols->n_modules; m++) {
        struct wi_module *module = wi_symbols_module(symbols, m);
        struct wi_index_cursor cursor = {0, 0};
        struct wi_stretch stretch;
        uint32_t last = WI_NONE;
        while (wi_index_next(&module->index, &cursor, &stretch)) {
            uint32_t node = stretch.node;
            while (node != WI_NONE && module->index.nodes[node].parent != WI_NONE)
                node = module->index.nodes[node].parent;
            if (node != last && node != WI_NONE)
                printf("function %u 0x%llx %s\n", m, (unsigned long long)stretch.low,
                       wi_function_display(symbols, module->functions[module->index.nodes[node].function]));
            last = node;
        }
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_times(uint32_t number)
{
    double begin = seconds();
    struct wi_module *module = wi_symbols_module(symbols, number);
    double read = seconds() - begin;
    struct wi_frame frames[WI_MAX_FRAMES_AT];
    uint64_t span = module->index.scopes.n ? module->index.scopes.at[module->index.scopes.n - 1].pc : 1,
             random = 1;
    size_t n_frames = 0;
    for (int round = 0; round < 2; round++) {
        begin = seconds();
        for (int i = 0; i < 100000; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            n_frames +=
                wi_symbols_frames(symbols, number, module->index.base + (random >> 33) % span, frames, 32);
        }
    }
    double lookup = seconds() - begin;
    begin = seconds();
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        wi_symbols_line_name(symbols, number, module->index.base + (random >> 33) % span);
    }
    double name = seconds() - begin;
    struct wi_unit_ranges unit;
    begin = seconds();
    bool has_main = wi_symbols_unit(symbols, "main", &unit) == 0;
    double first_unit = seconds() - begin;
    if (has_main)
        wi_unit_ranges_fini(&unit);
    begin = seconds();
    if (wi_symbols_unit(symbols, "main", &unit) == 0)
        wi_unit_ranges_fini(&unit);
    printf("unit %.1f ms the first time, then %.1f ms\n", first_unit * 1e3, (seconds() - begin) * 1e3);
    printf("read %.3f s, frames %.0f ns, line name %.0f ns, %zu frames, index %.1f MB, %zu rows %zu scopes "
           "%zu nodes "
           "%zu functions\n",
           read, lookup * 5e3, name * 1e4, n_frames, (double)module->index.header->size / 1e6,
           module->index.rows.n, module->index.scopes.n, module->index.n_nodes, module->index.n_functions);
}

static void answer_stdin(uint32_t module)
{
    char line[64];
    while (fgets(line, sizeof line, stdin))
        print_frames(module, strtoull(line, NULL, 16), " | ");
}

/* ---- one reader against the other ---------------------------------------------------------------------- */

static double read_with(const char *path, uint32_t reader, struct wi_index *index)
{
    struct wi_extract_request request = {.path = path, .open_path = path, .want_lines = true};
    struct wi_extract_limits limits = {.first_reader = reader};
    struct wi_index_header *block;
    double begin = seconds();
    if (wi_extract_here(&request, &limits, NULL, &block) != 0 ||
        wi_index_open(block, block->size, index) != 0)
        exit(1);
    return seconds() - begin;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool same_line(const struct wi_index *a, uint32_t line_a, const struct wi_index *b, uint32_t line_b)
{
    if (line_a == WI_NONE || line_b == WI_NONE)
        return line_a == line_b;
    return a->lines[line_a].line == b->lines[line_b].line &&
           same_text(a->text + a->files[a->lines[line_a].file], b->text + b->files[b->lines[line_b].file]);
}

static bool same_function(const struct wi_index *a, uint32_t number_a, const struct wi_index *b,
                          uint32_t number_b)
{
    const struct wi_function_row *row_a = &a->functions[number_a], *row_b = &b->functions[number_b];
    bool same_file = row_a->file == WI_NONE || row_b->file == WI_NONE
                         ? row_a->file == row_b->file
                         : same_text(a->text + a->files[row_a->file], b->text + b->files[row_b->file]);
    return same_file && row_a->line == row_b->line &&
           same_text(a->text + row_a->name, b->text + row_b->name) &&
           same_text(a->text + row_a->linkage_name, b->text + row_b->linkage_name);
}

static bool same_chain(const struct wi_index *a, uint32_t node_a, const struct wi_index *b, uint32_t node_b)
{
    while (node_a != WI_NONE && node_b != WI_NONE) {
        const struct wi_node *at_a = &a->nodes[node_a], *at_b = &b->nodes[node_b];
        if (!same_function(a, at_a->function, b, at_b->function) || !same_line(a, at_a->call, b, at_b->call))
            return false;
        node_a = at_a->parent;
        node_b = at_b->parent;
    }
    return node_a == node_b;
}

static void print_stretch(const struct wi_index *index, const struct wi_stretch *at)
{
    printf("  0x%llx", (unsigned long long)at->low);
    if (at->line != WI_NONE)
        printf(" %s:%u", index->text + index->files[index->lines[at->line].file],
               index->lines[at->line].line);
    for (uint32_t node = at->node; node != WI_NONE; node = index->nodes[node].parent) {
        const struct wi_function_row *row = &index->functions[index->nodes[node].function];
        printf(" | %s %s %u", index->text + row->name, index->text + row->linkage_name, row->line);
    }
    printf("\n");
}

static void compare_readers(const char *path)
{
    struct wi_index a, b;
    double seconds_a = read_with(path, 0, &a), seconds_b = read_with(path, 1, &b);
    struct wi_index_cursor cursor_a = {0, 0}, cursor_b = {0, 0};
    struct wi_stretch at_a, at_b;
    size_t n = 0, n_different = 0;
    bool more_a, more_b;
    while ((more_a = wi_index_next(&a, &cursor_a, &at_a)) & (more_b = wi_index_next(&b, &cursor_b, &at_b))) {
        bool same = at_a.low == at_b.low && at_a.high == at_b.high &&
                    same_line(&a, at_a.line, &b, at_b.line) && same_chain(&a, at_a.node, &b, at_b.node);
        if (!same && n_different++ < 3) {
            print_stretch(&a, &at_a);
            print_stretch(&b, &at_b);
        }
        n++;
    }
    printf("%zu stretches, %zu differ%s; %.3f s and %.3f s\n", n, n_different,
           more_a != more_b ? ", not as many" : "", seconds_a, seconds_b);
    free((void *)a.header);
    free((void *)b.header);
}

static void print_names(uint32_t module, uint64_t address)
{
    const char *line = wi_symbols_line_name(symbols, module, address);
    const char *function = wi_symbols_function_name(symbols, module, address);
    printf("%s\t%s\n", line ? line : "-", function ? function : "-");
}

/* Returns how many arguments were used. */
static int answer(char **arguments)
{
    const char *what = arguments[0], *first = arguments[1], *second = first ? arguments[2] : NULL;
    if (strcmp(what, "scope") == 0)
        return print_scope(), 1;
    if (strcmp(what, "notices") == 0)
        return wi_symbols_notices(symbols, print_notice, NULL), 1;
    if (strcmp(what, "functions") == 0)
        return print_functions(), 1;
    if (strcmp(what, "detail") == 0) {
        for (uint32_t m = 0; m < symbols->n_modules; m++)
            printf("detail %u %d %d\n", m, wi_symbols_detail(symbols, m),
                   wi_symbols_module_in_scope(symbols, m));
        return 1;
    }
    if (!first)
        return 0;
    if (strcmp(what, "unit") == 0)
        return print_unit(first), 2;
    if (strcmp(what, "suggest") == 0)
        return print_suggestions(first), 2;
    if (strcmp(what, "readers") == 0)
        return compare_readers(first), 2;
    uint32_t module = (uint32_t)strtoul(first, NULL, 10);
    if (strcmp(what, "stdin") == 0)
        return answer_stdin(module), 2;
    if (strcmp(what, "time") == 0)
        return print_times(module), 2;
    if (!second)
        return 0;
    if (strcmp(what, "frames") == 0)
        return print_frames(module, strtoull(second, NULL, 16), "\n"), 3;
    if (strcmp(what, "name") == 0)
        return print_names(module, strtoull(second, NULL, 16)), 3;
    return 0;
}

int main(int argc, char **argv)
{
    const char *include[16], *exclude[16];
    struct wi_scope scope = {include, 0, exclude, 0};
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        if (strcmp(argv[at], "--include") == 0 && scope.n_include < 16)
            include[scope.n_include++] = argv[at + 1];
        else if (strcmp(argv[at], "--exclude") == 0 && scope.n_exclude < 16)
            exclude[scope.n_exclude++] = argv[at + 1];
        else
            return 2;
    }
    if (wi_symbols_create(&scope, &symbols) != 0)
        return 1;
    for (uint32_t n = 0; at < argc && strcmp(argv[at], "--") != 0; at++, n++) {
        struct wi_module_source source = {.index = n, .path = argv[at], .is_main = n == 0};
        if (wi_symbols_add_module(symbols, &source) != 0)
            return 1;
    }
    for (at++; at < argc;) {
        int used = answer(argv + at);
        if (used == 0)
            return 2;
        at += used;
    }
    wi_symbols_destroy(symbols);
    return 0;
}
