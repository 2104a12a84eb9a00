/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of the virtual clock, on a clock that the test winds.
 *
 * Time passes only in wi_time's sleep and where a test says so. A sleep takes what was asked plus `late_ns`, and may
 * have something happen meanwhile (`during_sleep`). The last test tries every short schedule of three threads.
 */
#include "runtime/agent/signal/ledger.h"
#include "tests/lib/unit.h"

#include <string.h>

#define US 1000ull
#define MS (1000 * US)

enum { THRESHOLD = 50 * 1000 }; /* what a fresh thread expects a sleep to take too long */

static struct wi_clock session_clock;
static struct wi_thread threads[3];
static struct wi_thread *const a = &threads[0], *const b = &threads[1], *const c = &threads[2];

static uint64_t now, asked_ns, late_ns;
static unsigned n_sleeps;
static void (*during_sleep)(void);

static uint64_t scripted_now(void)
{
    return now;
}

static void scripted_sleep(uint64_t ns)
{
    n_sleeps++;
    asked_ns = ns;
    now += ns + late_ns;
    if (during_sleep)
        during_sleep();
}

static const struct wi_time scripted = {scripted_now, scripted_sleep};

static void set_up(void)
{
    memset(&session_clock, 0, sizeof session_clock);
    memset(threads, 0, sizeof threads);
    for (int i = 0; i < 3; i++)
        threads[i].expected_overshoot_ns = THRESHOLD;
    now = 1000 * MS;
    late_ns = asked_ns = n_sleeps = 0;
    during_sleep = NULL;
}

/* ---- vocabulary ----------------------------------------------------------------------------------------- */

static void begin_experiment(uint32_t epoch)
{
    session_clock.start_delay = session_clock.global_delay;
    session_clock.experiment = wi_experiment_word(epoch, 5000, 0, WI_EXPERIMENT_CREDITING);
}

static uint64_t settle(struct wi_thread *thread)
{
    uint64_t word = wi_ledger_adopt(thread, &session_clock);
    return wi_ledger_settle(thread, &session_clock, word, &scripted);
}

static void credit(struct wi_thread *thread, uint64_t ns)
{
    wi_ledger_credit(thread, &session_clock, ns, false);
}

static uint64_t debt(const struct wi_thread *thread)
{
    return wi_ledger_debt(thread, &session_clock);
}

static uint64_t virtual_time(const struct wi_thread *thread)
{
    return now - thread->local_delay;
}

/* ---- rule 1: credit --------------------------------------------------------------------------------------- */

START_TEST(thread_that_ran_the_code_owes_nothing)
{
    credit(a, 400 * US);
    ck_assert_uint_eq(debt(a), 0);
    ck_assert_uint_eq(settle(a), 0);
    ck_assert_uint_eq(n_sleeps, 0);
}
END_TEST

START_TEST(all_others_owe_what_it_was_spared)
{
    credit(a, 400 * US);
    ck_assert_uint_eq(debt(b), 400 * US);
    ck_assert_uint_eq(debt(c), 400 * US);
}
END_TEST

START_TEST(two_that_ran_the_code_at_once_speed_up_together)
{
    credit(a, 400 * US);
    credit(b, 400 * US);
    ck_assert_uint_eq(session_clock.global_delay, 400 * US);
    ck_assert_uint_eq(debt(a) + debt(b), 0);
    ck_assert_uint_eq(debt(c), 400 * US);
}
END_TEST

START_TEST(credit_pays_an_older_debt_first)
{
    credit(a, 400 * US);
    credit(b, 300 * US);
    ck_assert_uint_eq(session_clock.global_delay, 400 * US);
    ck_assert_uint_eq(debt(b), 100 * US);
}
END_TEST

START_TEST(placebo_spares_nobody)
{
    wi_ledger_credit(a, &session_clock, 400 * US, true);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(debt(&threads[i]), 400 * US);
    late_ns = THRESHOLD;
    ck_assert_uint_eq(settle(a), 400 * US);
}
END_TEST

