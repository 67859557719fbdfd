/* contract_fine.c - the store's contract: each whole second between two multiples of the slot
 * length is a slot as well, a fine one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/rules/slot.h"
#include "../engine/run/fine_pulse.h"
#include "store_contract.h"

#define FINE (NOW + 1)                      /* the next second at NOW */
#define FAR (INT64_C(4000000500) / LENGTH * LENGTH)     /* in 2096 */

/* "new +61": what happened, and how many seconds after SLOT it is filed. */
static const char *put_now(const char *key, const char *conflict, int64_t now)
{
    static char text[64];
    struct store_rows rows = REPORT("enqueue_now", "orders", key, "look", NULL, conflict, NULL, text_of(now));
    if (rows.rows != 1)
        return "error";
    snprintf(text, sizeof text, "%s +%lld", cell(&rows, 0, "outcome"),
             (long long)(strtoll(cell(&rows, 0, "next_check_at"), NULL, 10) - SLOT));
    return text;
}

static struct store_open_slot open_fine(int64_t slot, int64_t now)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = slot;
    o.now = now;
    fixture_call(&o.call);
    return o;
}

/* `n` checks asked for at NOW, leased and read a second later. */
static struct scene fine_scene(int n)
{
    struct scene scene = { .n = n };
    for (int i = 0; i < n; i++)
        TEXT_IS("new +61", put_now((char[]){ (char)('1' + i), 0 }, NULL, NOW));
    struct store_open_slot o = open_fine(FINE, FINE);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    scene.lease = o.taken[0];
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, n);
    for (int i = 0; i < n; i++) {
        int place = scene.page.checks[i].entity_key[0] - '1';
        scene.answers[place].check = &scene.page.checks[i];
        answer_done(&scene.answers[place]);
    }
    return scene;
}

static struct store_settle settle_at(struct scene *scene, int64_t now)
{
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene->lease;
    s.now = now;
    s.settlements = scene->answers;
    s.n = scene->n;
    IS(0, fixture_call(&s.call));
    return s;
}

/* ---- asking ---------------------------------------------------------------------------------- */

void at_once_is_the_next_second(void)
{
    WITH_STORE();
    TEXT_IS("new +61", put_now("1", NULL, NOW));
    TEXT_IS("new +1", put_now("2", NULL, SLOT));
    IS(FINE, number("list", "1", "next_check_at"));
    IS(FINE, number("list", "1", "first_check_at"));
}

void at_once_leaves_the_second_of_a_full_slot_to_its_checks(void)
{
    WITH_STORE();
    TEXT_IS("new +1", put_now("1", NULL, SLOT - 1));
    TEXT_IS("new +-1", put_now("2", NULL, SLOT - 2));
}

void at_once_moves_a_check_that_waits(void)
{
    WITH_STORE();
    put("1", SLOT + 5 * LENGTH, "keep", BEFORE);
    TEXT_IS("moved +61", put_now("1", NULL, NOW));
    TEXT_IS("kept +61", put_now("1", NULL, NOW));
    put("2", SLOT + 5 * LENGTH, "keep", BEFORE);
    TEXT_IS("kept +4500", put_now("2", "keep", NOW));
    TEXT_IS("replaced +61", put_now("2", "replace", NOW));
    IS(FINE, number("list", "2", "first_check_at"));
    IS(2, rows_in("list"));
}

/* In the last second before a full slot, the next second is that slot's, and the one behind it is
 * asked for. */
void at_once_moves_no_check_into_the_full_slot_of_the_next_second(void)
{
    WITH_STORE();
    put("1", SLOT + 5 * LENGTH, "keep", BEFORE);
    TEXT_IS("moved +1", put_now("1", NULL, SLOT - 1));
    IS(SLOT + 1, number("list", "1", "next_check_at"));
    put("2", SLOT, "keep", BEFORE);
    TEXT_IS("kept +0", put_now("2", NULL, SLOT - 1));
    /* beside a run that may be under way */
    put("3", SLOT - LENGTH, "keep", SLOT - LENGTH - 1);
    TEXT_IS("kept +1", put_now("3", NULL, SLOT - 1));
    IS(SLOT - LENGTH, number("list", "3", "next_check_at"));
    IS(SLOT + 1, number("list", "3", "again_at"));
    /* a first occurrence is to be found in the full slot, which is not what was asked for */
    REPORT("schedule_put", "put", "nightly", "orders", "4", "look", "2592000", NULL, NULL, NULL, NULL, NULL,
           text_of(BEFORE));
    TEXT_IS("kept +1", put_now("4", NULL, SLOT - 1));
    IS(SLOT, number("list", "4", "next_check_at"));
    IS(SLOT + 1, number("list", "4", "again_at"));
}

