/* test_store_pg_withheld.c - events wait for the oldest writing transaction of the cluster, in any
 * database: how many wait is told, for whom, and what ends that. */
#include <stdlib.h>

#include "pg_roles_fixture.h"

struct withheld { struct arena *a; const char *n, *by, *us, *advice; };

static const char *cell_of(const struct store_rows *rows, const char *column)
{
    for (int c = 0; c < rows->columns; c++)
        if (!strcmp(rows->names[c], column))
            return rows->cells[c];
    return "no such column";
}

/* What the report says; `name` is "withheld" or "status". The caller frees the arena. */
static struct withheld ask(const char *name)
{
    struct withheld w = { .a = arena_new(8192) };
    struct store_report r = pgfx_report(w.a, name, 0, NULL);
    RC_IS(0, r.call.rc);
    CU_ASSERT_EQUAL_FATAL(r.rows.rows, 1);
    w.n = cell_of(&r.rows, "events_withheld");
    w.by = cell_of(&r.rows, "withheld_by");
    w.us = cell_of(&r.rows, "withheld_us");
    w.advice = cell_of(&r.rows, "withheld_advice");
    return w;
}

#define IS_TEXT(expected, found)                                                                             \
    do {                                                                                                     \
        const char *f_ = (found) ? (found) : "NULL";                                                         \
        if (strcmp(f_, expected) != 0)                                                                       \
            printf("      line %d: '%s', expected '%s'\n", __LINE__, f_, expected);                          \
        CU_ASSERT_STRING_EQUAL(f_, expected);                                                                \
    } while (0)

static void write_events(int n)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) "
                     "SELECT now(), 'late', 'e', i::text, 'j' FROM generate_series(1, %d) i",
                     n));
}

/* Once more until no transaction of somebody else, such as an autovacuum, is in the way. */
static struct withheld ask_until(const char *name, const char *n)
{
    for (int i = 0; ; i++) {
        struct withheld w = ask(name);
        if (i == 500 || (w.n && !strcmp(w.n, n)))
            return w;
        arena_free(w.a);
        pgfx_cell(pgfx.app, "SELECT pg_sleep(0.02)");
    }
}

static void none_are_withheld_when_nothing_runs(void)
{
    WITH_SERVER();
    write_events(2);
    struct withheld w = ask_until("withheld", "0");
    IS_TEXT("0", w.n);
    IS_TEXT("NULL", w.by);
    IS_TEXT("NULL", w.us);
    IS_TEXT("NULL", w.advice);
    arena_free(w.a);
}

/* Another database of the cluster has nothing to do with ours, but its transactions count. */
static void a_transaction_in_another_database_is_named(void)
{
    WITH_SERVER();
    char by[200], advice[200];
    PGconn *elsewhere = PQconnectdb(test_pg_url());
    arena_free(ask_until("withheld", "0").a);
    CELL_IS(elsewhere, "", "BEGIN");
    pgfx_cell(elsewhere, "SELECT pg_current_xact_id()");
    snprintf(by, sizeof by, "process %d of database %s (idle in transaction)", PQbackendPID(elsewhere),
             PQdb(elsewhere));
    snprintf(advice, sizeof advice, "SELECT pg_terminate_backend(%d) ends it", PQbackendPID(elsewhere));
    struct withheld w = ask("withheld");            /* it writes, but withholds nothing yet */
    IS_TEXT("0", w.n);
    IS_TEXT("NULL", w.by);
    arena_free(w.a);
    write_events(2);
    static const char *const reports[] = { "withheld", "status" };
    for (int i = 0; i < 2; i++) {
        w = ask(reports[i]);
        IS_TEXT("2", w.n);
        IS_TEXT(by, w.by);
        IS_TEXT(advice, w.advice);
        CU_ASSERT(w.us && atoll(w.us) > 0 && atoll(w.us) < INT64_C(600000000));
        arena_free(w.a);
    }
    PQfinish(elsewhere);
    arena_free(ask_until("withheld", "0").a);
}

/* A reader, however old its snapshot, withholds nothing. */
static void a_transaction_that_only_reads_withholds_nothing(void)
{
    WITH_SERVER();
    CELL_IS(pgfx.other, "", "BEGIN ISOLATION LEVEL REPEATABLE READ");
    CELL_IS(pgfx.other, "1", "SELECT 1");
    write_events(2);
    struct withheld w = ask_until("withheld", "0");
    IS_TEXT("0", w.n);
    arena_free(w.a);
    CELL_IS(pgfx.other, "", "ROLLBACK");
}

