/* withheld.h - events that are written, but that no consumer gets yet: on PostgreSQL they wait for
 * the oldest writing transaction of the cluster, in whatever database it runs. */
#ifndef PRESCIENT_WITHHELD_H
#define PRESCIENT_WITHHELD_H

#include "app.h"
#include "../view/rows.h"

/* "2 by process 15456 of database crm (idle in transaction), 8s", with `what` behind the number,
 * from a row with the columns of the report `withheld`. NULL: none is withheld, or no memory. */
const char *withheld_words(struct arena *a, const struct store_rows *rows, const char *what);

/* Asks the store and, when events are withheld, prints a remark with what to do. Returns how many
 * they are. A failure is no reason to fail: then none. */
int64_t withheld_remark(struct app *app);

/* When a reader that stays is told. A transaction of a moment is none of its business. */
struct withheld_watch {
    char xid[24];               /* which transaction events waited for at the last look; "": none */
    int64_t since_us, told_us;  /* when that was first seen, and last told; 0: not told */
    int64_t look_us;            /* when to look again */
};

/* Whether it is time to ask the store. */
bool withheld_watch_is_due(const struct withheld_watch *w, int64_t now_us);

/* The answer: `xid` is the transaction that events wait for, NULL for none. True: tell the reader.
 * That is so when the same transaction was seen before, then when it has gone on for twice as long,
 * and at the latest after an hour. */
bool withheld_watch_saw(struct withheld_watch *w, const char *xid, int64_t now_us);

/* Asks the store when that is due, and prints the remark when the reader is to be told. */
void withheld_watch_look(struct withheld_watch *w, struct app *app, int64_t now_us);

#endif
