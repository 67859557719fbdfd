/* store_pg_settle.c - the settle: turns the answers of a page into columns of parameters, and
 * results into the state of each settlement. Ends, moves and renewals are a statement each; with
 * the effects they are one message and one transaction. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/settings.h"
#include "../rules/digest.h"
#include "../rules/effect.h"
#include "../rules/slot.h"
#include "store_pg_ops.h"

/* Which statement writes a settlement. */
enum kind { ENDS, MOVES, RENEWS, KINDS };

static enum kind kind_of(const struct settlement *s)
{
    if (s->renews)
        return RENEWS;
    return s->ends ? ENDS : MOVES;
}

/* How much each statement writes. `nmore`: how many elements there are beside the effects, as
 * several listeners hear an event. */
struct shares { int of[KINDS], neffects, nmore, ndigests; bool is_heard; };

static struct shares shares_of(const struct store_settle *s)
{
    struct shares shares = { .neffects = 0 };
    for (int i = 0; i < s->n; i++) {
        shares.of[kind_of(&s->settlements[i])]++;
        shares.neffects += s->settlements[i].neffects;
        shares.ndigests += s->settlements[i].digest != NULL;
        for (int j = 0; j < s->settlements[i].neffects; j++) {
            int nhearers = s->settlements[i].effects[j].nhearers;
            shares.is_heard = shares.is_heard || nhearers;
            shares.nmore += nhearers > 1 ? nhearers - 1 : 0;
        }
    }
    return shares;
}

/* The settlements of one kind as the statement's columns, in order of id. */
struct columns {
    int n, nnames, nnotes;
    bool is_fine;                       /* one of them moves to a fine slot */
    bool is_paused;                     /* one of them moves to the slot of a pause */
    bool gives_back_payload;            /* one of them had a payload for one occurrence */
    int64_t last_slot;                  /* the slot that the last one moves to */
    int32_t first_bucket, last_bucket, first_priority, last_priority;
    const struct settlement **rows;
    double *offsets;                    /* of ids, from the first one: below SETTLE_IDS_SPAN */
    int64_t *as_read, *run_at_us, *run_us, *next_at, *deferred_at, *put_off_at, *first_at;
    int32_t *check_counts, *failure_counts;
    int16_t *outcomes, *notes;          /* indexes into names and texts, from 1; 0: none */
    int16_t *ran, *archived;
    unsigned char *origins;             /* of what starts anew; NULL: nothing does */
    const char *names[OUTCOME_COUNT];
    int16_t place_of[OUTCOME_COUNT];
    const char **texts;
};

static bool columns_init(struct columns *c, struct arena *a, int n)
{
    size_t room = (size_t)n;
    *c = (struct columns){ .first_bucket = BUCKETS, .first_priority = INT32_MAX, .last_priority = INT32_MIN };
    c->rows = arena_alloc(a, room * sizeof *c->rows);
    c->texts = arena_alloc(a, room * sizeof *c->texts);
    double *offsets = arena_alloc(a, room * sizeof *offsets);
    int64_t *wide = arena_alloc(a, 7 * room * sizeof *wide);
    int32_t *middle = arena_alloc(a, 2 * room * sizeof *middle);
    int16_t *narrow = arena_alloc(a, 4 * room * sizeof *narrow);
    if (!c->rows || !c->texts || !offsets || !wide || !middle || !narrow)
        return false;
    c->offsets = offsets;
    c->as_read = wide;
    c->run_at_us = wide + room;
    c->run_us = wide + 2 * room;
    c->next_at = wide + 3 * room;
    c->deferred_at = wide + 4 * room;
    c->put_off_at = wide + 5 * room;
    c->first_at = wide + 6 * room;
    c->check_counts = middle;
    c->failure_counts = middle + room;
    c->outcomes = narrow;
    c->notes = narrow + room;
    c->ran = narrow + 2 * room;
    c->archived = narrow + 3 * room;
    return true;
}

static int16_t outcome_place(struct columns *c, enum outcome o)
{
    if (!c->place_of[o]) {
        c->names[c->nnames] = outcome_name(o);
        c->place_of[o] = (int16_t)++c->nnames;
    }
    return c->place_of[o];
}

/* The notes of a page are often equal (a refused connection): equal ones in a row share one
 * text. */
