/* test_bundled_jobs.c - the jobs of jobs/: what they answer and declare, over both business
 * databases, one by one and in a batch. */
#include "test.h"

#include <libpq-fe.h>
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engine/base/settings_load.h"
#include "../engine/worker/business.h"
#include "../engine/worker/host.h"
#include "../engine/worker/plugin.h"
#include "../engine/wire/slab.h"

#define TABLE "prescient_test_orders"
#define NOW 1000000
#define FIRST (NOW - 7200)              /* when the checks were first looked at */

enum { CHECKS_MAX = 16, TEXT_ROOM = 512 };

static char sqlite_url[PATH_MAX];
static struct err err;

/* ---- the two databases ---- */

static void write_sqlite(const char *sql)
{
    sqlite3 *db;
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(sqlite_url + 7, &db), SQLITE_OK);
    CU_ASSERT_EQUAL(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void write_pg(const char *sql)
{
    PGconn *conn = PQconnectdb(test_pg_url());
    PQclear(PQexec(conn, "SET client_min_messages = warning"));
    PGresult *r = PQexec(conn, sql);
    CU_ASSERT_EQUAL(PQresultStatus(r), PGRES_COMMAND_OK);
    PQclear(r);
    PQfinish(conn);
}

static void over_both(void (*f)(const char *url))
{
    const char *const urls[] = { sqlite_url, test_pg_url() };
    for (int i = 0; i < 2 && urls[i]; i++) {
        void (*write)(const char *) = i ? write_pg : write_sqlite;
        write("DROP TABLE IF EXISTS " TABLE);
        write("CREATE TABLE " TABLE " (id integer PRIMARY KEY, shipped_at integer)");
        write("INSERT INTO " TABLE " VALUES (1, 900000), (2, NULL), (3, 2000000)");
        f(urls[i]);
        write("DROP TABLE " TABLE);
    }
}

/* ---- a job, opened as a worker does ---- */

struct rig {
    struct settings settings;
    struct host_services services;
    struct host *host;
    struct plugin plugin;
    void *state;
    struct arena *arena;
    struct slab *slab;
    struct prescient_check checks[CHECKS_MAX];
    struct prescient_answer answers[CHECKS_MAX];
    struct slab_check seen[CHECKS_MAX];
    struct host_answer declared[CHECKS_MAX];
    char texts[CHECKS_MAX][TEXT_ROOM];
    char why[512];
};

static int rig_open(struct rig *r, const char *url, const char *plugin, const char *settings)
{
    char text[4096], dir[PATH_MAX + 8];
    int fd;
    memset(r, 0, sizeof *r);
    snprintf(text, sizeof text, "jobs = { tested = { plugin = \"%s\"; settings = { %s }; }; };", plugin,
             settings);
    CU_ASSERT_EQUAL_FATAL(settings_parse(&r->settings, text, "test", &err), 0);
    snprintf(dir, sizeof dir, "%s/jobs", test_build_dir());
    const char *const dirs[] = { dir };
    CU_ASSERT_EQUAL_FATAL(plugin_open(dirs, 1, plugin, &r->plugin, &err), 0);
    CU_ASSERT_EQUAL_FATAL(plugin_load(&r->plugin, &err), 0);
    CU_ASSERT_EQUAL_FATAL(slab_new(&r->slab, &fd, &err), 0);
    close(fd);
    r->services.slab = r->slab;
    if (url)
        CU_ASSERT_EQUAL_FATAL(
            business_new(&(struct business_options){ .url = url }, &r->services.business, &err), 0);
    CU_ASSERT_EQUAL_FATAL(host_new(&r->settings.jobs[0], &r->services, &r->host, &err), 0);
    r->arena = arena_new(4096);
    return r->plugin.api.open(host_api(r->host), &r->state, r->why, sizeof r->why);
}

static void rig_close(struct rig *r)
{
    if (r->state)
        r->plugin.api.close(r->state);
    host_free(r->host);
    business_free(r->services.business);
    slab_free(r->slab);
    settings_release(&r->settings);
    arena_free(r->arena);
}

static void put_all(struct rig *r, const char *const *keys, const char *payload)
{
    slab_reset(r->slab, NOW, INT64_MAX);
    for (int i = 0; keys[i]; i++) {
        struct check c = {
            .id = i,
            .first_check_at = FIRST,
            .next_check_at = NOW,
            .check_count = 1,
            .entity_name = "orders",
            .entity_name_len = 6,
            .entity_key = keys[i],
            .entity_key_len = (uint32_t)strlen(keys[i]),
            .job_exec = "tested",
            .job_exec_len = 6,
            .payload = payload,
            .payload_len = payload ? (uint32_t)strlen(payload) : 0,
        };
        CU_ASSERT_TRUE_FATAL(slab_put(r->slab, &c, 0, false));
    }
    slab_open(r->slab);
}

/* Asks the job about the keys; what it said and declared is then in rig_answer(). */
static void rig_run(struct rig *r, const char *const *keys, const char *payload, bool many)
{
    int from, n;
    put_all(r, keys, payload);
    CU_ASSERT_EQUAL_FATAL(slab_claim(r->slab, CHECKS_MAX, 0, &from, &n), SLAB_CLAIMED);
    for (int i = 0; i < n; i++) {
        struct slab_check *c = &r->seen[i];
        slab_get(r->slab, i, c);
        r->checks[i] = (struct prescient_check){
            .size = sizeof r->checks[i],
            .entity_name = c->entity_name,
            .entity_key = c->entity_key,
            .job = c->job_name,
            .payload = c->payload,
            .now = c->now,
            .slot = c->slot,
            .first_check_at = c->first_check_at,
            .check_count = c->check_count,
            .impl = c,
        };
        r->declared[i] = (struct host_answer){ .index = i };
        r->texts[i][0] = '\0';
        r->answers[i] = (struct prescient_answer){
            .size = sizeof r->answers[i], .text = r->texts[i], .text_size = TEXT_ROOM, .impl = &r->declared[i]
        };
    }
    host_begin(r->host, business_now_us() + 10000000);
    if (many)
        r->plugin.api.job_exec_many(r->state, r->checks, n, r->answers);
    for (int i = 0; !many && i < n; i++)
        r->plugin.api.job_exec(r->state, &r->checks[i], &r->answers[i]);
    for (int i = 0; i < n; i++)
        slab_answer(r->slab, i, r->answers[i].kind, r->answers[i].at, 1, 1, r->texts[i]);
}

static struct raw_answer rig_answer(struct rig *r, int index)
{
    struct raw_answer got = { .kind = -2 };
    slab_take_answer(r->slab, index, r->arena, &got);
    return got;
}

static bool is_answer(struct rig *r, int index, int kind, int64_t at, int neffects)
{
    struct raw_answer got = rig_answer(r, index);
    if (got.kind == kind && (kind == PRESCIENT_DONE || kind >= PRESCIENT_FAIL || got.at == at) &&
        got.neffects == neffects)
        return true;
    fprintf(stderr, "answer %d: found kind %d at %lld with %d effects '%s', expected %d at %lld with %d\n",
            index, got.kind, (long long)got.at, got.neffects, got.text ? got.text : "", kind, (long long)at,
            neffects);
    return false;
}

/* ---- unshipped_order ---- */

#define ORDERS "table = \"" TABLE "\"; again_after = \"1h\";"

static void asks_about_orders(const char *url)
{
    static const char *const keys[] = { "1", "2", "9", "002", "2", NULL };
    struct rig r;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, url, "unshipped_order", ORDERS), 0);
    for (int many = 0; many < 2; many++) {
        rig_run(&r, keys, NULL, many);
        CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_DONE, 0, 0));
        CU_ASSERT_TRUE(is_answer(&r, 1, PRESCIENT_AGAIN, NOW + 3600, 1));
        CU_ASSERT_TRUE(is_answer(&r, 2, PRESCIENT_DONE, 0, 0));
        CU_ASSERT_STRING_EQUAL(rig_answer(&r, 2).text, "there is no such order");
        CU_ASSERT_TRUE(is_answer(&r, 3, PRESCIENT_AGAIN, NOW + 3600, 1));      /* the same row as "2" */
        CU_ASSERT_TRUE(is_answer(&r, 4, PRESCIENT_AGAIN, NOW + 3600, 1));
        struct raw_answer got = rig_answer(&r, 1);
        CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
        CU_ASSERT_STRING_EQUAL(got.effects[0].event, "order.unshipped");
        CU_ASSERT_STRING_EQUAL(got.effects[0].json,
                               "{\"entity_key\": \"2\", \"first_check_at\": 992800, \"check_number\": 2}");
    }
    rig_close(&r);
}
static void an_unshipped_order_is_told_and_looked_at_again(void) { over_both(asks_about_orders); }

