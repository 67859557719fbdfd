/* test_store_pg_generations.c - a database that goes on in another history: restored elsewhere,
 * promoted, copied without its sequences. Its transaction ids mean nothing, or something else,
 * from there on. */
#include "test.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_fixture.h"

static const char *cell_of(const struct store_rows *rows, int row, const char *column)
{
    for (int c = 0; c < rows->columns; c++)
        if (!strcmp(rows->names[c], column))
            return rows->cells[row * rows->columns + c] ? rows->cells[row * rows->columns + c] : "";
    return "no such column";
}

/* ---- slots that wait for a transaction that nobody here knows -------------------------------- */

/* An empty slot, opened: it waits for its second look. */
static void open_an_empty_slot(void)
{
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT_EQUAL(o.state, SLOT_RELOOK);
}

static void an_id_of_a_larger_cluster_keeps_no_slot_open(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    open_an_empty_slot();
    SQL_IS("", "UPDATE prescient.slot_pass SET seen_xid = 1000000000");
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
}

static void a_slot_that_such_an_id_kept_open_is_looked_at_before_it_is_closed(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    open_an_empty_slot();
    SQL_IS("", "UPDATE prescient.slot_pass SET seen_xid = 1000000000");
    pgfx_put_checks(1);
    struct store_relook l = pgfx_relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].has_rows);
}

/* Beside it an id that means something here, of a transaction that runs: this one is waited for. */
static void an_id_of_our_own_beside_it_is_waited_for(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    open_an_empty_slot();
    SQL_IS("", "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, seen_xid) SELECT slot_at, -1, 1, "
               "1000000000 FROM prescient.slot_pass");
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 0);
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
}

/* One that was prepared on the old primary is there on the new one, under its id: it may still be
 * committed, and files a check then. */
static void what_is_prepared_is_waited_for_and_told(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    struct arena *a = arena_new(4096);
    if (atoi(pgfx_cell(pgfx.app, "SHOW max_prepared_transactions")) == 0) {
        arena_free(a);
        return;
    }
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    PQclear(pgfx_ask(pgfx.other, "SELECT pg_current_xact_id()"));
    CELL_IS(pgfx.other, "", "PREPARE TRANSACTION 'test_generations'");
    open_an_empty_slot();
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 0);
    struct store_report r = pgfx_report(a, "status", 0, NULL);
    CU_ASSERT_STRING_EQUAL("1", cell_of(&r.rows, 0, "prepared_transactions"));
    CU_ASSERT(atoi(cell_of(&r.rows, 0, "transactions_since")) >= 1);
    PQclear(pgfx_ask(pgfx.other, "ROLLBACK PREPARED 'test_generations'"));
    CU_ASSERT_EQUAL(pgfx_relook(slots).closed, 1);
    arena_free(a);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* This server's own history again, of which generation 0 is the first. */
static const char *doctor_says(const char *what);

static bool begin_here(void)
{
    if (!pgfx_begin())
        return false;
    SQL_IS("", "DELETE FROM prescient.generation; INSERT INTO prescient.generation SELECT 0, h.* FROM "
               "prescient.server_identity() h");
    return true;
}
#define WITH_HISTORY() if (!begin_here()) return

/* From here on the database is another server's: what it holds was written elsewhere. */
static void go_elsewhere(void)
{
    SQL_IS("", "UPDATE prescient.generation SET system_identifier = system_identifier + 1");
}

/* A start of this server later: restarted, or a copy of its files was put back. */
static void start_anew(void)
{
    SQL_IS("", "UPDATE prescient.generation SET started_at = started_at - interval '1 hour'");
}

static void write_event(PGconn *conn, const char *name)
{
    CELL_IS(conn, "",
            "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) VALUES "
            "(now(), '%s', 'e', '1', 'j')",
            name);
}

/* An autovacuum somewhere on the server may have an id, and what is newer waits for it. */
static void wait_for_all_that_runs(void)
{
    for (int i = 0; i < 1000; i++) {
        if (!strcmp(
                pgfx_cell(pgfx.app,
                          "SELECT pg_snapshot_xmin(s) = pg_snapshot_xmax(s) FROM pg_current_snapshot() s"),
                "t"))
            return;
        poll(NULL, 0, 10);
    }
    CU_FAIL("a transaction is open all the time");
}

