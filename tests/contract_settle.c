/* contract_settle.c - the store's contract: answers written down exactly once, with their effects,
 * and never under a lost lease. */
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

/* ---- what becomes of a check ----------------------------------------------------------------- */

void done_archives_the_check(void)
{
    WITH_STORE();
    put_with("1", "{\"n\": 1}", 0);
    struct scene scene = { .lease = take(), .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    answer_done(&scene.answers[0]);
    scene.answers[0].note = "shipped \xe2\x82\xac";
    struct store_settle s = settle(&scene);
    IS(0, s.call.rc);
    IS(1, s.touched);
    IS(SETTLE_TOUCHED, scene.answers[0].state);
    IS(0, rows_in("list"));
    IS(1, rows_in("history"));
    IS(0, rows_in("runs"));
    TEXT_IS("done", value("history", "1", "outcome"));
    TEXT_IS("shipped \xe2\x82\xac", value("history", "1", "note"));
    TEXT_IS("test/1", value("history", "1", "engine"));
    TEXT_IS("NULL", value("history", "1", "payload"));
    IS(SLOT, number("history", "1", "slot_at"));
    IS(SLOT, number("history", "1", "first_check_at"));
    IS(1, number("history", "1", "run_count"));
    IS(NOW * 1000000, number("history", "1", "first_run_at_us"));
    IS(NOW * 1000000, number("history", "1", "last_run_at_us"));
    IS(1500, number("history", "1", "total_run_us"));
    IS(1500, number("history", "1", "last_run_us"));
    IS(NOW * 1000000, number("history", "1", "ended_at_us"));
    scene_end(&scene);
}

void again_moves_counts_and_leaves_one_run_row(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + 4 * LENGTH);
    scene.answers[0].note = "not yet";
    IS(1, settle(&scene).touched);
    IS(SLOT + 4 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT, number("list", "1", "first_check_at"));
    IS(1, number("list", "1", "check_count"));
    IS(0, rows_in("history"));
    IS(1, rows_in("runs"));
    TEXT_IS("again", value("runs", "1", "outcome"));
    TEXT_IS("not yet", value("runs", "1", "note"));
    TEXT_IS("test/1", value("runs", "1", "engine"));
    IS(SLOT, number("runs", "1", "slot_at"));
    IS(SLOT + 4 * LENGTH, number("runs", "1", "next_check_at"));
    IS(1, number("runs", "1", "check_count"));
    IS(1500, number("runs", "1", "run_us"));
    IS(NOW * 1000000, number("runs", "1", "run_at_us"));
    scene_end(&scene);
}

