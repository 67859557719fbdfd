/* store.c - chooses the backend by the URL, makes calls block, and has what both backends share.
 * Only this file and store_schema.c have a list of backends; all others use struct store_ops. */
#include "store.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "../base/settings.h"
#include "embedded_sql.h"
#include "store_ops.h"

#define CONNECT_TIMEOUT_MS 10000
#define STATEMENT_TIMEOUT_MS 30000
#define LOCK_TIMEOUT_MS 250
#define SILENCE_MS 30000

static const struct store_ops *const backends[] = { &store_pg_ops, &store_sqlite_ops };

/* At most up to the first ':', because a password may follow. */
static int refuse_url(const char *url, struct err *err)
{
    const char *expected =
        "expected sqlite:FILE, postgresql://..., or libpq keywords such as \"host=... dbname=...\"";
    if (!url || !*url)
        return err_set(err, ERR_INPUT, "store: no URL given; %s", expected);
    return err_set(err, ERR_INPUT, "store: '%.*s' is no URL of a store; %s", (int)strcspn(url, ":@/"), url,
                   expected);
}

struct store_options store_options_from(const struct settings *s)
{
    return (struct store_options){
        .url = s->store,
        .schema = s->schema,
        .schema_owner = s->schema_owner,
        .connect_timeout_ms = (int)(s->connect_timeout_us / 1000),
        .statement_timeout_ms = (int)(s->statement_timeout_us / 1000),
        .lock_timeout_ms = (int)(s->lock_timeout_us / 1000),
        .unprepared = !s->prepared,
        .slot_length_s = (int32_t)s->slot_length_s,
    };
}

int store_new(const struct store_options *options, struct store **out, struct err *err)
{
    struct store_options o = *options;
    o.schema = o.schema ? o.schema : "prescient";
    o.schema_owner = o.schema_owner ? o.schema_owner : "prescient_owner";
    o.role = o.role ? o.role : "prescient_engine";
    o.clock = o.clock ? o.clock : &clock_system;
    o.connect_timeout_ms = o.connect_timeout_ms > 0 ? o.connect_timeout_ms : CONNECT_TIMEOUT_MS;
    o.statement_timeout_ms = o.statement_timeout_ms > 0 ? o.statement_timeout_ms : STATEMENT_TIMEOUT_MS;
    o.lock_timeout_ms = o.lock_timeout_ms > 0 ? o.lock_timeout_ms : LOCK_TIMEOUT_MS;
    o.silence_ms = o.silence_ms > 0 ? o.silence_ms : SILENCE_MS;
    *out = NULL;
    for (size_t i = 0; o.url && i < sizeof backends / sizeof *backends; i++)
        if (backends[i]->claims(o.url))
            return backends[i]->open(&o, out, err);
    return refuse_url(o.url, err);
}

void store_free(struct store *st)
{
    if (st)
        st->ops->close(st);
}

const char *store_scheme(const struct store *st) { return st->ops->scheme; }
int32_t store_slot_length_s(const struct store *st) { return st->slot_length_s; }

const char *store_passed_over(struct store *st)
{
    const char *reason = st->passed_over;
    st->passed_over = NULL;
    return reason;
}

void store_begin(struct store *st, struct store_call *call)
{
    call->rc = 0;
    err_clear(&call->err);
    st->ops->begin(st, call);
}

bool store_step(struct store *st) { return st->ops->step(st); }
int store_fd(const struct store *st) { return st->ops->fd(st); }
short store_wants(const struct store *st) { return st->ops->wants(st); }
int64_t store_deadline_us(const struct store *st) { return st->ops->deadline_us(st); }
void store_abandon(struct store *st) { st->ops->abandon(st); }

/* Waits until the connection is ready or the call's deadline has come. */
static void wait_for_store(const struct store *st)
{
    struct pollfd p = { .fd = store_fd(st), .events = store_wants(st) };
    if (p.fd < 0)
        return;
    int64_t left_us = store_deadline_us(st) - clock_mono_us(st->clock);
    int64_t left_ms = left_us <= 0 ? 0 : left_us / 1000 + 1;
    /* EINTR: the next step finds nothing, and we wait again */
    poll(&p, 1, left_ms > 60000 ? 60000 : (int)left_ms);
}

int store_do(struct store *st, struct store_call *call)
{
    store_begin(st, call);
    while (!store_step(st))
        wait_for_store(st);
    return call->rc;
}

