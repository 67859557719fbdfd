/* test_run_hours.c - an engine adds up what its runs were like, and sends what is new as a note,
 * which it repeats as it was until the store has answered. */
#include "../engine/run/run_hours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/rules/histogram.h"
#include "test.h"

enum { HOUR = 3600, S = 1000 * 1000 };
#define BEGIN INT64_C(1772370000)           /* 2026-03-01T13:00:00Z */

static const unsigned char owner[STORE_OWNER_SIZE] = { 7 };
static const struct clocks clocks = { .is_known = true, .slot_length_s = 900 };
static struct run_hours *hours;
static struct store_note_runs note;

static void begin(void)
{
    hours = run_hours_new(owner);
    CU_ASSERT_PTR_NOT_NULL_FATAL(hours);
}

static void end(void)
{
    run_hours_free(hours);
}

/* A run that began so long after BEGIN, where its slot was, and took so long. */
static void count_of(const char *entity, const char *tenant, enum outcome outcome, int64_t after_s,
                     int64_t took_us)
{
    struct check check = { .job_exec = "look", .entity_name = entity, .tenant = tenant,
                           .next_check_at = BEGIN };
    run_hours_count(hours, &clocks,
                    &(struct settlement){ .check = &check,
                                          .outcome = outcome,
                                          .ran = true,
                                          .run_at_us = (BEGIN + after_s) * S,
                                          .run_us = took_us });
}

static void count(const char *entity, enum outcome outcome, int64_t after_s, int64_t took_us)
{
    count_of(entity, NULL, outcome, after_s, took_us);
}

static void fill(void)
{
    note = (struct store_note_runs)STORE_NOTE_RUNS_INIT;
    run_hours_fill(hours, BEGIN * S, &note);
}

enum { KEPT_MOST = 10 };

/* What the last note had: how many rows, and the first of them. */
static struct {
    int n;
    struct kept { char entity[40]; int64_t hour_at, runs, took_max_us; } rows[KEPT_MOST];
} last;

static void keep_rows(void)
{
    last.n = note.n < KEPT_MOST ? note.n : KEPT_MOST;
    for (int i = 0; i < last.n; i++) {
        const struct run_hour *row = &note.rows[i];
        last.rows[i] = (struct kept){ .hour_at = row->hour_at, .runs = row->runs,
                                      .took_max_us = row->took_max_us };
        snprintf(last.rows[i].entity, sizeof last.rows[i].entity, "%.39s", row->entity);
    }
}

/* The rows of the next call, which goes well or not: how many. */
static int written(bool well)
{
    fill();
    int n = note.n;
    keep_rows();
    run_hours_noted(hours, well);
    return n;
}

static const struct kept *row_of(const char *entity, int64_t hour_at)
{
    static const struct kept none = { .runs = -1 };
    for (int i = 0; i < last.n; i++)
        if (!strcmp(last.rows[i].entity, entity) && last.rows[i].hour_at == hour_at)
            return &last.rows[i];
    return &none;
}

static void runs_of_an_hour_are_one_row(void)
{
    begin();
    count("orders", OUTCOME_DONE, 2, 300);
    count("orders", OUTCOME_DONE, 1, 100);
    fill();
    CU_ASSERT_EQUAL_FATAL(note.n, 1);
    const struct run_hour *row = &note.rows[0];
    CU_ASSERT(row->hour_at == BEGIN && row->runs == 2 && row->took_us == 400 && row->took_max_us == 300);
    CU_ASSERT_EQUAL(row->late_max_us, 2 * S);
    CU_ASSERT_STRING_EQUAL(row->job, "look");
    CU_ASSERT_STRING_EQUAL(row->outcome, "done");
    char expected[80];
    snprintf(expected, sizeof expected, "{\"%d\":1,\"%d\":1}", histogram_class(100), histogram_class(300));
    CU_ASSERT_STRING_EQUAL(row->took, expected);
    CU_ASSERT_EQUAL(memcmp(note.owner, owner, sizeof owner), 0);
    end();
}

static void each_entity_outcome_and_hour_has_its_own(void)
{
    begin();
    count("orders", OUTCOME_DONE, 0, 1);
    count("orders", OUTCOME_FAILED, 0, 1);
    count("carts", OUTCOME_DONE, 0, 1);
    count("orders", OUTCOME_DONE, HOUR, 1);
    CU_ASSERT_EQUAL(written(true), 4);
    end();
}

