/* sqlite_fixture.c - calls of a SQLite store, and of plain SQLite beside it. */
#include "sqlite_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

struct err litefx_err;
bool litefx_not_begun;

struct store *litefx_connect(const char *url, struct store_options options)
{
    struct store *st = NULL;
    options.url = url;
    return store_new(&options, &st, &litefx_err) < 0 ? NULL : st;
}

static int64_t still_us(void *ctx)
{
    (void)ctx;
    return 1000000;
}

struct store *litefx_replay(const char *url)
{
    static struct clock still = { .mono_us = still_us, .boot_us = still_us };
    still.wall_us = clock_system.wall_us;
    return litefx_connect(url, (struct store_options){ .relaxed = true, .clock = &still });
}

int litefx_init(struct store *st)
{
    struct migrate_options options = { 0 };
    return store_migrate(st, &options, &litefx_err);
}

/* Its name is gone at once, so that nobody has to remove it. -1: it could not be made. */
static int make_file(void)
{
    char path[PATH_MAX], url[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/empty_%d.db", test_tmp_dir(), (int)getpid());
    snprintf(url, sizeof url, "sqlite:%s", path);
    litefx_remove(path);
    struct store *st = litefx_connect(url, (struct store_options){ 0 });
    bool made = st && litefx_init(st) > 0;
    if (st)
        store_free(st);
    int fd = made ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    litefx_remove(path);
    return fd;
}

bool litefx_new_file(const char *path)
{
    static int empty = -1;
    if (empty < 0)
        empty = make_file();
    litefx_remove(path);
    int fd = empty < 0 ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    off_t at = 0;
    ssize_t n = 1;
    while (n > 0)
        n = sendfile(fd, empty, &at, 1 << 20);
    return close(fd) == 0 && n == 0;
}

int litefx_take(struct store *st)
{
    static const unsigned char owner[STORE_OWNER_SIZE] = "engine number 1";
    struct store_open_slot o = STORE_OPEN_SLOT_INIT;
    o.slot = SLOT;
    o.owner = owner;
    o.lease_s = 60;
    o.want = 1;
    o.split_at = 1000;
    store_do(st, &o.call);
    litefx_err = o.call.err;
    litefx_not_begun = o.not_begun;
    return o.call.rc ? o.call.rc : o.ntaken;
}

int litefx_load(struct store *st, int from, int n)
{
    enum { MOST = 1000 };
    static struct load_row rows[MOST];
    static char keys[MOST][16], payload[2001];
    struct load_counts counts;
    int bad;
    CU_ASSERT_FATAL(n <= MOST);
    memset(payload, '1', sizeof payload - 1);
    payload[0] = payload[sizeof payload - 2] = '"';
    for (int i = 0; i < n; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", from + i);
        rows[i] = (struct load_row){
            .entity_name = "orders", .entity_key = keys[i], .job_exec = "look", .payload = payload, .at = SLOT
        };
    }
    int rc = store_load(st, rows, n, "keep", SLOT - 60, &counts, &bad, &litefx_err);
    return rc < 0 ? rc : (int)counts.added;
}

const char *litefx_ask(sqlite3 *db, const char *sql)
{
    static char text[4][2048];
    static int next;
    char *out = text[++next % 4];
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(s);
    const char *cell = "";
    if (rc == SQLITE_ROW)
        cell = (const char *)sqlite3_column_text(s, 0);
    else if (rc != SQLITE_DONE)
        cell = sqlite3_errmsg(db);
    snprintf(out, sizeof text[0], "%s", cell ? cell : "NULL");
    sqlite3_finalize(s);
    return out;
}

void litefx_remove(const char *path)
{
    static const char *const ends[] = { "", "-journal", "-wal", "-shm" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[PATH_MAX + 8];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}
