/* contract_report.c - the store's contract: reports have the columns that are documented. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

/* ---- columns --------------------------------------------------------------------------------- */

static void columns_are(const char *report, const char *expected)
{
    char found[1024] = "";
    struct store_rows rows = fixture_report(report, NULL, 0);
    CU_ASSERT(rows.rows >= 0);
    for (int c = 0; rows.rows >= 0 && c < rows.columns; c++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", c ? " " : "", rows.names[c]);
    TEXT_IS(expected, found);
}

void reports_have_the_documented_columns(void)
{
    WITH_STORE();
    columns_are("list", "next_check_at entity_name entity_key job_exec check_count failure_count priority "
                        "first_check_at again_at put_off_at payload concurrency_key tenant state id cursor");
    columns_are("history",
                "ended_at_us entity_name entity_key job_exec outcome guard check_number check_count "
                "failure_count run_count slot_at first_check_at "
                "first_run_at_us last_run_at_us total_run_us last_run_us note payload engine "
                "archived_at_us tenant cursor");
    columns_are("runs",
                "run_at_us entity_name entity_key job_exec outcome check_number failure_count slot_at "
                "next_check_at run_us note engine tenant cursor");
    columns_are("slowest",
                "run_at_us entity_name entity_key job_exec outcome run_us slot_at note engine tenant");
    columns_are("runs_since", "since_at is_cut");
    columns_are("slots", "slot_at checks state late_us run done again failed is_estimate parts");
    columns_are("slots_before", "slot_at");
    columns_are("passes", "slot_at bucket pass engine split run done again failed timeout crashed guarded "
                          "deferred held_back unknown_job busy superseded "
                          "locked late_us took_us left_jobs recorded_at_us");
    columns_are(
        "status",
        "now_at slot_length_s schema_version pending is_estimate due overdue oldest_overdue_at next_slot_at "
        "leases unclosed_slots "
        "oldest_unclosed_at oldest_transaction_us transactions_since prepared_transactions history_rows "
        "events_withheld withheld_by withheld_us withheld_advice is_pending_at_least is_due_at_least "
        "is_overdue_at_least is_unclosed_at_least never_due");
    columns_are("keys", "concurrency_key place engine taken_at held_until is_wanted waiting");
    columns_are("concurrency_limits", "pattern places set_at set_by");
    columns_are("tokens", "name role made_at made_by expires_at is_in_force");
    columns_are("token_keys", "name role is_in_force hash session_key");
    columns_are("put_off", "job_exec checks since_at total");
    columns_are("leases", "slot_at bucket engine token expires_at_us is_expired");
    columns_are("jobs_pending", "job_exec checks next_check_at is_estimate");
    columns_are("growth", "what rows bytes oldest_at");
    columns_are("events",
                "cursor event entity_name entity_key job_exec emitted_at_us slot_at check_number data");
    columns_are("events_back",
                "cursor event entity_name entity_key job_exec emitted_at_us slot_at check_number data");
    columns_are("events_end", "cursor");
    columns_are("deliveries", "ended_at_us id listener event entity_name entity_key state outcome tries "
                              "next_check_at note job_exec emitted_at_us delivery");
    columns_are("row_events", "emitted_at_us event job_exec check_number listener state outcome tries "
                              "next_check_at ended_at_us note delivery is_heard is_readable");
    columns_are("engines", "engine command file seen_at version host pid started_at serves jobs last_slot_at "
                           "last_pass_at");
    columns_are("lately", "last_slot_at last_pass_at last_run last_failed day_runs day_failed");
    columns_are("state_of_slot", "state engine opened_at left_jobs");
    columns_are("pauses_on", "what name paused_at paused_by reason slot");
    columns_are("consumers",
                "name cursor unread oldest_unread_at held_by held_until_at moved_at skipped pruned_at");
    columns_are("engines_seen", "engine command file listeners seen_at");
    columns_are("metrics", "what name outcome n took_us took late_us late");
    columns_are("failing_jobs", "job_exec runs failed broken first_at note");
    columns_are("withheld", "events_withheld withheld_by withheld_us withheld_advice withheld_xid");
    columns_are("audit", "changed_at_us change what entity_name entity_key job_exec name who done_by reason "
                         "before after id cursor");
    columns_are("doctor", "what level found advice");
    columns_are("whole", "what level found advice");
    columns_are("plan", "line");
}

void columns_know_what_they_hold(void)
{
    WITH_STORE();
    put_with("1", "[1]", 0);
    struct store_rows rows = REPORT("list", "orders");
    static const struct { const char *column; enum cell_kind kind;
    } all[] = {
        { "next_check_at", CELL_MOMENT },
        { "entity_key", CELL_TEXT },
        { "check_count", CELL_NUMBER },
        { "payload", CELL_JSON },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int c = 0; c < rows.columns; c++)
            if (strcmp(rows.names[c], all[i].column) == 0)
                IS(all[i].kind, rows.kinds[c]);
}

void a_report_that_does_not_exist_is_not_found(void)
{
    WITH_STORE();
    IS(-1, REPORT("no such report", NULL).rows);
    IS(ERR_NOTFOUND, fixture_err.code);
    IS(-1, REPORT("settle_move", NULL).rows);
    IS(ERR_NOTFOUND, fixture_err.code);
}

/* ---- what they say --------------------------------------------------------------------------- */

static const char *number_text(int64_t n)
{
    static char text[4][24];
    static int next;
    snprintf(text[++next % 4], sizeof text[0], "%" PRId64, n);
    return text[next % 4];
}

void list_is_filtered_sorted_and_limited(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", NULL, "keep", SLOT + 2 * LENGTH, BEFORE);
    put_any("orders", "1", "bill", NULL, "keep", SLOT + LENGTH, BEFORE);
    put_any("orders", "2", "look", NULL, "keep", SLOT, BEFORE);
    put_any("invoices", "1", "look", NULL, "keep", SLOT + LENGTH, BEFORE);
    struct store_rows rows = REPORT("list", "orders");
    IS(3, rows.rows);
    TEXT_IS("2", cell(&rows, 0, "entity_key"));
    TEXT_IS("bill", cell(&rows, 1, "job_exec"));
    IS(2, REPORT("list", "orders", "1").rows);
    IS(1, REPORT("list", "orders", "1", "bill").rows);
    IS(2, REPORT("list", NULL, "1", "look").rows);
    IS(0, REPORT("list", "orders", "3").rows);
    IS(2, REPORT("list", NULL, NULL, NULL, number_text(SLOT + LENGTH), number_text(SLOT + 2 * LENGTH)).rows);
    IS(1,
       REPORT("list", "orders", NULL, NULL, number_text(SLOT + LENGTH), number_text(SLOT + 2 * LENGTH)).rows);
    IS(3, REPORT("list", NULL, NULL, NULL, NULL, NULL, "3").rows);
}

/* What no index leads to is looked for among so many checks; where that ended is told, and from
 * there on the look goes on. */
void list_says_where_a_bounded_look_ended(void)
{
    WITH_STORE();
    for (int i = 0; i < 4; i++)
        put_any("orders", number_text(i), "look", NULL, "keep", SLOT + i * LENGTH, BEFORE);
    put_any("orders", "9", "bill", NULL, "keep", SLOT + 4 * LENGTH, BEFORE);
    struct store_rows rows = REPORT("list", NULL, NULL, "bill", NULL, NULL, "10", "3");
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("NULL", cell(&rows, 0, "entity_name"));
    IS(SLOT + 3 * LENGTH, atoll(cell(&rows, 0, "next_check_at")));
    rows = REPORT("list", NULL, NULL, "bill", number_text(SLOT + 3 * LENGTH), NULL, "10", "3");
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("9", cell(&rows, 0, "entity_key"));
    IS(1, REPORT("list", NULL, NULL, "bill", NULL, NULL, "10", "5").rows);
    IS(1, REPORT("list", NULL, NULL, "bill", NULL, NULL, "10", NULL).rows);
    rows = REPORT("list", NULL, NULL, "look", NULL, NULL, "2", "3");
    IS(2, rows.rows);                   /* the limit, not the look, ended it */
    TEXT_IS("1", cell(&rows, 1, "entity_key"));
    rows = REPORT("list", "orders", NULL, "bill", NULL, NULL, "10", "3");
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("9", cell(&rows, 0, "entity_key"));
}

/* All pages of a report, `most` rows each: the keys of their rows in order, into `out`; a page that
 * ended early has a | behind it. `params` are the report's; its :most and :after are among them. */
struct pages { const char *report, *params[12]; int n, most, after; };
static void all_pages(struct pages p, const char *most, char out[256])
{
    *out = '\0';
    for (int page = 0; page < 20; page++) {
        p.params[p.most] = number_text(atoll(most) + 1);
        struct store_rows rows = fixture_report(p.report, p.params, p.n);
        CU_ASSERT_FATAL(rows.rows >= 0);
        bool is_cut = rows.rows && !strcmp(cell(&rows, rows.rows - 1, "entity_name"), "NULL");
        int shown = rows.rows - is_cut < atoi(most) ? rows.rows - is_cut : atoi(most);
        for (int i = 0; i < shown; i++)
            snprintf(out + strlen(out), 256 - strlen(out), "%s ", cell(&rows, i, "entity_key"));
        if (!is_cut && shown == rows.rows)
            return;
        snprintf(out + strlen(out), 256 - strlen(out), "%s", is_cut ? "| " : "");
        p.params[p.after] = cell(&rows, is_cut ? rows.rows - 1 : shown - 1, "cursor");
    }
    CU_FAIL("the pages have an end");
}

void a_list_goes_on_behind_a_cursor(void)
{
    char one[256], three[256], all[256];
    struct pages list = { "list", { NULL }, 12, 5, 9 };
    WITH_STORE();
    for (int i = 0; i < 7; i++)
        put_any("orders", number_text(i), "look", NULL, "keep", SLOT + i / 3 * LENGTH, BEFORE);
    put_any("orders", "8", "bill", NULL, "keep", SLOT + 2 * LENGTH, BEFORE);
    all_pages(list, "100", all);
    IS(16, strlen(all));
    all_pages(list, "1", one);
    TEXT_IS(all, one);
    all_pages(list, "3", three);
    TEXT_IS(all, three);
    list.params[2] = "bill";
    list.params[6] = "3";               /* checks that are looked at */
    all_pages(list, "100", all);
    TEXT_IS("| | 8 ", all);
}

void a_list_is_filtered_by_state_and_tenant(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", NULL, "keep", SLOT, BEFORE);
    put_any("orders", "2", "look", NULL, "keep", SLOT + 2 * LENGTH, BEFORE);
    struct store_rows rows = REPORT("list", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "due", NULL, NULL,
                                    number_text(SLOT + LENGTH));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("1", cell(&rows, 0, "entity_key"));
    TEXT_IS("due", cell(&rows, 0, "state"));
    rows = REPORT("list", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "waiting", NULL, NULL,
                  number_text(SLOT + LENGTH));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("2", cell(&rows, 0, "entity_key"));
    IS(0, REPORT("list", NULL, NULL, NULL, NULL, NULL, NULL, NULL, "acme").rows);
}

void the_past_goes_on_behind_a_cursor(void)
{
    char one[256], all[256];
    struct pages history = { "history", { NULL }, 12, 6, 9 }, runs = { "runs", { NULL }, 11, 6, 9 };
    WITH_STORE();
    struct scene scene = scene_of(6);
    for (int i = 0; i < 3; i++)
        answer_again(&scene.answers[i], SLOT + LENGTH);
    settle(&scene);
    scene_end(&scene);
    all_pages(history, "100", all);
    IS(6, strlen(all));
    all_pages(history, "1", one);
    TEXT_IS(all, one);
    all_pages(runs, "100", all);
    IS(6, strlen(all));
    all_pages(runs, "1", one);
    TEXT_IS(all, one);
    history.params[3] = "amiss";
    all_pages(history, "1", one);
    TEXT_IS("", one);
}

/* Whether they have ended their check or not. */
void the_slowest_runs_come_first(void)
{
    WITH_STORE();
    struct scene scene = scene_of(3);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    scene.answers[0].run_us = 7000;
    scene.answers[1].run_us = 9000;
    IS(3, settle(&scene).touched);
    scene_end(&scene);
    struct store_rows rows = REPORT("slowest", "look", NULL, "2");
    IS(2, rows.rows);
    TEXT_IS("2", cell(&rows, 0, "entity_key"));
    TEXT_IS("9000", cell(&rows, 0, "run_us"));
    TEXT_IS("1", cell(&rows, 1, "entity_key"));
    TEXT_IS("again", cell(&rows, 1, "outcome"));
    IS(3, REPORT("slowest").rows);
    IS(0, REPORT("slowest", "other").rows);
    IS(0, REPORT("slowest", NULL, text_of(NOW + 3600)).rows);
    /* one of each kind is looked at, and the place where that ended is told */
    rows = REPORT("slowest", NULL, NULL, "5", "60000", "1");
    IS(3, rows.rows);
    TEXT_IS("NULL", cell(&rows, 2, "entity_name"));
    CU_ASSERT_STRING_NOT_EQUAL(cell(&rows, 2, "run_at_us"), "NULL");
}

void history_and_runs_are_filtered_and_newest_first(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    settle(&scene);
    scene_end(&scene);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = SLOT + LENGTH;
    IS(0, fixture_call(&o.call));
    scene.lease = o.taken[0];
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.n = 1;
    scene.answers[0].check = &scene.page.checks[0];
    answer_done(&scene.answers[0]);
    scene.answers[0].outcome = OUTCOME_PAST;
    struct store_settle later = STORE_SETTLE_INIT;
    later.lease = scene.lease;
    later.now = NOW + LENGTH;
    later.settlements = scene.answers;
    later.n = 1;
    IS(0, fixture_call(&later.call));
    struct store_rows rows = fixture_report("history", NULL, 0);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    TEXT_IS("past", cell(&rows, 0, "outcome"));
    TEXT_IS("past", cell(&rows, 0, "guard"));
    TEXT_IS("done", cell(&rows, 1, "outcome"));
    IS(1, REPORT("history", NULL, NULL, NULL, "done").rows);
    IS(1, REPORT("history", NULL, NULL, NULL, NULL, number_text(NOW + 10)).rows);
    IS(1, REPORT("history", NULL, NULL, NULL, NULL, NULL, number_text(NOW + 10)).rows);
    IS(1, REPORT("history", NULL, NULL, NULL, NULL, NULL, NULL, "1").rows);
    IS(0, REPORT("history", "orders", "1", "bill").rows);
    IS(1, REPORT("runs", "orders", "1", "look", "again").rows);
    IS(0, REPORT("runs", "orders", "1", "look", "failed").rows);
    scene_end(&scene);
}

static const char *state_of(int64_t slot)
{
    struct store_rows rows = REPORT("slots", number_text(slot), number_text(slot + 1), NULL);
    return rows.rows == 1 ? cell(&rows, 0, "state") : "none";
}

void slots_go_from_pending_to_closed(void)
{
    WITH_STORE();
    TEXT_IS("none", state_of(SLOT));
    struct scene scene = scene_of(2);
    put("3", SLOT + LENGTH, "keep", NOW);
    TEXT_IS("pending", state_of(SLOT + LENGTH));
    TEXT_IS("open", state_of(SLOT));
    settle(&scene);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = scene.lease;
    f.counts = (struct pass_counts){
        .run = 2, .done = 2, .failed = 1, .timeout = 1, .crashed = 1, .late_us = 60000000
    };
    IS(0, fixture_call(&f.call));
    TEXT_IS("relook", state_of(SLOT));
    relook();
    TEXT_IS("closed", state_of(SLOT));
    struct store_rows rows = fixture_report("slots", NULL, 0);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    TEXT_IS("0", cell(&rows, 0, "checks"));
    TEXT_IS("2", cell(&rows, 0, "run"));
    TEXT_IS("2", cell(&rows, 0, "done"));
    TEXT_IS("3", cell(&rows, 0, "failed"));
    TEXT_IS("60000000", cell(&rows, 0, "late_us"));
    TEXT_IS("1", cell(&rows, 1, "checks"));
    scene_end(&scene);
}

/* Each has two checks. The last row has the slot once more, and the next look begins behind it. */
void slots_end_with_the_one_by_which_enough_was_looked_at(void)
{
    WITH_STORE();
    char key[] = "a";
    for (int i = 0; i < 6; i++, key[0]++)
        put(key, SLOT + i / 2 * LENGTH, "keep", BEFORE);
    struct store_rows rows = REPORT("slots", NULL, NULL, "10", NULL, "1000", NULL, "3");
    IS(3, rows.rows);
    TEXT_IS(number_text(SLOT + LENGTH), cell(&rows, 1, "slot_at"));
    TEXT_IS("2", cell(&rows, 1, "checks"));
    TEXT_IS(number_text(SLOT + LENGTH), cell(&rows, 2, "slot_at"));
    TEXT_IS("NULL", cell(&rows, 2, "is_estimate"));
    rows = REPORT("slots", number_text(SLOT + LENGTH + 1), NULL, "10", NULL, "1000", NULL, "3");
    IS(1, rows.rows);
    TEXT_IS("2", cell(&rows, 0, "checks"));
    IS(2, REPORT("slots", NULL, NULL, "10", NULL, "1000", "job", "3").rows);      /* each looked at twice */
    IS(3, REPORT("slots", NULL, NULL, "10", NULL, "1000", NULL, "7").rows);
    IS(3, REPORT("slots", NULL, NULL, "10", NULL, "1000", NULL, NULL).rows);
    IS(2, REPORT("slots", NULL, NULL, "2", NULL, "1000", NULL, "3").rows);
}

/* The rows, and the row that says how far the look went, if there is one. */
static int ended_since(const char *report, int64_t since, const char *looks)
{
    return REPORT(report, NULL, NULL, "nobody", NULL, number_text(since), NULL, "100", NULL, NULL, NULL,
                  looks).rows;
}

/* All was written now: what ended since tomorrow was told by a replay, and may stand anywhere. */
void a_look_for_what_was_since_a_moment_ends_with_what_was_written_before_it(void)
{
    if (!fixture_begin() || !fixture_is_sqlite())
        return;                 /* a look by time: test_newest_rows.c */
    struct scene scene = scene_of(4);
    for (int i = 0; i < 4; i++)
        answer_again(&scene.answers[i], SLOT + 4 * LENGTH);
    settle(&scene);
    scene_end(&scene);
    IS(1, ended_since("runs", 0, "2"));
    IS(0, ended_since("runs", FUTURE, "2"));
    resolve("1");
    resolve("2");
    resolve("3");
    IS(1, ended_since("history", 0, "2"));
    IS(0, ended_since("history", FUTURE, "2"));
}

void slots_that_are_over_are_told_from_a_moment_on(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    CU_ASSERT(finish(&scene.lease));
    scene_end(&scene);
    put("3", SLOT + 3 * LENGTH, "keep", NOW);
    IS(2, REPORT("slots", NULL, NULL, "10", number_text(SLOT + LENGTH)).rows);     /* not closed */
    relook();
    IS(2, REPORT("slots", NULL, NULL, "10").rows);
    IS(2, REPORT("slots", NULL, NULL, "10", number_text(SLOT)).rows);
    struct store_rows rows = REPORT("slots", NULL, NULL, "10", number_text(SLOT + LENGTH));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    IS(SLOT + 3 * LENGTH, atoll(cell(&rows, 0, "slot_at")));
    rows = REPORT("slots", NULL, NULL, "1", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    IS(SLOT, atoll(cell(&rows, 0, "slot_at")));
    /* it holds a check, so it is told */
    rows = REPORT("slots", NULL, NULL, "10", number_text(SLOT + 5 * LENGTH));
    IS(1, rows.rows);
    rows = REPORT("slots_before", NULL, NULL, "10", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    IS(SLOT + 3 * LENGTH, atoll(cell(&rows, 0, "slot_at")));
    IS(SLOT, atoll(cell(&rows, 1, "slot_at")));
    rows = REPORT("slots_before", NULL, number_text(SLOT + 3 * LENGTH), "10", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    IS(SLOT, atoll(cell(&rows, 0, "slot_at")));
    IS(1, REPORT("slots_before", NULL, NULL, "1", NULL).rows);
    IS(1, REPORT("slots_before", NULL, NULL, "10", number_text(SLOT + LENGTH)).rows);
    IS(0, REPORT("slots_before", number_text(SLOT + 4 * LENGTH), NULL, "10", NULL).rows);
    rows = REPORT("passes", NULL, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    TEXT_IS("1", cell(&rows, 0, "pass"));
    TEXT_IS("0", cell(&rows, 1, "pass"));
}

void status_counts_what_waits(void)
{
    WITH_STORE();
    put("1", SLOT - LENGTH, "keep", SLOT - 2 * LENGTH);
    put("2", SLOT, "keep", BEFORE);
    put("3", SLOT, "keep", BEFORE);
    put("4", SLOT + 4 * LENGTH, "keep", BEFORE);
    TEXT_IS("1", resolve("3"));
    take();
    struct store_rows rows = REPORT("status", number_text(NOW));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    static const struct { const char *column; int64_t value;
    } all[] = {
        { "now_at", NOW },
        { "slot_length_s", LENGTH },
        { "pending", 3 },
        { "is_estimate", 0 },
        { "due", 1 },
        { "overdue", 1 },
        { "oldest_overdue_at", SLOT - LENGTH },
        { "next_slot_at", SLOT + 4 * LENGTH },
        { "leases", 1 },
        { "unclosed_slots", 1 },
        { "oldest_unclosed_at", SLOT },
        { "history_rows", 1 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        IS(all[i].value, atoll(cell(&rows, 0, all[i].column)));
}

/* In pages, so that a slow disk has the statement's time for each. */
static void put_many(const char *prefix, int n, int64_t at)
{
    enum { PAGE = 1000 };
    static struct load_row rows[PAGE];
    static char keys[PAGE][16];
    for (int put = 0, here; put < n; put += here) {
        struct load_counts counts = { 0 };
        int bad = -1;
        here = n - put < PAGE ? n - put : PAGE;
        for (int i = 0; i < here; i++) {
            snprintf(keys[i], sizeof keys[i], "%s%d", prefix, put + i);
            rows[i] = (struct load_row){
                .entity_name = "orders", .entity_key = keys[i], .job_exec = "look", .at = at
            };
        }
        int rc = store_load(fixture_store(), rows, here, "keep", SLOT - 2 * LENGTH, &counts, &bad,
                            &fixture_err);
        IS(0, rc);
        IS(here, counts.added);
    }
}

static bool a_finding_has(const char *words)
{
    struct store_rows rows = REPORT("doctor", number_text(NOW));
    for (int i = 0; i < rows.rows; i++)
        if (strstr(cell(&rows, i, "found"), words))
            return true;
    return false;
}

void counts_of_status_and_doctor_end_at_a_bound(void)
{
    WITH_STORE();
    put_many("late", 9999, SLOT - LENGTH);
    put_many("due", 10001, SLOT);
    struct store_rows rows = REPORT("status", number_text(NOW));
    TEXT_IS("9999", cell(&rows, 0, "overdue"));
    TEXT_IS("0", cell(&rows, 0, "is_overdue_at_least"));
    TEXT_IS("10000", cell(&rows, 0, "due"));
    TEXT_IS("1", cell(&rows, 0, "is_due_at_least"));
    TEXT_IS("20000", cell(&rows, 0, "pending"));
    TEXT_IS("0", cell(&rows, 0, "is_pending_at_least"));
    CU_ASSERT_TRUE(a_finding_has("9999"));
    put_many("later", 2, SLOT - LENGTH);
    rows = REPORT("status", number_text(NOW));
    TEXT_IS("10000", cell(&rows, 0, "overdue"));
    TEXT_IS("1", cell(&rows, 0, "is_overdue_at_least"));
    IS(SLOT - LENGTH, atoll(cell(&rows, 0, "oldest_overdue_at")));
    CU_ASSERT_TRUE(a_finding_has("10000 or more"));
}

void leases_and_jobs_are_listed(void)
{
    WITH_STORE();
    put_any("orders", "1", "look", NULL, "keep", SLOT, BEFORE);
    put_any("orders", "2", "look", NULL, "keep", SLOT + LENGTH, BEFORE);
    put_any("orders", "1", "bill", NULL, "keep", SLOT + LENGTH, BEFORE);
    struct lease lease = take();
    struct store_rows rows = fixture_report("leases", NULL, 0);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    IS(SLOT, atoll(cell(&rows, 0, "slot_at")));
    IS(lease.token, atoll(cell(&rows, 0, "token")));
    IS(lease.expires_us, atoll(cell(&rows, 0, "expires_at_us")));
    TEXT_IS("test/1", cell(&rows, 0, "engine"));
    TEXT_IS("0", cell(&rows, 0, "is_expired"));
    rows = fixture_report("jobs_pending", NULL, 0);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    TEXT_IS("bill", cell(&rows, 0, "job_exec"));
    TEXT_IS("2", cell(&rows, 1, "checks"));
    IS(SLOT, atoll(cell(&rows, 1, "next_check_at")));
}

void doctor_finds_overdue_checks(void)
{
    WITH_STORE();
    struct store_rows rows = REPORT("doctor", number_text(NOW));
    for (int i = 0; i < rows.rows; i++)
        CU_ASSERT(strcmp(cell(&rows, i, "level"), "error") != 0);
    put("1", SLOT - LENGTH, "keep", SLOT - 2 * LENGTH);
    rows = REPORT("doctor", number_text(NOW));
    int warnings = 0;
    for (int i = 0; i < rows.rows; i++)
        warnings += strcmp(cell(&rows, i, "level"), "warn") == 0 &&
                    strstr(cell(&rows, i, "found"), "2026-03-01T13:00:00Z") != NULL;
    IS(1, warnings);
}

/* ---- retry ----------------------------------------------------------------------------------- */

void retry_enqueues_what_ended_in_trouble(void)
{
    WITH_STORE();
    put_with("1", "{\"n\": 1}", 0);
    struct scene scene = { .lease = take(), .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    answer_done(&scene.answers[0]);
    scene.answers[0].outcome = OUTCOME_TIMEOUT;
    IS(1, settle(&scene).touched);
    scene_end(&scene);
    put("2", SLOT + LENGTH, "keep", BEFORE);
    TEXT_IS("1", resolve("2"));
    IS(0, fixture_retry(NULL, NULL, "bill", NULL, NULL, number_text(NOW)).rows);
    IS(0, fixture_retry(NULL, NULL, NULL, number_text(NOW + 60), NULL, number_text(NOW)).rows);
    struct store_rows rows = fixture_retry(NULL, NULL, NULL, NULL, number_text(SLOT + 3 * LENGTH),
                                           number_text(NOW));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("1", cell(&rows, 0, "entity_key"));
    TEXT_IS("new", cell(&rows, 0, "outcome"));
    IS(SLOT + 3 * LENGTH, atoll(cell(&rows, 0, "next_check_at")));
    TEXT_IS("{\"n\": 1}", value("list", "1", "payload"));
    rows = fixture_retry("orders", "1", NULL, NULL, NULL, number_text(NOW));
    TEXT_IS("kept", cell(&rows, 0, "outcome"));
}

/* Ends the check that waits in SLOT. */
static void end_as(struct lease lease, enum outcome outcome)
{
    struct scene scene = { .lease = lease, .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    answer_done(&scene.answers[0]);
    scene.answers[0].outcome = outcome;
    IS(1, settle(&scene).touched);
    check_rows_free(&scene.page);
}

static int retried(const char *key)
{
    return fixture_retry("orders", key, NULL, NULL, number_text(SLOT + 3 * LENGTH), number_text(NOW)).rows;
}

void retry_leaves_out_what_has_ended_well_since(void)
{
    WITH_STORE();
    put_with("1", "{\"n\": 1}", 0);
    struct lease lease = take();
    end_as(lease, OUTCOME_TIMEOUT);
    put("2", SLOT, "keep", BEFORE);
    end_as(lease, OUTCOME_DONE);               /* another's end is no end of it */
    put("1", SLOT, "keep", BEFORE);
    end_as(lease, OUTCOME_DONE);
    IS(0, retried("1"));
    IS(0, retried(NULL));
    put_with("1", "{\"n\": 2}", 0);     /* and failed again */
    end_as(lease, OUTCOME_CRASHED);
    IS(1, retried("1"));
    TEXT_IS("{\"n\": 2}", value("list", "1", "payload"));
    TEXT_IS("1", resolve("1"));         /* what was waited for has happened */
    IS(0, retried("1"));
}
