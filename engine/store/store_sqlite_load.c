/* store_sqlite_load.c - checks put in by this program: one at a time with words for what happened,
 * or a chunk at once. */
#include <string.h>

#include "../base/utf8.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- what an enqueue did: the row before and after it ---------------------------------------- */

struct pending_row {
    bool there;
    int64_t id, next_check_at, again_at;
};

static int look_at_row(struct sqlite_store *db, const char *entity, const char *key, const char *job,
                       struct pending_row *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    *out = (struct pending_row){ 0 };
    int rc = sqlite_query(db, err, &row, STATEMENT_pending_row, "ttt", entity, key, job);
    if (rc <= 0)
        return rc;
    *out = (struct pending_row){ true, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                 sqlite3_column_int64(row, 2) };
    sqlite_done(row);
    return 0;
}

static void tell(const struct pending_row *before, const struct pending_row *after, int64_t now,
                 struct sqlite_filed *out)
{
    out->at = after->next_check_at;
    if (!before->there)
        out->what = FILED_NEW;
    else if (before->id != after->id)
        out->what = FILED_REPLACED;
    else if (before->next_check_at != after->next_check_at)
        out->what = FILED_MOVED;
    else {
        out->what = FILED_KEPT;
        out->at = before->next_check_at <= now && after->again_at ? after->again_at : after->next_check_at;
    }
}

int sqlite_enqueue(struct sqlite_store *db, const struct sqlite_wanted *w, int64_t now,
                   struct sqlite_filed *out, struct err *err)
{
    struct pending_row before, after;
    int64_t rc = look_at_row(db, w->entity_name, w->entity_key, w->job_exec, &before, err);
    if (rc >= 0 && w->check_at)
        rc = sqlite_run(db, err, STATEMENT_enqueue, "ttttttti", w->entity_name, w->entity_key, w->job_exec,
                        w->check_at, w->payload, w->conflict, w->priority, now);
    else if (rc >= 0)
        rc = sqlite_run(db, err, STATEMENT_effect_enqueue, "tttittiit", w->entity_name, w->entity_key,
                        w->job_exec, w->at, w->payload, w->conflict, (int64_t)w->priority_number, now,
                        (const char *)NULL);
    rc = rc < 0 ? rc : look_at_row(db, w->entity_name, w->entity_key, w->job_exec, &after, err);
    if (rc >= 0)
        tell(&before, &after, now, out);
    return rc < 0 ? (int)rc : 0;
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
    if (!is_text(r->entity_name) || !is_text(r->entity_key) || !is_text(r->job_exec) || !is_text(r->payload))
        return err_set(err, ERR_DATA, "entity, key, job and payload must be valid UTF-8");
    return 0;
}

/* Most rows of a load are new: one INSERT says so, and only the others are asked about. */
static int load_one(struct sqlite_store *db, const struct load_row *r, const char *conflict, int64_t now,
                    int64_t counts[FILED_OUTCOMES], struct err *err)
{
    struct sqlite_filed filed = { .what = FILED_NEW };
    int64_t rc = check_row(r, err);
    if (rc == 0)
        rc = sqlite_run(db, err, STATEMENT_load_new, "tttiit", r->entity_name, r->entity_key, r->job_exec,
                        slot_for(r->at, now, db->head.slot_length_s), (int64_t)r->priority, r->payload);
    if (rc == 0) {
        struct sqlite_wanted wanted = { .entity_name = r->entity_name,
                                        .entity_key = r->entity_key,
                                        .job_exec = r->job_exec,
                                        .at = r->at,
                                        .payload = r->payload,
                                        .priority_number = r->priority,
                                        .conflict = conflict };
        rc = sqlite_enqueue(db, &wanted, now, &filed, err);
    }
    if (rc >= 0)
        counts[filed.what]++;
    return rc < 0 ? (int)rc : 0;
}

static int load_rows(struct sqlite_store *db, const struct load_row *rows, int n, const char *conflict,
                     int64_t now, int64_t counts[FILED_OUTCOMES], int *bad, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < n && rc >= 0; i++) {
        rc = load_one(db, &rows[i], conflict, now, counts, err);
        if (rc == ERR_DATA)
            *bad = i;
    }
    return rc;
}

int sqlite_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
                struct load_counts *out, int *bad, struct err *err)
{
    struct sqlite_store *db = (struct sqlite_store *)st;
    int64_t counts[FILED_OUTCOMES] = { 0 };
    sqlite_start_clock(db, true);
    int rc = sqlite_connect(db, err);
    rc = rc < 0 ? rc : sqlite_begin(db, err);
    rc = rc < 0 ? rc : load_rows(db, rows, n, conflict, sqlite_now(db, now), counts, bad, err);
    rc = rc < 0 ? rc : sqlite_commit(db, err);
    if (rc == 0)
        *out = (struct load_counts){ .added = counts[FILED_NEW],
                                     .kept = counts[FILED_KEPT],
                                     .moved = counts[FILED_MOVED],
                                     .replaced = counts[FILED_REPLACED] };
    sqlite_settle_down(db);
    return rc == ERR_DATA ? err->code = ERR_INPUT : rc;
}