START_TEST(placebo_orders_as_much_as_a_treatment_would)
{
    /* Lumps below the threshold stay owed: they must add up all the same. */
    for (int i = 0; i < 20; i++) {
        wi_ledger_credit(a, &session_clock, 20 * US, true);
        settle(a);
    }
    ck_assert_uint_eq(session_clock.global_delay, 400 * US);
}
END_TEST

START_TEST(two_placebos_at_once_are_charged_once)
{
    for (int i = 0; i < 20; i++) {
        wi_ledger_credit(a, &session_clock, 20 * US, true);
        wi_ledger_credit(b, &session_clock, 20 * US, true);
    }
    ck_assert_uint_eq(session_clock.global_delay, 400 * US);
}
END_TEST

/* ---- rules 2 and 7: settling and overshoot ------------------------------------------------------------------ */

START_TEST(debt_is_slept_off_once)
{
    late_ns = THRESHOLD;
    credit(a, 2 * MS);
    ck_assert_uint_eq(settle(b), 2 * MS);
    ck_assert_uint_eq(debt(b), 0);
    ck_assert_uint_eq(settle(b), 0);
    ck_assert_uint_eq(n_sleeps, 1);
    ck_assert_uint_eq(b->pauses, 1);
    ck_assert_uint_eq(b->paused_ns, 2 * MS);
}
END_TEST

START_TEST(sleep_is_asked_shorter_by_what_it_usually_takes_too_long)
{
    late_ns = 10 * US;
    credit(a, 2 * MS);
    settle(b);
    ck_assert_uint_eq(asked_ns, 2 * MS - THRESHOLD);
    ck_assert_uint_eq(debt(b), THRESHOLD - 10 * US);
}
END_TEST

START_TEST(debt_below_the_threshold_stays_owed)
{
    credit(a, THRESHOLD);
    ck_assert(!wi_ledger_is_due(b, &session_clock));
    ck_assert_uint_eq(settle(b), 0);
    ck_assert_uint_eq(debt(b), THRESHOLD);
}
END_TEST

START_TEST(small_debts_add_up_until_they_can_be_slept)
{
    credit(a, THRESHOLD);
    settle(b);
    credit(a, THRESHOLD);
    ck_assert(wi_ledger_is_due(b, &session_clock));
    ck_assert_uint_gt(settle(b), 0);
}
END_TEST

START_TEST(overshoot_is_taken_off_the_next_pause)
{
    late_ns = THRESHOLD + 300 * US;
    credit(a, 1 * MS);
    ck_assert_uint_eq(settle(b), 1300 * US);
    ck_assert_uint_eq(b->overshoot_ns, 300 * US);
    late_ns = b->expected_overshoot_ns;
    credit(a, 1 * MS);
    ck_assert_uint_eq(settle(b), 700 * US);
    ck_assert_uint_eq(debt(b), 0);
    ck_assert_uint_eq(b->overshoot_ns, 0);
}
END_TEST

START_TEST(overshoot_that_covers_a_debt_pays_it_without_a_sleep)
{
    b->overshoot_ns = 300 * US;
    credit(a, 200 * US);
    ck_assert_uint_eq(settle(b), 0);
    ck_assert_uint_eq(n_sleeps, 0);
    ck_assert_uint_eq(debt(b), 0);
    ck_assert_uint_eq(b->overshoot_ns, 100 * US);
}
END_TEST

START_TEST(overshoot_is_forgotten_by_a_thread_that_had_to_wait_anyway)
{
    b->overshoot_ns = 300 * US;
    wi_ledger_catch_up(b, 0, 10 * US);
    ck_assert_uint_eq(b->overshoot_ns, 0);
}
END_TEST

START_TEST(expected_overshoot_follows_the_median)
{
    late_ns = 20 * US;
    for (int i = 0; i < 200; i++) {
        credit(a, 1 * MS);
        if (i % 10 == 0)
            late_ns = 5 * MS; /* a rare bad one does not matter */
        settle(b);
        late_ns = 20 * US;
    }
    ck_assert_uint_le(b->expected_overshoot_ns, 22 * US);
    ck_assert_uint_ge(b->expected_overshoot_ns, 15 * US);
}
END_TEST

