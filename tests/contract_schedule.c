/* contract_schedule.c - the store's contract: schedules and the one check of each. An occurrence
 * that is over starts the check anew, and whatever else happens to the check, its rule stays. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "schedule_fixture.h"

/* ---- making and changing --------------------------------------------------------------------- */

void a_schedule_files_its_check_in_the_next_slot(void)
{
    WITH_STORE();
    TEXT_IS("new +1", schedule_put("add", "1", "300", NULL, NOW));
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
    RULE_IS(RULE, NOW);
    struct scene scene = scene_in(SLOT + LENGTH);
    TEXT_IS(of_schedule("terms"), scene.page.checks[0].terms);
    TEXT_IS("no origin", scene.page.checks[0].origin ? scene.page.checks[0].origin : "no origin");
    scene_end(&scene);
}

void a_cron_text_travels_with_its_zone(void)
{
    WITH_STORE();
    TEXT_IS("new +1", schedule_put("add", "1", NULL, "0 6 * * mon-fri", NOW));
    RULE_IS("schedule \"nightly\" cron \"0 6 * * mon-fri\" zone \"UTC\" missed run_once", NOW);
}

void a_name_with_quotes_comes_back_as_it_was(void)
{
    WITH_STORE();
    struct store_rows rows = REPORT("schedule_put", "put", "the \"big\" one", "orders", "1", "look", "60",
                                    "0", NULL, NULL, "skip", NULL, text_of(NOW));
    IS(1, rows.rows);
    rows = REPORT("schedule", "the \"big\" one");
    TEXT_IS("the \"big\" one", cell(&rows, 0, "name"));
    char terms[256];
    snprintf(terms, sizeof terms,
             "schedule \"the \"\"big\"\" one\" every 60 bias 0.0000 missed skip from %" PRId64, NOW);
    TEXT_IS(terms, cell(&rows, 0, "terms"));
}

void a_schedule_that_is_as_it_was_is_not_touched(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    TEXT_IS("kept", schedule_put("put", "1", "300", NULL, NOW + LENGTH));
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    RULE_IS(RULE, NOW);
}

void a_changed_schedule_starts_its_check_anew(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    TEXT_IS("changed +1", schedule_put("put", "1", "600", NULL, NOW + 5));
    RULE_IS("schedule \"nightly\" every 600 bias 0.0667 missed run_once", NOW + 5);
    IS(1, rows_in("list"));
    IS(0, rows_in("history"));
}

void set_leaves_what_is_not_given(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    struct store_rows rows = REPORT("schedule_put", "set", "nightly", NULL, NULL, NULL, NULL, "100", NULL,
                                    NULL, "skip", "{\"n\": 1}", text_of(NOW));
    TEXT_IS("changed", cell(&rows, 0, "outcome"));
    RULE_IS("schedule \"nightly\" every 300 bias 0.0100 missed skip", NOW);
    rows = REPORT("schedule_put", "set", "nightly", NULL, NULL, NULL, NULL, NULL, "@daily", NULL, NULL, NULL,
                  text_of(NOW));
    TEXT_IS("changed", cell(&rows, 0, "outcome"));
    RULE_IS("schedule \"nightly\" cron \"@daily\" zone \"UTC\" missed skip", NOW);
    TEXT_IS("{\"n\": 1}", of_schedule("payload"));
    TEXT_IS("{\"n\": 1}", value("list", "1", "payload"));
}

void add_refuses_a_name_that_is_there_and_set_one_that_is_not(void)
{
    WITH_STORE();
    CU_ASSERT(strncmp(schedule_put("set", "1", "300", NULL, NOW), "error", 5) == 0);
    TEXT_IS("new +1", schedule_put("add", "1", "300", NULL, NOW));
    CU_ASSERT(strncmp(schedule_put("add", "1", "300", NULL, NOW), "error", 5) == 0);
    CU_ASSERT(strstr(fixture_err.text, "nightly") != NULL);
}

