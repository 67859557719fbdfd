/* store_pg_slot.c - slots and their leases: taking, renewing, releasing, finishing; and slots that
 * are not over. */
#include <inttypes.h>
#include <string.h>

#include "store_pg_ops.h"

/* ---- leases ---------------------------------------------------------------------------------- */

/* Leases as columns of parameters. */
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
    if (!spread_leases(pg->arena, o->watched, o->nwatched, &w))
        return false;
    return pg_send_form(pg, PG_OPEN_SLOT, o->asks_small ? PG_FORM_SMALL : 0, &(struct pg_open_slot_in){
        .slot = o->slot,
        .split_at = o->split_at,
        .owner = o->owner,
        .engine = pg->engine,
        .lease_s = o->lease_s,
        .want = o->want,
        .again = o->again,
        .jobs = { o->njobs, o->jobs },
        .lock_timeout = pg->lock_timeout,
        .watched_buckets = { o->nwatched, w.buckets },
        .watched_owners = { o->nwatched, w.owners },
        .watched_tokens = { o->nwatched, w.tokens },
        .watched_until_us = { o->nwatched, w.expires_us },
        /* each engine has an order of buckets of its own, so that engines seldom collide */
        .odd = o->owner[0] | 1,
        .start = o->owner[1],
        .now = o->now,
        .left_out = (int64_t)o->left_out,
        .urgent = o->urgent,
        .asks_urgent = o->asks_urgent,
        .small_look = PG_SMALL_LOOK,
        .if_slow = o->if_slow,
    });
}

static bool read_open_slot_row(struct pg_store *pg, struct store_open_slot *o, int n, bool *has_day,
                               bool *has_begun)
{
    struct pg_open_slot_out row;
    if (!pg_row(pg, PG_OPEN_SLOT, pg_result(pg, 0), n, &row))
        return false;
    struct lease lease = {
        .slot = o->slot, .bucket = row.bucket, .token = row.token, .expires_us = row.expires_us
    };
    memcpy(lease.owner, row.owner, STORE_OWNER_SIZE);
    *has_day = row.has_day;
    if (row.part == 0 || row.part == 3)
        o->clock_us = row.expires_us;
    if (row.part == 0) {
        o->split = row.bucket;
        o->has_urgent = row.has_urgent;
        o->small_buckets = (uint64_t)row.small_buckets;
        o->state = (enum slot_state)row.token;
        o->rows = row.number;
    } else if (row.part == 1 && o->ntaken < BUCKETS) {
        o->taken[o->ntaken++] = lease;
        o->origin = (struct lease_origin){ .xid = row.number, .incarnation = row.incarnation };
    } else if (row.part == 2 && o->nheld < BUCKETS) {
        o->held[o->nheld++] = lease;
    } else if (row.part == 3) {
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
        /* another engine opened it at the same moment: its row is there now */
        return PG_SEND_AGAIN;
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
    if (!spread_leases(pg->arena, r->leases, r->n, &c))
        return false;
    return pg_send(pg, PG_RENEW, &(struct pg_renew_in){
        .slots = { r->n, c.slots },
        .buckets = { r->n, c.buckets },
        .owners = { r->n, c.owners },
        .tokens = { r->n, c.tokens },
        .lease_s = r->lease_s,
        .lock_timeout = pg->lock_timeout,
    });
}

static int renew_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_renew *r = (struct store_renew *)call;
    const PGresult *result = pg_result(pg, 0);
    for (int i = 0; i < BUCKETS; i++)
        r->lost[i] = i < r->n;
    for (int i = 0; i < PQntuples(result); i++) {
        struct pg_renew_out row;
        if (!pg_row(pg, PG_RENEW, result, i, &row) || row.n < 1 || row.n > r->n)
            return unreadable(call, "renew");
        r->leases[row.n - 1].expires_us = row.expires_us;
        r->lost[row.n - 1] = false;
    }
    return 0;
}

#define COUNT_OF(name, words) .name = c->name,

