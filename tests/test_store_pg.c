/* test_store_pg.c - what only the PostgreSQL store does: its SQL API, roles, late commits, locks, plans, partitions, deadlines. */
#include "test.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/rules/idempotency.h"
#include "../engine/store/store_pg.h"     /* the texts of its statements, for their plans */

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

static void drop_notice(void *arg, const char *words)
{
    (void)arg;
    (void)words;
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
    PQsetNoticeProcessor(app, drop_notice, NULL);
    PQsetNoticeProcessor(other, drop_notice, NULL);
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

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const struct settlement *)a)->check->id, y = ((const struct settlement *)b)->check->id;
    return (x > y) - (x < y);
}

/* Everything of a page with one answer, sorted. */
static void answer_all(struct settlement *s, const struct store_page *page, struct settlement (*answer)(const struct check *))
{
    for (int i = 0; i < page->n; i++)
        s[i] = answer(&page->checks[i]);
    qsort(s, (size_t)page->n, sizeof *s, by_id);
}

static struct store_settle settle_of(const struct lease *lease, struct settlement *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, by_id);
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


/* A lease on SLOT and its page of `n` fresh checks. */
struct run { struct lease lease; struct store_page page; struct settlement s[64]; };

static void run_init(struct run *run, int n)
{
    put_checks(n);
    run->lease = take();
    run->page = read_page(&run->lease, 64);
    CU_ASSERT_EQUAL_FATAL(run->page.n, n);
    answer_all(run->s, &run->page, done);
}

static struct store_settle run_settle(struct run *run)
{
    struct store_settle settle = settle_of(&run->lease, run->s, run->page.n);
    call(&settle.call);
    return settle;
}

static struct settlement *answer_of(struct run *run, const char *key)
{
    for (int i = 0; i < run->page.n; i++)
        if (strcmp(run->s[i].check->entity_key, key) == 0)
            return &run->s[i];
    CU_FAIL_FATAL("no such key in the page");
    return NULL;
}

/* ---- the SQL API ------------------------------------------------------------------------------------------------------ */

static void enqueue_says_what_happened(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '42', 'unshipped', now() + interval '3 hours')");
    SQL_IS("kept", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '5 hours')");
    SQL_IS("kept", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '5 hours', conflict => 'earlier')");
    SQL_IS("moved", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '1 hour', conflict => 'earlier')");
    SQL_IS("replaced", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '2 hours', '{\"a\": 1}', 'replace', 7)");
    SQL_IS("t", "SELECT next_check_at = first_check_at AND payload::text = '{\"a\": 1}' AND priority = 7 AND next_check_at = prescient.slot_ceil(next_check_at)"
                " AND next_check_at BETWEEN now() + interval '2 hours' AND now() + interval '2 hours 15 minutes' FROM prescient.future_job");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '42', 'unshipped', interval '1 day')");
    SQL_IS("not_found", "SELECT prescient.reschedule('orders', '43', 'unshipped', interval '1 day')");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '42', 'unshipped', '+2 days')");
    SQL_IS("1", "SELECT prescient.resolve('orders', '42')");
    SQL_IS("0", "SELECT prescient.resolve('orders', '42')");
    SQL_IS("resolved", "SELECT outcome FROM prescient.future_job_history");
}

static void enqueue_in_the_past_gets_the_next_slot(void)
{
    WITH_SERVER();
    SQL_IS("new", "SELECT prescient.enqueue('orders', '1', 'j', '1999-01-01 00:00+00')");
    SQL_IS("t", "SELECT next_check_at > now() AND next_check_at <= now() + interval '15 minutes 1 second' FROM prescient.future_job");
}

static void enqueue_many_takes_arrays_and_names_the_bad_row(void)
{
    WITH_SERVER();
    SQL_IS("(3,1,0,0)", "SELECT prescient.enqueue_many('orders', ARRAY['1', '2', '3', '3'], 'j', now())");
    SQL_IS("(1,1,0,0)", "SELECT prescient.enqueue_many(ARRAY['orders', 'orders'], ARRAY['4', '1'], ARRAY['j', 'j'], ARRAY[now(), now()])");
    PGresult *r = ask(app, "SELECT prescient.enqueue_many(ARRAY['a', 'a', ''], ARRAY['1', '2', '3'], ARRAY['j', 'j', 'j'], ARRAY[now(), now(), now()])");
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_SQLSTATE), "22023");
    CU_ASSERT_STRING_EQUAL(PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL), "row 3");
    PQclear(r);
    SQL_IS("4", "SELECT count(*) FROM prescient.future_job");
}