static int16_t note_place(struct columns *c, const char *note)
{
    if (!note)
        return 0;
    if (c->nnotes == 0 || strcmp(c->texts[c->nnotes - 1], note) != 0)
        c->texts[c->nnotes++] = note;
    return (int16_t)c->nnotes;
}

/* Both counts as read in one number, as the statement compares them. */
static int64_t as_read_by_counts(const struct check *check)
{
    return (int64_t)((uint64_t)(uint32_t)check->check_count << 32 | (uint32_t)check->failure_count);
}

/* If a page spans buckets or priorities, these are part of the number. */
static int64_t as_read_in_place(const struct check *check)
{
    uint64_t bucket = (uint64_t)check->bucket << 58,
             priority = (uint64_t)(check->priority * INT64_C(2654435761));
    return (int64_t)((uint64_t)as_read_by_counts(check) ^ bucket ^ priority);
}

static void widen(int32_t number, int32_t *first, int32_t *last)
{
    *first = number < *first ? number : *first;
    *last = number > *last ? number : *last;
}

static bool is_failure(const struct settlement *s)
{
    return s->failure_count > s->check->failure_count;
}

/* The checks of a page often go to one slot. */
static void columns_note_slot(struct columns *c, int64_t slot, int32_t slot_length_s)
{
    if (slot == c->last_slot)
        return;
    c->last_slot = slot;
    c->is_fine = c->is_fine || slot_is_fine(slot, slot_length_s);
    c->is_paused = c->is_paused || slot_is_of_pause(slot);
}

/* Where a check goes that stays, or begins anew. */
static void columns_add_place(struct columns *c, const struct settlement *s, int32_t slot_length_s)
{
    int i = c->n;
    struct slot_move move = { s->next_at, s->check->next_check_at, 0, is_failure(s) };
    c->next_at[i] = slot_moved(&move, slot_length_s);
    columns_note_slot(c, c->next_at[i], slot_length_s);
    if (s->renews) {
        c->archived[i] = s->ends;
        c->first_at[i] = s->first_at;
        c->gives_back_payload = c->gives_back_payload || settlement_gives_back_payload(s);
    } else {
        c->deferred_at[i] = s->deferred_at;
        c->put_off_at[i] = s->put_off_at;
    }
}

static void columns_add(struct columns *c, const struct settlement *s, enum keep_runs keep)
{
    int i = c->n++;
    bool kept = s->ends || settlement_leaves_run_row(s, keep);
    c->rows[i] = s;
    c->offsets[i] = (double)(s->check->id - c->rows[0]->check->id);
    widen(s->check->bucket, &c->first_bucket, &c->last_bucket);
    widen(s->check->priority, &c->first_priority, &c->last_priority);
    c->run_at_us[i] = s->ran || s->outcome == OUTCOME_SKIPPED ? s->run_at_us : 0;
    c->run_us[i] = s->ran && s->run_us > 0 ? s->run_us : 0;
    c->ran[i] = s->ran;
    c->check_counts[i] = s->check_count;
    c->failure_counts[i] = s->failure_count;
    c->outcomes[i] = kept ? outcome_place(c, s->outcome) : 0;
    c->notes[i] = kept ? note_place(c, s->note) : 0;
}

/* The server would need longer for them. */
static bool origins_fill(struct columns *c, struct arena *a)
{
    c->origins = arena_alloc(a, (size_t)c->n * IDEMPOTENCY_BYTES + 1);
    for (int i = 0; c->origins && i < c->n; i++) {
        struct idempotency of = check_identity(c->rows[i]->check);
        idempotency_origin_anew_bytes(&of, c->origins + (size_t)i * IDEMPOTENCY_BYTES);
    }
    return c->origins;
}

/* With room for `n`. */
static bool columns_fill(struct columns *c, const struct pg_store *pg, const struct store_settle *s,
                         enum kind kind, int n)
{
    if (!columns_init(c, pg->arena, n))
        return false;
    for (int i = 0; i < s->n; i++) {
        const struct settlement *one = &s->settlements[i];
        if (kind_of(one) != kind)
            continue;
        if (kind != ENDS)
            columns_add_place(c, one, pg->head.slot_length_s);
        columns_add(c, one, s->keep_runs);
    }
    return kind != RENEWS || origins_fill(c, pg->arena);
}

