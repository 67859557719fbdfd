/* test_store_sqlite_file.c - a SQLite store whose file goes away, is full, read-only, damaged, busy
 * or not ours. */
#include "sqlite_store_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void urls_name_a_file(void)
{
    litefx_begin();
    static const char *const bad[] = { "sqlite:", "sqlite://", "sqlite::memory:" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_PTR_NULL(litefx_connect(bad[i], (struct store_options){ 0 }));
        RC_IS(ERR_INPUT, litefx_err.code);
        SAYS("expected sqlite:FILE");
    }
    char other[480];
    snprintf(other, sizeof other, "sqlite://%s", litefx.path);
    struct store *s = litefx_connect(other, (struct store_options){ 0 });
    RC_IS(0, litefx_hello(s));
    store_free(s);
}

static void a_folder_that_is_left_does_not_move_the_file(void)
{
    litefx_begin();
    char cwd[500];
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(cwd, sizeof cwd));
    CU_ASSERT_EQUAL_FATAL(chdir(litefx.dir), 0);
    struct store *s = litefx_connect("sqlite:store.db", (struct store_options){ 0 });
    CU_ASSERT_EQUAL_FATAL(chdir(cwd), 0);
    RC_IS(0, litefx_hello(s));
    store_free(s);
}

static void a_missing_file_is_not_made_by_looking(void)
{
    litefx_begin();
    char none[490];
    snprintf(none, sizeof none, "%s.none", litefx.url);
    struct store *s = litefx_connect(none, (struct store_options){ 0 });
    RC_IS(ERR_SCHEMA, litefx_hello(s));
    SAYS("prescient init");
    RC_IS(-1, access(none + strlen("sqlite:"), F_OK));
    store_free(s);
}

static void a_file_that_is_removed_stops_the_engine(void)
{
    litefx_begin();
    RC_IS(0, litefx_hello(litefx.st));
    unlink(litefx.path);
    RC_IS(ERR_LOST, litefx_take(litefx.st));
    SAYS(litefx.path);
    RC_IS(ERR_LOST, litefx_take(litefx.st));
    SAYS("removed");
    RC_IS(-1, access(litefx.path, F_OK));
}

static void a_file_that_is_replaced_stops_one_call_and_is_then_read_anew(void)
{
    litefx_begin();
    RC_IS(3, litefx_load(litefx.st, 0, 3));
    char other[500], other_url[520];
    snprintf(other, sizeof other, "%s.other", litefx.path);
    snprintf(other_url, sizeof other_url, "sqlite:%s", other);
    struct store *s = litefx_connect(other_url, (struct store_options){ 0 });
    CU_ASSERT(litefx_init(s) > 0);
    store_free(s);
    CU_ASSERT_EQUAL_FATAL(rename(other, litefx.path), 0);
    RC_IS(ERR_LOST, litefx_load(litefx.st, 10, 1));
    SAYS("replaced");
    RC_IS(1, litefx_load(litefx.st, 10, 1));
    sqlite3_close(litefx.app);
    sqlite3_open(litefx.path, &litefx.app);
    SQL_IS("10", "SELECT group_concat(entity_key) FROM prescient_future_job");
}

/* In an application's own tables they do no harm. In a trigger that we fire, SQLite would file a
 * misspelt column as text; instead the statement fails and names it. */
static void quoted_strings_of_an_application_are_left_alone_and_never_taken_for_columns(void)
{
    litefx_begin();
    sqlite3_db_config(litefx.app, SQLITE_DBCONFIG_DQS_DDL, 1, NULL);
    sqlite3_db_config(litefx.app, SQLITE_DBCONFIG_DQS_DML, 1, NULL);
    SQL_IS("", "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT CHECK (state <> \"none\"))");
    SQL_IS("", "CREATE INDEX open_orders ON orders (id) WHERE state = \"open\"");
    SQL_IS("", "INSERT INTO orders VALUES (1, \"open\")");
    RC_IS(2, litefx_load(litefx.st, 0, 2));
    SQL_IS("", "CREATE TRIGGER filed AFTER INSERT ON prescient_future_job BEGIN "
               "INSERT INTO orders (state) VALUES (\"entity_nmae\"); END");
    CU_ASSERT(litefx_load(litefx.st, 10, 1) < 0);
    SAYS("no such column: ");
    SAYS("entity_nmae");
    SQL_IS("", "DROP TRIGGER filed");
    RC_IS(1, litefx_load(litefx.st, 10, 1));
    SQL_IS("1", "SELECT count(*) FROM orders");
}