static void more_is_ordered(void)
{
    if (n_sleeps == 1)
        credit(a, 1 * MS);
}

START_TEST(what_falls_due_during_a_pause_is_served_too)
{
    late_ns = THRESHOLD;
    during_sleep = more_is_ordered;
    credit(a, 1 * MS);
    ck_assert_uint_ge(settle(b), 2 * MS - US);
    ck_assert_uint_eq(n_sleeps, 2);
    ck_assert_uint_eq(debt(b), 0);
}
END_TEST

START_TEST(long_pause_looks_up_now_and_then)
{
    credit(a, 100 * MS);
    settle(b);
    ck_assert_uint_ge(n_sleeps, 5);
    ck_assert_uint_le(debt(b), THRESHOLD);
}
END_TEST

static void session_ends(void)
{
    session_clock.dormant = 1;
}

START_TEST(nobody_pauses_on_when_the_session_has_ended)
{
    during_sleep = session_ends;
    credit(a, 1000 * MS);
    settle(b);
    ck_assert_uint_eq(n_sleeps, 1);
}
END_TEST

START_TEST(local_delay_never_exceeds_the_global_one)
{
    for (int i = 0; i < 300; i++) {
        credit(&threads[i % 3], (uint64_t)(i * 37 % 200) * US);
        late_ns = (uint64_t)(i * 91 % 400) * US;
        settle(&threads[(i * 7 + 1) % 3]);
        wi_ledger_catch_up(&threads[(i * 5 + 2) % 3], threads[i % 3].local_delay,
                           (uint64_t)(i * 13 % 90) * US);
        for (int thread = 0; thread < 3; thread++)
            ck_assert_uint_le(threads[thread].local_delay, session_clock.global_delay);
    }
}
END_TEST

/* ---- rule 3: woken by a peer ---------------------------------------------------------------------------------- */

START_TEST(long_wait_takes_up_the_debt)
{
    credit(a, 1 * MS);
    ck_assert_uint_eq(wi_ledger_catch_up(b, 1 * MS, 5 * MS), 1 * MS);
    ck_assert_uint_eq(debt(b), 0);
    ck_assert_uint_eq(b->absorbed_ns, 1 * MS);
    ck_assert_uint_eq(settle(b), 0);
}
END_TEST

START_TEST(wait_takes_up_no_more_than_it_was_long)
{
    credit(a, 1 * MS);
    ck_assert_uint_eq(wi_ledger_catch_up(b, 1 * MS, 400 * US), 400 * US);
    ck_assert_uint_eq(debt(b), 600 * US);
}
END_TEST

START_TEST(what_strangers_earned_since_the_wake_stays_owed)
{
    credit(a, 1 * MS);
    late_ns = THRESHOLD;
    settle(b); /* the waker */
    uint64_t left_by_waker = b->local_delay;
    credit(a, 1 * MS);
    wi_ledger_catch_up(c, left_by_waker, 10 * MS);
    ck_assert_uint_eq(debt(c), 1 * MS);
}
END_TEST

START_TEST(woken_thread_that_was_spared_more_loses_nothing)
{
    credit(a, 1 * MS);
    ck_assert_uint_eq(wi_ledger_catch_up(a, 400 * US, 10 * MS), 0);
    ck_assert_uint_eq(a->local_delay, 1 * MS);
}
END_TEST

START_TEST(call_that_did_not_block_changes_nothing)
{
    credit(a, 1 * MS);
    ck_assert_uint_eq(wi_ledger_catch_up(b, 1 * MS, 0), 0);
    ck_assert_uint_eq(debt(b), 1 * MS);
}
END_TEST

START_TEST(threads_that_meet_leave_at_one_virtual_time)
{
    /* B does the long way round in the code, A waits for it: both go on from the same moment. */
    uint64_t waits_since = now;
    now += 10 * MS;
    credit(b, 5 * MS);
    wi_ledger_catch_up(a, b->local_delay, now - waits_since);
    ck_assert_uint_eq(virtual_time(a), virtual_time(b));
    ck_assert_uint_eq(session_clock.global_delay, 5 * MS);
}
END_TEST