static void columns_as_read(struct columns *c, bool in_place)
{
    for (int i = 0; i < c->n; i++)
        c->as_read[i] = in_place ? as_read_in_place(c->rows[i]->check) : as_read_by_counts(c->rows[i]->check);
}

/* How many elements of a column are sent: one if all are equal. */
static int extent(const void *column, size_t size, int n)
{
    return n > 1 && memcmp(column, (const char *)column + size, (size_t)(n - 1) * size) == 0 ? 1 : n;
}

/* Each occurrence is filed at its own time. Of what a column costs the server, most is to read its
 * times. */
static bool starts_where_filed(const struct columns *c)
{
    return !memcmp(c->first_at, c->next_at, (size_t)c->n * sizeof *c->first_at);
}

#define COLUMN(c, name) { extent((c)->name, sizeof *(c)->name, (c)->n), (c)->name }

/* The parameters that all three statements have. */
#define COMMON_COLUMNS(pg, s, c)                                                                             \
    .slot = (s)->lease.slot, .bucket = (s)->lease.bucket, .priority = (c)->first_priority,                   \
    .owner = (s)->lease.owner, .token = (s)->lease.token, .lock_timeout = (pg)->lock_timeout,                \
    .now = (s)->now, .engine = (pg)->engine, .first_id = (c)->rows[0]->check->id,                            \
    .offsets = { (c)->n, (c)->offsets }, .as_read = COLUMN(c, as_read),                                      \
    .check_counts = COLUMN(c, check_counts), .failure_counts = COLUMN(c, failure_counts),                    \
    .outcomes = COLUMN(c, outcomes), .outcome_names = { (c)->nnames, (c)->names },                           \
    .run_at_us = { (c)->n, (c)->run_at_us }, .run_us = { (c)->n, (c)->run_us },                              \
    .notes = { (c)->nnotes ? (c)->n : 0, (c)->notes }, .texts = { (c)->nnotes, (c)->texts },                 \
    .ran = COLUMN(c, ran)

/* `n`: how many settlements are of that kind. */
static bool send_columns(struct pg_store *pg, const struct store_settle *s, enum kind kind, int n,
                         bool remember)
{
    struct columns columns, *c = &columns;
    if (!columns_fill(c, pg, s, kind, n))
        return false;
    bool whole = s->lease.bucket == BUCKET_WHOLE_SLOT, mixed = c->first_priority != c->last_priority;
    unsigned form = whole ? PG_FORM_SLOT : PG_FORM_PLAIN;
    form |= s->skip_locked ? PG_FORM_SKIP : 0;
    form |= mixed ? PG_FORM_MIXED : 0;
    form |= c->is_fine ? PG_FORM_FINE : 0;
    form |= c->is_paused && kind == MOVES ? PG_FORM_PAUSED : 0;
    form |= c->gives_back_payload ? PG_FORM_ONCE : 0;
    columns_as_read(c, whole || mixed);
    bool by_bucket = whole || !mixed;
    int32_t first = by_bucket ? c->first_bucket : c->first_priority;
    int32_t last = by_bucket ? c->last_bucket : c->last_priority;
    if (kind == ENDS)
        return pg_send_form(pg, PG_SETTLE_END, form, &(struct pg_settle_end_in){
            COMMON_COLUMNS(pg, s, c), .remember = remember, .first = first, .last = last,
        });
    if (kind == RENEWS)
        return pg_send_form(pg, PG_SETTLE_RENEW, form, &(struct pg_settle_renew_in){
            COMMON_COLUMNS(pg, s, c), .remember = remember, .first = first, .last = last,
            .next_at = COLUMN(c, next_at), .first_at = { starts_where_filed(c) ? 0 : c->n, c->first_at },
            .archived = COLUMN(c, archived), .origins = { c->n * IDEMPOTENCY_BYTES, c->origins },
        });
    return pg_send_form(pg, PG_SETTLE_MOVE, form, &(struct pg_settle_move_in){
        COMMON_COLUMNS(pg, s, c), .remember = remember, .first = first, .last = last,
        .next_at = COLUMN(c, next_at), .deferred_at = COLUMN(c, deferred_at),
        .put_off_at = COLUMN(c, put_off_at),
    });
}

/* ---- effects --------------------------------------------------------------------------------- */

