/* test_store_sqlite_disk.c - a disk that does not keep what it was given: after a sync that failed
 * nothing is acknowledged, and the handle, which holds pages that may never have arrived, is not
 * used again; nor is one that can only read. fsync and fdatasync of this program are those below.
 */
#include "sqlite_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int syncs_until_failure;             /* 0: none fails; 1: the next and all after it */
static char path[PATH_MAX], url[PATH_MAX + 8];
static struct store *st;

static int sync_or_fail(long number, int fd)
{
    if (syncs_until_failure > 1)
        syncs_until_failure--;
    else if (syncs_until_failure == 1)
        return errno = EIO, -1;
    return (int)syscall(number, fd);
}

int fsync(int fd) { return sync_or_fail(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_or_fail(SYS_fdatasync, fd); }

static struct store *connect_to(struct store_options o)
{
    struct store *s = litefx_connect(url, o);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

static void begin(void)
{
    syncs_until_failure = 0;
    snprintf(path, sizeof path, "%s/disk_%d.db", test_tmp_dir(), (int)getpid());
    snprintf(url, sizeof url, "sqlite:%s", path);
    CU_ASSERT_FATAL(litefx_new_file(path));
    st = connect_to((struct store_options){ 0 });
    CU_ASSERT_EQUAL(litefx_load(st, 0, 5), 5);
}

static void end(void)
{
    syncs_until_failure = 0;
    store_free(st);
    litefx_remove(path);
}

/* How many of our descriptors are of the file. */
static int handles(void)
{
    struct stat file, other;
    int n = 0;
    CU_ASSERT_EQUAL_FATAL(stat(path, &file), 0);
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; (e = readdir(dir));)
        n += fstat(atoi(e->d_name), &other) == 0 && other.st_ino == file.st_ino &&
             other.st_dev == file.st_dev;
    closedir(dir);
    return n;
}

static const char *ask(const char *sql)
{
    sqlite3 *db;
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(path, &db), SQLITE_OK);
    const char *text = litefx_ask(db, sql);
    sqlite3_close(db);
    return text;
}

/* A commit is several syncs: of the journal, of the file, of the journal again. Whichever fails. */
static void a_load_whose_sync_fails_is_not_acknowledged_and_its_handle_closed(void)
{
    for (int nth = 1; nth < 6; nth++) {
        begin();
        syncs_until_failure = nth;
        int rc = litefx_load(st, 5, 5);
        bool failed = rc < 0;
        CU_ASSERT_TRUE(failed || nth > 3);
        if (failed) {
            CU_ASSERT_EQUAL(rc, ERR_LOST);
            CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, path));
            CU_ASSERT_EQUAL(handles(), 0);
        }
        syncs_until_failure = 0;
        rc = litefx_load(st, 5, 5);          /* what was not acknowledged may be there: then it is kept */
        CU_ASSERT_TRUE(rc == 5 || rc == 0);
        CU_ASSERT_STRING_EQUAL(ask("SELECT count(*) FROM prescient_future_job"), "10");
        CU_ASSERT_STRING_EQUAL(ask("PRAGMA integrity_check"), "ok");
        end();
    }
}

static void a_lease_whose_sync_fails_is_not_taken_and_its_handle_closed(void)
{
    begin();
    syncs_until_failure = 1;
    CU_ASSERT_EQUAL(litefx_take(st), ERR_LOST);
    CU_ASSERT_EQUAL(handles(), 0);
    syncs_until_failure = 0;
    CU_ASSERT_EQUAL(litefx_take(st), 1);
    CU_ASSERT_STRING_EQUAL(ask("SELECT count(*) FROM prescient_slot_lease"), "1");
    end();
}

/* A replay's calls share a transaction: when that could not be kept, no later call may say that
 * all is well. */
static void a_replay_whose_sync_fails_does_not_go_on(void)
{
    begin();
    store_free(st);
    st = litefx_replay(url);
    CU_ASSERT_PTR_NOT_NULL_FATAL(st);
    CU_ASSERT_EQUAL(litefx_take(st), 1);
    syncs_until_failure = 1;
    struct store_hello hello = STORE_HELLO_INIT;
    CU_ASSERT_NOT_EQUAL(store_do(st, &hello.call), 0);
    syncs_until_failure = 0;
    CU_ASSERT_EQUAL(handles(), 0);
    CU_ASSERT_NOT_EQUAL(store_do(st, &hello.call), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(hello.call.err.text, "start it again"));
    CU_ASSERT_STRING_EQUAL(ask("SELECT count(*) FROM prescient_slot_lease"), "0");
    end();
}

/* ---- a disk without room, and a call without time -------------------------------------------- */

static bool is_full;

static ssize_t write_if_room(int fd, const void *bytes, size_t n)
{
    return is_full ? (errno = ENOSPC, -1) : write(fd, bytes, n);
}
static ssize_t pwrite_if_room(int fd, const void *bytes, size_t n, off_t at)
{
    return is_full ? (errno = ENOSPC, -1) : pwrite(fd, bytes, n, at);
}