static void what_is_not_committed_is_not_counted_and_many_are_counted_to_a_thousand(void)
{
    WITH_SERVER();
    arena_free(ask_until("withheld", "0").a);
    CELL_IS(pgfx.other, "", "BEGIN");
    CELL_IS(pgfx.other, "", "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, "
                            "job_exec) VALUES (now(), 'late', 'e', '1', 'j')");
    struct withheld w = ask("withheld");
    IS_TEXT("0", w.n);
    arena_free(w.a);
    write_events(1500);
    w = ask("withheld");
    IS_TEXT("1000", w.n);
    arena_free(w.a);
    CELL_IS(pgfx.other, "", "ROLLBACK");
}

static void a_prepared_transaction_is_named(void)
{
    WITH_SERVER();
    if (atoi(pgfx_cell(pgfx.app, "SHOW max_prepared_transactions")) == 0)
        return;
    arena_free(ask_until("withheld", "0").a);
    CELL_IS(pgfx.other, "", "BEGIN");
    pgfx_cell(pgfx.other, "SELECT pg_current_xact_id()");
    CELL_IS(pgfx.other, "", "PREPARE TRANSACTION 'it''s mine'");
    write_events(1);
    struct withheld w = ask("withheld");
    char by[200];
    snprintf(by, sizeof by, "the prepared transaction 'it''s mine' of database %s", PQdb(pgfx.app));
    IS_TEXT("1", w.n);
    IS_TEXT(by, w.by);
    IS_TEXT("COMMIT PREPARED 'it''s mine' or ROLLBACK PREPARED 'it''s mine', in that database, ends it",
            w.advice);
    arena_free(w.a);
    CELL_IS(pgfx.app, "", "ROLLBACK PREPARED 'it''s mine'");
}

/* Rows of events that were copied from a larger cluster wait for no transaction: doctor reports
 * them. */
static void events_from_the_future_are_not_counted(void)
{
    WITH_SERVER();
    arena_free(ask_until("withheld", "0").a);
    write_events(1);
    SQL_IS("", "UPDATE prescient.event SET xid = '100000000000'");
    CELL_IS(pgfx.other, "", "BEGIN");
    pgfx_cell(pgfx.other, "SELECT pg_current_xact_id()");
    struct withheld w = ask("withheld");
    IS_TEXT("0", w.n);
    arena_free(w.a);
    CELL_IS(pgfx.other, "", "ROLLBACK");
}

/* An engine's role sees whose transaction it is, not what it does nor since when. */
static void a_role_that_may_not_see_all_is_told_what_it_may(void)
{
    WITH_ROLES();
    struct store *own = pgfx.st;
    struct store_options options = { .url = pg_roles.runner_url };
    pgfx.st = pgfx_new_store(&options);
    arena_free(ask_until("withheld", "0").a);
    CELL_IS(pgfx.other, "", "BEGIN");
    pgfx_cell(pgfx.other, "SELECT pg_current_xact_id()");
    write_events(1);
    char by[200];
    snprintf(by, sizeof by, "process %d of database %s", PQbackendPID(pgfx.other), PQdb(pgfx.app));
    struct withheld w = ask("withheld");
    IS_TEXT("1", w.n);
    IS_TEXT(by, w.by);
    IS_TEXT("NULL", w.us);
    arena_free(w.a);
    store_free(pgfx.st);
    pgfx.st = own;
    CELL_IS(pgfx.other, "", "ROLLBACK");
}

static const struct test tests[] = {
    TEST(none_are_withheld_when_nothing_runs),
    TEST(a_transaction_in_another_database_is_named),
    TEST(a_transaction_that_only_reads_withholds_nothing),
    TEST(what_is_not_committed_is_not_counted_and_many_are_counted_to_a_thousand),
    TEST(a_prepared_transaction_is_named),
    TEST(events_from_the_future_are_not_counted),
    TEST(a_role_that_may_not_see_all_is_told_what_it_may),
    { NULL, NULL },
};
const struct suite suite_store_pg_withheld = {
    .name = "store_pg_withheld", .setup = pg_roles_setup, .teardown = pg_roles_teardown, .tests = tests
};