START_TEST(waiting_for_somebody_slower_than_the_code_saves_nothing)
{
    /* A has 10 ms of which the code is half; B waits for A but comes later than A even so. */
    uint64_t start = now;
    late_ns = THRESHOLD;
    now += 10 * MS;
    credit(a, 5 * MS);
    uint64_t a_waits_since = now;
    now = start + 12 * MS; /* B's own work */
    settle(b);             /* before it wakes A */
    wi_ledger_catch_up(a, b->local_delay, now - a_waits_since);
    ck_assert_uint_eq(virtual_time(a), start + 12 * MS);
    ck_assert_uint_eq(virtual_time(b), start + 12 * MS);
}
END_TEST

/* ---- rule 6: a new thread ------------------------------------------------------------------------------------- */

START_TEST(new_thread_owes_what_its_creator_owes)
{
    late_ns = THRESHOLD;
    credit(a, 1 * MS);
    settle(b);
    c->local_delay = b->local_delay; /* wi_threads_enter */
    ck_assert_uint_eq(debt(c), debt(b));
    ck_assert_uint_eq(virtual_time(c), virtual_time(b));
}
END_TEST

/* ---- rule 8: experiments begin and end ------------------------------------------------------------------------- */

START_TEST(new_experiment_forgives_what_was_owed)
{
    begin_experiment(1);
    settle(b);
    credit(a, 5 * MS);
    begin_experiment(2);
    ck_assert_uint_eq(settle(b), 0);
    ck_assert_uint_eq(b->local_delay, 5 * MS);
}
END_TEST

START_TEST(what_was_earned_after_the_beginning_is_owed_by_who_comes_late)
{
    credit(a, 5 * MS);
    begin_experiment(1);
    wi_ledger_adopt(a, &session_clock);
    credit(a, 1 * MS);
    late_ns = THRESHOLD;
    ck_assert_uint_eq(settle(b), 1 * MS);
}
END_TEST

START_TEST(adopting_takes_nothing_from_a_thread_that_is_ahead)
{
    credit(a, 5 * MS);
    session_clock.start_delay = 3 * MS;
    session_clock.experiment = wi_experiment_word(1, 0, 0, 0);
    wi_ledger_adopt(a, &session_clock);
    ck_assert_uint_eq(a->local_delay, 5 * MS);
}
END_TEST

START_TEST(new_experiment_forgets_overshoot)
{
    b->overshoot_ns = 300 * US;
    begin_experiment(1);
    wi_ledger_adopt(b, &session_clock);
    ck_assert_uint_eq(b->overshoot_ns, 0);
}
END_TEST

START_TEST(end_of_crediting_forgives_nothing)
{
    begin_experiment(1);
    wi_ledger_adopt(b, &session_clock);
    credit(a, 1 * MS);
    b->overshoot_ns = 200 * US;
    session_clock.experiment &= ~(uint64_t)WI_EXPERIMENT_CREDITING; /* the drain */
    wi_ledger_adopt(b, &session_clock);
    ck_assert_uint_eq(debt(b), 1 * MS);
    ck_assert_uint_eq(b->overshoot_ns, 200 * US);
    ck_assert_uint_eq(b->experiment, session_clock.experiment);
}
END_TEST

START_TEST(two_experiments_adopted_late_count_as_one)
{
    credit(a, 1 * MS);
    begin_experiment(1);
    credit(a, 1 * MS);
    begin_experiment(2);
    credit(a, 1 * MS);
    wi_ledger_adopt(b, &session_clock);
    ck_assert_uint_eq(debt(b), 1 * MS);
}
END_TEST

static void next_experiment_begins(void)
{
    begin_experiment(2);
}

START_TEST(sleep_that_crosses_the_boundary_is_discarded)
{
    begin_experiment(1);
    wi_ledger_adopt(b, &session_clock);
    credit(a, 5 * MS);
    during_sleep = next_experiment_begins;
    late_ns = 3 * MS;
    uint64_t before = b->local_delay;
    settle(b);
    ck_assert_uint_eq(n_sleeps, 1);
    ck_assert_uint_eq(b->local_delay, before); /* nothing was paid for the new one ... */
    during_sleep = NULL;
    credit(a, 1 * MS);
    wi_ledger_adopt(b, &session_clock);
    ck_assert_uint_eq(debt(b), 1 * MS); /* ... whose debts are owed in full */
    ck_assert_uint_eq(b->overshoot_ns, 0);
}
END_TEST