void a_deferral_is_remembered_beside_the_check(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    scene.answers[0].outcome = OUTCOME_DEFERRED;
    scene.answers[0].check_count = 0;
    scene.answers[0].deferred_at = NOW;
    IS(1, settle(&scene).touched);
    IS(0, number("list", "1", "check_count"));
    TEXT_IS("deferred", value("runs", "1", "outcome"));
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = SLOT + LENGTH;
    IS(0, fixture_call(&o.call));
    struct check_rows page = read_page(&o.taken[0], 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    IS(NOW, page.checks[0].deferred_at);
    check_rows_free(&page);
    scene_end(&scene);
}

void a_failure_that_ends_keeps_its_payload(void)
{
    WITH_STORE();
    static const enum outcome problems[] = { OUTCOME_FAILED, OUTCOME_TIMEOUT, OUTCOME_CRASHED,
                                             OUTCOME_BAD_ANSWER };
    static const char *const keys[] = { "1", "2", "3", "4" }, *const outcomes[] = { "failed", "timeout",
                                                                                    "crashed", "bad_answer" };
    for (int i = 0; i < 4; i++)
        put_any("orders", keys[i], "look", "{\"n\": 1}", "keep", SLOT, BEFORE);
    struct scene scene = { .lease = take(), .n = 4 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 4);
    for (int i = 0; i < 4; i++)
        scene.answers[atoi(scene.page.checks[i].entity_key) - 1].check = &scene.page.checks[i];
    for (int i = 0; i < 4; i++) {
        answer_done(&scene.answers[i]);
        scene.answers[i].outcome = problems[i];
        scene.answers[i].failure_count = 4;
    }
    IS(4, settle(&scene).touched);
    for (int i = 0; i < 4; i++) {
        TEXT_IS(outcomes[i], value("history", keys[i], "outcome"));
        TEXT_IS("max_failures", value("history", keys[i], "guard"));
        TEXT_IS("4", value("history", keys[i], "failure_count"));
        TEXT_IS("{\"n\": 1}", value("history", keys[i], "payload"));
    }
    scene_end(&scene);
}

void a_check_put_off_without_a_run_leaves_no_run_row(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    scene.answers[0].outcome = OUTCOME_HELD_BACK;
    scene.answers[0].check_count = 0;
    scene.answers[0].ran = false;
    IS(1, settle(&scene).touched);
    IS(0, rows_in("runs"));
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

void the_run_log_can_be_kept_for_problems_or_not_at_all(void)
{
    WITH_STORE();
    static const struct {
        enum keep_runs keep;
        int rows;
    } all[] = { { KEEP_RUNS_ALL, 2 }, { KEEP_RUNS_PROBLEMS, 1 }, { KEEP_RUNS_NONE, 0 } };
    for (int i = 0; i < 3; i++) {
        WITH_STORE();
        struct scene scene = scene_of(2);
        answer_again(&scene.answers[0], SLOT + LENGTH);
        answer_again(&scene.answers[1], SLOT + LENGTH);
        scene.answers[1].outcome = OUTCOME_FAILED;
        struct store_settle s = STORE_SETTLE_INIT;
        s.lease = scene.lease;
        s.now = NOW;
        s.settlements = scene.answers;
        s.n = 2;
        s.keep_runs = all[i].keep;
        IS(0, fixture_call(&s.call));
        IS(2, s.touched);
        IS(all[i].rows, rows_in("runs"));
        scene_end(&scene);
    }
}

void what_the_runs_took_adds_up(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    scene.answers[0].run_at_us = NOW * 1000000 + 7;
    scene.answers[0].run_us = 100;
    IS(1, settle(&scene).touched);
    scene_end(&scene);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = SLOT + LENGTH;
    IS(0, fixture_call(&o.call));
    scene.lease = o.taken[0];
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    IS(1, scene.page.checks[0].check_count);
    scene.answers[0].check = &scene.page.checks[0];
    answer_done(&scene.answers[0]);
    scene.answers[0].run_at_us = (NOW + LENGTH) * 1000000;
    scene.answers[0].run_us = 30;
    IS(1, settle(&scene).touched);
    IS(2, number("history", "1", "run_count"));
    IS(130, number("history", "1", "total_run_us"));
    IS(30, number("history", "1", "last_run_us"));
    IS(NOW * 1000000 + 7, number("history", "1", "first_run_at_us"));
    IS((NOW + LENGTH) * 1000000, number("history", "1", "last_run_at_us"));
    IS(1, number("history", "1", "check_count"));
    scene_end(&scene);
}

void a_move_is_clamped_to_the_first_slot_that_has_not_begun(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    answer_again(&scene.answers[0], SLOT);
    answer_again(&scene.answers[1], SLOT - 5 * LENGTH);
    IS(2, settle(&scene).touched);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "2", "next_check_at"));
    IS(SLOT + LENGTH, number("runs", "1", "next_check_at"));
    scene_end(&scene);
}

void a_mixed_page_is_settled_in_one_go(void)
{
    WITH_STORE();
    struct scene scene = scene_of(9);
    for (int i = 0; i < 9; i += 2)
        answer_again(&scene.answers[i], SLOT + (i + 1) * LENGTH);
    IS(9, settle(&scene).touched);
    IS(5, rows_in("list"));
    IS(5, rows_in("runs"));
    IS(4, rows_in("history"));
    IS(SLOT + 9 * LENGTH, number("list", "9", "next_check_at"));
    CU_ASSERT(finish(&scene.lease));
    scene_end(&scene);
}