/* Events behind a cursor, in order: "one two"; "refused". `cursor` becomes that of the last one. */
static const char *read_on(char cursor[64])
{
    static char names[200];
    char generation[24], xid[24], id[24];
    struct arena *a = arena_new(4096);
    CU_ASSERT_EQUAL_FATAL(sscanf(cursor, "%23[0-9]-%23[0-9]-%23[0-9]", generation, xid, id), 3);
    wait_for_all_that_runs();
    struct store_report r = pgfx_report(a, "events", 4, (const char *[]){ generation, xid, id, NULL });
    snprintf(names, sizeof names, "%s", r.call.rc == ERR_INPUT ? "refused" : "");
    for (int row = 0; r.call.rc == 0 && row < r.rows.rows; row++) {
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", row ? " " : "",
                 cell_of(&r.rows, row, "event"));
        snprintf(cursor, 64, "%s", cell_of(&r.rows, row, "cursor"));
    }
    arena_free(a);
    return names;
}
#define READS(expected, cursor)                                                                              \
    do {                                                                                                     \
        const char *n_ = read_on(cursor);                                                                    \
        if (strcmp(n_, expected) != 0)                                                                       \
            printf("      line %d: '%s', expected '%s'\n", __LINE__, n_, expected);                          \
        CU_ASSERT_STRING_EQUAL(n_, expected);                                                                \
    } while (0)

static void what_is_written_in_another_history_comes_behind_all_before(void)
{
    WITH_HISTORY();
    char cursor[64] = "0-0-0";
    write_event(pgfx.app, "one");
    /* of a cluster that had counted so far */
    SQL_IS("", "UPDATE prescient.event SET xid = '1000000000'");
    go_elsewhere();
    /* it is history, and may be read, although this server does not know its id */
    READS("one", cursor);
    CU_ASSERT_STRING_EQUAL(cursor, "0-1000000000-1");
    SQL_IS("1", "SELECT count(*) FROM prescient.generation");           /* who reads writes nothing */
    write_event(pgfx.app, "two");
    write_event(pgfx.app, "three");
    READS("two three", cursor);
    SQL_IS("2", "SELECT count(*) FROM prescient.generation");
    write_event(pgfx.app, "four");
    READS("four", cursor);
    READS("", cursor);
}

static void of_two_histories_of_one_backup_the_later_has_the_greater_number(void)
{
    WITH_HISTORY();
    go_elsewhere();
    write_event(pgfx.app, "lost");
    char cursor[64] = "0-0-0";
    READS("lost", cursor);
    SQL_IS("", "DELETE FROM prescient.event; UPDATE prescient.generation SET generation = generation - 5 "
               "WHERE generation > 0 RETURNING ''");
    char was[64];
    snprintf(
        was, sizeof was, "%s",
        pgfx_cell(
            pgfx.app,
            "DELETE FROM prescient.generation WHERE generation > 0 RETURNING generation || '-1000000000-7'"));
    write_event(pgfx.app, "kept");
    /* of a generation that is not here: it lies before what is */
    READS("kept", was);
}

static void a_cursor_that_cannot_be_from_here_is_refused(void)
{
    WITH_HISTORY();
    write_event(pgfx.app, "one");
    char ahead[64] = "0-1000000000-1", never[64] = "99999999999-1-1", soon[64] = "1000-1-1";
    READS("refused", ahead);
    READS("refused", never);
    READS("refused", soon);
    go_elsewhere();
    READS("", ahead);                                   /* whatever comes will come behind it */
    READS("", soon);
    READS("refused", never);
    write_event(pgfx.app, "two");
    READS("two", ahead);
    READS("two", soon);
    READS("refused", never);
}

/* All that was committed before lies before what comes, and nobody has to do anything. */
static void a_mere_restart_neither_skips_nor_refuses_nor_warns(void)
{
    WITH_HISTORY();
    char early[64] = "0-0-0", late[64] = "0-0-0";
    write_event(pgfx.app, "one");
    READS("one", late);
    write_event(pgfx.app, "two");
    start_anew();
    READS("one two", early);                            /* nobody has written yet */
    SQL_IS("", "SELECT prescient.note_history(true)");
    SQL_IS("2", "SELECT count(*) FROM prescient.generation");
    write_event(pgfx.app, "three");
    READS("three", early);
    READS("two three", late);
    CU_ASSERT_PTR_NULL(strstr(doctor_says("generation of events"), "another"));
}