static void bad_values_are_refused_in_words(void)
{
    WITH_SERVER();
    static const struct { const char *call, *words; } bad[] = {
        { "'', '1', 'j', now()", "entity is empty" },
        { "'e', NULL, 'j', now()", "key is NULL" },
        { "'e', '1', '', now()", "job is empty" },
        { "repeat('x', 1025), '1', 'j', now()", "1025 bytes" },
        { "repeat('\u00e4', 513), '1', 'j', now()", "1026 bytes" },
        { "repeat('x', 1000), repeat('y', 1000), repeat('z', 1000), now()", "3000 bytes together" },
        { "'e', '1', 'j', 'infinity'::timestamptz", "check_at is infinity" },
        { "'e', '1', 'j', '1969-12-31 23:00+00'::timestamptz", "1970 to 9999" },
        { "'e', '1', 'j', NULL::timestamptz", "check_at is NULL" },
        { "'e', '1', 'j', now(), ('\"' || repeat('x', 65536) || '\"')::json", "65538 bytes" },
        { "'e', '1', 'j', now(), NULL, 'sooner'", "'sooner', expected keep, earlier or replace" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PGresult *r = ask(app, "SELECT prescient.enqueue(%s)", bad[i].call);
        const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
        CU_ASSERT_PTR_NOT_NULL_FATAL(words);
        if (!strstr(words, bad[i].words))
            printf("      '%s', expected '%s'\n", words, bad[i].words);
        CU_ASSERT_PTR_NOT_NULL(strstr(words, bad[i].words));
        CU_ASSERT(strncmp(PQresultErrorField(r, PG_DIAG_SQLSTATE), "22", 2) == 0);
        PQclear(r);
    }
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
}

static void a_plain_insert_is_at_least_aligned_and_in_its_bucket(void)
{
    WITH_SERVER();
    SQL_IS("23514", "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)"
                    " VALUES (prescient.bucket_of('e', '1'), 'e', '1', 'j', now(), '2030-01-01 00:07+00')");
    SQL_IS("23514", "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)"
                    " VALUES ((prescient.bucket_of('e', '1') + 1) & 63, 'e', '1', 'j', now(), '2030-01-01 00:15+00')");
    SQL_IS("23514", "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)"
                    " VALUES (prescient.bucket_of('e', '1'), 'e', '1', 'j', now(), 'infinity')");
}

static void the_api_works_in_a_trigger_and_rolls_back_with_it(void)
{
    WITH_SERVER();
    PQclear(ask(app, "DROP TABLE IF EXISTS orders; CREATE TABLE orders (id bigint PRIMARY KEY, shipped boolean NOT NULL DEFAULT false);"
                     "CREATE OR REPLACE FUNCTION orders_checked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                     "  IF NEW.shipped THEN PERFORM prescient.resolve('orders', NEW.id::text);"
                     "  ELSE PERFORM prescient.enqueue('orders', NEW.id::text, 'unshipped', interval '3 hours'); END IF; RETURN NULL; END $$;"
                     "CREATE TRIGGER t AFTER INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION orders_checked()"));
    PQclear(ask(app, "BEGIN"));
    PQclear(ask(app, "INSERT INTO orders VALUES (1)"));
    PQclear(ask(app, "ROLLBACK"));
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    PQclear(ask(app, "INSERT INTO orders VALUES (2), (3)"));
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    PQclear(ask(app, "UPDATE orders SET shipped = true WHERE id = 2"));
    SQL_IS("3", "SELECT entity_key FROM prescient.future_job");
    PQclear(ask(app, "DROP TABLE orders"));
}

static void an_enqueuer_calls_the_api_and_sees_no_table(void)
{
    WITH_SERVER();
    PQclear(ask(app, "SET ROLE prescient_enqueuer"));
    SQL_IS("new", "SELECT prescient.enqueue('orders', '42', 'unshipped', interval '3 hours')");
    SQL_IS("(1,1,0,0)", "SELECT prescient.enqueue_many('orders', ARRAY['42', '43'], 'unshipped', now() + interval '3 hours')");
    SQL_IS("moved", "SELECT prescient.reschedule('orders', '42', 'unshipped', interval '1 day')");
    SQL_IS("1", "SELECT prescient.resolve('orders', '42', 'unshipped')");
    SQL_IS("42501", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("42501", "SELECT count(*) FROM prescient.future_job_history");
    SQL_IS("42501", "DELETE FROM prescient.setting");
    SQL_IS("42501", "SELECT prescient.set_slot_length(60)");
    SQL_IS("42501", "SELECT prescient.file_check('e', '1', 'j', now(), NULL, 'keep', 0, NULL)");
    PQclear(ask(app, "RESET ROLE"));
}

static void an_engine_role_runs_checks_without_owning_the_tables(void)
{
    WITH_SERVER();
    PQclear(ask(app, "DROP ROLE IF EXISTS prescient_test_login; CREATE ROLE prescient_test_login LOGIN IN ROLE prescient_engine"));
    char as_engine[600];
    const char *at = strstr(url, "postgres@");
    if (!at)
        return;
    snprintf(as_engine, sizeof as_engine, "%.*sprescient_test_login@%s", (int)(at - url), url, at + strlen("postgres@"));
    struct store *owner_store = st;
    st = new_store(&(struct store_options){ .url = as_engine });
    struct run run;
    run_init(&run, 3);
    CU_ASSERT_EQUAL(run_settle(&run).touched, 3);
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 8;
    RC_IS(0, call(&days.call));
    store_page_free(&run.page);
    store_free(st);
    st = owner_store;
    PQclear(ask(app, "DROP ROLE prescient_test_login"));
}

/* ---- late commits ------------------------------------------------------------------------------------------------------ */

static struct store_relook relook(struct relook_slot *slots)
{
    struct store_relook l = STORE_RELOOK_INIT;
    l.slots = slots;
    l.want = 8;
    RC_IS(0, call(&l.call));
    return l;
}

static void a_check_committed_late_is_found_by_the_second_look(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    PQclear(ask(other, "BEGIN"));       /* it decides on SLOT before that begins, and commits after the empty look */
    PQclear(ask(other, "SELECT prescient.file_check('e', 'late', 'look', to_timestamp(%" PRId64 "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))", SLOT, SLOT - 100));
    struct store_open_slot o = open_slot(owner);
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.rows, 0);
    CU_ASSERT_EQUAL(o.ntaken, 0);
    CU_ASSERT_EQUAL(o.state, SLOT_RELOOK);
    struct store_relook l = relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT_EQUAL_FATAL(l.n, 1);
    CU_ASSERT(!slots[0].has_rows && !slots[0].undone);
    PQclear(ask(other, "COMMIT"));
    l = relook(slots);
    CU_ASSERT_EQUAL(l.closed, 0);
    CU_ASSERT(l.n == 1 && slots[0].slot == SLOT && slots[0].has_rows);
    struct lease lease = take();
    struct store_page page = read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    struct settlement s = done(&page.checks[0]);
    struct store_settle settle = settle_of(&lease, &s, 1);
    RC_IS(0, call(&settle.call));
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = lease;
    RC_IS(0, call(&f.call));
    CU_ASSERT(f.finished);
    l = relook(slots);
    CU_ASSERT_EQUAL(l.closed, 1);
    store_page_free(&page);
}

static void a_transaction_that_has_an_id_but_ended_none_yet_keeps_the_slot_open(void)
{
    WITH_SERVER();
    struct relook_slot slots[8];
    /* The newest id of all: no snapshot lists it among the running, as it is not below any that has ended. */
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "SELECT pg_current_xact_id()"));
    struct store_open_slot o = open_slot(owner);
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.state, SLOT_RELOOK);
    CU_ASSERT_EQUAL(relook(slots).closed, 0);
    PQclear(ask(other, "ROLLBACK"));
    CU_ASSERT_EQUAL(relook(slots).closed, 1);
}

