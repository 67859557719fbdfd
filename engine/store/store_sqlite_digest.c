/* store_sqlite_digest.c - what engines write of their settings: which listeners they have, and the
 * checks of digests. The settle that starts one of these anew files what it has to tell. Writers
 * are serial: what is read here is all that can come before the cursor. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/cleanup.h"
#include "../rules/delivery.h"
#include "../rules/digest.h"
#include "../rules/listener.h"
#include "../rules/slot.h"
#include "store_sqlite_calls.h"

/* ---- their checks ---- */

static int64_t keep_one(struct sqlite_store *db, struct err *err, const struct digest_check *c, int64_t now)
{
    int64_t slot = slot_for(c->first_at, now, db->head.slot_length_s);
    int64_t changed = sqlite_run(db, err, STATEMENT_DIGEST_CHANGE, &(struct sqlite_digest_change_in){
        .listener = c->listener,
        .job = c->job,
        .terms = c->terms,
        .slot = slot,
        .now = now,
    });
    if (changed)
        return changed;
    int64_t filed = sqlite_run(db, err, STATEMENT_DIGEST_CHECK, &(struct sqlite_digest_check_in){
        .listener = c->listener,
        .job = c->job,
        .terms = c->terms,
        .slot = slot,
    });
    if (filed < 0)
        return filed;
    int64_t rc = sqlite_run(db, err, STATEMENT_DIGEST_CURSOR_MAKE, &(struct sqlite_digest_cursor_make_in){
        .listener = c->listener,
        .clock_us = sqlite_clock_us(db),
    });
    return rc < 0 ? rc : filed;
}

int sqlite_keep_digests(struct sqlite_store *db, struct store_call *call)
{
    struct store_keep_digests *req = (struct store_keep_digests *)call;
    req->filed = 0;
    for (int i = 0; i < req->n; i++) {
        int64_t n = keep_one(db, &call->err, &req->checks[i], sqlite_now(db, req->now));
        if (n < 0)
            return (int)n;
        req->filed += n > 0;
    }
    return 0;
}

/* ---- which listeners engines have ---- */

int sqlite_note_listeners(struct sqlite_store *db, struct store_call *call)
{
    struct store_note_listeners *n = (struct store_note_listeners *)call;
    const int64_t day_us = INT64_C(86400) * 1000000;
    int64_t now_us = sqlite_clock_us(db);
    int64_t rc = sqlite_run(db, &call->err, STATEMENT_NOTE_LISTENERS,
                            &(struct sqlite_note_listeners_in){
                                .engine = n->engine,
                                .command = n->command,
                                .file = n->file,
                                .listeners = n->listeners,
                                .jobs = n->jobs,
                                .seen_us = now_us,
                                .until_us = now_us + n->counts_s * 1000000,
                                .version = n->version,
                                .host = n->host,
                                .pid = n->pid,
                                .started_us = n->started_us,
                                .serves = n->serves,
                                .last_slot = n->last_slot,
                                .last_pass_us = n->last_pass_us,
                            });
    if (rc >= 0)
        rc = sqlite_run(db, &call->err, STATEMENT_DROP_NOTES, &(struct sqlite_drop_notes_in){
            .before_us = now_us - day_us,
            .engine = n->engine,
            .command = n->command,
            .file = n->file,
        });
    n->dropped = rc;
    if (rc < 0)
        return (int)rc;
    struct sqlite_other_engines_out others = { 0 };
    struct sqlite_other_engines_in in = { .engine = n->engine, .file = n->file, .now_us = now_us };
    int asked = sqlite_ask(db, &call->err, STATEMENT_OTHER_ENGINES, &others, &in);
    n->others = others.n;
    return asked < 0 ? asked : 0;
}

/* ---- how many checks slots have ---- */

int sqlite_note_loads(struct sqlite_store *db, struct store_call *call)
{
    struct sqlite_loads_noted_out before = { 0 }, after = { 0 };
    int64_t rc = sqlite_ask(db, &call->err, STATEMENT_LOADS_NOTED, &before, NULL);
    if (rc >= 0)
        rc = sqlite_run(db, &call->err, STATEMENT_NOTE_LOADS, &(struct sqlite_note_loads_in){
            .now = sqlite_clock_us(db) / 1000000,
        });
    if (rc >= 0)
        rc = sqlite_ask(db, &call->err, STATEMENT_LOADS_NOTED, &after, NULL);
    bool is_noted = rc >= 0 && after.noted_at != before.noted_at;
    ((struct store_note_loads *)call)->slots = is_noted ? after.slots : -1;
    return rc < 0 ? (int)rc : 0;
}

/* ---- what one has to tell ---- */

struct telling {
    struct sqlite_store *db;
    struct err *err;
    const struct listener_settings *listener;
    struct sqlite_digest_cursor_out cursor;
    int64_t looked, last_id;
    struct digest_counts counts;
    bool is_full;
    char *room;                         /* the documents, each with a comma behind it */
    size_t length;
};