static bool give_back_send(struct pg_store *pg, const struct store_release *r, const struct lease_columns *l)
{
    const struct pass_counts *c = r->counts;
    return pg_send(pg, PG_GIVE_BACK, &(struct pg_give_back_in){
        .slot = r->leases[0].slot,
        .buckets = { r->n, l->buckets },
        .owner = r->leases[0].owner,
        .tokens = { r->n, l->tokens },
        .lock_timeout = pg->lock_timeout,
        PASS_COUNTS(COUNT_OF)
    });
}

static bool release_send(struct pg_store *pg, struct store_call *call)
{
    struct store_release *r = (struct store_release *)call;
    struct lease_columns c;
    if (!spread_leases(pg->arena, r->leases, r->n, &c))
        return false;
    if (r->counts)
        return give_back_send(pg, r, &c);
    return pg_send(pg, PG_RELEASE, &(struct pg_release_in){
        .slots = { r->n, c.slots },
        .buckets = { r->n, c.buckets },
        .owners = { r->n, c.owners },
        .tokens = { r->n, c.tokens },
        .lock_timeout = pg->lock_timeout,
    });
}

/* ---- the end of a bucket, and slots that are not over ---------------------------------------- */

static bool finish_send(struct pg_store *pg, struct store_call *call)
{
    struct store_finish *f = (struct store_finish *)call;
    const struct pass_counts *c = &f->counts;
    unsigned slot = f->lease.bucket == BUCKET_WHOLE_SLOT ? PG_FORM_SLOT : PG_FORM_PLAIN;
    unsigned own = f->jobs ? PG_FORM_OWN : PG_FORM_PLAIN;
    return pg_send_form(pg, PG_FINISH, slot | own, &(struct pg_finish_in){
        .slot = f->lease.slot,
        .bucket = f->lease.bucket,
        .owner = f->lease.owner,
        .token = f->lease.token,
        .lock_timeout = pg->lock_timeout,
        .leave = f->leave,
        .jobs_left = { f->nunknown_jobs, f->unknown_jobs },
        .jobs = { f->njobs, f->jobs },
        .engine = pg->engine,
        .after_bucket = bucket_after(&f->lease, &f->after),
        .after_priority = f->after.priority,
        .after_id = f->after.id,
        .complete = f->complete,
        .incarnation = f->origin.incarnation,
        PASS_COUNTS(COUNT_OF)
        .late_us = c->late_us,
        .took_us = c->took_us,
    });
}

static int finish_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_finish *f = (struct store_finish *)call;
    struct pg_finish_out row;
    if (!pg_row(pg, PG_FINISH, pg_result(pg, 0), 0, &row))
        return unreadable(call, "finish");
    f->finished = row.finished;
    if (row.ours)
        return 0;
    return err_set(&call->err, ERR_FENCED, "the lease on slot %" PRId64 ", bucket %d is no longer ours",
                   f->lease.slot, f->lease.bucket);
}

static bool relook_send(struct pg_store *pg, struct store_call *call)
{
    struct store_relook *l = (struct store_relook *)call;
    return pg_send(pg, PG_RELOOK, &(struct pg_relook_in){ .want = l->want, .settled_only = l->settled_only });
}

/* The last row has the number of closed slots; those before it are the slots to run. */
static int relook_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_relook *l = (struct store_relook *)call;
    const PGresult *r = pg_result(pg, 0);
    struct pg_relook_out row;
    int last = PQntuples(r) - 1;
    l->n = 0;
    for (int i = 0; i < last && l->n < l->want; i++) {
        if (!pg_row(pg, PG_RELOOK, r, i, &row))
            return unreadable(call, "relook");
        l->slots[l->n++] = (struct relook_slot){
            .slot = row.slot, .has_rows = row.has_rows, .undone = row.undone
        };
    }
    if (!pg_row(pg, PG_RELOOK, r, last, &row))
        return unreadable(call, "relook");
    l->closed = row.closed;
    call->busy_us = row.busy_us;
    return 0;
}

static bool pulse_send(struct pg_store *pg, struct store_call *call)
{
    (void)call;
    return pg_send(pg, PG_PULSE, NULL);
}

