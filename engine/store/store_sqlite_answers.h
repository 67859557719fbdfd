/* store_sqlite_answers.h - the answers of the current settle as a virtual table that only this
 * connection sees. */
#ifndef PRESCIENT_STORE_SQLITE_ANSWERS_H
#define PRESCIENT_STORE_SQLITE_ANSWERS_H

#include <sqlite3.h>

#include "store_slot.h"

struct sqlite_answers {
    const struct settlement *settlements;
    int n;
    enum keep_runs keep_runs;
    int64_t now;                    /* no check moves to a slot that has begun */
    int32_t slot_length_s;
};

/* The values of prescient_answers.part. All but the first choose among answers whose state is
 * SETTLE_TOUCHED. The last has a row for each listener of each event. */
enum sqlite_part { ANSWERS_ALL, ANSWERS_ENDS, ANSWERS_MOVES, ANSWERS_RUNS, ANSWERS_RENEWALS,
                   ANSWERS_RENEWED_RUNS, ANSWERS_DELIVERIES };

/* Adds the table to a connection. `answers` must live as long as the connection. Returns a SQLite
 * result code. */
int sqlite_answers_register(sqlite3 *db, struct sqlite_answers *answers);

#endif
