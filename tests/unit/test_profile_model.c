/* SPDX-License-Identifier: BSD-2-Clause */
/* The model: sums by block and arm, names that merge, tallies that replace, and limits that are counted. */
#include <errno.h>

#include "runtime/profile/model.h"
#include "runtime/profile/writer.h"
#include "tests/unit/profile_fixture.h"
#include "tests/unit/report_profiles.h"

static struct wi_model *model;

static void begin(void)
{
    model = wi_model_create();
    ck_assert_ptr_nonnull(model);
}

static void end(void)
{
    ck_assert_int_eq(model->error, 0);
    wi_model_destroy(model);
}

static void header(void)
{
    struct wi_profile_visitor visitor = wi_model_visitor(model);
    visitor.header(&(struct wi_record_header){.command = (const char *const[]){"x", "it's", "", NULL}},
                   model);
}

static void unit(uint32_t id, const char *name)
{
    wi_model_add_unit(model, &(struct wi_record_unit){.id = id, .name = name, .kind = "line"});
}

static void experiment(uint32_t unit_id, uint32_t block, enum wi_experiment_kind kind, double speedup,
                       uint64_t visits)
{
    struct wi_point_count count = {.point = 5, .visits = visits};
    wi_model_add_experiment(model, &(struct wi_record_experiment){.unit = unit_id,
                                                                  .block = block,
                                                                  .kind = kind,
                                                                  .speedup_percent = speedup,
                                                                  .start_ns = 100,
                                                                  .end_ns = 1100,
                                                                  .delay_ns = 200,
                                                                  .noise = -1,
                                                                  .valid = true,
                                                                  .points = &count,
                                                                  .n_points = 1});
}

START_TEST(experiments_add_up_by_block_and_arm)
{
    wi_model_add_point(model, &(struct wi_record_point){.id = 5, .name = "p"});
    unit(9, "u");
    experiment(9, 3, WI_EXPERIMENT_BASELINE, 0, 4);
    experiment(9, 3, WI_EXPERIMENT_BASELINE, 0, 6);
    experiment(9, 3, WI_EXPERIMENT_TREATMENT, 50, 0);
    experiment(9, 3, WI_EXPERIMENT_TREATMENT, 0, 1); /* no speedup is a baseline */
    experiment(9, 4, WI_EXPERIMENT_PLACEBO, 50, 7);
    ck_assert_uint_eq(model->units[0].n_blocks, 2);
    ck_assert_uint_eq(model->units[0].blocks[0].n_arms, 2);
    const struct wi_arm *baseline = &model->units[0].blocks[0].arms[0];
    ck_assert_uint_eq(baseline->experiments, 3);
    ck_assert_double_eq(baseline->effective_ns, 2400);
    ck_assert_double_eq(wi_arm_point(baseline, 0).visits, 11);
    ck_assert_uint_eq(wi_arm_point(&model->units[0].blocks[0].arms[1], 0).without_visits, 1);
    ck_assert_double_eq(wi_arm_point(baseline, 77).visits, 0);
    ck_assert_uint_eq(model->points[0]->without_visits, 1);
}
END_TEST

START_TEST(what_does_not_count_is_counted)
{
    unit(0, "u");
    wi_model_add_experiment(model, &(struct wi_record_experiment){.end_ns = 9, .invalid_because = "stopped"});
    wi_model_add_experiment(model, &(struct wi_record_experiment){.end_ns = 9, .invalid_because = "stopped"});
    wi_model_add_experiment(model, &(struct wi_record_experiment){.end_ns = 9});
    wi_model_add_experiment(model, &(struct wi_record_experiment){.end_ns = 9, .delay_ns = 9, .valid = true});
    wi_model_add_experiment(model,
                            &(struct wi_record_experiment){.end_ns = 9, .delay_ns = 99, .valid = true});
    wi_model_add_experiment(model, &(struct wi_record_experiment){.end_ns = 9, .unit = 8, .valid = true});
    ck_assert_uint_eq(model->experiments, 5);
    ck_assert_uint_eq(model->valid, 0);
    ck_assert_uint_eq(model->n_invalid, 3);
    ck_assert_str_eq(model->invalid[0].why, "stopped");
    ck_assert_uint_eq(model->invalid[0].experiments, 2);
    ck_assert_uint_eq(model->invalid[2].experiments, 2);
}
END_TEST

START_TEST(last_tally_of_a_profile_counts_and_profiles_add)
{
    for (uint32_t profile = 0; profile < 2; profile++) {
        header();
        unit(profile + 1, "u");
        for (uint64_t i = 1; i <= 3; i++) {
            struct wi_unit_tally row = {profile + 1, 10 * i, 100 * i, 50 * i};
            wi_model_add_tally(model, &(struct wi_record_tally){
                                          .time_ns = 1000 * i, .samples = i, .units = &row, .n_units = 1});
        }
    }
    ck_assert_uint_eq(model->n_units, 1);
    ck_assert_double_eq(model->units[0].samples, 60);
    ck_assert_double_eq(model->units[0].inside_ns, 300);
    ck_assert_double_eq(model->units[0].wall_ns, 6000);
    ck_assert_double_eq_tol(wi_model_duration_s(model), 6e-6, 1e-12);
}
END_TEST

