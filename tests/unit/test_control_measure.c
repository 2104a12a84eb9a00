/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened between two readings of a session that is made up in memory.
 */
#include "runtime/control/measure.h"
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull

static struct wi_session *session;
static struct wi_reading from, to;
static struct wi_counts counts;
static struct wi_record_experiment record;

static void set_up(void)
{
    session = calloc(1, sizeof *session);
    ck_assert_ptr_nonnull(session);
    memset(&from, 0, sizeof from);
    memset(&to, 0, sizeof to);
    from.wall_ns = 1000 * MS;
    to.wall_ns = 1100 * MS;
    record = (struct wi_record_experiment){.valid = true};
}

static void tear_down(void)
{
    free(session);
}

static void add_point(bool latency)
{
    uint32_t i = session->points_high++;
    session->points[i].state = 2;
    session->points[i].latency = latency;
    session->points[i].counter = session->counters_used;
    session->counters_used += latency ? WI_WORDS_LATENCY : WI_WORDS_THROUGHPUT;
    from.n_points = to.n_points = session->points_high;
}

static void measure(void)
{
    wi_measure_between(session, &from, &to, &counts, &record);
}

START_TEST(differences_are_what_happened)
{
    from.delay_ns = 7 * MS, to.delay_ns = 27 * MS;
    from.samples = 10, to.samples = 110;
    from.hits = 1, to.hits = 31;
    from.paused_ns = 5, to.paused_ns = 105;
    measure();
    ck_assert_uint_eq(record.start_ns, 1000 * MS);
    ck_assert_uint_eq(record.end_ns, 1100 * MS);
    ck_assert_uint_eq(record.delay_ns, 20 * MS);
    ck_assert_uint_eq(record.samples, 100);
    ck_assert_uint_eq(record.hits, 30);
    ck_assert_uint_eq(record.paused_ns, 100);
    ck_assert(record.valid);
}
END_TEST

START_TEST(visits_are_counted_per_point)
{
    add_point(false);
    add_point(false);
    from.points[0].visits = 5, to.points[0].visits = 25;
    from.points[1].visits = 9, to.points[1].visits = 9;
    measure();
    ck_assert_uint_eq(record.n_points, 2);
    ck_assert_uint_eq(record.points[0].visits, 20);
    ck_assert_uint_eq(record.points[1].visits, 0);
}
END_TEST

START_TEST(point_that_is_being_written_does_not_count_yet)
{
    add_point(false);
    session->points[0].state = 1;
    measure();
    ck_assert_uint_eq(record.n_points, 0);
}
END_TEST

START_TEST(point_that_came_meanwhile_counts_from_nothing)
{
    add_point(false);
    from.n_points = 0;
    from.points[0].visits = 77; /* of an earlier use of the memory */
    to.points[0].visits = 4;
    measure();
    ck_assert_uint_eq(record.points[0].visits, 4);
}
END_TEST

START_TEST(one_request_in_flight_all_the_time)
{
    add_point(true);
    from.points[0].begins = to.points[0].begins = 1;
    measure();
    ck_assert(fabs(record.points[0].in_flight_ns - 100.0 * MS) < 1);
}
END_TEST

START_TEST(request_that_came_and_went_counts_its_length)
{
    add_point(true);
    to.points[0].begins = to.points[0].visits = 1;
    to.points[0].begin_times = 1010 * MS;
    to.points[0].end_times = 1030 * MS;
    measure();
    ck_assert(fabs(record.points[0].in_flight_ns - 20.0 * MS) < 1);
}
END_TEST

START_TEST(pauses_do_not_lengthen_what_is_in_flight)
{
    add_point(true);
    from.points[0].begins = to.points[0].begins = 2;
    to.delay_ns = 40 * MS;
    measure();
    ck_assert(fabs(record.points[0].in_flight_ns - 2 * 60.0 * MS) < 1);
}
END_TEST

START_TEST(sums_of_times_may_wrap)
{
    add_point(true);
    from.points[0].begin_times = UINT64_MAX - 5;
    to.points[0].begin_times = from.points[0].begin_times + 1010 * MS;
    to.points[0].end_times = 1030 * MS;
    to.points[0].begins = to.points[0].visits = 1;
    measure();
    ck_assert(fabs(record.points[0].in_flight_ns - 20.0 * MS) < 1);
}
END_TEST

START_TEST(points_without_times_take_the_mean_of_both_ends)
{
    add_point(true);
    from.points[0].begins = 2;
    to.points[0].begins = 14, to.points[0].visits = to.points[0].inline_visits = 10;
    measure();
    ck_assert(fabs(record.points[0].in_flight_ns - 3 * 100.0 * MS) < 1);
}
END_TEST

START_TEST(histogram_lists_only_what_changed)
{
    add_point(true);
    from.points[0].histogram[3] = to.points[0].histogram[3] = 8;
    from.points[0].histogram[5] = 1, to.points[0].histogram[5] = 4;
    measure();
    ck_assert_uint_eq(record.points[0].n_histogram, 1);
    ck_assert_uint_eq(record.points[0].histogram[0], 5);
    ck_assert_uint_eq(record.points[0].histogram[1], 3);
}
END_TEST

