/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates from synthetic runs: the known truth comes back, and nothing impossible ever does. */
#include <time.h>

#include "runtime/profile/concave.h"
#include "runtime/profile/estimate.h"
#include "tests/unit/profile_fixture.h"
#include "tests/unit/profile_synthetic.h"

static struct wi_random random_source = {42};

static const struct synthetic quiet = {.truth = truth_linear,
                                       .blocks = 40,
                                       .rate = 10000,
                                       .drift = 0.5,
                                       .noise = 0.01,
                                       .inside = 0.5,
                                       .placebos = true,
                                       .length_ns = 1e9};

static struct wi_point_estimate estimate;
static struct wi_estimate_options options = WI_ESTIMATE_DEFAULTS;

static void estimate_run(const struct synthetic *run)
{
    struct wi_model *model = wi_model_create();
    synthetic_add(model, run, 0, "u", &random_source);
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
    wi_model_destroy(model);
}

static const struct wi_gain *gain_of(double speedup_percent)
{
    const struct wi_gains *gains = &estimate.units[0].gains;
    for (uint32_t i = 0; i < gains->n; i++)
        if (gains->at[i].speedup_percent == speedup_percent)
            return &gains->at[i];
    ck_abort_msg("no such speedup");
    return NULL;
}

/* ---- statistics -------------------------------------------------------------------------------------------------- */

START_TEST(t_agrees_with_tables)
{
    ck_assert_double_eq_tol(wi_t_quantile(0.975, 1), 12.7062, 1e-4);
    ck_assert_double_eq_tol(wi_t_quantile(0.975, 2), 4.30265, 1e-5);
    ck_assert_double_eq_tol(wi_t_quantile(0.975, 5), 2.57058, 1e-5);
    ck_assert_double_eq_tol(wi_t_quantile(0.975, 30), 2.04227, 1e-5);
    ck_assert_double_eq_tol(wi_t_quantile(0.9995, 3), 12.9240, 1e-4);
    ck_assert_double_eq_tol(wi_t_quantile(0.05, 10), -1.81246, 1e-5);
    ck_assert_double_eq_tol(wi_t_quantile(0.975, 1e6), 1.95997, 1e-4);
    ck_assert_double_eq_tol(wi_normal_quantile(0.975), 1.959964, 1e-6);
    ck_assert_double_eq_tol(wi_t_tail(2.0, 10), 0.036694, 1e-6);
    ck_assert_double_eq_tol(wi_t_tail(-2.0, 10), 1 - 0.036694, 1e-6);
}
END_TEST

START_TEST(false_discoveries_follow_benjamini_and_hochberg)
{
    const double p[] = {0.8, 0.01, 0.039, 0.001, 0.041, 0.2};
    bool clear[6];
    ck_assert_int_eq(wi_false_discovery(p, 6, 0.05, clear), 0);
    ck_assert(clear[1] && clear[3]);
    ck_assert(!clear[0] && !clear[2] && !clear[4] && !clear[5]);
    ck_assert_int_eq(wi_false_discovery(p, 0, 0.05, clear), 0);
}
END_TEST

/* ---- the concave fit ----------------------------------------------------------------------------------------------- */

static double misfit(const double *y, const double *weight, const double *fitted, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += weight[i] * (y[i] - fitted[i]) * (y[i] - fitted[i]);
    return sum;
}

static bool is_concave(const double *x, const double *f, size_t n)
{
    double before = HUGE_VAL, x0 = 0, f0 = 0;
    for (size_t i = 0; i < n; i++) {
        double slope = (f[i] - f0) / (x[i] - x0);
        if (slope > before + 1e-9)
            return false;
        before = slope;
        x0 = x[i];
        f0 = f[i];
    }
    return true;
}

