/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of runtime/symbols: modules made by hand, without a compiler.
 *
 * A test tells a builder what a reader would tell it, about code from 0x1000 up to 0x2000, and asks the index or
 * a whole wi_symbols that has it as a module.
 */
#ifndef WI_TESTS_SYMBOLS_FIXTURE_H
#define WI_TESTS_SYMBOLS_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/symbols/builder.h"
#include "runtime/symbols/internal.h"
#include "tests/lib/unit.h"

#define OWN WI_NONE /* parent of a function's own code */

static inline struct wi_builder *new_builder(void)
{
    struct wi_builder *builder = malloc(sizeof *builder);
    wi_builder_init(builder, &(struct wi_code_map){.spans = {{0x1000, 0x2000}}, .n = 1, .base = 0x1000});
    ck_assert(wi_builder_unit_begin(builder, 0));
    return builder;
}

/* A function, declared at file:line. */
static inline uint32_t function(struct wi_builder *builder, const char *name, const char *file, uint32_t line)
{
    bool mangled = strncmp(name, "_Z", 2) == 0;
    struct wi_function_facts facts = {mangled ? NULL : name, mangled ? name : NULL,
                                      file ? wi_builder_file(builder, NULL, file) : WI_NONE, line};
    return wi_builder_function(builder, &facts);
}

/* A copy of it, from low up to high; called at file:line unless it is its own. */
static inline uint32_t copy(struct wi_builder *builder, uint32_t parent, uint32_t number, const char *file,
                            uint32_t line, uint64_t low, uint64_t high)
{
    return wi_builder_node(builder, parent, number, file ? wi_builder_file(builder, NULL, file) : WI_NONE,
                           line, &(struct wi_span){low, high}, 1);
}

static inline void row(struct wi_builder *builder, uint64_t address, const char *file, uint32_t line)
{
    wi_builder_row(builder, address, wi_builder_file(builder, NULL, file), line);
}

static inline void symbol(struct wi_builder *builder, const char *name, uint64_t address, uint64_t size)
{
    wi_builder_symbol(builder, &(struct wi_elf_symbol){name, address, size, true, 1});
}

/* Ends the builder. The block is a mapping, as of a module that was read. */
static inline struct wi_index finished(struct wi_builder *builder)
{
    struct wi_index_header *block;
    struct wi_index index;
    wi_builder_unit_commit(builder);
    ck_assert_int_eq(wi_builder_finish(builder, &block), 0);
    wi_builder_fini(builder);
    free(builder);
    void *mapped = mmap(NULL, block->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    memcpy(mapped, block, block->size);
    ck_assert_int_eq(wi_index_open(mapped, block->size, &index), 0);
    free(block);
    return index;
}

/* Adds it as the module of this number. */
static inline void attach(struct wi_symbols *symbols, uint32_t number, const char *path,
                          struct wi_builder *builder)
{
    struct wi_index index = finished(builder);
    struct wi_module_source source = {.index = number, .path = path, .is_main = number == 0};
    ck_assert_int_eq(wi_symbols_add_module(symbols, &source), 0);
    ck_assert_int_eq(wi_module_attach(symbols, number, &index), 0);
}

#endif