void at_once_beside_a_running_check_is_remembered(void)
{
    WITH_STORE();
    struct scene scene = scene_of(3);
    TEXT_IS("kept +61", put_now("1", NULL, NOW));
    put("2", SLOT + 3 * LENGTH, "keep", NOW);
    TEXT_IS("kept +2700", put_now("2", "keep", NOW));
    TEXT_IS("kept +61", put_now("2", NULL, NOW));
    TEXT_IS("kept +61", put_now("3", "keep", NOW));
    answer_again(&scene.answers[1], SLOT + 9 * LENGTH);
    answer_again(&scene.answers[2], SLOT + 9 * LENGTH);
    IS(3, settle(&scene).touched);
    IS(FINE, number("list", "1", "next_check_at"));
    IS(FINE, number("list", "1", "first_check_at"));
    IS(FINE, number("list", "2", "next_check_at"));
    IS(FINE, number("list", "3", "next_check_at"));
    TEXT_IS("NULL", value("list", "2", "again_at"));
    scene_end(&scene);
}

void a_wish_for_a_second_that_has_begun_is_for_the_next_one(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    put_now("1", NULL, NOW);
    put_now("2", NULL, NOW);
    answer_again(&scene.answers[1], SLOT + 9 * LENGTH);
    IS(2, settle_at(&scene, NOW + 10).touched);
    IS(NOW + 11, number("list", "1", "next_check_at"));
    IS(NOW + 11, number("list", "2", "next_check_at"));
    scene_end(&scene);
}

void what_is_wrong_with_a_check_is_told_at_once_too(void)
{
    WITH_STORE();
    IS(-1, REPORT("enqueue_now", "", "1", "look", NULL, NULL, NULL, text_of(NOW)).rows);
    IS(-1, REPORT("enqueue_now", "orders", "1", "look", "{", NULL, NULL, text_of(NOW)).rows);
    IS(-1, REPORT("enqueue_now", "orders", "1", "look", NULL, "never", NULL, text_of(NOW)).rows);
    IS(0, rows_in("list"));
    struct store_rows rows =
        REPORT("enqueue_now", "orders", "1", "look", "{\"a\": 1}", NULL, "-3", text_of(NOW));
    IS(1, rows.rows);
    TEXT_IS("{\"a\": 1}", value("list", "1", "payload"));
    IS(-3, number("list", "1", "priority"));
}

/* ---- running --------------------------------------------------------------------------------- */

void a_fine_slot_is_opened_run_and_closed_like_another(void)
{
    WITH_STORE();
    put("9", SLOT, "keep", BEFORE);
    struct scene scene = fine_scene(2);
    IS(2, settle_at(&scene, FINE).touched);
    IS(FINE, number("history", "2", "slot_at"));
    CU_ASSERT_TRUE(finish(&scene.lease));
    IS(1, relook().closed);
    IS(SLOT_CLOSED, open_fine(FINE, FINE).state);
    IS(1, rows_in("list"));
    scene_end(&scene);
}

void a_fine_slot_that_has_not_begun_is_not_opened(void)
{
    WITH_STORE();
    put_now("1", NULL, NOW);
    struct store_open_slot o = open_fine(FINE, NOW);
    IS(ERR_BUSY, o.call.rc);
    CU_ASSERT_TRUE(o.not_begun);
}

void a_late_fine_slot_is_found_in_its_turn(void)
{
    WITH_STORE();
    put("1", SLOT, "keep", BEFORE);
    put_now("2", NULL, NOW);
    put("3", SLOT + LENGTH, "keep", BEFORE);
    static const int64_t found[] = { SLOT, FINE, SLOT + LENGTH, 0 };
    struct store_late_slot late = STORE_LATE_SLOT_INIT;
    late.before = SLOT + 2 * LENGTH;
    late.full = true;
    for (int i = 0; i < 4; i++) {
        IS(0, fixture_call(&late.call));
        IS(found[i], late.slot);
        late.from = late.slot + 1;
        late.full = false;
    }
}

void a_check_of_a_fine_slot_moves_by_seconds(void)
{
    WITH_STORE();
    struct scene scene = fine_scene(4);
    answer_again(&scene.answers[0], FINE + 5);
    answer_again(&scene.answers[1], FINE);
    answer_again(&scene.answers[2], SLOT + LENGTH);     /* as what is put off */
    scene.answers[2].ran = false;
    IS(4, settle_at(&scene, FINE + 1).touched);
    IS(FINE + 5, number("list", "1", "next_check_at"));
    IS(FINE + 2, number("list", "2", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "3", "next_check_at"));
    IS(1, rows_in("history"));
    scene_end(&scene);
}

