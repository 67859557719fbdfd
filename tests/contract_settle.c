/* contract_settle.c - the store's contract: answers are written down exactly once, and never under
 * a lost lease. */
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
    IS(1, number("runs", "1", "check_number"));
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

/* Puts the only check of the page off to the next slot, late since `since`; 0: it is not. */
static void put_off(struct scene *scene, int64_t since)
{
    struct settlement *s = &scene->answers[0];
    answer_again(s, scene->lease.slot + LENGTH);
    s->outcome = OUTCOME_UNKNOWN_JOB;
    s->check_count = 0;
    s->ran = false;
    s->put_off_at = since;
    struct store_settle settle = STORE_SETTLE_INIT;
    settle.lease = scene->lease;
    settle.now = scene->lease.slot;
    settle.settlements = s;
    settle.n = 1;
    IS(0, fixture_call(&settle.call));
    IS(1, settle.touched);
    scene_end(scene);
}

/* The page of a later slot, which has one check. */
static struct scene scene_in(int64_t slot)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    IS(0, fixture_call(&o.call));
    struct scene scene = { .lease = o.taken[0], .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    return scene;
}

void a_check_put_off_remembers_when_it_was_due_until_it_has_run(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    IS(0, scene.page.checks[0].put_off_at);
    put_off(&scene, SLOT);
    IS(SLOT, number("list", "1", "put_off_at"));
    scene = scene_in(SLOT + LENGTH);
    IS(SLOT, scene.page.checks[0].put_off_at);
    put_off(&scene, SLOT);
    IS(SLOT, number("list", "1", "put_off_at"));
    scene = scene_in(SLOT + 2 * LENGTH);
    IS(SLOT, scene.page.checks[0].put_off_at);
    CU_ASSERT_PTR_NULL(scene.page.checks[0].origin);
    put_off(&scene, 0);
    TEXT_IS("NULL", value("list", "1", "put_off_at"));
    scene = scene_in(SLOT + 3 * LENGTH);
    IS(0, scene.page.checks[0].put_off_at);
    scene_end(&scene);
}

/* Whatever slot it was put off to. */
void what_was_put_off_is_overdue_since_it_was_due(void)
{
    WITH_STORE();
    put("2", SLOT + 9 * LENGTH, "keep", BEFORE);
    struct scene scene = scene_of(1);
    struct store_rows rows = REPORT("status", text_of(SLOT + LENGTH));
    IS(1, atoll(cell(&rows, 0, "overdue")));
    rows = REPORT("put_off", NULL);
    CU_ASSERT_EQUAL(rows.rows, 0);
    put_off(&scene, SLOT - 2 * LENGTH);
    for (int i = 0; i < 3; i++) {               /* before its slot, in it, and after it */
        rows = REPORT("status", text_of(SLOT + i * LENGTH));
        IS(1, atoll(cell(&rows, 0, "overdue")));
        IS(SLOT - 2 * LENGTH, atoll(cell(&rows, 0, "oldest_overdue_at")));
    }
}

static int64_t recall(const char *job, bool only_one)
{
    struct store_recall r = STORE_RECALL_INIT;
    r.jobs = job ? &job : NULL;
    r.njobs = job != NULL;
    r.now = NOW;
    r.only_one = only_one;
    IS(0, fixture_call(&r.call));
    IS(0, r.until.put_off_at);
    return r.recalled;
}

/* They waited for half of the time since they were due, up to a day, while their job was back. */
void what_was_put_off_is_recalled_by_an_engine_that_has_its_job(void)
{
    static const char *const jobs[] = { "typo", "typo", "look" };
    WITH_STORE();
    put_any("orders", "4", "look", NULL, "keep", SLOT + 9 * LENGTH, BEFORE);       /* asked for so late */
    for (int i = 0; i < 3; i++)
        put_any("orders", text_of(i + 1), jobs[i], NULL, "keep", SLOT, BEFORE);
    struct scene scene = { .lease = take(), .n = 3 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 3);
    for (int i = 0; i < 3; i++) {
        scene.answers[i].check = &scene.page.checks[i];
        answer_again(&scene.answers[i], SLOT + 9 * LENGTH);
        scene.answers[i].outcome = OUTCOME_UNKNOWN_JOB;
        scene.answers[i].ran = false;
        scene.answers[i].put_off_at = SLOT;
    }
    IS(3, settle(&scene).touched);
    IS(0, recall("none", false));
    IS(1, recall("look", false));
    IS(0, recall("look", false));
    IS(SLOT + LENGTH, number("list", "3", "next_check_at"));
    IS(SLOT, number("list", "3", "put_off_at"));                /* it is late until it has run */
    IS(SLOT + 9 * LENGTH, number("list", "4", "next_check_at"));
    IS(SLOT + 9 * LENGTH, number("list", "1", "next_check_at"));
    IS(1, recall(NULL, true));
    IS(1, recall(NULL, false));
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "2", "next_check_at"));
    scene_end(&scene);
}