static void so_has_each_tenant(void)
{
    begin();
    count_of("orders", "acme", OUTCOME_DONE, 0, 1);
    count_of("orders", "acme", OUTCOME_DONE, 1, 1);
    count_of("orders", "other", OUTCOME_DONE, 0, 1);
    count("orders", OUTCOME_DONE, 0, 1);
    fill();
    CU_ASSERT_EQUAL(note.n, 3);
    for (int i = 0; i < note.n; i++)
        CU_ASSERT_EQUAL(note.rows[i].runs, strcmp(note.rows[i].tenant, "acme") ? 1 : 2);
    end();
}

/* The checks share their texts, as those of a page do. */
static void of_a_page_what_was_written_counts_for_its_group(void)
{
    static const struct {
        const char *tenant;
        enum outcome outcome;
        int64_t after_s;
        bool ran;
        enum settle_state state;
    } is[] = {
        { NULL, OUTCOME_DONE, 0, true, SETTLE_TOUCHED },
        { NULL, OUTCOME_DONE, 1, true, SETTLE_TOUCHED },
        { NULL, OUTCOME_DONE, 2, true, SETTLE_SUPERSEDED },
        { NULL, OUTCOME_DONE, 2, false, SETTLE_TOUCHED },
        { NULL, OUTCOME_DONE, HOUR, true, SETTLE_TOUCHED },
        { NULL, OUTCOME_FAILED, HOUR, true, SETTLE_TOUCHED },
        { "acme", OUTCOME_FAILED, HOUR, true, SETTLE_TOUCHED },
    };
    enum { N = sizeof is / sizeof *is };
    struct check checks[N];
    struct settlement page[N];
    begin();
    for (int i = 0; i < N; i++) {
        checks[i] = (struct check){ .job_exec = "look", .entity_name = "orders", .tenant = is[i].tenant,
                                    .next_check_at = BEGIN };
        page[i] = (struct settlement){ .check = &checks[i], .outcome = is[i].outcome, .ran = is[i].ran,
                                       .run_at_us = (BEGIN + is[i].after_s) * S, .run_us = 1,
                                       .state = is[i].state };
    }
    run_hours_count_written(hours, &clocks, page, N);
    fill();
    CU_ASSERT_EQUAL(note.n, 4);
    for (int i = 0; i < note.n; i++)
        CU_ASSERT_EQUAL(note.rows[i].runs, note.rows[i].hour_at == BEGIN ? 2 : 1);
    run_hours_noted(hours, true);
    end();
}

static void what_has_not_run_counts_for_nothing(void)
{
    begin();
    struct check check = { .job_exec = "look", .entity_name = "orders" };
    run_hours_count(hours, &clocks,
                    &(struct settlement){ .check = &check, .outcome = OUTCOME_BUSY, .run_at_us = S });
    CU_ASSERT_FALSE(run_hours_have_news(hours));
    end();
}

static void a_note_has_what_is_new_since_the_last_one(void)
{
    begin();
    count("orders", OUTCOME_DONE, 0, 1);
    count("carts", OUTCOME_DONE, 0, 7);
    CU_ASSERT_EQUAL(written(true), 2);
    CU_ASSERT_EQUAL(note.number, 1);
    CU_ASSERT_FALSE(run_hours_have_news(hours));
    count("carts", OUTCOME_DONE, 1, 3);
    CU_ASSERT_TRUE(run_hours_have_news(hours));
    CU_ASSERT_EQUAL(written(true), 1);
    CU_ASSERT_EQUAL(note.number, 2);
    CU_ASSERT_EQUAL(row_of("carts", BEGIN)->runs, 1);
    CU_ASSERT_EQUAL(row_of("carts", BEGIN)->took_max_us, 3);
    end();
}