static void no_file_is_left_beside_the_database(void)
{
    litefx_begin();
    RC_IS(5, litefx_load(litefx.st, 0, 5));
    store_free(litefx.st);
    litefx.st = NULL;
    char journal[500];
    snprintf(journal, sizeof journal, "%s-journal", litefx.path);
    RC_IS(-1, access(journal, F_OK));
}

/* Root may write whatever the modes say, so the test becomes somebody else. */
static void a_file_that_may_only_be_read_runs_nothing(void)
{
    litefx_begin();
    store_free(litefx.st);
    litefx.st = NULL;
    chmod(litefx.path, 0444);
    chmod(litefx.dir, 0555);
    bool was_root = geteuid() == 0;
    CU_ASSERT_FATAL(!was_root || seteuid(65534) == 0);
    struct store *s = litefx_connect(litefx.url, (struct store_options){ 0 });
    struct store_hello h = STORE_HELLO_INIT;
    if (access(litefx.dir, X_OK) == 0) {
        RC_IS(0, store_do(s, &h.call));
        CU_ASSERT(h.read_only);
        RC_IS(ERR_LOST, litefx_take(s));
        CU_ASSERT(err_is_denied(&litefx_err));
        SAYS("may not be written by this user (uid ");
        SAYS(litefx.path);
    }
    store_free(s);
    CU_ASSERT_FATAL(!was_root || seteuid(0) == 0);
    chmod(litefx.dir, 0755);
    chmod(litefx.path, 0644);
}

/* SQLite makes a journal beside the file. It begins a transaction all the same, and commits one
 * that has written nothing: the refusal came with the first check. */
static void a_folder_that_may_not_be_written_is_a_right_that_is_missing(void)
{
    litefx_begin();
    store_free(litefx.st);
    litefx.st = NULL;
    chmod(litefx.path, 0666);
    chmod(litefx.dir, 0555);
    bool was_root = geteuid() == 0;
    CU_ASSERT_FATAL(!was_root || seteuid(65534) == 0);
    struct store *s = litefx_connect(litefx.url, (struct store_options){ 0 });
    struct store_hello h = STORE_HELLO_INIT;
    if (access(litefx.dir, X_OK) == 0) {
        RC_IS(0, store_do(s, &h.call));
        CU_ASSERT(h.read_only);
        CU_ASSERT_PTR_NOT_NULL(strstr(h.denied, "make files in the folder "));
        for (int i = 0; i < 2; i++) {
            RC_IS(ERR_LOST, litefx_take(s));
            CU_ASSERT(err_is_denied(&litefx_err));
            SAYS("make files in the folder ");
            SAYS(litefx.dir);
        }
    }
    CU_ASSERT_FATAL(!was_root || seteuid(0) == 0);
    chmod(litefx.dir, 0777);
    CU_ASSERT_FATAL(!was_root || seteuid(65534) == 0);
    if (access(litefx.dir, X_OK) == 0)
        RC_IS(0, litefx_take(s));       /* the right was given meanwhile */
    store_free(s);
    CU_ASSERT_FATAL(!was_root || seteuid(0) == 0);
    chmod(litefx.dir, 0755);
    chmod(litefx.path, 0644);
}

static void a_busy_file_says_try_again(void)
{
    litefx_begin();
    RC_IS(0, litefx_hello(litefx.st));
    SQL_IS("", "BEGIN IMMEDIATE");
    RC_IS(ERR_BUSY, litefx_take(litefx.st));
    CU_ASSERT_FALSE(litefx_not_begun);
    SAYS(litefx.path);
    SQL_IS("", "ROLLBACK");
    RC_IS(0, litefx_take(litefx.st));
}

