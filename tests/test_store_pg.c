/* test_store_pg.c - what only the PostgreSQL store does: its SQL API, roles, late commits, locks, plans, partitions, deadlines. */
#include "test.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/rules/idempotency.h"
#include "../engine/store/store.h"

#define SLOT INT64_C(1772370900)            /* 2026-03-01T13:15:00Z, long begun */
#define NOW (SLOT + 60)                     /* virtual: inside that slot */
#define LENGTH 900

static char database[64], url[512];
static struct store *st;
static PGconn *app, *other;                 /* two sessions of applications */
static struct err err;
static const unsigned char owner[STORE_OWNER_SIZE] = "engine one......", stranger[STORE_OWNER_SIZE] = "engine two......";

/* ---- the fixture ---------------------------------------------------------------------------------------------------- */

static PGresult *ask(PGconn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static PGresult *ask(PGconn *conn, const char *fmt, ...)
{
    char sql[8192];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sql, sizeof sql, fmt, ap);
    va_end(ap);
    return PQexec(conn, sql);
}

/* The first cell as text, "" for none, or the SQLSTATE of a failure. */
static const char *cell(PGconn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *cell(PGconn *conn, const char *fmt, ...)
{
    static char text[4][512];
    static int next;
    char sql[8192], *out = text[next++ % 4];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sql, sizeof sql, fmt, ap);
    va_end(ap);
    PGresult *r = PQexec(conn, sql);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    snprintf(out, sizeof text[0], "%s", state ? state : PQntuples(r) > 0 ? PQgetvalue(r, 0, 0) : "");
    if (state && getenv("VERBOSE"))
        printf("      %s", PQerrorMessage(conn));
    PQclear(r);
    return out;
}

#define CELL_IS(conn, expected, ...) \
    do { const char *c_ = cell(conn, __VA_ARGS__); if (strcmp(c_, expected) != 0) printf("      line %d: '%s', expected '%s'\n", __LINE__, c_, expected); \
         CU_ASSERT_STRING_EQUAL(c_, expected); } while (0)
#define SQL_IS(expected, ...) CELL_IS(app, expected, __VA_ARGS__)
#define RC_IS(expected, rc) \
    do { int rc_ = (rc); if (rc_ != (expected)) printf("      line %d: %d, expected %d: %s\n", __LINE__, rc_, expected, err.text); \
         CU_ASSERT_EQUAL(rc_, expected); } while (0)

