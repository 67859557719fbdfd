/* store_sqlite_slot.c - slots and leases: opening, taking, renewing, finishing, looking again. A
 * slot is never split here: one lease (BUCKET_WHOLE_SLOT) covers it. Writers are serial, so no
 * transaction can commit into a slot that has been read, and a second look that finds a slot empty
 * closes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- leases ---------------------------------------------------------------------------------- */

/* The values of the opening row. */
struct slot_look { bool open, closed, done; };

static int look_at_slot(struct sqlite_store *db, int64_t slot, struct slot_look *out, struct err *err)
{
    struct sqlite_slot_state_out row = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_SLOT_STATE, &row, &(struct sqlite_slot_state_in){ .slot = slot });
    if (rc <= 0)
        return rc;
    *out = (struct slot_look){ .open = true, .closed = row.is_closed, .done = row.is_done };
    return 0;
}

static int open_now(struct sqlite_store *db, struct store_open_slot *req, struct slot_look *look)
{
    struct err *err = &req->call.err;
    struct sqlite_slot_count_out count = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_SLOT_COUNT, &count, &(struct sqlite_slot_count_in){
        .slot = req->slot,
        .most = (int64_t)req->split_at + 1,
    });
    if (rc < 0)
        return rc;
    req->rows = count.n;
    *look = (struct slot_look){ .open = true, .done = req->rows == 0 };
    return (int)sqlite_run(db, err, STATEMENT_SLOT_OPEN, &(struct sqlite_slot_open_in){
        .slot = req->slot,
        .engine = db->engine,
        .rows = req->rows,
        .clock_us = sqlite_clock_us(db),
    });
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

/* The names as a JSON array for json_each; NULL stays NULL. The caller frees *out. A name that an
 * application has inserted with plain SQL may not be UTF-8: jansson rejects it, but SQLite returns
 * the bytes as they are. */
int sqlite_names_as_json(const char *const *names, int n, char **out, struct err *err)
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

static int holds_rows(struct sqlite_store *db, const struct store_open_slot *req, bool *out, struct err *err)
{
    char *jobs;
    struct sqlite_slot_has_rows_out row = { 0 };
    int rc = sqlite_names_as_json(req->jobs, req->njobs, &jobs, err);
    if (rc < 0)
        return rc;
    rc = sqlite_ask(db, err, STATEMENT_SLOT_HAS_ROWS, &row, &(struct sqlite_slot_has_rows_in){
        .slot = req->slot,
        .jobs = jobs,
    });
    free(jobs);
    *out = row.has;
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

/* 1 and the lease in the file, or 0. */
static int standing_lease(struct sqlite_store *db, int64_t slot, struct lease *out, struct err *err)
{
    struct sqlite_lease_look_out row = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_LEASE_LOOK, &row, &(struct sqlite_lease_look_in){ .slot = slot });
    if (rc <= 0)
        return rc;
    *out = (struct lease){
        .slot = slot, .bucket = BUCKET_WHOLE_SLOT, .token = row.token, .expires_us = row.expires_at_us
    };
    memcpy(out->owner, row.owner, STORE_OWNER_SIZE);
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
    rc = (int)sqlite_run(db, err, STATEMENT_LEASE_TAKE, &(struct sqlite_lease_take_in){
        .slot = req->slot,
        .owner = req->owner,
        .engine = db->engine,
        .clock_us = clock_us,
        .expires_us = expires_us,
    });
    if (rc < 0)
        return rc;
    struct lease *taken = &req->taken[req->ntaken++];
    *taken = (struct lease){ .slot = req->slot, .bucket = BUCKET_WHOLE_SLOT, .expires_us = expires_us,
                             .token = sqlite3_last_insert_rowid(db->db) };
    memcpy(taken->owner, req->owner, STORE_OWNER_SIZE);
    return (int)sqlite_run(db, err, STATEMENT_SLOT_REOPEN,
                           &(struct sqlite_slot_reopen_in){ .slot = req->slot });
}