static void a_consumer_of_events_waits_for_the_oldest_transaction(void)
{
    WITH_SERVER();
    struct arena *a = arena_new(4096);
    PQclear(ask(app, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) VALUES (now(), 'first', 'e', '1', 'j')"));
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) VALUES (now(), 'late', 'e', '1', 'j')"));
    PQclear(ask(app, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) VALUES (now(), 'third', 'e', '1', 'j')"));
    struct store_report r = report(a, "events", 0, NULL);
    CU_ASSERT_EQUAL_FATAL(r.rows.rows, 1);
    PQclear(ask(other, "COMMIT"));
    char xid[64];
    snprintf(xid, sizeof xid, "%s", r.rows.cells[0]);
    char *id = strchr(xid, '-');
    *id++ = '\0';
    const char *after[] = { xid, id, NULL };
    r = report(a, "events", 3, after);
    CU_ASSERT_EQUAL_FATAL(r.rows.rows, 2);
    CU_ASSERT_STRING_EQUAL(r.rows.cells[1], "late");
    CU_ASSERT_STRING_EQUAL(r.rows.cells[r.rows.columns + 1], "third");
    arena_free(a);
}

/* ---- locks --------------------------------------------------------------------------------------------------------------- */

static void a_settle_gives_up_on_a_locked_row_and_leaves_it_out_when_told(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 4);
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "SELECT FROM prescient.future_job WHERE entity_key = '2' FOR UPDATE"));
    PQclear(ask(app, "DELETE FROM prescient.future_job WHERE entity_key = '3'"));
    struct store_settle settle = settle_of(&run.lease, run.s, 4);
    RC_IS(ERR_BUSY, call(&settle.call));
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
    settle.skip_locked = true;
    RC_IS(0, call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, 2);
    CU_ASSERT_EQUAL(answer_of(&run, "1")->state, SETTLE_TOUCHED);
    CU_ASSERT_EQUAL(answer_of(&run, "2")->state, SETTLE_LOCKED);
    CU_ASSERT_EQUAL(answer_of(&run, "3")->state, SETTLE_SUPERSEDED);
    PQclear(ask(other, "ROLLBACK"));
    RC_IS(0, call(&settle.call));
    CU_ASSERT_EQUAL(settle.touched, 1);
    CU_ASSERT_EQUAL(answer_of(&run, "2")->state, SETTLE_TOUCHED);
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job_history");
    SQL_IS("0", "SHOW lock_timeout");
    store_page_free(&run.page);
}

static void a_lease_that_another_is_just_taking_is_not_waited_for_long(void)
{
    WITH_SERVER();
    put_checks(1);
    struct store_open_slot o = open_slot(owner);
    o.want = 1;
    RC_IS(0, call(&o.call));
    PQclear(ask(app, "DELETE FROM prescient.slot_lease"));
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "INSERT INTO prescient.slot_lease VALUES (to_timestamp(%" PRId64 "), -1, '00000000-0000-0000-0000-000000000000', 1, now() + interval '1 hour')", SLOT));
    RC_IS(ERR_BUSY, call(&o.call));
    PQclear(ask(other, "COMMIT"));
    RC_IS(0, call(&o.call));
    CU_ASSERT(o.ntaken == 0 && o.nheld == 1);
}

static void a_settle_under_way_holds_a_takeover_up(void)
{
    WITH_SERVER();
    put_checks(1);
    struct lease lease = take();
    PQclear(ask(app, "UPDATE prescient.slot_lease SET expires_at = now() - interval '1 minute'"));
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "SELECT FROM prescient.slot_lease FOR SHARE"));
    struct store_open_slot o = open_slot(stranger);
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 0);
    CU_ASSERT_EQUAL_FATAL(o.nheld, 1);
    CU_ASSERT_EQUAL(o.held[0].token, lease.token);
    PQclear(ask(other, "COMMIT"));
    o = open_slot(stranger);
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
    CU_ASSERT_NOT_EQUAL(o.taken[0].token, lease.token);
}

static void a_settle_that_waited_for_a_takeover_changes_nothing(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 2);
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "UPDATE prescient.slot_lease SET token = token + 1000"));
    struct store_settle settle = settle_of(&run.lease, run.s, 2);
    store_begin(st, &settle.call);
    for (int i = 0; i < 3; i++)
        store_step(st);                         /* it is on its way, and waits behind the lock */
    while (strcmp(cell(app, "SELECT count(*) FROM pg_locks WHERE NOT granted"), "0") == 0)
        store_step(st);
    PQclear(ask(other, "COMMIT"));
    while (!store_step(st))
        ;
    CU_ASSERT_EQUAL(settle.call.rc, ERR_FENCED);
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job_history");
    store_page_free(&run.page);
}