/* A clock at whose last call the application ends its transaction. */
static int64_t ends_us(void *ctx)
{
    int *left = ctx;
    if (--*left == 0)
        SQL_IS("", "ROLLBACK");
    return 1000000;
}
static int64_t wall_us(void *ctx)
{
    (void)ctx;
    return clock_wall_us(&clock_system);
}

/* The file is replaced by one of ours, with a rollback journal, to which an application is writing:
 * `writer` is in a large transaction, which is partly in the file already. */
static sqlite3 *writer;

static void replace_by_one_that_is_written_to(void)
{
    char other[500];
    snprintf(other, sizeof other, "%s.other", litefx.path);
    CU_ASSERT_FATAL(litefx_new_file(other));
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(other, &writer), SQLITE_OK);
    CU_ASSERT_STRING_EQUAL("delete", litefx_ask(writer, "PRAGMA journal_mode = DELETE"));
    sqlite3_close(writer);
    CU_ASSERT_EQUAL_FATAL(rename(other, litefx.path), 0);
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(litefx.path, &writer), SQLITE_OK);
    CU_ASSERT_STRING_EQUAL("", litefx_ask(writer, "PRAGMA cache_size = 1"));
    CU_ASSERT_STRING_EQUAL("", litefx_ask(writer, "BEGIN IMMEDIATE"));
    CU_ASSERT_STRING_EQUAL("", litefx_ask(writer, "UPDATE prescient_setting SET value = value"));
    CU_ASSERT_STRING_EQUAL("", litefx_ask(writer, "CREATE TABLE large AS SELECT zeroblob(1000000) AS x"));
}

/* The first byte of a journal that is in use; -1: there is none, 0: it was ended. */
static int journal_begins_with(void)
{
    char journal[500];
    snprintf(journal, sizeof journal, "%s-journal", litefx.path);
    FILE *f = fopen(journal, "rb");
    int first = f ? fgetc(f) : EOF;
    if (f)
        fclose(f);
    return first;
}

static void begin_with_a_rollback_journal(void)
{
    litefx_begin();
    store_free(litefx.st);
    SQL_IS("delete", "PRAGMA journal_mode = DELETE");
    litefx.st = litefx_connect(litefx.url, (struct store_options){ 0 });
    RC_IS(0, litefx_hello(litefx.st));
}

/* A journal has no name but its file's: what an old handle removed was the only copy of what the
 * writer had overwritten, and after a kill of that one the file was damaged. */
static void who_closes_a_replaced_file_leaves_the_journal_of_the_new_one(void)
{
    begin_with_a_rollback_journal();
    RC_IS(3, litefx_load(litefx.st, 0, 3));
    replace_by_one_that_is_written_to();
    CU_ASSERT_EQUAL(journal_begins_with(), 0xd9);
    store_free(litefx.st);
    litefx.st = NULL;
    CU_ASSERT_EQUAL(journal_begins_with(), 0xd9);
    CU_ASSERT_STRING_EQUAL("", litefx_ask(writer, "ROLLBACK"));
    sqlite3_close(writer);
}

/* A clock at whose last call the file is replaced. */
static int64_t replaces_us(void *ctx)
{
    int *left = ctx;
    if (--*left == 0)
        replace_by_one_that_is_written_to();
    return 1000000;
}

/* Each of its statements would find the journal, take it for that of a crash, and end it. */
static void a_file_that_is_replaced_between_two_statements_leaves_the_journal_of_the_new_one(void)
{
    int replaced = 0;
    for (int nth = 1; nth <= 12; nth++) {
        begin_with_a_rollback_journal();
        int left = 1000;
        const struct clock replaces = { replaces_us, replaces_us, wall_us, &left };
        struct store *s = litefx_connect(litefx.url, (struct store_options){ .clock = &replaces });
        RC_IS(0, litefx_hello(s));
        CLEANUP(arena_freep) struct arena *a = arena_new(1024);
        struct store_report r = STORE_REPORT_INIT;
        r.name = "doctor";
        r.arena = a;
        left = nth;
        store_do(s, &r.call);
        if (left <= 0) {
            CU_ASSERT_EQUAL(journal_begins_with(), 0xd9);
            sqlite3_close(writer);
            replaced++;
        }
        left = 1000;
        store_free(s);
    }
    CU_ASSERT(replaced > 3);
}