static int by_id(const void *a, const void *b)
{
    const struct settlement *x = a, *y = b;
    return (x->check->id > y->check->id) - (x->check->id < y->check->id);
}

/* Rows of the same priorities came in behind it, and one between them; one of its own was changed
 * meanwhile. */
void a_page_of_several_priorities_is_settled_and_no_other_row(void)
{
    static const int32_t priorities[] = { 3, -7, 0, 3, -7, 0, 9, 3 };
    WITH_STORE();
    for (int skip = 0; skip < 2; skip++) {
        WITH_STORE();
        struct scene scene = { .n = 8 };
        for (int i = 0; i < 8; i++)
            put_with((const char *const[]){ "1", "2", "3", "4", "5", "6", "7", "8" }[i], NULL, priorities[i]);
        scene.lease = take();
        scene.page = read_page(&scene.lease, SCENE_MAX);
        CU_ASSERT_EQUAL_FATAL(scene.page.n, 8);
        for (int i = 0; i < 8; i++) {
            scene.answers[i].check = &scene.page.checks[i];
            i % 3 ? answer_done(&scene.answers[i]) : answer_again(&scene.answers[i], SLOT + LENGTH);
        }
        qsort(scene.answers, 8, sizeof *scene.answers, by_id);
        put_with("late", NULL, -7);
        put_with("between", NULL, 1);
        put_with("later", NULL, 9);
        TEXT_IS("1", resolve("5"));
        struct store_settle s = STORE_SETTLE_INIT;
        s.lease = scene.lease;
        s.now = NOW;
        s.settlements = scene.answers;
        s.n = 8;
        s.skip_locked = skip;
        IS(0, fixture_call(&s.call));
        IS(7, s.touched);
        for (int i = 0; i < 8 && skip; i++)
            IS(strcmp(scene.answers[i].check->entity_key, "5") ? SETTLE_TOUCHED : SETTLE_SUPERSEDED,
               scene.answers[i].state);
        IS(SLOT, number("list", "between", "next_check_at"));
        IS(8, rows_in("history") + rows_in("runs"));
        IS(3 + rows_in("runs"), rows_in("list"));
        scene_end(&scene);
    }
}

/* ---- enqueued again meanwhile ---------------------------------------------------------------- */

void a_check_asked_for_again_starts_anew_when_it_ends(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    int64_t id = scene.answers[0].check->id;
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "keep", NOW));
    IS(1, settle(&scene).touched);
    TEXT_IS("done", value("history", "1", "outcome"));
    IS(SLOT, number("history", "1", "first_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "first_check_at"));
    TEXT_IS("NULL", value("list", "1", "again_at"));
    scene_end(&scene);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = SLOT + 3 * LENGTH;
    IS(0, fixture_call(&o.call));
    struct check_rows page = read_page(&o.taken[0], 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    CU_ASSERT(page.checks[0].id > id);
    check_rows_free(&page);
}

void a_new_life_does_not_inherit_counts(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + LENGTH, "keep", NOW);
    scene.answers[0].outcome = OUTCOME_MAX_CHECKS;
    scene.answers[0].check_count = 5;
    scene.answers[0].failure_count = 2;
    IS(1, settle(&scene).touched);
    TEXT_IS("max_checks", value("history", "1", "guard"));
    TEXT_IS("5", value("history", "1", "check_count"));
    TEXT_IS("0", value("list", "1", "check_count"));
    TEXT_IS("0", value("list", "1", "failure_count"));
    scene_end(&scene);
}

void a_wish_that_has_passed_starts_in_the_next_slot(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + LENGTH, "keep", NOW);
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.now = SLOT + 5 * LENGTH + 1;
    s.settlements = scene.answers;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    IS(SLOT + 6 * LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

void a_wish_stays_beside_a_check_that_moves(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + 9 * LENGTH, "keep", NOW);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    IS(1, settle(&scene).touched);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 9 * LENGTH, number("list", "1", "again_at"));
    scene_end(&scene);
}

