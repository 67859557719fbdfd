/* contract_pause.c - the store's contract: what is paused waits in a slot of its own, which engines
 * open when it was resumed. */
#include <string.h>
#include <time.h>

#include "store_contract.h"

#define YEAR_9000 INT64_C(221845392000)

/* "paused", "kept", ...; "error" where it was refused. */
static const char *outcome_of(struct store_rows rows)
{
    return rows.rows == 1 ? cell(&rows, 0, "outcome") : "error";
}
static const char *pause_job(const char *job)
{
    return outcome_of(REPORT("pause", job, NULL, NULL, NULL, "why not"));
}
static const char *pause_entity(const char *name)
{
    return outcome_of(REPORT("pause", NULL, name, NULL, NULL));
}
static const char *resume_job(const char *job)
{
    return outcome_of(REPORT("resume", job, NULL, NULL, NULL));
}

static struct store_pauses known(int64_t change)
{
    struct store_pauses p = STORE_PAUSES_INIT;
    p.known = change;
    IS(0, fixture_call(&p.call));
    return p;
}

/* The slot of the only pause that there is. */
static int64_t slot_of_pause(void)
{
    struct store_pauses p = known(-1);
    IS(1, p.pauses.n);
    int64_t slot = p.pauses.n ? p.pauses.all[0].slot : 0;
    arena_free(p.arena);
    return slot;
}

static int end_pauses(void)
{
    struct store_end_pauses e = STORE_END_PAUSES_INIT;
    IS(0, fixture_call(&e.call));
    return e.ended;
}

static void answer_moved(struct settlement *answer, enum outcome why, int64_t at)
{
    answer_done(answer);
    answer->ends = answer->ran = false;
    answer->outcome = why;
    answer->next_at = at;
}

/* `n` checks of SLOT are put into the slot of a pause. */
static int64_t paused_checks(int n)
{
    TEXT_IS("paused", pause_job("look"));
    int64_t slot = slot_of_pause();
    struct scene scene = scene_of(n);
    for (int i = 0; i < n; i++)
        answer_moved(&scene.answers[i], OUTCOME_PAUSED, slot);
    IS(n, settle(&scene).touched);
    CU_ASSERT_TRUE(finish(&scene.lease));
    scene_end(&scene);
    return slot;
}

static struct store_open_slot open_at_now(int64_t slot)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = slot;
    o.now = NOW;
    o.again = true;
    fixture_call(&o.call);
    return o;
}

/* ---- what is paused -------------------------------------------------------------------------- */

void a_pause_has_a_slot_that_is_one_at_every_length(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    TEXT_IS("paused", pause_entity("orders"));
    struct store_pauses p = known(-1);
    IS(2, p.pauses.n);
    for (int i = 0; i < p.pauses.n; i++) {
        const struct pause *one = &p.pauses.all[i];
        CU_ASSERT(one->slot >= YEAR_9000 && one->slot % 86400 == 0 && one->is_on);
        TEXT_IS(one->what == PAUSE_JOB ? "look" : "orders", one->name);
    }
    CU_ASSERT_NOT_EQUAL(p.pauses.all[0].slot, p.pauses.all[1].slot);
    arena_free(p.arena);
}

void who_paused_what_when_and_why_is_kept(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    struct store_rows rows = REPORT("pauses", NULL, NULL);
    IS(1, rows.rows);
    TEXT_IS("job", cell(&rows, 0, "what"));
    TEXT_IS("look", cell(&rows, 0, "name"));
    TEXT_IS("on", cell(&rows, 0, "state"));
    TEXT_IS("why not", cell(&rows, 0, "reason"));
    CU_ASSERT(*cell(&rows, 0, "paused_by") && strtoll(cell(&rows, 0, "paused_at"), NULL, 10) > SLOT);
    TEXT_IS("resumed", resume_job("look"));
    IS(1, end_pauses());
    IS(0, REPORT("pauses", NULL, NULL).rows);
    rows = REPORT("pauses", "true", NULL);
    TEXT_IS("over", cell(&rows, 0, "state"));
    TEXT_IS("why not", cell(&rows, 0, "reason"));
    CU_ASSERT(*cell(&rows, 0, "resumed_by"));
}

void what_is_paused_already_stays_so(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    TEXT_IS("kept", pause_job("look"));
    IS(1, REPORT("pauses", NULL, NULL).rows);
    TEXT_IS("not_paused", resume_job("another"));
    TEXT_IS("resumed", resume_job("look"));
    TEXT_IS("not_paused", resume_job("look"));
}

