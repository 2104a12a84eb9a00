/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damages ELF files and has runtime/symbols read them: whatever happens to the parsers, the caller gets an answer.
 *
 *     symbols_mutate SECONDS SEED FILE...
 *
 * Each round damages one of the files in a few places, half of them in sections with debug information, and asks for
 * frames, names, units and scope. The damage depends on nothing but the seed and the number of the round, so that a
 * failure can be repeated: it leaves the file behind and says where. Rounds go on until the time is over.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/symbols/symbols.h"

#define MAX_SECONDS_PER_ROUND 30.0

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) % n;
}

struct file {
    const char *path;
    uint8_t *bytes;
    size_t size;
};

static struct file load(const char *path)
{
    struct file file = {path, NULL, 0};
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        exit(2);
    file.size = (size_t)ftell(in);
    rewind(in);
    file.bytes = malloc(file.size);
    if (!file.bytes || file.size < sizeof(Elf64_Ehdr) || fread(file.bytes, 1, file.size, in) != file.size)
        exit(2);
    fclose(in);
    return file;
}

/* A place in a section with debug information, picked at random. */
static size_t debug_place(const struct file *file)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file->bytes + header->e_shoff);
    const char *names = (const char *)file->bytes + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < 64; i++) {
        const Elf64_Shdr *section = &sections[random_below(header->e_shnum)];
        if (strncmp(names + section->sh_name, ".debug_", 7) == 0 && section->sh_size > 0)
            return section->sh_offset + random_below(section->sh_size);
    }
    return random_below(file->size);
}

static void damage(const struct file *file, uint8_t *bytes, size_t *size)
{
    static const uint8_t favourites[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe};
    for (uint64_t n = 1 + random_below(8); n > 0; n--) {
        size_t at = random_below(2) ? debug_place(file) : random_below(random_below(4) ? 4096 : file->size);
        size_t length = 1 + random_below(random_below(4) ? 2 : 64);
        bool same = random_below(2), favourite = random_below(2);
        uint8_t value = favourites[random_below(sizeof favourites)];
        for (size_t i = at; i < at + length && i < file->size; i++) {
            bytes[i] = favourite ? value : (uint8_t)random_below(256);
            if (!same)
                value = favourites[random_below(sizeof favourites)];
        }
    }
    if (random_below(16) == 0)
        *size = random_below(*size);
}

static void count(const struct wi_symbols_notice *notice, void *context)
{
    if (notice->text[0])
        ++*(size_t *)context;
}

static void ask(const char *path)
{
    struct wi_symbols *symbols;
    struct wi_module_source source = {.index = 0, .path = path, .is_main = true};
    if (wi_symbols_create(NULL, &symbols) != 0 || wi_symbols_add_module(symbols, &source) != 0)
        exit(2);
    struct wi_range_list list;
    struct wi_unit_ranges unit;
    size_t n_notices = 0;
    if (wi_symbols_scope_ranges(symbols, &list) != 0)
        exit(2);
    for (size_t i = 0; i < list.n && i < 200; i++) {
        struct wi_frame frames[WI_MAX_FRAMES_AT];
        wi_symbols_frames(symbols, 0, list.ranges[i].low, frames, WI_MAX_FRAMES_AT);
        const char *line = wi_symbols_line_name(symbols, 0, list.ranges[i].low);
        const char *function = wi_symbols_function_name(symbols, 0, list.ranges[i].low);
        if (line && wi_symbols_unit(symbols, line, &unit) == 0)
            wi_unit_ranges_fini(&unit);
        if (i < 20 && function && wi_symbols_unit(symbols, function, &unit) == 0)
            wi_unit_ranges_fini(&unit);
    }
    char *names[4];
    for (size_t n = wi_symbols_suggest(symbols, "main.c:12 < mian", names, 4); n > 0; n--)
        free(names[n - 1]);
    wi_symbols_notices(symbols, count, &n_notices);
    wi_range_list_fini(&list);
    wi_symbols_destroy(symbols);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
        exit(2);
}

int main(int argc, char **argv)
{
    struct file files[32];
    int n_files = argc - 3;
    char path[64];
    if (n_files < 1 || n_files > 32)
        return 2;
    for (int i = 0; i < n_files; i++)
        files[i] = load(argv[i + 3]);
    uint64_t seed = strtoull(argv[2], NULL, 10), round = 0;
    double end = now() + atof(argv[1]), slowest = 0;
    snprintf(path, sizeof path, "damaged-%d", (int)getpid());
    for (; now() < end; round++) {
        state = seed * 1000003 + round;
        const struct file *file = &files[random_below((uint64_t)n_files)];
        uint8_t *bytes = malloc(file->size);
        size_t size = file->size;
        if (!bytes)
            return 2;
        memcpy(bytes, file->bytes, size);
        damage(file, bytes, &size);
        write_file(path, bytes, size);
        free(bytes);
        double begin = now();
        ask(path); /* a crash ends here, and leaves the file */
        if (now() - begin > slowest)
            slowest = now() - begin;
        if (slowest > MAX_SECONDS_PER_ROUND) {
            printf("round %llu of seed %llu took %.1f s: see %s\n", (unsigned long long)round,
                   (unsigned long long)seed, slowest, path);
            return 1;
        }
    }
    unlink(path);
    for (int i = 0; i < n_files; i++)
        free(files[i].bytes);
    printf("%llu rounds, the slowest %.2f s\n", (unsigned long long)round, slowest);
    return 0;
}