/* The name of what was opened still leads to it. */
static void a_link_that_leads_to_another_file_is_noticed(void)
{
    char other[500], link[500], url[520];
    litefx_begin();
    RC_IS(3, litefx_load(litefx.st, 0, 3));
    snprintf(other, sizeof other, "%s.other", litefx.path);
    snprintf(link, sizeof link, "%s.none", litefx.path);
    snprintf(url, sizeof url, "sqlite:%s", link);
    CU_ASSERT_FATAL(litefx_new_file(other));
    CU_ASSERT_EQUAL_FATAL(symlink(litefx.path, link), 0);
    struct store *s = litefx_connect(url, (struct store_options){ 0 });
    RC_IS(1, litefx_load(s, 3, 1));
    CU_ASSERT_EQUAL_FATAL(unlink(link), 0);
    CU_ASSERT_EQUAL_FATAL(symlink(other, link), 0);
    RC_IS(ERR_LOST, litefx_load(s, 4, 1));
    SAYS("replaced");
    RC_IS(1, litefx_load(s, 4, 1));
    store_free(s);
    SQL_IS("0,1,2,3", "SELECT group_concat(entity_key) FROM prescient_future_job");
}

/* Also on a connection that was made before. */
static void what_a_migration_would_do_is_asked_when_others_have_written(void)
{
    litefx_begin();
    enum { CALLS = 40 };
    int left = 1000;
    const struct clock ends = { ends_us, ends_us, wall_us, &left };
    struct store *s = litefx_connect(litefx.url, (struct store_options){ .clock = &ends });
    RC_IS(0, litefx_hello(s));
    SQL_IS("", "BEGIN EXCLUSIVE");
    left = CALLS;
    struct migrate_options options = { .dry_run = true };
    RC_IS(0, store_migrate(s, &options, &litefx_err));
    if (left > 0)           /* a write-ahead log lets who reads go by */
        SQL_IS("", "ROLLBACK");
    store_free(s);
}

static void a_reader_that_stays_keeps_a_commit_waiting_but_nothing_half_done(void)
{
    litefx_begin();
    RC_IS(0, litefx_hello(litefx.st));
    SQL_IS("", "BEGIN");
    SQL_IS("0", "SELECT count(*) FROM prescient_slot_pass");
    int rc = litefx_take(litefx.st);         /* a write-ahead log would not mind the reader */
    RC_IS(strcmp(litefx_look("PRAGMA journal_mode"), "wal") == 0 ? 0 : ERR_BUSY, rc);
    SQL_IS("", "COMMIT");
    RC_IS(0, litefx_take(litefx.st));
    SQL_IS("1", "SELECT count(*) FROM prescient_slot_pass");
}

static void a_full_disk_loses_nothing_that_was_acknowledged(void)
{
    litefx_begin();
    RC_IS(500, litefx_load(litefx.st, 0, 500));
    struct stat now;
    struct rlimit before, tight;
    CU_ASSERT_FATAL(stat(litefx.path, &now) == 0 && getrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, SIG_IGN);
    tight = (struct rlimit){ .rlim_cur = (rlim_t)now.st_size + 8192, .rlim_max = before.rlim_max };
    setrlimit(RLIMIT_FSIZE, &tight);
    RC_IS(ERR_LOST, litefx_load(litefx.st, 500, 1000));
    SAYS(litefx.path);
    setrlimit(RLIMIT_FSIZE, &before);
    SQL_IS("500", "SELECT count(*) FROM prescient_future_job");
    RC_IS(1000, litefx_load(litefx.st, 500, 1000));
    SQL_IS("ok", "PRAGMA integrity_check");
}

