/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damaged files: whatever the bytes, the answer is an error or a table that keeps its promises, in bounded time.
 *
 * The damage is drawn from a fixed seed, so that a failure comes again. Run under VARIANT=asan or ubsan, this
 * also finds reads out of bounds and undefined arithmetic.
 */
#include "runtime/symbols/unwind_cfi.h"
#include "runtime/symbols/unwind_compile.h"

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CFI = 32768, CFI_ROUNDS = 6000, FILE_ROUNDS = 600 };

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* A few bytes set to anything, or to the extremes that arithmetic stumbles over. */
static void damage(uint8_t *bytes, size_t size)
{
    static const uint8_t extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    for (uint64_t n = 1 + draw(16); n > 0; n--) {
        size_t at = draw(size), run = 1 + draw(8);
        for (size_t i = at; i < at + run && i < size; i++)
            bytes[i] = draw(2) ? (uint8_t)draw(256) : extremes[draw(sizeof extremes)];
    }
}

static void assert_kept_promises(int error, struct wi_unwind_table *table, size_t size)
{
    ck_assert_int_le(error, 0);
    if (error)
        return;
    ck_assert(wi_unwind_table_is_valid(table, size));
    for (int i = 0; i < 100; i++)
        wi_unwind_find(table, draw(table->span * 2));
    free(table);
}

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file read_self(void)
{
    struct stat status;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(fstat(fd, &status), 0);
    struct file file = {malloc((size_t)status.st_size), (size_t)status.st_size};
    ck_assert_int_eq(read(fd, file.bytes, file.size), (ssize_t)file.size);
    close(fd);
    return file;
}

static struct wi_cfi_section find_cfi(const struct file *file)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file->bytes + header->e_shoff);
    const char *names = (const char *)file->bytes + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < header->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, ".eh_frame") == 0)
            return (struct wi_cfi_section){file->bytes + sections[i].sh_offset, sections[i].sh_size,
                                           sections[i].sh_addr};
    ck_abort_msg("this program has no .eh_frame");
}

START_TEST(damaged_call_frame_information_does_no_harm)
{
    struct file file = read_self();
    struct wi_cfi_section section = find_cfi(&file);
    struct wi_cfi_range everything = {0, UINT64_MAX};
    if (section.size > MAX_CFI)
        section.size = MAX_CFI;
    random_state = 1;
    for (int round = 0; round < CFI_ROUNDS; round++) {
        size_t size =
            draw(4) ? section.size : draw(section.size); /* an own block, so that its end is guarded */
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, section.data, size);
        if (size)
            damage(copy, size);
        struct wi_cfi_section damaged = {copy, size, section.address};
        struct wi_rows *rows = wi_rows_create();
        struct wi_unwind_table *table;
        size_t table_size;
        int error = wi_cfi_read(&damaged, &everything, 1, rows);
        if (!error)
            error = wi_rows_finish(rows, &table, &table_size);
        assert_kept_promises(error, table, table_size);
        wi_rows_destroy(rows);
        free(copy);
    }
    free(file.bytes);
}
END_TEST

START_TEST(nothing_but_noise_does_no_harm)
{
    uint8_t noise[2048];
    struct wi_cfi_range everything = {0, UINT64_MAX};
    random_state = 2;
    for (int round = 0; round < CFI_ROUNDS; round++) {
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)draw(256);
        for (size_t i = 0; i + 64 < sizeof noise; i += 64) /* lengths that lead on */
            memcpy(noise + i,
                   (const uint8_t[]){60, 0, 0, 0, (uint8_t)(i ? i + 4 : 0), (uint8_t)((i + 4) >> 8), 0, 0},
                   8);
        struct wi_cfi_section section = {noise, sizeof noise, draw(UINT64_MAX)};
        struct wi_rows *rows = wi_rows_create();
        struct wi_unwind_table *table;
        size_t table_size;
        memcpy(noise + 8, "\1zR\0\1\x78\x10\1", 8);
        int error = wi_cfi_read(&section, &everything, 1, rows);
        if (!error)
            error = wi_rows_finish(rows, &table, &table_size);
        assert_kept_promises(error, table, table_size);
        wi_rows_destroy(rows);
    }
}
END_TEST

START_TEST(damaged_files_do_no_harm)
{
    struct file file = read_self();
    uint8_t *copy = malloc(file.size);
    random_state = 3;
    for (int round = 0; round < FILE_ROUNDS; round++) {
        size_t size = draw(4) ? file.size : draw(file.size);
        size_t n_headers = 64 + 56 * 14, n_sections = 64 * 40;
        memcpy(copy, file.bytes, size);
        if (size > n_headers + n_sections) {
            damage(copy + 16, n_headers - 16);
            if (draw(2))
                damage(copy + size - n_sections, n_sections);
        }
        struct wi_unwind_table *table;
        size_t table_size;
        int error = wi_unwind_compile_image(copy, size, &table, &table_size);
        assert_kept_promises(error, table, table_size);
    }
    free(copy);
    free(file.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unwind_fuzz");
    TCase *damaged = tcase_create("damaged");
    tcase_set_timeout(damaged, 60);
    tcase_add_test(damaged, damaged_call_frame_information_does_no_harm);
    tcase_add_test(damaged, nothing_but_noise_does_no_harm);
    tcase_add_test(damaged, damaged_files_do_no_harm);
    suite_add_tcase(suite, damaged);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
