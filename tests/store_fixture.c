/* store_fixture.c - a store to test, empty for each test: a file in the tests' folder, or a
 * database of the run's server. */
#include "store_fixture.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pg_database.h"
#include "sqlite_fixture.h"

const unsigned char owner[STORE_OWNER_SIZE] = "engine number 1",
                    stranger[STORE_OWNER_SIZE] = "engine number 2";
struct err fixture_err;

static struct {
    bool sqlite, there;
    struct pg_database db;
    char url[512];
    struct store *store;
    struct arena *arena;
    PGconn *side;       /* a session that stays: each new one would plan and compile all anew */
    sqlite3 *app;       /* an application, of fixture_run() */
} fx;

/* ---- comparing ------------------------------------------------------------------------------- */

void fixture_text_is(int line, const char *found, const char *expected)
{
    bool same = strcmp(found, expected) == 0;
    if (!same)
        printf("\n      line %d: found '%s', expected '%s' %s", line, found, expected, fixture_err.text);
    CU_ASSERT(same);
}

void fixture_number_is(int line, int64_t found, int64_t expected)
{
    if (found != expected)
        printf("\n      line %d: found %" PRId64 ", expected %" PRId64 " %s", line, found, expected,
               fixture_err.text);
    CU_ASSERT(found == expected);
}

/* ---- one store per suite --------------------------------------------------------------------- */

struct store *fixture_store(void) { return fx.store; }
bool fixture_is_sqlite(void) { return fx.sqlite; }

struct store *fixture_another(struct store_options changes)
{
    struct store *st = NULL;
    changes.url = changes.url ? changes.url : fx.url;
    changes.engine = changes.engine ? changes.engine : "test/1";
    if (store_new(&changes, &st, &fixture_err) < 0)
        printf("\n      store_new: %s", fixture_err.text);
    return st;
}

struct store *fixture_nowhere(void)
{
    char url[600];
    snprintf(url, sizeof url, "%s.none", fx.url);
    return fx.sqlite ? fixture_another((struct store_options){ .url = url })
                     : fixture_another((struct store_options){ .schema = "nobody_made_this" });
}

/* PostgreSQL's is kept from test to test, as an engine keeps it: to plan its statements anew took
 * most of the time. */
static bool open_store(void)
{
    struct store_hello hello = STORE_HELLO_INIT;
    if (!fx.store)
        fx.store = fixture_another((struct store_options){ 0 });
    if (!fx.store || store_do(fx.store, &hello.call) == 0)
        return fx.store != NULL;
    fixture_err = hello.call.err;
    return false;
}

static bool make_store(void)
{
    struct migrate_options options = { 0 };
    fx.store = fixture_another((struct store_options){ 0 });
    return fx.store && store_migrate(fx.store, &options, &fixture_err) >= 0;
}

static void drop_store(void)
{
    store_free(fx.store);
    fx.store = NULL;
}

static void drop_arena(void)
{
    arena_free(fx.arena);
    fx.arena = NULL;
}

int fixture_setup_sqlite(void)
{
    fx.sqlite = fx.there = true;
    snprintf(fx.url, sizeof fx.url, "sqlite:%s/store_contract_%d.db", test_tmp_dir(), (int)getpid());
    return 0;
}

static const char *file_path(void)
{
    return fx.url + strlen("sqlite:");
}

static int run_sql(PGconn *conn, const char *sql)
{
    PGresult *r = PQexec(conn, sql);
    bool well = PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;
    if (!well)
        printf("\n      %s: %s", sql, PQerrorMessage(conn));
    PQclear(r);
    return well ? 0 : -1;
}

int fixture_setup_pg(void)
{
    fx.sqlite = false;
    fx.there = test_pg_url() != NULL;
    if (!fx.there) {
        printf("\n    no PostgreSQL server was given: skipped");
        return 0;
    }
    if (!pg_database_make(&fx.db, "prescient_contract"))
        return 1;
    snprintf(fx.url, sizeof fx.url, "%s", fx.db.url);
    if (!make_store())
        return 1;
    fx.side = PQconnectdb(fx.url);
    return run_sql(fx.side, "SET client_min_messages = warning") < 0;
}