/* Kept while all of them have room; one that alone has too many bytes is passed over. */
static int keep_document(struct telling *t, const struct delivery *d)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(0);
    char *text = a ? arena_alloc(a, delivery_size(d)) : NULL;
    if (!text)
        return err_set(t->err, ERR_NOMEM, "out of memory");
    size_t size = delivery_write(d, text);
    if (size >= DIGEST_BYTES)
        return 0;
    t->is_full = t->length + size + 1 > DIGEST_BYTES;
    if (t->is_full)
        return 0;
    memcpy(t->room + t->length, text, size);
    t->length += size;
    t->room[t->length++] = ',';
    t->counts.shown++;
    return 0;
}

static int take_event(struct telling *t, const struct sqlite_digest_events_out *e)
{
    char id[IDEMPOTENCY_KEY_SIZE], cursor[64];
    t->looked++;
    t->last_id = e->id;
    if (!listener_hears(t->listener, e->event))
        return 0;
    if (++t->counts.matched > DIGEST_SHOWN_MAX || t->is_full)
        return 0;
    snprintf(cursor, sizeof cursor, "0-%" PRId64 "-%" PRId64, e->recorded_at_us, e->id);
    idempotency_key_of_event(t->listener->name, cursor, e->emitted_at_us, id);
    return keep_document(t, &(struct delivery){
        .type = e->event,
        .id = id,
        .timestamp = e->emitted_at_us / 1000000,
        .entity_name = e->entity_name,
        .entity_key = e->entity_key,
        .job = e->job_exec,
        .check_number = e->check_number,
        .failure_count = DELIVERY_UNKNOWN,
        .first_check_at = DELIVERY_UNKNOWN,
        .data = e->data,
    });
}

static int look(struct telling *t)
{
    sqlite3_stmt *row = NULL;
    struct sqlite_digest_events_in in = { .after_id = t->cursor.id, .most = DIGEST_READ_MAX };
    int rc = sqlite_query(t->db, t->err, &row, STATEMENT_DIGEST_EVENTS, &in);
    for (; rc > 0; rc = sqlite_next(t->db, t->err, row)) {
        struct sqlite_digest_events_out e = { 0 };
        rc = sqlite_columns(row, STATEMENT_DIGEST_EVENTS, &e);
        rc = rc < 0 ? rc : take_event(t, &e);
        if (rc < 0)
            break;
    }
    sqlite_done(row);
    return rc;
}

/* The head has its room in front of the documents. */
static int64_t file(struct telling *t, const struct settlement *of, int64_t at_us)
{
    static const char end[] = "]}";
    char head[DIGEST_HEAD_SIZE];
    size_t head_length = (size_t)digest_head(&t->counts, head);
    t->length -= t->length > 0;
    memcpy(t->room + t->length, end, sizeof end);
    char *payload = t->room - head_length;
    memcpy(payload, head, head_length);
    return sqlite_run(t->db, t->err, STATEMENT_DIGEST_FILE, &(struct sqlite_digest_file_in){
        .listener = t->listener->name,
        .job = t->listener->job,
        .after_id = t->cursor.id,
        .last_id = t->last_id,
        .slot = slot_fine_next(at_us / 1000000, t->db->head.slot_length_s),
        .data = payload,
        .first_at = of->check->next_check_at,
        .emitted_us = at_us,
    });
}

static int64_t move_on(struct telling *t, int64_t at_us, int64_t clock_us)
{
    int64_t rc = sqlite_run(t->db, t->err, STATEMENT_DIGEST_MOVE, &(struct sqlite_digest_move_in){
        .listener = t->listener->name,
        .id = t->last_id,
        .clock_us = clock_us,
        .is_told = t->counts.matched > 0,
    });
    if (rc < 0 || t->looked < DIGEST_READ_MAX)
        return rc;
    return sqlite_run(t->db, t->err, STATEMENT_DIGEST_AGAIN, &(struct sqlite_digest_again_in){
        .listener = t->listener->name,
        .job = t->listener->job,
        .slot = slot_fine_next(at_us / 1000000, t->db->head.slot_length_s),
    });
}

static int64_t tell(struct telling *t, const struct settlement *of, int64_t at_us, int64_t clock_us)
{
    int64_t rc = look(t);
    t->counts.was_pruned = t->cursor.was_pruned;
    of->digest->files = t->counts.matched > 0 || t->looked == DIGEST_READ_MAX;
    if (rc < 0 || !t->looked)
        return rc;
    rc = t->counts.matched ? file(t, of, at_us) : 0;
    return rc < 0 ? rc : move_on(t, at_us, clock_us);
}

int64_t sqlite_write_digest(struct sqlite_store *db, const struct settlement *of, int64_t at_us,
                            int64_t clock_us, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(0);
    char *room = a ? arena_alloc(a, DIGEST_HEAD_SIZE + DIGEST_BYTES + sizeof "]}") : NULL;
    struct telling t = { .db = db, .err = err, .listener = of->digest->listener };
    struct sqlite_digest_cursor_out cursor = { 0 };
    if (!room)
        return err_set(err, ERR_NOMEM, "out of memory");
    t.room = room + DIGEST_HEAD_SIZE;
    struct sqlite_digest_cursor_in in = { .listener = t.listener->name };
    int rc = sqlite_ask(db, err, STATEMENT_DIGEST_CURSOR, &cursor, &in);
    if (rc < 0)
        return rc;
    t.cursor = cursor;
    of->digest->files = false;
    return t.cursor.is_there ? tell(&t, of, at_us, clock_us) : 0;
}
