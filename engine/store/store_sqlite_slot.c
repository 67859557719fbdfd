/* store_sqlite_slot.c - slots and leases: opened, taken, renewed, finished, looked at again. A
 * slot is never split here: one lease (BUCKET_WHOLE_SLOT) covers it. Writers are serial, so no
 * transaction can commit into a slot that has been read, and a re-look that finds a slot empty
 * closes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_sqlite_calls.h"

/* ---- leases ---------------------------------------------------------------------------------- */

struct slot_look {                  /* what the opening row says */
    bool open, closed, done;
};

static int look_at_slot(struct sqlite_store *db, int64_t slot, struct slot_look *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(db, err, &row, STATEMENT_slot_state, "i", slot);
    if (rc <= 0)
        return rc;
    *out = (struct slot_look){ .open = true, .closed = sqlite3_column_int(row, 0),
                               .done = sqlite3_column_int(row, 1) };
    sqlite_done(row);
    return 0;
}

static int open_now(struct sqlite_store *db, struct store_open_slot *req, struct slot_look *look)
{
    struct err *err = &req->call.err;
    int rc = sqlite_number(db, err, &req->rows, STATEMENT_slot_count, "ii", req->slot,
                           (int64_t)req->split_at + 1);
    if (rc < 0)
        return rc;
    *look = (struct slot_look){ .open = true, .done = req->rows == 0 };
    return (int)sqlite_run(db, err, STATEMENT_slot_open, "itii", req->slot, db->engine, req->rows,
                           sqlite_clock_us(db));
}

static void put_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\')
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

/* The names as a JSON array, for json_each; NULL stays NULL. *out is the caller's to free. A name
 * that an application has written with a plain INSERT need not be UTF-8: jansson refuses it, and
 * SQLite hands back the bytes that it was given. */
static int names_as_json(const char *const *names, int n, char **out, struct err *err)
{
    size_t size;
    *out = NULL;
    if (!names)
        return 0;
    FILE *f = open_memstream(out, &size);
    if (!f)
        return err_set(err, ERR_NOMEM, "out of memory");
    for (int i = 0; i < n; i++) {
        fputc(i ? ',' : '[', f);
        put_json_string(f, names[i]);
    }
    fputs(n ? "]" : "[]", f);
    if (fclose(f) == 0 && *out)
        return 0;
    free(*out);
    *out = NULL;
    return err_set(err, ERR_NOMEM, "out of memory");
}

static int holds_rows(struct sqlite_store *db, const struct store_open_slot *req, int64_t *out,
                      struct err *err)
{
    char *jobs;
    int rc = names_as_json(req->jobs, req->njobs, &jobs, err);
    rc = rc < 0 ? rc : sqlite_number(db, err, out, STATEMENT_slot_has_rows, "it", req->slot, jobs);
    free(jobs);
    return rc;
}

static bool is_watched(const struct store_open_slot *req, const struct lease *held)
{
    for (int i = 0; i < req->nwatched; i++) {
        const struct lease *w = &req->watched[i];
        if (w->slot == held->slot && w->bucket == held->bucket && w->token == held->token &&
            w->expires_us == held->expires_us && memcmp(w->owner, held->owner, STORE_OWNER_SIZE) == 0)
            return true;
    }
    return false;
}

/* 1 and the lease that stands in the file, or 0. */
static int standing_lease(struct sqlite_store *db, int64_t slot, struct lease *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite_query(db, err, &row, STATEMENT_lease_look, "i", slot);
    if (rc <= 0)
        return rc;
    *out = (struct lease){ .slot = slot, .bucket = BUCKET_WHOLE_SLOT, .token = sqlite3_column_int64(row, 1),
                           .expires_us = sqlite3_column_int64(row, 2) };
    const void *owner = sqlite3_column_blob(row, 0);
    if (owner && sqlite3_column_bytes(row, 0) == STORE_OWNER_SIZE)
        memcpy(out->owner, owner, STORE_OWNER_SIZE);
    sqlite_done(row);
    return 1;
}