void a_pause_is_of_one_thing(void)
{
    WITH_STORE();
    IS(-1, REPORT("pause", NULL, NULL, NULL, NULL).rows);
    IS(-1, REPORT("pause", "look", "orders", NULL, NULL).rows);
    IS(-1, REPORT("pause", "look", NULL, "nightly", NULL).rows);
    IS(-1, REPORT("pause", "", NULL, NULL, NULL).rows);
    IS(-1, REPORT("pause", NULL, NULL, "there is none", NULL).rows);
    IS(-1, REPORT("resume", NULL, NULL, NULL, NULL).rows);
    IS(-1, REPORT("resume", NULL, "orders", "nightly", NULL).rows);
    IS(0, REPORT("pauses", "true", NULL).rows);
}

void a_schedule_is_paused_by_its_name(void)
{
    WITH_STORE();
    REPORT("schedule_put", "add", "say \"hi\"", "orders", "1", "look", "300", NULL, NULL, NULL, NULL, NULL,
           text_of(NOW));
    TEXT_IS("paused", outcome_of(REPORT("pause", NULL, NULL, "say \"hi\"", NULL)));
    TEXT_IS("kept", outcome_of(REPORT("pause", NULL, NULL, "say \"hi\"", NULL)));
    struct store_pauses p = known(-1);
    IS(1, p.pauses.n);
    IS(PAUSE_SCHEDULE, p.pauses.all[0].what);
    TEXT_IS("say \"hi\"", p.pauses.all[0].name);
    arena_free(p.arena);
    /* it can be resumed when it is gone, too */
    REPORT("schedule_remove", "say \"hi\"", text_of(NOW));
    TEXT_IS("resumed", outcome_of(REPORT("resume", NULL, NULL, "say \"hi\"", NULL)));
}