/* The tables have no such column: neither database may take the name for anything else. */
static void asks_about_a_misspelt_column(const char *url)
{
    static const char *const keys[] = { "1", "2", NULL };
    struct rig r;
    CU_ASSERT_EQUAL_FATAL(
        rig_open(&r, url, "unshipped_order", "table = \"" TABLE "\"; shipped = \"shiped_at\";"), 0);
    for (int many = 0; many < 2; many++) {
        rig_run(&r, keys, NULL, many);
        for (int i = 0; i < 2; i++) {
            struct raw_answer answer = rig_answer(&r, i);
            CU_ASSERT_EQUAL(answer.kind, PRESCIENT_FAIL);
            CU_ASSERT_PTR_NOT_NULL(strstr(answer.text, "shiped_at"));
        }
    }
    rig_close(&r);
}
static void a_misspelt_column_fails_by_its_name(void) { over_both(asks_about_a_misspelt_column); }

static void asks_with_a_bad_key(const char *url)
{
    static const char *const keys[] = { "1", "a\"b\\c", "2", "'; --", NULL };
    struct rig r;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, url, "unshipped_order", ORDERS), 0);
    bool typed = url != sqlite_url;     /* SQLite compares any text with a number: no such row */
    for (int many = 0; many < 2; many++) {
        rig_run(&r, keys, NULL, many);
        CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_DONE, 0, 0));
        CU_ASSERT_TRUE(is_answer(&r, 1, typed ? PRESCIENT_FAIL : PRESCIENT_DONE, 0, 0));
        CU_ASSERT_TRUE(is_answer(&r, 2, PRESCIENT_AGAIN, NOW + 3600, 1));
        CU_ASSERT_TRUE(is_answer(&r, 3, typed ? PRESCIENT_FAIL : PRESCIENT_DONE, 0, 0));
    }
    rig_close(&r);
}
static void one_bad_key_does_not_harm_the_orders_beside_it(void) { over_both(asks_with_a_bad_key); }