/* It may have been added: with more in it, nobody could say what of it was. */
static void a_note_that_failed_is_sent_again_as_it_was(void)
{
    begin();
    count("orders", OUTCOME_DONE, 0, 1);
    CU_ASSERT_EQUAL(written(false), 1);
    CU_ASSERT(note.number == 1 && note.made_us == BEGIN * S);
    count("orders", OUTCOME_DONE, 1, 1);
    count("carts", OUTCOME_DONE, 1, 1);
    note = (struct store_note_runs)STORE_NOTE_RUNS_INIT;
    run_hours_fill(hours, (BEGIN + 90) * S, &note);
    CU_ASSERT(note.n == 1 && note.number == 1 && note.made_us == BEGIN * S);
    CU_ASSERT_EQUAL(note.rows[0].runs, 1);
    run_hours_noted(hours, true);
    CU_ASSERT_TRUE(run_hours_have_news(hours));
    CU_ASSERT_EQUAL(written(true), 2);
    CU_ASSERT_EQUAL(note.number, 2);
    CU_ASSERT_EQUAL(row_of("orders", BEGIN)->runs, 1);
    CU_ASSERT_FALSE(run_hours_have_news(hours));
    end();
}

static void what_comes_in_during_the_call_is_news(void)
{
    begin();
    count("orders", OUTCOME_DONE, 0, 1);
    fill();
    count("orders", OUTCOME_DONE, 1, 1);
    CU_ASSERT_EQUAL(note.rows[0].runs, 1);
    run_hours_noted(hours, true);
    CU_ASSERT_TRUE(run_hours_have_news(hours));
    CU_ASSERT_EQUAL(written(true), 1);
    CU_ASSERT_EQUAL(row_of("orders", BEGIN)->runs, 1);
    end();
}

/* Also for one whose groups were dropped here long ago. */
static void a_run_that_took_hours_counts_for_the_hour_in_which_it_began(void)
{
    begin();
    count("orders", OUTCOME_DONE, 0, 1);
    CU_ASSERT_EQUAL(written(true), 1);
    count("orders", OUTCOME_DONE, 3 * HOUR, 1);
    CU_ASSERT_EQUAL(written(true), 1);        /* the first hour goes */
    count("orders", OUTCOME_DONE, 1, 1);
    CU_ASSERT_EQUAL(written(true), 1);
    CU_ASSERT_EQUAL(row_of("orders", BEGIN)->runs, 1);
    end();
}

/* The clock ran ahead by a year, and was set back. */
static void a_clock_that_was_set_back_counts_on(void)
{
    begin();
    count("orders", OUTCOME_DONE, 0, 1);
    CU_ASSERT_EQUAL(written(true), 1);
    count("orders", OUTCOME_DONE, 8760 * HOUR, 1);
    CU_ASSERT_EQUAL(written(true), 1);
    for (int minute = 1; minute < 130; minute++) {
        count("orders", OUTCOME_DONE, minute * 60, 1);
        CU_ASSERT_EQUAL(written(true), 1);
        CU_ASSERT_EQUAL(row_of("orders", BEGIN + minute / 60 * HOUR)->runs, 1);
    }
    end();
}

/* How many kinds an hour has is limited, not how many there are in a note. */
static void entities_of_an_hour_keep_their_room(void)
{
    begin();
    char name[20];
    for (int i = 0; i < RUN_HOURS_ENTITIES; i++) {
        snprintf(name, sizeof name, "tenant%d", i);
        count(name, OUTCOME_DONE, 0, 1);
    }
    while (run_hours_have_news(hours))
        CU_ASSERT_FATAL(written(true) > 0);
    count("one more", OUTCOME_DONE, HOUR, 1);
    count("tenant7", OUTCOME_DONE, 1, 1);
    CU_ASSERT_EQUAL(written(true), 2);
    CU_ASSERT_EQUAL(row_of("", BEGIN + HOUR)->runs, 1);
    CU_ASSERT_EQUAL(row_of("tenant7", BEGIN)->runs, 1);
    end();
}

static void entities_beyond_a_thousand_are_one(void)
{
    begin();
    char name[20];
    int64_t runs = 0, others = 0;
    for (int i = 0; i < RUN_HOURS_ENTITIES + 500; i++) {
        snprintf(name, sizeof name, "tenant%d", i);
        count(name, OUTCOME_DONE, 0, 1);
    }
    while (run_hours_have_news(hours)) {
        fill();
        CU_ASSERT_FATAL(note.n > 0 && note.n <= STORE_RUN_HOURS_MAX);
        for (int i = 0; i < note.n; i++) {
            runs += note.rows[i].runs;
            others += *note.rows[i].entity ? 0 : note.rows[i].runs;
        }
        run_hours_noted(hours, true);
    }
    CU_ASSERT_EQUAL(runs, RUN_HOURS_ENTITIES + 500);
    CU_ASSERT_EQUAL(others, 500);
    end();
}

