/* contract_change.c - the store's contract: checks, pauses and schedules that are changed for
 * somebody, and the audit that has each change. By the store's own clock: these are asked for by
 * people. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store_contract.h"

static void put_far(const char *key, const char *job)
{
    struct store_rows rows = REPORT("enqueue", "orders", key, job, text_of(FUTURE), "{\"n\": 7}", "keep");
    TEXT_IS("new", cell(&rows, 0, "outcome"));
}

static struct store_rows change_at(const char *change, const char *checks, const char *when,
                                   const char *after)
{
    return REPORT("change_checks", change, checks, when, after, "anna", "the shop moves");
}

static struct store_rows change(const char *what, const char *checks)
{
    return change_at(what, checks, NULL, NULL);
}

/* "changed kept": the outcomes in order. */
static const char *outcomes(struct store_rows rows)
{
    static char out[128];
    out[0] = '\0';
    if (rows.rows < 0)
        return "error";
    for (int i = 0; i < rows.rows; i++) {
        strcat(out, i ? " " : "");
        strcat(out, cell(&rows, i, "outcome"));
    }
    return out;
}

static struct store_rows audit(void)
{
    return REPORT("audit", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static const char *newest(const char *column)
{
    struct store_rows rows = audit();
    return rows.rows > 0 ? cell(&rows, 0, column) : "none";
}

static bool newest_has(const char *column, const char *words)
{
    return strstr(newest(column), words) != NULL;
}

/* ---- the end of checks ----------------------------------------------------------------------- */

void a_check_that_is_resolved_for_somebody_leaves_a_row(void)
{
    WITH_STORE();
    put_far("1", "look");
    put_far("2", "look");
    TEXT_IS("changed", outcomes(change("resolve", "[[\"orders\", \"1\", \"look\"]]")));
    IS(1, rows_in("list"));
    TEXT_IS("resolved", value("history", "1", "outcome"));
    IS(1, audit().rows);
    TEXT_IS("resolve", newest("change"));
    TEXT_IS("check", newest("what"));
    TEXT_IS("orders", newest("entity_name"));
    TEXT_IS("1", newest("entity_key"));
    TEXT_IS("look", newest("job_exec"));
    TEXT_IS("anna", newest("who"));
    TEXT_IS("the shop moves", newest("reason"));
    CU_ASSERT(newest_has("before", "2100-01-01T00:00:00Z"));
    TEXT_IS("NULL", newest("after"));
    CU_ASSERT(strcmp(newest("done_by"), "") != 0);
    CU_ASSERT_FALSE(newest_has("before", "7"));
}

void a_repeat_of_a_resolve_changes_nothing(void)
{
    WITH_STORE();
    put_far("1", "look");
    TEXT_IS("changed", outcomes(change("resolve", "[[\"orders\", \"1\", \"look\"]]")));
    TEXT_IS("not_found", outcomes(change("resolve", "[[\"orders\", \"1\", \"look\"]]")));
    IS(1, audit().rows);
    IS(1, rows_in("history"));
}

void without_a_job_all_checks_of_the_row_are_ended(void)
{
    WITH_STORE();
    put_far("1", "bill");
    put_far("1", "look");
    put_far("2", "look");
    TEXT_IS("changed changed", outcomes(change("cancel", "[[\"orders\", \"1\", null]]")));
    IS(1, rows_in("list"));
    IS(2, audit().rows);
    struct store_rows rows = REPORT("history", "orders");
    IS(2, rows.rows);
    TEXT_IS("cancelled by anna", cell(&rows, 0, "note"));
    TEXT_IS("cancelled by anna", cell(&rows, 1, "note"));
    TEXT_IS("resolved", cell(&rows, 0, "outcome"));
}

void a_check_in_another_life_than_was_seen_is_left_alone(void)
{
    WITH_STORE();
    char checks[100];
    put_far("1", "look");
    int64_t id = number("list", "1", "id");
    snprintf(checks, sizeof checks, "[[\"orders\", \"1\", \"look\", %lld]]", (long long)id + 1);
    TEXT_IS("kept", outcomes(change("cancel", checks)));
    TEXT_IS("kept", outcomes(change("run-now", checks)));
    TEXT_IS("kept", outcomes(change_at("reschedule", checks, text_of(FUTURE + LENGTH), NULL)));
    IS(0, audit().rows);
    snprintf(checks, sizeof checks, "[[\"orders\", \"1\", \"look\", %lld]]", (long long)id);
    TEXT_IS("changed", outcomes(change("cancel", checks)));
}

void what_was_seen_of_one_check_is_refused_for_all_of_a_row(void)
{
    WITH_STORE();
    static const char *const whats[] = { "resolve", "cancel", "run-now", "retry" };
    char checks[100];
    put_far("1", "bill");
    put_far("1", "look");
    put_far("2", "look");
    snprintf(checks, sizeof checks, "[[\"orders\", \"2\", \"look\"], [\"orders\", \"1\", null, %lld]]",
             (long long)number("list", "1", "id"));
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        TEXT_IS("error", outcomes(change(whats[i], checks)));
        IS(ERR_INPUT, fixture_err.code);
        CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "expected a job, or NULL for both"));
    }
    IS(3, rows_in("list"));
    IS(0, audit().rows);
    IS(0, rows_in("history"));
}