static void without_the_database_three_orders_fail_and_the_rest_is_put_off(void)
{
    static const char *const keys[] = { "1", "2", "3", "4", "5", NULL };
    static const char *const plugins[][2] = {
        { "unshipped_order", ORDERS },
        { "sql_check", "query = \"SELECT value FROM json_each($1)\"; event = \"e\";" },
    };
    for (int p = 0; p < 2; p++) {
        struct rig r;
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, "sqlite:/nonexistent/x.db", plugins[p][0], plugins[p][1]), 0);
        rig_run(&r, keys, NULL, true);
        for (int i = 0; i < 5; i++)
            CU_ASSERT_TRUE(is_answer(&r, i, i < 3 ? PRESCIENT_FAIL : PRESCIENT_BROKEN, 0, 0));
        CU_ASSERT_PTR_NOT_NULL(strstr(rig_answer(&r, 0).text, "cannot open /nonexistent/x.db"));
        rig_close(&r);
    }
}

/* ---- sql_check ---- */

#define SQL_CHECK(again)                                                                                     \
    "query_postgresql = \"SELECT k FROM json_array_elements_text($1::json) AS k JOIN " TABLE                 \
    " t ON t.id = k::integer"                                                                                \
    " WHERE t.shipped_at <= $2::bigint\"; query_sqlite = \"SELECT k.value FROM json_each($1) AS k "          \
    "JOIN " TABLE " t ON t.id = k.value"                                                                     \
    " WHERE t.shipped_at <= CAST($2 AS INTEGER)\"; event = \"order.late\"; " again

static void asks_by_sql(const char *url)
{
    static const char *const keys[] = { "1", "2", "3", "9", NULL };
    struct rig r;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, url, "sql_check", SQL_CHECK("again = [\"1h\", \"72h\", \"24h\"];")),
                          0);
    for (int many = 0; many < 2; many++) {
        rig_run(&r, keys, "{\"a\": [1]}", many);
        CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_DONE, 0, 0));
        for (int i = 1; i < 4; i++)     /* "3" ships later than now; 1 h after the first look is past */
            CU_ASSERT_TRUE(is_answer(&r, i, PRESCIENT_AGAIN, FIRST + 86400, 1));
        struct raw_answer got = rig_answer(&r, 1);
        CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
        CU_ASSERT_STRING_EQUAL(got.effects[0].event, "order.late");
        CU_ASSERT_STRING_EQUAL(got.effects[0].json,
                               "{\"entity_name\": \"orders\", \"entity_key\": \"2\", \"job\": \"tested\", "
                               "\"first_check_at\": 992800, \"check_number\": 2, \"payload\": {\"a\": [1]}}");
    }
    rig_close(&r);
}
static void what_has_not_happened_is_told_and_asked_again(void) { over_both(asks_by_sql); }