void a_check_of_a_fine_slot_leaves_it_whatever_the_clock_says(void)
{
    WITH_STORE();
    struct scene scene = fine_scene(2);
    answer_again(&scene.answers[0], FINE);
    answer_again(&scene.answers[1], FINE - 1);
    IS(2, settle_at(&scene, FINE - 1).touched);
    IS(FINE + 1, number("list", "1", "next_check_at"));
    IS(FINE + 1, number("list", "2", "next_check_at"));
    scene_end(&scene);
}

/* In the first seconds of the next full slot it would be before all that waits there. */
void an_attempt_that_comes_too_late_goes_to_a_full_slot(void)
{
    WITH_STORE();
    struct scene scene = fine_scene(3);
    for (int i = 0; i < 3; i++) {
        answer_again(&scene.answers[i], i == 2 ? SLOT + LENGTH + 9 : FINE + 5);
        scene.answers[i].check_count = 0;
        scene.answers[i].failure_count = i == 1 ? 0 : 1;
        scene.answers[i].outcome = i == 1 ? OUTCOME_DEFERRED : OUTCOME_FAILED;
    }
    IS(3, settle_at(&scene, SLOT + LENGTH + 3).touched);
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH + 4, number("list", "2", "next_check_at"));
    IS(SLOT + LENGTH + 9, number("list", "3", "next_check_at"));
    scene_end(&scene);
}

/* A check of a full slot that fails may be tried again within it. */
void a_check_of_a_full_slot_may_move_to_a_fine_one(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    answer_again(&scene.answers[0], NOW + 7);
    answer_again(&scene.answers[1], SLOT + 2 * LENGTH);
    IS(2, settle(&scene).touched);
    IS(NOW + 7, number("list", "1", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "2", "next_check_at"));
    scene_end(&scene);
}

/* Second by second, up to the clock of the store. */
static struct store_fine_slots fine_slots(int64_t low)
{
    struct store_fine_slots f = STORE_FINE_SLOTS_INIT;
    f.low = low;
    IS(0, fixture_call(&f.call));
    return f;
}

void a_pulse_lists_fine_slots_that_nobody_has_opened(void)
{
    WITH_STORE();
    put("full", SLOT + LENGTH, "keep", BEFORE);
    TEXT_IS("new +1", put_now("1", NULL, SLOT));
    TEXT_IS("new +61", put_now("2", NULL, NOW));
    TEXT_IS("new +61", put_now("3", NULL, NOW));
    TEXT_IS("new +901", put_now("4", NULL, SLOT + LENGTH));
    struct store_fine_slots f = fine_slots(SLOT);
    IS(3, f.n);
    IS(SLOT + 1, f.slots[0]);
    IS(FINE, f.slots[1]);
    IS(SLOT + LENGTH + 1, f.slots[2]);
    CU_ASSERT(f.clock_us > 0 && f.xmin <= f.next_xid);
    IS(2, fine_slots(SLOT + 1).n);
    IS(0, fine_slots(SLOT + LENGTH + 1).n);
    CU_ASSERT_EQUAL(open_fine(FINE, FINE).ntaken, 1);
    f = fine_slots(SLOT);
    IS(2, f.n);
    IS(SLOT + LENGTH + 1, f.slots[1]);
}

/* As an engine does at that second, whatever the clock says. */
static void pulse_at(struct fine_pulse *p, int64_t second)
{
    struct store_fine_slots f = fine_slots(p->low);
    f.clock_us = second * 1000000;
    fine_pulse_note(p, &f, LENGTH);
}

/* It has read the clock, and works on; readers see nothing of it. */
void a_pulse_looks_where_a_writer_has_filed_that_is_not_done(void)
{
    WITH_STORE();
    int64_t filed = fine_slots(SLOT).clock_us / 1000000 - 60;
    filed -= filed % LENGTH == 0;
    struct fine_pulse p = { .low = slot_floor(filed, LENGTH) };
    char on_pg[300], on_sqlite[300];
    snprintf(on_pg, sizeof on_pg,
             "BEGIN; SELECT prescient.enqueue_now('orders', '1', 'look'); "
             "UPDATE prescient.future_job SET next_check_at = to_timestamp(%lld)", (long long)filed);
    snprintf(on_sqlite, sizeof on_sqlite,
             "BEGIN; INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec) "
             "VALUES ('orders', '1', 'look'); UPDATE prescient_future_job SET next_check_at = %lld",
             (long long)filed);
    pulse_at(&p, filed - 2);
    fixture_run(on_pg, on_sqlite);
    for (int second = -1; second < 10; second++)
        pulse_at(&p, filed + second);
    fixture_run("COMMIT", "COMMIT");
    struct store_fine_slots f = fine_slots(p.low);
    IS(1, f.n);
    IS(filed, f.slots[0]);
}