void a_schedule_whose_check_is_ended_is_switched_off(void)
{
    WITH_STORE();
    struct store_rows rows = REPORT("schedule_put", "add", "nightly", "orders", "1", "look", "3600", "0");
    TEXT_IS("new", cell(&rows, 0, "outcome"));
    TEXT_IS("schedule-put", newest("change"));
    TEXT_IS("changed", outcomes(change("cancel", "[[\"orders\", \"1\", \"look\"]]")));
    rows = audit();
    IS(3, rows.rows);
    TEXT_IS("schedule-off", cell(&rows, 0, "change"));
    TEXT_IS("nightly", cell(&rows, 0, "name"));
    TEXT_IS("anna", cell(&rows, 0, "who"));
    rows = REPORT("schedule", "nightly");
    CU_ASSERT(strchr("f0", *cell(&rows, 0, "is_active")) != NULL);
    IS(0, rows_in("list"));
}

/* ---- times ----------------------------------------------------------------------------------- */

void a_check_is_moved_once(void)
{
    WITH_STORE();
    const char *one = "[[\"orders\", \"1\", \"look\"]]";
    put_far("1", "look");
    TEXT_IS("changed", outcomes(change_at("reschedule", one, text_of(FUTURE + LENGTH), NULL)));
    IS(FUTURE + LENGTH, number("list", "1", "next_check_at"));
    TEXT_IS("{\"n\": 7}", value("list", "1", "payload"));
    CU_ASSERT(newest_has("before", "2100-01-01T00:00:00Z"));
    CU_ASSERT(newest_has("after", "2100-01-01T00:15:00Z"));
    int64_t id = number("list", "1", "id");
    TEXT_IS("kept", outcomes(change_at("reschedule", one, text_of(FUTURE + LENGTH), NULL)));
    IS(id, number("list", "1", "id"));
    IS(1, audit().rows);
    TEXT_IS("not_found", outcomes(change_at("reschedule", "[[\"orders\", \"2\", \"look\"]]",
                                            text_of(FUTURE), NULL)));
}

void a_time_from_now_on_counts_from_the_stores_clock(void)
{
    WITH_STORE();
    put_far("1", "look");
    TEXT_IS("changed", outcomes(change_at("reschedule", "[[\"orders\", \"1\", \"look\"]]", "7200", "true")));
    int64_t at = number("list", "1", "next_check_at") - time(NULL);
    CU_ASSERT(at > 7200 - LENGTH && at <= 7200 + 2 * LENGTH);
}

void run_now_is_the_next_second_and_leaves_what_has_begun(void)
{
    WITH_STORE();
    const char *both = "[[\"orders\", \"1\", \"look\"], [\"orders\", \"2\", \"look\"]]";
    put_far("1", "look");
    put("2", SLOT, "keep", BEFORE);
    struct store_rows rows = change("run-now", both);
    IS(2, rows.rows);
    for (int i = 0; i < rows.rows; i++)
        TEXT_IS(*cell(&rows, i, "entity_key") == '1' ? "changed" : "kept", cell(&rows, i, "outcome"));
    CU_ASSERT(number("list", "1", "next_check_at") <= time(NULL) + 60);
    IS(SLOT, number("list", "2", "next_check_at"));
    TEXT_IS("NULL", value("list", "2", "again_at"));
    IS(1, audit().rows);
}