static void a_call_past_its_deadline_loses_its_connection(void)
{
    WITH_SERVER();
    struct store *patient = st;
    st = new_store(&(struct store_options){ .statement_timeout_ms = 150, .lock_timeout_ms = 60000 });
    struct store_hello hello = STORE_HELLO_INIT;
    RC_IS(0, call(&hello.call));
    int fd = store_fd(st);
    CU_ASSERT(fd >= 0);
    PQclear(ask(other, "BEGIN"));
    PQclear(ask(other, "LOCK prescient.slot_pass"));
    struct store_open_slot o = open_slot(owner);
    RC_IS(ERR_LOST, call(&o.call));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "connection is closed"));
    CU_ASSERT_EQUAL(store_fd(st), -1);
    PQclear(ask(other, "ROLLBACK"));
    RC_IS(0, call(&hello.call));
    store_free(st);
    st = patient;
}

static void a_session_ended_by_the_server_is_opened_anew(void)
{
    WITH_SERVER();
    struct store_hello hello = STORE_HELLO_INIT;
    RC_IS(0, call(&hello.call));
    CELL_IS(app, "t", "SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'prescient'");
    struct pollfd end = { .fd = store_fd(st), .events = POLLRDHUP };
    CU_ASSERT_EQUAL_FATAL(poll(&end, 1, 10000), 1);
    RC_IS(0, call(&hello.call));
    CU_ASSERT(strncmp(hello.server, "PostgreSQL ", 11) == 0);
    CU_ASSERT_EQUAL(hello.slot_length_s, LENGTH);
    CU_ASSERT(!hello.read_only);
}

/* ---- settle ---------------------------------------------------------------------------------------------------------------- */

static void a_check_asked_for_again_while_it_ran_starts_anew(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 2);
    SQL_IS("(kept,\"2026-03-01 15:15:00+00\")", "SELECT prescient.file_check('e', '1', 'look', to_timestamp(%" PRId64 "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))",
           SLOT + 7200, NOW);
    char id[32];
    snprintf(id, sizeof id, "%s", cell(app, "SELECT id FROM prescient.future_job WHERE entity_key = '1'"));
    CU_ASSERT_EQUAL(run_settle(&run).touched, 2);
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job_history WHERE outcome = 'done' AND first_check_at = to_timestamp(%" PRId64 ")", SLOT);
    SQL_IS("t", "SELECT id <> %s AND first_check_at = to_timestamp(%" PRId64 ") AND next_check_at = first_check_at AND again_at IS NULL"
                " FROM prescient.future_job", id, SLOT + 7200);
    SQL_IS("1", "SELECT count(*) FROM prescient.future_job");
    store_page_free(&run.page);
}

static void a_move_never_lands_in_a_slot_that_has_begun(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 1);
    run.s[0] = again(&run.page.checks[0], SLOT);
    CU_ASSERT_EQUAL(run_settle(&run).touched, 1);
    char next[32];
    snprintf(next, sizeof next, "%" PRId64, SLOT + LENGTH);
    SQL_IS(next, "SELECT extract(epoch FROM next_check_at)::bigint FROM prescient.future_job");
    store_page_free(&run.page);
}

static void what_was_replaced_meanwhile_keeps_its_new_state(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 2);
    SQL_IS("moved", "SELECT prescient.reschedule('e', '1', 'look', '2030-01-01 00:00+00')");
    struct store_settle settle = run_settle(&run);
    CU_ASSERT_EQUAL(settle.touched, 1);
    CU_ASSERT_EQUAL(answer_of(&run, "1")->state, SETTLE_UNTOUCHED);
    CU_ASSERT_EQUAL(answer_of(&run, "2")->state, SETTLE_TOUCHED);
    SQL_IS("2030-01-01", "SELECT next_check_at::date FROM prescient.future_job");
    store_page_free(&run.page);
}

static void effects_follow_what_was_touched_and_nothing_else(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 3);
    SQL_IS("moved", "SELECT prescient.reschedule('e', '3', 'look', '2030-01-01 00:00+00')");
    struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "seen", .json = "{\"n\": 1}" },
        { .kind = EFFECT_ENQUEUE, .entity_name = "f", .entity_key = "9", .job = "next", .at = NOW + 10, .conflict = "keep", .json = "[1]" },
        { .kind = EFFECT_RESOLVE, .entity_name = "e", .entity_key = "2" },
    };
    struct settlement *first = answer_of(&run, "1"), *second = answer_of(&run, "2"), *third = answer_of(&run, "3");
    first->effects = effects;
    first->neffects = 2;
    *second = again(second->check, SLOT + 9000);        /* its own resolve beats it */
    second->effects = &effects[2];
    second->neffects = 1;
    third->effects = effects;
    third->neffects = 1;
    struct store_settle settle = run_settle(&run);
    RC_IS(0, settle.call.rc);
    CU_ASSERT_EQUAL(settle.touched, 2);
    SQL_IS("1", "SELECT count(*) FROM prescient.event WHERE event = 'seen' AND entity_key = '1' AND job_exec = 'look' AND data->>'n' = '1'");
    SQL_IS("1", "SELECT count(*) FROM prescient.event");
    SQL_IS("t", "SELECT next_check_at = to_timestamp(%" PRId64 ") AND payload::text = '[1]' FROM prescient.future_job WHERE entity_name = 'f'", SLOT + LENGTH);
    SQL_IS("resolved", "SELECT outcome FROM prescient.future_job_history WHERE entity_key = '2'");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job WHERE entity_name = 'e' AND entity_key = '2'");
    store_page_free(&run.page);
}