struct effect_columns {
    int n;
    int64_t *ids, *at;
    int32_t *check_counts, *kinds, *priorities, *buckets, *of_event;
    const char **words, **entities, **keys, **jobs, **jsons, **origins, **concurrency_keys, **tenants;
    const char **listeners, **hearing_jobs, **terms;
};

/* What the statement does with an element. */
enum { MORE_HEARERS = EFFECT_RESOLVE + 1 };

static bool effect_columns_init(struct effect_columns *c, struct arena *a, int n)
{
    size_t room = (size_t)n;
    c->n = 0;
    c->ids = arena_alloc(a, 2 * room * sizeof *c->ids);
    c->check_counts = arena_alloc(a, 5 * room * sizeof *c->check_counts);
    const char **texts = arena_alloc(a, 11 * room * sizeof *texts);
    if (!c->ids || !c->check_counts || !texts)
        return false;
    c->at = c->ids + room;
    c->kinds = c->check_counts + room;
    c->buckets = c->check_counts + 2 * room;
    c->of_event = c->check_counts + 3 * room;
    c->priorities = c->check_counts + 4 * room;
    c->words = texts;
    c->entities = texts + room;
    c->keys = texts + 2 * room;
    c->jobs = texts + 3 * room;
    c->jsons = texts + 4 * room;
    c->origins = texts + 5 * room;
    c->listeners = texts + 6 * room;
    c->hearing_jobs = texts + 7 * room;
    c->terms = texts + 8 * room;
    c->concurrency_keys = texts + 9 * room;
    c->tenants = texts + 10 * room;
    return true;
}

/* NULL: out of memory. */
static const char *origin_of_effect(struct arena *a, const struct check *check, int place)
{
    char *origin = arena_alloc(a, IDEMPOTENCY_KEY_SIZE);
    if (origin)
        check_origin_of_effect(check, place, origin);
    return origin;
}

/* The event that an effect emits, or what a follow-up does about a check that is there already. */
static const char *effect_word(const struct effect *e)
{
    if (e->kind == EFFECT_EMIT)
        return e->event;
    return e->conflict ? e->conflict : "keep";
}

/* Who hears it, of several the one numbered `which`. */
static void effect_columns_hear(struct effect_columns *c, int i, const struct effect *e, int which)
{
    const struct hearer *h = which < e->nhearers ? &e->hearers[which] : NULL;
    c->buckets[i] = h ? h->bucket : 0;
    c->listeners[i] = h ? h->listener : NULL;
    c->hearing_jobs[i] = h ? h->job : NULL;
    c->terms[i] = h ? e->terms : NULL;
    c->of_event[i] = 0;
}

static bool effect_columns_add(struct effect_columns *c, struct arena *a, const struct settlement *s,
                               int place)
{
    const struct check *check = s->check;
    const struct effect *e = &s->effects[place];
    int i = c->n++;
    bool emits = e->kind == EFFECT_EMIT;
    c->ids[i] = check->id;
    c->check_counts[i] = check->check_count;
    c->kinds[i] = e->kind;
    c->words[i] = effect_word(e);
    c->entities[i] = emits ? check->entity_name : e->entity_name;
    c->keys[i] = emits ? check->entity_key : e->entity_key;
    c->jobs[i] = emits ? check->job_exec : e->job;
    c->jsons[i] = e->json;
    c->at[i] = e->kind == EFFECT_ENQUEUE ? e->at : 0;
    c->origins[i] = e->kind == EFFECT_ENQUEUE ? origin_of_effect(a, check, place) : e->origin;
    c->priorities[i] = e->priority;
    c->concurrency_keys[i] = e->concurrency_key;
    c->tenants[i] = effect_tenant(check, e);
    effect_columns_hear(c, i, e, 0);
    return e->kind != EFFECT_ENQUEUE || c->origins[i];
}

/* One more who hears the event at the place `event`, counted from 1. */
static void effect_columns_add_hearer(struct effect_columns *c, const struct settlement *s,
                                      const struct effect *e, int which, int event)
{
    int i = c->n++;
    c->ids[i] = s->check->id;
    c->check_counts[i] = 0;
    c->kinds[i] = MORE_HEARERS;
    c->words[i] = c->entities[i] = c->keys[i] = c->jobs[i] = c->jsons[i] = NULL;
    c->at[i] = 0;
    c->origins[i] = e->origin;
    c->priorities[i] = 0;
    c->concurrency_keys[i] = NULL;
    c->tenants[i] = effect_tenant(s->check, e);
    effect_columns_hear(c, i, e, which);
    c->of_event[i] = event;
}