void a_change_that_is_wrong_changes_nothing(void)
{
    WITH_STORE();
    const char *one = "[[\"orders\", \"1\", \"look\"]]";
    put_far("1", "look");
    TEXT_IS("error", outcomes(change("destroy", one)));
    TEXT_IS("error", outcomes(change("reschedule", one)));
    TEXT_IS("error", outcomes(change_at("resolve", one, "7200", NULL)));
    TEXT_IS("error", outcomes(change_at("reschedule", one, "99999999999999", NULL)));
    /* the last of them: the first is not moved either */
    TEXT_IS("error", outcomes(change_at("reschedule", "[[\"orders\", \"1\", \"look\"]]", "253402300799",
                                        NULL)));
    IS(FUTURE, number("list", "1", "next_check_at"));
    IS(0, audit().rows);
    static char reason[5000];
    memset(reason, 'x', sizeof reason - 1);
    TEXT_IS("error", outcomes(REPORT("change_checks", "resolve", one, NULL, NULL, "anna", reason)));
    IS(1, rows_in("list"));
}

/* ---- retry ----------------------------------------------------------------------------------- */

/* The checks of SLOT end so, the first `failed` of them in trouble. */
static void end_slot(int n, int failed)
{
    struct scene scene = scene_of(n);
    for (int i = 0; i < failed; i++)
        scene.answers[i].outcome = OUTCOME_FAILED;
    IS(n, settle(&scene).touched);
    CU_ASSERT_TRUE(finish(&scene.lease));
    scene_end(&scene);
}

/* The checks of the history, as the list tells what was seen of each. */
static const char *seen(void)
{
    static char out[1000];
    struct store_rows rows = REPORT("history", "orders");
    strcpy(out, "[");
    for (int i = 0; i < rows.rows; i++) {
        char one[100], mark[40] = "";
        sscanf(cell(&rows, i, "cursor"), "[%39[0-9]", mark);
        snprintf(one, sizeof one, "%s[\"orders\", \"%s\", \"look\", %s]", i ? "," : "",
                 cell(&rows, i, "entity_key"), mark);
        strcat(out, one);
    }
    return strcat(out, "]");
}

static int changed(struct store_rows rows)
{
    int n = 0;
    for (int i = 0; i < rows.rows; i++)
        n += !strcmp(cell(&rows, i, "outcome"), "changed");
    return n;
}

void what_failed_is_filed_again_once(void)
{
    WITH_STORE();
    end_slot(3, 2);
    IS(2, changed(change("retry", seen())));
    IS(2, rows_in("list"));
    IS(0, changed(change("retry", seen())));
    IS(2, audit().rows);
    TEXT_IS("retry", newest("change"));
    CU_ASSERT(newest_has("before", "failed"));
    CU_ASSERT(newest_has("after", "check_at"));
}

void a_failure_is_found_by_its_name_alone(void)
{
    WITH_STORE();
    end_slot(2, 1);
    IS(0, changed(change("retry", "[[\"orders\", \"2\", \"look\"]]")));
    IS(0, changed(change("retry", "[[\"orders\", \"1\", \"bill\"]]")));
    IS(1, changed(change("retry", "[[\"orders\", \"1\", null]]")));
    IS(1, rows_in("list"));
    IS(0, changed(change("retry", "[[\"orders\", \"1\", \"look\"]]")));
}

void a_failure_that_has_ended_well_since_is_not_filed_again(void)
{
    WITH_STORE();
    end_slot(1, 1);
    char was[1000];
    strcpy(was, seen());
    put_far("1", "look");
    TEXT_IS("1", resolve("1"));
    IS(0, changed(change("retry", was)));
    IS(0, changed(change("retry", "[[\"orders\", \"1\", null]]")));
    IS(0, rows_in("list"));
    IS(0, audit().rows);
}

/* Somebody chose the first failure: by its outcome or its error, which the second may not have. */
void a_failure_that_came_after_the_one_seen_is_left_alone(void)
{
    WITH_STORE();
    end_slot(1, 1);
    char was[1000];
    strcpy(was, seen());
    end_slot(1, 1);
    IS(0, changed(change("retry", was)));
    IS(0, rows_in("list"));
    IS(1, changed(change("retry", seen())));
    IS(1, rows_in("list"));
}

