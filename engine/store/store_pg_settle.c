/* store_pg_settle.c - the settle: turns the answers of a page into columns of parameters, and
 * results into the state of each settlement. Ends and moves are a statement each; with the effects
 * they are one message and one transaction. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store_pg_ops.h"

/* The settlements of one kind as the statement's columns, in order of id. */
struct columns {
    int n, nnames, nnotes;
    int32_t first_bucket, last_bucket, first_priority, last_priority;
    const struct settlement **rows;
    int64_t *ids, *as_read, *run_at_us, *run_us, *next_at, *deferred_at, *put_off_at;
    int32_t *check_counts, *failure_counts;
    int16_t *outcomes, *notes;          /* indexes into names and texts, from 1; 0: none */
    int16_t *ran;
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
    int64_t *wide = arena_alloc(a, 7 * room * sizeof *wide);
    int32_t *middle = arena_alloc(a, 2 * room * sizeof *middle);
    int16_t *narrow = arena_alloc(a, 3 * room * sizeof *narrow);
    if (!c->rows || !c->texts || !wide || !middle || !narrow)
        return false;
    c->ids = wide;
    c->as_read = wide + room;
    c->run_at_us = wide + 2 * room;
    c->run_us = wide + 3 * room;
    c->next_at = wide + 4 * room;
    c->deferred_at = wide + 5 * room;
    c->put_off_at = wide + 6 * room;
    c->check_counts = middle;
    c->failure_counts = middle + room;
    c->outcomes = narrow;
    c->notes = narrow + room;
    c->ran = narrow + 2 * room;
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

static void columns_add(struct columns *c, const struct settlement *s, enum keep_runs keep)
{
    int i = c->n++;
    bool kept = s->ends || (s->ran && outcome_leaves_run_row(s->outcome, keep));
    c->rows[i] = s;
    c->ids[i] = s->check->id;
    widen(s->check->bucket, &c->first_bucket, &c->last_bucket);
    widen(s->check->priority, &c->first_priority, &c->last_priority);
    c->run_at_us[i] = s->ran ? s->run_at_us : 0;
    c->run_us[i] = s->ran && s->run_us > 0 ? s->run_us : 0;
    c->ran[i] = s->ran;
    c->next_at[i] = s->next_at;
    c->deferred_at[i] = s->deferred_at;
    c->put_off_at[i] = s->put_off_at;
    c->check_counts[i] = s->check_count;
    c->failure_counts[i] = s->failure_count;
    c->outcomes[i] = kept ? outcome_place(c, s->outcome) : 0;
    c->notes[i] = kept ? note_place(c, s->note) : 0;
}

static bool columns_fill(struct columns *c, struct arena *a, const struct store_settle *s, bool ends)
{
    if (!columns_init(c, a, s->n))
        return false;
    for (int i = 0; i < s->n; i++)
        if (s->settlements[i].ends == ends)
            columns_add(c, &s->settlements[i], s->keep_runs);
    return true;
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
#define COLUMN(c, name) { extent((c)->name, sizeof *(c)->name, (c)->n), (c)->name }

/* The parameters of both statements. The struct of one has the fields of the other, and three
 * more. */
#define COMMON_COLUMNS(pg, s, c)                                                                             \
    .slot = (s)->lease.slot, .bucket = (s)->lease.bucket, .priority = (c)->first_priority,                   \
    .owner = (s)->lease.owner, .token = (s)->lease.token, .lock_timeout = (pg)->lock_timeout,                \
    .now = (s)->now, .engine = (pg)->engine, .ids = { (c)->n, (c)->ids }, .as_read = COLUMN(c, as_read),     \
    .check_counts = COLUMN(c, check_counts), .failure_counts = COLUMN(c, failure_counts),                    \
    .outcomes = COLUMN(c, outcomes), .outcome_names = { (c)->nnames, (c)->names },                           \
    .run_at_us = { (c)->n, (c)->run_at_us }, .run_us = { (c)->n, (c)->run_us },                              \
    .notes = { (c)->nnotes ? (c)->n : 0, (c)->notes }, .texts = { (c)->nnotes, (c)->texts },                 \
    .ran = COLUMN(c, ran)

static bool send_columns(struct pg_store *pg, const struct store_settle *s, bool ends, bool remember)
{
    struct columns columns, *c = &columns;
    if (!columns_fill(c, pg->arena, s, ends))
        return false;
    if (c->n == 0)
        return true;
    bool whole = s->lease.bucket == BUCKET_WHOLE_SLOT, mixed = c->first_priority != c->last_priority;
    unsigned form = whole ? PG_FORM_SLOT : PG_FORM_PLAIN;
    form |= s->skip_locked ? PG_FORM_SKIP : 0;
    form |= mixed ? PG_FORM_MIXED : 0;
    columns_as_read(c, whole || mixed);
    bool by_bucket = whole || !mixed;
    int32_t first = by_bucket ? c->first_bucket : c->first_priority;
    int32_t last = by_bucket ? c->last_bucket : c->last_priority;
    if (ends)
        return pg_send_form(pg, PG_SETTLE_END, form, &(struct pg_settle_end_in){
            COMMON_COLUMNS(pg, s, c), .remember = remember, .first = first, .last = last,
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
    int32_t *check_counts, *kinds;
    const char **words, **entities, **keys, **jobs, **jsons, **origins;
};

static int count_effects(const struct store_settle *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->settlements[i].neffects;
    return n;
}

static bool effect_columns_init(struct effect_columns *c, struct arena *a, int n)
{
    size_t room = (size_t)n;
    c->n = 0;
    c->ids = arena_alloc(a, 2 * room * sizeof *c->ids);
    c->check_counts = arena_alloc(a, 2 * room * sizeof *c->check_counts);
    const char **texts = arena_alloc(a, 6 * room * sizeof *texts);
    if (!c->ids || !c->check_counts || !texts)
        return false;
    c->at = c->ids + room;
    c->kinds = c->check_counts + room;
    c->words = texts;
    c->entities = texts + room;
    c->keys = texts + 2 * room;
    c->jobs = texts + 3 * room;
    c->jsons = texts + 4 * room;
    c->origins = texts + 5 * room;
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
    c->origins[i] = e->kind == EFFECT_ENQUEUE ? origin_of_effect(a, check, place) : NULL;
    return e->kind != EFFECT_ENQUEUE || c->origins[i];
}

static bool send_effects(struct pg_store *pg, const struct store_settle *s, int n)
{
    struct effect_columns c;
    if (!effect_columns_init(&c, pg->arena, n))
        return false;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->settlements[i].neffects; j++)
            if (!effect_columns_add(&c, pg->arena, &s->settlements[i], j))
                return false;
    return pg_send(pg, PG_EFFECTS, &(struct pg_effects_in){
        .slot = s->lease.slot,
        .now = s->now,
        .ids = { n, c.ids },
        .check_counts = { n, c.check_counts },
        .kinds = { n, c.kinds },
        .words = { n, c.words },
        .entities = { n, c.entities },
        .keys = { n, c.keys },
        .jobs = { n, c.jobs },
        .jsons = { n, c.jsons },
        .at = { n, c.at },
        .origins = { n, c.origins },
    });
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
    int neffects = count_effects(s);
    if (pg->renumbers)
        return send_renumber(pg, s);
    return send_columns(pg, s, true, neffects > 0) && send_columns(pg, s, false, neffects > 0) &&
           (neffects == 0 || send_effects(pg, s, neffects));
}

/* ---- what became of it ----------------------------------------------------------------------- */

/* Sets the state of the settlements of one kind, given by their places, counted from 1. */
static void mark(struct store_settle *s, bool ends, struct sql_int4s places, enum settle_state from,
                 enum settle_state to)
{
    int next = 0, place = 0;
    for (int i = 0; i < s->n; i++) {
        struct settlement *one = &s->settlements[i];
        if (one->ends != ends)
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

/* `n`: which of the statements. Their results have the same columns. */
static int receive_columns(struct pg_store *pg, struct store_settle *s, int n, bool ends)
{
    struct pg_settle_end_out row;
    if (!pg_row(pg, PG_SETTLE_END, pg_result(pg, n), 0, &row))
        return unreadable(&s->call, "settle");
    if (!row.ours)
        return fenced(s);
    int all = 0;
    for (int i = 0; i < s->n; i++)
        all += s->settlements[i].ends == ends;
    s->touched += row.touched;
    enum settle_state untouched = s->skip_locked ? SETTLE_SUPERSEDED : SETTLE_UNTOUCHED;
    for (int i = 0; i < s->n; i++)
        if (s->settlements[i].ends == ends)
            s->settlements[i].state = row.touched == all ? SETTLE_TOUCHED : untouched;
    if (row.touched < all) {
        sort(row.places);
        sort(row.still_there);
        mark(s, ends, row.still_there, SETTLE_SUPERSEDED, SETTLE_LOCKED);
        mark(s, ends, row.places, s->skip_locked ? SETTLE_LOCKED : SETTLE_UNTOUCHED, SETTLE_TOUCHED);
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

static bool has_kind(const struct store_settle *s, bool ends)
{
    for (int i = 0; i < s->n; i++)
        if (s->settlements[i].ends == ends)
            return true;
    return false;
}

static int settle_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_settle *s = (struct store_settle *)call;
    int n = 0;
    s->touched = 0;
    if (pg->renumbers)
        return receive_renumbered(pg, s);
    if (has_kind(s, true)) {
        int rc = receive_columns(pg, s, n++, true);
        if (rc < 0)
            return rc;
    }
    return has_kind(s, false) ? receive_columns(pg, s, n, false) : 0;
}

const struct pg_operation pg_settle = { .send = settle_send, .receive = settle_receive, .relaxes = true };
