/* store_sqlite_load.c - enqueues checks: one at a time, with a report of what happened, or a chunk
 * at once. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/utf8.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- what an enqueue did: the row before and after it ---------------------------------------- */

static int look_at_row(struct sqlite_store *db, struct sqlite_enqueue_in *w,
                       struct sqlite_pending_row_out *out, struct err *err)
{
    return sqlite_ask(db, err, STATEMENT_PENDING_ROW, out, &(struct sqlite_pending_row_in){
        .entity = w->entity,
        .key = w->key,
        .job = w->job,
    });
}

/* What was asked for stands in again_at where the slot of the row has begun, or does not count. */
static bool is_asked_beside(const struct sqlite_pending_row_out *row, int64_t now)
{
    return row->again_at && (row->next_check_at <= now || row->finds_first);
}

static void compare_rows(const struct sqlite_pending_row_out *before,
                         const struct sqlite_pending_row_out *after, int64_t now, struct sqlite_filed *out)
{
    out->at = after->next_check_at;
    out->id = after->id;
    if (!before->id)
        out->what = FILED_NEW;
    else if (before->id != after->id)
        out->what = FILED_REPLACED;
    else if (before->next_check_at != after->next_check_at || before->finds_first != after->finds_first)
        out->what = FILED_MOVED;
    else {
        out->what = FILED_KEPT;
        out->at = is_asked_beside(after, now) ? after->again_at : after->next_check_at;
    }
}

static int64_t file_check(struct sqlite_store *db, const struct sqlite_enqueue_in *w, struct err *err)
{
    if (w->at)
        return sqlite_run_statement(db, err, STATEMENT_ENQUEUE, w);
    return sqlite_run(db, err, STATEMENT_ENQUEUE_NOW, &(struct sqlite_enqueue_now_in){
        .entity = w->entity,
        .key = w->key,
        .job = w->job,
        .payload = w->payload,
        .conflict = w->conflict,
        .priority = w->priority,
        .now = w->now,
        .concurrency_key = w->concurrency_key,
        .tenant = w->tenant,
    });
}

int sqlite_enqueue(struct sqlite_store *db, struct sqlite_enqueue_in *w, struct sqlite_filed *out,
                   struct err *err)
{
    struct sqlite_pending_row_out before = { 0 }, after = { 0 };
    int64_t rc = look_at_row(db, w, &before, err);
    if (rc < 0)
        return (int)rc;
    rc = file_check(db, w, err);
    if (rc < 0)
        return (int)rc;
    rc = look_at_row(db, w, &after, err);
    if (rc < 0)
        return (int)rc;
    compare_rows(&before, &after, w->now, out);
    return 0;
}

/* ---- load ------------------------------------------------------------------------------------ */

static bool is_text(const char *s)
{
    return !s || utf8_is_valid(s, strlen(s));
}

static int check_row(const struct load_row *r, struct err *err)
{
    if (!moment_is_valid(r->at))
        return err_set(err, ERR_DATA, "the time is %lld, expected one from 1970 to 9999", (long long)r->at);
    if (!is_text(r->entity_name) || !is_text(r->entity_key) || !is_text(r->job_exec) ||
        !is_text(r->payload) || !is_text(r->concurrency_key) || !is_text(r->tenant))
        return err_set(err, ERR_DATA,
                       "entity, key, job, payload, concurrency key and tenant must be valid UTF-8");
    return 0;
}

/* Most rows of a load are new: one INSERT is enough. Only the others need a look at the table. */
static int load_one(struct sqlite_store *db, const struct load_row *r, const char *conflict, int64_t now,
                    int64_t counts[FILED_OUTCOMES], struct err *err)
{
    struct sqlite_filed filed = { .what = FILED_NEW };
    int rc = check_row(r, err);
    if (rc < 0)
        return rc;
    int64_t added = sqlite_run(db, err, STATEMENT_LOAD_NEW, &(struct sqlite_load_new_in){
        .entity = r->entity_name,
        .key = r->entity_key,
        .job = r->job_exec,
        .slot = slot_for(r->at, now, db->head.slot_length_s),
        .priority = r->priority,
        .payload = r->payload,
        .concurrency_key = r->concurrency_key,
        .tenant = r->tenant,
    });
    if (added < 0)
        return (int)added;
    if (added == 0) {
        char at[24], priority[16];
        snprintf(at, sizeof at, "%" PRId64, r->at);
        snprintf(priority, sizeof priority, "%" PRId32, r->priority);
        rc = sqlite_enqueue(db, &(struct sqlite_enqueue_in){
            .entity = r->entity_name,
            .key = r->entity_key,
            .job = r->job_exec,
            .at = at,
            .payload = r->payload,
            .conflict = conflict,
            .priority = priority,
            .now = now,
            .concurrency_key = r->concurrency_key,
            .tenant = r->tenant,
            .within_s = 0,
        }, &filed, err);
        if (rc < 0)
            return rc;
    }
    counts[filed.what]++;
    return 0;
}

static int load_rows(struct sqlite_store *db, const struct load_row *rows, int n, const char *conflict,
                     int64_t now, int64_t counts[FILED_OUTCOMES], int *bad, struct err *err)
{
    for (int i = 0; i < n; i++) {
        int rc = load_one(db, &rows[i], conflict, now, counts, err);
        if (rc == ERR_DATA)
            *bad = i;
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int load_in_transaction(struct sqlite_store *db, const struct load_row *rows, int n,
                               const char *conflict, int64_t now, int64_t counts[FILED_OUTCOMES], int *bad,
                               struct err *err)
{
    int rc = sqlite_connect(db, err);
    if (rc < 0)
        return rc;
    rc = sqlite_begin(db, err);
    if (rc < 0)
        return rc;
    rc = load_rows(db, rows, n, conflict, sqlite_now(db, now), counts, bad, err);
    if (rc < 0)
        return rc;
    return sqlite_commit(db, err);
}

int sqlite_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
                struct load_counts *out, int *bad, struct err *err)
{
    struct sqlite_store *db = (struct sqlite_store *)st;
    int64_t counts[FILED_OUTCOMES] = { 0 };
    sqlite_start_clock(db, true);
    int rc = load_in_transaction(db, rows, n, conflict, now, counts, bad, err);
    if (rc == 0)
        *out = (struct load_counts){ .added = counts[FILED_NEW],
                                     .kept = counts[FILED_KEPT],
                                     .moved = counts[FILED_MOVED],
                                     .replaced = counts[FILED_REPLACED] };
    sqlite_settle_down(db);
    return rc == ERR_DATA ? err->code = ERR_INPUT : rc;
}