static void write_noise(off_t from, size_t size)
{
    char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    int fd = open(litefx.path, O_WRONLY | O_CLOEXEC);
    for (size_t at = 0; at < size; at += sizeof noise)
        CU_ASSERT_EQUAL(pwrite(fd, noise, sizeof noise, from + (off_t)at), (ssize_t)sizeof noise);
    close(fd);
}

static void a_damaged_file_is_named_and_not_written_to(void)
{
    litefx_begin();
    RC_IS(1000, litefx_load(litefx.st, 0, 1000));
    store_free(litefx.st);
    struct stat now;
    CU_ASSERT_FATAL(stat(litefx.path, &now) == 0 && now.st_size > 2000000);
    write_noise(now.st_size / 2 / 4096 * 4096, 400 * 1024);
    litefx.st = litefx_connect(litefx.url, (struct store_options){ 0 });
    struct store_report r = STORE_REPORT_INIT;
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    r.name = "list";
    r.arena = a;
    RC_IS(ERR_LOST, store_do(litefx.st, &r.call));
    litefx_err = r.call.err;
    SAYS("is damaged");
    SAYS(litefx.path);
}

/* Makes the first page of checks one that cannot be read. */
static void damage_a_page(void)
{
    static const char noise[8] = "\xee\xee\xee\xee\xee\xee\xee";
    int page = atoi(litefx_look("SELECT pageno FROM dbstat WHERE name = 'prescient_future_job' "
                                "AND pagetype = 'leaf' ORDER BY path LIMIT 1"));
    CU_ASSERT_FATAL(page > 1);
    store_free(litefx.st);
    int fd = open(litefx.path, O_WRONLY | O_CLOEXEC);
    CU_ASSERT_EQUAL(pwrite(fd, noise, sizeof noise, (page - 1) * 4096L), (ssize_t)sizeof noise);
    close(fd);
    litefx.st = litefx_connect(litefx.url, (struct store_options){ 0 });
}

/* The look for small tenants reads the rows themselves. */
static void a_slot_with_a_damaged_page_is_opened(void)
{
    static const unsigned char owner[STORE_OWNER_SIZE] = "engine number 1";
    litefx_begin();
    RC_IS(100, litefx_load(litefx.st, 0, 100));
    damage_a_page();
    struct store_open_slot o = STORE_OPEN_SLOT_INIT;
    o.slot = SLOT;
    o.owner = owner;
    o.lease_s = 60;
    o.want = 1;
    o.split_at = 1000;
    o.asks_small = true;
    RC_IS(0, store_do(litefx.st, &o.call));
    CU_ASSERT(o.ntaken == 1 && o.state == SLOT_OPEN && o.small_buckets == 0);
    SQL_IS("1", "SELECT count(*) FROM prescient_slot_lease");
}

/* The table as somebody may leave it who has switched its constraints off. */
static void loosen(void)
{
    SQL_IS("", "ALTER TABLE prescient_future_job RENAME TO strict_one");
    SQL_IS("", "CREATE TABLE prescient_future_job AS SELECT * FROM strict_one");
    SQL_IS("", "DROP TABLE strict_one");
    SQL_IS("", "CREATE INDEX prescient_future_job_slot ON prescient_future_job (next_check_at, bucket, "
               "priority, id)");
}

static int read_page(struct store_read_page *r, struct page_cursor after)
{
    *r = (struct store_read_page)STORE_READ_PAGE_INIT;
    r->lease = (struct lease){ .slot = SLOT, .bucket = BUCKET_WHOLE_SLOT };
    r->after = after;
    r->want = 100;
    r->max_bytes = 1 << 20;
    store_do(litefx.st, &r->call);
    litefx_err = r->call.err;
    return r->call.rc;
}

/* A priority that is no number sorts behind all numbers: such a row would be read again and again.
 */