/* Server and timeline are the same, and ids come again. */
static void a_copy_of_files_put_back_skips_nothing(void)
{
    WITH_HISTORY();
    char cursor[64] = "0-0-0";
    write_event(pgfx.app, "one");
    READS("one", cursor);
    /* it has read two more than the copy has, with ids that the copy counts up to */
    SQL_IS("t", "SELECT set_config('test.seen', '0-' || (pg_current_xact_id()::text::bigint + 3) || '-3', "
                "false) <> ''");
    snprintf(cursor, sizeof cursor, "%s", pgfx_cell(pgfx.app, "SELECT current_setting('test.seen')"));
    start_anew();
    for (int i = 0; i < 5; i++)
        write_event(pgfx.app, (const char *[]){ "two", "three", "four", "five", "six" }[i]);
    READS("two three four five six", cursor);
}

/* What no start shows: somebody says so. */
static void who_says_that_it_is_a_copy_is_believed(void)
{
    WITH_HISTORY();
    char cursor[64] = "0-0-0", ahead[64] = "0-1000000000-1";
    write_event(pgfx.app, "one");
    READS("one", cursor);
    READS("refused", ahead);
    SQL_IS("t", "SELECT prescient.note_restored() LIKE 'this is a restored copy: generation %% of events "
                "begins%%'");
    READS("", ahead);
    write_event(pgfx.app, "two");
    READS("two", ahead);
    READS("two", cursor);
}

/* The second would be written under a number that is smaller than one that can be read already. */
static void writers_that_meet_begin_one_generation(void)
{
    WITH_HISTORY();
    go_elsewhere();
    PQclear(pgfx_ask(pgfx.other, "BEGIN"));
    write_event(pgfx.other, "one");
    PQclear(pgfx_ask(pgfx.app, "SET lock_timeout = '100ms'"));
    SQL_IS("55P03", "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) "
                    "VALUES (now(), 'two', 'e', '1', 'j')");
    PQclear(pgfx_ask(pgfx.other, "COMMIT"));
    write_event(pgfx.app, "two");
    PQclear(pgfx_ask(pgfx.app, "RESET lock_timeout"));
    SQL_IS("2", "SELECT count(*) FROM prescient.generation");
    SQL_IS("1", "SELECT count(DISTINCT generation) FROM prescient.event WHERE generation > 0");
}

static void an_answers_event_is_of_the_generation_that_is(void)
{
    WITH_HISTORY();
    struct pgfx_run run;
    char cursor[64] = "0-1000000000-1";
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "seen" };
    pgfx_run_init(&run, 1);
    run.s[0].effects = &effect;
    run.s[0].neffects = 1;
    /* a pooler turns to another server between the read and the settle */
    go_elsewhere();
    struct store_settle settle = pgfx_run_settle(&run);
    RC_IS(0, pgfx_call(&settle.call));
    READS("seen", cursor);
    check_rows_free(&run.page);
}

/* The rows of the events alone came from elsewhere, by a copy of data into a schema that init had
 * made. */
static void events_copied_into_a_fresh_schema_are_noticed(void)
{
    WITH_HISTORY();
    char cursor[64] = "0-1000000000-999999";
    write_event(pgfx.app, "one");
    SQL_IS("", "UPDATE prescient.event SET xid = '1000000000'");
    SQL_IS("1", "SELECT (prescient.note_history(false) LIKE '%%another history%%generation %%')::int");
    SQL_IS("", "SELECT prescient.note_history(false)");
    write_event(pgfx.app, "two");
    READS("two", cursor);
    snprintf(cursor, sizeof cursor, "0-0-0");
    READS("one two", cursor);
}

/* So did those of a generation that nobody has noted here: a consumer that had read them was
 * refused for good, and any other was never shown them. */