static int take_lease(struct sqlite_store *db, struct store_open_slot *req)
{
    struct err *err = &req->call.err;
    struct lease held;
    int64_t clock_us = sqlite_clock_us(db), expires_us = clock_us + req->lease_s * 1000000LL;
    int rc = standing_lease(db, req->slot, &held, err);
    if (rc < 0)
        return rc;
    if (rc && held.expires_us > clock_us && !is_watched(req, &held)) {
        req->held[req->nheld++] = held;
        return 0;
    }
    rc = (int)sqlite_run(db, err, STATEMENT_lease_take, "iotii", req->slot, req->owner, db->engine, clock_us,
                         expires_us);
    if (rc < 0)
        return rc;
    struct lease *taken = &req->taken[req->ntaken++];
    *taken = (struct lease){ .slot = req->slot, .bucket = BUCKET_WHOLE_SLOT, .expires_us = expires_us,
                             .token = sqlite3_last_insert_rowid(db->db) };
    memcpy(taken->owner, req->owner, STORE_OWNER_SIZE);
    return (int)sqlite_run(db, err, STATEMENT_slot_reopen, "i", req->slot);
}

int sqlite_open_slot(struct sqlite_store *db, struct store_call *call)
{
    struct store_open_slot *req = (struct store_open_slot *)call;
    struct slot_look look = { 0 };
    req->split = 1;
    req->rows = -1;
    req->ntaken = req->nheld = 0;
    req->clock_us = sqlite_clock_us(db);
    req->not_begun = req->slot * 1000000 > (req->now ? req->now * 1000000 : req->clock_us);
    if (req->not_begun)
        return err_set(&call->err, ERR_BUSY, "slot %lld has not begun by this machine's clock",
                       (long long)req->slot);
    int rc = look_at_slot(db, req->slot, &look, &call->err);
    if (rc == 0 && !look.open)
        rc = open_now(db, req, &look);
    int64_t wanted = !look.done;
    if (rc >= 0 && !wanted && req->again)
        rc = holds_rows(db, req, &wanted, &call->err);
    if (rc >= 0 && wanted && req->want > 0)
        rc = take_lease(db, req);
    req->state = !look.done ? SLOT_OPEN : look.closed && !req->ntaken ? SLOT_CLOSED : SLOT_RELOOK;
    return rc;
}

int sqlite_renew(struct sqlite_store *db, struct store_call *call)
{
    struct store_renew *req = (struct store_renew *)call;
    int64_t expires_us = sqlite_clock_us(db) + req->lease_s * 1000000LL, rc = 0;
    for (int i = 0; i < req->n && rc >= 0; i++) {
        struct lease *l = &req->leases[i];
        rc = sqlite_run(db, &call->err, STATEMENT_renew, "ioii", l->slot, l->owner, l->token, expires_us);
        req->lost[i] = rc == 0;
        if (rc > 0)
            l->expires_us = expires_us;
    }
    return (int)rc;
}

static int give_back(struct sqlite_store *db, const struct lease *l, struct err *err)
{
    return (int)sqlite_run(db, err, STATEMENT_release, "ioi", l->slot, l->owner, l->token);
}

int sqlite_release(struct sqlite_store *db, struct store_call *call)
{
    struct store_release *req = (struct store_release *)call;
    int rc = 0;
    for (int i = 0; i < req->n && rc >= 0; i++)
        rc = give_back(db, &req->leases[i], &call->err);
    return rc;
}

int sqlite_check_lease(struct sqlite_store *db, const struct lease *lease, struct err *err)
{
    int64_t ours = 0;
    int rc = sqlite_number(db, err, &ours, STATEMENT_lease_held, "ioi", lease->slot, lease->owner,
                           lease->token);
    if (rc == 0 && !ours)
        return err_set(err, ERR_FENCED,
                       "the lease on slot %lld (token %lld) is not ours any more: nothing was changed",
                       (long long)lease->slot, (long long)lease->token);
    return rc;
}

/* ---- the end of a pass ----------------------------------------------------------------------- */