static void run_on_server(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void run_on_server(const char *fmt, ...)
{
    char sql[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sql, sizeof sql, fmt, ap);
    va_end(ap);
    PGconn *conn = PQconnectdb(test_pg_url());
    PQclear(PQexec(conn, sql));
    PQfinish(conn);
}

/* The server's URL with another database: in place of "/postgres". */
static void name_database(void)
{
    const char *server = test_pg_url(), *path = strstr(server, "/postgres?");
    snprintf(database, sizeof database, "prescient_test_%d", (int)getpid());
    if (path)
        snprintf(url, sizeof url, "%.*s/%s%s", (int)(path - server), server, database, path + strlen("/postgres"));
    else
        snprintf(url, sizeof url, "%.*s/%s", (int)(strrchr(server, '/') - server), server, database);
}

static struct store *new_store(const struct store_options *changes)
{
    struct store_options o = changes ? *changes : (struct store_options){ 0 };
    struct store *s = NULL;
    o.url = o.url ? o.url : url;
    o.engine = "test/1";
    if (store_new(&o, &s, &err) < 0)
        printf("      store_new: %s\n", err.text);
    return s;
}

static int setup(void)
{
    if (!test_pg_url()) {
        printf("\n    no PostgreSQL server given: skipped\n");
        return 0;
    }
    name_database();
    run_on_server("CREATE DATABASE %s", database);
    st = new_store(NULL);
    struct migrate_options options = { 0 };
    int rc = st ? store_migrate(st, &options, &err) : -1;
    if (rc < 0)
        printf("      %s\n", err.text);
    app = PQconnectdb(url);
    other = PQconnectdb(url);
    return rc < 0 || PQstatus(app) != CONNECTION_OK || PQstatus(other) != CONNECTION_OK;
}

static int teardown(void)
{
    store_free(st);
    PQfinish(app);
    PQfinish(other);
    if (test_pg_url())
        run_on_server("DROP DATABASE IF EXISTS %s (FORCE)", database);
    return 0;
}

/* True when there is a server; the tables are empty then. */
static bool begin(void)
{
    if (!test_pg_url())
        return false;
    PQclear(PQexec(app, "ROLLBACK; RESET ROLE"));
    PQclear(PQexec(other, "ROLLBACK; RESET ROLE"));
    PQclear(ask(app, "TRUNCATE prescient.future_job, prescient.future_job_history, prescient.future_job_run, prescient.slot_pass, "
                     "prescient.slot_lease, prescient.event; DELETE FROM prescient.setting WHERE name = 'swept_until'"));
    err_clear(&err);
    return true;
}
#define WITH_SERVER() if (!begin()) return

/* `n` checks of entity e, keys 1 to n, in SLOT. */
static void put_checks(int n)
{
    PQclear(ask(app, "SELECT prescient.file_check('e', i::text, 'look', to_timestamp(%" PRId64 "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))"
                     "  FROM generate_series(1, %d) i", SLOT, SLOT - 100, n));
}

static int call(struct store_call *c)
{
    int rc = store_do(st, c);
    err = c->err;
    return rc;
}

static struct store_open_slot open_slot(const unsigned char *who)
{
    struct store_open_slot o = STORE_OPEN_SLOT_INIT;
    o.slot = SLOT;
    o.split_at = 1000;
    o.owner = who;
    o.lease_s = 60;
    o.want = STORE_BUCKETS;
    return o;
}

static struct lease take(void)
{
    struct store_open_slot o = open_slot(owner);
    o.again = true;
    RC_IS(0, call(&o.call));
    CU_ASSERT(o.ntaken > 0);
    return o.taken[0];
}

static struct store_page read_page(const struct lease *lease, int want)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.want = want;
    r.max_bytes = 1 << 20;
    RC_IS(0, call(&r.call));
    return r.page;
}

static struct settlement done(const struct check *check)
{
    return (struct settlement){ .check = check, .ends = true, .outcome = OUTCOME_DONE, .check_count = check->check_count, .ran = true,
                                .run_at_us = NOW * 1000000, .run_us = 1500 };
}

static struct settlement again(const struct check *check, int64_t at)
{
    struct settlement s = done(check);
    s.ends = false;
    s.outcome = OUTCOME_AGAIN;
    s.next_at = at;
    s.check_count++;
    return s;
}

static struct store_settle settle_of(const struct lease *lease, struct settlement *s, int n)
{
    struct store_settle settle = STORE_SETTLE_INIT;
    settle.lease = *lease;
    settle.now = NOW;
    settle.settlements = s;
    settle.n = n;
    return settle;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------ */

static void bucket_is_the_same_in_sql_and_in_c(void)
{
    WITH_SERVER();
    const char *pairs[][2] = { { "orders", "42" }, { "a", "bc" }, { "ab", "c" }, { "w\xc3\xb6rter", "\xe2\x82\xac" }, { "\\x00", "\\\\" } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char expected[8];
        snprintf(expected, sizeof expected, "%d", bucket_of(pairs[i][0], pairs[i][1]));
        SQL_IS(expected, "SELECT prescient.bucket_of('%s', '%s')", pairs[i][0], pairs[i][1]);
    }
}

static void a_page_runs_from_open_to_finish(void)
{
    WITH_SERVER();
    put_checks(5);
    struct store_open_slot o = open_slot(owner);
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.rows, 5);
    CU_ASSERT_EQUAL(o.split, 1);
    CU_ASSERT_EQUAL(o.ntaken, 1);
    CU_ASSERT_EQUAL(o.state, SLOT_OPEN);
    struct store_page page = read_page(&o.taken[0], 100);
    CU_ASSERT_EQUAL_FATAL(page.n, 5);
    CU_ASSERT_STRING_EQUAL(page.checks[0].entity_name, "e");
    CU_ASSERT_EQUAL(page.checks[0].first_check_at, SLOT);
    struct settlement s[5];
    for (int i = 0; i < 5; i++)
        s[i] = i < 3 ? done(&page.checks[i]) : again(&page.checks[i], SLOT + LENGTH);
    for (int i = 0; i < 5; i++)             /* by id: the page of a whole slot spans buckets */
        for (int j = i + 1; j < 5; j++)
            if (s[j].check->id < s[i].check->id) {
                struct settlement swap = s[i];
                s[i] = s[j];
                s[j] = swap;
            }
    struct store_settle settle = settle_of(&o.taken[0], s, 5);
    RC_IS(0, call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, 5);
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job WHERE next_check_at = to_timestamp(%" PRId64 ") AND check_count = 1 AND run_count = 1", SLOT + LENGTH);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job_history WHERE outcome = 'done' AND engine = 'test/1' AND total_run_us = 1500 AND run_count = 1");
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job_run WHERE outcome = 'again' AND check_count = 1");
    store_page_free(&page);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = o.taken[0];
    f.counts.run = 5;
    RC_IS(0, call(&f.call));
    CU_ASSERT(f.finished);
    SQL_IS("0", "SELECT count(*) FROM prescient.slot_lease");
    struct relook_slot slots[4];
    struct store_relook l = STORE_RELOOK_INIT;
    l.slots = slots;
    l.want = 4;
    RC_IS(0, call(&l.call));
    CU_ASSERT_EQUAL(l.closed, 1);
    CU_ASSERT_EQUAL(l.n, 0);
}