/* A constant, a NULL, another column: none is of a check that was asked about. It was taken for
 * "has not happened" without a word. */
static void a_key_that_was_not_asked_for_is_no_answer(void)
{
    static const char *const keys[] = { "1", "2", NULL };
    static const char *const queries[] = { "SELECT 17 FROM json_each($1)", "SELECT NULL FROM json_each($1)",
                                           "SELECT 'x' || value FROM json_each($1)" };
    static const char *const words[] = { "the key '17'", "a NULL", "the key 'x1'" };
    write_sqlite("CREATE TABLE " TABLE " (id integer PRIMARY KEY, shipped_at integer)");
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char settings[512];
        struct rig r;
        snprintf(settings, sizeof settings, "query = \"%s\"; event = \"e\"; again_every = \"60s\";",
                 queries[i]);
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, sqlite_url, "sql_check", settings), 0);
        for (int many = 0; many < 2; many++) {
            rig_run(&r, keys, NULL, many);
            CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_FAIL, 0, 0));
            CU_ASSERT_TRUE(is_answer(&r, 1, PRESCIENT_FAIL, 0, 0));
            CU_ASSERT_PTR_NOT_NULL(strstr(rig_answer(&r, 0).text, words[i]));
            CU_ASSERT_PTR_NOT_NULL(strstr(rig_answer(&r, 0).text, "its first column must be the key"));
        }
        rig_close(&r);
    }
    write_sqlite("DROP TABLE " TABLE);
}

static void asks_one_bad_key(const char *url)
{
    static const char *const keys[] = { "1", "x", "2", NULL };
    struct rig r;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, url, "sql_check", SQL_CHECK("again_every = \"60s\";")), 0);
    rig_run(&r, keys, NULL, true);
    CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_DONE, 0, 0));
    CU_ASSERT_TRUE(url == sqlite_url ? is_answer(&r, 1, PRESCIENT_AGAIN, NOW + 60, 1)
                                     : is_answer(&r, 1, PRESCIENT_FAIL, 0, 0));
    CU_ASSERT_TRUE(is_answer(&r, 2, PRESCIENT_AGAIN, NOW + 60, 1));
    rig_close(&r);
}
static void one_bad_key_fails_alone(void) { over_both(asks_one_bad_key); }

static void a_list_that_is_used_up_ends_the_check(void)
{
    static const char *const keys[] = { "2", NULL }, *const agains[] = { "again = [\"1h\", \"90m\"];",
                                                                         "again = \"2h\";", "again = [];",
                                                                         "" };
    write_sqlite("CREATE TABLE " TABLE " (id integer PRIMARY KEY, shipped_at integer)");
    for (size_t i = 0; i < sizeof agains / sizeof *agains; i++) {
        char settings[2048];
        struct rig r;
        snprintf(settings, sizeof settings, "%s %s", SQL_CHECK(""), agains[i]);
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, sqlite_url, "sql_check", settings), 0);
        rig_run(&r, keys, NULL, false);
        CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_DONE, 0, 1));
        CU_ASSERT_STRING_EQUAL(rig_answer(&r, 0).text, "has not happened; no look is left");
        rig_close(&r);
    }
    write_sqlite("DROP TABLE " TABLE);
}

static void a_payload_too_long_for_an_event_is_left_out(void)
{
    static const char *const keys[] = { "2", NULL };
    struct rig r;
    char *payload = malloc(CHECK_PAYLOAD_MAX + 1);
    memset(payload, ' ', CHECK_PAYLOAD_MAX);
    memcpy(payload, "1", 1);
    payload[CHECK_PAYLOAD_MAX] = '\0';
    CU_ASSERT_EQUAL_FATAL(
        rig_open(&r, sqlite_url, "sql_check",
                 "query = \"SELECT 1 WHERE $1 IS NULL\"; event = \"e\"; again_every = \"1h\";"),
        0);
    rig_run(&r, keys, payload, false);
    CU_ASSERT_TRUE(is_answer(&r, 0, PRESCIENT_AGAIN, NOW + 3600, 1));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(rig_answer(&r, 0).effects[0].json, "\"payload\": null, \"payload_left_out\": true}"));
    free(payload);
    rig_close(&r);
}