static void events_of_a_generation_that_nobody_noted_are_noticed(void)
{
    WITH_HISTORY();
    char cursor[64] = "0-0-0";
    write_event(pgfx.app, "one");
    SQL_IS("", "UPDATE prescient.event SET generation = 99999999999, xid = '1000'");
    READS("", cursor);
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "warn: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "events from the future"));
    SQL_IS(
        "1",
        "SELECT (prescient.note_history(false) LIKE '%%another history%%generation 100000000000 %%')::int");
    SQL_IS("", "SELECT prescient.note_history(false)");
    write_event(pgfx.app, "two");
    READS("one two", cursor);
    snprintf(cursor, sizeof cursor, "99999999999-1000-999999");
    READS("two", cursor);
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "ok: 100000000000"));
}

/* ---- sequences that were left behind --------------------------------------------------------- */

static void sequences_behind_what_is_in_use_are_moved_up_and_never_down(void)
{
    WITH_HISTORY();
    pgfx_put_checks(40);
    struct lease lease = pgfx_take();
    (void)lease;
    write_event(pgfx.app, "one");
    SQL_IS("", "UPDATE prescient.future_job SET id = id + 100000; UPDATE prescient.slot_lease SET token = "
               "500000; UPDATE prescient.event SET id = 700000");
    for (int thorough = 0; thorough <= 1; thorough++) {
        SQL_IS("1", "SELECT setval('prescient.future_job_id_seq', 1, false) + 0 * "
                    "setval('prescient.slot_lease_token_seq', 3) + 0 * setval('prescient.event_id_seq', 1)");
        SQL_IS("3", "SELECT count(*) FROM prescient.sequences_behind(%d::boolean)", thorough);
        SQL_IS("t",
               "SELECT prescient.note_history(%d::boolean) ~ 'future_job_id_seq moved.*slot_lease_token_seq "
               "moved.*event_id_seq moved'",
               thorough);
        SQL_IS("t",
               "SELECT nextval('prescient.future_job_id_seq') > (SELECT max(id) FROM prescient.future_job)");
        SQL_IS("t", "SELECT nextval('prescient.slot_lease_token_seq') > 500000 AND "
                    "nextval('prescient.event_id_seq') > 700000");
        SQL_IS("", "SELECT prescient.note_history(%d::boolean)", thorough);
    }
    SQL_IS("t", "SELECT nextval('prescient.future_job_id_seq') < (1::bigint << 44)");
    SQL_IS("1", "SELECT setval('prescient.future_job_id_seq', 1, false) + 0 * "
                "setval('prescient.slot_lease_token_seq', 1) + 0 * setval('prescient.event_id_seq', 1)");
}

/* "level: found" of one of doctor's looks. */
static const char *doctor_cell(const char *what, const char *column)
{
    static char words[600];
    struct arena *a = arena_new(4096);
    struct store_report r = pgfx_report(a, "doctor", 0, NULL);
    RC_IS(0, r.call.rc);
    snprintf(words, sizeof words, "no such look");
    for (int row = 0; row < r.rows.rows; row++)
        if (!strcmp(cell_of(&r.rows, row, "what"), what))
            snprintf(words, sizeof words, "%s", cell_of(&r.rows, row, column));
    arena_free(a);
    return words;
}

static const char *doctor_says(const char *what)
{
    static char words[700];
    snprintf(words, sizeof words, "%s: ", doctor_cell(what, "level"));
    size_t used = strlen(words);
    snprintf(words + used, sizeof words - used, "%s", doctor_cell(what, "found"));
    return words;
}

static void doctor_names_the_generation_and_what_is_wrong_with_it(void)
{
    WITH_HISTORY();
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "ok: 0, since "));
    CU_ASSERT_STRING_EQUAL(doctor_says("sequences"), "ok: ahead of what is in use");
    write_event(pgfx.app, "one");
    SQL_IS("", "UPDATE prescient.event SET xid = '1000000000', id = 900000");
    pgfx_put_checks(5);
    SQL_IS("", "UPDATE prescient.future_job SET id = id + 1000000");
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "events from the future"));
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "warn: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("sequences"), "error: future_job_id_seq has come to "));
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("sequences"), "event_id_seq has come to "));
    go_elsewhere();
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "ok: 0, since "));
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "the next event begins another"));
    CU_ASSERT_STRING_NOT_EQUAL(pgfx_cell(pgfx.app, "SELECT prescient.note_history(true)"), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says("generation of events"), "ok: "));
    CU_ASSERT_PTR_NULL(strstr(doctor_says("generation of events"), "another"));
    CU_ASSERT_STRING_EQUAL(doctor_says("sequences"), "ok: ahead of what is in use");
}