static void an_effect_that_is_refused_takes_its_page_back(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 2);
    struct effect bad = { .kind = EFFECT_EMIT, .event = "seen", .json = "no json" };
    run.s[0].effects = &bad;
    run.s[0].neffects = 1;
    struct store_settle settle = run_settle(&run);
    RC_IS(ERR_DATA, settle.call.rc);
    CU_ASSERT_STRING_EQUAL(settle.call.err.sqlstate, "22P02");
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job_history");
    store_page_free(&run.page);
}

static void a_split_slot_is_settled_bucket_by_bucket(void)
{
    WITH_SERVER();
    put_checks(40);
    struct store_open_slot o = open_slot(owner);
    o.split_at = 10;
    o.want = 64;
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.rows, 11);
    CU_ASSERT_EQUAL(o.split, 64);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 64);
    int total = 0, finished = 0;
    for (int i = 0; i < o.ntaken; i++) {
        struct store_page page = read_page(&o.taken[i], 100);
        struct settlement s[40];
        for (int j = 0; j < page.n; j++) {
            s[j] = j % 2 ? again(&page.checks[j], SLOT + LENGTH) : done(&page.checks[j]);
            s[j].note = "said so";
        }
        struct store_settle settle = settle_of(&o.taken[i], s, page.n);
        if (page.n > 0)
            RC_IS(0, call(&settle.call));
        total += settle.touched;
        store_page_free(&page);
        struct store_finish f = STORE_FINISH_INIT;
        f.lease = o.taken[i];
        RC_IS(0, call(&f.call));
        finished += f.finished;
    }
    CU_ASSERT_EQUAL(total, 40);
    CU_ASSERT_EQUAL(finished, 64);
    SQL_IS("40", "SELECT (SELECT count(*) FROM prescient.future_job_history WHERE note = 'said so') + (SELECT count(*) FROM prescient.future_job_run WHERE note = 'said so')");
    struct relook_slot slots[8];
    CU_ASSERT_EQUAL(relook(slots).closed, 1);
}

static void heavy_payloads_make_small_pages_and_none_is_lost(void)
{
    WITH_SERVER();
    put_checks(20);
    PQclear(ask(app, "UPDATE prescient.future_job SET payload = to_json(repeat('x', CASE WHEN entity_key IN ('5', '6', '7') THEN 3000 ELSE 10 END))"));
    struct store_open_slot o = open_slot(owner);
    RC_IS(0, call(&o.call));
    struct page_cursor after = PAGE_START;
    int pages = 0, rows = 0, heavy = 0;
    for (struct store_page page;; store_page_free(&page), pages++) {
        struct store_read_page r = STORE_READ_PAGE_INIT;
        r.lease = o.taken[0];
        r.after = after;
        r.want = 10;
        r.max_bytes = 2000;
        RC_IS(0, call(&r.call));
        page = r.page;
        if (page.n == 0)
            break;
        for (int i = 0; i < page.n; i++, rows++) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(page.checks[i].payload);
            CU_ASSERT_EQUAL(strlen(page.checks[i].payload), page.checks[i].payload_len);
            heavy += page.checks[i].payload_len > 3000;
        }
        CU_ASSERT(page.n == 1 || page.checks[0].payload_len < 3000);
        const struct check *last = &page.checks[page.n - 1];
        after = (struct page_cursor){ .bucket = last->bucket, .priority = last->priority, .id = last->id };
    }
    CU_ASSERT_EQUAL(rows, 20);
    CU_ASSERT_EQUAL(heavy, 3);
    CU_ASSERT(pages >= 4);
}

/* ---- plans ------------------------------------------------------------------------------------------------------------------- */

/* The generic plan of a statement, on tables that were never analysed. */
static void plan_of(int statement, const char *args, char *plan, size_t size)
{
    Oid types[WIRE_PARAMS_MAX];
    int n = wire_types(pg_letters(statement), types);
    PQclear(ask(app, "SET plan_cache_mode = force_generic_plan"));
    PQclear(PQprepare(app, "planned", pg_sql(pg_store(st), statement), n, types));
    PGresult *r = ask(app, "EXPLAIN (COSTS off) EXECUTE planned(%s)", args);
    *plan = '\0';
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        printf("      %s\n", PQerrorMessage(app));
    for (int i = 0; i < PQntuples(r); i++)
        snprintf(plan + strlen(plan), size - strlen(plan), "%s\n", PQgetvalue(r, i, 0));
    PQclear(r);
    PQclear(ask(app, "DEALLOCATE planned; RESET plan_cache_mode"));
}