/* Fills the look at the slot, which is open then, and takes its lease where one is wanted. */
static int look_and_take(struct sqlite_store *db, struct store_open_slot *req, struct slot_look *look)
{
    int rc = look_at_slot(db, req->slot, look, &req->call.err);
    if (rc < 0)
        return rc;
    if (!look->open) {
        rc = open_now(db, req, look);
        if (rc < 0)
            return rc;
    }
    bool wanted = !look->done;
    if (!wanted && req->again) {
        rc = holds_rows(db, req, &wanted, &req->call.err);
        if (rc < 0)
            return rc;
    }
    return wanted && req->want > 0 ? take_lease(db, req) : 0;
}

/* The slot is one lease, which the first bit stands for. The look reads the rows themselves, and a
 * transaction that has met a damaged page cannot be committed. So it comes after that of the lease,
 * and what keeps it from its answer keeps nobody from running the slot. */
static void look_for_small(struct sqlite_store *db, struct store_open_slot *req)
{
    struct sqlite_has_small_out row = { 0 };
    struct sqlite_has_small_in in = { .slot = req->slot, .look = SQLITE_SMALL_LOOK };
    struct sqlite_is_slow_out slow = { .yes = true };
    struct err err;
    if (!req->asks_small || !req->ntaken)
        return;
    err_clear(&err);
    int rc = req->if_slow ? sqlite_ask(db, &err, STATEMENT_IS_SLOW, &slow, NULL) : 0;
    if (rc >= 0 && slow.yes)
        rc = sqlite_ask(db, &err, STATEMENT_HAS_SMALL, &row, &in);
    req->small_buckets = rc >= 0 && row.yes;
}

/* Whether the slot may be opened: it has begun, or is that of a pause that was resumed. No time
 * comes to that of a pause that is on. */
static int has_begun(struct sqlite_store *db, const struct store_open_slot *req, struct err *err)
{
    struct sqlite_slot_is_resumed_out row = { 0 };
    if (!slot_is_of_pause(req->slot))
        return req->slot * 1000000 <= (req->now ? req->now * 1000000 : req->clock_us);
    struct sqlite_slot_is_resumed_in in = { .slot = req->slot };
    int rc = sqlite_ask(db, err, STATEMENT_SLOT_IS_RESUMED, &row, &in);
    return rc < 0 ? rc : row.yes;
}

static int open_slot(struct sqlite_store *db, struct store_open_slot *req)
{
    struct err *err = &req->call.err;
    struct slot_look look = { 0 };
    req->split = 1;
    req->has_urgent = false;            /* one lease, whose pages are in the order of priorities */
    req->small_buckets = 0;
    req->rows = -1;
    req->ntaken = req->nheld = 0;
    req->clock_us = sqlite_clock_us(db);
    req->not_begun = false;
    int rc = has_begun(db, req, err);
    if (rc < 0)
        return rc;
    req->not_begun = !rc;
    if (req->not_begun)
        return err_set(err, ERR_BUSY, "slot %lld has not begun by this machine's clock",
                       (long long)req->slot);
    rc = look_and_take(db, req, &look);
    req->state = look.closed && !req->ntaken ? SLOT_CLOSED : SLOT_RELOOK;
    if (!look.done)
        req->state = SLOT_OPEN;
    return rc;
}

int sqlite_open_slot(struct sqlite_store *db, struct store_call *call)
{
    struct store_open_slot *req = (struct store_open_slot *)call;
    int rc = sqlite_begin(db, &call->err);
    if (rc < 0)
        return rc;
    rc = open_slot(db, req);
    if (rc < 0)
        return rc;
    rc = sqlite_commit(db, &call->err);
    if (rc == 0)
        look_for_small(db, req);
    return rc;
}