static struct store_fine_slots fine_slots_of(int64_t low, const char *job)
{
    struct store_fine_slots f = STORE_FINE_SLOTS_INIT;
    f.low = low;
    f.jobs = &job;
    f.njobs = 1;
    IS(0, fixture_call(&f.call));
    return f;
}

static void put_job_now(const char *key, const char *job, int64_t now)
{
    IS(1, REPORT("enqueue_now", "orders", key, job, NULL, NULL, NULL, text_of(now)).rows);
}

/* A fine slot that began so many seconds ago by the clock of the store. */
static int64_t second_before_now(int seconds)
{
    int64_t at = fine_slots(SLOT).clock_us / 1000000 - seconds;
    return at % LENGTH ? at : at - 1;
}

static void finish_without(const struct lease *lease, const char *unknown_job)
{
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = *lease;
    f.leave = !unknown_job;
    f.unknown_jobs = &unknown_job;
    f.nunknown_jobs = unknown_job != NULL;
    IS(0, fixture_call(&f.call));
    CU_ASSERT_TRUE(f.finished);
}

/* An engine that lacks a job opened the second first. It is no longer listed once an engine that
 * has the job has had it, whatever that one left there. */
void a_pulse_lists_what_an_engine_without_the_job_has_left(void)
{
    WITH_STORE();
    int64_t at = second_before_now(20), now = at + 20;
    put_job_now("1", "bill", at - 1);
    struct store_open_slot o = open_fine(at, now);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    IS(0, fine_slots_of(at - 1, "bill").n);
    finish_without(&o.taken[0], "bill");
    IS(0, fine_slots_of(at - 1, "look").n);
    IS(0, fine_slots(at - 1).n);
    struct store_fine_slots f = fine_slots_of(now, "bill");
    IS(1, f.n);
    IS(at, f.slots[0]);
    const char *job = "bill";
    o = open_slot(owner, 60);
    o.slot = at;
    o.now = now;
    o.again = true;
    o.jobs = &job;
    o.njobs = 1;
    fixture_call(&o.call);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    IS(0, fine_slots_of(at - 1, "bill").n);
    finish_without(&o.taken[0], NULL);
    IS(0, fine_slots_of(at - 1, "bill").n);
}

/* In the second itself an engine that lacks its jobs would only be in the way. */
void a_pulse_leaves_the_second_that_runs_to_engines_with_its_jobs(void)
{
    WITH_STORE();
    char key[16];
    for (int i = 0; i < 20; i++) {
        int64_t at = second_before_now(0);
        snprintf(key, sizeof key, "%d", i);
        put_job_now(key, "bill", at - 1);
        struct store_fine_slots without = fine_slots_of(at - 1, "look"), with = fine_slots_of(at - 1, "bill");
        IS(1, with.n);
        IS(at, with.slots[0]);
        if (with.clock_us / 1000000 != at)
            continue;                   /* that second was over */
        IS(0, without.n);
        break;
    }
    int64_t before = second_before_now(3);
    put_job_now("before", "bill", before - 1);
    IS(before, fine_slots_of(before - 1, "look").slots[0]);
}

void what_is_due_by_now_counts_the_seconds_that_have_begun(void)
{
    WITH_STORE();
    put("1", SLOT, "keep", BEFORE);
    put_now("2", NULL, SLOT);
    put_now("3", NULL, NOW);
    struct store_rows rows = REPORT("status", text_of(NOW));
    TEXT_IS("2", cell(&rows, 0, "due"));
    TEXT_IS("0", cell(&rows, 0, "overdue"));
    rows = REPORT("status", text_of(FINE));
    TEXT_IS("3", cell(&rows, 0, "due"));
}

void a_pulse_lists_no_more_than_it_has_room_for(void)
{
    WITH_STORE();
    char key[16];
    for (int i = 0; i < FINE_SLOTS_MAX + 4; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_now(key, NULL, SLOT + i);
    }
    struct store_fine_slots f = fine_slots(SLOT);
    IS(FINE_SLOTS_MAX, f.n);
    IS(SLOT + FINE_SLOTS_MAX, f.slots[f.n - 1]);
}