static void a_row_that_no_check_can_be_is_left_out_and_told(void)
{
    static const char *const damages[] = {
        "priority = x'07'",        "priority = 'low'",      "priority = 1.5",   "priority = 1 << 40",
        "entity_key = NULL",       "entity_name = x'37'",   "job_exec = x'6c'", "check_count = 'x'",
        "failure_count = 1 << 32", "first_check_at = NULL", "payload = x'37'",  "deferred_at = 'x'",
    };
    litefx_begin();
    RC_IS(10, litefx_load(litefx.st, 0, 10));
    loosen();
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
        for (int id = 1; id <= 10; id += 3) {           /* the first, the last, and between */
            struct store_read_page r;
            char sql[256];
            SQL_IS("", "UPDATE prescient_future_job SET (priority, entity_name, entity_key, job_exec, "
                       "check_count, failure_count, first_check_at, deferred_at, payload) "
                       "= (0, 'orders', id, 'look', 0, 0, 900, NULL, NULL)");
            RC_IS(0, read_page(&r, (struct page_cursor)PAGE_START));
            CU_ASSERT(r.page.n == 10 && !r.has_more && r.ndamaged == 0);
            check_rows_free(&r.page);
            snprintf(sql, sizeof sql, "UPDATE prescient_future_job SET %s WHERE id = %d", damages[i], id);
            SQL_IS("", sql);
            RC_IS(0, read_page(&r, (struct page_cursor)PAGE_START));
            CU_ASSERT(r.page.n == 9 && !r.has_more);
            CU_ASSERT(r.ndamaged == 1 && r.damaged_id == id);
            check_rows_free(&r.page);
        }
}

static void damaged_rows_alone_are_not_read_for_ever(void)
{
    struct store_read_page r;
    litefx_begin();
    RC_IS(200, litefx_load(litefx.st, 0, 200));
    loosen();
    SQL_IS("", "UPDATE prescient_future_job SET priority = x'07'");
    RC_IS(0, read_page(&r, (struct page_cursor)PAGE_START));
    CU_ASSERT(r.page.n == 0 && !r.has_more && r.ndamaged == 100);
    check_rows_free(&r.page);
}

static void what_is_no_database_is_said_to_be_none(void)
{
    litefx_begin();
    store_free(litefx.st);
    write_noise(0, 8192);
    litefx.st = litefx_connect(litefx.url, (struct store_options){ 0 });
    RC_IS(ERR_SETTINGS, litefx_hello(litefx.st));
    SAYS("is no SQLite database");
}

static const struct test tests[] = {
    TEST(urls_name_a_file),
    TEST(a_folder_that_is_left_does_not_move_the_file),
    TEST(a_missing_file_is_not_made_by_looking),
    TEST(a_file_that_is_removed_stops_the_engine),
    TEST(a_file_that_is_replaced_stops_one_call_and_is_then_read_anew),
    TEST(who_closes_a_replaced_file_leaves_the_journal_of_the_new_one),
    TEST(a_file_that_is_replaced_between_two_statements_leaves_the_journal_of_the_new_one),
    TEST(a_link_that_leads_to_another_file_is_noticed),
    TEST(no_file_is_left_beside_the_database),
    TEST(a_file_that_may_only_be_read_runs_nothing),
    TEST(a_folder_that_may_not_be_written_is_a_right_that_is_missing),
    TEST(a_busy_file_says_try_again),
    TEST(what_a_migration_would_do_is_asked_when_others_have_written),
    TEST(a_reader_that_stays_keeps_a_commit_waiting_but_nothing_half_done),
    TEST(a_full_disk_loses_nothing_that_was_acknowledged),
    TEST(a_damaged_file_is_named_and_not_written_to),
    TEST(a_slot_with_a_damaged_page_is_opened),
    TEST(a_row_that_no_check_can_be_is_left_out_and_told),
    TEST(damaged_rows_alone_are_not_read_for_ever),
    TEST(what_is_no_database_is_said_to_be_none),
    TEST(quoted_strings_of_an_application_are_left_alone_and_never_taken_for_columns),
    { NULL, NULL },
};

const struct suite suite_store_sqlite_file = { "store_sqlite_file", NULL, litefx_teardown, tests };
