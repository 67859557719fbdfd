/* test_plans.c - what the hot statements cost does not depend on how much else there is: their
 * plans, with statistics and without. PRESCIENT_TEST_ROWS says among how many checks (5,000);
 * tests/t_plans.sh asks with more. */
#include "pg_fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "../engine/store/embedded_sql.h"
#include "../engine/store/store_pg.h"
#include "../engine/store/store_pg_wire.h"
#include "../engine/store/store_sqlite_db.h"

static int rows_beside(void)
{
    const char *rows = getenv("PRESCIENT_TEST_ROWS");
    return rows ? atoi(rows) : 5000;
}

/* ---- PostgreSQL ---- */

/* A hot statement in one of its forms, and the part of the index that it must keep to. */
static const struct { int statement; unsigned forms; const char *cond;
} hot[] = {
    { PG_READ_PAGE, PG_FORM_PLAIN,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (ROW(priority, id) > ROW(:priority, :id))" },
    { PG_READ_PAGE, PG_FORM_SLOT,
      "(next_check_at = :slot) AND (ROW(bucket, priority, id) > ROW(:bucket, :priority, :id))" },
    { PG_SETTLE_END, PG_FORM_PLAIN,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_SETTLE_MOVE, PG_FORM_PLAIN,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_SETTLE_END, PG_FORM_SLOT,
      "(next_check_at = :slot) AND (bucket >= :first) AND (bucket <= :last) AND (priority = :priority)" },
    { PG_SETTLE_END, PG_FORM_MIXED,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority >= :first) AND (priority <= :last) AND "
      "(id >= :first_id)" },
    { PG_SETTLE_MOVE, PG_FORM_MIXED,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority >= :first) AND (priority <= :last)" },
    { PG_SETTLE_END, PG_FORM_SLOT | PG_FORM_MIXED,
      "(next_check_at = :slot) AND (bucket >= :first) AND (bucket <= :last) AND (id >= :first_id)" },
    { PG_SETTLE_END, PG_FORM_SKIP | PG_FORM_MIXED,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority >= :first) AND (priority <= :last)" },
    { PG_SETTLE_END, PG_FORM_SKIP,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_SETTLE_MOVE, PG_FORM_FINE,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_SETTLE_MOVE, PG_FORM_SLOT | PG_FORM_FINE,
      "(next_check_at = :slot) AND (bucket >= :first) AND (bucket <= :last) AND (priority = :priority)" },
    { PG_SETTLE_RENEW, PG_FORM_PLAIN,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_SETTLE_RENEW, PG_FORM_FINE,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_SETTLE_RENEW, PG_FORM_SLOT,
      "(next_check_at = :slot) AND (bucket >= :first) AND (bucket <= :last) AND (priority = :priority)" },
    { PG_SETTLE_RENEW, PG_FORM_MIXED,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority >= :first) AND (priority <= :last)" },
    { PG_SETTLE_RENEW, PG_FORM_SKIP,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (priority = :priority) AND (id >= :first_id)" },
    { PG_FINISH, PG_FORM_PLAIN,
      "(next_check_at = :slot) AND (bucket = :bucket) AND (ROW(priority, id) > ROW(:after_priority, "
      ":after_id))" },
    { PG_FINISH, PG_FORM_SLOT,
      "(next_check_at = :slot) AND (ROW(bucket, priority, id) > ROW(:after_bucket, :after_priority, "
      ":after_id))" },
};

static int place_of(const struct sql_statement *s, const char *name, size_t length)
{
    for (int i = 0; i < s->nin; i++)
        if (strlen(s->in[i].name) == length && strncmp(s->in[i].name, name, length) == 0)
            return i + 1;
    return 0;
}

/* With $3 in place of :name, as a plan has it. */
static void number_names(const struct sql_statement *s, const char *cond, char *out, size_t size)
{
    size_t used = 0;
    while (*cond && used + 8 < size) {
        size_t length = *cond == ':' ? strspn(cond + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
        if (length == 0) {
            out[used++] = *cond++;
            continue;
        }
        used += (size_t)sprintf(out + used, "$%d", place_of(s, cond + 1, length));
        cond += 1 + length;
    }
    out[used] = '\0';
}

/* A column of a domain is compared as its base type, which costs nothing. */
static void leave_out_casts(char *plan)
{
    static const char cast[] = "(bucket)::smallint", column[] = "bucket";
    size_t length = strlen(cast), kept = strlen(column);
    for (char *at = strstr(plan, cast); at; at = strstr(at, cast)) {
        memcpy(at, column, kept);
        memmove(at + kept, at + length, strlen(at + length) + 1);
    }
}

/* A generic plan knows no values: they are all NULL. */
static void plan_of(int statement, char *plan, size_t size)
{
    const struct sql_statement *s = &pg_statements[statement];
    Oid types[WIRE_PARAMS_MAX];
    char nulls[6 * WIRE_PARAMS_MAX] = "";
    for (int i = 0; i < s->nin; i++) {
        types[i] = wire_type(s->in[i].type);
        strcat(nulls, i ? ", NULL" : "NULL");
    }
    PQclear(pgfx_ask(pgfx.app, "SET plan_cache_mode = force_generic_plan"));
    PQclear(PQprepare(pgfx.app, "planned", pg_sql(pg_store(pgfx.st), statement), s->nin, types));
    PGresult *r = pgfx_ask(pgfx.app, "EXPLAIN (COSTS off) EXECUTE planned(%s)", nulls);
    *plan = '\0';
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        printf("      %s\n", PQerrorMessage(pgfx.app));
    for (int i = 0; i < PQntuples(r); i++)
        snprintf(plan + strlen(plan), size - strlen(plan), "%s\n", PQgetvalue(r, i, 0));
    PQclear(r);
    leave_out_casts(plan);
    PQclear(pgfx_ask(pgfx.app, "DEALLOCATE planned; RESET plan_cache_mode"));
}

/* Of the table, or by a function that hides it. */
static bool has_scan(const char *plan)
{
    return strstr(plan, "Seq Scan on future_job") || strstr(plan, "Function Scan on ");
}

static void plans_hold(void)
{
    char plan[20000], cond[256];
    for (size_t i = 0; i < sizeof hot / sizeof *hot; i++) {
        const struct sql_statement *s = &pg_statements[hot[i].statement];
        int statement = hot[i].statement + sql_form(s, hot[i].forms);
        number_names(s, hot[i].cond, cond, sizeof cond);
        plan_of(statement, plan, sizeof plan);
        bool has_cond = strstr(plan, cond), scans = has_scan(plan),
             sorts = hot[i].statement == PG_READ_PAGE && strstr(plan, "Sort");
        if (!has_cond || scans || sorts)
            printf("      %s wants %s:\n%s\n", pg_statements[statement].name, cond, plan);
        CU_ASSERT_TRUE(has_cond);
        CU_ASSERT_FALSE(scans);
        CU_ASSERT_FALSE(sorts);
    }
}

/* Most in later slots, a fifth of them in SLOT. */
static void put_many(int n)
{
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, "
                     "first_check_at, next_check_at)"
                     " SELECT prescient.bucket_of('e', i::text), 'e', i::text, 'look', at, at"
                     "   FROM generate_series(1, %d) i, LATERAL (SELECT to_timestamp(%" PRId64
                     " + i %% 5 * %d)) t (at)",
                     n, SLOT, LENGTH));
    CU_ASSERT_EQUAL(atoi(pgfx_cell(pgfx.app, "SELECT count(*) FROM prescient.future_job")), n);
}

