/* SPDX-License-Identifier: BSD-2-Clause */
/* See elf_image.h. Header, then the sections one after the other, their names, and the table of sections. */
#include "runtime/symbols/elf_image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SECTIONS 64

struct layout {
    uint8_t *image; /* NULL while only sizes are summed up */
    Elf64_Shdr headers[MAX_SECTIONS];
    size_t n;
    char names[MAX_SECTIONS * 32];
    size_t n_names;
    uint64_t size;
};

static uint64_t aligned(uint64_t size)
{
    return (size + 15) & ~UINT64_C(15);
}

static void add_section(const char *name, struct wi_bytes bytes, void *context)
{
    struct layout *layout = context;
    size_t length = strlen(name) + 1;
    if (layout->n == MAX_SECTIONS || layout->n_names + length > sizeof layout->names)
        return;
    Elf64_Shdr *header = &layout->headers[layout->n++];
    *header = (Elf64_Shdr){.sh_name = (uint32_t)layout->n_names,
                           .sh_type = SHT_PROGBITS,
                           .sh_offset = layout->size,
                           .sh_size = bytes.size,
                           .sh_addralign = 1};
    memcpy(layout->names + layout->n_names, name, length);
    layout->n_names += length;
    if (layout->image)
        memcpy(layout->image + layout->size, bytes.data, bytes.size);
    layout->size = aligned(layout->size + bytes.size);
}

static void lay_out(struct wi_elf *elf, struct layout *layout)
{
    layout->n = 1; /* section 0 is none */
    layout->n_names = 1;
    layout->size = aligned(sizeof(Elf64_Ehdr));
    wi_elf_debug_sections(elf, add_section, layout);
    add_section(".shstrtab", (struct wi_bytes){(const uint8_t *)layout->names, sizeof layout->names}, layout);
    layout->headers[layout->n - 1].sh_type = SHT_STRTAB;
}

static void write_headers(const struct layout *layout)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_shoff = layout->size,
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (uint16_t)layout->n,
                         .e_shstrndx = (uint16_t)(layout->n - 1)};
    memcpy(layout->image, &header, sizeof header);
    memcpy(layout->image + layout->size, layout->headers, layout->n * sizeof *layout->headers);
    memcpy(layout->image + layout->headers[layout->n - 1].sh_offset, layout->names, sizeof layout->names);
}

struct wi_bytes wi_elf_image(struct wi_elf *elf)
{
    struct wi_bytes none = {NULL, 0};
    struct layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return none;
    lay_out(elf, layout);
    size_t size = layout->size + layout->n * sizeof *layout->headers;
    uint8_t *image = layout->n > 2 ? calloc(1, size) : NULL;
    if (image) {
        memset(layout, 0, sizeof *layout);
        layout->image = image;
        lay_out(elf, layout);
        write_headers(layout);
    }
    free(layout);
    return image ? (struct wi_bytes){image, size} : none;
}
