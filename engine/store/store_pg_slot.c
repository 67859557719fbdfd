/* store_pg_slot.c - slots and the leases on them: taken, renewed, given back, finished; and slots
 * that are not over. */
#include <inttypes.h>
#include <string.h>

#include "store_pg_ops.h"

/* ---- leases ---------------------------------------------------------------------------------- */

/* Leases as the columns that statements take them in. */
struct lease_columns { int64_t *slots, *tokens, *expires_us; int32_t *buckets; unsigned char *owners; };

static bool spread_leases(struct arena *a, const struct lease *leases, int n, struct lease_columns *c)
{
    size_t room = (size_t)n + 1;
    c->slots = arena_alloc(a, room * sizeof *c->slots);
    c->tokens = arena_alloc(a, room * sizeof *c->tokens);
    c->expires_us = arena_alloc(a, room * sizeof *c->expires_us);
    c->buckets = arena_alloc(a, room * sizeof *c->buckets);
    c->owners = arena_alloc(a, room * STORE_OWNER_SIZE);
    if (!c->slots || !c->tokens || !c->expires_us || !c->buckets || !c->owners)
        return false;
    for (int i = 0; i < n; i++) {
        c->slots[i] = leases[i].slot;
        c->tokens[i] = leases[i].token;
        c->expires_us[i] = leases[i].expires_us;
        c->buckets[i] = leases[i].bucket;
        memcpy(c->owners + i * STORE_OWNER_SIZE, leases[i].owner, STORE_OWNER_SIZE);
    }
    return true;
}

static bool open_slot_send(struct pg_store *pg, struct store_call *call)
{
    struct store_open_slot *o = (struct store_open_slot *)call;
    struct lease_columns w;
    /* an order of buckets of our own, so that engines seldom meet */
    int odd = o->owner[0] | 1, start = o->owner[1];
    return spread_leases(pg->arena, o->watched, o->nwatched, &w) &&
           pg_send(pg, PG_OPEN_SLOT, o->slot, o->split_at, o->owner, pg->engine, o->lease_s, o->want,
                   o->again, o->jobs ? o->njobs : -1, o->jobs, pg->lock_timeout, o->nwatched, w.buckets,
                   o->nwatched, w.owners, o->nwatched, w.tokens, o->nwatched, w.expires_us, odd, start,
                   o->now, (int64_t)o->left_out);
}

static bool read_open_slot_row(struct pg_store *pg, struct store_open_slot *o, int row, bool *has_day,
                               bool *has_begun)
{
    struct lease lease = { .slot = o->slot };
    int32_t part;
    int64_t number, incarnation;
    if (!wire_get(pg_result(pg, 0), row, pg->arena, "iiulnlbl", &part, &lease.bucket, lease.owner,
                  &lease.token, &lease.expires_us, &number, has_day, &incarnation))
        return false;
    if (part == 0 || part == 3)
        o->clock_us = lease.expires_us;
    if (part == 0) {
        o->split = lease.bucket;
        o->state = (enum slot_state)lease.token;
        o->rows = number;
    } else if (part == 1 && o->ntaken < BUCKETS) {
        o->taken[o->ntaken++] = lease;
        o->origin = (struct lease_origin){ .xid = number, .incarnation = incarnation };
    } else if (part == 2 && o->nheld < BUCKETS) {
        o->held[o->nheld++] = lease;
    } else if (part == 3) {
        *has_begun = false;
    }
    return true;
}

static int open_slot_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_open_slot *o = (struct store_open_slot *)call;
    int n = PQntuples(pg_result(pg, 0));
    bool has_day = true, has_day_of_slot = true, has_begun = true;
    o->ntaken = o->nheld = 0;
    o->origin = (struct lease_origin){ 0 };
    o->clock_us = 0;
    o->not_begun = false;
    if (n == 0)
        return PG_SEND_AGAIN;          /* another engine opened it at the same moment: now its row is there */
    for (int row = 0; row < n; row++) {
        if (!read_open_slot_row(pg, o, row, &has_day, &has_begun))
            return unreadable(call, "open_slot");
        has_day_of_slot = row == 0 ? has_day : has_day_of_slot;
    }
    o->not_begun = !has_begun;
    if (!has_begun)
        return err_set(&call->err, ERR_BUSY, "slot %lld has not begun by the database's clock",
                       (long long)o->slot);
    if (!has_day_of_slot)
        return err_set(&call->err, ERR_LOST,
                       "schema '%s' has no partition of history, runs or events for today: run `prescient "
                       "init`, or see why the engines could not make it",
                       pg->schema);
    return 0;
}

static bool renew_send(struct pg_store *pg, struct store_call *call)
{
    struct store_renew *r = (struct store_renew *)call;
    struct lease_columns c;
    return spread_leases(pg->arena, r->leases, r->n, &c) &&
           pg_send(pg, PG_RENEW, r->n, c.slots, r->n, c.buckets, r->n, c.owners, r->n, c.tokens, r->lease_s,
                   pg->lock_timeout);
}

