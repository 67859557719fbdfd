/* sqlite_store_fixture.h - a fresh store in a file of its own, and an application beside it: for
 * tests of the views, of the file and of the schema. */
#ifndef PRESCIENT_SQLITE_STORE_FIXTURE_H
#define PRESCIENT_SQLITE_STORE_FIXTURE_H

#include "sqlite_fixture.h"

struct litefx {
    char dir[400], path[450], url[470];
    struct store *st;
    sqlite3 *app;               /* an application: plain SQLite, nothing of ours */
};
extern struct litefx litefx;

void litefx_begin(void);        /* ends what was, and makes them anew */
void litefx_end(void);
int litefx_teardown(void);      /* for a suite */
int litefx_hello(struct store *st);
const char *litefx_look(const char *sql);       /* litefx_ask as the application */

void litefx_text_is(int line, const char *found, const char *expected);
void litefx_rc_is(int line, int found, int expected);
#define SQL_IS(expected, sql) litefx_text_is(__LINE__, litefx_look(sql), expected)
#define RC_IS(expected, rc) litefx_rc_is(__LINE__, rc, expected)
#define SAYS(words) CU_ASSERT_PTR_NOT_NULL(strstr(litefx_err.text, words))

#endif