/* "kept +2" is a promise: whoever asked was told that slot. */
void a_check_that_moves_goes_where_it_was_asked_for_meanwhile(void)
{
    WITH_STORE();
    struct scene scene = scene_of(3);
    TEXT_IS("kept +2", put("1", SLOT + 2 * LENGTH, "earlier", NOW));
    TEXT_IS("kept +2", put("2", SLOT + 2 * LENGTH, "keep", NOW));
    TEXT_IS("kept +5", put("3", SLOT + 5 * LENGTH, "earlier", NOW));
    for (int i = 0; i < 3; i++)
        answer_again(&scene.answers[i], SLOT + 5 * LENGTH);
    scene.answers[1].outcome = OUTCOME_DEFERRED;
    IS(3, settle(&scene).touched);
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "2", "next_check_at"));
    IS(SLOT + 5 * LENGTH, number("list", "3", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("runs", "1", "next_check_at"));
    const char *keys[] = { "1", "2", "3" };
    for (int i = 0; i < 3; i++)
        /* the look that comes then is the one that was asked for */
        TEXT_IS("NULL", value("list", keys[i], "again_at"));
    scene_end(&scene);
}

void a_move_to_a_time_asked_for_is_clamped_too(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + LENGTH, "earlier", NOW);
    answer_again(&scene.answers[0], SLOT + 9 * LENGTH);
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.now = SLOT + 5 * LENGTH + 1;
    s.settlements = scene.answers;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    IS(SLOT + 6 * LENGTH, number("list", "1", "next_check_at"));
    TEXT_IS("NULL", value("list", "1", "again_at"));
    scene_end(&scene);
}

/* ---- keys of new lives ----------------------------------------------------------------------- */

/* The idempotency key of what a page of this slot holds for ("orders", key). */
static const char *key_in(int64_t slot, const char *key)
{
    static char keys[4][IDEMPOTENCY_KEY_SIZE];
    static int next;
    char *out = keys[next++ % 4];
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    o.again = true;
    strcpy(out, "none");
    if (fixture_call(&o.call) || o.ntaken != 1)
        return out;
    struct check_rows page = read_page(&o.taken[0], 10);
    for (int i = 0; i < page.n; i++)
        if (strcmp(page.checks[i].entity_key, key) == 0) {
            struct idempotency of = check_identity(&page.checks[i]);
            idempotency_key(&of, out);
        }
    check_rows_free(&page);
    struct store_release r = STORE_RELEASE_INIT;
    r.leases = o.taken;
    r.n = 1;
    IS(0, fixture_call(&r.call));
    return out;
}

/* The answer to row 0 of a page, a failure or a deferral, declares a child; the check itself waits
 * on under its number. */
static void wait_on_and_declare(const struct lease *lease, const struct check_rows *page, int32_t failures,
                                int64_t to, struct effect *child)
{
    struct settlement waits = { .check = &page->checks[0],
                                .outcome = failures ? OUTCOME_FAILED : OUTCOME_DEFERRED,
                                .next_at = to,
                                .ran = true,
                                .failure_count = failures,
                                .effects = child,
                                .neffects = 1 };
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = *lease;
    s.now = lease->slot;
    s.settlements = &waits;
    s.n = 1;
    child->at = lease->slot + LENGTH;
    IS(0, fixture_call(&s.call));
    IS(1, s.touched);
}

static struct check_rows page_at(int64_t slot, struct lease *lease)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    IS(0, fixture_call(&o.call));
    *lease = o.taken[0];
    return read_page(lease, 10);
}

/* Settled, lost with what was committed last, and settled again, later: the child has another id
 * and perhaps another slot, and the key that it had. Of a run after a failure, which has the key
 * of the one before, it is another child. */
