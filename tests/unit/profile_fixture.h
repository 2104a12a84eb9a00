/* SPDX-License-Identifier: BSD-2-Clause */
/* A directory of its own for each test, and files in it. Tests run one process each. */
#ifndef WI_TESTS_PROFILE_FIXTURE_H
#define WI_TESTS_PROFILE_FIXTURE_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64];
static char path[96]; /* of the profile */

static inline void make_directory(void)
{
    strcpy(directory, "/tmp/whatif-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/profile", directory);
}

static inline int remove_entry(const char *name, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(name);
}

static inline void remove_directory(void)
{
    nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void write_bytes(const char *name, const char *bytes, size_t length)
{
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static inline void write_file(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* The file's bytes with a NUL after them, to be freed. */
static inline char *read_file(const char *name, size_t *length)
{
    FILE *file = fopen(name, "r");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(size + 1);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    bytes[size] = '\0';
    if (length != NULL)
        *length = size;
    fclose(file);
    return bytes;
}

static inline int run_tests(const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);
    tcase_add_checked_fixture(tests, make_directory, remove_directory);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}

#endif