/* ---- every short schedule ---------------------------------------------------------------------------------------- */

/*
 * A world of three threads: at each step one of them runs a while (inside the code or not), settles, begins to wait,
 * or settles and wakes one that waits. Everything is tried, to a fixed depth. What must hold at every step:
 * L <= D; virtual time never runs backwards (what was overslept is a pause served in advance); every nanosecond of L was earned, slept or absorbed, and none twice; who
 * has settled owes no more than can be slept; and no woken thread goes on earlier than its waker woke it.
 */
enum { DEPTH = 6, RUN_NS = 1000 * 1000, RUNNING = 0 };

struct world {
    uint64_t now, global_delay;
    struct {
        uint64_t local, overshoot, expected, waits_since, virtual_before, earned, absorbed, slept, forgotten;
    } of[3];
};

static uint64_t n_steps;

/* Check's own assertions each write to a pipe: too slow for millions. */
static void demand(bool holds, const char *else_what)
{
    if (!holds)
        ck_abort_msg("%s", else_what);
}

static void load(const struct world *world)
{
    now = world->now;
    session_clock.global_delay = world->global_delay;
    for (int i = 0; i < 3; i++) {
        threads[i].local_delay = world->of[i].local;
        threads[i].overshoot_ns = world->of[i].overshoot;
        threads[i].expected_overshoot_ns = world->of[i].expected;
    }
}

static void save(struct world *world)
{
    world->now = now;
    world->global_delay = session_clock.global_delay;
    for (int i = 0; i < 3; i++) {
        world->of[i].local = threads[i].local_delay;
        world->of[i].overshoot = threads[i].overshoot_ns;
        world->of[i].expected = threads[i].expected_overshoot_ns;
    }
}

static void check_world(struct world *world)
{
    for (int i = 0; i < 3; i++) {
        uint64_t local = world->of[i].local;
        demand(local <= world->global_delay, "L > D");
        uint64_t virtual_ns = world->now - local - world->of[i].overshoot;
        demand(virtual_ns >= world->of[i].virtual_before, "virtual time ran backwards");
        if (world->of[i].waits_since == RUNNING) /* one that waits is nowhere until it is woken */
            world->of[i].virtual_before = virtual_ns;
        uint64_t paid = world->of[i].slept - world->of[i].overshoot - world->of[i].forgotten;
        demand(local == world->of[i].earned + world->of[i].absorbed + paid, "a debt was paid twice, or not");
    }
}

static void settle_in(struct world *world, int i)
{
    load(world);
    world->of[i].slept += settle(&threads[i]);
    demand(debt(&threads[i]) <= wi_ledger_threshold(&threads[i]), "a debt was skipped");
    save(world);
}

static void wake_in(struct world *world, int waker, int woken)
{
    settle_in(world, waker);
    load(world);
    world->of[woken].forgotten += threads[woken].overshoot_ns;
    world->of[woken].absorbed +=
        wi_ledger_catch_up(&threads[woken], threads[waker].local_delay, now - world->of[woken].waits_since);
    demand(virtual_time(&threads[woken]) + wi_ledger_threshold(&threads[waker]) >=
               virtual_time(&threads[waker]),
           "woken before it was woken");
    save(world);
    world->of[woken].waits_since = RUNNING;
}

static void explore(const struct world *from, int depth)
{
    if (depth == 0)
        return;
    for (int i = 0; i < 3; i++) {
        if (from->of[i].waits_since != RUNNING)
            continue;
        for (int step = 0; step < 7; step++) {
            struct world world = *from;
            late_ns = step == 2 ? 200 * US : THRESHOLD; /* a sleep that takes too long, and one as expected */
            if (step == 0) {
                load(&world);
                now += RUN_NS;
                credit(&threads[i], RUN_NS / 2);
                save(&world);
                world.of[i].earned += RUN_NS / 2;
            } else if (step == 1 || step == 2) {
                settle_in(&world, i);
            } else if (step == 3) {
                world.of[i].waits_since = world.now;
            } else {
                int woken = step - 4;
                if (world.of[woken].waits_since == RUNNING)
                    continue;
                wake_in(&world, i, woken);
            }
            n_steps++;
            check_world(&world);
            explore(&world, depth - 1);
        }
    }
}