void what_an_answer_declares_has_one_key_however_often_it_is_written(void)
{
    WITH_STORE();
    struct effect child = { .kind = EFFECT_ENQUEUE,
                            .entity_name = "orders",
                            .entity_key = "child",
                            .job = "look",
                            .conflict = "keep",
                            .json = "[1]" };
    char first[IDEMPOTENCY_KEY_SIZE];
    struct lease lease;
    struct scene scene = scene_of(1);
    /* its counts stay: it is as it was */
    wait_on_and_declare(&scene.lease, &scene.page, 0, SLOT + 8 * LENGTH, &child);
    strcpy(first, key_in(SLOT + LENGTH, "child"));
    CU_ASSERT_STRING_NOT_EQUAL("none", first);
    TEXT_IS("1", resolve("child"));
    struct check_rows page = page_at(SLOT + 8 * LENGTH, &lease);
    wait_on_and_declare(&lease, &page, 1, SLOT + 12 * LENGTH, &child);
    TEXT_IS(first, key_in(SLOT + 9 * LENGTH, "child"));
    TEXT_IS("1", resolve("child"));
    check_rows_free(&page);
    page = page_at(SLOT + 12 * LENGTH, &lease);
    IS(0, page.checks[0].check_count);
    wait_on_and_declare(&lease, &page, 2, SLOT + 16 * LENGTH, &child);
    CU_ASSERT_STRING_NOT_EQUAL("none", key_in(SLOT + 13 * LENGTH, "child"));
    CU_ASSERT_STRING_NOT_EQUAL(first, key_in(SLOT + 13 * LENGTH, "child"));
    TEXT_IS("1", resolve("child"));
    put_any("orders", "child", "look", "[1]", "keep", SLOT + 14 * LENGTH, SLOT + 8 * LENGTH);
    /* filed by an application: another life */
    CU_ASSERT_STRING_NOT_EQUAL(first, key_in(SLOT + 14 * LENGTH, "child"));
    check_rows_free(&page);
    scene_end(&scene);
}

void a_new_life_has_a_key_that_follows_from_the_old_one(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    char expected[IDEMPOTENCY_KEY_SIZE], origin[IDEMPOTENCY_KEY_SIZE];
    put("1", SLOT + 3 * LENGTH, "keep", NOW);
    struct check old = *scene.answers[0].check;
    IS(2, settle(&scene).touched);
    struct idempotency of = check_identity(&old);
    idempotency_origin_anew(&of, origin);
    of.origin = origin;
    idempotency_key(&of, expected);
    TEXT_IS(expected, key_in(SLOT + 3 * LENGTH, "1"));
    scene_end(&scene);
}

/* ---- what must not be touched ---------------------------------------------------------------- */

void a_settle_under_a_lease_taken_over_changes_nothing(void)
{
    WITH_STORE();
    struct scene scene = scene_of(3);
    struct lease current = take_over(&scene.lease);
    answer_again(&scene.answers[1], SLOT + LENGTH);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "seen" };
    scene.answers[0].effects = &effect;
    scene.answers[0].neffects = 1;
    struct store_settle s = settle(&scene);
    IS(ERR_FENCED, s.call.rc);
    IS(0, s.touched);
    IS(3, rows_in("list"));
    IS(0, rows_in("history") + rows_in("runs") + rows_in("events"));
    scene.lease = current;
    IS(3, settle(&scene).touched);
    scene_end(&scene);
}

void a_settle_after_the_lease_was_given_back_changes_nothing(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    struct store_release release = STORE_RELEASE_INIT;
    release.leases = &scene.lease;
    release.n = 1;
    IS(0, fixture_call(&release.call));
    IS(ERR_FENCED, settle(&scene).call.rc);
    IS(1, rows_in("list"));
    scene_end(&scene);
}