static void hot_statements_use_the_slot_index_without_statistics(void)
{
    WITH_SERVER();
    put_checks(5000);
    static const char *const settle = "now(), 1, 0, '00000000-0000-0000-0000-000000000000', 1, '1s', NULL, 'e', '{1,2}', '{0}', '{0}', '{0}', '{1}',"
                                      " '{done}', '{now,now}', '{1,2}', '{}', '{}', '{1}', false";
    char moves[600], plan[20000];
    snprintf(moves, sizeof moves, "%s, '{now}', '{epoch}'", settle);
    const struct { int statement; const char *args, *cond; } hot[] = {
        { PG_READ_PAGE, "now(), 1, 0, 1, 1000, 1000000", "(next_check_at = $1) AND (bucket = $2) AND (ROW(priority, id) > ROW($3, $4))" },
        { PG_READ_SLOT, "now(), 1, 0, 1, 1000, 1000000", "(next_check_at = $1) AND (ROW(bucket, priority, id) > ROW($2, $3, $4))" },
        { PG_SETTLE_END, settle, "(next_check_at = $1) AND (bucket = $2) AND (priority = $3) AND (id >= ($9)[1])" },
        { PG_SETTLE_MOVE, moves, "(next_check_at = $1) AND (bucket = $2) AND (priority = $3) AND (id >= ($9)[1])" },
        { PG_SETTLE_END + PG_OF_SLOT, settle, "(next_check_at = $1) AND (priority = $3)" },
        { PG_SETTLE_END + PG_SKIP_LOCKED, settle, "(next_check_at = $1) AND (bucket = $2) AND (priority = $3) AND (id >= ($9)[1])" },
    };
    for (size_t i = 0; i < sizeof hot / sizeof *hot; i++) {
        plan_of(hot[i].statement, hot[i].args, plan, sizeof plan);
        if (!strstr(plan, hot[i].cond) || strstr(plan, "Function Scan") || strstr(plan, "Seq Scan on future_job"))
            printf("%s\n", plan);
        CU_ASSERT_PTR_NOT_NULL(strstr(plan, hot[i].cond));
        CU_ASSERT_PTR_NULL(strstr(plan, "Function Scan"));
        CU_ASSERT_PTR_NULL(strstr(plan, "Seq Scan on future_job"));
        CU_ASSERT(hot[i].statement >= PG_SETTLE_END || !strstr(plan, "Sort"));
    }
}

/* ---- history by days --------------------------------------------------------------------------------------------------------- */

static void no_lease_is_taken_without_a_partition_for_today(void)
{
    WITH_SERVER();
    put_checks(1);
    char day[64];
    snprintf(day, sizeof day, "%s", cell(app, "SELECT prescient.history_day(prescient.utc_day(now()))"));
    PQclear(ask(app, "ALTER TABLE prescient.future_job_history DETACH PARTITION prescient.%s; DROP TABLE prescient.%s", day, day));
    struct store_open_slot o = open_slot(owner);
    RC_IS(ERR_LOST, call(&o.call));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "history partition"));
    SQL_IS("0", "SELECT count(*) FROM prescient.slot_lease");
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 3;
    RC_IS(0, call(&days.call));
    CU_ASSERT_EQUAL(days.made, 1);
    o = open_slot(owner);
    RC_IS(0, call(&o.call));
    CU_ASSERT_EQUAL(o.ntaken, 1);
}

static void a_settle_without_a_partition_is_no_verdict_about_a_check(void)
{
    WITH_SERVER();
    struct run run;
    run_init(&run, 1);
    char day[64];
    snprintf(day, sizeof day, "%s", cell(app, "SELECT prescient.history_day(prescient.utc_day(now()))"));
    PQclear(ask(app, "ALTER TABLE prescient.future_job_history DETACH PARTITION prescient.%s; DROP TABLE prescient.%s", day, day));
    RC_IS(ERR_LOST, run_settle(&run).call.rc);
    SQL_IS("1", "SELECT prescient.resolve('e', '1')");          /* an application makes the day it needs */
    SQL_IS("resolved", "SELECT outcome FROM prescient.future_job_history");
    store_page_free(&run.page);
}

static void days_that_are_over_are_indexed_and_pruned(void)
{
    WITH_SERVER();
    PQclear(ask(app, "SELECT prescient.make_history_day('2020-01-01'); SELECT prescient.make_history_day('2020-01-02')"));
    PQclear(ask(app, "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count, failure_count, run_count,"
                     " entity_name, entity_key, job_exec, outcome) SELECT t, t, t, t, 0, 0, 1, 'e', '1', 'j', 'done' FROM (SELECT '2020-01-01 12:00+00'::timestamptz AS t) x"));
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 1;
    RC_IS(0, call(&days.call));
    RC_IS(0, call(&days.call));
    CU_ASSERT_EQUAL(days.indexed, 1);
    SQL_IS("2", "SELECT count(*) FROM pg_indexes WHERE tablename LIKE 'future_job_history_p2020%%' AND indexdef LIKE '%%(entity_name, entity_key)%%'");
    PQclear(ask(app, "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec) VALUES ('2019-01-01', 'old', 'e', '1', 'j'), (now(), 'new', 'e', '1', 'j')"));
    PQclear(ask(app, "INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, closed_at) VALUES ('2019-01-01', -1, 0, 1, now()), ('2019-01-02', -1, 0, 1, NULL)"));
    struct prune_counts counts;
    int64_t before = 1577923200;                                /* 2020-01-02: the second day is not over then */
    RC_IS(0, store_prune(st, before, true, &counts, &err));
    CU_ASSERT_EQUAL(counts.history, 1);
    CU_ASSERT_EQUAL(counts.events, 1);
    SQL_IS("2", "SELECT count(*) FROM pg_class WHERE relname LIKE 'future_job_history_p2020____'");
    RC_IS(0, store_prune(st, before, false, &counts, &err));
    CU_ASSERT_EQUAL(counts.history, 1);
    CU_ASSERT_EQUAL(counts.events, 1);
    CU_ASSERT_EQUAL(counts.passes, 1);
    SQL_IS("future_job_history_p20200102", "SELECT relname FROM pg_class WHERE relname LIKE 'future_job_history_p2020____'");
    SQL_IS("new", "SELECT event FROM prescient.event");
    RC_IS(0, store_prune(st, before + 86400, false, &counts, &err));
    CU_ASSERT_EQUAL(counts.history, 1);
}

/* ---- load -------------------------------------------------------------------------------------------------------------------- */