START_TEST(suspended_machine_makes_it_worthless)
{
    to.suspended_ns = 5000 * MS;
    measure();
    ck_assert(!record.valid);
    ck_assert_str_eq(record.invalid_because, "the machine was suspended");
}
END_TEST

START_TEST(noise_is_the_share_of_stolen_ticks)
{
    to.cpu_total = 200, to.cpu_stolen = 10;
    measure();
    ck_assert(fabs(record.noise - 0.05) < 1e-9);
    to.cpu_total = from.cpu_total;
    measure();
    ck_assert(record.noise < 0);
}
END_TEST

START_TEST(reading_adds_up_threads_and_inline_counters)
{
    add_point(false);
    add_point(true);
    session->threads_high = 2;
    session->threads[0].counters[0] = 3;
    session->threads[1].counters[0] = 4;
    session->points[0].coz[0].count = 100;
    session->threads[0].counters[1 + WI_WORD_BEGINS] = 6;
    session->threads[1].counters[1 + WI_WORD_VISITS] = 5;
    session->points[1].coz[0].count = 20;
    session->points[1].coz[1].count = 10;
    session->threads[1].hits = 9;
    wi_measure_read(session, &to);
    ck_assert_uint_eq(to.points[0].visits, 107);
    ck_assert_uint_eq(to.points[1].begins, 26);
    ck_assert_uint_eq(to.points[1].visits, 15);
    ck_assert_uint_eq(to.points[1].inline_visits, 10);
    ck_assert_uint_eq(to.hits, 9);
}
END_TEST

/* A slot that belongs to the thread that runs this test. */
static struct wi_thread *running_thread(uint64_t local_delay)
{
    session->processes[0].pid = (uint32_t)getpid();
    session->threads_high = 1;
    session->threads[0].tid = (uint32_t)gettid();
    session->threads[0].local_delay = local_delay;
    session->expected_overshoot_ns = 50000;
    return &session->threads[0];
}

START_TEST(running_thread_that_owes_is_unsettled)
{
    running_thread(0);
    session->clock.global_delay = 1 * MS;
    ck_assert_uint_eq(wi_measure_unsettled(session), 1);
}
END_TEST

START_TEST(thread_that_owes_what_cannot_be_slept_is_settled)
{
    running_thread(1 * MS - 80000);
    session->clock.global_delay = 1 * MS;
    ck_assert_uint_eq(wi_measure_unsettled(session), 0);
}
END_TEST

START_TEST(thread_in_a_wait_or_gone_is_settled)
{
    struct wi_thread *thread = running_thread(0);
    session->clock.global_delay = 1 * MS;
    thread->state = WI_THREAD_WAITING;
    ck_assert_uint_eq(wi_measure_unsettled(session), 0);
    thread->state = WI_THREAD_RUNNING;
    thread->tid = 0;
    ck_assert_uint_eq(wi_measure_unsettled(session), 0);
}
END_TEST

START_TEST(thread_that_has_not_adopted_the_experiment_owes_from_its_beginning)
{
    running_thread(0);
    session->clock.global_delay = 500 * MS;
    session->clock.start_delay = 500 * MS;
    session->clock.experiment = wi_experiment_word(3, 0, 0, 0);
    ck_assert_uint_eq(wi_measure_unsettled(session), 0);
    session->clock.global_delay = 501 * MS;
    ck_assert_uint_eq(wi_measure_unsettled(session), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("measure");
    TCase *core = tcase_create("core");
    tcase_add_checked_fixture(core, set_up, tear_down);
    tcase_add_test(core, differences_are_what_happened);
    tcase_add_test(core, visits_are_counted_per_point);
    tcase_add_test(core, point_that_is_being_written_does_not_count_yet);
    tcase_add_test(core, point_that_came_meanwhile_counts_from_nothing);
    tcase_add_test(core, one_request_in_flight_all_the_time);
    tcase_add_test(core, request_that_came_and_went_counts_its_length);
    tcase_add_test(core, pauses_do_not_lengthen_what_is_in_flight);
    tcase_add_test(core, sums_of_times_may_wrap);
    tcase_add_test(core, points_without_times_take_the_mean_of_both_ends);
    tcase_add_test(core, histogram_lists_only_what_changed);
    tcase_add_test(core, suspended_machine_makes_it_worthless);
    tcase_add_test(core, noise_is_the_share_of_stolen_ticks);
    tcase_add_test(core, reading_adds_up_threads_and_inline_counters);
    tcase_add_test(core, running_thread_that_owes_is_unsettled);
    tcase_add_test(core, thread_that_owes_what_cannot_be_slept_is_settled);
    tcase_add_test(core, thread_in_a_wait_or_gone_is_settled);
    tcase_add_test(core, thread_that_has_not_adopted_the_experiment_owes_from_its_beginning);
    suite_add_tcase(suite, core);
    return wi_unit_run(suite);
}