void a_settle_shows_owner_and_token(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    struct lease real = scene.lease;
    scene.lease.token++;
    IS(ERR_FENCED, settle(&scene).call.rc);
    scene.lease = real;
    memcpy(scene.lease.owner, stranger, STORE_OWNER_SIZE);
    IS(ERR_FENCED, settle(&scene).call.rc);
    scene.lease = real;
    IS(1, settle(&scene).touched);
    scene_end(&scene);
}

void a_settle_twice_touches_nothing_the_second_time(void)
{
    WITH_STORE();
    struct scene scene = scene_of(4);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    IS(4, settle(&scene).touched);
    struct store_settle s = settle(&scene);
    IS(0, s.call.rc);
    IS(0, s.touched);
    IS(3, rows_in("history"));
    IS(1, rows_in("runs"));
    IS(1, number("list", "1", "check_count"));
    scene_end(&scene);
}

void a_check_that_left_its_slot_is_not_touched_though_its_counts_are_the_same(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    scene.answers[0].outcome = OUTCOME_HELD_BACK;
    scene.answers[0].check_count = 0;
    scene.answers[0].ran = false;
    IS(1, settle(&scene).touched);
    scene.answers[0].next_at = SLOT + 5 * LENGTH;
    IS(0, settle(&scene).touched);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    answer_done(&scene.answers[0]);
    IS(0, settle(&scene).touched);
    IS(1, rows_in("list"));
    scene_end(&scene);
}

void rows_changed_meanwhile_are_superseded(void)
{
    WITH_STORE();
    struct scene scene = scene_of(4);
    TEXT_IS("1", resolve("1"));
    TEXT_IS("replaced +2", put("2", SLOT + 2 * LENGTH, "replace", NOW));
    TEXT_IS("moved +3", reschedule("3", SLOT + 3 * LENGTH, NOW));
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.now = NOW;
    s.settlements = scene.answers;
    s.n = 4;
    s.skip_locked = true;
    IS(0, fixture_call(&s.call));
    IS(1, s.touched);
    for (int i = 0; i < 3; i++)
        IS(SETTLE_SUPERSEDED, scene.answers[i].state);
    IS(SETTLE_TOUCHED, scene.answers[3].state);
    IS(SLOT + 2 * LENGTH, number("list", "2", "next_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "3", "next_check_at"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    IS(2, rows_in("history"));
    CU_ASSERT(finish(&scene.lease));
    scene_end(&scene);
}

void a_row_replaced_into_the_same_slot_is_superseded(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    /* the same key, slot and counts: only the id tells them apart */
    TEXT_IS("replaced +0", put("1", SLOT, "replace", BEFORE));
    IS(0, settle(&scene).touched);
    IS(1, rows_in("list"));
    CU_ASSERT_FALSE(finish(&scene.lease));
    scene_end(&scene);
}

/* ---- effects --------------------------------------------------------------------------------- */

static struct store_settle settle_with(struct scene *scene, const struct effect *effects, int n)
{
    scene->answers[0].effects = effects;
    scene->answers[0].neffects = n;
    return settle(scene);
}

void effects_happen_once_with_their_answer(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put_any("orders", "gone", "look", NULL, "keep", SLOT + LENGTH, NOW);
    put_any("orders", "half", "look", NULL, "keep", SLOT + LENGTH, NOW);
    put_any("orders", "half", "bill", NULL, "keep", SLOT + LENGTH, NOW);
    const struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "late", .json = "{\"days\": 3}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = SLOT + 2 * LENGTH,
          .conflict = "keep",
          .json = "[1]" },
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "gone" },
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "half", .job = "bill" },
        { .kind = EFFECT_EMIT, .event = "late too" },
    };
    for (int round = 0; round < 2; round++) {
        struct store_settle s = settle_with(&scene, effects, 5);
        IS(0, s.call.rc);
        IS(round == 0, s.touched);
        struct store_rows events = REPORT("events", "0", "0", "0", NULL);
        CU_ASSERT_EQUAL_FATAL(events.rows, 2);
        TEXT_IS("late", cell(&events, 0, "event"));
        TEXT_IS("{\"days\": 3}", cell(&events, 0, "data"));
        TEXT_IS("orders", cell(&events, 0, "entity_name"));
        TEXT_IS("1", cell(&events, 0, "entity_key"));
        TEXT_IS("look", cell(&events, 0, "job_exec"));
        IS(SLOT, atoll(cell(&events, 0, "slot_at")));
        IS(NOW * 1000000, atoll(cell(&events, 0, "emitted_at_us")));
        TEXT_IS("late too", cell(&events, 1, "event"));
        TEXT_IS("NULL", cell(&events, 1, "data"));
        IS(SLOT + 2 * LENGTH, number("list", "next", "next_check_at"));
        TEXT_IS("[1]", value("list", "next", "payload"));
        TEXT_IS("none", value("list", "gone", "job_exec"));
        TEXT_IS("look", value("list", "half", "job_exec"));
    }
    TEXT_IS("resolved", value("history", "gone", "outcome"));
    scene_end(&scene);
}