START_TEST(identifiers_mean_nothing_beyond_their_profile)
{
    header();
    unit(1, "first");
    header();
    ck_assert_uint_eq(wi_model_unit_of(model, 1), WI_NONE);
    unit(1, "second");
    ck_assert_uint_eq(wi_model_unit_of(model, 1), 1);
    ck_assert_str_eq(model->profiles[0].command, "x 'it'\\''s' ''");
}
END_TEST

START_TEST(points_of_one_name_and_two_kinds_are_two)
{
    wi_model_add_point(model, &(struct wi_record_point){.id = 0, .name = "p"});
    wi_model_add_point(model, &(struct wi_record_point){.id = 1, .name = "p", .kind = WI_POINT_LATENCY});
    wi_model_add_point(model, &(struct wi_record_point){.id = 2, .name = "p"});
    ck_assert_uint_eq(model->n_points, 2);
    ck_assert_uint_eq(wi_model_point_of(model, 2), 0);
}
END_TEST

START_TEST(limits_hold_and_are_counted)
{
    char name[32];
    for (uint32_t i = 0; i < WI_MODEL_MAX_POINTS + 10; i++) {
        snprintf(name, sizeof name, "p%u", i);
        wi_model_add_point(model, &(struct wi_record_point){.id = i, .name = name});
    }
    unit(0, "u");
    for (uint32_t i = 1; i < WI_MODEL_MAX_SPEEDUPS + 6; i++)
        experiment(0, 0, WI_EXPERIMENT_TREATMENT, i, 1);
    for (uint32_t i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "reason %u", i);
        wi_model_add_experiment(model, &(struct wi_record_experiment){.end_ns = 9, .invalid_because = name});
    }
    ck_assert_uint_eq(model->n_points, WI_MODEL_MAX_POINTS);
    ck_assert_uint_eq(model->units[0].n_speedups, WI_MODEL_MAX_SPEEDUPS);
    ck_assert_uint_eq(model->left_out, 15);
    ck_assert_uint_le(model->n_invalid, 32);
}
END_TEST

START_TEST(notices_of_one_text_are_one)
{
    struct wi_profile_visitor visitor = wi_model_visitor(model);
    for (int i = 0; i < 3; i++)
        visitor.notice(&(struct wi_record_notice){.code = "c", .text = "t", .count = 2}, model);
    visitor.notice(&(struct wi_record_notice){.code = "c", .text = "other"}, model);
    ck_assert_uint_eq(model->n_notices, 2);
    ck_assert_uint_eq(model->notices[0].count, 6);
}
END_TEST

START_TEST(files_and_their_trouble_are_kept)
{
    make_directory();
    write_run(path);
    FILE *file = fopen(path, "a");
    fputs("damage\n{\"type\":\"not", file);
    fclose(file);
    struct wi_profile_trouble trouble;
    ck_assert_int_eq(wi_model_add(model, path, &trouble), 0);
    ck_assert_int_eq(wi_model_add(model, "/nowhere", &trouble), -ENOENT);
    ck_assert_uint_eq(model->n_profiles, 1);
    ck_assert_str_eq(model->profiles[0].path, path);
    ck_assert_uint_eq(model->profiles[0].trouble.skipped, 1);
    ck_assert(model->profiles[0].trouble.truncated);
    ck_assert(model->profiles[0].ended);
    ck_assert_str_eq(model->profiles[0].end_reason, "exited");
    ck_assert_uint_eq(model->n_units, N_RUN_UNITS);
    ck_assert_double_gt(model->points[1]->histogram[wi_latency_bucket_of(4000000)], 0);
    remove_directory();
}
END_TEST

START_TEST(memory_grows_with_blocks_not_experiments)
{
    wi_model_add_point(model, &(struct wi_record_point){.id = 5, .name = "p"});
    unit(0, "u");
    for (uint32_t i = 0; i < 200000; i++)
        experiment(0, i % 10, i % 2 ? WI_EXPERIMENT_BASELINE : WI_EXPERIMENT_TREATMENT, 50, 1);
    ck_assert_uint_eq(model->units[0].n_blocks, 10);
    ck_assert_uint_eq(model->valid, 200000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profile model");
    TCase *tests = tcase_create("model");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, experiments_add_up_by_block_and_arm);
    tcase_add_test(tests, what_does_not_count_is_counted);
    tcase_add_test(tests, last_tally_of_a_profile_counts_and_profiles_add);
    tcase_add_test(tests, identifiers_mean_nothing_beyond_their_profile);
    tcase_add_test(tests, points_of_one_name_and_two_kinds_are_two);
    tcase_add_test(tests, limits_hold_and_are_counted);
    tcase_add_test(tests, notices_of_one_text_are_one);
    tcase_add_test(tests, files_and_their_trouble_are_kept);
    tcase_add_test(tests, memory_grows_with_blocks_not_experiments);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
