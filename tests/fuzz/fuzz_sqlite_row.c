/* fuzz_sqlite_row.c - a page read from a file that somebody else has written to: rows whose
 * columns hold what no constraint lets in, of any type and length. What is read is text that ends
 * where its length says; nothing else is handed on. */
#include <sqlite3.h>
#include <unistd.h>

#include "../../engine/store/store_slot.h"
#include "fuzz.h"

enum { ROWS_MAX = 4, SLOT = 900000 };

static char folder[64], file[96];
static sqlite3 *other;                  /* the somebody else */
static sqlite3_stmt *insert;
static struct store *store;

static void remove_folder(void)
{
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", file);
    unlink(journal);
    unlink(file);
    rmdir(folder);
}

/* The table without its constraints: STRICT goes, too, as it does for a program that knows no such
 * tables. */
static void loosen(void)
{
    static const char sql[] =
        "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF; DROP TABLE prescient_future_job;"
        "CREATE TABLE prescient_future_job (id INTEGER PRIMARY KEY, bucket, entity_name, entity_key, "
        "job_exec, first_check_at, next_check_at,"
        " priority, check_count, failure_count, deferred_at, again_at, run_count, first_run_at_us, "
        "total_run_us, payload, origin, put_off_at);"
        "CREATE INDEX prescient_future_job_slot ON prescient_future_job (next_check_at, bucket, priority, "
        "id)";
    MUST(sqlite3_open(file, &other) == SQLITE_OK && sqlite3_exec(other, sql, NULL, NULL, NULL) == SQLITE_OK);
    MUST(sqlite3_prepare_v2(other,
                            "INSERT INTO prescient_future_job (id, entity_name, entity_key, job_exec, "
                            "first_check_at, priority, check_count, "
                            "failure_count, deferred_at, payload, put_off_at, next_check_at, bucket) "
                            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 900000, 0)",
                            -1, &insert, NULL) == SQLITE_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char url[128];
    struct err err;
    (void)argc, (void)argv;
    snprintf(folder, sizeof folder, "%s/prescient-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MUST(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/fuzz.db", folder);
    snprintf(url, sizeof url, "sqlite:%s", file);
    MUST(store_new(&(struct store_options){ .url = url }, &store, &err) == 0);
    MUST(store_migrate(store, &(struct migrate_options){ 0 }, &err) >= 0);
    loosen();
    atexit(remove_folder);
    return 0;
}

static void bind_any(struct input *in, int column, struct arena *a)
{
    size_t len;
    uint8_t type = input_u8(in);
    char *bytes;
    switch (type % 5) {
    case 0: sqlite3_bind_int64(insert, column, input_i64(in)); break;
    case 1: sqlite3_bind_double(insert, column, (double)input_i64(in) / 3); break;
    case 2: sqlite3_bind_null(insert, column); break;
    case 3:
        bytes = input_bytes(in, type, a, &len);
        sqlite3_bind_text(insert, column, bytes, (int)len, SQLITE_STATIC);
        break;
    case 4:
        bytes = input_bytes(in, type, a, &len);
        sqlite3_bind_blob(insert, column, bytes, (int)len, SQLITE_STATIC);
        break;
    }
}

static int write_rows(struct input *in, struct arena *a)
{
    int rows = 0;
    MUST(sqlite3_exec(other, "BEGIN; DELETE FROM prescient_future_job", NULL, NULL, NULL) == SQLITE_OK);
    for (; rows < ROWS_MAX && in->left; rows++) {
        sqlite3_bind_int(insert, 1, rows + 1);
        for (int column = 2; column <= 11; column++)
            bind_any(in, column, a);
        MUST(sqlite3_step(insert) == SQLITE_DONE);
        sqlite3_reset(insert);
    }
    MUST(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    return rows;
}

static void check_text(const char *text, uint32_t len)
{
    MUST(text && text[len] == '\0');
}

static int read_page(struct page_cursor *after, size_t max_bytes)
{
    struct store_read_page read = STORE_READ_PAGE_INIT;
    read.lease = (struct lease){ .slot = SLOT, .bucket = BUCKET_WHOLE_SLOT };
    read.after = *after;
    read.want = ROWS_MAX;
    read.max_bytes = max_bytes;
    if (store_do(store, &read.call) < 0) {
        MUST(read.call.err.text[0] && !read.page.checks);
        return -1;
    }
    for (int i = 0; i < read.page.n; i++) {
        const struct check *c = &read.page.checks[i];
        check_text(c->entity_name, c->entity_name_len);
        check_text(c->entity_key, c->entity_key_len);
        check_text(c->job_exec, c->job_exec_len);
        MUST(c->payload ? c->payload[c->payload_len] == '\0' : c->payload_len == 0);
        *after = (struct page_cursor){ c->bucket, c->priority, c->id };
    }
    int n = read.page.n;
    check_rows_free(&read.page);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(4096);
    struct page_cursor after = PAGE_START;
    size_t max_bytes = (size_t)input_u8(&in) * 16 + 1;
    int rows = write_rows(&in, a), n, pages = 0, found = 0;
    while ((n = read_page(&after, max_bytes)) > 0 && ++pages <= rows)
        found += n;
    MUST(n <= 0 && found <= rows);
    arena_free(a);
    return 0;
}