void an_entity_that_no_check_has_is_told(void)
{
    WITH_STORE();
    put("1", SLOT + LENGTH, "keep", NOW);
    struct store_rows rows = REPORT("pause", NULL, "orders", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(strchr("t1", *cell(&rows, 0, "has_checks")));
    rows = REPORT("pause", NULL, "order", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(strchr("f0", *cell(&rows, 0, "has_checks")));
}

/* Not so one of the entity that stands for it elsewhere. */
void a_tenant_is_paused_by_its_name(void)
{
    WITH_STORE();
    REPORT("enqueue", "orders", "1", "look", text_of(SLOT), NULL, NULL, NULL, text_of(BEFORE), NULL, "acme");
    struct store_rows rows = REPORT("pause", NULL, NULL, NULL, "acme", "unpaid");
    TEXT_IS("paused", cell(&rows, 0, "outcome"));
    CU_ASSERT_PTR_NOT_NULL(strchr("t1", *cell(&rows, 0, "has_checks")));
    TEXT_IS("kept", outcome_of(REPORT("pause", NULL, NULL, NULL, "acme")));
    struct store_pauses p = known(-1);
    IS(PAUSE_TENANT, p.pauses.all[0].what);
    TEXT_IS("acme", p.pauses.all[0].name);
    arena_free(p.arena);
    rows = REPORT("pauses", NULL, NULL);
    TEXT_IS("unpaid", cell(&rows, 0, "reason"));
    rows = REPORT("pause", NULL, NULL, NULL, "orders");
    CU_ASSERT_PTR_NOT_NULL(strchr("f0", *cell(&rows, 0, "has_checks")));
    TEXT_IS("resumed", outcome_of(REPORT("resume", NULL, NULL, NULL, "acme")));
    IS(-1, REPORT("pause", "look", NULL, NULL, "acme").rows);
    IS(-1, REPORT("pause", NULL, NULL, NULL, "").rows);
}

/* A copy of the database that is restored has earlier changes, and those to come have numbers that
 * no engine has seen. */
void the_number_of_a_change_is_its_time(void)
{
    WITH_STORE();
    struct store_pauses p = STORE_PAUSES_INIT;
    TEXT_IS("paused", pause_job("look"));
    IS(0, fixture_call(&p.call));
    int64_t us = p.change - (int64_t)time(NULL) * 1000000;
    CU_ASSERT(us > -60 * 1000000LL && us < 60 * 1000000LL);
    arena_free(p.arena);
}

/* The pulse tells of it. */
void a_change_to_pauses_comes_with_the_fine_slots(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    struct store_pauses p = known(-1);
    struct store_fine_slots f = STORE_FINE_SLOTS_INIT;
    f.low = SLOT;
    IS(0, fixture_call(&f.call));
    CU_ASSERT_EQUAL(f.pause_change, p.change);
    arena_free(p.arena);
    TEXT_IS("resumed", resume_job("look"));
    IS(0, fixture_call(&f.call));
    CU_ASSERT(f.pause_change > p.change);
}

void a_change_to_pauses_is_told_once(void)
{
    WITH_STORE();
    struct store_pauses before = known(-1);
    IS(0, before.pauses.n);
    arena_free(before.arena);
    TEXT_IS("paused", pause_job("look"));
    struct store_pauses after = known(before.change);
    CU_ASSERT_NOT_EQUAL(after.change, before.change);
    IS(1, after.pauses.n);
    arena_free(after.arena);
    struct store_pauses same = known(after.change);
    IS(0, same.pauses.n);
    IS(after.change, same.change);
    arena_free(same.arena);
}

void the_slot_of_a_pause_is_not_used_again(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    int64_t first = slot_of_pause();
    TEXT_IS("resumed", resume_job("look"));
    IS(1, end_pauses());
    TEXT_IS("paused", pause_job("look"));
    CU_ASSERT_NOT_EQUAL(slot_of_pause(), first);
}

void no_check_is_asked_for_where_paused_ones_wait(void)
{
    WITH_STORE();
    TEXT_IS("error -3", put("1", YEAR_9000, "keep", NOW));
    TEXT_IS("error -3", put("1", YEAR_9000 + 86400 * 365, "keep", NOW));
    /* its slot is that of the first pause */
    TEXT_IS("error -3", put("1", YEAR_9000 - 1, "keep", NOW));
    IS(0, rows_in("list"));
    put("1", YEAR_9000 - 2 * 86400, "keep", NOW);
    IS(YEAR_9000 - 2 * 86400, number("list", "1", "next_check_at"));
    reschedule("1", YEAR_9000 + 86400, NOW);
    IS(YEAR_9000 - 2 * 86400, number("list", "1", "next_check_at"));
}

/* What an engine does that was given such a time. */
void no_time_comes_to_the_slot_of_a_pause_that_is_on(void)
{
    WITH_STORE();
    int64_t slot = paused_checks(3);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = slot;
    o.now = slot + 3600;
    fixture_call(&o.call);
    IS(0, o.ntaken);
    CU_ASSERT_TRUE(o.not_begun);
    TEXT_IS("resumed", resume_job("look"));
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
}

/* ---- into it --------------------------------------------------------------------------------- */

void a_check_is_moved_into_a_pause_that_is_on(void)
{
    WITH_STORE();
    int64_t slot = paused_checks(3);
    for (int i = 1; i <= 3; i++)
        IS(slot, number("list", text_of(i), "next_check_at"));
    IS(0, rows_in("runs"));
    struct store_rows rows = REPORT("pauses", NULL, NULL);
    TEXT_IS("3", cell(&rows, 0, "checks"));
    rows = REPORT("status", text_of(SLOT + 9 * LENGTH));
    TEXT_IS("0", cell(&rows, 0, "overdue"));
}

void paused_checks_are_counted_to_a_bound(void)
{
    WITH_STORE();
    paused_checks(3);
    struct store_rows rows = REPORT("pauses", NULL, NULL, "2");
    TEXT_IS("2", cell(&rows, 0, "checks"));
    CU_ASSERT_PTR_NOT_NULL(strchr("t1", *cell(&rows, 0, "is_at_least")));
    rows = REPORT("pauses", NULL, NULL, "4");
    TEXT_IS("3", cell(&rows, 0, "checks"));
    CU_ASSERT_PTR_NOT_NULL(strchr("f0", *cell(&rows, 0, "is_at_least")));
}

void a_check_is_not_moved_into_a_pause_that_was_resumed(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    int64_t slot = slot_of_pause();
    struct scene scene = scene_of(3);
    TEXT_IS("resumed", resume_job("look"));
    answer_moved(&scene.answers[0], OUTCOME_PAUSED, slot);
    answer_again(&scene.answers[1], SLOT + 3 * LENGTH);
    answer_moved(&scene.answers[2], OUTCOME_PAUSED, slot + 86400);    /* of no pause at all */
    IS(3, settle(&scene).touched);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "2", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "3", "next_check_at"));
    scene_end(&scene);
}

