/* message.c - requests copied into messages, and answers copied back into requests. */
#include "message.h"

#include <stdlib.h>
#include <string.h>

#include "../../engine/base/arena.h"

int key_of(const char *entity_key)
{
    char *end = NULL;
    long key = entity_key ? strtol(entity_key, &end, 10) : -1;
    return end && !*end && key >= 0 && key < KEYS_MAX ? (int)key : -1;
}

int job_of(const char *job)
{
    return job && job[0] == 'j' && job[1] >= '0' && job[1] < '0' + JOBS && !job[2] ? job[1] - '0' : -1;
}

int concurrency_of(const char *key)
{
    bool is_one = key && key[0] == 'c' && key[1] >= '0' && key[1] < '0' + CONCURRENCY_MAX && !key[2];
    return is_one ? key[1] - '0' : -1;
}

/* The text of an answer holds the number of its run. */
static int run_of(const char *note)
{
    return note && !strncmp(note, "run ", 4) ? atoi(note + 4) : -1;
}

static void mark_jobs(struct message *m, const char *const *jobs, int n)
{
    memset(m->jobs, 0, sizeof m->jobs);
    for (int i = 0; i < n; i++)
        if (job_of(jobs[i]) >= 0)
            m->jobs[job_of(jobs[i])] = true;
}

static void take_leases(struct message *m, const struct lease *leases, int n)
{
    if (n > 0)
        memcpy(m->leases, leases, (size_t)n * sizeof *leases);
}

static void take_open(struct message *m)
{
    m->any_job = !m->u.open.jobs;
    mark_jobs(m, m->u.open.jobs, m->u.open.njobs);
    memcpy(m->owner, m->u.open.owner, sizeof m->owner);
    take_leases(m, m->u.open.watched, m->u.open.nwatched);
}

static void take_renew(struct message *m) { take_leases(m, m->u.renew.leases, m->u.renew.n); }
static void take_release(struct message *m) { take_leases(m, m->u.release.leases, m->u.release.n); }
/* Those that are left. */
static void take_finish(struct message *m)
{
    const struct store_finish *f = &m->u.finish;
    m->any_job = !f->jobs;
    if (f->jobs)
        mark_jobs(m, f->jobs, f->njobs);
    else
        mark_jobs(m, f->unknown_jobs, f->nunknown_jobs);
    for (int i = 0; f->jobs && i < JOBS; i++)
        m->jobs[i] = !m->jobs[i];
}

static void take_read(struct message *m)
{
    m->any_job = !m->u.read.jobs;
    mark_jobs(m, m->u.read.jobs, m->u.read.njobs);
}

static void take_fine_slots(struct message *m)
{
    m->any_job = !m->u.fine.jobs;
    mark_jobs(m, m->u.fine.jobs, m->u.fine.njobs);
}

static void take_recall(struct message *m)
{
    m->any_job = !m->u.recall.jobs;
    mark_jobs(m, m->u.recall.jobs, m->u.recall.njobs);
}

static void take_places(struct message *m, const struct store_place *places, int n,
                        const unsigned char *owner)
{
    if (n > PLACES_SENT)
        abort();
    memcpy(m->owner, owner, sizeof m->owner);
    m->nplaces = n;
    for (int i = 0; i < n; i++)
        m->places[i] = (struct sent_place){ .concurrency = concurrency_of(places[i].key),
                                            .lasts_s = places[i].lasts_s,
                                            .number = places[i].number,
                                            .token = places[i].token };
}

static void take_take(struct message *m)
{
    take_places(m, m->u.take_places.places, m->u.take_places.n, m->u.take_places.owner);
}

static void take_renewal(struct message *m)
{
    take_places(m, m->u.renew_places.places, m->u.renew_places.n, m->u.renew_places.owner);
}

static void take_return(struct message *m)
{
    take_places(m, m->u.return_places.places, m->u.return_places.n, m->u.return_places.owner);
}

static enum conflict conflict_of(const char *name)
{
    if (!name || !strcmp(name, "keep"))
        return CONFLICT_KEEP;
    return !strcmp(name, "earlier") ? CONFLICT_EARLIER : CONFLICT_REPLACE;
}