void deliveries_and_digests_are_not_changed(void)
{
    WITH_STORE();
    TEXT_IS("kept", outcomes(change("cancel", "[[\"prescient.event\", \"hook/1\", \"hook\"]]")));
    TEXT_IS("kept", outcomes(change("run-now", "[[\"prescient.digest\", \"late\", \"mail\"]]")));
    IS(0, changed(change("retry", "[[\"prescient.event\", \"hook/1\", \"hook\"]]")));
    IS(0, audit().rows);
}

/* ---- pauses and schedules -------------------------------------------------------------------- */

void a_pause_for_somebody_says_for_whom(void)
{
    WITH_STORE();
    struct store_rows rows = REPORT("change_pause", "pause", "look", NULL, NULL, NULL, NULL, "anna",
                                    "why not");
    TEXT_IS("paused", outcomes(rows));
    IS(1, rows.columns);
    rows = REPORT("pauses", NULL, NULL);
    CU_ASSERT(strncmp(cell(&rows, 0, "paused_by"), "anna (", 6) == 0);
    TEXT_IS("why not", cell(&rows, 0, "reason"));
    TEXT_IS("pause", newest("change"));
    TEXT_IS("look", newest("job_exec"));
    TEXT_IS("why not", newest("reason"));
    TEXT_IS("kept", outcomes(REPORT("change_pause", "pause", "look", NULL, NULL, NULL, NULL, "anna", NULL)));
    IS(1, audit().rows);
    TEXT_IS("resumed", outcomes(REPORT("change_pause", "resume", "look", NULL, NULL, NULL, NULL, "bert",
                                       "done")));
    TEXT_IS("resume", newest("change"));
    TEXT_IS("bert", newest("who"));
    TEXT_IS("not_paused", outcomes(REPORT("change_pause", "resume", "look")));
    TEXT_IS("paused", outcomes(REPORT("pause", NULL, NULL, NULL, "acme", NULL)));
    TEXT_IS("acme", newest("name"));
    TEXT_IS("", newest("who"));
    IS(3, audit().rows);
}

static const char *put_schedule(const char *mode, const char *name, const char *every, const char *payload)
{
    static const char *const row[] = { "orders", "1", "look" }, *const none[] = { NULL, NULL, NULL };
    const char *const *of = strcmp(mode, "set") ? row : none;
    return outcomes(REPORT("change_schedule", mode, name, of[0], of[1], of[2], every, NULL, NULL, NULL,
                           NULL, payload, NULL, NULL, "anna", "more often"));
}

void a_schedule_is_changed_for_somebody(void)
{
    WITH_STORE();
    TEXT_IS("new", put_schedule("put", "nightly", "3600", "{\"n\": 7}"));
    TEXT_IS("NULL", newest("before"));
    CU_ASSERT(newest_has("after", "3600"));
    CU_ASSERT_FALSE(newest_has("after", "7}"));
    TEXT_IS("changed", put_schedule("set", "nightly", "7200", NULL));
    CU_ASSERT(newest_has("before", "3600"));
    CU_ASSERT(newest_has("after", "7200"));
    TEXT_IS("more often", newest("reason"));
    TEXT_IS("kept", put_schedule("set", "nightly", "7200", NULL));
    struct store_rows rows = REPORT("schedule", "nightly");
    TEXT_IS("{\"n\": 7}", cell(&rows, 0, "payload"));
    TEXT_IS("not_found", put_schedule("set", "other", "7200", NULL));
    TEXT_IS("not_found", put_schedule("off", "other", NULL, NULL));
    TEXT_IS("changed", put_schedule("off", "nightly", NULL, NULL));
    TEXT_IS("kept", put_schedule("off", "nightly", NULL, NULL));
    TEXT_IS("schedule-off", newest("change"));
    TEXT_IS("anna", newest("who"));
    TEXT_IS("changed", put_schedule("on", "nightly", NULL, NULL));
    TEXT_IS("removed", put_schedule("remove", "nightly", NULL, NULL));
    TEXT_IS("schedule-remove", newest("change"));
    TEXT_IS("NULL", newest("after"));
    TEXT_IS("not_found", put_schedule("remove", "nightly", NULL, NULL));
    IS(5, audit().rows);
    IS(0, rows_in("list"));
}