void checks_put_off_are_reported_by_job(void)
{
    WITH_STORE();
    put_any("orders", "1", "typo", NULL, "keep", SLOT, BEFORE);
    put_any("orders", "2", "typo", NULL, "keep", SLOT, BEFORE);
    put_any("orders", "3", "look", NULL, "keep", SLOT, BEFORE);
    struct scene scene = { .lease = take(), .n = 3 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 3);
    for (int i = 0; i < 3; i++) {
        struct settlement *s = &scene.answers[i];
        s->check = &scene.page.checks[i];
        answer_again(s, SLOT + LENGTH);
        s->outcome = OUTCOME_HELD_BACK;
        s->check_count = 0;
        s->ran = false;
        s->put_off_at = SLOT - atoi(s->check->entity_key) * LENGTH;
    }
    IS(3, settle(&scene).touched);
    scene_end(&scene);
    struct store_rows rows = REPORT("put_off", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    TEXT_IS("typo", cell(&rows, 0, "job_exec"));
    IS(2, atoll(cell(&rows, 0, "checks")));
    IS(SLOT - 2 * LENGTH, atoll(cell(&rows, 0, "since_at")));
    TEXT_IS("look", cell(&rows, 1, "job_exec"));
    IS(1, atoll(cell(&rows, 1, "checks")));
    IS(SLOT - 3 * LENGTH, atoll(cell(&rows, 1, "since_at")));
    rows = REPORT("put_off", "1");
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    IS(3, atoll(cell(&rows, 0, "total")));
}

void a_new_life_has_not_been_put_off(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put_off(&scene, SLOT);
    put("1", SLOT + 5 * LENGTH, "keep", SLOT);
    IS(SLOT, number("list", "1", "put_off_at"));
    put("1", SLOT + 5 * LENGTH, "replace", SLOT);
    TEXT_IS("NULL", value("list", "1", "put_off_at"));

    scene = scene_in(SLOT + 5 * LENGTH);
    put_off(&scene, SLOT + 5 * LENGTH);
    reschedule("1", SLOT + 9 * LENGTH, SLOT);
    TEXT_IS("NULL", value("list", "1", "put_off_at"));

    scene = scene_in(SLOT + 9 * LENGTH);
    put_off(&scene, SLOT + 9 * LENGTH);
    scene = scene_in(SLOT + 10 * LENGTH);
    put("1", SLOT + 12 * LENGTH, "keep", SLOT + 10 * LENGTH + 1);
    answer_done(&scene.answers[0]);
    IS(1, settle(&scene).touched);
    IS(SLOT + 12 * LENGTH, number("list", "1", "next_check_at"));
    TEXT_IS("NULL", value("list", "1", "put_off_at"));
    scene_end(&scene);
}

void a_failure_that_ends_keeps_its_payload(void)
{
    WITH_STORE();
    static const struct {
        enum outcome outcome;
        const char *key, *name, *guard;
    } problems[] = {
        { OUTCOME_FAILED, "1", "failed", "max_failures" },
        { OUTCOME_TIMEOUT, "2", "timeout", "max_failures" },
        { OUTCOME_CRASHED, "3", "crashed", "max_failures" },
        { OUTCOME_BAD_ANSWER, "4", "bad_answer", "max_failures" },
        { OUTCOME_UNKNOWN_JOB, "5", "unknown_job", "unknown_job" },
    };
    for (int i = 0; i < 5; i++)
        put_any("orders", problems[i].key, "look", "{\"n\": 1}", "keep", SLOT, BEFORE);
    struct scene scene = { .lease = take(), .n = 5 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 5);
    for (int i = 0; i < 5; i++)
        scene.answers[atoi(scene.page.checks[i].entity_key) - 1].check = &scene.page.checks[i];
    for (int i = 0; i < 5; i++) {
        answer_done(&scene.answers[i]);
        scene.answers[i].outcome = problems[i].outcome;
        scene.answers[i].failure_count = 4;
    }
    IS(5, settle(&scene).touched);
    for (int i = 0; i < 5; i++) {
        TEXT_IS(problems[i].name, value("history", problems[i].key, "outcome"));
        TEXT_IS(problems[i].guard, value("history", problems[i].key, "guard"));
        TEXT_IS("4", value("history", problems[i].key, "failure_count"));
        TEXT_IS("{\"n\": 1}", value("history", problems[i].key, "payload"));
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

/* Where the clock was set back while it ran, "now" and the time wanted may lie before its slot, or
 * be it. A row that stayed would be as it was read: a lost answer would be written twice. */
void a_check_that_was_answered_leaves_its_slot_whatever_the_clock_says(void)
{
    WITH_STORE();
    struct scene scene = scene_of(4);
    put("4", SLOT, "keep", BEFORE);
    put("3", SLOT, "earlier", NOW);
    answer_again(&scene.answers[0], SLOT);
    answer_again(&scene.answers[1], SLOT - LENGTH);
    answer_again(&scene.answers[2], SLOT + 9 * LENGTH);
    answer_again(&scene.answers[3], SLOT - 2 * LENGTH);
    for (int i = 0; i < 4; i++) {
        scene.answers[i].outcome = OUTCOME_DEFERRED;
        scene.answers[i].check_count = 0;
    }
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.now = BEFORE;
    s.settlements = scene.answers;
    s.n = 4;
    IS(0, fixture_call(&s.call));
    IS(4, s.touched);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "2", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "4", "next_check_at"));
    IS(0, fixture_call(&s.call));
    IS(0, s.touched);
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