static void on_postgresql_the_slot_index_serves_without_statistics_and_with(void)
{
    WITH_SERVER();
    put_many(rows_beside());
    plans_hold();
    PQclear(pgfx_ask(pgfx.app, "ANALYZE prescient.future_job"));
    plans_hold();
}

static void on_postgresql_the_slot_index_serves_with_statistics_of_an_empty_table(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "ANALYZE prescient.future_job"));
    put_many(5000);
    plans_hold();
}

/* The number behind the first such word; -1: there is none. */
static double number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at ? atof(at + strlen(word)) : -1;
}

/* After a burst the index has many blocks and few rows, and a look into it is taken for a scan of
 * many. The opening was expected to make thousands of them: on a server with its default settings
 * each call was compiled, which took seconds. */
static void on_postgresql_opening_a_slot_after_a_burst_is_cheap(void)
{
    enum { BURST = 50000, COMPILED_FROM = 100000, BLOCKS_MOST = 400 };
    static const char values[] =
        "'2026-03-01 13:15:00+00', 100, '00000000-0000-0000-0000-000000000001', 'e', 60, 4, true, '{look}', "
        "'1s', '{}', '{}', '{}', '{}', 1, 0, NULL, 0, false, true, 5000, true";
    char plan[40000] = "";
    const struct sql_statement *s = &pg_statements[PG_OPEN_SLOT];
    Oid types[WIRE_PARAMS_MAX];
    WITH_SERVER();
    for (int i = 0; i < s->nin; i++)
        types[i] = wire_type(s->in[i].type);
    put_many(BURST);
    PQclear(pgfx_ask(pgfx.app, "DELETE FROM prescient.future_job WHERE entity_key::int > 12"));
    PQclear(pgfx_ask(pgfx.app, "VACUUM (ANALYZE) prescient.future_job"));
    PQclear(pgfx_ask(pgfx.app, "SET plan_cache_mode = force_generic_plan"));
    PQclear(PQprepare(pgfx.app, "planned", pg_sql(pg_store(pgfx.st), PG_OPEN_SLOT), s->nin, types));
    PGresult *r = pgfx_ask(pgfx.app, "EXPLAIN (ANALYZE, BUFFERS) EXECUTE planned(%s)", values);
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        printf("      %s\n", PQerrorMessage(pgfx.app));
    for (int i = 0; i < PQntuples(r); i++)
        snprintf(plan + strlen(plan), sizeof plan - strlen(plan), "%s\n", PQgetvalue(r, i, 0));
    PQclear(r);
    PQclear(pgfx_ask(pgfx.app, "DEALLOCATE planned; RESET plan_cache_mode"));
    double cost = number_behind(plan, ".."), blocks = number_behind(plan, "Buffers: shared hit=");
    bool is_cheap = cost > 0 && cost < COMPILED_FROM / 4, is_short = blocks > 0 && blocks < BLOCKS_MOST;
    if (!is_cheap || !is_short)
        printf("      cost %g, %g blocks:\n%s\n", cost, blocks, plan);
    CU_ASSERT_TRUE(is_cheap);
    CU_ASSERT_TRUE(is_short);
}