void commands_that_change_schedules_are_in_the_audit(void)
{
    WITH_STORE();
#define OF(name, key) "{\"name\": \"" name "\", \"entity_name\": \"orders\", \"entity_key\": \"" key      \
                      "\", \"job_exec\": \"look\", \"missed\": \"run_once\", \"bias\": \"0\", \"every_s\": "
    static const char entries[] = "[" OF("a", "1") "\"3600\"}, " OF("b", "2") "\"%s\"}]";
    char first[400], second[400];
    snprintf(first, sizeof first, entries, "60");
    snprintf(second, sizeof second, entries, "120");
    REPORT("schedule_put_many", first, text_of(NOW));
    IS(2, audit().rows);
    REPORT("schedule_put_many", second, text_of(NOW + 1));
    IS(3, audit().rows);
    TEXT_IS("b", newest("name"));
    CU_ASSERT(newest_has("before", "60"));
    CU_ASSERT(newest_has("after", "120"));
    REPORT("schedule_switch", "a", "false", "moving house", text_of(NOW + 2));
    TEXT_IS("schedule-off", newest("change"));
    TEXT_IS("moving house", newest("reason"));
    REPORT("schedule_remove_many", "[\"a\"]", text_of(NOW + 3));
    TEXT_IS("schedule-remove", newest("change"));
    REPORT("schedule_remove", "b", text_of(NOW + 4));
    TEXT_IS("b", newest("name"));
    IS(6, audit().rows);
}

/* ---- the audit ------------------------------------------------------------------------------- */

void the_audit_is_read_in_pages_and_by_what_is_sought(void)
{
    WITH_STORE();
    REPORT("change_pause", "pause", "look", NULL, NULL, NULL, NULL, "anna", NULL);
    REPORT("change_pause", "pause", NULL, "orders", NULL, NULL, NULL, "bert", NULL);
    REPORT("change_pause", "resume", "look", NULL, NULL, NULL, NULL, "bert", NULL);
    IS(2, REPORT("audit", NULL, NULL, NULL, "bert").rows);
    IS(2, REPORT("audit", NULL, NULL, "look").rows);
    IS(1, REPORT("audit", "orders").rows);
    IS(2, REPORT("audit", NULL, NULL, NULL, NULL, "pause").rows);
    IS(0, REPORT("audit", NULL, NULL, NULL, NULL, NULL, text_of(time(NULL) + 3600)).rows);
    IS(0, REPORT("audit", NULL, NULL, NULL, NULL, NULL, NULL, text_of(time(NULL) - 3600)).rows);
    IS(3, REPORT("audit", NULL, NULL, NULL, NULL, NULL, text_of(time(NULL) - 3600)).rows);
    struct store_rows rows = REPORT("audit", NULL, NULL, NULL, NULL, NULL, NULL, NULL, "1");
    IS(1, rows.rows);
    TEXT_IS("resume", cell(&rows, 0, "change"));
    rows = REPORT("audit", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, cell(&rows, 0, "cursor"));
    IS(2, rows.rows);
    TEXT_IS("orders", cell(&rows, 0, "entity_name"));
    /* the newest two are looked at, and none is anna's */
    rows = REPORT("audit", NULL, NULL, NULL, "anna", NULL, NULL, NULL, "5", "2");
    IS(1, rows.rows);
    TEXT_IS("NULL", cell(&rows, 0, "change"));
    rows = REPORT("audit", NULL, NULL, NULL, "anna", NULL, NULL, NULL, "5", "2", cell(&rows, 0, "cursor"));
    IS(1, rows.rows);
    TEXT_IS("anna", cell(&rows, 0, "who"));
}

void changes_are_pruned_with_the_history(void)
{
    WITH_STORE();
    REPORT("pause", "look");
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), time(NULL) - 3600, false, &counts, &fixture_err));
    IS(0, counts.changes);
    IS(0, store_prune(fixture_store(), FUTURE, true, &counts, &fixture_err));
    IS(1, counts.changes);
    IS(1, audit().rows);
    IS(0, store_prune(fixture_store(), FUTURE, false, &counts, &fixture_err));
    IS(1, counts.changes);
    IS(0, audit().rows);
}
