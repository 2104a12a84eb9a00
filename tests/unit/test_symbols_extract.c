/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading files, in a process of its own: this test's own executable, what is none, and what died underway. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/symbols_fixture.h"

static struct wi_symbols *symbols;

static void create(void)
{
    ck_assert_int_eq(wi_symbols_create(NULL, &symbols), 0);
}

static void destroy(void)
{
    wi_symbols_destroy(symbols);
}

static void add(const char *path, const char *open_path, const uint8_t *build_id, size_t length)
{
    struct wi_module_source source = {.index = 0,
                                      .path = path,
                                      .open_path = open_path,
                                      .build_id = build_id,
                                      .build_id_length = length,
                                      .is_main = true};
    ck_assert_int_eq(wi_symbols_add_module(symbols, &source), 0);
}

struct seen {
    const char *code;
    size_t n;
};

static void count(const struct wi_symbols_notice *notice, void *context)
{
    struct seen *seen = context;
    seen->n += strcmp(notice->code, seen->code) == 0;
}

static size_t notices(const char *code)
{
    struct seen seen = {code, 0};
    wi_symbols_notices(symbols, count, &seen);
    return seen.n;
}

START_TEST(adding_reads_nothing_and_asking_reads_once)
{
    add("/no/such/file", NULL, NULL, 0);
    ck_assert_int_eq(wi_symbols_detail(symbols, 0), WI_DETAIL_UNREAD);
    ck_assert_uint_eq(notices("module-unreadable"), 0);
    struct wi_frame frame;
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(wi_symbols_frames(symbols, 0, 0x10, &frame, 1), 1);
    ck_assert_int_eq(wi_symbols_detail(symbols, 0), WI_DETAIL_NONE);
    ck_assert_uint_eq(notices("module-unreadable"), 1);
    ck_assert_str_eq(frame.function, "file+0x10");
}
END_TEST

START_TEST(numbers_are_given_once)
{
    struct wi_module_source source = {.index = 0, .path = "/a"};
    ck_assert_int_eq(wi_symbols_add_module(symbols, &source), 0);
    ck_assert_int_eq(wi_symbols_add_module(symbols, &source), -EEXIST);
    source.index = UINT32_MAX;
    ck_assert_int_eq(wi_symbols_add_module(symbols, &source), -E2BIG);
}
END_TEST

START_TEST(this_program_is_read_with_its_lines)
{
    struct wi_unit_ranges unit;
    add("/p/test", "/proc/self/exe", NULL, 0);
    ck_assert_int_eq(wi_symbols_unit(symbols, "this_program_is_read_with_its_lines_fn", &unit), 0);
    ck_assert_int_eq(wi_symbols_detail(symbols, 0), WI_DETAIL_LINES);
    ck_assert_ptr_nonnull(strstr(unit.file, "tests/unit/test_symbols_extract.c"));
    wi_unit_ranges_fini(&unit);
}
END_TEST

START_TEST(file_of_a_process_that_is_gone_is_read_by_its_name)
{
    char path[4096] = {0};
    ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof path - 1), 0);
    add(path, "/proc/2147483647/exe", NULL, 0);
    wi_symbols_read_all(symbols);
    ck_assert_int_eq(wi_symbols_detail(symbols, 0), WI_DETAIL_LINES);
}
END_TEST

START_TEST(file_that_was_replaced_is_not_believed)
{
    static const uint8_t other[20] = {1, 2, 3};
    add("/p/test", "/proc/self/exe", other, sizeof other);
    struct wi_frame frame;
    ck_assert_uint_eq(wi_symbols_frames(symbols, 0, 0x2000, &frame, 1), 1);
    if (notices("module-changed") == 0)
        wi_skip("this compiler gives no build-ids");
    ck_assert_int_eq(wi_symbols_detail(symbols, 0), WI_DETAIL_NONE);
}
END_TEST

static void ignore(int number)
{
    (void)number;
}

/* A launcher may reap every child it hears of, and ignore or handle SIGCHLD as it likes. */
START_TEST(whoever_reaps_the_reader_does_no_harm)
{
    struct wi_unit_ranges unit;
    signal(SIGCHLD, SIG_IGN);
    add("/p/test", "/proc/self/exe", NULL, 0);
    ck_assert_int_eq(wi_symbols_unit(symbols, "create", &unit), 0);
    wi_unit_ranges_fini(&unit);
    signal(SIGCHLD, SIG_DFL);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* none is left behind */
}
END_TEST

START_TEST(signals_of_the_caller_are_not_the_readers)
{
    sigset_t before, after;
    signal(SIGUSR1, ignore);
    sigprocmask(SIG_SETMASK, NULL, &before);
    add("/p/test", "/proc/self/exe", NULL, 0);
    wi_symbols_read_all(symbols);
    sigprocmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(sigismember(&before, SIGUSR1), sigismember(&after, SIGUSR1));
    ck_assert_ptr_eq(signal(SIGUSR1, SIG_DFL), ignore);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("symbols: extract");
    TCase *tcase = tcase_create("extract");
    tcase_add_checked_fixture(tcase, create, destroy);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, adding_reads_nothing_and_asking_reads_once);
    tcase_add_test(tcase, numbers_are_given_once);
    tcase_add_test(tcase, this_program_is_read_with_its_lines);
    tcase_add_test(tcase, file_of_a_process_that_is_gone_is_read_by_its_name);
    tcase_add_test(tcase, file_that_was_replaced_is_not_believed);
    tcase_add_test(tcase, whoever_reaps_the_reader_does_no_harm);
    tcase_add_test(tcase, signals_of_the_caller_are_not_the_readers);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return wi_unit_run(suite());
}
