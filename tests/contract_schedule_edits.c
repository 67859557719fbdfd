/* contract_schedule_edits.c - the store's contract: an edit of a schedule, or a wish of somebody,
 * while its check waits or runs. The rule stays, and what was asked for is run. */
#include <string.h>

#include "schedule_fixture.h"

/* ---- what happens to the check meanwhile ----------------------------------------------------- */

void an_edit_while_the_check_runs_holds_from_the_next_slot_on(void)
{
    WITH_STORE();
    schedule_put("put", "1", "2592000", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    TEXT_IS("changed +1", schedule_put("put", "1", "300", NULL, NOW));
    IS(SLOT, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "1", "again_at"));
    answer_renewed(&scene.answers[0], SLOT + 2880 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
    TEXT_IS("NULL", value("list", "1", "again_at"));
    RULE_SEEKS(RULE, SLOT, NOW);
}

/* Nobody has found an occurrence there: the check must not look as if it waited for one. */
void an_edit_where_a_first_occurrence_is_to_be_found_leaves_it_to_be_found(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    TEXT_IS("changed +1", schedule_put("put", "1", "2592000", NULL, NOW));
    IS(SLOT, number("list", "1", "next_check_at"));
    IS(SLOT, number("list", "1", "first_check_at"));
    RULE_SEEKS(MONTHLY, SLOT, NOW);
    TEXT_IS("changed +1", schedule_put("put", "1", "300", NULL, NOW + 5));
    RULE_SEEKS(RULE, SLOT, NOW + 5);
    TEXT_IS("kept +1", put("1", SLOT + 2 * LENGTH, "earlier", NOW + 6));
    RULE_SEEKS(RULE, SLOT, NOW + 5);
}

/* The slot in which the first edit's time was to be found is over: nothing may run there. */
void a_second_edit_in_a_later_slot_finds_its_first_time_in_the_next_one(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    occurrence_is_over(SLOT + LENGTH);
    TEXT_IS("changed +2", schedule_put("put", "1", "2592000", NULL, NOW + LENGTH));
    IS(SLOT + 2 * LENGTH, number("list", "1", "again_at"));
    TEXT_IS("changed +3", schedule_put("put", "1", "300", NULL, NOW + 2 * LENGTH));
    IS(SLOT + 3 * LENGTH, number("list", "1", "again_at"));
    RULE_IS(RULE, NOW + 2 * LENGTH);
    /* what somebody has asked for stays */
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "earlier", NOW + 2 * LENGTH));
    schedule_put("put", "1", "2592000", NULL, NOW + 2 * LENGTH + 1);
    IS(SLOT + 3 * LENGTH, number("list", "1", "again_at"));
}

/* An engine has found it, and it is due: that of the rule before. */
void an_edit_beside_an_occurrence_that_was_found_leaves_that_alone(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    occurrence_is_over(SLOT + LENGTH);
    TEXT_IS("changed +2", schedule_put("put", "1", "2592000", NULL, NOW + LENGTH));
    RULE_IS(MONTHLY, NOW + LENGTH);
}

