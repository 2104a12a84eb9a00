/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file, open: its sections, symbols and identity. libelfin behind a C face (elfin_reader.cc).
 *
 * The file is mapped. One that is truncated meanwhile is a SIGBUS: this runs where that is survived (extract.h).
 * Bytes handed out live until the file is closed. Compressed sections are handed out decompressed.
 */
#ifndef WI_ELF_FILE_H
#define WI_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wi_elf;

struct wi_bytes {
    const uint8_t *data; /* NULL: there are none */
    size_t size;
};

struct wi_span { /* [low, high) */
    uint64_t low, high;
};

/* Errors: -errno of the system; -ENOEXEC if it is no ELF file that can be read. */
int wi_elf_open(const char *path, struct wi_elf **out);
/* An image in memory, which stays the caller's and must outlive the file. */
int wi_elf_open_memory(const void *image, size_t size, struct wi_elf **out);
void wi_elf_close(struct wi_elf *elf);

/* A descriptor of the file (-1 for an image in memory), still owned by `elf`. */
int wi_elf_fd(const struct wi_elf *elf);

/* A section's bytes, decompressed; ".debug_x" also finds ".zdebug_x". None if it is missing, empty, or cannot be
 * decompressed. */
struct wi_bytes wi_elf_section(struct wi_elf *elf, const char *name);
/* The first `n` bytes of it, without decompressing the rest; returns how many there are. */
size_t wi_elf_section_start(struct wi_elf *elf, const char *name, uint8_t *bytes, size_t n);
bool wi_elf_has_section(struct wi_elf *elf, const char *name);
/* Some debug section is compressed in a way that elfutils 0.188 does not know. */
bool wi_elf_has_zstd(const struct wi_elf *elf);
/* Every section with debug information; what wi_elf_image() copies. */
void wi_elf_debug_sections(struct wi_elf *elf,
                           void (*visit)(const char *name, struct wi_bytes bytes, void *context),
                           void *context);

/* Where code is: executable sections, or segments in a file without sections. Returns how many were stored. */
size_t wi_elf_code(const struct wi_elf *elf, struct wi_span *spans, size_t max);

#define WI_BUILD_ID_MAX 64
size_t wi_elf_build_id(struct wi_elf *elf, uint8_t id[WI_BUILD_ID_MAX]);

struct wi_elf_symbol {
    const char *name;
    uint64_t address, size;
    bool is_function; /* STT_FUNC or STT_GNU_IFUNC; else untyped, as from assembly */
    uint8_t binding;  /* STB_LOCAL, STB_GLOBAL, STB_WEAK */
};
/* Defined symbols in executable sections, of .symtab or, with `dynamic`, of .dynsym. Returns how many. */
size_t wi_elf_symbols(struct wi_elf *elf, bool dynamic,
                      void (*visit)(const struct wi_elf_symbol *symbol, void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
