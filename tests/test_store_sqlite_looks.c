/* test_store_sqlite_looks.c - what a look costs does not depend on how much there is beside it, in
 * steps of SQLite's machine. */
#include "sqlite_store_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../engine/store/store_sqlite_db.h"

enum { FEW = 3000, MANY = 10 * FEW, PARAMS = 12 };

/* What is looked at has a bound of a thousand rows, where no index leads to it. */
static const struct look { const char *name; int n; const char *params[PARAMS]; } looks[] = {
    { "list", 12, { [5] = "10", [6] = "1000" } },
    { "list", 12, { "orders", "7", [5] = "10", [6] = "1000" } },
    { "list", 12, { "orders", [5] = "10", [6] = "1000" } },
    { "list", 12, { "nobody", [5] = "10", [6] = "1000" } },
    { "list", 12, { [2] = "nobody", [5] = "10", [6] = "1000" } },
    { "history", 12, { [6] = "10", [10] = "1000" } },
    { "history", 12, { "orders", "7", [6] = "10", [10] = "1000" } },
    { "runs", 11, { [6] = "10", [10] = "1000" } },
    { "runs", 11, { "orders", "7", [6] = "10", [10] = "1000" } },
    { "audit", 10, { [7] = "10", [8] = "1000" } },
};

static sqlite3 *store_db(void)
{
    return ((struct sqlite_store *)litefx.st)->db;
}

/* By a statement of ours, which has no call's time to end in. */
static void put(int from, int to)
{
    static const char *const all[] = {
        "INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at) "
        "SELECT 'orders', i, 'look', 900 * (i % 50), 900 * (i % 50) FROM n",
        "INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, "
        "outcome, check_count, failure_count, run_count, slot_at, first_check_at, total_run_us, "
        "archived_at_us) SELECT i, i, 'orders', i, 'look', 'done', 0, 0, 1, 0, 0, 1, i FROM n",
        "INSERT INTO prescient_future_job_run (check_id, run_at_us, entity_name, entity_key, job_exec, "
        "outcome, check_count, failure_count, slot_at, next_check_at, run_us, recorded_at_us) "
        "SELECT i, i, 'orders', i, 'look', 'again', 1, 0, 0, 900, 1, i FROM n",
        "INSERT INTO prescient_change (id, changed_at_us, change, what, entity_name, entity_key, job_exec, "
        "who, done_by) SELECT i, i, 'cancel', 'check', 'orders', i, 'look', 'me', 'me' FROM n",
    };
    sqlite3_progress_handler(store_db(), 0, NULL, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char sql[800];
        snprintf(sql, sizeof sql,
                 "WITH n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) %s", from, to, all[i]);
        int rc = sqlite3_exec(store_db(), sql, NULL, NULL, NULL);
        if (rc != SQLITE_OK)
            printf("      %s\n", sqlite3_errmsg(store_db()));
        CU_ASSERT_EQUAL_FATAL(rc, SQLITE_OK);
    }
    sqlite_heed_deadlines((struct sqlite_store *)litefx.st);
}

/* A statement is over, and will be gone. */
static int count_steps(unsigned mask, void *steps, void *row, void *took_ns)
{
    (void)mask;
    (void)took_ns;
    *(int64_t *)steps += sqlite3_stmt_status(row, SQLITE_STMTSTATUS_VM_STEP, 0);
    return 0;
}

static int64_t steps_of(const struct look *look)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new(4096);
    struct store_report report = STORE_REPORT_INIT;
    report.name = look->name;
    report.params = look->params;
    report.nparams = look->n;
    report.arena = arena;
    int64_t steps = 0;
    sqlite3_trace_v2(store_db(), SQLITE_TRACE_PROFILE, count_steps, &steps);
    RC_IS(0, store_do(litefx.st, &report.call));
    sqlite3_trace_v2(store_db(), 0, NULL, NULL);
    return steps;
}

static void ten_times_as_many_rows_cost_no_more(void)
{
    enum { LOOKS = sizeof looks / sizeof *looks };
    int64_t few[LOOKS];
    litefx_begin();
    RC_IS(0, litefx_hello(litefx.st));
    put(1, FEW);
    for (int i = 0; i < LOOKS; i++)
        few[i] = steps_of(&looks[i]);
    put(FEW + 1, MANY);
    for (int i = 0; i < LOOKS; i++) {
        int64_t many = steps_of(&looks[i]);
        if (!few[i] || many > few[i] + few[i] / 2)
            printf("      %s, the look %d: %" PRId64 " steps beside few, %" PRId64 " beside many\n",
                   looks[i].name, i, few[i], many);
        CU_ASSERT_TRUE(few[i] > 0);
        CU_ASSERT_TRUE(many <= few[i] + few[i] / 2);
    }
}

static const struct test tests[] = {
    TEST(ten_times_as_many_rows_cost_no_more),
    { NULL, NULL },
};

const struct suite suite_store_sqlite_looks = { "store_sqlite_looks", NULL, litefx_teardown, tests };
