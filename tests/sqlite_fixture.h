/* sqlite_fixture.h - what tests of files have in common, which only the SQLite store has: the few
 * calls that they make of it. Each brings a file of its own, and what happens to it. */
#ifndef PRESCIENT_SQLITE_FIXTURE_H
#define PRESCIENT_SQLITE_FIXTURE_H

#include "test.h"

#include <sqlite3.h>

#include "../engine/store/store_report.h"
#include "../engine/store/store_slot.h"

#define LENGTH 900
#define SLOT INT64_C(1772370900)            /* 2026-03-01T13:15:00Z */

extern struct err litefx_err;               /* of the last call that failed */
extern bool litefx_not_begun;               /* what the last litefx_take was told of its slot */

struct store *litefx_connect(const char *url, struct store_options options);       /* NULL: it says why */
/* a replay's: no time passes for it, so it keeps nothing by itself on a machine that is busy */
struct store *litefx_replay(const char *url);
int litefx_init(struct store *st);          /* how many migrations it took */
/* A new file of the newest schema at `path`, in place of what was there: a copy of one that is made
 * once in a process, since its migrations take longer than a test. */
bool litefx_new_file(const char *path);
/* opens SLOT for a minute: how many leases, none when nothing is in it */
int litefx_take(struct store *st);
/* at most 1000 checks of "orders" into SLOT, each with a payload of 2000 bytes: how many are new */
int litefx_load(struct store *st, int from, int n);

/* The first cell as text, "" for none, or the words of a failure; the last four stay valid. */
const char *litefx_ask(sqlite3 *db, const char *sql);

void litefx_remove(const char *path);       /* the file, and what SQLite has beside one */

#endif
