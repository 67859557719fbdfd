/* store_sqlite_post.c - see store_post.h: one transaction, which no other writer is beside. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/moment.h"
#include "store_post.h"
#include "store_sqlite_calls.h"

/* The answer of before: 1; 0: there was none; or an ERR_. */
static int look_at_request(struct sqlite_store *db, const struct post_item *item, struct post_result *out,
                           struct err *err)
{
    sqlite3_stmt *row;
    struct sqlite_request_before_out found = { 0 };
    int rc = sqlite_query(db, err, &row, STATEMENT_REQUEST_BEFORE, &(struct sqlite_request_before_in){
        .uniqid = item->uniqid,
        .content = item->content,
    });
    if (rc == 1) {
        int bad = sqlite_columns(row, STATEMENT_REQUEST_BEFORE, &found);
        const char *word = bad ? NULL : post_outcome_word(found.outcome);
        *out = (struct post_result){ .state = found.is_other ? POST_OTHER : POST_REPEATED, .outcome = word,
                                     .check_id = found.check_id, .filed_at = found.filed_at };
        if (!word)
            rc = err_set(err, ERR_DATA, "the row of request %.80s is damaged", item->uniqid);
    }
    sqlite_done(row);
    return rc;
}

struct posting {
    int64_t now, keep_s;
    int noted;                      /* requests, so far */
};

static int64_t time_of(const struct post_item *item, int64_t now)
{
    return item->is_after ? now + item->row.at : item->row.at;
}

static int file_item(struct sqlite_store *db, const struct post_item *item, int64_t now,
                     struct post_result *out, struct err *err)
{
    char at[24], priority[16];
    struct sqlite_filed filed;
    const struct load_row *row = &item->row;
    snprintf(at, sizeof at, "%" PRId64, time_of(item, now));
    snprintf(priority, sizeof priority, "%" PRId32, row->priority);
    int rc = sqlite_enqueue(db, &(struct sqlite_enqueue_in){
        .entity = row->entity_name,
        .key = row->entity_key,
        .job = row->job_exec,
        .at = at,
        .payload = row->payload,
        .conflict = item->conflict,
        .priority = priority,
        .now = now,
        .concurrency_key = row->concurrency_key,
        .tenant = row->tenant,
        .within_s = item->within_s,
    }, &filed, err);
    if (rc == 0)
        *out = (struct post_result){ .state = POST_FILED, .outcome = sqlite_filing_word(filed.what),
                                     .check_id = filed.id, .filed_at = filed.at };
    return rc;
}

static int note_request(struct sqlite_store *db, const struct post_item *item, const struct posting *p,
                        const struct post_result *result, struct err *err)
{
    int64_t now_us = p->now * 1000000;
    int64_t rc = sqlite_run(db, err, STATEMENT_NOTE_REQUEST, &(struct sqlite_note_request_in){
        .uniqid = item->uniqid,
        .made_us = now_us,
        .kept_us = now_us + p->keep_s * 1000000,
        .content = item->content,
        .outcome = result->outcome,
        .check_id = result->check_id,
        .filed_at = result->filed_at,
    });
    return rc < 0 ? (int)rc : 0;
}

static int post_one(struct sqlite_store *db, const struct post_item *item, struct posting *p,
                    struct post_result *out, struct err *err)
{
    int rc = item->uniqid ? look_at_request(db, item, out, err) : 0;
    if (rc)
        return rc < 0 ? rc : 0;
    rc = file_item(db, item, p->now, out, err);
    if (rc < 0 || !item->uniqid)
        return rc;
    p->noted++;
    return note_request(db, item, p, out, err);
}

/* So many more than came in: whoever adds rows drops those of before. */
static int forget(struct sqlite_store *db, const struct posting *p, struct err *err)
{
    int64_t rc = sqlite_run(db, err, STATEMENT_FORGET_REQUESTS, &(struct sqlite_forget_requests_in){
        .now_us = p->now * 1000000,
        .most = 100 + 2 * p->noted,
    });
    return rc < 0 ? (int)rc : 0;
}

static int post_in_transaction(struct sqlite_store *db, const struct post_item *items, int n,
                               const struct post_terms *terms, struct post_result *results,
                               struct err *err)
{
    int rc = sqlite_connect(db, err);
    if (rc == 0)
        rc = sqlite_begin(db, err);
    if (rc < 0)
        return rc;
    struct posting p = { .now = sqlite_now(db, 0), .keep_s = terms->keep_s };
    for (int i = 0; i < n && rc == 0; i++)
        rc = post_one(db, &items[i], &p, &results[i], err);
    if (rc == 0 && p.noted)
        rc = forget(db, &p, err);
    if (rc == 0)
        rc = post_check_all(results, n, terms->all, err);
    return rc < 0 ? rc : sqlite_commit(db, err);
}

int sqlite_post(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
                struct post_result *results, struct err *err)
{
    struct sqlite_store *db = (struct sqlite_store *)st;
    sqlite_start_clock(db, true);
    int rc = post_in_transaction(db, items, n, terms, results, err);
    sqlite_settle_down(db);
    return rc;
}
