/* store_sqlite_answers.h - the answers of the settle under way, as a table that only this
 * connection sees. */
#ifndef PRESCIENT_STORE_SQLITE_ANSWERS_H
#define PRESCIENT_STORE_SQLITE_ANSWERS_H

#include <sqlite3.h>

#include "store_slot.h"

struct sqlite_answers {
    const struct settlement *settlements;
    int n;
    enum keep_runs keep_runs;
    int64_t open_slot;              /* the first that has not begun: nothing moves to an earlier one */
};

/* What prescient_answers.part is asked for. All but the first: only answers whose state is
 * SETTLE_TOUCHED by now. */
enum sqlite_part { ANSWERS_ALL, ANSWERS_ENDS, ANSWERS_MOVES, ANSWERS_RUNS };

/* `answers` lives as long as the connection. Returns a SQLite result code. */
int sqlite_answers_register(sqlite3 *db, struct sqlite_answers *answers);

#endif