int sqlite_renew(struct sqlite_store *db, struct store_call *call)
{
    struct store_renew *req = (struct store_renew *)call;
    int64_t expires_us = sqlite_clock_us(db) + req->lease_s * 1000000LL;
    for (int i = 0; i < req->n; i++) {
        struct lease *l = &req->leases[i];
        int64_t rc = sqlite_run(db, &call->err, STATEMENT_RENEW, &(struct sqlite_renew_in){
            .slot = l->slot,
            .owner = l->owner,
            .token = l->token,
            .expires_us = expires_us,
        });
        req->lost[i] = rc == 0;
        if (rc < 0)
            return (int)rc;
        if (rc > 0)
            l->expires_us = expires_us;
    }
    return 0;
}

static int give_back(struct sqlite_store *db, const struct lease *l, struct err *err)
{
    return (int)sqlite_run(db, err, STATEMENT_RELEASE, &(struct sqlite_release_in){
        .slot = l->slot,
        .owner = l->owner,
        .token = l->token,
    });
}

#define COUNT_OF(name, words) .name = c->name,

static int count_given_back(struct sqlite_store *db, int64_t slot, const struct pass_counts *c,
                            struct err *err)
{
    int64_t n = sqlite_run(db, err, STATEMENT_COUNT_GIVEN_BACK, &(struct sqlite_count_given_back_in){
        .slot = slot,
        PASS_COUNTS(COUNT_OF)
    });
    return n < 0 ? (int)n : 0;
}

int sqlite_release(struct sqlite_store *db, struct store_call *call)
{
    struct store_release *req = (struct store_release *)call;
    int given_back = 0;
    for (int i = 0; i < req->n; i++) {
        int rc = give_back(db, &req->leases[i], &call->err);
        if (rc < 0)
            return rc;
        given_back += rc;
    }
    return req->counts && given_back ? count_given_back(db, req->leases[0].slot, req->counts, &call->err) : 0;
}

int sqlite_check_lease(struct sqlite_store *db, const struct lease *lease, struct err *err)
{
    struct sqlite_lease_held_out row = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_LEASE_HELD, &row, &(struct sqlite_lease_held_in){
        .slot = lease->slot,
        .owner = lease->owner,
        .token = lease->token,
    });
    if (rc < 0)
        return rc;
    if (!row.held)
        return err_set(err, ERR_FENCED,
                       "the lease on slot %lld (token %lld) is no longer ours: nothing was changed",
                       (long long)lease->slot, (long long)lease->token);
    return 0;
}

/* ---- the end of a pass ----------------------------------------------------------------------- */

/* As JSON: the jobs that the engine lacks, or those that alone were read (NULL: all were). */
struct jobs_of_pass { char *unknown, *own; };

static int may_finish(struct sqlite_store *db, const struct store_finish *req, const char *unknown_jobs,
                      bool *rows_left, struct err *err)
{
    struct sqlite_finish_look_out row = { 0 };
    if (req->leave)
        return 0;
    int rc = sqlite_ask(db, err, STATEMENT_FINISH_LOOK, &row, &(struct sqlite_finish_look_in){
        .slot = req->lease.slot,
        .jobs = unknown_jobs,
        .after_priority = req->after.priority,
        .after_id = req->after.id,
    });
    *rows_left = row.has;
    return rc;
}

static int record_pass(struct sqlite_store *db, const struct store_finish *req,
                       const struct jobs_of_pass *jobs, struct err *err)
{
    const struct pass_counts *c = &req->counts;
    return (int)sqlite_run(db, err, STATEMENT_FINISH, &(struct sqlite_finish_in){
        .slot = req->lease.slot,
        .engine = db->engine,
        .late_us = c->late_us,
        .took_us = c->took_us,
        .clock_us = sqlite_clock_us(db),
        PASS_COUNTS(COUNT_OF)
        .jobs = jobs->unknown,
        .own = jobs->own,
        .can_read = !req->skip_scan,
    });
#undef COUNT_OF
}