START_TEST(no_schedule_of_three_threads_breaks_the_clock)
{
    struct world start;
    memset(&start, 0, sizeof start);
    start.now = now;
    for (int i = 0; i < 3; i++) {
        start.of[i].expected = THRESHOLD;
        start.of[i].virtual_before = now;
    }
    n_steps = 0;
    explore(&start, DEPTH);
    ck_assert_uint_gt(n_steps, 100000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *rules = tcase_create("rules");
    tcase_add_checked_fixture(rules, set_up, NULL);
    tcase_add_test(rules, thread_that_ran_the_code_owes_nothing);
    tcase_add_test(rules, all_others_owe_what_it_was_spared);
    tcase_add_test(rules, two_that_ran_the_code_at_once_speed_up_together);
    tcase_add_test(rules, credit_pays_an_older_debt_first);
    tcase_add_test(rules, placebo_spares_nobody);
    tcase_add_test(rules, placebo_orders_as_much_as_a_treatment_would);
    tcase_add_test(rules, two_placebos_at_once_are_charged_once);
    tcase_add_test(rules, debt_is_slept_off_once);
    tcase_add_test(rules, sleep_is_asked_shorter_by_what_it_usually_takes_too_long);
    tcase_add_test(rules, debt_below_the_threshold_stays_owed);
    tcase_add_test(rules, small_debts_add_up_until_they_can_be_slept);
    tcase_add_test(rules, overshoot_is_taken_off_the_next_pause);
    tcase_add_test(rules, overshoot_that_covers_a_debt_pays_it_without_a_sleep);
    tcase_add_test(rules, overshoot_is_forgotten_by_a_thread_that_had_to_wait_anyway);
    tcase_add_test(rules, expected_overshoot_follows_the_median);
    tcase_add_test(rules, what_falls_due_during_a_pause_is_served_too);
    tcase_add_test(rules, long_pause_looks_up_now_and_then);
    tcase_add_test(rules, nobody_pauses_on_when_the_session_has_ended);
    tcase_add_test(rules, local_delay_never_exceeds_the_global_one);
    tcase_add_test(rules, long_wait_takes_up_the_debt);
    tcase_add_test(rules, wait_takes_up_no_more_than_it_was_long);
    tcase_add_test(rules, what_strangers_earned_since_the_wake_stays_owed);
    tcase_add_test(rules, woken_thread_that_was_spared_more_loses_nothing);
    tcase_add_test(rules, call_that_did_not_block_changes_nothing);
    tcase_add_test(rules, threads_that_meet_leave_at_one_virtual_time);
    tcase_add_test(rules, waiting_for_somebody_slower_than_the_code_saves_nothing);
    tcase_add_test(rules, new_thread_owes_what_its_creator_owes);
    tcase_add_test(rules, new_experiment_forgives_what_was_owed);
    tcase_add_test(rules, what_was_earned_after_the_beginning_is_owed_by_who_comes_late);
    tcase_add_test(rules, adopting_takes_nothing_from_a_thread_that_is_ahead);
    tcase_add_test(rules, new_experiment_forgets_overshoot);
    tcase_add_test(rules, end_of_crediting_forgives_nothing);
    tcase_add_test(rules, two_experiments_adopted_late_count_as_one);
    tcase_add_test(rules, sleep_that_crosses_the_boundary_is_discarded);
    suite_add_tcase(suite, rules);
    TCase *schedules = tcase_create("schedules");
    tcase_set_timeout(schedules, 60);
    tcase_add_checked_fixture(schedules, set_up, NULL);
    tcase_add_test(schedules, no_schedule_of_three_threads_breaks_the_clock);
    suite_add_tcase(suite, schedules);
    return wi_unit_run(suite);
}