static void a_load_copies_what_is_new_and_settles_what_is_not(void)
{
    WITH_SERVER();
    struct load_row rows[] = { { "e", "1", "j", "{\"a\": 1}", SLOT - 10, 3 }, { "e", "2", "j", NULL, SLOT + 1, 0 }, { "e", "3", "j", NULL, 0, 0 } };
    struct load_counts counts;
    int bad;
    RC_IS(0, store_load(st, rows, 3, "keep", NOW - LENGTH, &counts, &bad, &err));
    CU_ASSERT_EQUAL(counts.added, 3);
    SQL_IS("1,2,3", "SELECT string_agg(entity_key, ',' ORDER BY entity_key) FROM prescient.future_job WHERE bucket = prescient.bucket_of(entity_name, entity_key)");
    SQL_IS("t", "SELECT next_check_at = to_timestamp(%" PRId64 ") AND priority = 3 AND payload->>'a' = '1' FROM prescient.future_job WHERE entity_key = '1'", SLOT);
    SQL_IS("t", "SELECT next_check_at = to_timestamp(%" PRId64 ") FROM prescient.future_job WHERE entity_key = '2'", SLOT + LENGTH);
    SQL_IS("t", "SELECT next_check_at = to_timestamp(%" PRId64 ") FROM prescient.future_job WHERE entity_key = '3'", SLOT);
    struct load_row more[] = { { "e", "1", "j", NULL, SLOT - 10, 0 }, { "e", "4", "j", NULL, SLOT, 0 }, { "e", "2", "j", NULL, SLOT - 10, 0 } };
    RC_IS(0, store_load(st, more, 3, "earlier", NOW - LENGTH, &counts, &bad, &err));
    CU_ASSERT(counts.added == 1 && counts.kept == 1 && counts.moved == 1 && counts.replaced == 0);
    RC_IS(0, store_load(st, more, 3, "replace", NOW - LENGTH, &counts, &bad, &err));
    CU_ASSERT_EQUAL(counts.replaced, 3);
}

static void a_load_names_the_bad_row_and_leaves_nothing(void)
{
    WITH_SERVER();
    struct load_row rows[] = { { "e", "1", "j", NULL, SLOT, 0 }, { "e", "2", "j", "{not json", SLOT, 0 }, { "e", "3", "j", NULL, SLOT, 0 } };
    struct load_counts counts;
    int bad;
    RC_IS(ERR_INPUT, store_load(st, rows, 3, "keep", NOW, &counts, &bad, &err));
    CU_ASSERT_EQUAL(bad, 1);
    CU_ASSERT_EQUAL(counts.added, 0);
    SQL_IS("0", "SELECT count(*) FROM prescient.future_job");
    rows[1].payload = NULL;
    RC_IS(0, store_load(st, rows, 3, "keep", NOW, &counts, &bad, &err));
    rows[2].payload = "{";
    RC_IS(ERR_INPUT, store_load(st, rows, 3, "keep", NOW, &counts, &bad, &err));
    SQL_IS("3", "SELECT count(*) FROM prescient.future_job");
}

/* ---- server and schema ---------------------------------------------------------------------------------------------------------- */

static int hello_of(const struct store_options *options)
{
    struct store *s = new_store(options);
    struct store_hello hello = STORE_HELLO_INIT;
    int rc = store_do(s, &hello.call);
    err = hello.call.err;
    store_free(s);
    return rc;
}

static void a_server_that_does_not_fit_is_refused_in_words(void)
{
    WITH_SERVER();
    RC_IS(ERR_SCHEMA, hello_of(&(struct store_options){ .schema = "nothing_here" }));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "prescient init"));
    RC_IS(ERR_SETTINGS, hello_of(&(struct store_options){ .slot_length_s = 60 }));
    CU_ASSERT(strstr(err.text, "60") && strstr(err.text, "900"));
    PQclear(ask(app, "ALTER DATABASE %s SET default_transaction_isolation = 'serializable'", database));
    RC_IS(ERR_SETTINGS, hello_of(NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "serializable"));
    PQclear(ask(app, "ALTER DATABASE %s RESET default_transaction_isolation", database));
    PQclear(ask(app, "ALTER DATABASE %s SET default_transaction_read_only = on", database));
    RC_IS(ERR_LOST, hello_of(NULL));
    PQclear(ask(app, "ALTER DATABASE %s RESET default_transaction_read_only", database));
    PQclear(ask(app, "UPDATE prescient.migration SET oldest_engine = 9999 WHERE version = 1"));
    RC_IS(ERR_SCHEMA, hello_of(NULL));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "9999"));
    PQclear(ask(app, "UPDATE prescient.migration SET oldest_engine = 1 WHERE version = 1"));
    RC_IS(0, hello_of(NULL));
}

static void a_landed_migration_that_changed_is_named(void)
{
    WITH_SERVER();
    struct migrate_options options = { 0 };
    RC_IS(0, store_migrate(st, &options, &err));
    PQclear(ask(app, "UPDATE prescient.migration SET sha256 = 'x' || substr(sha256, 2) WHERE version = 2"));
    RC_IS(ERR_SCHEMA, store_migrate(st, &options, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "0002_history_days"));
    PQclear(ask(app, "UPDATE prescient.migration SET sha256 = (SELECT sha256 FROM prescient.migration WHERE version = 1) WHERE version = 99"));
    PQclear(ask(app, "DROP SCHEMA prescient CASCADE"));
    options.dry_run = true;
    int would = store_migrate(st, &options, &err);
    CU_ASSERT(would > 0);
    options.dry_run = false;
    RC_IS(would, store_migrate(st, &options, &err));
    store_free(st);                     /* its statements spoke of the tables that are gone */
    st = new_store(NULL);
}