void an_edit_pulls_a_check_that_is_to_look_again_later(void)
{
    WITH_STORE();
    schedule_put("put", "1", "2592000", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    schedule_put("put", "1", "300", NULL, NOW);
    answer_again(&scene.answers[0], SLOT + 9 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    RULE_SEEKS(RULE, SLOT, NOW);
}

void replace_and_reschedule_keep_the_rule(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    TEXT_IS("replaced +3", put("1", SLOT + 3 * LENGTH, "replace", NOW));
    CU_ASSERT(strncmp(of_schedule("terms"), RULE, strlen(RULE)) == 0);
    TEXT_IS("moved +5", reschedule("1", SLOT + 5 * LENGTH, NOW));
    CU_ASSERT(strncmp(of_schedule("terms"), RULE, strlen(RULE)) == 0);
    TEXT_IS("moved +4", put("1", SLOT + 4 * LENGTH, "earlier", NOW));
    TEXT_IS("kept +4", put("1", SLOT + 2 * LENGTH, "keep", NOW));
    CU_ASSERT(strncmp(of_schedule("terms"), RULE, strlen(RULE)) == 0);
}

void a_load_that_replaces_keeps_the_rule(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    struct load_row row = { "orders", "1", "look", NULL, SLOT + 3 * LENGTH, 0, NULL, NULL };
    struct load_counts counts;
    int bad;
    struct err err;
    IS(0, store_load(fixture_store(), &row, 1, "replace", NOW, &counts, &bad, &err));
    IS(1, counts.replaced);
    CU_ASSERT(strncmp(of_schedule("terms"), RULE, strlen(RULE)) == 0);
}

static const char *put_of_key(const char *mode, const char *concurrency_key, int64_t now)
{
    struct store_rows rows = REPORT("schedule_put", mode, "nightly", "orders", "1", "look", "300", NULL, NULL,
                                    NULL, NULL, NULL, text_of(now), concurrency_key);
    return filed_as(&rows);
}

void the_check_of_a_schedule_has_its_concurrency_key(void)
{
    WITH_STORE();
    TEXT_IS("new +0", put_of_key("put", "a", BEFORE));
    TEXT_IS("a", of_schedule("concurrency_key"));
    TEXT_IS("a", value("list", "1", "concurrency_key"));
    /* whatever somebody enqueues it with */
    struct store_rows rows = REPORT("enqueue", "orders", "1", "look", text_of(SLOT), NULL, "replace", NULL,
                                    text_of(BEFORE), "another");
    TEXT_IS("replaced +0", filed_as(&rows));
    TEXT_IS("a", value("list", "1", "concurrency_key"));
    TEXT_IS("moved +0", reschedule("1", SLOT, BEFORE));
    TEXT_IS("a", value("list", "1", "concurrency_key"));
    TEXT_IS("changed +0", put_of_key("put", "b", BEFORE));
    TEXT_IS("kept", put_of_key("set", NULL, BEFORE));
    TEXT_IS("b", value("list", "1", "concurrency_key"));
    occurrence_is_over(SLOT + 2 * LENGTH);
    TEXT_IS("b", value("list", "1", "concurrency_key"));
    TEXT_IS("changed +1", put_of_key("put", NULL, NOW));
    TEXT_IS("NULL", of_schedule("concurrency_key"));
    TEXT_IS("NULL", value("list", "1", "concurrency_key"));
}

void a_concurrency_key_given_to_a_schedule_while_its_check_runs_stays(void)
{
    WITH_STORE();
    put_of_key("put", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    TEXT_IS("NULL", scene.page.checks[0].concurrency_key ? scene.page.checks[0].concurrency_key : "NULL");
    TEXT_IS("changed +1", put_of_key("put", "a", NOW));
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    TEXT_IS("a", value("list", "1", "concurrency_key"));
}

void a_schedule_that_takes_over_a_check_brings_its_concurrency_key(void)
{
    WITH_STORE();
    TEXT_IS("new +0", put("1", SLOT, "keep", BEFORE));
    TEXT_IS("new +0", put_of_key("put", "a", BEFORE));
    TEXT_IS("a", value("list", "1", "concurrency_key"));
}

void a_schedule_with_an_impossible_concurrency_key_is_refused(void)
{
    WITH_STORE();
    char longest[1026];
    memset(longest, 'k', sizeof longest);
    longest[1025] = '\0';
    CU_ASSERT(strncmp(put_of_key("put", longest, BEFORE), "error", 5) == 0);
    CU_ASSERT(strncmp(put_of_key("put", "", BEFORE), "error", 5) == 0);
    longest[1024] = '\0';
    TEXT_IS("new +0", put_of_key("put", longest, BEFORE));
}

/* A schedule with the payload 1, whose check gets the payload 2. */
static void replace_payload(void)
{
    REPORT("schedule_put", "put", "nightly", "orders", "1", "look", "300", NULL, NULL, NULL, NULL, "1",
           text_of(BEFORE));
    struct store_rows rows = REPORT("enqueue", "orders", "1", "look", text_of(SLOT), "2", "replace", NULL,
                                    text_of(BEFORE));
    TEXT_IS("replaced", cell(&rows, 0, "outcome"));
    TEXT_IS("2", value("list", "1", "payload"));
}

void a_payload_that_replace_brings_is_that_of_one_occurrence(void)
{
    WITH_STORE();
    replace_payload();
    struct scene scene = scene_in(SLOT);
    TEXT_IS("2", scene.page.checks[0].payload);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    TEXT_IS("1", value("list", "1", "payload"));
    TEXT_IS(RULE, of_schedule("terms"));
    /* the next one begins as any other, also where none is wanted */
    TEXT_IS("replaced +3", put("1", SLOT + 3 * LENGTH, "replace", NOW));
    TEXT_IS("NULL", value("list", "1", "payload"));
    scene = scene_in(SLOT + 3 * LENGTH);
    answer_renewed(&scene.answers[0], SLOT + 4 * LENGTH);
    scene.answers[0].outcome = OUTCOME_SKIPPED;
    scene.answers[0].ran = false;
    IS(1, settle_at(&scene, NOW + 3 * LENGTH));
    scene_end(&scene);
    TEXT_IS("1", value("list", "1", "payload"));
    TEXT_IS(RULE, of_schedule("terms"));
}

void a_payload_of_one_occurrence_stays_while_that_is_not_over(void)
{
    WITH_STORE();
    replace_payload();
    TEXT_IS("moved +0", reschedule("1", SLOT, BEFORE));
    struct scene scene = scene_in(SLOT);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    TEXT_IS("2", value("list", "1", "payload"));
    TEXT_IS("moved +2", reschedule("1", SLOT + 2 * LENGTH, NOW));
    /* it is moved behind a pause, and has not been run */
    scene = scene_in(SLOT + 2 * LENGTH);
    answer_renewed(&scene.answers[0], SLOT + 3 * LENGTH);
    scene.answers[0].outcome = OUTCOME_RESLOTTED;
    scene.answers[0].ran = false;
    scene.answers[0].run_at_us = 0;
    IS(1, settle_at(&scene, NOW + 2 * LENGTH));
    scene_end(&scene);
    TEXT_IS("2", value("list", "1", "payload"));
    scene = scene_in(SLOT + 3 * LENGTH);
    answer_renewed(&scene.answers[0], SLOT + 4 * LENGTH);
    IS(1, settle_at(&scene, NOW + 3 * LENGTH));
    scene_end(&scene);
    TEXT_IS("1", value("list", "1", "payload"));
}

void a_payload_of_one_occurrence_that_fails_is_kept_in_history_alone(void)
{
    WITH_STORE();
    replace_payload();
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    scene.answers[0].ends = true;
    scene.answers[0].outcome = OUTCOME_FAILED;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    TEXT_IS("2", value("history", "1", "payload"));
    TEXT_IS("1", value("list", "1", "payload"));
    TEXT_IS(RULE, of_schedule("terms"));
}

void an_edit_takes_the_payload_of_one_occurrence_back(void)
{
    WITH_STORE();
    replace_payload();
    /* beside a run that is under way */
    struct scene scene = scene_in(SLOT);
    TEXT_IS("changed +1", schedule_put("put", "1", "600", NULL, NOW));
    TEXT_IS("NULL", value("list", "1", "payload"));
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    TEXT_IS("NULL", value("list", "1", "payload"));
    RULE_IS("schedule \"nightly\" every 600 bias 0.0667 missed run_once", NOW);
    /* and while it waits */
    replace_payload();
    TEXT_IS("yes", switch_to(false, BEFORE));
    TEXT_IS("yes", switch_to(true, BEFORE));
    TEXT_IS("1", value("list", "1", "payload"));
    RULE_IS(RULE, BEFORE);
}

void a_load_that_replaces_brings_payloads_for_one_occurrence(void)
{
    WITH_STORE();
    REPORT("schedule_put", "put", "nightly", "orders", "1", "look", "300", NULL, NULL, NULL, NULL, "1",
           text_of(BEFORE));
    struct load_row row = { "orders", "1", "look", "2", SLOT, 0, NULL, NULL };
    struct load_counts counts;
    int bad;
    struct err err;
    IS(0, store_load(fixture_store(), &row, 1, "replace", BEFORE, &counts, &bad, &err));
    occurrence_is_over(SLOT + 2 * LENGTH);
    TEXT_IS("1", value("list", "1", "payload"));
    TEXT_IS(RULE, of_schedule("terms"));
}

void a_check_that_was_asked_for_again_keeps_the_rule_when_it_ends(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    put("1", SLOT + LENGTH, "keep", NOW);
    answer_done(&scene.answers[0]);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    RULE_IS(RULE, BEFORE);
}

/* To slots of this length and back. */
static void change_slot_length(int32_t length_s)
{
    struct store *st = fixture_another((struct store_options){ 0 });
    struct err err;
    struct migrate_options there = { .slot_length_s = length_s, .change_slot_length = true };
    struct migrate_options back = { .slot_length_s = LENGTH, .change_slot_length = true };
    IS(0, store_migrate(st, &there, &err));
    IS(0, store_migrate(st, &back, &err));
    store_free(st);
}

/* In slots of another length another slot is the first one after `from`. */
void a_first_occurrence_is_still_to_be_found_when_the_slot_length_changes(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, NOW);
    change_slot_length(3600);
    RULE_SEEKS(RULE, SLOT + LENGTH, NOW);
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
    change_slot_length(300);
    RULE_SEEKS(RULE, SLOT + LENGTH, NOW);
    put("1", FUTURE, "replace", NOW);
    TEXT_IS(RULE, of_schedule("terms"));
}

/* The check has begun by the rule before, and the new one begins in the slot asked for. */
void an_edit_is_still_to_be_looked_at_when_the_slot_length_changes(void)
{
    WITH_STORE();
    schedule_put("put", "1", "2592000", NULL, BEFORE);
    occurrence_is_over(SLOT + LENGTH);
    schedule_put("put", "1", "300", NULL, NOW + LENGTH);
    change_slot_length(300);
    RULE_SEEKS(RULE, SLOT + 2 * LENGTH, NOW + LENGTH);
    IS(SLOT + 2 * LENGTH, number("list", "1", "again_at"));
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
    /* a run that is asked for there is run, and does not only look for the rule's first time */
    TEXT_IS("kept +2", put("1", SLOT + 2 * LENGTH, "earlier", NOW + LENGTH + 1));
    RULE_IS(RULE, SLOT + 2 * LENGTH);
}

void an_occurrence_that_was_found_stays_found_when_the_slot_length_changes(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    occurrence_is_over(FUTURE + LENGTH);
    change_slot_length(3600);
    RULE_IS(RULE, BEFORE);
}

/* ---- what is asked for is run ---------------------------------------------------------------- */

/* Each time anew: a rule whose first occurrence is looked for in the next slot. */
static void begin_rule(void)
{
    REPORT("schedule_remove", "nightly", text_of(NOW));
    TEXT_IS("new +1", schedule_put("put", "1", "2592000", NULL, NOW));
}

void a_run_asked_for_where_a_rule_begins_is_an_occurrence(void)
{
    WITH_STORE();
    begin_rule();
    TEXT_IS("replaced +1", put("1", SLOT + LENGTH, "replace", NOW));
    TEXT_IS(MONTHLY, of_schedule("terms"));
    begin_rule();
    TEXT_IS("moved +1", reschedule("1", SLOT + LENGTH, NOW));
    TEXT_IS(MONTHLY, of_schedule("terms"));
    begin_rule();
    TEXT_IS("moved +1", put("1", NOW, "earlier", NOW));
    TEXT_IS(MONTHLY, of_schedule("terms"));
    TEXT_IS("kept +1", put("1", NOW, "earlier", NOW));
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
}

void keep_leaves_a_rule_to_find_its_first_occurrence(void)
{
    WITH_STORE();
    begin_rule();
    TEXT_IS("kept +1", put("1", NOW, "keep", NOW));
    RULE_IS(MONTHLY, NOW);
    TEXT_IS("NULL", value("list", "1", "again_at"));
}

/* Nothing but an engine can tell whether the first occurrence comes before that. */
void a_run_asked_for_behind_the_first_slot_of_a_rule_is_not_lost(void)
{
    WITH_STORE();
    schedule_put("put", "1", "2592000", NULL, BEFORE);
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "earlier", BEFORE));
    TEXT_IS("kept +3", put("1", SLOT + 4 * LENGTH, "earlier", BEFORE));
    TEXT_IS("kept +2", put("1", SLOT + 2 * LENGTH, "earlier", BEFORE));
    IS(SLOT, number("list", "1", "next_check_at"));
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2880 * LENGTH);
    scene.answers[0].outcome = OUTCOME_RESLOTTED;
    scene.answers[0].ran = false;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "1", "first_check_at"));
}