START_TEST(concave_points_are_their_own_fit)
{
    const double x[] = {.25, .5, .75, 1}, y[] = {.1, .18, .18, .05}, weight[] = {1, 2, 3, 4};
    double fitted[4];
    wi_concave_fit(x, y, weight, 4, fitted);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq_tol(fitted[i], y[i], 1e-9);
}
END_TEST

START_TEST(convex_points_get_the_best_line)
{
    const double x[] = {.5, 1}, y[] = {.05, .4}, weight[] = {1, 1};
    double fitted[2];
    wi_concave_fit(x, y, weight, 2, fitted);
    double slope = (.5 * .05 + .4) / 1.25;
    ck_assert_double_eq_tol(fitted[0], slope / 2, 1e-9);
    ck_assert_double_eq_tol(fitted[1], slope, 1e-9);
}
END_TEST

START_TEST(no_concave_curve_nearby_fits_better)
{
    double x[12], y[12], weight[12], fitted[12], other[12];
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + wi_random_below(&random_source, 12);
        for (size_t i = 0; i < n; i++) {
            x[i] = (double)(i + 1) / 12;
            y[i] = wi_random_normal(&random_source);
            weight[i] = exp(3 * wi_random_normal(&random_source));
        }
        wi_concave_fit(x, y, weight, n, fitted);
        ck_assert(is_concave(x, fitted, n));
        double best = misfit(y, weight, fitted, n);
        for (int trial = 0; trial < 20; trial++) {
            double a = 0.01 * wi_random_normal(&random_source), at = wi_random_uniform(&random_source);
            double hinge = 0.05 * wi_random_uniform(&random_source);
            for (size_t i = 0; i < n; i++)
                other[i] = fitted[i] + a * x[i] - hinge * fmax(0, x[i] - at);
            ck_assert_double_ge(misfit(y, weight, other, n), best - 1e-9 * (1 + best));
        }
    }
}
END_TEST

/* ---- known truths ---------------------------------------------------------------------------------------------------- */

