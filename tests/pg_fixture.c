/* pg_fixture.c - a database of the test's own on the server of the run, two sessions of
 * applications beside the store. */
#include "pg_fixture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../engine/store/store_pg.h"

struct pg_fixture pgfx;
const unsigned char pgfx_owner[STORE_OWNER_SIZE] = "engine one......",
                    pgfx_stranger[STORE_OWNER_SIZE] = "engine two......";

PGresult *pgfx_ask(PGconn *conn, const char *fmt, ...)
{
    char sql[8192];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sql, sizeof sql, fmt, ap);
    va_end(ap);
    return PQexec(conn, sql);
}

/* The first cell as text, "" for none, or the SQLSTATE of a failure. */
const char *pgfx_cell(PGconn *conn, const char *fmt, ...)
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
    const char *cell = PQntuples(r) > 0 ? PQgetvalue(r, 0, 0) : "";
    snprintf(out, sizeof text[0], "%s", state ? state : cell);
    if (state && getenv("VERBOSE"))
        printf("      %s", PQerrorMessage(conn));
    PQclear(r);
    return out;
}

static int64_t slow_us(void *ctx)
{
    (void)ctx;
    return clock_mono_us(&clock_system) / 4;
}

static int64_t wall_us(void *ctx)
{
    (void)ctx;
    return clock_wall_us(&clock_system);
}

const struct clock pgfx_slow = { slow_us, slow_us, wall_us, NULL };

struct store *pgfx_new_store(const struct store_options *changes)
{
    struct store_options o = changes ? *changes : (struct store_options){ 0 };
    struct store *s = NULL;
    o.url = o.url ? o.url : pgfx.db.url;
    o.engine = "test/1";
    if (store_new(&o, &s, &pgfx.err) < 0)
        printf("      store_new: %s\n", pgfx.err.text);
    return s;
}

void pgfx_in_its_session(const char *sql)
{
    PGconn *conn = pg_store(pgfx.st)->conn;
    CU_ASSERT_FATAL(PQexitPipelineMode(conn) && PQsetnonblocking(conn, 0) == 0);
    PGresult *r = PQexec(conn, sql);
    CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    CU_ASSERT_FATAL(PQsetnonblocking(conn, 1) == 0 && PQenterPipelineMode(conn));
}

int pgfx_setup(void)
{
    if (!test_pg_url()) {
        printf("\n    no PostgreSQL server given: skipped\n");
        return 0;
    }
    if (!pg_database_make(&pgfx.db, "prescient_test"))
        return 1;
    pgfx.st = pgfx_new_store(NULL);
    struct migrate_options options = { 0 };
    int rc = pgfx.st ? store_migrate(pgfx.st, &options, &pgfx.err) : -1;
    if (rc < 0)
        printf("      %s\n", pgfx.err.text);
    pgfx.app = PQconnectdb(pgfx.db.url);
    pgfx.other = PQconnectdb(pgfx.db.url);
    PQsetNoticeProcessor(pgfx.app, pg_drop_notice, NULL);
    PQsetNoticeProcessor(pgfx.other, pg_drop_notice, NULL);
    return rc < 0 || PQstatus(pgfx.app) != CONNECTION_OK || PQstatus(pgfx.other) != CONNECTION_OK;
}

int pgfx_teardown(void)
{
    store_free(pgfx.st);
    PQfinish(pgfx.app);
    PQfinish(pgfx.other);
    if (test_pg_url())
        pg_database_drop(&pgfx.db);
    return 0;
}

/* True when there is a server; the tables are empty then. */
bool pgfx_begin(void)
{
    if (!test_pg_url())
        return false;
    PQclear(PQexec(pgfx.app, "ROLLBACK; RESET ROLE"));
    PQclear(PQexec(pgfx.other, "ROLLBACK; RESET ROLE"));
    /* Of the tables by day the rows go, not the files: there are a hundred of them. */
    PQclear(pgfx_ask(
        pgfx.app, "TRUNCATE prescient.future_job, prescient.slot_pass, prescient.slot_lease, "
                  "prescient.schedule, prescient.pause, prescient.cursor, prescient.engine_seen, "
                  "prescient.place, prescient.concurrency_limit;"
                  "DELETE FROM prescient.future_job_history;"
                  "DELETE FROM prescient.future_job_run; DELETE FROM prescient.event;"
                  "DELETE FROM prescient.slot_load; DELETE FROM prescient.run_hour;"
                  "DELETE FROM prescient.run_now; DELETE FROM prescient.run_note;"
                  "DELETE FROM prescient.tally;"
                  "DELETE FROM prescient.request; DELETE FROM prescient.token; DELETE FROM prescient.change;"
                  "DELETE FROM prescient.setting "
                  "WHERE name IN ('swept_until', 'sweep_noted', 'pruned_at', 'loads_noted_at')"));
    err_clear(&pgfx.err);
    return true;
}