static void take_settlement(struct sent_settlement *to, const struct settlement *from)
{
    const struct check *c = from->check;
    *to = (struct sent_settlement){ .s = *from, .key = key_of(c->entity_key), .id = c->id,
                                    .slot = c->next_check_at, .check_count = c->check_count,
                                    .failure_count = c->failure_count, .run = run_of(from->note) };
    for (int i = 0; i < from->neffects && i < EFFECTS_MAX; i++) {
        const struct effect *e = &from->effects[i];
        to->effects[to->neffects++] = (struct sent_effect){ e->kind, key_of(e->entity_key), e->at,
                                                            conflict_of(e->conflict) };
    }
}

static void take_settle(struct message *m)
{
    int n = m->u.settle.n;
    if (n > m->settlements_room) {
        m->settlements = realloc(m->settlements, (size_t)n * sizeof *m->settlements);
        if (!m->settlements)
            abort();
        m->settlements_room = n;
    }
    for (int i = 0; i < n; i++)
        take_settlement(&m->settlements[i], &m->u.settle.settlements[i]);
}

/* ---- answers ---- */

static int give_nothing(const struct message *m, struct store_call *call)
{
    (void)m;
    (void)call;
    return 0;
}

static int give_hello(const struct message *m, struct store_call *call)
{
    struct store_hello *h = (struct store_hello *)call;
    h->now_us = m->u.hello.now_us;
    h->slot_length_s = m->u.hello.slot_length_s;
    h->schema_version = m->u.hello.schema_version;
    h->full_look_at = m->u.hello.full_look_at;
    h->pace_s = m->u.hello.pace_s;
    h->read_only = m->u.hello.read_only;
    memcpy(h->server, m->u.hello.server, sizeof h->server);
    return 0;
}

static int give_open(const struct message *m, struct store_call *call)
{
    struct store_open_slot *o = (struct store_open_slot *)call;
    const struct store_open_slot *from = &m->u.open;
    o->not_begun = from->not_begun;
    o->state = from->state;
    o->split = from->split;
    o->has_urgent = from->has_urgent;
    o->small_buckets = from->small_buckets;
    o->rows = from->rows;
    o->ntaken = from->ntaken;
    o->nheld = from->nheld;
    o->origin = from->origin;
    o->clock_us = from->clock_us;
    memcpy(o->taken, from->taken, (size_t)from->ntaken * sizeof *o->taken);
    memcpy(o->held, from->held, (size_t)from->nheld * sizeof *o->held);
    return 0;
}

static int give_renew(const struct message *m, struct store_call *call)
{
    struct store_renew *r = (struct store_renew *)call;
    for (int i = 0; i < r->n; i++) {
        r->lost[i] = m->u.renew.lost[i];
        if (!r->lost[i])
            r->leases[i].expires_us = m->leases[i].expires_us;
    }
    return 0;
}

static int give_page(const struct message *m, struct store_call *call)
{
    struct store_read_page *r = (struct store_read_page *)call;
    static const char *const jobs[JOBS] = { "j0", "j1", "j2" };
    static const char *const keys[CONCURRENCY_MAX + 1] = { NULL, "c0", "c1", "c2" };      /* -1: none */
    r->page = (struct check_rows){ 0 };
    r->has_more = m->u.read.has_more;
    r->is_complete = m->u.read.is_complete;
    if (!m->npage)
        return 0;
    struct check *checks = calloc((size_t)m->npage, sizeof *checks);
    struct texts { char key[8], terms[TERMS_SIZE]; } *texts = calloc((size_t)m->npage, sizeof *texts);
    if (!checks || !texts)
        abort();
    for (int i = 0; i < m->npage; i++) {
        const struct version *v = &m->page[i].v;
        int key = m->page[i].key, len = snprintf(texts[i].key, sizeof texts[i].key, "%d", key);
        if (v->terms.exists)
            terms_write(m->db, key, &v->terms, texts[i].terms);
        checks[i] = (struct check){
            .id = v->id,
            .first_check_at = v->first_at,
            .next_check_at = v->next_at,
            .deferred_at = v->deferred_at,
            .put_off_at = v->put_off_at,
            .bucket = m->page[i].bucket,
            .priority = v->priority,
            .check_count = v->check_count,
            .failure_count = v->failure_count,
            .entity_name = "order",
            .entity_key = texts[i].key,
            .job_exec = jobs[key % JOBS],
            .terms = v->terms.exists ? texts[i].terms : NULL,
            .concurrency_key = keys[1 + m->db->rows[key].concurrency],
            .entity_name_len = 5,
            .entity_key_len = (uint32_t)len,
            .job_exec_len = 2,
        };
    }
    r->page = (struct check_rows){ .checks = checks, .n = m->npage, .impl = texts, .free_impl = free };
    return 0;
}