/* ---- settings ---- */

static void settings_that_make_no_sense_are_refused_with_words(void)
{
    static const struct { const char *plugin, *settings, *words;
    } cases[] = {
        { "unshipped_order", "again_after = 24;", "found 24, expected a unit: 24s is seconds, 24h hours" },
        { "sql_check", "query = \"SELECT $1\"; event = \"e\"; again = [24, 72];",
          "setting 'again.0': found 24" },
        { "noop", "answer = \"maybe\";", "found 'maybe', expected done, again, defer, fail, fail_final or " },
        { "noop", "again_after = \"soon\";", "again_after" },
        { "noop", "again_after = [1];", "is a list or a group" },
        { "unshipped_order", "table = \"orders; DROP TABLE x\";",
          "setting 'table': found 'orders; DROP TABLE x'" },
        { "unshipped_order", "table = \"a.b.c\";", "setting 'table'" },
        { "unshipped_order", "key = \"a.b\";", "setting 'key'" },
        { "unshipped_order", "shipped = \"\";", "setting 'shipped'" },
        { "unshipped_order", "again_after = 0;", "again_after" },
        { "sql_check", "event = \"e\";", "setting 'query' (or 'query_sqlite'): not set" },
        { "sql_check", "query = \"SELECT 1\"; event = \"e\";", "found no $1" },
        { "sql_check", "query = \"SELECT $1\";", "setting 'event': not set" },
        { "sql_check", "query = \"SELECT $1\"; event = \"e\"; again = [\"1h\"]; again_every = \"1h\";",
          "found both" },
        { "sql_check", "query = \"SELECT $1\"; event = \"e\"; again = [\"1h\", \"x\"];", "again.1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        CU_ASSERT_EQUAL(rig_open(&r, sqlite_url, cases[i].plugin, cases[i].settings), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(r.why, cases[i].words));
        if (!strstr(r.why, cases[i].words))
            fprintf(stderr, "case %zu: found '%s', expected '%s'\n", i, r.why, cases[i].words);
        rig_close(&r);
    }
}

static void noop_answers_as_it_is_told(void)
{
    static const char *const keys[] = { "1", "2", NULL };
    static const struct { const char *settings; int kind; int64_t at;
    } cases[] = {
        { "", PRESCIENT_DONE, 0 },
        { "answer = \"again\"; again_after = \"2h\";", PRESCIENT_AGAIN, NOW + 7200 },
        { "answer = \"defer\";", PRESCIENT_DEFER, NOW + 3600 },
        { "answer = \"fail\";", PRESCIENT_FAIL, 0 },
        { "answer = \"fail_final\";", PRESCIENT_FAIL_FINAL, 0 },
        { "answer = \"broken\";", PRESCIENT_BROKEN, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, NULL, "noop", cases[i].settings), 0);
        rig_run(&r, keys, NULL, i % 2);
        CU_ASSERT_TRUE(is_answer(&r, 1, cases[i].kind, cases[i].at, 0));
        rig_close(&r);
    }
}

static int count_files(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void exec_answers_by_its_exit_status_and_leaves_the_worker_as_it_was(void)
{
    static const char *const keys[] = { "1", NULL };
    static const struct { const char *settings; int kind; int64_t at; const char *note;
    } cases[] = {
        { "command = [ \"true\" ];", PRESCIENT_DONE, 0, "" },
        { "command = [ \"sh\", \"-c\", \"exit 75\" ]; again_after = \"2h\";", PRESCIENT_AGAIN, NOW + 7200,
          "" },
        { "command = [ \"sh\", \"-c\", \"echo no; exit 1\" ];", PRESCIENT_FAIL, 0, "exit status 1: no" },
        { "answer = \"json\"; command = [ \"echo\", \"{\\\"done\\\": true, \\\"note\\\": \\\"seen\\\"}\" ];",
          PRESCIENT_DONE, 0, "seen" },
    };
    char payload[60000];
    memset(payload, '1', sizeof payload - 1);           /* more than a pipe holds, and nobody reads it */
    payload[sizeof payload - 1] = '\0';
    sigset_t before, after;
    sigprocmask(SIG_SETMASK, NULL, &before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rig r;
        CU_ASSERT_EQUAL_FATAL(rig_open(&r, NULL, "exec", cases[i].settings), 0);
        int open_files = count_files();
        rig_run(&r, keys, payload, false);
        CU_ASSERT_TRUE(is_answer(&r, 0, cases[i].kind, cases[i].at, 0));
        CU_ASSERT_STRING_EQUAL(r.answers[0].text, cases[i].note);
        CU_ASSERT_EQUAL(count_files(), open_files);
        rig_close(&r);
    }
    sigprocmask(SIG_SETMASK, NULL, &after);
    CU_ASSERT_EQUAL(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
    CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) <= 0);
}

