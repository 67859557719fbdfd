/* store_sqlite_page.c - the hot path: reads a page with one SELECT and writes its answers in one
 * transaction. SQL sees the answers as a table (store_sqlite_answers.c): a few statements a page
 * instead of a few thousand take half the time. */
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "../rules/digest.h"
#include "../rules/effect.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- read ------------------------------------------------------------------------------------ */

#define PAGE_ARENA (64 * 1024)
#define PAGE_FIRST 64                   /* room for this many checks at first; doubled as needed */

static void free_page_arena(void *impl)
{
    arena_free(impl);
}

static bool copy_text(struct arena *a, const char *text, uint32_t len, const char **copy)
{
    *copy = text ? arena_strndup(a, text, len) : NULL;
    return *copy || !text;
}

static bool read_check(struct arena *a, const struct sqlite_read_page_out *row, int64_t slot, struct check *c)
{
    *c = (struct check){
        .id = row->id,
        .priority = row->priority,
        .first_check_at = row->first_check_at,
        .deferred_at = row->deferred_at,
        .put_off_at = row->put_off_at,
        .check_count = row->check_count,
        .failure_count = row->failure_count,
        .next_check_at = slot,
    };
    bool copied = copy_text(a, row->origin, row->origin_len, &c->origin) &&
                  copy_text(a, row->terms, row->terms_len, &c->terms) &&
                  copy_text(a, row->concurrency_key, row->concurrency_key_len, &c->concurrency_key) &&
                  copy_text(a, row->tenant, row->tenant_len, &c->tenant);
#define CHECK_TEXT(name)                                                                                     \
    c->name##_len = row->name##_len;                                                                         \
    copied = copied && copy_text(a, row->name, row->name##_len, &c->name);
    CHECK_TEXTS(CHECK_TEXT)
#undef CHECK_TEXT
    return copied;
}

/* A row that does not come after the one before it would be read for ever: the index disagrees with
 * the table. */
static bool is_behind(const struct page_cursor *last, const struct sqlite_read_page_out *row)
{
    return row->priority > last->priority || (row->priority == last->priority && row->id > last->id);
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

/* Adds the row to the page. A damaged file, or one whose constraints were disabled, may have a row
 * that cannot be a check: it is counted and skipped. */
static int take_row(struct store_read_page *req, sqlite3_stmt *row, struct arena *a, struct page_cursor *last,
                    int *room)
{
    struct check_rows *page = &req->page;
    struct sqlite_read_page_out columns = { 0 };
    int rc = sqlite_columns(row, STATEMENT_READ_PAGE, &columns);
    if (rc == ERR_DATA || (rc == 0 && !is_behind(last, &columns))) {
        if (!req->ndamaged++)
            req->damaged_id = columns.id;
        return 0;
    }
    if (rc < 0 || !page_grow(page, room) ||
        !read_check(a, &columns, req->lease.slot, &page->checks[page->n]))
        return err_set(&req->call.err, ERR_NOMEM, "out of memory while reading slot %lld",
                       (long long)req->lease.slot);
    *last = (struct page_cursor){ .priority = columns.priority, .id = columns.id };
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
    /* a page of damaged rows alone would be read for ever */
    req->has_more = req->has_more && req->page.n;
    return rc;
}

/* Begins to read. The columns of these statements are the same. */
static int ask_for_rows(struct sqlite_store *db, struct store_read_page *req, const char *jobs,
                        sqlite3_stmt **row)
{
    if (req->what == READ_SMALL)
        return sqlite_query(db, &req->call.err, row, STATEMENT_READ_PAGE_SMALL,
                            &(struct sqlite_read_page_small_in){
            .slot = req->lease.slot,
            .after_priority = req->after.priority,
            .after_id = req->after.id,
            .want = req->want,
            .look = SQLITE_SMALL_LOOK,
        });
    if (jobs || req->what == READ_URGENT || req->parts < PHASES)
        return sqlite_query(db, &req->call.err, row, STATEMENT_READ_PAGE_SOME,
                            &(struct sqlite_read_page_some_in){
            .slot = req->lease.slot,
            .after_priority = req->after.priority,
            .after_id = req->after.id,
            .want = req->want,
            .jobs = jobs,
            .below = req->what == READ_URGENT ? 0 : INT64_MAX,
            .parts = req->parts,
        });
    return sqlite_query(db, &req->call.err, row, STATEMENT_READ_PAGE, &(struct sqlite_read_page_in){
        .slot = req->lease.slot,
        .after_priority = req->after.priority,
        .after_id = req->after.id,
        .want = req->want,
    });
}

static int read_rows(struct sqlite_store *db, struct store_read_page *req, const char *jobs)
{
    sqlite3_stmt *row = NULL;
    int rc = ask_for_rows(db, req, jobs, &row);
    if (rc <= 0)
        return rc;
    struct arena *a = arena_new(PAGE_ARENA);
    req->page = (struct check_rows){ .impl = a, .free_impl = free_page_arena };
    rc = a ? fill_page(db, req, row, a) : err_set(&req->call.err, ERR_NOMEM, "out of memory");
    sqlite_done(row);
    if (rc < 0)
        check_rows_free(&req->page);
    return rc;
}

int sqlite_read_page(struct sqlite_store *db, struct store_call *call)
{
    struct store_read_page *req = (struct store_read_page *)call;
    char *jobs;
    req->page = (struct check_rows){ 0 };
    req->has_more = false;
    req->is_complete = true;            /* writers are serial */
    req->ndamaged = 0;
    *req->damage = '\0';
    int rc = sqlite_names_as_json(req->jobs, req->njobs, &jobs, &call->err);
    if (rc < 0)
        return rc;
    rc = read_rows(db, req, jobs);
    free(jobs);
    return rc;
}

/* ---- settle ---------------------------------------------------------------------------------- */

struct settling {                   /* the values that all answers of a page share */
    struct sqlite_store *db;
    struct store_settle *req;
    struct err *err;
    int64_t now, clock_us;
    int64_t at_us;                  /* the time in history and events: virtual time in a replay */
    /* the first full and the first fine slot that have not begun, and are not the one left */
    int64_t open_slot, open_fine;
};

/* Marks the answers whose row is as it was read. No other transaction can hold a row here, so a row
 * that differs was changed: it is superseded, whatever skip_locked is. *enqueued_again: whether any
 * was enqueued again meanwhile. */
static int mark_unchanged(const struct settling *s, bool *enqueued_again)
{
    sqlite3_stmt *row = NULL;
    struct settlement *all = s->req->settlements;
    for (int i = 0; i < s->req->n; i++)
        all[i].state = SETTLE_SUPERSEDED;
    int rc = sqlite_query(s->db, s->err, &row, STATEMENT_SETTLE_LOOK, NULL);
    for (; rc > 0; rc = sqlite_next(s->db, s->err, row)) {
        struct sqlite_settle_look_out found = { 0 };
        sqlite_columns(row, STATEMENT_SETTLE_LOOK, &found);
        all[found.nth].state = SETTLE_TOUCHED;
        *enqueued_again = *enqueued_again || found.is_again;
        s->req->touched++;
    }
    return rc;
}

static int64_t start_anew(const struct settling *s)
{
    for (int i = 0; i < s->req->n; i++) {
        const struct settlement *t = &s->req->settlements[i];
        char origin[IDEMPOTENCY_KEY_SIZE];
        if (!t->ends || t->renews || t->state != SETTLE_TOUCHED)
            continue;
        struct idempotency of = check_identity(t->check);
        idempotency_origin_anew(&of, origin);
        int64_t rc = sqlite_run(s->db, s->err, STATEMENT_SETTLE_ANEW, &(struct sqlite_settle_anew_in){
            .id = t->check->id,
            .slot = t->check->next_check_at,
            .now = s->now,
            .length_s = s->db->head.slot_length_s,
            .open_slot = s->open_slot,
            .open_fine = s->open_fine,
            .origin = origin,
        });
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int64_t write_ends(const struct settling *s, bool enqueued_again)
{
    int64_t rc = sqlite_run(s->db, s->err, STATEMENT_SETTLE_ARCHIVE, &(struct sqlite_settle_archive_in){
        .engine = s->db->engine,
        .clock_us = s->clock_us,
        .ended_us = s->at_us,
    });
    if (rc < 0)
        return rc;
    return enqueued_again ? start_anew(s) : 0;
}

static int64_t give_back_payloads(const struct settling *s)
{
    int64_t rc = 0;
    for (int i = 0; rc >= 0 && i < s->req->n; i++) {
        const struct settlement *t = &s->req->settlements[i];
        struct sqlite_settle_give_back_payload_in in = { .id = t->check->id };
        if (t->state == SETTLE_TOUCHED && settlement_gives_back_payload(t))
            rc = sqlite_run(s->db, s->err, STATEMENT_SETTLE_GIVE_BACK_PAYLOAD, &in);
    }
    return rc;
}

static int64_t write_renewals(const struct settling *s)
{
    struct sqlite_settle_renewed_run_in in = {
        .engine = s->db->engine,
        .clock_us = s->clock_us,
        .slot = s->req->lease.slot,
        .now = s->now,
        .length_s = s->db->head.slot_length_s,
        .open_slot = s->open_slot,
        .open_fine = s->open_fine,
    };
    int64_t rc = sqlite_run(s->db, s->err, STATEMENT_SETTLE_RENEWED_RUN, &in);
    if (rc >= 0)
        rc = give_back_payloads(s);
    if (rc < 0)
        return rc;
    return sqlite_run(s->db, s->err, STATEMENT_SETTLE_RENEW, &(struct sqlite_settle_renew_in){
        .slot = in.slot,
        .now = in.now,
        .length_s = in.length_s,
        .open_slot = in.open_slot,
        .open_fine = in.open_fine,
    });
}

static int64_t write_moves(const struct settling *s)
{
    int64_t rc = sqlite_run(s->db, s->err, STATEMENT_SETTLE_MOVE, &(struct sqlite_settle_move_in){
        .slot = s->req->lease.slot,
        .now = s->now,
        .length_s = s->db->head.slot_length_s,
        .open_slot = s->open_slot,
        .open_fine = s->open_fine,
    });
    if (rc < 0)
        return rc;
    return sqlite_run(s->db, s->err, STATEMENT_SETTLE_RUN, &(struct sqlite_settle_run_in){
        .engine = s->db->engine,
        .clock_us = s->clock_us,
    });
}

struct kinds { bool end, move, renew; };

static struct kinds kinds_of(const struct store_settle *req)
{
    struct kinds k = { false, false, false };
    for (int i = 0; i < req->n; i++) {
        const struct settlement *t = &req->settlements[i];
        k.end = k.end || t->ends;
        k.renew = k.renew || t->renews;
        k.move = k.move || (!t->ends && !t->renews);
    }
    return k;
}

/* Rows that end are deleted after the renewals: by then each that starts anew has another id. */
static int64_t write_answers(const struct settling *s)
{
    bool enqueued_again = false;
    const struct kinds k = kinds_of(s->req);
    int64_t rc = mark_unchanged(s, &enqueued_again);
    if (rc < 0)
        return rc;
    rc = k.end ? write_ends(s, enqueued_again) : 0;
    if (rc < 0)
        return rc;
    rc = k.renew ? write_renewals(s) : 0;
    if (rc < 0)
        return rc;
    rc = k.end ? sqlite_run(s->db, s->err, STATEMENT_SETTLE_DELETE, NULL) : 0;
    if (rc < 0)
        return rc;
    return k.move ? write_moves(s) : 0;
}

/* ---- effects: only of rows that were really touched, after all of them ----------------------- */

static int64_t emit(const struct settling *s, const struct settlement *t, int place)
{
    const struct check *c = t->check;
    const struct effect *e = &t->effects[place];
    if (!utf8_is_valid(e->event, strlen(e->event)) || (e->json && !utf8_is_valid(e->json, strlen(e->json))))
        return err_set(s->err, ERR_DATA, "the event of check (%s, %s, %s) is not valid UTF-8", c->entity_name,
                       c->entity_key, c->job_exec);
    return sqlite_run(s->db, s->err, STATEMENT_EFFECT_EMIT, &(struct sqlite_effect_emit_in){
        .event = e->event,
        .entity = c->entity_name,
        .key = c->entity_key,
        .job = c->job_exec,
        .emitted_us = s->at_us,
        .slot = c->next_check_at,
        .check_count = c->check_count,
        .data = e->json,
        .clock_us = s->clock_us,
        .origin = e->nhearers ? e->origin : NULL,
    });
}

static int64_t deliver(const struct settling *s)
{
    return sqlite_run(s->db, s->err, STATEMENT_SETTLE_DELIVER, &(struct sqlite_settle_deliver_in){
        .slot = slot_fine_next(s->at_us / 1000000, s->db->head.slot_length_s),
        .emitted_us = s->at_us,
    });
}

static int64_t enqueue(const struct settling *s, const struct settlement *t, int place)
{
    const struct effect *e = &t->effects[place];
    char origin[IDEMPOTENCY_KEY_SIZE];
    check_origin_of_effect(t->check, place, origin);
    return sqlite_run(s->db, s->err, STATEMENT_EFFECT_ENQUEUE, &(struct sqlite_effect_enqueue_in){
        .entity = e->entity_name,
        .key = e->entity_key,
        .job = e->job,
        .at = e->at,
        .payload = e->json,
        .conflict = e->conflict ? e->conflict : "keep",
        .priority = e->priority,
        .now = s->now,
        .origin = origin,
        .concurrency_key = e->concurrency_key,
        .tenant = effect_tenant(t->check, e),
    });
}

static int64_t resolve(const struct settling *s, const struct settlement *t, int place)
{
    const struct effect *e = &t->effects[place];
    return sqlite_run(s->db, s->err, STATEMENT_RESOLVE, &(struct sqlite_resolve_in){
        .entity = e->entity_name,
        .key = e->entity_key,
        .job = e->job,
        .now = s->req->now ? s->now : 0,
    });
}

static int64_t (*const effect_writers[])(const struct settling *s, const struct settlement *t, int place) = {
    [EFFECT_EMIT] = emit, [EFFECT_ENQUEUE] = enqueue, [EFFECT_RESOLVE] = resolve,
};

static int64_t write_effects(const struct settling *s)
{
    bool is_heard = false;
    for (int i = 0; i < s->req->n; i++) {
        const struct settlement *t = &s->req->settlements[i];
        for (int e = 0; t->state == SETTLE_TOUCHED && e < t->neffects; e++) {
            int64_t rc = effect_writers[t->effects[e].kind](s, t, e);
            if (rc < 0)
                return rc;
            is_heard = is_heard || t->effects[e].nhearers > 0;
        }
    }
    return is_heard ? deliver(s) : 0;
}

static int64_t write_digests(const struct settling *s)
{
    for (int i = 0; i < s->req->n; i++) {
        const struct settlement *t = &s->req->settlements[i];
        if (!t->digest || t->state != SETTLE_TOUCHED)
            continue;
        int64_t rc = sqlite_write_digest(s->db, t, s->at_us, s->clock_us, s->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* No settings have had these listeners for the horizon. */
static int64_t forget_digests(const struct settling *s)
{
    for (int i = 0; i < s->req->n; i++) {
        const struct settlement *t = &s->req->settlements[i];
        if (!digest_is_forgotten(t) || t->state != SETTLE_TOUCHED)
            continue;
        struct sqlite_digest_forget_in in = { .listener = t->check->entity_key };
        int64_t rc = sqlite_run(s->db, s->err, STATEMENT_DIGEST_FORGET, &in);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void forget_states(struct store_settle *req)
{
    req->touched = 0;
    for (int i = 0; i < req->n; i++)
        req->settlements[i].state = SETTLE_UNTOUCHED;
}

static int64_t settle_under_lease(const struct settling *s)
{
    int64_t rc = sqlite_check_lease(s->db, &s->req->lease, s->err);
    if (rc < 0)
        return rc;
    rc = write_answers(s);
    if (rc < 0)
        return rc;
    rc = write_effects(s);
    if (rc >= 0)
        rc = write_digests(s);
    return rc < 0 ? rc : forget_digests(s);
}

static void find_open_slots(struct settling *s)
{
    int32_t length_s = s->db->head.slot_length_s;
    int64_t left = s->req->lease.slot;
    s->open_slot = slot_next(s->now, length_s);
    if (s->open_slot == left)
        s->open_slot = slot_next(left, length_s);
    s->open_fine = slot_fine_next(s->now, length_s);
    if (s->open_fine == left)
        s->open_fine = slot_fine_next(left, length_s);
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
    find_open_slots(&s);
    forget_states(req);
    db->answers = (struct sqlite_answers){
        .settlements = req->settlements,
        .n = req->n,
        .keep_runs = req->keep_runs,
        .now = s.now,
        .slot_length_s = db->head.slot_length_s,
    };
    int64_t rc = settle_under_lease(&s);
    db->answers = (struct sqlite_answers){ 0 };
    if (rc < 0)
        forget_states(req);
    return rc < 0 ? (int)rc : 0;
}