void a_check_has_one_schedule(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, NOW);
    struct store_rows rows = REPORT("schedule_put", "put", "another", "orders", "1", "look", "60", NULL, NULL,
                                    NULL, NULL, NULL, text_of(NOW));
    IS(-1, rows.rows);
    CU_ASSERT(strstr(fixture_err.text, "of the same check") != NULL);
}

void a_schedule_of_another_check_ends_the_old_one(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    TEXT_IS("changed +1", schedule_put("put", "2", "300", NULL, NOW));
    TEXT_IS("none", value("list", "1", "next_check_at"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    IS(SLOT + LENGTH, number("list", "2", "next_check_at"));
}

void a_one_off_that_waits_becomes_the_check_of_the_schedule(void)
{
    WITH_STORE();
    put("1", SLOT + 9 * LENGTH, "keep", NOW);
    TEXT_IS("new +1", schedule_put("add", "1", "300", NULL, NOW));
    IS(1, rows_in("list"));
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    RULE_IS(RULE, NOW);
}

void bad_schedules_are_refused_in_words(void)
{
    WITH_STORE();
    static const struct { const char *every, *bias, *cron, *zone, *missed, *words; } bad[] = {
        { "0", NULL, NULL, NULL, NULL, "366 days" },
        { "-300", NULL, NULL, NULL, NULL, "366 days" },
        { "31622401", NULL, NULL, NULL, NULL, "366 days" },
        { NULL, NULL, NULL, NULL, NULL, "either every" },
        { "300", NULL, "@daily", NULL, NULL, "either every" },
        { "300", "5001", NULL, NULL, NULL, "0.5" },
        { "300", "-1", NULL, NULL, NULL, "0.5" },
        { "300", NULL, NULL, "UTC", NULL, "timezone" },
        { "300", NULL, NULL, NULL, "sometimes", "missed" },
        { "300", NULL, NULL, NULL, "run_all", "missed" },
        { NULL, "10", "@daily", NULL, NULL, "bias" },
        { NULL, NULL, "* * * *", NULL, NULL, "cron" },
        { NULL, NULL, "* * * * * *", NULL, NULL, "cron" },
        { NULL, NULL, "@often", NULL, NULL, "cron" },
        { NULL, NULL, "0 6 * * mon; drop", NULL, NULL, "cron" },
        { NULL, NULL, "@daily", "../etc/passwd", NULL, "timezone" },
        { NULL, NULL, "@daily", "", NULL, "timezone" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct store_rows rows = REPORT("schedule_put", "add", "bad", "orders", "1", "look", bad[i].every,
                                        bad[i].bias, bad[i].cron, bad[i].zone, bad[i].missed, NULL,
                                        text_of(NOW));
        IS(-1, rows.rows);
        if (rows.rows < 0)
            TEXT_IS(bad[i].words, strstr(fixture_err.text, bad[i].words) ? bad[i].words : fixture_err.text);
    }
    IS(0, rows_in("list"));
}

/* `set` leaves the bias, of which nobody has asked for a change. */
void a_zone_for_every_is_refused_in_words_about_zones(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    struct store_rows rows = REPORT("schedule_put", "set", "nightly", NULL, NULL, NULL, NULL, NULL, NULL,
                                    "UTC", NULL, NULL, text_of(NOW));
    IS(-1, rows.rows);
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "a timezone belongs to cron"));
    RULE_IS(RULE, NOW);
}

/* ---- an occurrence is over ------------------------------------------------------------------- */

void an_occurrence_that_is_over_starts_the_check_anew(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    int64_t id = scene.answers[0].check->id;
    answer_renewed(&scene.answers[0], SLOT + 3 * LENGTH);
    scene.answers[0].note = "in step";
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(0, rows_in("history"));
    TEXT_IS("done", value("runs", "1", "outcome"));
    TEXT_IS("in step", value("runs", "1", "note"));
    IS(SLOT, number("runs", "1", "slot_at"));
    IS(SLOT + 3 * LENGTH, number("runs", "1", "next_check_at"));
    IS(1500, number("runs", "1", "run_us"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "first_check_at"));
    RULE_IS(RULE, BEFORE);
    scene = scene_in(SLOT + 3 * LENGTH);
    CU_ASSERT(scene.page.checks[0].id > id);
    CU_ASSERT(scene.page.checks[0].origin != NULL);
    scene_end(&scene);
}

void counts_begin_anew_with_each_occurrence(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    scene.answers[0].failure_count = 2;
    scene.answers[0].deferred_at = NOW;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    RULE_IS(RULE, BEFORE);
    scene = scene_in(SLOT + LENGTH);
    answer_renewed(&scene.answers[0], SLOT + 3 * LENGTH);
    IS(1, settle_at(&scene, SLOT + LENGTH));
    scene_end(&scene);
    scene = scene_in(SLOT + 3 * LENGTH);
    IS(0, scene.page.checks[0].check_count);
    IS(0, scene.page.checks[0].failure_count);
    IS(0, scene.page.checks[0].deferred_at);
    scene_end(&scene);
}

void an_occurrence_that_fails_leaves_history_and_the_check_goes_on(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    scene.answers[0].ends = true;
    scene.answers[0].outcome = OUTCOME_FAILED;
    scene.answers[0].failure_count = 3;
    scene.answers[0].note = "no answer";
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(0, rows_in("runs"));
    TEXT_IS("failed", value("history", "1", "outcome"));
    TEXT_IS("no answer", value("history", "1", "note"));
    IS(3, number("history", "1", "failure_count"));
    IS(1, number("history", "1", "run_count"));
    IS(1500, number("history", "1", "total_run_us"));
    IS(SLOT, number("history", "1", "first_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    IS(0, number("list", "1", "failure_count"));
    RULE_IS(RULE, BEFORE);
}

void a_missed_occurrence_leaves_a_run_row_that_says_skipped(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    scene.answers[0].outcome = OUTCOME_SKIPPED;
    scene.answers[0].ran = false;
    scene.answers[0].run_us = 0;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    TEXT_IS("skipped", value("runs", "1", "outcome"));
    IS(NOW * 1000000, number("runs", "1", "run_at_us"));
}

void a_check_that_moves_to_its_first_occurrence_leaves_no_row(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    scene.answers[0].outcome = OUTCOME_RESLOTTED;
    scene.answers[0].ran = false;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(0, rows_in("runs"));
    IS(0, rows_in("history"));
    IS(SLOT + 2 * LENGTH, number("list", "1", "first_check_at"));
}

void a_late_settle_keeps_the_nominal_slot(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle_at(&scene, SLOT + 5 * LENGTH + 1));
    scene_end(&scene);
    IS(SLOT + 6 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "1", "first_check_at"));
}

void a_renewal_is_written_once(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    IS(0, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(1, rows_in("runs"));
    IS(1, rows_in("list"));
}

void ends_moves_and_renewals_of_one_page_are_settled_together(void)
{
    WITH_STORE();
    schedule_put("add", "5", "300", NULL, BEFORE);
    put_in_slot(3);
    struct lease lease = take();
    struct check_rows page = read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 4);
    struct settlement answers[4];
    for (int i = 0; i < 4; i++) {
        answers[i] = (struct settlement){ .check = &page.checks[i] };
        if (page.checks[i].terms)
            answer_renewed(&answers[i], SLOT + 4 * LENGTH);
        else if (!strcmp(page.checks[i].entity_key, "2"))
            answer_again(&answers[i], SLOT + 2 * LENGTH);
        else
            answer_done(&answers[i]);
    }
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = lease;
    s.now = NOW;
    s.settlements = answers;
    s.n = 4;
    IS(0, fixture_call(&s.call));
    IS(4, s.touched);
    for (int i = 0; i < 4; i++)
        IS(SETTLE_TOUCHED, answers[i].state);
    IS(2, rows_in("history"));
    IS(2, rows_in("runs"));
    IS(SLOT + 4 * LENGTH, number("list", "5", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "2", "next_check_at"));
    check_rows_free(&page);
}

void effects_of_a_renewed_check_are_written(void)
{
    WITH_STORE();
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    struct effect effect = { .kind = EFFECT_EMIT, .event = "synced" };
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    scene.answers[0].effects = &effect;
    scene.answers[0].neffects = 1;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(1, rows_in("events"));
}

/* ---- on and off ------------------------------------------------------------------------------ */

void resolve_switches_the_schedule_off_with_the_reason(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    TEXT_IS("1", resolve("1"));
    IS(0, rows_in("list"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    TEXT_IS("no", schedule_truth(of_schedule("is_active")));
    TEXT_IS("resolved", of_schedule("switched_why"));
    TEXT_IS("0", resolve("1"));
}

void resolve_of_another_job_leaves_the_schedule_on(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    struct store_rows rows = REPORT("resolve", "orders", "1", "another", NULL);
    TEXT_IS("0", cell(&rows, 0, "resolved"));
    TEXT_IS("yes", schedule_truth(of_schedule("is_active")));
    IS(1, rows_in("list"));
}

void a_schedule_is_switched_off_and_on(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    TEXT_IS("yes", switch_to(false, NOW));
    TEXT_IS("no", switch_to(false, NOW));
    IS(0, rows_in("list"));
    TEXT_IS("holidays", of_schedule("switched_why"));
    TEXT_IS("changed", schedule_put("put", "1", "600", NULL, NOW));
    IS(0, rows_in("list"));
    TEXT_IS("yes", switch_to(true, NOW + LENGTH));
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    RULE_IS("schedule \"nightly\" every 600 bias 0.0667 missed run_once", NOW + LENGTH);
}

void why_a_schedule_was_switched_is_bounded(void)
{
    WITH_STORE();
    char why[4098];
    memset(why, 'x', sizeof why);
    why[4097] = '\0';
    schedule_put("put", "1", "300", NULL, NOW);
    IS(-1, REPORT("schedule_switch", "nightly", "false", why, text_of(NOW)).rows);
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "4096"));
    TEXT_IS("yes", schedule_truth(of_schedule("is_active")));
    why[4096] = '\0';
    IS(1, REPORT("schedule_switch", "nightly", "false", why, text_of(NOW)).rows);
    TEXT_IS(why, of_schedule("switched_why"));
}

void a_schedule_that_is_removed_ends_its_check(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    struct store_rows rows = REPORT("schedule_remove", "nightly", text_of(NOW));
    TEXT_IS("yes", schedule_truth(cell(&rows, 0, "is_removed")));
    IS(0, rows_in("list"));
    TEXT_IS("none", of_schedule("name"));
    rows = REPORT("schedule_remove", "nightly", text_of(NOW));
    TEXT_IS("no", schedule_truth(cell(&rows, 0, "is_removed")));
}

void a_settle_after_the_schedule_was_switched_off_changes_nothing(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    switch_to(false, NOW);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(0, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(0, rows_in("list"));
}

static int64_t look_fully(void)
{
    struct store_mark_swept m = STORE_MARK_SWEPT_INIT;
    m.slot = SLOT;
    m.full = true;
    IS(0, fixture_call(&m.call));
    return m.filed;
}

/* A row that is gone without a call of prescient: a page of one slot is dropped, as by hand. */
void the_full_look_files_what_an_active_schedule_lacks(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    IS(0, look_fully());
    struct scene scene = scene_in(SLOT);
    answer_done(&scene.answers[0]);         /* as an engine that cannot read terms would */
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(0, rows_in("list"));
    IS(1, look_fully());
    IS(1, rows_in("list"));
    CU_ASSERT(strncmp(of_schedule("terms"), RULE, strlen(RULE)) == 0);
    switch_to(false, NOW);
    IS(0, look_fully());
    IS(0, rows_in("list"));
}
