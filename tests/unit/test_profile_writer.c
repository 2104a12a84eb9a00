/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing profiles: what may be replaced, what a line looks like, and what errors leave behind. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/profile/writer.h"
#include "tests/unit/profile_fixture.h"

static const struct wi_record_header header = {
    .command = (const char *const[]){"./server", "a\xff", NULL}, .seed = UINT64_MAX, .sampler = "sigtrap"};

static const char *content(void)
{
    static char *text;
    free(text);
    text = read_file(path, NULL);
    return text;
}

START_TEST(header_is_there_before_anything_is_flushed)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    ck_assert_ptr_nonnull(strstr(content(), "\"format\":\"whatif-profile\",\"version\":1"));
    ck_assert_ptr_nonnull(strstr(content(), "\"seed\":\"18446744073709551615\""));
    ck_assert_ptr_nonnull(strstr(content(), "\"a\xef\xbf\xbd\""));
    ck_assert_int_eq(wi_profile_close(writer), 0);
}
END_TEST

START_TEST(file_is_readable_by_its_owner_only)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(wi_profile_close(writer), 0);
}
END_TEST

START_TEST(symbolic_link_is_not_followed)
{
    char victim[96];
    snprintf(victim, sizeof victim, "%s/victim", directory);
    write_file(victim, "precious");
    ck_assert_int_eq(symlink(victim, path), 0);
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), -ELOOP);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rename(victim, path), 0);
    ck_assert_str_eq(content(), "precious");
}
END_TEST

START_TEST(own_file_is_replaced_not_overwritten)
{
    char other_name[96];
    snprintf(other_name, sizeof other_name, "%s/link", directory);
    write_file(path, "old");
    ck_assert_int_eq(link(path, other_name), 0);
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    ck_assert_int_eq(wi_profile_close(writer), 0);
    ck_assert_ptr_nonnull(strstr(content(), "whatif-profile"));
    ck_assert_int_eq(rename(other_name, path), 0);
    ck_assert_str_eq(content(), "old");
}
END_TEST

START_TEST(file_of_another_user_is_refused)
{
    if (geteuid() != 0)
        return; /* only root can make one */
    write_file(path, "theirs");
    ck_assert_int_eq(chown(path, 1234, 1234), 0);
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), -EPERM);
    ck_assert_str_eq(content(), "theirs");
}
END_TEST

START_TEST(directories_and_devices_are_refused)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(directory, &header, &writer), -EISDIR);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), -EEXIST);
    ck_assert_int_eq(wi_profile_create("/nowhere/at/all", &header, &writer), -ENOENT);
}
END_TEST

START_TEST(first_error_sticks_and_leaves_whole_lines)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    struct rlimit old, limit;
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 10000; /* SIGXFSZ is ignored below: write fails with EFBIG */
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    struct wi_record_notice notice = {
        .code = "c", .text = "a text of some length to fill the file", .count = 1};
    for (int i = 0; i < 1000; i++)
        wi_profile_write_notice(writer, &notice);
    ck_assert_int_eq(wi_profile_flush(writer), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &old);
    wi_profile_write_notice(writer, &notice);
    ck_assert_int_eq(wi_profile_close(writer), -EFBIG);
    const char *text = content();
    ck_assert_uint_gt(strlen(text), 5000);
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
}
END_TEST

START_TEST(samples_are_columns_without_those_that_are_all_zero)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    struct wi_record_sample samples[] = {{.time_ns = 1, .thread = 2, .stack = 3, .cpu_ns = 4},
                                         {.time_ns = 1234567890123, .thread = 0, .stack = 10}};
    wi_profile_write_samples(writer, samples, 2);
    wi_profile_write_samples(writer, samples, 0);
    ck_assert_int_eq(wi_profile_close(writer), 0);
    const char *line = strchr(content(), '\n') + 1;
    ck_assert_str_eq(line,
                     "{\"type\":\"samples\",\"time_ns\":[1,1234567890123],\"thread\":[2,0],\"stack\":[3,10],"
                     "\"cpu_ns\":[4,0]}\n");
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("writer");
    tcase_add_test(tests, header_is_there_before_anything_is_flushed);
    tcase_add_test(tests, file_is_readable_by_its_owner_only);
    tcase_add_test(tests, symbolic_link_is_not_followed);
    tcase_add_test(tests, own_file_is_replaced_not_overwritten);
    tcase_add_test(tests, file_of_another_user_is_refused);
    tcase_add_test(tests, directories_and_devices_are_refused);
    tcase_add_test(tests, first_error_sticks_and_leaves_whole_lines);
    tcase_add_test(tests, samples_are_columns_without_those_that_are_all_zero);
    return run_tests("profile writer", tests);
}