static int pulse_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_pulse *p = (struct store_pulse *)call;
    struct pg_pulse_out row;
    if (!pg_row(pg, PG_PULSE, pg_result(pg, 0), 0, &row))
        return unreadable(call, "pulse");
    p->newest = row.newest;
    p->running = row.running;
    p->oldest = row.oldest;
    return 0;
}

static bool fine_slots_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_fine_slots *f = (const struct store_fine_slots *)call;
    return pg_send(pg, PG_FINE_SLOTS, &(struct pg_fine_slots_in){
        .low = f->low,
        .jobs = { f->njobs, f->jobs },
    });
}

/* The last row is there without a slot. */
static int fine_slots_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_fine_slots *f = (struct store_fine_slots *)call;
    const PGresult *r = pg_result(pg, 0);
    struct pg_fine_slots_out row = { 0 };
    f->n = 0;
    for (int i = 0; i < PQntuples(r); i++) {
        if (!pg_row(pg, PG_FINE_SLOTS, r, i, &row))
            return unreadable(call, "fine_slots");
        if (row.slot && f->n < FINE_SLOTS_MAX)
            f->slots[f->n++] = row.slot;
    }
    f->clock_us = row.clock_us;
    f->xmin = row.xmin;
    f->next_xid = row.next_xid;
    f->incarnation = row.incarnation;
    f->pause_change = row.pause_change;
    return row.clock_us ? 0 : unreadable(call, "fine_slots");
}

static bool pauses_send(struct pg_store *pg, struct store_call *call)
{
    int64_t known = ((struct store_pauses *)call)->known;
    return pg_send(pg, PG_PAUSES_NOW, &(struct pg_pauses_now_in){ .known = known });
}

/* Of something that this program cannot pause it knows nothing. */
static bool add_pause(struct store_pauses *p, const struct pg_pauses_now_out *row)
{
    enum pause_what what = pause_what_of(row->what ? row->what : "");
    if (what == PAUSE_WHATS)
        return true;
    struct pause *pause = &p->pauses.all[p->pauses.n++];
    *pause = (struct pause){ row->slot, what, arena_strdup(p->arena, row->name), row->is_on,
                             row->is_reslotted };
    return pause->name;
}

/* Each row has the number of the last change. */
static int pauses_receive(struct pg_store *pg, struct store_call *call)
{
    enum { ROOM = 4096 };
    struct store_pauses *p = (struct store_pauses *)call;
    const PGresult *r = pg_result(pg, 0);
    int n = PQntuples(r);
    p->pauses = (struct pauses){ 0 };
    p->arena = arena_new(ROOM);
    if (p->arena)
        p->pauses.all = arena_alloc(p->arena, (size_t)(n + 1) * sizeof *p->pauses.all);
    if (!p->pauses.all)
        return err_set(&call->err, ERR_NOMEM, "out of memory for %d pauses", n);
    for (int i = 0; i < n; i++) {
        struct pg_pauses_now_out row;
        if (!pg_row(pg, PG_PAUSES_NOW, r, i, &row))
            return unreadable(call, "pauses");
        p->change = row.change;
        if (row.slot && !add_pause(p, &row))
            return err_set(&call->err, ERR_NOMEM, "out of memory for %d pauses", n);
    }
    return 0;
}

static bool end_pauses_send(struct pg_store *pg, struct store_call *call)
{
    (void)call;
    return pg_send(pg, PG_END_PAUSES, &(struct pg_end_pauses_in){ .lock_timeout = pg->lock_timeout });
}

static int end_pauses_receive(struct pg_store *pg, struct store_call *call)
{
    struct pg_end_pauses_out row;
    if (!pg_row(pg, PG_END_PAUSES, pg_result(pg, 0), 0, &row))
        return unreadable(call, "end_pauses");
    ((struct store_end_pauses *)call)->ended = row.ended;
    return 0;
}

