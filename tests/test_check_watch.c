/* test_check_watch.c - what looks at the row of a check say about the run that is waited for. */
#include "../engine/run/check_watch.h"
#include "test.h"

enum { S = 900 * 1000, AT_ONCE = S + 61, NEXT = S + 900 };

static struct check_look look(int64_t id, int64_t run_count, int64_t slot)
{
    return (struct check_look){ .waits = true, .id = id, .run_count = run_count, .slot = slot };
}

static struct check_look due(int64_t id, int64_t run_count, bool is_leased)
{
    struct check_look l = look(id, run_count, S);
    l.has_begun = true;
    l.is_leased = is_leased;
    return l;
}

static enum check_watch_state note(struct check_watch *w, struct check_look seen)
{
    return check_watch_note(w, &seen);
}

static struct check_watch begun(struct check_look before, int64_t filed_at, struct check_look after)
{
    return check_watch_begin(&before, filed_at, &after);
}

static void what_is_due_and_held_by_nobody_is_not_asked_for_again(void)
{
    struct check_look later = look(1, 0, NEXT), late = due(1, 0, false), held = due(1, 0, true);
    CU_ASSERT_TRUE(check_watch_must_ask(&later));
    CU_ASSERT_FALSE(check_watch_must_ask(&late));
    CU_ASSERT_TRUE(check_watch_must_ask(&held));
}

static void one_that_was_moved_has_run_when_it_is_counted_or_in_a_new_life(void)
{
    struct check_watch w = begun(look(1, 3, NEXT), AT_ONCE, look(1, 3, AT_ONCE));
    CU_ASSERT_EQUAL(note(&w, look(1, 3, AT_ONCE)), CHECK_WATCH_WAITS);
    CU_ASSERT_EQUAL(note(&w, look(1, 4, NEXT)), CHECK_WATCH_RAN);
    CU_ASSERT_EQUAL(note(&w, look(2, 0, NEXT)), CHECK_WATCH_RAN);
    CU_ASSERT_EQUAL(note(&w, (struct check_look){ 0 }), CHECK_WATCH_ENDED);
    CU_ASSERT_EQUAL(w.slot, AT_ONCE);
}

static void one_that_is_moved_later_unrun_is_put_off_and_sooner_waited_for(void)
{
    struct check_watch w = begun(look(1, 3, NEXT), AT_ONCE, look(1, 3, AT_ONCE));
    CU_ASSERT_EQUAL(note(&w, look(1, 3, AT_ONCE - 1)), CHECK_WATCH_WAITS);
    CU_ASSERT_EQUAL(w.slot, AT_ONCE - 1);
    CU_ASSERT_EQUAL(note(&w, look(1, 3, NEXT)), CHECK_WATCH_PUT_OFF);
}

/* The run that is under way began before anybody asked. */
static void in_a_slot_that_runs_the_run_after_counts(void)
{
    struct check_watch w = begun(due(1, 3, true), AT_ONCE, due(1, 3, true));
    CU_ASSERT_TRUE(w.is_answered_first);
    CU_ASSERT_EQUAL(note(&w, due(1, 3, true)), CHECK_WATCH_WAITS);
    CU_ASSERT_EQUAL(note(&w, look(1, 4, AT_ONCE)), CHECK_WATCH_WAITS);      /* AGAIN, at the time asked for */
    CU_ASSERT_EQUAL(w.slot, AT_ONCE);
    CU_ASSERT_EQUAL(note(&w, look(1, 5, NEXT)), CHECK_WATCH_RAN);

    w = begun(due(1, 3, true), AT_ONCE, due(1, 3, true));
    CU_ASSERT_EQUAL(note(&w, look(2, 0, AT_ONCE)), CHECK_WATCH_WAITS);      /* DONE, and anew */
    CU_ASSERT_EQUAL(note(&w, (struct check_look){ 0 }), CHECK_WATCH_ENDED);

    w = begun(due(1, 3, true), AT_ONCE, due(1, 3, true));
    CU_ASSERT_EQUAL(note(&w, (struct check_look){ 0 }), CHECK_WATCH_ENDED); /* resolved */
}

static void what_is_due_already_has_run_when_its_slot_is_left(void)
{
    struct check_watch w = begun(due(1, 3, false), 0, due(1, 3, false));
    CU_ASSERT_FALSE(w.is_answered_first);
    CU_ASSERT_EQUAL(note(&w, due(1, 3, true)), CHECK_WATCH_WAITS);
    CU_ASSERT_EQUAL(note(&w, look(1, 3, NEXT)), CHECK_WATCH_PUT_OFF);
    CU_ASSERT_EQUAL(note(&w, look(1, 4, NEXT)), CHECK_WATCH_RAN);
}

/* The process stood still after it had asked: the second look comes after the run. */
static void a_run_before_the_second_look_is_seen_too(void)
{
    struct check_watch w = begun(look(1, 3, NEXT), AT_ONCE, look(1, 4, NEXT + 900));
    CU_ASSERT_EQUAL(w.slot, AT_ONCE);
    CU_ASSERT_EQUAL(note(&w, look(1, 4, NEXT + 900)), CHECK_WATCH_RAN);
    w = begun(look(1, 3, NEXT), AT_ONCE, (struct check_look){ 0 });
    CU_ASSERT_EQUAL(w.slot, AT_ONCE);
    CU_ASSERT_EQUAL(note(&w, (struct check_look){ 0 }), CHECK_WATCH_ENDED);
}

static enum check_watch_run judged(const struct check_watch *w, struct check_look seen)
{
    return check_watch_judge(w, &seen);
}

static void a_run_that_is_not_on_record_is_told_by_the_row(void)
{
    struct check_look before = look(1, 3, AT_ONCE), failed = look(1, 4, NEXT), anew = look(2, 0, NEXT);
    before.failure_count = 1;
    struct check_watch w = begun(before, AT_ONCE, before);
    CU_ASSERT_EQUAL(judged(&w, look(1, 4, NEXT)), CHECK_WATCH_ANSWERED);
    failed.failure_count = 1;               /* it was put off by its job, which counts as no failure */
    CU_ASSERT_EQUAL(judged(&w, failed), CHECK_WATCH_ANSWERED);
    failed.failure_count = 2;
    CU_ASSERT_EQUAL(judged(&w, failed), CHECK_WATCH_FAILED);
    CU_ASSERT_EQUAL(judged(&w, before), CHECK_WATCH_UNKNOWN);
    CU_ASSERT_EQUAL(judged(&w, (struct check_look){ 0 }), CHECK_WATCH_UNKNOWN);
    CU_ASSERT_EQUAL(judged(&w, anew), CHECK_WATCH_UNKNOWN);
    anew.recurs = true;                     /* the occurrence before it ended well */
    CU_ASSERT_EQUAL(judged(&w, anew), CHECK_WATCH_ANSWERED);
}

static const struct test tests[] = {
    TEST(a_run_that_is_not_on_record_is_told_by_the_row),
    TEST(what_is_due_and_held_by_nobody_is_not_asked_for_again),
    TEST(one_that_was_moved_has_run_when_it_is_counted_or_in_a_new_life),
    TEST(one_that_is_moved_later_unrun_is_put_off_and_sooner_waited_for),
    TEST(in_a_slot_that_runs_the_run_after_counts),
    TEST(what_is_due_already_has_run_when_its_slot_is_left),
    TEST(a_run_before_the_second_look_is_seen_too),
    { NULL, NULL },
};

const struct suite suite_check_watch = { "check_watch", NULL, NULL, tests };