void a_pulse_does_not_look_ahead_of_the_clock(void)
{
    WITH_STORE();
    struct store_fine_slots f = fine_slots(SLOT);
    int64_t now = f.clock_us / 1000000;
    put_now("1", NULL, now + 100);
    put_now("2", NULL, now - 1000);
    f = fine_slots(now - 2000);
    IS(1, f.n);
}

void passes_of_fine_slots_are_dropped_after_a_day_and_others_stay(void)
{
    WITH_STORE();
    put("9", SLOT, "keep", BEFORE);
    struct lease full = take();
    struct scene scene = fine_scene(1);
    IS(1, settle_at(&scene, FINE).touched);
    CU_ASSERT_TRUE(finish(&scene.lease));
    scene_end(&scene);
    struct check_rows page = read_page(&full, 10);
    struct scene other = { .lease = full, .page = page, .n = 1 };
    other.answers[0].check = &page.checks[0];
    answer_done(&other.answers[0]);
    IS(1, settle(&other).touched);
    CU_ASSERT_TRUE(finish(&full));
    scene_end(&other);
    IS(2, relook().closed);
    struct store_prune p = STORE_PRUNE_INIT;
    p.part = PRUNE_PASSES;
    p.fine = true;
    p.before = SLOT + 86400;
    IS(0, fixture_call(&p.call));
    IS(0, p.n);
    fixture_make_old(2);
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    p.before = hello.now_us / 1000000 - 86400;
    IS(0, fixture_call(&p.call));
    IS(2, p.n);
    IS(2, rows_in("passes"));
}

static void change_length(int32_t length_s)
{
    struct migrate_options options = { .slot_length_s = length_s, .change_slot_length = true };
    struct err err = { 0 };
    struct store *store = fixture_another((struct store_options){ 0 });
    CU_ASSERT_TRUE(store_migrate(store, &options, &err) >= 0);
    store_free(store);
}

void what_waits_in_a_fine_slot_stays_there_when_the_length_changes(void)
{
    WITH_STORE();
    put_now("1", NULL, NOW);
    put("2", SLOT + LENGTH, "keep", BEFORE);
    change_length(3600);
    IS(FINE, number("list", "1", "next_check_at"));
    CU_ASSERT_EQUAL(number("list", "2", "next_check_at") % 3600, 0);
    change_length(LENGTH);
}

void where_slots_are_a_second_long_at_once_is_the_next_slot(void)
{
    WITH_STORE();
    change_length(1);
    TEXT_IS("new +1", put_now("1", NULL, SLOT));
    TEXT_IS("new +0", put_now("2", NULL, SLOT - 1));
    change_length(LENGTH);
}

/* ---- run --check ----------------------------------------------------------------------------- */

/* By the store's own clock, unlike all else here. */
void pull_forward_moves_what_waits_and_files_nothing(void)
{
    WITH_STORE();
    struct store_rows rows = REPORT("pull_forward", "orders", "1", "look");
    TEXT_IS("not_found", cell(&rows, 0, "outcome"));
    IS(0, rows_in("list"));
    put("1", FAR, "keep", BEFORE);
    rows = REPORT("pull_forward", "orders", "1", "look");
    TEXT_IS("moved", cell(&rows, 0, "outcome"));
    long long at = strtoll(cell(&rows, 0, "next_check_at"), NULL, 10);
    long long now = clock_wall_us(&clock_system) / 1000000;
    CU_ASSERT_TRUE(at > now - 60 && at <= now + 2);
    IS(at, number("list", "1", "next_check_at"));
    IS(FAR, number("list", "1", "first_check_at"));
}

void checks_of_a_key_tell_their_lease(void)
{
    WITH_STORE();
    put("1", FAR, "keep", BEFORE);
    struct store_rows rows = REPORT("checks_of_key", "orders", "1", "look");
    IS(1, rows.rows);
    TEXT_IS("0", cell(&rows, 0, "is_begun"));
    TEXT_IS("NULL", cell(&rows, 0, "engine"));
    put("2", SLOT, "keep", BEFORE);
    struct store_open_slot o = open_slot(owner, 60);
    fixture_call(&o.call);
    IS(1, o.ntaken);
    rows = REPORT("checks_of_key", "orders", "2", NULL);
    IS(1, rows.rows);
    TEXT_IS("1", cell(&rows, 0, "is_begun"));
    CU_ASSERT_STRING_NOT_EQUAL(cell(&rows, 0, "engine"), "NULL");
    rows = REPORT("checks_of_key", "orders", "2", "other");
    IS(0, rows.rows);
}
