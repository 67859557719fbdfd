/* sqlite_store_fixture.c - see sqlite_store_fixture.h. */
#include "sqlite_store_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct litefx litefx;

int litefx_hello(struct store *st)
{
    struct store_hello h = STORE_HELLO_INIT;
    store_do(st, &h.call);
    litefx_err = h.call.err;
    return h.call.rc;
}

static void remove_files(void)
{
    char other[500];
    litefx_remove(litefx.path);
    snprintf(other, sizeof other, "%s.other", litefx.path);
    litefx_remove(other);
    snprintf(other, sizeof other, "%s.none", litefx.path);
    litefx_remove(other);
}

void litefx_end(void)
{
    store_free(litefx.st);
    litefx.st = NULL;
    sqlite3_close(litefx.app);
    litefx.app = NULL;
    remove_files();
}

void litefx_begin(void)
{
    litefx_end();
    err_clear(&litefx_err);
    snprintf(litefx.dir, sizeof litefx.dir, "%s/store_sqlite_%d", test_tmp_dir(), (int)getpid());
    mkdir(litefx.dir, 0755);
    snprintf(litefx.path, sizeof litefx.path, "%s/store.db", litefx.dir);
    snprintf(litefx.url, sizeof litefx.url, "sqlite:%s", litefx.path);
    remove_files();
    CU_ASSERT_FATAL(litefx_new_file(litefx.path));
    litefx.st = litefx_connect(litefx.url, (struct store_options){ .lock_timeout_ms = 20 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(litefx.st);
    CU_ASSERT_EQUAL_FATAL(sqlite3_open(litefx.path, &litefx.app), SQLITE_OK);
}

int litefx_teardown(void)
{
    litefx_end();
    rmdir(litefx.dir);
    return 0;
}

const char *litefx_look(const char *sql)
{
    return litefx_ask(litefx.app, sql);
}

void litefx_text_is(int line, const char *found, const char *expected)
{
    bool same = strcmp(found, expected) == 0;
    if (!same)
        printf("\n      line %d: found '%s', expected '%s'", line, found, expected);
    CU_ASSERT(same);
}

void litefx_rc_is(int line, int found, int expected)
{
    if (found != expected)
        printf("\n      line %d: found %d, expected %d: %s", line, found, expected, litefx_err.text);
    CU_ASSERT(found == expected);
}