static bool effect_columns_fill(struct effect_columns *c, struct arena *a, const struct settlement *s)
{
    for (int i = 0; i < s->neffects; i++) {
        if (!effect_columns_add(c, a, s, i))
            return false;
        int event = c->n;
        for (int which = 1; which < s->effects[i].nhearers; which++)
            effect_columns_add_hearer(c, s, &s->effects[i], which, event);
    }
    return true;
}

#define EFFECT_COLUMN(c, name) .name = { (c)->n, (c)->name }
#define EFFECT_COLUMNS(s, c)                                                                                 \
    .slot = (s)->lease.slot, .now = (s)->now, EFFECT_COLUMN(c, ids), EFFECT_COLUMN(c, check_counts),         \
    EFFECT_COLUMN(c, kinds), EFFECT_COLUMN(c, words), EFFECT_COLUMN(c, entities), EFFECT_COLUMN(c, keys),    \
    EFFECT_COLUMN(c, jobs), EFFECT_COLUMN(c, jsons), EFFECT_COLUMN(c, at), EFFECT_COLUMN(c, origins),        \
    EFFECT_COLUMN(c, priorities), EFFECT_COLUMN(c, concurrency_keys), EFFECT_COLUMN(c, tenants)

static bool send_effects(struct pg_store *pg, const struct store_settle *s, const struct shares *shares)
{
    struct effect_columns c;
    if (!effect_columns_init(&c, pg->arena, shares->neffects + shares->nmore))
        return false;
    for (int i = 0; i < s->n; i++)
        if (!effect_columns_fill(&c, pg->arena, &s->settlements[i]))
            return false;
    if (!shares->is_heard)
        return pg_send(pg, PG_EFFECTS, &(struct pg_effects_in){ EFFECT_COLUMNS(s, &c) });
    unsigned form = pg->met_delivery ? PG_FORM_PRESENT : PG_FORM_PLAIN;
    return pg_send_form(pg, PG_EFFECTS_HEARD, form, &(struct pg_effects_heard_in){
        EFFECT_COLUMNS(s, &c), EFFECT_COLUMN(&c, buckets), EFFECT_COLUMN(&c, listeners),
        EFFECT_COLUMN(&c, hearing_jobs), EFFECT_COLUMN(&c, terms), EFFECT_COLUMN(&c, of_event),
    });
}

/* ---- digests --------------------------------------------------------------------------------- */

static bool send_digests(struct pg_store *pg, const struct store_settle *s)
{
    for (int i = 0; i < s->n; i++) {
        const struct settlement *one = &s->settlements[i];
        const struct listener_settings *l = one->digest ? one->digest->listener : NULL;
        if (l && !pg_send(pg, PG_DIGEST, &(struct pg_digest_in){
                .slot = one->check->next_check_at,
                .now = s->now,
                .id = one->check->id,
                .bucket = one->check->bucket,
                .job = l->job,
                .listener = l->name,
                .events = { l->nevents, l->events },
                .except_events = { l->nexcept, l->except },
            }))
            return false;
    }
    return true;
}

/* No settings have had these listeners for the horizon. */
static bool send_forgotten(struct pg_store *pg, const struct store_settle *s)
{
    for (int i = 0; i < s->n; i++) {
        const struct check *c = s->settlements[i].check;
        if (digest_is_forgotten(&s->settlements[i]) &&
            !pg_send(pg, PG_FORGET_DIGEST, &(struct pg_forget_digest_in){ .listener = c->entity_key }))
            return false;
    }
    return true;
}

/* `n`: the first of their results. */
static int receive_digests(struct pg_store *pg, struct store_settle *s, int n)
{
    for (int i = 0; i < s->n; i++) {
        struct pg_digest_out row;
        struct digest *digest = s->settlements[i].digest;
        if (!digest)
            continue;
        if (!pg_row(pg, PG_DIGEST, pg_result(pg, n++), 0, &row))
            return unreadable(&s->call, "digest");
        digest->files = row.filed || row.again;
    }
    return 0;
}