/* The store could not write its row, nor the others of the call. */
static void a_tenant_whose_name_is_too_long_beside_others_is_left_out(void)
{
    begin();
    char entity[1025], tenant[1025], job[1025];
    memset(entity, 'e', 1024);
    memset(tenant, 't', 1024);
    memset(job, 'j', 1024);
    entity[1024] = tenant[1024] = job[1024] = '\0';
    struct check check = { .job_exec = job, .entity_name = entity, .tenant = tenant, .next_check_at = BEGIN };
    run_hours_count(hours, &clocks, &(struct settlement){ .check = &check, .outcome = OUTCOME_DONE,
                                                          .ran = true, .run_at_us = BEGIN * S });
    count_of("orders", tenant, OUTCOME_DONE, 0, 1);
    fill();
    CU_ASSERT_EQUAL_FATAL(note.n, 2);
    for (int i = 0; i < note.n; i++)
        CU_ASSERT_STRING_EQUAL(note.rows[i].tenant, strcmp(note.rows[i].job, job) ? tenant : "");
    end();
}

/* They do not take the room of entities. */
static void tenants_for_which_there_is_no_room_count_for_their_entity(void)
{
    begin();
    char name[20];
    int64_t of_orders = 0;
    for (int i = 0; i < RUN_HOURS_TENANTS + 500; i++) {
        snprintf(name, sizeof name, "tenant%d", i);
        count_of("orders", name, OUTCOME_DONE, 0, 1);
    }
    while (run_hours_have_news(hours)) {
        fill();
        CU_ASSERT_FATAL(note.n > 0);
        for (int i = 0; i < note.n; i++) {
            CU_ASSERT_STRING_EQUAL(note.rows[i].entity, "orders");
            of_orders += *note.rows[i].tenant ? 0 : note.rows[i].runs;
        }
        run_hours_noted(hours, true);
    }
    CU_ASSERT_EQUAL(of_orders, 500);
    end();
}

/* ---- what is counted for ever ---- */

/* How many of these the note has; 0: it has no such row. */
static int64_t tallied(const char *what, const char *name, const char *outcome)
{
    for (int i = 0; i < note.ntallies; i++) {
        const struct tally *t = &note.tallies[i];
        if (!strcmp(t->what, what) && !strcmp(t->name, name) && !strcmp(t->outcome, outcome))
            return t->n;
    }
    return 0;
}

static void settled(const char *entity, const char *key, enum outcome outcome, bool ran, bool ends)
{
    struct check check = { .job_exec = "look", .entity_name = entity, .entity_key = key,
                           .entity_name_len = (uint32_t)strlen(entity), .next_check_at = BEGIN };
    struct settlement s = { .check = &check, .outcome = outcome, .ran = ran, .ends = ends,
                            .run_at_us = ran ? BEGIN * S : 0, .run_us = 2000, .state = SETTLE_TOUCHED };
    run_hours_count_written(hours, &clocks, &s, 1);
}

static void runs_of_all_entities_and_hours_are_one_tally(void)
{
    begin();
    count("orders", OUTCOME_DONE, 1, 1000);
    count("carts", OUTCOME_DONE, HOUR, 3000);
    count("carts", OUTCOME_AGAIN, 1, 1);
    fill();
    CU_ASSERT_EQUAL(note.n, 3);
    CU_ASSERT_EQUAL_FATAL(note.ntallies, 2);
    CU_ASSERT_EQUAL(tallied("run", "look", "done"), 2);
    CU_ASSERT_EQUAL(tallied("run", "look", "again"), 1);
    const struct tally *done = &note.tallies[!strcmp(note.tallies[1].outcome, "done")];
    CU_ASSERT(done->took_us == 4000 && done->late_us == INT64_C(3601) * S);
    CU_ASSERT_STRING_EQUAL(done->took, "1,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0");
    CU_ASSERT_STRING_EQUAL(done->late, "0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,1,0");
    end();
}

static void how_late_runs_were_together_has_an_end(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        count("orders", OUTCOME_DONE, INT64_C(4) * S * S, 1);
        count("carts", OUTCOME_DONE, INT64_C(4) * S * S, 1);
    }
    fill();
    CU_ASSERT_EQUAL_FATAL(note.ntallies, 1);
    CU_ASSERT(note.tallies[0].n == 6 && note.tallies[0].late_us == INT64_MAX);
    end();
}

