/* store_sqlite_cursor.c - cursors of events: whether one is of this file, and the reports on named
 * ones that are more than one statement. */
#include <inttypes.h>
#include <stdlib.h>

#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

static const char *param(const struct store_report *req, int n)
{
    return n <= req->nparams ? req->params[n - 1] : NULL;
}

int sqlite_check_cursor(struct sqlite_store *db, const char *generation, const char *xid, const char *id,
                        struct err *err)
{
    struct sqlite_events_handed_out_out newest = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_EVENTS_HANDED_OUT, &newest, NULL);
    if (rc < 0)
        return rc;
    if (!generation)
        generation = "0";
    if (!xid)
        xid = "0";
    bool foreign = strtoll(generation, NULL, 10) > 0 || strtoll(xid, NULL, 10) > 0;
    if (foreign || (id && strtoll(id, NULL, 10) > newest.id))
        return err_set(err, ERR_INPUT,
                       "the cursor %s-%s-%s is ahead of everything that this file ever had, 0-0-%" PRId64
                       ": it is from another store, or the file was restored from an "
                       "older copy. The next events would be skipped, so none are shown. Find the last event "
                       "that you have with `prescient events`, and continue with its cursor",
                       generation, xid, id ? id : "0", newest.id);
    return 0;
}

int sqlite_report_cursor_take(struct sqlite_store *db, struct store_report *req)
{
    int64_t rc = sqlite_run(db, &req->call.err, STATEMENT_CURSOR_TAKE, &(struct sqlite_cursor_take_in){
        .name = param(req, 1),
        .owner = param(req, 2),
        .held_by = param(req, 3),
        .lease_ms = param(req, 4),
        .seen_owner = param(req, 5),
        .seen_token = param(req, 6),
        .seen_until_us = param(req, 7),
        .clock_us = sqlite_clock_us(db),
    });
    return rc < 0 ? (int)rc : sqlite_select(db, req, STATEMENT_CURSOR_TAKEN, req->params, 2);
}

int sqlite_report_cursor_reset(struct sqlite_store *db, struct store_report *req)
{
    int rc = sqlite_check_cursor(db, param(req, 2), param(req, 3), param(req, 4), &req->call.err);
    return rc < 0 ? rc : sqlite_select(db, req, STATEMENT_CURSOR_RESET, req->params, req->nparams);
}