/* Nothing of a stream is left: no file, no child, though its program has one of its own. */
static void a_stream_leaves_the_worker_as_it_was(void)
{
    static const char *const keys[] = { "1", "2", "3", NULL };
    static const char settings[] =
        "stream = true; window = 2; command = [ \"sh\", \"-c\", "
        "\"sleep 60 & exec sed -u -e \\\"$1\\\" -e \\\"$2\\\"\", \"sh\", "
        "\"1s/.*/{\\\"prescient\\\":1,\\\"window\\\":9}/\", "
        "\"s/^.*\\\"id\\\":\\\"\\\\([0-9a-f]*\\\\).*/"
        "{\\\"id\\\":\\\"\\\\1\\\",\\\"again_at\\\":\\\"+1h\\\"}/\" ];";
    int open_files = count_files();
    sigset_t before, after;
    struct rig r;
    sigprocmask(SIG_SETMASK, NULL, &before);
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, NULL, "exec", settings), 0);
    for (int many = 0; many < 2; many++) {
        rig_run(&r, keys, NULL, many);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_TRUE(is_answer(&r, i, PRESCIENT_AGAIN, NOW + 3600, 0));
    }
    rig_close(&r);
    close(r.plugin.fd);
    CU_ASSERT_EQUAL(count_files(), open_files);
    sigprocmask(SIG_SETMASK, NULL, &after);
    CU_ASSERT_EQUAL(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
    CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) <= 0);
}

static void exec_needs_an_engine_that_has_the_json_of_a_check(void)
{
    struct rig r;
    void *state = NULL;
    CU_ASSERT_EQUAL_FATAL(rig_open(&r, NULL, "exec", "command = [ \"true\" ];"), 0);
    struct prescient_host old = *host_api(r.host);
    old.size = offsetof(struct prescient_host, document);
    CU_ASSERT_EQUAL(r.plugin.api.open(&old, &state, r.why, sizeof r.why), -1);
    CU_ASSERT_STRING_EQUAL(r.why, "this engine is older than the plug-in: it has no JSON for streams");
    rig_close(&r);
}

static int setup(void)
{
    snprintf(sqlite_url, sizeof sqlite_url, "sqlite:%s/orders.db", test_tmp_dir());
    return 0;
}

static int teardown(void)
{
    unlink(sqlite_url + 7);
    return 0;
}

static const struct test tests[] = {
    TEST(an_unshipped_order_is_told_and_looked_at_again),
    TEST(a_misspelt_column_fails_by_its_name),
    TEST(one_bad_key_does_not_harm_the_orders_beside_it),
    TEST(without_the_database_three_orders_fail_and_the_rest_is_put_off),
    TEST(what_has_not_happened_is_told_and_asked_again),
    TEST(a_key_that_was_not_asked_for_is_no_answer),
    TEST(one_bad_key_fails_alone),
    TEST(a_list_that_is_used_up_ends_the_check),
    TEST(a_payload_too_long_for_an_event_is_left_out),
    TEST(settings_that_make_no_sense_are_refused_with_words),
    TEST(noop_answers_as_it_is_told),
    TEST(exec_answers_by_its_exit_status_and_leaves_the_worker_as_it_was),
    TEST(a_stream_leaves_the_worker_as_it_was),
    TEST(exec_needs_an_engine_that_has_the_json_of_a_check),
    { 0 },
};

const struct suite suite_bundled_jobs = { "bundled_jobs", setup, teardown, tests };