static bool late_slot_send(struct pg_store *pg, struct store_call *call)
{
    struct store_late_slot *l = (struct store_late_slot *)call;
    struct pg_late_slot_in all = { .since = l->from, .before = l->before,
                                     .urgent_since = l->urgent_from };
    struct pg_late_slot_from_mark_in from_mark = { .before = l->before, .urgent_since = l->urgent_from };
    struct pg_late_slot_beside_in beside = { .since = l->from, .before = l->before };
    if (l->beside_opened)
        return pg_send(pg, PG_LATE_SLOT_BESIDE, &beside);
    if (l->from == 0 && !l->full)
        return pg_send(pg, PG_LATE_SLOT_FROM_MARK, &from_mark);
    return pg_send(pg, PG_LATE_SLOT, &all);
}

/* All three have these columns, and one row. */
static int late_slot_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_late_slot *l = (struct store_late_slot *)call;
    const PGresult *r = pg_result(pg, 0);
    struct pg_late_slot_out row = { 0 };
    if (!pg_row(pg, PG_LATE_SLOT, r, 0, &row))
        return unreadable(call, "late_slot");
    l->slot = row.slot;
    l->misfiled_at = row.misfiled_at;
    l->until = row.until;
    l->urgent = row.urgent;
    l->urgent_until = row.urgent_until;
    call->busy_us = row.busy_us;
    return 0;
}

static bool refile_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_refile *req = (const struct store_refile *)call;
    return pg_send(pg, PG_REFILE, &(struct pg_refile_in){
        .since = req->from,
        .before = req->before,
        .most = req->most,
    });
}

static int refile_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_refile *req = (struct store_refile *)call;
    struct pg_refile_out row;
    if (!pg_row(pg, PG_REFILE, pg_result(pg, 0), 0, &row))
        return unreadable(call, "refile");
    req->refiled = row.refiled;
    req->until = row.until;
    return 0;
}

static bool recall_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_recall *req = (const struct store_recall *)call;
    return pg_send(pg, PG_RECALL, &(struct pg_recall_in){
        .jobs = { req->njobs, req->jobs },
        .now = req->now,
        .after_at = req->after.put_off_at,
        .after_id = req->after.id,
        .only_one = req->only_one,
    });
}

static int recall_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_recall *req = (struct store_recall *)call;
    struct pg_recall_out row;
    if (!pg_row(pg, PG_RECALL, pg_result(pg, 0), 0, &row))
        return unreadable(call, "recall");
    req->recalled = row.recalled;
    req->until = (struct recall_place){ row.until_at, row.until_id };
    return 0;
}

static bool mark_swept_send(struct pg_store *pg, struct store_call *call)
{
    struct store_mark_swept *m = (struct store_mark_swept *)call;
    struct pg_mark_swept_in in = { .slot = m->slot, .full_look = m->full };
    return pg_send(pg, PG_MARK_SWEPT, &in) && pg_send(pg, PG_REFILE_BUCKETS, NULL) &&
           (!m->full || pg_send(pg, PG_REPAIR_SCHEDULES, NULL));
}

static int mark_swept_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_mark_swept *m = (struct store_mark_swept *)call;
    struct pg_mark_swept_out row;
    struct pg_refile_buckets_out moved;
    struct pg_repair_schedules_out repaired = { 0 };
    if (!pg_row(pg, PG_MARK_SWEPT, pg_result(pg, 0), 0, &row))
        return unreadable(call, "mark_swept");
    if (!pg_row(pg, PG_REFILE_BUCKETS, pg_result(pg, 1), 0, &moved))
        return unreadable(call, "refile_buckets");
    if (m->full && !pg_row(pg, PG_REPAIR_SCHEDULES, pg_result(pg, 2), 0, &repaired))
        return unreadable(call, "repair_schedules");
    m->filed = repaired.filed;
    m->refiled = moved.refiled;
    m->doubles = moved.doubles;
    snprintf(m->one_refiled, sizeof m->one_refiled, "%s", moved.one);
    call->busy_us = row.busy_us;
    return 0;
}

