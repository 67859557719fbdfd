/* test_engine_calls_away.c - what an engine waits for when its store fails, and what ends it. */
#include "calls_fixture.h"

/* A restore in place: for a moment there is no schema. A daemon that has worked waits for it,
 * trusts in no lease meanwhile, and asks for them anew. */
static void a_schema_that_goes_away_is_waited_for_by_a_daemon_that_has_worked(void)
{
    static const struct err gone = { ERR_SCHEMA, "42P01",
                                     .text = "relation \"prescient.slot_lease\" does not exist" };
    static const struct err other = {
        ERR_SETTINGS, "", .text = "slot_length is 60 s in the settings and 900 s in the database"
    };
    static const enum store_op expected[] = { STORE_HELLO,  STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_FINISH, STORE_RENEW,     STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &gone });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(ran.ended_with, 0);
    CU_ASSERT_EQUAL(fake.trust_us, 0);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &other });
    CU_ASSERT_EQUAL(ran.ended_with, 0);
}

/* It waited for that, too, and nothing brings the old length back: each of its lanes refused the
 * new one for ever, and its process looked well. */
static void a_slot_length_changed_under_a_daemon_ends_it_so_that_it_is_started_again(void)
{
    static const struct err changed = { ERR_CHANGED, "",
                                        .text = "the slot length was changed from 900 s to 60 s" };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &changed });
    CU_ASSERT_EQUAL(ran.ended_with, ERR_CHANGED);
}

/* It waited for that, too; the engine of before an upgrade is to end, in words, so that the later
 * one is started. */
static void a_schema_that_serves_later_programs_only_ends_a_daemon(void)
{
    static const struct err outgrown = {
        ERR_SCHEMA, "", ERR_REASON_OUTGROWN,
        .text = "schema 'prescient' serves programs that know version 99 or later"
    };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &outgrown });
    CU_ASSERT_EQUAL(ran.ended_with, ERR_SCHEMA);
}

static void a_schema_that_is_not_there_ends_a_command_and_whoever_has_never_worked(void)
{
    static const struct err gone = { ERR_SCHEMA, "42P01",
                                     .text = "relation \"prescient.migration\" does not exist" };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &gone, .is_command = true });
    CU_ASSERT_EQUAL(ran.ended_with, ERR_SCHEMA);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .hello_fails = &gone });
    CU_ASSERT_EQUAL(ran.ended_with, ERR_SCHEMA);
}

/* Waiting would not give it. */
static void a_right_that_is_missing_ends_a_command_and_whoever_has_never_worked(void)
{
    static const struct err denied = { ERR_LOST, "42501", ERR_REASON_REFUSED,
                                       .text = "permission denied for schema prescient" };
    static const struct err kept_out = { ERR_LOST, "28P01", .text = "password authentication failed" };
    static const enum store_op expected[] = { STORE_HELLO };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .hello_fails = &denied, .is_command = true });
    calls_are(expected, 1);
    CU_ASSERT_EQUAL(ran.ended_with, ERR_DENIED);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .hello_fails = &kept_out });
    calls_are(expected, 1);
    CU_ASSERT_EQUAL(ran.ended_with, ERR_DENIED);
}

/* A hello is answered to any user of the schema: it waited for ever, and looked well. */
static void a_daemon_that_was_only_told_the_time_has_not_worked(void)
{
    static const struct err denied = { ERR_LOST, "42501", ERR_REASON_REFUSED,
                                       .text = "permission denied for table slot_lease" };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .opens_fail = &denied });
    CU_ASSERT_EQUAL(ran.ended_with, ERR_DENIED);
    CU_ASSERT_EQUAL(fake.opens, 1);
}

/* With questions that are answered between the openings. */
static void one_slot_and_questions(const struct plan_env *env, void *state)
{
    one_slot(env, state);
    if (env->clocks->is_known)
        plan_give_errand(env, ERRAND_PULSE);
}

/* Each question that was answered took the failures before it as over: the command went on for
 * ever, with three tries and lines a second. */
static void an_opening_that_is_refused_ends_a_command_whatever_else_works(void)
{
    static const struct err full = { ERR_LOST, "", ERR_REASON_REFUSED, .text = "store.db cannot grow" };
    static const struct plan busy = { "one slot", one_slot_and_questions, nothing_to_do, slot_is_over };
    bool given = false;
    run_plan((struct fake){ .opens_fail = &full, .is_command = true }, &busy, &given);
    CU_ASSERT_EQUAL(ran.ended_with, ERR_LOST);
    CU_ASSERT(fake.opens > 1 && fake.opens < 20);
    CU_ASSERT(fake.ncalls > fake.opens + 1);        /* others than the hello were answered */
}

/* It may be given back, and what is in hand is not thrown away for it. */
static void a_right_that_is_taken_away_is_waited_for(void)
{
    static const struct err denied = { ERR_LOST, "42501", ERR_REASON_REFUSED,
                                       .text = "permission denied for table slot_lease" };
    static const enum store_op expected[] = { STORE_HELLO,  STORE_OPEN_SLOT, STORE_READ_PAGE,
                                              STORE_FINISH, STORE_RENEW,     STORE_FINISH };
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &denied });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(ran.ended_with, 0);
    CU_ASSERT_EQUAL(fake.trust_us, 0);
    run_slot((struct fake){ .kind = TARGET_RESLOT, .finish_fails = &denied, .is_command = true });
    calls_are(expected, sizeof expected / sizeof *expected);
    CU_ASSERT_EQUAL(ran.ended_with, 0);
}

static const struct test tests[] = {
    TEST(a_schema_that_goes_away_is_waited_for_by_a_daemon_that_has_worked),
    TEST(a_slot_length_changed_under_a_daemon_ends_it_so_that_it_is_started_again),
    TEST(a_schema_that_serves_later_programs_only_ends_a_daemon),
    TEST(a_schema_that_is_not_there_ends_a_command_and_whoever_has_never_worked),
    TEST(a_right_that_is_missing_ends_a_command_and_whoever_has_never_worked),
    TEST(a_daemon_that_was_only_told_the_time_has_not_worked),
    TEST(an_opening_that_is_refused_ends_a_command_whatever_else_works),
    TEST(a_right_that_is_taken_away_is_waited_for),
    { NULL, NULL },
};

const struct suite suite_engine_calls_away = {
    "engine_calls_away", settings_fixture_setup, settings_fixture_teardown, tests
};
