/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Do the intervals hold what they promise? Many synthetic runs with a known truth, counted. The seed is fixed, so
 * that this is a test and no lottery. WHATIF_TEST_PRINT=1 prints the table of docs/STATISTICS.md.
 */
#include "runtime/profile/estimate.h"
#include "tests/unit/profile_fixture.h"
#include "tests/unit/profile_synthetic.h"

struct scenario {
    const char *name;
    struct synthetic run;
    uint32_t replicates;
    uint32_t runs;
    double least, least_max; /* required coverage, of single speedups and of max_gain */
};

static const struct scenario scenarios[] = {
    {"linear, 3 blocks, quick",
     {.truth = truth_linear, .blocks = 3, .rate = 200, .drift = .3, .noise = .1},
     0,
     400,
     .92,
     .92},
    {"linear, 4 blocks",
     {.truth = truth_linear, .blocks = 4, .rate = 200, .drift = .3, .noise = .1},
     199,
     400,
     .92,
     .92},
    {"linear, 6 blocks",
     {.truth = truth_linear, .blocks = 6, .rate = 200, .drift = .3, .noise = .1},
     199,
     400,
     .92,
     .92},
    {"linear, 6 blocks, quick",
     {.truth = truth_linear, .blocks = 6, .rate = 200, .drift = .3, .noise = .1},
     0,
     400,
     .92,
     .92},
    {"linear, 12 blocks, few visits",
     {.truth = truth_linear, .blocks = 12, .rate = 10, .drift = .3, .noise = .1},
     199,
     400,
     .92,
     .92},
    {"linear, 12 blocks, outliers",
     {.truth = truth_linear, .blocks = 12, .rate = 200, .drift = .3, .noise = .1, .outliers = .1},
     199,
     400,
     .92,
     .92},
    {"zero, 8 blocks",
     {.truth = truth_zero, .blocks = 8, .rate = 200, .drift = .3, .noise = .1},
     199,
     400,
     .92,
     .92},
    {"hinge, 12 blocks",
     {.truth = truth_hinge, .blocks = 12, .rate = 400, .drift = .3, .noise = .1},
     199,
     400,
     .92,
     .92},
    {"hinge, 40 blocks",
     {.truth = truth_hinge, .blocks = 40, .rate = 400, .drift = .3, .noise = .1},
     199,
     200,
     .92,
     .92},
    {"decline, 20 blocks",
     {.truth = truth_decline, .blocks = 20, .rate = 400, .drift = .3, .noise = .1},
     199,
     200,
     .92,
     .92},
    {"harm, 12 blocks",
     {.truth = truth_harm, .blocks = 12, .rate = 200, .drift = .3, .noise = .1},
     199,
     400,
     .92,
     .92},
    {"convex, 20 blocks",
     {.truth = truth_convex, .blocks = 20, .rate = 400, .drift = .3, .noise = .1},
     199,
     200,
     .92,
     .90},
    {"latency, 8 blocks",
     {.truth = truth_linear, .blocks = 8, .rate = 200, .drift = .3, .noise = .1, .latency = true},
     199,
     400,
     .92,
     .92},
    {"pauses of 50 us, 40 blocks",
     {.truth = truth_linear,
      .blocks = 40,
      .rate = 400,
      .drift = .3,
      .noise = .05,
      .inside = .8,
      .pause_ns = 50000,
      .placebos = true},
     199,
     200,
     .92,
     .92},
    {"pauses of 50 us, 12 blocks",
     {.truth = truth_linear,
      .blocks = 12,
      .rate = 400,
      .drift = .3,
      .noise = .05,
      .inside = .8,
      .pause_ns = 50000,
      .placebos = true},
     199,
     400,
     .92,
     .92},
};

static double true_max(const struct synthetic *run)
{
    double most = -1;
    for (size_t i = 0; i < 4; i++)
        most = fmax(most, run->truth(synthetic_speedups[i] / 100));
    return most;
}

START_TEST(intervals_cover_the_truth)
{
    const struct scenario *scenario = &scenarios[_i];
    struct synthetic run = scenario->run;
    run.length_ns = 1e9;
    struct wi_estimate_options options = WI_ESTIMATE_DEFAULTS;
    options.replicates = scenario->replicates;
    struct wi_random random = {20150908};
    double covered = 0, n = 0, max_covered = 0, width = 0, bias = 0;
    for (uint32_t r = 0; r < scenario->runs; r++) {
        struct wi_model *model = wi_model_create();
        struct wi_point_estimate estimate;
        synthetic_add(model, &run, 0, "u", &random);
        ck_assert_int_eq(wi_estimate_point(model, 0, &options, &estimate), 0);
        const struct wi_gains *gains = &estimate.units[0].gains;
        ck_assert(gains->has_curve);
        for (uint32_t s = 0; s < gains->n; s++) {
            double truth = run.truth(gains->at[s].speedup_percent / 100);
            covered += gains->at[s].low <= truth && truth <= gains->at[s].high;
            n++;
        }
        max_covered += gains->max_low <= true_max(&run) && true_max(&run) <= gains->max_high;
        width += (gains->max_high - gains->max_low) / 2 / scenario->runs;
        bias += (gains->max - true_max(&run)) / scenario->runs;
        wi_point_estimate_fini(&estimate);
        wi_model_destroy(model);
    }
    if (getenv("WHATIF_TEST_PRINT") != NULL)
        printf("| %-30s | %5.1f | %5.1f | %5.1f | %+5.1f |\n", scenario->name, covered / n * 100,
               max_covered / scenario->runs * 100, width * 100, bias * 100);
    if (getenv("WHATIF_TEST_PRINT") == NULL)
        ck_assert_double_ge(covered / n, scenario->least);
    if (getenv("WHATIF_TEST_PRINT") == NULL)
        ck_assert_double_ge(max_covered / scenario->runs, scenario->least_max);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("coverage");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, intervals_cover_the_truth, 0, (int)(sizeof scenarios / sizeof *scenarios));
    return run_tests("coverage", tests);
}
