/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For unit tests: what Check lacks.
 *
 * A test program has one suite and ends with
 *
 *     int main(void)
 *     {
 *         return wi_unit_run(suite());
 *     }
 *
 * Run by hand it prints Check's summary, under `make test` TAP: the environment decides.
 */
#ifndef WI_TESTS_UNIT_H
#define WI_TESTS_UNIT_H

#include <check.h>
#include <stdio.h>

/* Leave a test that this machine cannot run: it counts as skipped, with the reason. Only inside a test. */
#define wi_skip(reason)                                                                                      \
    do {                                                                                                     \
        printf("# skip %s: %s\n", tcase_name(), reason);                                                     \
        fflush(stdout);                                                                                      \
        return;                                                                                              \
    } while (0)

/* Runs the suite and returns what main() returns: 0 if all passed. */
static inline int wi_unit_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}

#endif