static int may_finish(struct sqlite_store *db, const struct store_finish *req, int64_t *rows_left,
                      struct err *err)
{
    static const char *const none[] = { NULL };
    char *jobs;
    if (req->leave)
        return 0;
    int rc = names_as_json(req->nleft ? req->left : none, req->nleft, &jobs, err);
    rc = rc < 0 ? rc
                : sqlite_number(db, err, rows_left, STATEMENT_finish_look, "itii", req->lease.slot, jobs,
                                (int64_t)req->after.priority, req->after.id);
    free(jobs);
    return rc;
}

int sqlite_finish(struct sqlite_store *db, struct store_call *call)
{
    struct store_finish *req = (struct store_finish *)call;
    const struct pass_counts *c = &req->counts;
    int64_t rows_left = 0;
    req->finished = false;
    int rc = sqlite_check_lease(db, &req->lease, &call->err);
    rc = rc < 0 ? rc : may_finish(db, req, &rows_left, &call->err);
    if (rc < 0 || rows_left)
        return rc;
    rc = (int)sqlite_run(db, &call->err, STATEMENT_finish, "itiiiiiiiiiiiiiiii", req->lease.slot, db->engine,
                         c->late_us, c->took_us, sqlite_clock_us(db), c->run, c->done, c->again, c->deferred,
                         c->failed, c->timeout, c->crashed, c->guarded, c->held_back, c->unknown_job,
                         c->superseded, c->locked, (int64_t)!req->blind);
    rc = rc < 0 ? rc : give_back(db, &req->lease, &call->err);
    req->finished = rc >= 0;
    return rc;
}

/* ---- slots that are not over ----------------------------------------------------------------- */

int sqlite_relook(struct sqlite_store *db, struct store_call *call)
{
    struct store_relook *req = (struct store_relook *)call;
    sqlite3_stmt *row = NULL;
    req->n = req->closed = 0;
    int64_t closed = sqlite_run(db, &call->err, STATEMENT_relook_close, "i", sqlite_clock_us(db));
    int rc = closed < 0 ? (int)closed
                        : (int)sqlite_run(db, &call->err, STATEMENT_relook_leases, "i", sqlite_clock_us(db));
    if (rc < 0)
        return rc;
    rc = sqlite_query(db, &call->err, &row, STATEMENT_relook, "i", (int64_t)req->want);
    for (; rc > 0; rc = sqlite_next(db, &call->err, row))
        req->slots[req->n++] = (struct relook_slot){ .slot = sqlite3_column_int64(row, 0),
                                                     .has_rows = sqlite3_column_int(row, 1),
                                                     .undone = sqlite3_column_int(row, 2) };
    req->closed = (int)closed;
    return rc;
}

int sqlite_pulse(struct sqlite_store *db, struct store_call *call)
{
    struct store_pulse *req = (struct store_pulse *)call;
    (void)db;
    req->newest = req->oldest = 0;
    req->running = 0;
    return 0;
}

int sqlite_late_slot(struct sqlite_store *db, struct store_call *call)
{
    struct store_late_slot *req = (struct store_late_slot *)call;
    int64_t from = req->from;
    int rc = 0;
    if (req->full)
        from = 0;
    else if (from == 0)
        rc = sqlite_number(db, &call->err, &from, STATEMENT_swept_until, "");
    if (req->from == 0 && from > sqlite_now(db, 0))
        from = 0;                       /* the mark was set in virtual time, or the clock was set back */
    return rc < 0 ? rc
                  : sqlite_number(db, &call->err, &req->slot, STATEMENT_late_slot, "ii", from, req->before);
}

int sqlite_mark_swept(struct sqlite_store *db, struct store_call *call)
{
    struct store_mark_swept *req = (struct store_mark_swept *)call;
    int rc = req->full ? (int)sqlite_run(db, &call->err, STATEMENT_note_full_look, "i", sqlite_now(db, 0))
                       : 0;
    return rc < 0 ? rc
                  : (int)sqlite_run(db, &call->err, STATEMENT_mark_swept, "ii", req->slot, sqlite_now(db, 0));
}