/* The part of its plan that reads events: from `begins` on, up to `ends` (NULL: to its end). */
static void reads_along_keys(enum pg_statement which, const Oid *types, int ntypes, const char *values,
                             const char *begins, const char *ends)
{
    char plan[40000] = "";
    PQclear(PQprepare(pgfx.app, "planned", pg_sql(pg_store(pgfx.st), which), ntypes, types));
    PGresult *r = pgfx_ask(pgfx.app, "EXPLAIN (COSTS off) EXECUTE planned(%s)", values);
    for (int i = 0; i < PQntuples(r); i++)
        snprintf(plan + strlen(plan), sizeof plan - strlen(plan), "%s\n", PQgetvalue(r, i, 0));
    PQclear(r);
    PQclear(pgfx_ask(pgfx.app, "DEALLOCATE planned"));
    char *from = strstr(plan, begins), *to = from && ends ? strstr(from, ends) : NULL;
    if (!from || !to != !ends)
        printf("%s\n", plan);
    CU_ASSERT_FATAL(from && !to == !ends);
    if (to)
        *to = '\0';
    bool merges = strstr(from, "Merge Append"), sorts = strstr(from, "->  Sort\n");
    bool by_key = strstr(from, "Index Cond: ((ROW(generation, xid, id) > ROW(");
    if (!merges || sorts || !by_key)
        printf("%s\n", from);
    CU_ASSERT(merges && by_key && !sorts);
}