static void what_ends_is_tallied_whether_it_ran_or_not(void)
{
    begin();
    settled("orders", "1", OUTCOME_DONE, true, true);
    settled("orders", "2", OUTCOME_FAILED, true, false);
    settled("orders", "3", OUTCOME_FAILED, true, true);
    settled("orders", "4", OUTCOME_DEFERRED_OUT, false, true);
    settled("orders", "5", OUTCOME_HELD_BACK, false, false);
    settled("orders", "6", OUTCOME_UNKNOWN_JOB, false, true);
    fill();
    CU_ASSERT_EQUAL(tallied("run", "look", "failed"), 2);
    CU_ASSERT_EQUAL(tallied("ended", "look", "done"), 1);
    CU_ASSERT_EQUAL(tallied("ended", "look", "failed"), 1);
    CU_ASSERT_EQUAL(tallied("ended", "look", "deferred_out"), 1);
    CU_ASSERT_EQUAL(tallied("ended", "look", "held_back"), 0);
    CU_ASSERT_EQUAL(tallied("ended", "", "unknown_job"), 1);        /* whoever files it chose its name */
    end();
}

static void deliveries_that_end_are_tallied_by_listener(void)
{
    begin();
    settled("prescient.event", "hook/one", OUTCOME_DONE, true, true);
    settled("prescient.event", "hook/two", OUTCOME_FAILED, true, false);
    settled("prescient.event", "hook/two", OUTCOME_TIMEOUT, true, true);
    settled("prescient.event", "mail/one", OUTCOME_DONE, true, true);
    fill();
    CU_ASSERT_EQUAL(tallied("delivery", "hook", "done"), 1);
    CU_ASSERT_EQUAL(tallied("delivery", "hook", "timeout"), 1);
    CU_ASSERT_EQUAL(tallied("delivery", "hook", "failed"), 0);
    CU_ASSERT_EQUAL(tallied("delivery", "mail", "done"), 1);
    CU_ASSERT_EQUAL(tallied("ended", "look", "done"), 2);
    end();
}

static void slots_and_errors_alone_are_a_note_that_is_sent_again_as_it_was(void)
{
    struct err lost = { .code = ERR_LOST }, late = { .code = ERR_LOST, .reason = ERR_REASON_TIMEOUT };
    begin();
    run_hours_missed_slot(hours);
    run_hours_store_failed(hours, &lost);
    CU_ASSERT_TRUE(run_hours_have_news(hours));
    fill();
    int64_t number = note.number;
    CU_ASSERT(note.n == 0 && note.ntallies == 2);
    CU_ASSERT_EQUAL(tallied("missed_slot", "", ""), 1);
    CU_ASSERT_EQUAL(tallied("store_error", "lost", ""), 1);
    run_hours_noted(hours, false);
    run_hours_store_failed(hours, &late);
    fill();
    CU_ASSERT(note.number == number && note.ntallies == 2);
    run_hours_noted(hours, true);
    fill();
    CU_ASSERT(note.number == number + 1 && note.ntallies == 1);
    CU_ASSERT_EQUAL(tallied("store_error", "late", ""), 1);
    run_hours_noted(hours, true);
    CU_ASSERT_FALSE(run_hours_have_news(hours));
    end();
}

static void more_names_than_there_is_room_for_are_one(void)
{
    enum { MORE = STORE_TALLIES_MAX + 50 };
    char key[40];
    int64_t all = 0;
    begin();
    for (int i = 0; i < MORE; i++) {
        snprintf(key, sizeof key, "listener%d/1", i);
        settled("prescient.event", key, OUTCOME_DEFERRED_OUT, false, true);
    }
    fill();
    CU_ASSERT(note.ntallies <= STORE_TALLIES_MAX);
    for (int i = 0; i < note.ntallies; i++)
        all += strcmp(note.tallies[i].what, "delivery") ? 0 : note.tallies[i].n;
    CU_ASSERT_EQUAL(all, MORE);
    CU_ASSERT(tallied("delivery", "", "deferred_out") > 0);
    end();
}