/* The line that doctor prints behind a warning makes it well again. */
static void doctor_says_how_an_index_that_was_dropped_is_built(void)
{
    WITH_HISTORY();
    static const struct { const char *what, *well, *wrong, *index; } cases[] = {
        { "ids in one slot", "ok: kept apart", "warn: not kept apart", "future_job_slot" },
        { "index of checks put off", "ok: built", "warn: not there", "future_job_put_off" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_STRING_EQUAL(doctor_says(cases[i].what), cases[i].well);
        SQL_IS("", "DROP INDEX prescient.%s", cases[i].index);
        CU_ASSERT_PTR_NOT_NULL(strstr(doctor_says(cases[i].what), cases[i].wrong));
        char build[600];
        snprintf(build, sizeof build, "%s", strstr(doctor_cell(cases[i].what, "advice"), "CREATE "));
        SQL_IS("", "%s", build);
        CU_ASSERT_STRING_EQUAL(doctor_says(cases[i].what), cases[i].well);
    }
}

static void an_engine_notes_it_and_is_told(void)
{
    WITH_HISTORY();
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 3;
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_STRING_EQUAL(days.noted, "");
    go_elsewhere();
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_PTR_NOT_NULL(strstr(days.noted, "another history"));
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_STRING_EQUAL(days.noted, "");
}

/* Days are made whatever is found beside them: without them nothing runs. */
static void what_cannot_be_noted_keeps_no_day_from_being_made(void)
{
    WITH_HISTORY();
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 3;
    pgfx_put_checks(1);
    SQL_IS("", "UPDATE prescient.future_job SET id = 9223372036854775000");
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_STRING_EQUAL(days.noted, "");                     /* nothing lies above it to move to */
    SQL_IS("", "DELETE FROM prescient.future_job");
    SQL_IS("", "ALTER SEQUENCE prescient.event_id_seq RENAME TO away");
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_PTR_NOT_NULL(strstr(days.noted, "could not be noted"));
    SQL_IS("", "ALTER SEQUENCE prescient.away RENAME TO event_id_seq");
    RC_IS(0, pgfx_call(&days.call));
    CU_ASSERT_STRING_EQUAL(days.noted, "");
}

static const struct test tests[] = {
    TEST(an_id_of_a_larger_cluster_keeps_no_slot_open),
    TEST(a_slot_that_such_an_id_kept_open_is_looked_at_before_it_is_closed),
    TEST(an_id_of_our_own_beside_it_is_waited_for),
    TEST(what_is_prepared_is_waited_for_and_told),
    TEST(what_is_written_in_another_history_comes_behind_all_before),
    TEST(of_two_histories_of_one_backup_the_later_has_the_greater_number),
    TEST(a_cursor_that_cannot_be_from_here_is_refused),
    TEST(a_mere_restart_neither_skips_nor_refuses_nor_warns),
    TEST(a_copy_of_files_put_back_skips_nothing),
    TEST(who_says_that_it_is_a_copy_is_believed),
    TEST(writers_that_meet_begin_one_generation),
    TEST(an_answers_event_is_of_the_generation_that_is),
    TEST(events_copied_into_a_fresh_schema_are_noticed),
    TEST(events_of_a_generation_that_nobody_noted_are_noticed),
    TEST(what_cannot_be_noted_keeps_no_day_from_being_made),
    TEST(sequences_behind_what_is_in_use_are_moved_up_and_never_down),
    TEST(an_engine_notes_it_and_is_told),
    TEST(doctor_names_the_generation_and_what_is_wrong_with_it),
    TEST(doctor_says_how_an_index_that_was_dropped_is_built),
    { NULL, NULL },
};

const struct suite suite_store_pg_generations = { "store_pg_generations", pgfx_setup, pgfx_teardown, tests };