/* All events are of one generation, most of the time: statistics say that nothing lies behind a
 * cursor of it. A page of a consumer, or of a digest, is read along the keys of all days at once,
 * and never sorted out of all there is. */
static void on_postgresql_events_are_read_along_their_keys(void)
{
    WITH_SERVER();
    const Oid texts[] = { 25, 25, 25, 25 }, of_digest[] = { 1184, 1184, 20, 23, 25, 25, 1009, 1009 };
    PQclear(pgfx_ask(pgfx.app,
                     "INSERT INTO prescient.event (generation, xid, id, recorded_at, emitted_at, event, "
                     "entity_name, entity_key, job_exec)"
                     " SELECT 0, (3 + i / 10)::text::xid8, i, date_trunc('day', now()) + i %% 3 * interval "
                     "'1 day', now(), 'e', 'e', i::text, 'j' FROM generate_series(1, 20000) i"));
    PQclear(pgfx_ask(pgfx.app, "ANALYZE prescient.event"));
    reads_along_keys(PG_EVENTS, texts, 4, "'0', '1000', '0', '1000'", "", NULL);
    reads_along_keys(PG_DIGEST, of_digest, 8, "now(), NULL, 1, 1, 'j', 'l', '{*}', '{}'", "CTE looked",
                     "CTE heard");
}

/* A function that stays a call costs more than all else that a settle does for a row. */
static void on_postgresql_the_slot_functions_are_part_of_the_statement(void)
{
    WITH_SERVER();
    static const char *const functions[] = { "slot_floor", "slot_ceil", "slot_next", "slot_for" };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *second = strcmp(functions[i], "slot_for") == 0 ? ", f.next_check_at" : "";
        PGresult *r = pgfx_ask(pgfx.app,
                               "EXPLAIN (VERBOSE, COSTS off) SELECT prescient.%s(f.next_check_at%s) "
                               "FROM prescient.future_job f",
                               functions[i], second);
        for (int row = 0; row < PQntuples(r); row++)
            CU_ASSERT_PTR_NULL(strstr(PQgetvalue(r, row, 0), "prescient.slot_"));
        PQclear(r);
        r = pgfx_ask(pgfx.app, "SELECT prescient.%s(NULL%s) IS NULL", functions[i], *second ? ", NULL" : "");
        CU_ASSERT_STRING_EQUAL(PQgetvalue(r, 0, 0), "t");
        PQclear(r);
    }
}

/* ---- SQLite ---- */

/* A statement, and what the plan says of the table of checks. What lies before the last row read
 * is gone by then, so that a read needs not go down to its id. */
static const struct {
    enum sqlite_statement statement;
    const char *line;
} sqlite_hot[] = {
    { STATEMENT_READ_PAGE,
      "prescient_future_job USING INDEX prescient_future_job_slot (next_check_at=? AND bucket=? "
      "AND priority>?)" },
    { STATEMENT_FINISH_LOOK,
      "prescient_future_job USING INDEX prescient_future_job_slot (next_check_at=? AND "
      "bucket=? AND priority>?)" },
    { STATEMENT_SETTLE_LOOK, "f USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_SETTLE_ARCHIVE, "f USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_SETTLE_DELETE, "prescient_future_job USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_SETTLE_MOVE, "prescient_future_job USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_SETTLE_RUN, "f USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_SETTLE_RENEW, "f USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_SETTLE_RENEWED_RUN, "f USING INTEGER PRIMARY KEY (rowid=?)" },
    { STATEMENT_FINE_SLOTS,
      "prescient_future_job USING COVERING INDEX prescient_future_job_slot (next_check_at>? AND "
      "next_check_at<?)" },
    { STATEMENT_LATE_SLOT,
      "prescient_future_job USING COVERING INDEX prescient_future_job_slot (next_check_at>? AND "
      "next_check_at<?)" },
    { STATEMENT_SCHEDULES_GIVE_UP,
      "o USING INDEX prescient_schedule_check (entity_name=? AND entity_key=? AND job_exec=?)" },
    { STATEMENT_SCHEDULES_END_GIVEN_UP,
      "o USING INDEX prescient_schedule_check (entity_name=? AND entity_key=? AND job_exec=?)" },
};