static void drop_app(void)
{
    sqlite3_close(fx.app);
    fx.app = NULL;
}

int fixture_teardown(void)
{
    drop_store();
    drop_arena();
    drop_app();
    if (fx.sqlite) {
        litefx_remove(file_path());
    } else if (fx.there) {
        PQfinish(fx.side);
        fx.side = NULL;
        pg_database_drop(&fx.db);
    }
    fx.there = false;
    return 0;
}

bool fixture_begin(void)
{
    if (!fx.there)
        return false;
    err_clear(&fixture_err);
    drop_arena();
    fx.arena = arena_new(64 * 1024);
    bool made = false;
    if (fx.sqlite) {
        drop_store();
        drop_app();
        bool copied = litefx_new_file(file_path());
        fx.store = fixture_another((struct store_options){ 0 });
        made = copied && fx.store;
    } else {
        /* The rows go, not the files: there are a hundred of them. */
        run_sql(fx.side,
                "DELETE FROM prescient.future_job; DELETE FROM prescient.slot_pass;"
                "DELETE FROM prescient.slot_lease; DELETE FROM prescient.schedule;"
                "DELETE FROM prescient.place; DELETE FROM prescient.concurrency_limit;"
                "DELETE FROM prescient.pause; DELETE FROM prescient.cursor;"
                "DELETE FROM prescient.engine_seen; DELETE FROM prescient.future_job_history;"
                "DELETE FROM prescient.future_job_run; DELETE FROM prescient.event;"
                "DELETE FROM prescient.slot_load; DELETE FROM prescient.run_hour;"
                "DELETE FROM prescient.run_now; DELETE FROM prescient.run_note;"
                "DELETE FROM prescient.tally;"
                "DELETE FROM prescient.request; DELETE FROM prescient.token; DELETE FROM prescient.change;"
                "DELETE FROM prescient.setting "
                "WHERE name IN ('swept_until', 'sweep_noted', 'pruned_at', 'loads_noted_at', 'pace'); "
                "SELECT prescient.keep_history_days(1)");
        made = open_store();
    }
    if (!made)
        printf("\n      %s", fixture_err.text);
    CU_ASSERT_FATAL(made);
    return true;
}