static bool keep_digests_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_keep_digests *k = (const struct store_keep_digests *)call;
    size_t room = (size_t)k->n + 1;
    const char **texts = arena_alloc(pg->arena, 3 * room * sizeof *texts);
    int64_t *first_at = arena_alloc(pg->arena, room * sizeof *first_at);
    int32_t *buckets = arena_alloc(pg->arena, room * sizeof *buckets);
    if (!texts || !first_at || !buckets)
        return false;
    for (int i = 0; i < k->n; i++) {
        texts[i] = k->checks[i].listener;
        texts[room + (size_t)i] = k->checks[i].job;
        texts[2 * room + (size_t)i] = k->checks[i].terms;
        first_at[i] = k->checks[i].first_at;
        buckets[i] = k->checks[i].bucket;
    }
    return pg_send(pg, PG_KEEP_DIGESTS, &(struct pg_keep_digests_in){
        .now = k->now,
        .listeners = { k->n, texts },
        .buckets = { k->n, buckets },
        .jobs = { k->n, texts + room },
        .terms = { k->n, texts + 2 * room },
        .first_at = { k->n, first_at },
    });
}

static int keep_digests_receive(struct pg_store *pg, struct store_call *call)
{
    struct pg_keep_digests_out row;
    if (!pg_row(pg, PG_KEEP_DIGESTS, pg_result(pg, 0), 0, &row))
        return unreadable(call, "keep_digests");
    ((struct store_keep_digests *)call)->filed = row.filed;
    return 0;
}

static bool note_listeners_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_note_listeners *n = (const struct store_note_listeners *)call;
    return pg_send(pg, PG_NOTE_LISTENERS,
                   &(struct pg_note_listeners_in){
                       .engine = n->engine,
                       .command = n->command,
                       .file = n->file,
                       .listeners = n->listeners,
                       .jobs = n->jobs,
                       .counts_s = n->counts_s,
                       .version = n->version,
                       .host = n->host,
                       .pid = n->pid,
                       .started_us = n->started_us,
                       .serves = n->serves,
                       .last_slot = n->last_slot,
                       .last_pass_us = n->last_pass_us,
                   });
}

static int note_listeners_receive(struct pg_store *pg, struct store_call *call)
{
    struct pg_note_listeners_out row;
    if (!pg_row(pg, PG_NOTE_LISTENERS, pg_result(pg, 0), 0, &row))
        return unreadable(call, "note_listeners");
    ((struct store_note_listeners *)call)->dropped = row.dropped;
    ((struct store_note_listeners *)call)->others = row.others;
    return 0;
}

static bool note_loads_send(struct pg_store *pg, struct store_call *call)
{
    (void)call;
    return pg_send(pg, PG_NOTE_LOADS, NULL);
}

static int note_loads_receive(struct pg_store *pg, struct store_call *call)
{
    struct pg_note_loads_out row;
    if (!pg_row(pg, PG_NOTE_LOADS, pg_result(pg, 0), 0, &row))
        return unreadable(call, "note_loads");
    ((struct store_note_loads *)call)->slots = row.slots;
    return 0;
}

const struct pg_operation
    pg_note_loads = { .send = note_loads_send, .receive = note_loads_receive },
    pg_note_listeners = { .send = note_listeners_send, .receive = note_listeners_receive },
    pg_keep_digests = { .send = keep_digests_send, .receive = keep_digests_receive },
    pg_open_slot = { .send = open_slot_send, .receive = open_slot_receive, .relaxes = true },
    pg_renew = { .send = renew_send, .receive = renew_receive, .relaxes = true },
    pg_release = { .send = release_send, .receive = nothing_to_receive, .relaxes = true },
    pg_finish = { .send = finish_send, .receive = finish_receive, .relaxes = true },
    pg_relook = { .send = relook_send, .receive = relook_receive },
    pg_pulse = { .send = pulse_send, .receive = pulse_receive },
    pg_fine_slots = { .send = fine_slots_send, .receive = fine_slots_receive },
    pg_pauses = { .send = pauses_send, .receive = pauses_receive },
    pg_end_pauses = { .send = end_pauses_send, .receive = end_pauses_receive },
    pg_late_slot = { .send = late_slot_send, .receive = late_slot_receive },
    pg_refile = { .send = refile_send, .receive = refile_receive },
    pg_recall = { .send = recall_send, .receive = recall_receive },
    pg_mark_swept = { .send = mark_swept_send, .receive = mark_swept_receive };