static void sqlite_plan(sqlite3 *db, enum sqlite_statement statement, char *plan, size_t size)
{
    sqlite3_stmt *row = NULL;
    char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sqlite_statements[statement].text);
    *plan = '\0';
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK)
        printf("      %s: %s\n", sqlite_statements[statement].name, sqlite3_errmsg(db));
    while (sqlite3_step(row) == SQLITE_ROW)
        snprintf(plan + strlen(plan), size - strlen(plan), "%s\n", sqlite3_column_text(row, 3));
    sqlite3_finalize(row);
    sqlite3_free(sql);
}

static void sqlite_plans_hold(sqlite3 *db)
{
    char plan[4000];
    for (size_t i = 0; i < sizeof sqlite_hot / sizeof *sqlite_hot; i++) {
        sqlite_plan(db, sqlite_hot[i].statement, plan, sizeof plan);
        bool has_line = strstr(plan, sqlite_hot[i].line),
             has_scan = strstr(plan, "SCAN prescient_future_job") || strstr(plan, "SCAN f\n");
        if (!has_line || has_scan)
            printf("      %s wants %s:\n%s\n", sqlite_statements[sqlite_hot[i].statement].name,
                   sqlite_hot[i].line, plan);
        CU_ASSERT_TRUE(has_line);
        CU_ASSERT_FALSE(has_scan);
    }
}

static bool run_sql(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    printf("      %s\n", sqlite3_errmsg(db));
    return false;
}

static void on_sqlite_the_slot_index_and_the_id_serve(void)
{
    char path[400], url[420], sql[400];
    snprintf(path, sizeof path, "%s/plans.XXXXXX", test_tmp_dir());
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    unlink(path);
    snprintf(url, sizeof url, "sqlite:%s", path);
    struct store *st = NULL;
    struct err err;
    CU_ASSERT_EQUAL_FATAL(
        store_new(&(struct store_options){ .url = url, .statement_timeout_ms = 600000 }, &st, &err), 0);
    CU_ASSERT_FATAL(store_migrate(st, &(struct migrate_options){ 0 }, &err) > 0);
    struct store_hello hello = STORE_HELLO_INIT;
    CU_ASSERT_EQUAL_FATAL(store_do(st, &hello.call), 0);
    sqlite3 *db = ((struct sqlite_store *)st)->db;
    snprintf(
        sql, sizeof sql,
        "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at)"
        " SELECT 'e', i, 'look', %" PRId64 " + i %% 5 * %d, %" PRId64 " + i %% 5 * %d FROM n",
        rows_beside(), SLOT, LENGTH, SLOT, LENGTH);
    CU_ASSERT_TRUE(run_sql(db, sql));
    sqlite_plans_hold(db);
    CU_ASSERT_TRUE(run_sql(db, "ANALYZE"));
    store_free(st);                         /* statistics are read when a connection begins */
    CU_ASSERT_EQUAL_FATAL(store_new(&(struct store_options){ .url = url }, &st, &err), 0);
    hello = (struct store_hello)STORE_HELLO_INIT;
    CU_ASSERT_EQUAL_FATAL(store_do(st, &hello.call), 0);
    sqlite_plans_hold(((struct sqlite_store *)st)->db);
    store_free(st);
    unlink(path);
}

static const struct test tests[] = {
    TEST(on_postgresql_the_slot_index_serves_without_statistics_and_with),
    TEST(on_postgresql_the_slot_index_serves_with_statistics_of_an_empty_table),
    TEST(on_postgresql_opening_a_slot_after_a_burst_is_cheap),
    TEST(on_postgresql_events_are_read_along_their_keys),
    TEST(on_postgresql_the_slot_functions_are_part_of_the_statement),
    TEST(on_sqlite_the_slot_index_and_the_id_serve),
    { NULL, NULL },
};

const struct suite suite_plans = { "plans", pgfx_setup, pgfx_teardown, tests };