int sqlite_finish(struct sqlite_store *db, struct store_call *call)
{
    static const char *const none[] = { NULL };
    struct store_finish *req = (struct store_finish *)call;
    bool rows_left = false;
    struct jobs_of_pass jobs = { NULL, NULL };
    const char *const *unknown = req->nunknown_jobs ? req->unknown_jobs : none;
    req->finished = false;
    int rc = sqlite_check_lease(db, &req->lease, &call->err);
    if (rc < 0)
        return rc;
    rc = sqlite_names_as_json(unknown, req->nunknown_jobs, &jobs.unknown, &call->err);
    if (rc >= 0)
        rc = sqlite_names_as_json(req->jobs, req->njobs, &jobs.own, &call->err);
    if (rc >= 0)
        rc = may_finish(db, req, jobs.unknown, &rows_left, &call->err);
    if (rc >= 0 && !rows_left)
        rc = record_pass(db, req, &jobs, &call->err);
    free(jobs.unknown);
    free(jobs.own);
    if (rc < 0)
        return rc;
    if (rows_left)
        return 0;
    rc = give_back(db, &req->lease, &call->err);
    req->finished = rc >= 0;
    return rc;
}

/* ---- slots that are not over ----------------------------------------------------------------- */

int sqlite_relook(struct sqlite_store *db, struct store_call *call)
{
    struct store_relook *req = (struct store_relook *)call;
    sqlite3_stmt *row = NULL;
    req->n = req->closed = 0;
    int64_t clock_us = sqlite_clock_us(db);
    int64_t closed = sqlite_run(db, &call->err, STATEMENT_RELOOK_CLOSE,
                                &(struct sqlite_relook_close_in){ .clock_us = clock_us });
    if (closed < 0)
        return (int)closed;
    int rc = (int)sqlite_run(db, &call->err, STATEMENT_RELOOK_LEASES,
                             &(struct sqlite_relook_leases_in){ .clock_us = clock_us });
    if (rc < 0)
        return rc;
    rc = sqlite_query(db, &call->err, &row, STATEMENT_RELOOK,
                      &(struct sqlite_relook_in){ .want = req->want });
    for (; rc > 0; rc = sqlite_next(db, &call->err, row)) {
        struct sqlite_relook_out found = { 0 };
        sqlite_columns(row, STATEMENT_RELOOK, &found);
        req->slots[req->n++] = (struct relook_slot){
            .slot = found.slot_at, .has_rows = found.has_rows, .undone = found.is_undone
        };
    }
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

int sqlite_fine_slots(struct sqlite_store *db, struct store_call *call)
{
    struct store_fine_slots *req = (struct store_fine_slots *)call;
    sqlite3_stmt *row = NULL;
    char *jobs;
    req->n = 0;
    req->xmin = req->next_xid = req->incarnation = 0;
    req->clock_us = sqlite_clock_us(db);
    int rc = sqlite_names_as_json(req->jobs, req->njobs, &jobs, &call->err);
    if (rc < 0)
        return rc;
    rc = sqlite_query(db, &call->err, &row, STATEMENT_FINE_SLOTS, &(struct sqlite_fine_slots_in){
        .low = req->low,
        .now = req->clock_us / 1000000,
        .length_s = db->head.slot_length_s,
        .jobs = jobs,
        .most = FINE_SLOTS_MAX,
    });
    for (; rc > 0; rc = sqlite_next(db, &call->err, row)) {
        struct sqlite_fine_slots_out found = { 0 };
        sqlite_columns(row, STATEMENT_FINE_SLOTS, &found);
        req->slots[req->n++] = found.slot;
    }
    free(jobs);                         /* after the last row: it is bound, not copied */
    if (rc < 0)
        return rc;
    struct sqlite_pause_change_out pauses = { 0 };
    rc = sqlite_ask(db, &call->err, STATEMENT_PAUSE_CHANGE, &pauses, NULL);
    req->pause_change = pauses.change;
    return rc < 0 ? rc : 0;
}

/* ---- pauses ---------------------------------------------------------------------------------- */

static int add_pause(struct store_pauses *req, int *room, const struct sqlite_pauses_now_out *row)
{
    enum pause_what what = pause_what_of(row->what);
    if (what == PAUSE_WHATS)
        return 0;                       /* of what this program cannot pause it knows nothing */
    if (req->pauses.n == *room) {
        int more = *room * 2;
        struct pause *all = arena_alloc(req->arena, (size_t)more * sizeof *all);
        if (!all)
            return ERR_NOMEM;
        memcpy(all, req->pauses.all, (size_t)req->pauses.n * sizeof *all);
        req->pauses.all = all;
        *room = more;
    }
    struct pause *pause = &req->pauses.all[req->pauses.n++];
    *pause = (struct pause){ row->slot, what, arena_strdup(req->arena, row->name), row->is_on,
                             row->is_reslotted };
    return pause->name ? 0 : ERR_NOMEM;
}

static int read_pauses(struct sqlite_store *db, struct store_pauses *req)
{
    enum { FIRST_ROOM = 16 };
    struct err *err = &req->call.err;
    int room = FIRST_ROOM;
    sqlite3_stmt *row = NULL;
    req->pauses.all = arena_alloc(req->arena, (size_t)room * sizeof *req->pauses.all);
    int rc = sqlite_query(db, err, &row, STATEMENT_PAUSES_NOW, NULL);
    while (rc > 0) {
        struct sqlite_pauses_now_out found = { 0 };
        sqlite_columns(row, STATEMENT_PAUSES_NOW, &found);
        if (!req->pauses.all || add_pause(req, &room, &found) < 0) {
            sqlite_done(row);
            return err_set(err, ERR_NOMEM, "out of memory for the pauses");
        }
        rc = sqlite_next(db, err, row);
    }
    return rc;
}

int sqlite_pauses(struct sqlite_store *db, struct store_call *call)
{
    enum { ROOM = 4096 };
    struct store_pauses *req = (struct store_pauses *)call;
    struct sqlite_pause_change_out now = { 0 };
    req->pauses = (struct pauses){ 0 };
    req->arena = NULL;
    int rc = sqlite_ask(db, &call->err, STATEMENT_PAUSE_CHANGE, &now, NULL);
    if (rc < 0)
        return rc;
    req->change = now.change;
    if (now.change == req->known)
        return 0;
    req->arena = arena_new(ROOM);
    if (!req->arena)
        return err_set(&call->err, ERR_NOMEM, "out of memory for the pauses");
    return read_pauses(db, req);
}

int sqlite_end_pauses(struct sqlite_store *db, struct store_call *call)
{
    struct store_end_pauses *req = (struct store_end_pauses *)call;
    struct sqlite_end_pauses_in in = { .clock_us = sqlite_clock_us(db) };
    req->ended = 0;
    int64_t rc = sqlite_run(db, &call->err, STATEMENT_END_PAUSES_PASSES, NULL);
    if (rc < 0)
        return (int)rc;
    int64_t ended = sqlite_run(db, &call->err, STATEMENT_END_PAUSES, &in);
    if (ended <= 0)
        return (int)ended;
    req->ended = (int)ended;
    rc = sqlite_run(db, &call->err, STATEMENT_NOTE_PAUSE_CHANGE,
                    &(struct sqlite_note_pause_change_in){ .clock_us = in.clock_us });
    return rc < 0 ? (int)rc : 0;
}

static int look_for_urgent(struct sqlite_store *db, struct store_late_slot *req)
{
    enum { STEPS = 5000 };
    struct sqlite_first_urgent_out urgent = { 0 };
    req->urgent = req->urgent_until = 0;
    if (!req->urgent_from || !req->slot)
        return 0;
    int rc = sqlite_ask(db, &req->call.err, STATEMENT_FIRST_URGENT, &urgent, &(struct sqlite_first_urgent_in){
        .from = req->urgent_from > req->slot ? req->urgent_from : req->slot,
        .before = req->before,
        .most = STEPS,
    });
    req->urgent = urgent.slot;
    req->urgent_until = urgent.until;
    return rc < 0 ? rc : 0;
}

int sqlite_late_slot(struct sqlite_store *db, struct store_call *call)
{
    struct store_late_slot *req = (struct store_late_slot *)call;
    struct sqlite_swept_until_out swept = { 0 };
    struct sqlite_late_slot_out late = { 0 };
    int64_t from = req->from;
    int rc;
    if (req->full)
        from = 0;
    else if (from == 0) {
        rc = sqlite_ask(db, &call->err, STATEMENT_SWEPT_UNTIL, &swept, NULL);
        if (rc < 0)
            return rc;
        from = swept.value;
    }
    if (req->from == 0 && from > sqlite_now(db, 0))
        from = 0;                       /* the mark is of virtual time, or the clock was set back */
    rc = sqlite_ask(db, &call->err, STATEMENT_LATE_SLOT, &late, &(struct sqlite_late_slot_in){
        .from = from,
        .before = req->before,
    });
    if (rc < 0)
        return rc;
    req->slot = late.slot;
    req->misfiled_at = req->until = 0;
    return look_for_urgent(db, req);
}

int sqlite_recall(struct sqlite_store *db, struct store_call *call)
{
    enum { MOST = 5000 };
    struct store_recall *req = (struct store_recall *)call;
    struct sqlite_recall_end_out end = { 0 };
    char *jobs;
    int rc = sqlite_names_as_json(req->jobs, req->njobs, &jobs, &call->err);
    if (rc < 0)
        return rc;
    rc = sqlite_ask(db, &call->err, STATEMENT_RECALL_END, &end, &(struct sqlite_recall_end_in){
        .after_at = req->after.put_off_at,
        .after_id = req->after.id,
        .most = MOST,
    });
    int64_t n = rc < 0 ? rc : sqlite_run(db, &call->err, STATEMENT_RECALL, &(struct sqlite_recall_in){
        .after_at = req->after.put_off_at,
        .after_id = req->after.id,
        .most = MOST,
        .slot = slot_next(sqlite_now(db, req->now), db->head.slot_length_s),
        .jobs = jobs,
        .moves = req->only_one ? 1 : MOST,
    });
    free(jobs);
    if (n < 0)
        return (int)n;
    req->recalled = n;
    req->until = (struct recall_place){ end.put_off_at, end.id };
    return 0;
}

/* A query first: a write that changes nothing would still wait for other writers. */
static int repair_schedules(struct sqlite_store *db, struct store_mark_swept *req, int64_t now)
{
    struct sqlite_schedules_lacking_out lacking = { 0 };
    int rc = sqlite_ask(db, &req->call.err, STATEMENT_SCHEDULES_LACKING, &lacking, NULL);
    req->filed = lacking.n;
    if (rc < 0 || !lacking.n)
        return rc < 0 ? rc : 0;
    return (int)sqlite_run(db, &req->call.err, STATEMENT_REPAIR_SCHEDULES,
                           &(struct sqlite_repair_schedules_in){ .now = now });
}

int sqlite_mark_swept(struct sqlite_store *db, struct store_call *call)
{
    const int64_t hour_us = INT64_C(3600) * 1000000;
    struct store_mark_swept *req = (struct store_mark_swept *)call;
    int64_t now = sqlite_now(db, 0);
    int64_t dropped = sqlite_run(db, &call->err, STATEMENT_PLACES_DROP_OLD,
                                 &(struct sqlite_places_drop_old_in){ .before_us = now * 1000000 - hour_us });
    if (dropped < 0)
        return (int)dropped;
    if (req->full) {
        int rc = (int)sqlite_run(db, &call->err, STATEMENT_NOTE_FULL_LOOK,
                                 &(struct sqlite_note_full_look_in){ .now = now });
        if (rc < 0)
            return rc;
        rc = repair_schedules(db, req, now);
        if (rc < 0)
            return rc;
    }
    return (int)sqlite_run(db, &call->err, STATEMENT_MARK_SWEPT, &(struct sqlite_mark_swept_in){
        .slot = req->slot,
        .now = now,
    });
}