static int give_settle(const struct message *m, struct store_call *call)
{
    struct store_settle *s = (struct store_settle *)call;
    s->touched = m->u.settle.touched;
    for (int i = 0; i < s->n; i++)
        s->settlements[i].state = m->settlements[i].s.state;
    return 0;
}

static int give_taken(const struct message *m, struct store_call *call)
{
    struct store_take_places *t = (struct store_take_places *)call;
    for (int i = 0; i < t->n; i++) {
        t->places[i].number = m->places[i].number;
        t->places[i].token = m->places[i].token;
        t->places[i].places = m->places[i].places;
    }
    return 0;
}

static int give_renewed(const struct message *m, struct store_call *call)
{
    struct store_renew_places *r = (struct store_renew_places *)call;
    for (int i = 0; i < r->n; i++) {
        r->places[i].is_lost = m->places[i].is_lost;
        r->places[i].is_wanted = m->places[i].is_wanted;
    }
    return 0;
}

static int give_finish(const struct message *m, struct store_call *call)
{
    ((struct store_finish *)call)->finished = m->u.finish.finished;
    return 0;
}

static int give_relook(const struct message *m, struct store_call *call)
{
    struct store_relook *r = (struct store_relook *)call;
    r->n = m->u.relook.n;
    r->closed = m->u.relook.closed;
    memcpy(r->slots, m->slots, (size_t)r->n * sizeof *r->slots);
    return 0;
}

static void write_pause(const struct pause_row *from, struct arena *arena, struct pause *to)
{
    *to = (struct pause){ .slot = from->slot,
                          .what = from->job < 0 ? PAUSE_SCHEDULE : PAUSE_JOB,
                          .is_on = from->is.state == PAUSED,
                          .is_reslotted = from->is.is_reslotted };
    if (from->job < 0)
        to->name = arena_printf(arena, "s%d", from->key);
    else
        to->name = arena_printf(arena, "j%d", from->job);
}

static int give_pauses(const struct message *m, struct store_call *call)
{
    struct store_pauses *p = (struct store_pauses *)call;
    struct arena *arena = arena_new(1024);
    struct pause *all = arena_alloc(arena, PAUSES_MAX * sizeof *all);
    for (int i = 0; i < m->npauses; i++)
        write_pause(&m->pauses[i], arena, &all[i]);
    p->change = m->u.pauses.change;
    p->pauses = (struct pauses){ .all = all, .n = m->npauses };
    p->arena = arena;
    return 0;
}

static int give_end_pauses(const struct message *m, struct store_call *call)
{
    ((struct store_end_pauses *)call)->ended = m->u.end_pauses.ended;
    return 0;
}

static int give_pulse(const struct message *m, struct store_call *call)
{
    struct store_pulse *p = (struct store_pulse *)call;
    p->newest = m->u.pulse.newest;
    p->running = m->u.pulse.running;
    p->oldest = m->u.pulse.oldest;
    return 0;
}

static int give_fine_slots(const struct message *m, struct store_call *call)
{
    struct store_fine_slots *f = (struct store_fine_slots *)call;
    f->n = m->u.fine.n;
    memcpy(f->slots, m->u.fine.slots, sizeof f->slots);
    f->clock_us = m->u.fine.clock_us;
    f->xmin = m->u.fine.xmin;
    f->next_xid = m->u.fine.next_xid;
    f->incarnation = m->u.fine.incarnation;
    f->pause_change = m->u.fine.pause_change;
    return 0;
}

static int give_late(const struct message *m, struct store_call *call)
{
    ((struct store_late_slot *)call)->slot = m->u.late.slot;
    ((struct store_late_slot *)call)->urgent = m->u.late.urgent;
    return 0;
}

static int give_recall(const struct message *m, struct store_call *call)
{
    ((struct store_recall *)call)->recalled = m->u.recall.recalled;
    ((struct store_recall *)call)->until = m->u.recall.until;
    return 0;
}

