/* store_sqlite_cursor.c - cursors of events: whether one is of this file, and the reports on named
 * ones that are more than one statement. */
#include <inttypes.h>
#include <stdlib.h>

#include "../base/moment.h"
#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

static const char *param(const struct store_report *req, int n)
{
    return n <= req->nparams ? req->params[n - 1] : NULL;
}

static int refuse_ahead(const char *generation, const char *xid, const char *id, int64_t newest,
                        struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "the cursor %s-%s-%s is ahead of everything that this file ever had, event %" PRId64
                   ": it is from another store, or the file was restored from an "
                   "older copy. The next events would be skipped, so none are shown. Find the last event "
                   "that you have with `prescient events`, and continue with its cursor",
                   generation, xid, id, newest);
}

/* Another event has the number, or a smaller one and was written later. */
static int refuse_earlier(const char *xid, const char *id, const struct sqlite_event_before_out *event,
                          struct err *err)
{
    char was[MOMENT_TEXT], is[MOMENT_TEXT];
    return err_set(err, ERR_INPUT,
                   "the cursor 0-%s-%s is of an event written at %s, and the event %" PRId64
                   " of this file was written at %s: it is from another store, or the file was restored from "
                   "an older copy and has come to such numbers again. Events would be skipped, so none are "
                   "shown. Find the last event that you have with `prescient events`, and continue with its "
                   "cursor",
                   xid, id, moment_format(strtoll(xid, NULL, 10) / 1000000, was), event->id,
                   moment_format(event->at_us / 1000000, is));
}

/* An older copy of the file that was put back gives the id to another event. If the event of the
 * cursor is not there, it was pruned, or is lost: then those before it were written before it, but
 * for what a copy has written since. (A clock that was set back may look like that, too.) */
static int compare_event(struct sqlite_store *db, const char *xid, const char *id, struct err *err)
{
    struct sqlite_event_before_in in = { .id = id };
    struct sqlite_event_before_out event = { 0 };
    int64_t seen_us = strtoll(xid, NULL, 10);
    int rc = seen_us ? sqlite_ask(db, err, STATEMENT_EVENT_BEFORE, &event, &in) : 0;
    if (rc <= 0 || event.at_us == seen_us)
        return rc < 0 ? rc : 0;
    bool is_same = event.id == strtoll(id, NULL, 10);
    return is_same || event.at_us > seen_us ? refuse_earlier(xid, id, &event, err) : 0;
}

int sqlite_check_cursor(struct sqlite_store *db, const char *generation, const char *xid, const char *id,
                        struct err *err)
{
    struct sqlite_events_handed_out_out newest = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_EVENTS_HANDED_OUT, &newest, NULL);
    if (rc < 0)
        return rc;
    generation = generation ? generation : "0";
    xid = xid ? xid : "0";
    id = id ? id : "0";
    bool is_foreign = strtoll(generation, NULL, 10) > 0;
    if (is_foreign || strtoll(id, NULL, 10) > newest.id)
        return refuse_ahead(generation, xid, id, newest.id, err);
    return compare_event(db, xid, id, err);
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