void effects_of_a_row_not_touched_do_not_happen(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    TEXT_IS("1", resolve("1"));
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "late" };
    scene.answers[1].effects = &effect;
    scene.answers[1].neffects = 1;
    struct store_settle s = settle_with(&scene, &effect, 1);
    IS(1, s.touched);
    struct store_rows events = REPORT("events", "0", "0", "0", NULL);
    CU_ASSERT_EQUAL_FATAL(events.rows, 1);
    TEXT_IS("2", cell(&events, 0, "entity_key"));
    scene_end(&scene);
}

void its_own_resolve_beats_an_again(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    const struct effect effect = { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "1" };
    IS(1, settle_with(&scene, &effect, 1).touched);
    IS(0, rows_in("list"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    scene_end(&scene);
}

void an_effect_may_ask_for_the_same_check_again(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct effect effect = { .kind = EFFECT_ENQUEUE,
                                   .entity_name = "orders",
                                   .entity_key = "1",
                                   .job = "look",
                                   .at = SLOT + 4 * LENGTH,
                                   .conflict = "keep" };
    IS(1, settle_with(&scene, &effect, 1).touched);
    TEXT_IS("done", value("history", "1", "outcome"));
    IS(SLOT + 4 * LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

void an_effect_is_not_put_into_a_slot_that_has_begun(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct effect effect = { .kind = EFFECT_ENQUEUE,
                                   .entity_name = "orders",
                                   .entity_key = "next",
                                   .job = "look",
                                   .at = SLOT,
                                   .conflict = "keep" };
    IS(1, settle_with(&scene, &effect, 1).touched);
    IS(SLOT + LENGTH, number("list", "next", "next_check_at"));
    scene_end(&scene);
}

void an_effect_that_the_database_refuses_undoes_the_settle(void)
{
    WITH_STORE();
    static const struct effect bad[] = {
        { .kind = EFFECT_EMIT, .event = "late", .json = "{" },
        { .kind = EFFECT_EMIT, .event = "late", .json = "\"\xff\"" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = SLOT + LENGTH,
          .conflict = "keep",
          .json = "nope" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "",
          .job = "look",
          .at = SLOT + LENGTH,
          .conflict = "keep" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = -1,
          .conflict = "keep" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = SLOT,
          .conflict = "sometimes" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "orders",
          .entity_key = "next",
          .job = "look",
          .at = INT64_C(253402300799),
          .conflict = "keep" },
    };
    struct scene scene = scene_of(3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct store_settle s = settle_with(&scene, &bad[i], 1);
        IS(ERR_DATA, s.call.rc);
        IS(0, s.touched);
        CU_ASSERT(s.call.err.text[0] != '\0');
        IS(3, rows_in("list"));
        IS(0, rows_in("history") + rows_in("events"));
    }
    IS(3, settle_with(&scene, NULL, 0).touched);
    scene_end(&scene);
}