START_TEST(gains_come_back_in_spite_of_drift)
{
    struct synthetic run = quiet;
    estimate_run(&run);
    for (size_t i = 0; i < 4; i++) {
        const struct wi_gain *gain = gain_of(synthetic_speedups[i]);
        ck_assert_double_eq_tol(gain->gain, truth_linear(synthetic_speedups[i] / 100), 0.02);
        ck_assert_double_le(gain->high - gain->low, 0.04);
        ck_assert_uint_eq(gain->blocks, 40);
    }
    ck_assert_double_eq_tol(estimate.units[0].gains.max, 0.3, 0.02);
    ck_assert(estimate.units[0].clearly_positive);
    ck_assert(estimate.units[0].decided);
    ck_assert_double_eq_tol(estimate.value, 10000, 2500);
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(latency_gains_come_back)
{
    struct synthetic run = quiet;
    run.latency = true;
    estimate_run(&run);
    ck_assert_double_eq_tol(gain_of(100)->gain, 0.3, 0.02);
    ck_assert_double_eq_tol(estimate.value, 500000, 120000); /* 5 in flight, 10,000 ends a second */
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(matched_pairs_stand_in_where_nothing_was_in_flight)
{
    struct wi_model *model = wi_model_create();
    wi_model_add_point(model, &(struct wi_record_point){.name = "p", .kind = WI_POINT_LATENCY});
    wi_model_add_unit(model, &(struct wi_record_unit){.name = "u", .kind = "line"});
    for (uint32_t i = 0; i < 20; i++) {
        struct wi_point_count count = {
            .visits = 10, .matched = 10, .matched_sum_ns = i % 2 ? 600 + i % 3 : 1000};
        wi_model_add_experiment(model, &(struct wi_record_experiment){.block = i / 2,
                                                                      .kind = i % 2 ? WI_EXPERIMENT_TREATMENT
                                                                                    : WI_EXPERIMENT_BASELINE,
                                                                      .speedup_percent = i % 2 ? 100 : 0,
                                                                      .end_ns = 1000000,
                                                                      .valid = true,
                                                                      .points = &count,
                                                                      .n_points = 1});
    }
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
    ck_assert_double_eq_tol(gain_of(100)->gain, 0.399, 0.001);
    ck_assert_double_eq(estimate.value, 100);
    wi_point_estimate_fini(&estimate);
    wi_model_destroy(model);
}
END_TEST

START_TEST(cost_of_pausing_is_found_and_taken_off)
{
    struct synthetic run = quiet;
    run.pause_ns = 100000; /* a tenth of each pause */
    run.inside = 0.8;
    estimate_run(&run);
    ck_assert(estimate.pausing.known);
    ck_assert_double_eq_tol(estimate.pausing.cost_ns, 100000, 10000);
    ck_assert_double_lt(estimate.pausing.high, -0.02);
    ck_assert_double_eq_tol(gain_of(100)->gain, 0.3, 0.02);
    ck_assert(!estimate.pausing.demand_limited);
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(without_placebos_nothing_is_corrected)
{
    struct synthetic run = quiet;
    run.placebos = false;
    estimate_run(&run);
    ck_assert(!estimate.pausing.known);
    ck_assert_double_eq(estimate.pausing.cost_ns, 0);
    ck_assert_double_eq_tol(gain_of(100)->gain, 0.3, 0.02);
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(demand_limited_program_is_recognised)
{
    struct synthetic run = quiet;
    run.demand = true;
    run.rate = 500;
    run.truth = truth_zero;
    estimate_run(&run);
    ck_assert(estimate.pausing.demand_limited);
    ck_assert_double_eq_tol(estimate.pausing.demand, 1, 0.1);
    ck_assert(!estimate.units[0].decided);
    ck_assert_str_eq(estimate.units[0].undecided_because, "demand-limited");
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(convex_truth_is_not_forced_into_a_concave_curve)
{
    struct synthetic run = quiet;
    run.truth = truth_convex;
    estimate_run(&run);
    ck_assert(!estimate.units[0].gains.is_concave);
    ck_assert_double_eq_tol(estimate.units[0].gains.max, 0.5, 0.02);
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(profiles_of_different_level_do_not_mix)
{
    struct wi_model *model = wi_model_create();
    struct wi_profile_visitor visitor = wi_model_visitor(model);
    for (int i = 0; i < 3; i++) {
        struct synthetic run = quiet;
        run.blocks = i == 0 ? 1 : 20;
        run.rate = 1000 * pow(10, i);
        visitor.header(&(struct wi_record_header){.sampler = "none"}, visitor.context);
        synthetic_add(model, &run, 7 + (uint32_t)i, "u",
                      &random_source); /* the same name, other identifiers */
    }
    ck_assert_uint_eq(model->n_units, 1);
    ck_assert_uint_eq(model->n_points, 1);
    ck_assert_uint_eq(model->units[0].n_blocks, 41);
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
    ck_assert_double_eq_tol(gain_of(100)->gain, 0.3, 0.02);
    ck_assert_uint_eq(gain_of(100)->blocks, 41);
    wi_point_estimate_fini(&estimate);
    wi_model_destroy(model);
}
END_TEST

START_TEST(true_units_are_clear_and_others_rarely)
{
    struct wi_model *model = wi_model_create();
    char name[16];
    for (uint32_t i = 0; i < 40; i++) {
        struct synthetic run = quiet;
        run.blocks = 10;
        run.noise = 0.05;
        run.truth = i < 5 ? truth_linear : truth_zero;
        snprintf(name, sizeof name, "u%u", i);
        synthetic_add(model, &run, i, name, &random_source);
    }
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < estimate.n_units; i++) {
        if (i < 5)
            ck_assert_uint_lt(estimate.units[i].unit, 5); /* ranked first */
        if (estimate.units[i].unit < 5)
            ck_assert(estimate.units[i].clearly_positive);
        else
            wrong += estimate.units[i].clearly_positive;
    }
    ck_assert_uint_le(wrong, 2); /* 0.4 on average */
    wi_point_estimate_fini(&estimate);
    wi_model_destroy(model);
}
END_TEST

START_TEST(same_seed_same_figures)
{
    struct wi_model *model = wi_model_create();
    struct wi_point_estimate other;
    struct synthetic run = quiet;
    run.blocks = 6;
    synthetic_add(model, &run, 0, "u", &random_source);
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &other), 0);
    ck_assert_double_eq(estimate.units[0].gains.max_low, other.units[0].gains.max_low);
    ck_assert_double_eq(estimate.units[0].gains.max_high, other.units[0].gains.max_high);
    wi_point_estimate_fini(&estimate);
    wi_point_estimate_fini(&other);
    wi_model_destroy(model);
}
END_TEST

/* ---- too little data ------------------------------------------------------------------------------------------------------ */

static const char *reason_for(uint32_t blocks, double rate)
{
    struct synthetic run = quiet;
    run.blocks = blocks;
    run.rate = rate;
    estimate_run(&run);
    const char *reason = estimate.units[0].undecided_because;
    ck_assert(!estimate.units[0].gains.has_curve);
    wi_point_estimate_fini(&estimate);
    return reason != NULL ? reason : "decided";
}

START_TEST(too_little_data_is_said_not_guessed)
{
    ck_assert_str_eq(reason_for(0, 1000), "no experiments");
    ck_assert_str_eq(reason_for(1, 1000), "too few blocks");
    ck_assert_str_eq(reason_for(10, 0), "no visits");
}
END_TEST

START_TEST(experiments_without_visits_are_counted_as_such)
{
    struct synthetic run = quiet;
    run.rate = 1;
    estimate_run(&run);
    ck_assert_uint_gt(gain_of(50)->without_visits, 5);
    ck_assert_uint_lt(gain_of(50)->without_visits, 30);
    wi_point_estimate_fini(&estimate);
}
END_TEST

START_TEST(identical_counts_are_not_taken_for_exact)
{
    struct wi_model *model = wi_model_create();
    wi_model_add_point(model, &(struct wi_record_point){.name = "p"});
    wi_model_add_unit(model, &(struct wi_record_unit){.name = "u", .kind = "line"});
    struct wi_point_count count = {.visits = 10};
    for (uint32_t i = 0; i < 40; i++)
        wi_model_add_experiment(model, &(struct wi_record_experiment){.block = i / 2,
                                                                      .kind = i % 2 ? WI_EXPERIMENT_TREATMENT
                                                                                    : WI_EXPERIMENT_BASELINE,
                                                                      .speedup_percent = i % 2 ? 50 : 0,
                                                                      .end_ns = 1000000,
                                                                      .valid = true,
                                                                      .points = &count,
                                                                      .n_points = 1});
    ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
    ck_assert_double_eq_tol(gain_of(50)->gain, 0, 1e-9);
    ck_assert_double_gt(gain_of(50)->high - gain_of(50)->low, 0.02);
    wi_point_estimate_fini(&estimate);
    wi_model_destroy(model);
}
END_TEST

/* ---- nothing impossible ---------------------------------------------------------------------------------------------------- */

static uint64_t anything(void)
{
    uint64_t value = wi_random_next(&random_source);
    return value >> wi_random_below(&random_source, 64);
}

static void add_random_experiment(struct wi_model *model)
{
    struct wi_point_count counts[3];
    uint64_t wall = anything() >> 2;
    for (uint32_t i = 0; i < 3; i++)
        counts[i] =
            (struct wi_point_count){.point = wi_random_below(&random_source, 4),
                                    .visits = wi_random_below(&random_source, 3) * (anything() >> 1),
                                    .in_flight_ns = (double)anything() * wi_random_normal(&random_source),
                                    .matched = anything() >> 1,
                                    .matched_sum_ns = (double)anything() * wi_random_normal(&random_source)};
    wi_model_add_experiment(model, &(struct wi_record_experiment){
                                       .block = wi_random_below(&random_source, 6),
                                       .unit = wi_random_below(&random_source, 4),
                                       .kind = (enum wi_experiment_kind)wi_random_below(&random_source, 3),
                                       .speedup_percent = 25 * wi_random_below(&random_source, 5),
                                       .start_ns = 5,
                                       .end_ns = 5 + wall,
                                       .delay_ns = wall / (1 + wi_random_below(&random_source, 9)),
                                       .pauses = anything(),
                                       .paused_ns = anything(),
                                       .noise = -1,
                                       .valid = wi_random_below(&random_source, 9) != 0,
                                       .points = counts,
                                       .n_points = 3});
}

static struct wi_model *random_model(void)
{
    struct wi_model *model = wi_model_create();
    for (uint32_t i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), '\0'};
        wi_model_add_point(
            model, &(struct wi_record_point){i, name, i == 2 ? WI_POINT_LATENCY : WI_POINT_THROUGHPUT});
        wi_model_add_unit(model, &(struct wi_record_unit){.id = i, .name = name, .kind = "line"});
    }
    for (uint32_t n = wi_random_below(&random_source, 120); n > 0; n--)
        add_random_experiment(model);
    struct wi_unit_tally tallies[3];
    for (uint32_t i = 0; i < 3; i++)
        tallies[i] = (struct wi_unit_tally){i, anything(), anything(), anything()};
    struct wi_record_tally tally = {anything(), anything(), anything(), anything(), anything(), tallies, 3};
    wi_model_add_tally(model, &tally);
    return model;
}

static void check_possible(const struct wi_unit_estimate *unit)
{
    const struct wi_gains *gains = &unit->gains;
    ck_assert(unit->share <= 1 && unit->bound <= 1);
    ck_assert(unit->decided == (unit->undecided_because == NULL));
    ck_assert(gains->p_value >= 0 && gains->p_value <= 1);
    for (uint32_t i = 0; i < gains->n; i++) {
        const struct wi_gain *gain = &gains->at[i];
        if (!gain->known)
            continue;
        ck_assert(isfinite(gain->gain) && isfinite(gain->low) && isfinite(gain->high));
        ck_assert(gain->low <= gain->gain && gain->gain <= gain->high && gain->high <= 1);
    }
    if (!gains->has_curve)
        return;
    ck_assert(isfinite(gains->max) && isfinite(gains->max_low) && isfinite(gains->max_high));
    ck_assert(gains->max_low <= gains->max && gains->max <= gains->max_high && gains->max_high <= 1);
}

START_TEST(random_profiles_give_no_impossible_figure)
{
    options.replicates = _i % 2 ? 0 : 50;
    for (int round = 0; round < 500; round++) {
        struct wi_model *model = random_model();
        struct wi_estimate all;
        ck_assert_int_eq(wi_estimate_model(model, &options, &all), 0);
        for (uint32_t i = 0; i < all.n_points; i++) {
            ck_assert(!all.points[i].has_value || (isfinite(all.points[i].value) && all.points[i].low >= 0 &&
                                                   all.points[i].low <= all.points[i].value &&
                                                   all.points[i].value <= all.points[i].high));
            for (uint32_t j = 0; j < all.points[i].n_units; j++)
                check_possible(&all.points[i].units[j]);
        }
        wi_estimate_fini(&all);
        wi_model_destroy(model);
    }
}
END_TEST

START_TEST(gains_stay_below_a_bound_that_holds)
{
    for (int round = 0; round < 50; round++) {
        struct wi_model *model = wi_model_create();
        struct synthetic run = quiet;
        run.blocks = 5;
        run.noise = 0.2;
        synthetic_add(model, &run, 0, "u", &random_source);
        struct wi_unit_tally tally = {0, 10000, 1, 30};
        wi_model_add_tally(model, &(struct wi_record_tally){.time_ns = 100, .units = &tally, .n_units = 1});
        ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
        for (uint32_t i = 0; i < estimate.units[0].gains.n; i++) {
            const struct wi_gain *gain = &estimate.units[0].gains.at[i];
            double bound = 0.3 * 1.25 * gain->speedup_percent / 100;
            ck_assert(gain->gain <= bound + 1e-12 || gain->low > bound);
        }
        ck_assert(estimate.units[0].gains.max <= 0.375 || estimate.units[0].gains.max_low > 0.375);
        wi_point_estimate_fini(&estimate);
        wi_model_destroy(model);
    }
}
END_TEST

/* ---- cost -------------------------------------------------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

START_TEST(a_thousand_experiments_cost_milliseconds)
{
    struct wi_model *model = wi_model_create();
    char name[16];
    for (uint32_t i = 0; i < 20; i++) {
        struct synthetic run = quiet;
        run.blocks = 8;
        snprintf(name, sizeof name, "u%u", i);
        synthetic_add(model, &run, i, name, &random_source);
    }
    for (uint32_t i = 1; i < 5; i++)
        wi_model_add_point(model, &(struct wi_record_point){.id = i, .name = i % 2 ? "q" : "r"});
    struct wi_estimate all;
    double begin = cpu_seconds();
    options.replicates = 0;
    ck_assert_int_eq(wi_estimate_model(model, &options, &all), 0);
    double quick = cpu_seconds() - begin;
    wi_estimate_fini(&all);
    begin = cpu_seconds();
    options.replicates = 599;
    ck_assert_int_eq(wi_estimate_model(model, &options, &all), 0);
    double full = cpu_seconds() - begin;
    wi_estimate_fini(&all);
    if (getenv("WHATIF_TEST_PRINT") != NULL)
        printf("1120 experiments, 20 units: quick %.2f ms, full %.2f ms\n", quick * 1e3, full * 1e3);
    ck_assert_double_lt(quick, 0.2); /* ten times what it takes, for slow machines and sanitisers */
    ck_assert_double_lt(full, 2);
    wi_model_destroy(model);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("estimate");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, t_agrees_with_tables);
    tcase_add_test(tests, false_discoveries_follow_benjamini_and_hochberg);
    tcase_add_test(tests, concave_points_are_their_own_fit);
    tcase_add_test(tests, convex_points_get_the_best_line);
    tcase_add_test(tests, no_concave_curve_nearby_fits_better);
    tcase_add_test(tests, gains_come_back_in_spite_of_drift);
    tcase_add_test(tests, latency_gains_come_back);
    tcase_add_test(tests, matched_pairs_stand_in_where_nothing_was_in_flight);
    tcase_add_test(tests, cost_of_pausing_is_found_and_taken_off);
    tcase_add_test(tests, without_placebos_nothing_is_corrected);
    tcase_add_test(tests, demand_limited_program_is_recognised);
    tcase_add_test(tests, convex_truth_is_not_forced_into_a_concave_curve);
    tcase_add_test(tests, profiles_of_different_level_do_not_mix);
    tcase_add_test(tests, true_units_are_clear_and_others_rarely);
    tcase_add_test(tests, same_seed_same_figures);
    tcase_add_test(tests, too_little_data_is_said_not_guessed);
    tcase_add_test(tests, experiments_without_visits_are_counted_as_such);
    tcase_add_test(tests, identical_counts_are_not_taken_for_exact);
    tcase_add_loop_test(tests, random_profiles_give_no_impossible_figure, 0, 2);
    tcase_add_test(tests, gains_stay_below_a_bound_that_holds);
    tcase_add_test(tests, a_thousand_experiments_cost_milliseconds);
    return run_tests("estimate", tests);
}