static void a_new_slot_length_reslots_what_is_pending(void)
{
    WITH_SERVER();
    PQclear(ask(app, "SELECT prescient.file_check('e', '1', 'j', '2030-01-01 00:15+00', NULL, 'keep', 0, NULL)"));
    struct migrate_options options = { .slot_length_s = 3600 };
    RC_IS(ERR_SETTINGS, store_migrate(st, &options, &err));
    options.change_slot_length = true;
    RC_IS(0, store_migrate(st, &options, &err));
    SQL_IS("t", "SELECT next_check_at = '2030-01-01 01:00+00' FROM prescient.future_job");
    SQL_IS("t", "SELECT prescient.slot_ceil('2030-01-01 00:00:01+00') = '2030-01-01 01:00+00'");
    options.slot_length_s = 7;
    RC_IS(ERR_SETTINGS, store_migrate(st, &options, &err));
    options.slot_length_s = LENGTH;
    RC_IS(0, store_migrate(st, &options, &err));
}

static void a_schema_of_another_name_and_unprepared_statements_work(void)
{
    WITH_SERVER();
    struct store *usual = st;
    st = new_store(&(struct store_options){ .schema = "bench_1", .unprepared = true });
    struct migrate_options options = { .slot_length_s = 60 };
    CU_ASSERT(store_migrate(st, &options, &err) > 0);
    SQL_IS("new", "SELECT (bench_1.file_check('e', '1', 'look', to_timestamp(%" PRId64 "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))).outcome", SLOT, SLOT - 1000);
    struct lease lease = take();
    CU_ASSERT_EQUAL(store_slot_length_s(st), 60);
    struct store_page page = read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    struct settlement s = done(&page.checks[0]);
    struct store_settle settle = settle_of(&lease, &s, 1);
    RC_IS(0, call(&settle.call));
    SQL_IS("1", "SELECT count(*) FROM bench_1.future_job_history");
    store_page_free(&page);
    store_free(st);
    st = usual;
    PQclear(ask(app, "DROP SCHEMA bench_1 CASCADE"));
    struct store *bad = NULL;
    CU_ASSERT_EQUAL(store_new(&(struct store_options){ .url = url, .schema = "no; DROP" }, &bad, &err), ERR_INPUT);
}

static void the_second_host_is_tried_when_the_first_is_not_there(void)
{
    WITH_SERVER();
    const char *host = strstr(url, "host=");
    char two[700];
    if (!host)
        return;
    snprintf(two, sizeof two, "%.*shost=/nowhere,%s", (int)(host - url), url, host + strlen("host="));
    RC_IS(0, hello_of(&(struct store_options){ .url = two }));
    snprintf(two, sizeof two, "%.*shost=/nowhere", (int)(host - url), url);
    RC_IS(ERR_LOST, hello_of(&(struct store_options){ .url = two }));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nowhere"));
}

static const struct test tests[] = {
    TEST(bucket_is_the_same_in_sql_and_in_c),
    TEST(a_page_runs_from_open_to_finish),
    TEST(every_report_runs_with_and_without_parameters),
    TEST(enqueue_says_what_happened),
    TEST(enqueue_in_the_past_gets_the_next_slot),
    TEST(enqueue_many_takes_arrays_and_names_the_bad_row),
    TEST(bad_values_are_refused_in_words),
    TEST(a_plain_insert_is_at_least_aligned_and_in_its_bucket),
    TEST(the_api_works_in_a_trigger_and_rolls_back_with_it),
    TEST(an_enqueuer_calls_the_api_and_sees_no_table),
    TEST(an_engine_role_runs_checks_without_owning_the_tables),
    TEST(a_check_committed_late_is_found_by_the_second_look),
    TEST(a_transaction_that_has_an_id_but_ended_none_yet_keeps_the_slot_open),
    TEST(a_consumer_of_events_waits_for_the_oldest_transaction),
    TEST(a_settle_gives_up_on_a_locked_row_and_leaves_it_out_when_told),
    TEST(a_lease_that_another_is_just_taking_is_not_waited_for_long),
    TEST(a_settle_under_way_holds_a_takeover_up),
    TEST(a_settle_that_waited_for_a_takeover_changes_nothing),
    TEST(a_call_past_its_deadline_loses_its_connection),
    TEST(a_session_ended_by_the_server_is_opened_anew),
    TEST(a_check_asked_for_again_while_it_ran_starts_anew),
    TEST(a_move_never_lands_in_a_slot_that_has_begun),
    TEST(what_was_replaced_meanwhile_keeps_its_new_state),
    TEST(effects_follow_what_was_touched_and_nothing_else),
    TEST(an_effect_that_is_refused_takes_its_page_back),
    TEST(a_split_slot_is_settled_bucket_by_bucket),
    TEST(heavy_payloads_make_small_pages_and_none_is_lost),
    TEST(hot_statements_use_the_slot_index_without_statistics),
    TEST(no_lease_is_taken_without_a_partition_for_today),
    TEST(a_settle_without_a_partition_is_no_verdict_about_a_check),
    TEST(days_that_are_over_are_indexed_and_pruned),
    TEST(a_load_copies_what_is_new_and_settles_what_is_not),
    TEST(a_load_names_the_bad_row_and_leaves_nothing),
    TEST(a_server_that_does_not_fit_is_refused_in_words),
    TEST(a_landed_migration_that_changed_is_named),
    TEST(a_new_slot_length_reslots_what_is_pending),
    TEST(a_schema_of_another_name_and_unprepared_statements_work),
    TEST(the_second_host_is_tried_when_the_first_is_not_there),
    { NULL, NULL },
};

const struct suite suite_store_pg = { "store_pg", setup, teardown, tests };