static bool send_renumber(struct pg_store *pg, const struct store_settle *s)
{
    return pg_send(pg, PG_RENUMBER, &(struct pg_renumber_in){
        .slot = s->lease.slot,
        .bucket = s->lease.bucket,
        .owner = s->lease.owner,
        .token = s->lease.token,
        .lock_timeout = pg->lock_timeout,
        .row_bucket = s->settlements[0].check->bucket,
        .row_id = s->settlements[0].check->id,
    });
}

static bool settle_send(struct pg_store *pg, struct store_call *call)
{
    struct store_settle *s = (struct store_settle *)call;
    struct shares shares = shares_of(s);
    bool has_effects = shares.neffects > 0, remember = has_effects || shares.ndigests;
    if (pg->renumbers)
        return send_renumber(pg, s);
    for (int kind = 0; kind < KINDS; kind++)
        if (shares.of[kind] && !send_columns(pg, s, (enum kind)kind, shares.of[kind], remember))
            return false;
    return (!has_effects || send_effects(pg, s, &shares)) && send_digests(pg, s) && send_forgotten(pg, s);
}

/* ---- what became of it ----------------------------------------------------------------------- */

/* Sets the state of the settlements of one kind, given by their places, counted from 1. */
static void mark(struct store_settle *s, enum kind kind, struct sql_int4s places, enum settle_state from,
                 enum settle_state to)
{
    int next = 0, place = 0;
    for (int i = 0; i < s->n; i++) {
        struct settlement *one = &s->settlements[i];
        if (kind_of(one) != kind)
            continue;
        place++;
        while (next < places.n && places.v[next] < place)
            next++;
        if (next < places.n && places.v[next] == place && one->state == from)
            one->state = to;
    }
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The arena's numbers are ours to change, although the reader returns them as constant. */
static void sort(struct sql_int4s numbers)
{
    if (numbers.n > 1)      /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
        qsort((void *)(uintptr_t)numbers.v, (size_t)numbers.n, sizeof *numbers.v, by_number);
}

static int fenced(struct store_settle *s)
{
    return err_set(&s->call.err, ERR_FENCED,
                   "the lease on slot %" PRId64 ", bucket %d is no longer ours: nothing was written",
                   s->lease.slot, s->lease.bucket);
}

/* `n`: which of the statements; `all`: how many settlements it wrote. Their results have the same
 * columns. */
static int receive_columns(struct pg_store *pg, struct store_settle *s, int n, enum kind kind, int all)
{
    struct pg_settle_end_out row;
    if (!pg_row(pg, PG_SETTLE_END, pg_result(pg, n), 0, &row))
        return unreadable(&s->call, "settle");
    if (!row.ours)
        return fenced(s);
    s->touched += row.touched;
    enum settle_state untouched = s->skip_locked ? SETTLE_SUPERSEDED : SETTLE_UNTOUCHED;
    for (int i = 0; i < s->n; i++)
        if (kind_of(&s->settlements[i]) == kind)
            s->settlements[i].state = row.touched == all ? SETTLE_TOUCHED : untouched;
    if (row.touched < all) {
        sort(row.places);
        sort(row.still_there);
        mark(s, kind, row.still_there, SETTLE_SUPERSEDED, SETTLE_LOCKED);
        mark(s, kind, row.places, s->skip_locked ? SETTLE_LOCKED : SETTLE_UNTOUCHED, SETTLE_TOUCHED);
    }
    return 0;
}

/* The answer is not written. The check has a new id, and is read and run again. */
static int receive_renumbered(struct pg_store *pg, struct store_settle *s)
{
    struct pg_renumber_out row;
    if (!pg_row(pg, PG_RENUMBER, pg_result(pg, 0), 0, &row))
        return unreadable(&s->call, "renumber");
    s->settlements[0].state = SETTLE_SUPERSEDED;
    return row.ours ? 0 : fenced(s);
}

static int settle_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_settle *s = (struct store_settle *)call;
    int n = 0;
    s->touched = 0;
    if (pg->renumbers)
        return receive_renumbered(pg, s);
    struct shares shares = shares_of(s);
    for (int kind = 0; kind < KINDS; kind++) {
        if (!shares.of[kind])
            continue;
        int rc = receive_columns(pg, s, n++, (enum kind)kind, shares.of[kind]);
        if (rc < 0)
            return rc;
    }
    return receive_digests(pg, s, n + (shares.neffects > 0));
}

const struct pg_operation pg_settle = { .send = settle_send, .receive = settle_receive, .relaxes = true };
