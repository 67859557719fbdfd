/* store_sqlite_page.c - the hot path: a page read with one SELECT, its answers written down in one
 * transaction. The answers are a table to SQL (store_sqlite_answers.c): a few statements a page,
 * not a few thousand, took half the time. */
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- read ------------------------------------------------------------------------------------ */

#define PAGE_ARENA (64 * 1024)
#define PAGE_FIRST 64                   /* checks there is room for at first; doubled as needed */

static void free_page_arena(void *impl)
{
    arena_free(impl);
}

static const char *column_text(struct arena *a, sqlite3_stmt *row, int column, uint32_t *len)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    *len = text ? (uint32_t)sqlite3_column_bytes(row, column) : 0;
    return text ? arena_strndup(a, text, *len) : NULL;
}

/* What the columns of read_page hold, by the table's own constraints. A file that somebody has
 * damaged, or whose constraints somebody has switched off, may hold anything else. */
static const struct { bool text, may_be_null, is_32_bits;
} columns[] = {
    { false, false, false }, { false, false, true }, { false, false, false }, { false, true, false },
    { false, false, true },  { false, false, true }, { true, false, false },  { true, false, false },
    { true, false, false },  { true, true, false },  { true, true, false },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool is_in_order(sqlite3_stmt *row)
{
    for (int i = 0; i < COLUMNS; i++) {
        int type = sqlite3_column_type(row, i);
        if (type == SQLITE_NULL ? !columns[i].may_be_null
                                : type != (columns[i].text ? SQLITE_TEXT : SQLITE_INTEGER))
            return false;
        if (columns[i].is_32_bits && sqlite3_column_int64(row, i) != sqlite3_column_int(row, i))
            return false;
    }
    return true;
}

static bool read_check(struct arena *a, sqlite3_stmt *row, int64_t slot, struct check *c)
{
    *c = (struct check){
        .id = sqlite3_column_int64(row, 0),
        .priority = sqlite3_column_int(row, 1),
        .first_check_at = sqlite3_column_int64(row, 2),
        .deferred_at = sqlite3_column_int64(row, 3),
        .check_count = sqlite3_column_int(row, 4),
        .failure_count = sqlite3_column_int(row, 5),
        .next_check_at = slot,
    };
    c->entity_name = column_text(a, row, 6, &c->entity_name_len);
    c->entity_key = column_text(a, row, 7, &c->entity_key_len);
    c->job_exec = column_text(a, row, 8, &c->job_exec_len);
    c->payload = column_text(a, row, 9, &c->payload_len);
    uint32_t origin_len;
    c->origin = column_text(a, row, 10, &origin_len);
    bool has_payload = c->payload || sqlite3_column_type(row, 9) == SQLITE_NULL;
    bool has_origin = c->origin || sqlite3_column_type(row, 10) == SQLITE_NULL;
    return c->entity_name && c->entity_key && c->job_exec && has_payload && has_origin;
}

/* A row that does not lie behind the one before it would be read for ever: the index disagrees
 * with the table. */
static bool is_behind(const struct page_cursor *last, sqlite3_stmt *row)
{
    int64_t id = sqlite3_column_int64(row, 0), priority = sqlite3_column_int64(row, 1);
    return priority > last->priority || (priority == last->priority && id > last->id);
}

static bool page_grow(struct check_rows *page, int *room)
{
    if (page->n < *room)
        return true;
    int more = *room ? *room * 2 : PAGE_FIRST;
    struct check *checks = realloc(page->checks, (size_t)more * sizeof *checks);
    if (!checks)
        return false;
    page->checks = checks;
    *room = more;
    return true;
}

/* Adds the row to the page; one that no check can be is only counted. */
static int take_row(struct store_read_page *req, sqlite3_stmt *row, struct arena *a, struct page_cursor *last,
                    int *room)
{
    struct check_rows *page = &req->page;
    if (!is_in_order(row) || !is_behind(last, row)) {
        if (!req->ndamaged++)
            req->damaged_id = sqlite3_column_int64(row, 0);
        return 0;
    }
    if (!page_grow(page, room) || !read_check(a, row, req->lease.slot, &page->checks[page->n]))
        return err_set(&req->call.err, ERR_NOMEM, "out of memory while reading slot %lld",
                       (long long)req->lease.slot);
    const struct check *c = &page->checks[page->n];
    *last = (struct page_cursor){ .priority = c->priority, .id = c->id };
    page->n++;
    return 0;
}

static int fill_page(struct sqlite_store *db, struct store_read_page *req, sqlite3_stmt *row, struct arena *a)
{
    struct page_cursor last = req->after;
    int room = 0, seen = 0, rc = 1;
    while (rc > 0 && !req->has_more) {
        rc = take_row(req, row, a, &last, &room);
        if (rc < 0)
            return rc;
        req->has_more = ++seen == req->want || arena_used(a) >= req->max_bytes;
        rc = req->has_more ? 0 : sqlite_next(db, &req->call.err, row);
    }
    req->has_more = req->has_more && req->page.n;       /* damaged rows alone would be read for ever */
    return rc;
}

int sqlite_read_page(struct sqlite_store *db, struct store_call *call)
{
    struct store_read_page *req = (struct store_read_page *)call;
    sqlite3_stmt *row = NULL;
    req->page = (struct check_rows){ 0 };
    req->has_more = false;
    req->is_complete = true;            /* writers are serial */
    req->ndamaged = 0;
    *req->damage = '\0';
    int rc = sqlite_query(db, &call->err, &row, STATEMENT_read_page, "iiii", req->lease.slot,
                          (int64_t)req->after.priority, req->after.id, (int64_t)req->want);
    if (rc <= 0)
        return rc;
    struct arena *a = arena_new(PAGE_ARENA);
    req->page = (struct check_rows){ .impl = a, .free_impl = free_page_arena };
    rc = a ? fill_page(db, req, row, a) : err_set(&call->err, ERR_NOMEM, "out of memory");
    sqlite_done(row);
    if (rc < 0)
        check_rows_free(&req->page);
    return rc;
}

/* ---- settle ---------------------------------------------------------------------------------- */

struct settling {                   /* what is the same for all answers of a page */
    struct sqlite_store *db;
    struct store_settle *req;
    struct err *err;
    int64_t now, clock_us;
    int64_t at_us;                  /* what history and events are told: virtual time in a replay */
    int64_t open_slot;              /* the first that has not begun */
};

/* Marks the answers whose row is as it was read. No other transaction can hold a row here, so one
 * that is not was changed: superseded, whatever skip_locked says. *anew says whether any was
 * enqueued again meanwhile. */
static int look(const struct settling *s, bool *anew)
{
    sqlite3_stmt *row = NULL;
    struct settlement *all = s->req->settlements;
    for (int i = 0; i < s->req->n; i++)
        all[i].state = SETTLE_SUPERSEDED;
    int rc = sqlite_query(s->db, s->err, &row, STATEMENT_settle_look, "");
    for (; rc > 0; rc = sqlite_next(s->db, s->err, row)) {
        all[sqlite3_column_int(row, 0)].state = SETTLE_TOUCHED;
        *anew = *anew || sqlite3_column_int(row, 1);
        s->req->touched++;
    }
    return rc;
}

static int64_t start_anew(const struct settling *s)
{
    int64_t rc = 0;
    for (int i = 0; i < s->req->n && rc >= 0; i++) {
        const struct settlement *t = &s->req->settlements[i];
        char origin[IDEMPOTENCY_KEY_SIZE];
        if (!t->ends || t->state != SETTLE_TOUCHED)
            continue;
        struct idempotency of = check_identity(t->check);
        idempotency_origin_anew(&of, origin);
        rc = sqlite_run(s->db, s->err, STATEMENT_settle_anew, "iit", t->check->id, s->open_slot, origin);
    }
    return rc;
}

static int64_t write_answers(const struct settling *s)
{
    bool anew = false, ends = false, moves = false;
    int64_t rc = look(s, &anew);
    for (int i = 0; i < s->req->n; i++) {
        ends = ends || s->req->settlements[i].ends;
        moves = moves || !s->req->settlements[i].ends;
    }
    if (rc >= 0 && ends) {
        rc = sqlite_run(s->db, s->err, STATEMENT_settle_archive, "tii", s->db->engine, s->clock_us, s->at_us);
        rc = rc < 0 || !anew ? rc : start_anew(s);
        rc = rc < 0 ? rc : sqlite_run(s->db, s->err, STATEMENT_settle_delete, "");
    }
    if (rc >= 0 && moves) {
        rc = sqlite_run(s->db, s->err, STATEMENT_settle_move, "i", s->open_slot);
        rc = rc < 0 ? rc : sqlite_run(s->db, s->err, STATEMENT_settle_run, "ti", s->db->engine, s->clock_us);
    }
    return rc;
}

/* ---- effects: only of rows that were really touched, after all of them ----------------------- */

static int64_t emit(const struct settling *s, const struct settlement *t, int place)
{
    const struct check *c = t->check;
    const struct effect *e = &t->effects[place];
    if (!utf8_is_valid(e->event, strlen(e->event)) || (e->json && !utf8_is_valid(e->json, strlen(e->json))))
        return err_set(s->err, ERR_DATA, "the event of check (%s, %s, %s) is not valid UTF-8", c->entity_name,
                       c->entity_key, c->job_exec);
    return sqlite_run(s->db, s->err, STATEMENT_effect_emit, "ttttiiiti", e->event, c->entity_name,
                      c->entity_key, c->job_exec, s->at_us, c->next_check_at, (int64_t)c->check_count,
                      e->json, s->clock_us);
}

static int64_t enqueue(const struct settling *s, const struct settlement *t, int place)
{
    const struct effect *e = &t->effects[place];
    char origin[IDEMPOTENCY_KEY_SIZE];
    check_origin_of_effect(t->check, place, origin);
    return sqlite_run(s->db, s->err, STATEMENT_effect_enqueue, "tttittiit", e->entity_name, e->entity_key,
                      e->job, e->at, e->json, e->conflict ? e->conflict : "keep", (int64_t)0, s->now, origin);
}

static int64_t resolve(const struct settling *s, const struct settlement *t, int place)
{
    const struct effect *e = &t->effects[place];
    return sqlite_run(s->db, s->err, STATEMENT_resolve, "tttp", e->entity_name, e->entity_key, e->job,
                      s->req->now ? &s->now : NULL);
}

static int64_t (*const effect_writers[])(const struct settling *s, const struct settlement *t, int place) = {
    [EFFECT_EMIT] = emit, [EFFECT_ENQUEUE] = enqueue, [EFFECT_RESOLVE] = resolve,
};

static int64_t write_effects(const struct settling *s)
{
    int64_t rc = 0;
    for (int i = 0; i < s->req->n; i++) {
        const struct settlement *t = &s->req->settlements[i];
        for (int e = 0; t->state == SETTLE_TOUCHED && e < t->neffects && rc >= 0; e++)
            rc = effect_writers[t->effects[e].kind](s, t, e);
    }
    return rc;
}

static void forget_states(struct store_settle *req)
{
    req->touched = 0;
    for (int i = 0; i < req->n; i++)
        req->settlements[i].state = SETTLE_UNTOUCHED;
}

int sqlite_settle(struct sqlite_store *db, struct store_call *call)
{
    struct store_settle *req = (struct store_settle *)call;
    struct settling s = { .db = db,
                          .req = req,
                          .err = &call->err,
                          .now = sqlite_now(db, req->now),
                          .clock_us = sqlite_clock_us(db) };
    s.at_us = req->now ? s.now * 1000000 : s.clock_us;
    s.open_slot = slot_next(s.now, db->head.slot_length_s);
    forget_states(req);
    db->answers = (struct sqlite_answers){
        .settlements = req->settlements, .n = req->n, .keep_runs = req->keep_runs, .open_slot = s.open_slot
    };
    int64_t rc = sqlite_check_lease(db, &req->lease, &call->err);
    rc = rc < 0 ? rc : write_answers(&s);
    rc = rc < 0 ? rc : write_effects(&s);
    db->answers = (struct sqlite_answers){ 0 };
    if (rc < 0)
        forget_states(req);
    return rc < 0 ? (int)rc : 0;
}