static void watch_writes(bool watch)
{
    static const char *const names[] = { "pwrite", "pwrite64" };
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_syscall_ptr call = watch ? (sqlite3_syscall_ptr)write_if_room : NULL;
    CU_ASSERT_EQUAL_FATAL(vfs->xSetSystemCall(vfs, "write", call), SQLITE_OK);
    call = watch ? (sqlite3_syscall_ptr)pwrite_if_room : NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CU_ASSERT_EQUAL_FATAL(vfs->xSetSystemCall(vfs, names[i], call), SQLITE_OK);
    is_full = false;
}

static int hello(void)
{
    struct store_hello h = STORE_HELLO_INIT;
    store_do(st, &h.call);
    litefx_err = h.call.err;
    return h.call.rc;
}

static void begin_a_replay(struct store_options options)
{
    begin();
    store_free(st);
    st = options.relaxed ? connect_to(options) : litefx_replay(url);
    CU_ASSERT_PTR_NOT_NULL_FATAL(st);
    CU_ASSERT_EQUAL(litefx_take(st), 1);
}

/* Calls that had succeeded are gone with the transaction that they shared. */
static void no_later_call_says_that_all_is_well(void)
{
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(hello(), ERR_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, "start it again"));
        CU_ASSERT_EQUAL(litefx_take(st), ERR_INPUT);
    }
    CU_ASSERT_STRING_EQUAL(ask("SELECT count(*) FROM prescient_slot_lease"), "0");
}

static void a_replay_that_has_no_room_to_commit_does_not_go_on(void)
{
    begin_a_replay((struct store_options){ 0 });
    watch_writes(true);
    is_full = true;
    CU_ASSERT_EQUAL(hello(), ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, "cannot grow"));
    watch_writes(false);
    no_later_call_says_that_all_is_well();
    end();
}

/* SQLite undoes the statement alone. */
static void a_replay_that_has_no_room_within_a_call_loses_that_call_alone(void)
{
    begin_a_replay((struct store_options){ 0 });
    watch_writes(true);
    is_full = true;
    CU_ASSERT_EQUAL(litefx_load(st, 5, 5), ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, "cannot grow"));
    watch_writes(false);
    CU_ASSERT_EQUAL(hello(), 0);
    CU_ASSERT_STRING_EQUAL(ask("SELECT count(*) FROM prescient_slot_lease"), "1");
    CU_ASSERT_STRING_EQUAL(ask("SELECT count(*) FROM prescient_future_job"), "5");
    end();
}

static int64_t hurried_us(void *ctx)
{
    int64_t *step_us = ctx;
    static int64_t now_us = 1000000;
    return now_us += *step_us;
}
static int64_t wall_us(void *ctx)
{
    (void)ctx;
    return clock_wall_us(&clock_system);
}

static void a_replay_with_a_call_past_its_deadline_does_not_go_on(void)
{
    int64_t step_us = 0;
    const struct clock clock = { hurried_us, hurried_us, wall_us, &step_us };
    begin_a_replay((struct store_options){ .relaxed = true, .clock = &clock, .statement_timeout_ms = 500 });
    step_us = 1000000;
    CU_ASSERT_EQUAL(litefx_load(st, 5, 1000), ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, "longer than the statement timeout"));
    step_us = 0;
    no_later_call_says_that_all_is_well();
    end();
}

/* What SQLite cannot open for writing, for want of a descriptor, say, it opens for reading, and
 * the handle stays like that. */
static int opens_to_refuse;

static int open_or_refuse(const char *name, int flags, int mode)
{
    if ((flags & O_ACCMODE) != O_RDWR || strcmp(name, path) != 0 || !opens_to_refuse)
        return open(name, flags, mode);
    opens_to_refuse--;
    return errno = EMFILE, -1;
}

static void a_handle_that_can_only_read_is_closed_and_the_next_call_opens_the_file_anew(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    begin();
    store_free(st);
    st = connect_to((struct store_options){ 0 });
    CU_ASSERT_EQUAL_FATAL(vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_or_refuse), SQLITE_OK);
    opens_to_refuse = 1;
    CU_ASSERT_EQUAL(litefx_take(st), ERR_LOST);
    CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, "may only be read"));
    CU_ASSERT_EQUAL(opens_to_refuse, 0);
    CU_ASSERT_EQUAL(handles(), 0);
    CU_ASSERT_EQUAL(litefx_take(st), 1);
    vfs->xSetSystemCall(vfs, "open", NULL);
    end();
}

static const struct test tests[] = {
    TEST(a_load_whose_sync_fails_is_not_acknowledged_and_its_handle_closed),
    TEST(a_lease_whose_sync_fails_is_not_taken_and_its_handle_closed),
    TEST(a_replay_whose_sync_fails_does_not_go_on),
    TEST(a_replay_that_has_no_room_to_commit_does_not_go_on),
    TEST(a_replay_that_has_no_room_within_a_call_loses_that_call_alone),
    TEST(a_replay_with_a_call_past_its_deadline_does_not_go_on),
    TEST(a_handle_that_can_only_read_is_closed_and_the_next_call_opens_the_file_anew),
    { 0 },
};

const struct suite suite_store_sqlite_disk = { "store_sqlite_disk", NULL, NULL, tests };