static int give_prune(const struct message *m, struct store_call *call)
{
    ((struct store_prune *)call)->n = m->u.prune.n;
    ((struct store_prune *)call)->by_days = m->u.prune.by_days;
    return 0;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    size_t size;
    void (*take)(struct message *m);
    int (*give)(const struct message *m, struct store_call *call);
} ops[] = {
    [STORE_HELLO] = { "hello", sizeof(struct store_hello), NULL, give_hello },
    [STORE_OPEN_SLOT] = { "open", sizeof(struct store_open_slot), take_open, give_open },
    [STORE_RENEW] = { "renew", sizeof(struct store_renew), take_renew, give_renew },
    [STORE_READ_PAGE] = { "read", sizeof(struct store_read_page), take_read, give_page },
    [STORE_SETTLE] = { "settle", sizeof(struct store_settle), take_settle, give_settle },
    [STORE_FINISH] = { "finish", sizeof(struct store_finish), take_finish, give_finish },
    [STORE_RELEASE] = { "release", sizeof(struct store_release), take_release, give_nothing },
    [STORE_TAKE_PLACES] = { "take places", sizeof(struct store_take_places), take_take, give_taken },
    [STORE_RENEW_PLACES] = { "renew places", sizeof(struct store_renew_places), take_renewal, give_renewed },
    [STORE_RETURN_PLACES] = { "return places", sizeof(struct store_return_places), take_return,
                              give_nothing },
    [STORE_RELOOK] = { "relook", sizeof(struct store_relook), NULL, give_relook },
    [STORE_PULSE] = { "pulse", sizeof(struct store_pulse), NULL, give_pulse },
    [STORE_FINE_SLOTS] = { "fine slots", sizeof(struct store_fine_slots), take_fine_slots, give_fine_slots },
    [STORE_END_PAUSES] = { "end pauses", sizeof(struct store_end_pauses), NULL, give_end_pauses },
    [STORE_PAUSES] = { "pauses", sizeof(struct store_pauses), NULL, give_pauses },
    [STORE_LATE_SLOT] = { "late slot", sizeof(struct store_late_slot), NULL, give_late },
    [STORE_RECALL] = { "recall", sizeof(struct store_recall), take_recall, give_recall },
    [STORE_MARK_SWEPT] = { "mark swept", sizeof(struct store_mark_swept), NULL, give_nothing },
    [STORE_KEEP_DAYS] = { "keep days", sizeof(struct store_keep_days), NULL, give_nothing },
    [STORE_NOTE_LISTENERS] = { "note listeners", sizeof(struct store_note_listeners), NULL, give_nothing },
    [STORE_NOTE_LOADS] = { "note loads", sizeof(struct store_note_loads), NULL, give_nothing },
    [STORE_NOTE_RUNNING] = { "note running", sizeof(struct store_note_running), NULL, give_nothing },
    [STORE_NOTE_RUNS] = { "note runs", sizeof(struct store_note_runs), NULL, give_nothing },
    [STORE_KEEP_DIGESTS] = { "keep digests", sizeof(struct store_keep_digests), NULL, give_nothing },
    [STORE_PRUNE] = { "prune", sizeof(struct store_prune), NULL, give_prune },
};

const char *message_name(enum store_op op)
{
    return (size_t)op < sizeof ops / sizeof *ops ? ops[op].name : "?";
}

struct tx *message_tx(struct db *db, struct message *m)
{
    if (m->tx)
        return m->tx;
    tx_begin(db, &m->tx);
    m->tx->host = m->host;
    m->tx->start = m->start;
    return m->tx;
}

void message_take(struct message *m, const struct store_call *call)
{
    m->op = call->op;
    memcpy(&m->u, call, ops[call->op].size);
    if (ops[call->op].take)
        ops[call->op].take(m);
}

int message_give(const struct message *m, struct store_call *call)
{
    if (!m->rc)
        return ops[m->op].give(m, call);
    err_set(&call->err, m->rc, "%s", m->error_text ? m->error_text : "refused");
    if (m->rc == ERR_LOST)
        call->err.reason = ERR_REASON_REFUSED;      /* an answer arrived: the database is reachable */
    return m->rc;
}