void fixture_run(const char *on_pg, const char *on_sqlite)
{
    if (!fx.sqlite) {
        CU_ASSERT_FATAL(run_sql(fx.side, on_pg) == 0);
        return;
    }
    if (!fx.app)
        CU_ASSERT_EQUAL_FATAL(sqlite3_open(file_path(), &fx.app), SQLITE_OK);
    int rc = sqlite3_exec(fx.app, on_sqlite, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        printf("\n      %s: %s", on_sqlite, sqlite3_errmsg(fx.app));
    CU_ASSERT_EQUAL_FATAL(rc, SQLITE_OK);
}

/* What has been written becomes so many days older, by the real clock: that it was written then. */
void fixture_make_old(int days)
{
    if (fx.sqlite) {
        sqlite3 *db = NULL;
        char sql[1024];
        snprintf(sql, sizeof sql,
                 "UPDATE prescient_future_job_history SET archived_at_us = archived_at_us - %d * 86400000000;"
                 "UPDATE prescient_future_job_run SET recorded_at_us = recorded_at_us - %d * 86400000000;"
                 "UPDATE prescient_event SET recorded_at_us = recorded_at_us - %d * 86400000000;"
                 "UPDATE prescient_slot_pass SET recorded_at_us = recorded_at_us - %d * 86400000000;"
                 "UPDATE prescient_run_note SET noted_at_us = noted_at_us - %d * 86400000000;",
                 days, days, days, days, days);
        CU_ASSERT(sqlite3_open(fx.url + strlen("sqlite:"), &db) == SQLITE_OK &&
                  sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_close(db);
    } else {
        char sql[1024];
        snprintf(sql, sizeof sql,
                "SELECT prescient.make_history_day(prescient.utc_day(now() - %d * interval '1 day'));"
                "UPDATE prescient.future_job_history SET archived_at = archived_at - %d * interval '1 day';"
                "UPDATE prescient.future_job_run SET recorded_at = recorded_at - %d * interval '1 day';"
                "UPDATE prescient.event SET recorded_at = recorded_at - %d * interval '1 day';"
                "UPDATE prescient.slot_pass SET recorded_at = recorded_at - %d * interval '1 day';"
                "UPDATE prescient.run_note SET noted_at = noted_at - %d * interval '1 day'",
                days, days, days, days, days, days);
        CU_ASSERT(run_sql(fx.side, sql) == 0);
    }
}

int fixture_call(struct store_call *call)
{
    int rc = store_do(fx.store, call);
    if (rc < 0)
        fixture_err = call->err;
    return rc;
}

/* ---- reports --------------------------------------------------------------------------------- */

struct store_rows fixture_report(const char *name, const char *const *params, int n)
{
    struct store_report r = STORE_REPORT_INIT;
    r.name = name;
    r.params = params;
    r.nparams = n;
    r.arena = fx.arena;
    if (fixture_call(&r.call) < 0)
        r.rows.rows = -1;
    return r.rows;
}

struct store_rows fixture_retry(const char *entity, const char *key, const char *job, const char *since,
                                const char *at, const char *now)
{
    struct store_rows found = REPORT("retry_found", entity, key, job, since);
    const char *marks = "";
    for (int i = 0; i < found.rows; i++)
        marks = arena_printf(fx.arena, "%s%s%s", marks, i ? "," : "", cell(&found, i, "mark"));
    if (found.rows <= 0)
        return found;
    return REPORT("retry", arena_printf(fx.arena, "[%s]", marks), cell(&found, 0, "found"), at, now);
}

const char *cell(const struct store_rows *rows, int row, const char *column)
{
    for (int c = 0; row < rows->rows && c < rows->columns; c++)
        if (strcmp(rows->names[c], column) == 0) {
            const char *text = rows->cells[row * rows->columns + c];
            return text ? text : "NULL";
        }
    return "no such column";
}

const char *value(const char *report, const char *key, const char *column)
{
    struct store_rows rows = REPORT(report, "orders", key);
    if (rows.rows < 0)
        return "failed";
    return rows.rows == 0 ? "none" : cell(&rows, 0, column);
}

int64_t number(const char *report, const char *key, const char *column)
{
    return strtoll(value(report, key, column), NULL, 10);
}

int rows_in(const char *report)
{
    return fixture_report(report, NULL, 0).rows;
}

/* ---- enqueue and friends --------------------------------------------------------------------- */

const char *text_of(int64_t n)
{
    return arena_printf(fx.arena, "%" PRId64, n);
}

const char *filed_as(const struct store_rows *rows)
{
    if (rows->rows < 0)
        return arena_printf(fx.arena, "error %d", fixture_err.code);
    if (rows->rows != 1)
        return arena_printf(fx.arena, "%d rows", rows->rows);
    const char *at = cell(rows, 0, "next_check_at");
    if (strcmp(at, "NULL") == 0)
        return cell(rows, 0, "outcome");
    int64_t from_slot = strtoll(at, NULL, 10) - SLOT;
    return from_slot % LENGTH
               ? arena_printf(fx.arena, "%s between slots, %s", cell(rows, 0, "outcome"), at)
               : arena_printf(fx.arena, "%s %+" PRId64, cell(rows, 0, "outcome"), from_slot / LENGTH);
}

const char *put_any(const char *entity, const char *key, const char *job, const char *payload,
                    const char *conflict, int64_t at, int64_t now)
{
    struct store_rows rows = REPORT("enqueue", entity, key, job, text_of(at), payload, conflict, NULL,
                                    now ? text_of(now) : NULL);
    return filed_as(&rows);
}

const char *put(const char *key, int64_t at, const char *conflict, int64_t now)
{
    return put_any("orders", key, "look", NULL, conflict, at, now);
}

void put_in_slot(int n)
{
    static const char *const keys[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    for (int i = 0; i < n; i++)
        put(keys[i], SLOT, "keep", BEFORE);
}

const char *put_with(const char *key, const char *payload, int32_t priority)
{
    struct store_rows rows = REPORT("enqueue", "orders", key, "look", text_of(SLOT), payload, NULL,
                                    text_of(priority), text_of(BEFORE));
    return filed_as(&rows);
}

const char *reschedule(const char *key, int64_t at, int64_t now)
{
    struct store_rows rows = REPORT("reschedule", "orders", key, "look", text_of(at), text_of(now));
    return filed_as(&rows);
}

const char *resolve(const char *key)
{
    struct store_rows rows = REPORT("resolve", "orders", key, NULL, text_of(NOW));
    return rows.rows == 1 ? cell(&rows, 0, "resolved") : "failed";
}

/* ---- slots ----------------------------------------------------------------------------------- */

struct store_open_slot open_slot(const unsigned char *who, int lease_s)
{
    struct store_open_slot o = STORE_OPEN_SLOT_INIT;
    o.slot = SLOT;
    o.now = NOW;
    o.split_at = 1000;
    o.owner = who;
    o.lease_s = lease_s;
    o.want = BUCKETS;
    return o;
}

struct lease take(void)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.again = true;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
    return o.taken[0];
}

struct lease take_over(const struct lease *held)
{
    struct store_open_slot o = open_slot(stranger, 60);
    o.watched = held;
    o.nwatched = 1;
    o.again = true;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
    return o.taken[0];
}

struct check_rows read_page(const struct lease *lease, int want)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.want = want;
    r.max_bytes = 1 << 20;
    IS(0, fixture_call(&r.call));
    return r.page;
}

void answer_done(struct settlement *answer)
{
    const struct check *check = answer->check;
    *answer = (struct settlement){ .check = check,
                                   .ends = true,
                                   .outcome = OUTCOME_DONE,
                                   .check_count = check->check_count,
                                   .ran = true,
                                   .failure_count = check->failure_count,
                                   .run_at_us = NOW * 1000000,
                                   .run_us = 1500 };
}

void answer_again(struct settlement *answer, int64_t at)
{
    answer_done(answer);
    answer->ends = false;
    answer->outcome = OUTCOME_AGAIN;
    answer->next_at = at;
    answer->check_count++;
}

struct scene scene_of(int n)
{
    for (int i = 1; i <= n; i++)
        TEXT_IS("new +0", put(text_of(i), SLOT, "keep", BEFORE));
    return scene_of_slot(n);
}

struct scene scene_of_slot(int n)
{
    struct scene scene = { .lease = take(), .n = n };
    scene.page = read_page(&scene.lease, SCENE_MAX);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, n);
    for (int i = 0; i < n; i++) {
        struct settlement *answer = &scene.answers[atoi(scene.page.checks[i].entity_key) - 1];
        answer->check = &scene.page.checks[i];
        answer_done(answer);
    }
    return scene;
}

void scene_end(struct scene *scene)
{
    check_rows_free(&scene->page);
}

/* The keys are enqueued in their order, so the answers are sorted by id, as a settle wants them. */
struct store_settle settle(struct scene *scene)
{
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene->lease;
    s.now = NOW;
    s.settlements = scene->answers;
    s.n = scene->n;
    fixture_call(&s.call);
    return s;
}

bool finish(const struct lease *lease)
{
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = *lease;
    f.now = NOW;
    IS(0, fixture_call(&f.call));
    return f.finished;
}

struct store_relook relook(void)
{
    static struct relook_slot slots[8];
    struct store_relook r = STORE_RELOOK_INIT;
    r.now = NOW;
    r.slots = slots;
    r.want = (int)(sizeof slots / sizeof *slots);
    IS(0, fixture_call(&r.call));
    return r;
}