/* Late by a slot, `missed skip` would pass it over. */
void an_occurrence_that_comes_upon_a_pause_just_resumed_is_not_missed(void)
{
    WITH_STORE();
    REPORT("schedule_put", "add", "nightly", "orders", "1", "look", "300", NULL, NULL, NULL, "skip", NULL,
           text_of(SLOT - 2 * LENGTH));
    TEXT_IS("moved +0", reschedule("1", SLOT, BEFORE));
    TEXT_IS("paused", pause_job("look"));
    int64_t slot = slot_of_pause();
    struct scene scene = { .lease = take(), .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    TEXT_IS("resumed", resume_job("look"));
    answer_moved(&scene.answers[0], OUTCOME_PAUSED, slot);
    IS(1, settle(&scene).touched);
    scene_end(&scene);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
}

void a_page_goes_to_pauses_and_to_slots_of_both_kinds(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    int64_t slot = slot_of_pause();
    struct scene scene = scene_of(4);
    answer_moved(&scene.answers[0], OUTCOME_PAUSED, slot);
    answer_again(&scene.answers[1], NOW + 7);
    answer_again(&scene.answers[2], SLOT + 2 * LENGTH);
    struct store_settle s = settle(&scene);
    IS(4, s.touched);
    IS(slot, number("list", "1", "next_check_at"));
    IS(NOW + 7, number("list", "2", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "3", "next_check_at"));
    IS(1, rows_in("history"));
    scene_end(&scene);
}

/* Asked for again while its slot ran: it goes there, and is paused there. */
void a_wish_comes_before_a_pause(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    int64_t slot = slot_of_pause();
    struct scene scene = scene_of(1);
    put("1", SLOT + 5 * LENGTH, "earlier", NOW);
    answer_moved(&scene.answers[0], OUTCOME_PAUSED, slot);
    IS(1, settle(&scene).touched);
    IS(SLOT + 5 * LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

/* ---- out of it ------------------------------------------------------------------------------- */

void the_slot_of_a_pause_is_opened_when_it_was_resumed(void)
{
    WITH_STORE();
    int64_t slot = paused_checks(2);
    struct store_open_slot o = open_at_now(slot);
    IS(ERR_BUSY, o.call.rc);
    CU_ASSERT_TRUE(o.not_begun);
    TEXT_IS("resumed", resume_job("look"));
    o = open_at_now(slot);
    IS(0, o.call.rc);
    IS(1, o.ntaken);
    /* a day further there is no pause */
    CU_ASSERT_TRUE(open_at_now(slot + 86400).not_begun);
}

void a_pause_is_over_when_its_slot_is_empty_and_closed(void)
{
    WITH_STORE();
    int64_t slot = paused_checks(2);
    IS(0, end_pauses());
    TEXT_IS("resumed", resume_job("look"));
    IS(0, end_pauses());
    struct store_open_slot o = open_at_now(slot);
    struct scene scene = { .lease = o.taken[0], .n = 2 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 2);
    for (int i = 0; i < 2; i++) {
        scene.answers[i].check = &scene.page.checks[i];
        answer_moved(&scene.answers[i], OUTCOME_RESUMED, SLOT + LENGTH + 1 + i);
    }
    IS(2, settle(&scene).touched);
    IS(0, end_pauses());
    CU_ASSERT_TRUE(finish(&scene.lease));
    IS(0, end_pauses());
    IS(2, relook().closed);
    IS(1, end_pauses());
    IS(0, end_pauses());
    CU_ASSERT_TRUE(open_at_now(slot).not_begun);
    struct store_rows list = REPORT("list", "orders");
    IS(2, list.rows);
    TEXT_IS(text_of(SLOT + LENGTH + 1), cell(&list, 0, "next_check_at"));
    TEXT_IS(text_of(SLOT + LENGTH + 2), cell(&list, 1, "next_check_at"));
    scene_end(&scene);
}

void a_pause_that_never_held_a_check_is_over_at_once(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    TEXT_IS("resumed", resume_job("look"));
    IS(1, end_pauses());
    struct store_pauses p = known(-1);
    IS(0, p.pauses.n);
    arena_free(p.arena);
}

void prune_drops_pauses_that_are_over(void)
{
    WITH_STORE();
    TEXT_IS("paused", pause_job("look"));
    TEXT_IS("paused", pause_job("stays"));
    TEXT_IS("resumed", resume_job("look"));
    IS(1, end_pauses());
    struct store_prune prune = STORE_PRUNE_INIT;
    prune.part = PRUNE_PAUSES;
    prune.before = SLOT;
    IS(0, fixture_call(&prune.call));
    IS(0, prune.n);
    IS(2, REPORT("pauses", "true", NULL).rows);
    prune.before = FUTURE;
    IS(0, fixture_call(&prune.call));
    IS(1, prune.n);
    CU_ASSERT_FALSE(prune.by_days);
    IS(1, REPORT("pauses", "true", NULL).rows);
}

void pauses_that_are_over_are_counted_and_all_dropped(void)
{
    enum { OVER = 1005 };
    WITH_STORE();
    for (int i = 0; i < OVER; i++) {
        TEXT_IS("paused", pause_job("look"));
        TEXT_IS("resumed", resume_job("look"));
    }
    for (int ended = 0, n = 1; ended < OVER && n > 0; ended += n)
        n = end_pauses();
    TEXT_IS("paused", pause_job("stays"));
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), FUTURE, true, &counts, &fixture_err));
    IS(OVER, counts.pauses);
    IS(OVER + 1, REPORT("pauses", "true", NULL).rows);
    IS(0, store_prune(fixture_store(), FUTURE, false, &counts, &fixture_err));
    IS(OVER, counts.pauses);
    IS(1, REPORT("pauses", "true", NULL).rows);
}