static int renew_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_renew *r = (struct store_renew *)call;
    const PGresult *result = pg_result(pg, 0);
    for (int i = 0; i < BUCKETS; i++)
        r->lost[i] = i < r->n;
    for (int row = 0; row < PQntuples(result); row++) {
        int64_t n, expires_us;
        if (!wire_get(result, row, pg->arena, "ln", &n, &expires_us) || n < 1 || n > r->n)
            return unreadable(call, "renew");
        r->leases[n - 1].expires_us = expires_us;
        r->lost[n - 1] = false;
    }
    return 0;
}

static bool release_send(struct pg_store *pg, struct store_call *call)
{
    struct store_release *r = (struct store_release *)call;
    struct lease_columns c;
    return spread_leases(pg->arena, r->leases, r->n, &c) &&
           pg_send(pg, PG_RELEASE, r->n, c.slots, r->n, c.buckets, r->n, c.owners, r->n, c.tokens,
                   pg->lock_timeout);
}

static int nothing_to_receive(struct pg_store *pg, struct store_call *call)
{
    (void)pg;
    (void)call;
    return 0;
}

/* ---- the end of a bucket, and slots that are not over ---------------------------------------- */

static bool finish_send(struct pg_store *pg, struct store_call *call)
{
    struct store_finish *f = (struct store_finish *)call;
    const struct pass_counts *c = &f->counts;
    const int64_t counts[] = { c->run,        c->done,    c->again,   c->deferred,  c->failed,
                               c->timeout,    c->crashed, c->guarded, c->held_back, c->unknown_job,
                               c->superseded, c->locked,  c->late_us, c->took_us };
    return pg_send(pg, PG_FINISH + (f->lease.bucket == BUCKET_WHOLE_SLOT ? PG_OF_SLOT : 0), f->lease.slot,
                   f->lease.bucket, f->lease.owner, f->lease.token, pg->lock_timeout, f->leave, f->nleft,
                   f->left, pg->engine, (int)(sizeof counts / sizeof *counts), counts,
                   bucket_after(&f->lease, &f->after), f->after.priority, f->after.id, f->complete,
                   f->origin.incarnation);
}

static int finish_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_finish *f = (struct store_finish *)call;
    bool ours;
    if (!wire_get(pg_result(pg, 0), 0, pg->arena, "bb", &ours, &f->finished))
        return unreadable(call, "finish");
    return ours ? 0
                : err_set(&call->err, ERR_FENCED,
                          "the lease on slot %" PRId64 ", bucket %d is not ours any more", f->lease.slot,
                          f->lease.bucket);
}

static bool relook_send(struct pg_store *pg, struct store_call *call)
{
    struct store_relook *l = (struct store_relook *)call;
    return pg_send(pg, PG_RELOOK, l->want, l->settled_only);
}

static int relook_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_relook *l = (struct store_relook *)call;
    const PGresult *r = pg_result(pg, 0);
    int last = PQntuples(r) - 1;
    l->n = 0;
    for (int row = 0; row < last && l->n < l->want; row++) {
        struct relook_slot *s = &l->slots[l->n++];
        if (!wire_get(r, row, pg->arena, "mbb", &s->slot, &s->has_rows, &s->undone))
            return unreadable(call, "relook");
    }
    int64_t none;
    bool no;
    return wire_get(r, last, pg->arena, "mbbi", &none, &no, &no, &l->closed) ? 0 : unreadable(call, "relook");
}

static bool pulse_send(struct pg_store *pg, struct store_call *call)
{
    static const struct wire_params none;
    (void)call;
    return pg_queue(pg, PG_PULSE, &none);
}

static int pulse_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_pulse *p = (struct store_pulse *)call;
    return wire_get(pg_result(pg, 0), 0, pg->arena, "lil", &p->newest, &p->running, &p->oldest)
               ? 0
               : unreadable(call, "pulse");
}

static bool late_slot_send(struct pg_store *pg, struct store_call *call)
{
    struct store_late_slot *l = (struct store_late_slot *)call;
    if (l->beside_opened)
        return pg_send(pg, PG_LATE_SLOT_BESIDE, l->from, l->before);
    if (l->from == 0 && !l->full)
        return pg_send(pg, PG_LATE_SLOT_FROM_MARK, l->before);
    return pg_send(pg, PG_LATE_SLOT, l->from, l->before);
}

static int late_slot_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_late_slot *l = (struct store_late_slot *)call;
    const PGresult *r = pg_result(pg, 0);
    l->slot = 0;
    return PQntuples(r) == 0 || wire_get(r, 0, pg->arena, "m", &l->slot) ? 0 : unreadable(call, "late_slot");
}

static bool mark_swept_send(struct pg_store *pg, struct store_call *call)
{
    struct store_mark_swept *m = (struct store_mark_swept *)call;
    return pg_send(pg, PG_MARK_SWEPT, m->slot, m->full);
}

const struct pg_operation pg_open_slot = { open_slot_send, open_slot_receive },
                          pg_renew = { renew_send, renew_receive },
                          pg_release = { release_send, nothing_to_receive },
                          pg_finish = { finish_send, finish_receive },
                          pg_relook = { relook_send, relook_receive },
                          pg_pulse = { pulse_send, pulse_receive },
                          pg_late_slot = { late_slot_send, late_slot_receive },
                          pg_mark_swept = { mark_swept_send, nothing_to_receive };