static struct store_report report(struct arena *a, const char *name, int n, const char *const *params)
{
    struct store_report r = STORE_REPORT_INIT;
    r.name = name;
    r.params = params;
    r.nparams = n;
    r.arena = a;
    call(&r.call);
    return r;
}

static void every_report_runs_with_and_without_parameters(void)
{
    WITH_SERVER();
    put_checks(3);
    take();
    struct arena *a = arena_new(4096);
    static const struct { const char *name; int nparams, least; const char *first, *params[8]; } all[] = {
        { "list", 6, 3, "next_check_at", { "e", "2", "look", "0", "1772370901", "10" } },
        { "history", 7, 0, "ended_at_us", { "e", "2", "look", "done", "0", "1772370901", "10" } },
        { "runs", 7, 0, "run_at_us", { "e", "2", "look", "again", "0", "1772370901", "10" } },
        { "slots", 3, 1, "slot_at", { "0", "1772370901", "10" } },
        { "passes", 3, 1, "slot_at", { "0", "1772370901", "10" } },
        { "status", 1, 1, "now_at", { "1772370960" } },
        { "leases", 0, 1, "slot_at", { NULL } },
        { "jobs_pending", 0, 1, "job_exec", { NULL } },
        { "events", 3, 0, "cursor", { "0", "0", "10" } },
        { "events_end", 0, 1, "cursor", { NULL } },
        { "doctor", 1, 10, "what", { "1772370960" } },
        { "plan", 1, 1, "line", { "1772370900" } },
        { "retry", 7, 0, "entity_name", { "e", "2", "look", "0", "1772380000", "1772370960", "10" } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int n = 0; n <= all[i].nparams; n += all[i].nparams ? all[i].nparams : 1) {
            struct store_report r = report(a, all[i].name, n, all[i].params);
            if (r.call.rc < 0)
                printf("      %s/%d: %s\n", all[i].name, n, r.call.err.text);
            CU_ASSERT_EQUAL_FATAL(r.call.rc, 0);
            CU_ASSERT_STRING_EQUAL(r.rows.names[0], all[i].first);
            CU_ASSERT(n > 0 || r.rows.rows >= all[i].least);
            if (getenv("VERBOSE") && n == 0)
                for (int row = 0; row < r.rows.rows; row++, printf("\n"))
                    for (int c = 0; c < r.rows.columns; c++)
                        printf("%s=%s ", r.rows.names[c], r.rows.cells[row * r.rows.columns + c]);
        }
    struct store_report none = report(a, "no such thing", 0, NULL);
    CU_ASSERT_EQUAL(none.call.rc, ERR_NOTFOUND);
    arena_free(a);
}

static const struct test tests[] = {
    TEST(every_report_runs_with_and_without_parameters),
    TEST(bucket_is_the_same_in_sql_and_in_c),
    TEST(a_page_runs_from_open_to_finish),
    { NULL, NULL },
};

const struct suite suite_store_pg = { "store_pg", setup, teardown, tests };