/* Put off there for want of its job, it would find its first occurrence in a full slot again. */
void a_check_that_is_pulled_into_a_second_has_found_its_first_occurrence(void)
{
    WITH_STORE();
    begin_rule();
    struct store_rows rows = REPORT("enqueue_now", "orders", "1", "look", NULL, NULL, NULL, text_of(NOW));
    TEXT_IS("moved", cell(&rows, 0, "outcome"));
    TEXT_IS(text_of(NOW + 1), cell(&rows, 0, "next_check_at"));
    IS(NOW + 1, number("list", "1", "next_check_at"));
    IS(NOW + 1, number("list", "1", "first_check_at"));
    TEXT_IS(MONTHLY, of_schedule("terms"));
}

/* The rule holds from that slot on, not before. */
void a_run_asked_for_beside_an_edit_is_an_occurrence(void)
{
    WITH_STORE();
    schedule_put("put", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    schedule_put("put", "1", "2592000", NULL, NOW);
    RULE_SEEKS(MONTHLY, SLOT, NOW);
    TEXT_IS("kept +1", put("1", SLOT + 2 * LENGTH, "keep", NOW));
    RULE_SEEKS(MONTHLY, SLOT, NOW);
    TEXT_IS("kept +1", put("1", NOW, "earlier", NOW));
    RULE_SEEKS(MONTHLY, SLOT, SLOT + LENGTH);
    answer_renewed(&scene.answers[0], SLOT + 2880 * LENGTH);
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    RULE_SEEKS(MONTHLY, SLOT, SLOT + LENGTH);
}

/* ---- retry ----------------------------------------------------------------------------------- */

/* The occurrence of SLOT has failed, and the next one waits two slots on. */
static void fail_an_occurrence(void)
{
    schedule_put("add", "1", "300", NULL, BEFORE);
    struct scene scene = scene_in(SLOT);
    answer_renewed(&scene.answers[0], SLOT + 2 * LENGTH);
    scene.answers[0].ends = true;
    scene.answers[0].outcome = OUTCOME_FAILED;
    IS(1, settle_at(&scene, NOW));
    scene_end(&scene);
}

static const char *retry(int64_t at, int64_t now)
{
    struct store_rows rows = fixture_retry("orders", "1", NULL, NULL, text_of(at), text_of(now));
    return filed_as(&rows);
}

void a_retry_of_a_schedules_failure_runs_beside_its_occurrences(void)
{
    WITH_STORE();
    fail_an_occurrence();
    TEXT_IS("moved +1", retry(NOW, NOW));
    IS(SLOT + LENGTH, number("list", "1", "first_check_at"));
    CU_ASSERT(strncmp(of_schedule("terms"), RULE, strlen(RULE)) == 0);
    TEXT_IS("kept +1", retry(NOW, NOW));
    IS(1, rows_in("list"));
}

void a_retry_behind_the_next_occurrence_leaves_that_alone(void)
{
    WITH_STORE();
    fail_an_occurrence();
    TEXT_IS("kept +2", retry(SLOT + 2 * LENGTH, NOW));
    TEXT_IS("kept +2", retry(SLOT + 9 * LENGTH, NOW));
}

void a_failure_whose_schedule_has_run_well_since_is_not_retried(void)
{
    WITH_STORE();
    fail_an_occurrence();
    struct scene scene = scene_in(SLOT + 2 * LENGTH);
    answer_renewed(&scene.answers[0], SLOT + 4 * LENGTH);
    IS(1, settle_at(&scene, SLOT + 2 * LENGTH));
    scene_end(&scene);
    TEXT_IS("0 rows", retry(SLOT + 2 * LENGTH, SLOT + 2 * LENGTH));
}

/* It has asked for another look already: its counts stay. */
void a_retry_pulls_an_occurrence_forward_that_has_begun(void)
{
    WITH_STORE();
    fail_an_occurrence();
    struct scene scene = scene_in(SLOT + 2 * LENGTH);
    answer_again(&scene.answers[0], SLOT + 9 * LENGTH);
    IS(1, settle_at(&scene, SLOT + 2 * LENGTH));
    scene_end(&scene);
    TEXT_IS("moved +3", retry(SLOT + 2 * LENGTH, SLOT + 2 * LENGTH));
    IS(1, number("list", "1", "check_count"));
    IS(SLOT + 2 * LENGTH, number("list", "1", "first_check_at"));
}