const char *post_outcome_word(const char *word)
{
    static const char *const words[] = { "new", "kept", "moved", "replaced" };
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], word))
            return words[i];
    return NULL;
}

int post_check_all(const struct post_result *results, int n, bool all, struct err *err)
{
    for (int i = 0; i < n && all; i++)
        if (results[i].state == POST_OTHER)
            return err_set(err, ERR_INPUT, "item %d has the uniqid of another request", i);
    return 0;
}

int store_post(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
                struct post_result *results, struct err *err)
{
    err_clear(err);
    return n > 0 ? st->ops->post(st, items, n, terms, results, err) : 0;
}

int store_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
               struct load_counts *out, int *bad, struct err *err)
{
    *out = (struct load_counts){ 0 };
    *bad = -1;
    return n > 0 ? st->ops->load(st, rows, n, conflict, now, out, bad, err) : 0;
}

int store_migrate(struct store *st, const struct migrate_options *options, struct err *err)
{
    return st->ops->migrate(st, options, err);
}

int store_listen(struct store *st, const char *channel, struct err *err)
{
    return st->ops->listen ? st->ops->listen(st, channel, err) : 0;
}

int store_heard_fd(const struct store *st)
{
    return st->ops->heard_fd ? st->ops->heard_fd(st) : -1;
}

bool store_heard(struct store *st)
{
    return st->ops->heard && st->ops->heard(st);
}

/* ---- prune ---- */

/* Tries again a few times while the table is in use; then reports who uses it. */
static int prune_step(struct store *st, struct store_prune *p)
{
    enum { TRIES = 8, PAUSE_MS = 250 };
    int rc = store_do(st, &p->call);
    for (int i = 1; i < TRIES && rc == ERR_BUSY; i++) {
        poll(NULL, 0, PAUSE_MS);
        rc = store_do(st, &p->call);
    }
    if (rc != ERR_BUSY)
        return rc;
    struct store_prune who = *p;
    who.wish = PRUNE_WHO;
    if (store_do(st, &who.call) == 0 && *who.who)
        err_set(&p->call.err, ERR_BUSY,
                "%s, so it was not dropped: prune again when that session is over; no session "
                "had to wait",
                who.who);
    return rc;
}

static int prune_part(struct store *st, struct store_prune *p, int64_t *dropped)
{
    int rc;
    do {
        rc = prune_step(st, p);
        *dropped += rc == 0 ? p->n : 0;
    } while (rc == 0 && p->n > 0 && p->wish == PRUNE_DROP);
    return rc;
}

int store_prune(struct store *st, int64_t before, bool dry_run, struct prune_counts *out, struct err *err)
{
    *out = (struct prune_counts){ 0 };
    int64_t *const counts[PRUNE_PARTS] = { &out->history, &out->runs, &out->events, &out->passes,
                                           &out->pauses, &out->hours, &out->changes };
    int first = 0;
    for (int part = 0; part < PRUNE_PARTS; part++) {
        struct store_prune p = STORE_PRUNE_INIT;
        p.part = (enum prune_part)part;
        p.wish = dry_run ? PRUNE_COUNT : PRUNE_DROP;
        p.before = before > 0 ? before : 0;
        int rc = prune_part(st, &p, counts[part]);
        out->by_days = out->by_days || p.by_days;
        if (rc < 0 && first == 0) {
            first = rc;
            *err = p.call.err;
        }
    }
    return first;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

enum cell_kind store_cell_kind(const char *column, bool is_number)
{
    static const struct { const char *end; enum cell_kind kind; } by_end[] = {
        { "_at_us", CELL_MOMENT_US }, { "_at", CELL_MOMENT }, { "_us", CELL_DURATION_US },
    };
    static const char *const json[] = { "payload", "data", "json", "parts" };
    for (size_t i = 0; i < sizeof by_end / sizeof *by_end; i++)
        if (ends_with(column, by_end[i].end))
            return by_end[i].kind;
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        if (strcmp(column, json[i]) == 0)
            return CELL_JSON;
    if (strncmp(column, "is_", 3) == 0)
        return CELL_BOOL;
    return is_number ? CELL_NUMBER : CELL_TEXT;
}

const char *sql_find(const struct sql_block *blocks, const char *name)
{
    for (; blocks->name; blocks++)
        if (strcmp(blocks->name, name) == 0)
            return blocks->text;
    return NULL;
}