/* `n` checks of entity e, keys 1 to n, in SLOT. */
void pgfx_put_checks(int n)
{
    PQclear(pgfx_ask(pgfx.app,
                     "SELECT prescient.file_check('e', i::text, 'look', to_timestamp(%" PRId64
                     "), NULL, 'keep', 0, to_timestamp(%" PRId64 "))"
                     "  FROM generate_series(1, %d) i",
                     SLOT, SLOT - 100, n));
}

int pgfx_call(struct store_call *c)
{
    int rc = store_do(pgfx.st, c);
    pgfx.err = c->err;
    return rc;
}

struct store_open_slot pgfx_open_slot(const unsigned char *who)
{
    struct store_open_slot o = STORE_OPEN_SLOT_INIT;
    o.slot = SLOT;
    o.split_at = 1000;
    o.owner = who;
    o.lease_s = 60;
    o.want = BUCKETS;
    return o;
}

struct lease pgfx_take(void)
{
    struct store_open_slot o = pgfx_open_slot(pgfx_owner);
    o.again = true;
    RC_IS(0, pgfx_call(&o.call));
    CU_ASSERT(o.ntaken > 0);
    return o.taken[0];
}

struct check_rows pgfx_read_page(const struct lease *lease, int want)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.want = want;
    r.max_bytes = 1 << 20;
    RC_IS(0, pgfx_call(&r.call));
    return r.page;
}

struct settlement pgfx_done(const struct check *check)
{
    return (struct settlement){ .check = check,
                                .ends = true,
                                .outcome = OUTCOME_DONE,
                                .check_count = check->check_count,
                                .ran = true,
                                .run_at_us = NOW * 1000000,
                                .run_us = 1500 };
}

struct settlement pgfx_again(const struct check *check, int64_t at)
{
    struct settlement s = pgfx_done(check);
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
static void pgfx_answer_all(struct settlement *s, const struct check_rows *page,
                            struct settlement (*answer)(const struct check *))
{
    for (int i = 0; i < page->n; i++)
        s[i] = answer(&page->checks[i]);
    qsort(s, (size_t)page->n, sizeof *s, by_id);
}

struct store_settle pgfx_settle_of(const struct lease *lease, struct settlement *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, by_id);
    struct store_settle settle = STORE_SETTLE_INIT;
    settle.lease = *lease;
    settle.now = NOW;
    settle.settlements = s;
    settle.n = n;
    return settle;
}

struct store_report pgfx_report(struct arena *a, const char *name, int n, const char *const *params)
{
    struct store_report r = STORE_REPORT_INIT;
    r.name = name;
    r.params = params;
    r.nparams = n;
    r.arena = a;
    pgfx_call(&r.call);
    return r;
}

void pgfx_run_init(struct pgfx_run *run, int n)
{
    pgfx_put_checks(n);
    run->lease = pgfx_take();
    run->page = pgfx_read_page(&run->lease, 64);
    CU_ASSERT_EQUAL_FATAL(run->page.n, n);
    pgfx_answer_all(run->s, &run->page, pgfx_done);
}

struct store_settle pgfx_run_settle(struct pgfx_run *run)
{
    struct store_settle settle = pgfx_settle_of(&run->lease, run->s, run->page.n);
    pgfx_call(&settle.call);
    return settle;
}

struct settlement *pgfx_answer_of(struct pgfx_run *run, const char *key)
{
    for (int i = 0; i < run->page.n; i++)
        if (strcmp(run->s[i].check->entity_key, key) == 0)
            return &run->s[i];
    CU_FAIL_FATAL("no such key in the page");
    return NULL;
}

struct store_relook pgfx_relook(struct relook_slot *slots)
{
    struct store_relook l = STORE_RELOOK_INIT;
    l.slots = slots;
    l.want = 8;
    RC_IS(0, pgfx_call(&l.call));
    return l;
}