static void it_is_due_a_minute_after_the_first_look_or_the_last_call(void)
{
    begin();
    CU_ASSERT_FALSE(run_hours_are_due(hours, 1));
    count("orders", OUTCOME_DONE, 0, 1);
    CU_ASSERT_FALSE(run_hours_are_due(hours, INT64_C(60) * S));
    CU_ASSERT_TRUE(run_hours_are_due(hours, INT64_C(60) * S + 1));
    fill();
    CU_ASSERT_FALSE(run_hours_are_due(hours, INT64_C(200) * S));        /* it is under way */
    run_hours_noted(hours, true);
    count("orders", OUTCOME_DONE, 1, 1);
    CU_ASSERT_FALSE(run_hours_are_due(hours, INT64_C(200) * S));
    CU_ASSERT_TRUE(run_hours_are_due(hours, INT64_C(260) * S));
    end();
}

static void many_entities(int hour)
{
    char name[20];
    for (int i = 0; i < RUN_HOURS_TENANTS * 3 / 4; i++) {
        snprintf(name, sizeof name, "tenant%d", i);
        count(name, OUTCOME_DONE, hour * HOUR, 1);
    }
}

static void write_all(void)
{
    while (run_hours_have_news(hours))
        CU_ASSERT_FATAL(written(true) > 0);
}

/* A replay has many hours in a minute. */
static void it_is_due_at_once_when_writing_makes_room(void)
{
    begin();
    CU_ASSERT_FALSE(run_hours_are_due(hours, 1));
    many_entities(0);
    CU_ASSERT_FALSE(run_hours_are_due(hours, 2));
    count("orders", OUTCOME_DONE, 3 * HOUR, 1);
    CU_ASSERT_TRUE(run_hours_are_due(hours, 3));
    write_all();
    CU_ASSERT_FALSE(run_hours_are_due(hours, 4));
    end();
}

/* Also not when a write has just failed: it would be tried again without end. */
static void many_entities_are_written_once_a_minute(void)
{
    begin();
    CU_ASSERT_FALSE(run_hours_are_due(hours, 1));
    many_entities(0);
    write_all();
    count("tenant1", OUTCOME_DONE, 1, 1);
    CU_ASSERT_FALSE(run_hours_are_due(hours, 2));
    count("orders", OUTCOME_DONE, 3 * HOUR, 1);
    CU_ASSERT_TRUE(run_hours_are_due(hours, 3));
    CU_ASSERT_TRUE(written(false) > 0);
    CU_ASSERT_FALSE(run_hours_are_due(hours, 4));
    CU_ASSERT_TRUE(run_hours_are_due(hours, 4 + INT64_C(60) * S));
    end();
}

static const struct test tests[] = {
    TEST(runs_of_all_entities_and_hours_are_one_tally),
    TEST(how_late_runs_were_together_has_an_end),
    TEST(what_ends_is_tallied_whether_it_ran_or_not),
    TEST(deliveries_that_end_are_tallied_by_listener),
    TEST(slots_and_errors_alone_are_a_note_that_is_sent_again_as_it_was),
    TEST(more_names_than_there_is_room_for_are_one),
    TEST(runs_of_an_hour_are_one_row),
    TEST(each_entity_outcome_and_hour_has_its_own),
    TEST(so_has_each_tenant),
    TEST(of_a_page_what_was_written_counts_for_its_group),
    TEST(what_has_not_run_counts_for_nothing),
    TEST(a_note_has_what_is_new_since_the_last_one),
    TEST(a_note_that_failed_is_sent_again_as_it_was),
    TEST(what_comes_in_during_the_call_is_news),
    TEST(a_run_that_took_hours_counts_for_the_hour_in_which_it_began),
    TEST(a_clock_that_was_set_back_counts_on),
    TEST(entities_of_an_hour_keep_their_room),
    TEST(entities_beyond_a_thousand_are_one),
    TEST(a_tenant_whose_name_is_too_long_beside_others_is_left_out),
    TEST(tenants_for_which_there_is_no_room_count_for_their_entity),
    TEST(it_is_due_a_minute_after_the_first_look_or_the_last_call),
    TEST(it_is_due_at_once_when_writing_makes_room),
    TEST(many_entities_are_written_once_a_minute),
    { NULL, NULL },
};

const struct suite suite_run_hours = { .name = "run_hours", .tests = tests };
