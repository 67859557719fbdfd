/* state.c - the first state, the canonical form of a state, and functions shared by the moves. */
#include "state.h"

#include <stddef.h>
#include <string.h>

void state_init(struct state *s, const struct rules *rules)
{
    memset(s, 0, sizeof *s);
    bool has_writers = rules->app || rules->clerks;
    s->clock = has_writers ? 0 : 1;
    s->faults = (uint8_t)rules->faults & 7;
    s->app.txns_left = has_writers ? (unsigned)rules->txns & 3 : 0;
    for (int k = 0; k < rules->checks; k++)
        s->db.row[k] = (struct row){ .slot = (unsigned)(k ? rules->second : rules->first) & 7,
                                     .id = (unsigned)(k + 1) & 7,
                                     .owed = 1 };
    s->db.next_id = 3;
    s->db.schedule_on = rules->recurs & 1;
    s->db.places = rules->keys ? (unsigned)rules->places & 3 : 0;
    if (rules->recurs && rules->checks)
        s->db.row[0].first = s->db.row[0].slot;
    s->journal.next_xid = 1;
    s->writers.left = (unsigned)rules->writers & 3;
}

/* ---- questions ---- */

bool in_bucket(int check, int bucket, bool whole)
{
    return whole || check % BUCKETS == bucket;
}

int place_of(int check, int id, bool whole)
{
    return whole ? check % BUCKETS * 16 + id : id;
}

bool bucket_has_rows(const struct db *db, int slot, int bucket, bool whole)
{
    for (int k = 0; k < CHECKS; k++)
        if (db->row[k].slot == (unsigned)slot && in_bucket(k, bucket, whole))
            return true;
    return false;
}

bool in_sight(const struct row *row, const struct rules *rules)
{
    return row->slot && ((int)row->slot <= rules->slots || (rules->pause && row->slot == PAUSE_SLOT));
}

bool is_waiting(const struct state *s, int check, const struct rules *rules)
{
    const struct row *row = &s->db.row[check];
    return in_sight(row, rules) && !(row->slot == PAUSE_SLOT && s->db.pause == PAUSE_ON);
}

bool slot_has_rows(const struct db *db, int slot)
{
    return bucket_has_rows(db, slot, 0, true);
}

bool is_locked(const struct state *s, int check)
{
    for (int i = 0; i < CLERKS && check == 0; i++)
        if (s->clerk[i].holds_check)
            return true;
    return s->app.phase == APP_WRITTEN && s->app.locks && s->app.check == (unsigned)check;
}

bool is_kept(const struct state *s, int check)
{
    return is_locked(s, check) && s->app.phase == APP_WRITTEN && s->app.effect == APP_KEPT;
}

bool all_done(const struct pass *p)
{
    unsigned all = (1u << p->split) - 1;
    return p->state == PASS_OPEN && (p->done & all) == all;
}

int owner_of(const struct rules *rules, int engine)
{
    return rules->lanes ? 1 : engine + 1;
}

static bool looks_at(const struct request *r, int slot, int bucket)
{
    return r->kind == REQUEST_SETTLE && r->looked && !r->result && !r->no_lease &&
           r->slot == (unsigned)slot && r->bucket == (unsigned)bucket;
}

bool is_shared(const struct state *s, const struct rules *rules, int slot, int bucket)
{
    if (!rules->share || !rules->token)
        return false;
    for (int i = 0; i < ENGINES; i++)
        if (looks_at(&s->engine[i].call, slot, bucket))
            return true;
    for (int j = 0; j < STRAYS; j++)
        if (looks_at(&s->stray[j], slot, bucket))
            return true;
    return false;
}

/* ---- holders of tokens ---- */

/* A call carries a token; open_slot does when it has received one. */
static bool holder_of_request(const struct request *r, int owner, struct holder *out)
{
    if (!r->kind || (r->kind == REQUEST_OPEN && r->result != RESULT_GOOD))
        return false;
    *out = (struct holder){ r->slot, r->bucket, (unsigned)owner, r->token };
    return true;
}

bool holder_get(const struct state *s, const struct rules *rules, int n, struct holder *out)
{
    if (n >= 2 * ENGINES)
        return holder_of_request(&s->stray[n - 2 * ENGINES], s->stray[n - 2 * ENGINES].owner, out);
    const struct engine *e = &s->engine[n / 2];
    if (n % 2)
        return holder_of_request(&e->call, owner_of(rules, n / 2), out);
    if (!e->leased || e->no_lease)
        return false;
    *out = (struct holder){ e->slot, e->bucket, (unsigned)owner_of(rules, n / 2), e->token };
    return true;
}

void holder_set_token(struct state *s, int n, unsigned token)
{
    if (n >= 2 * ENGINES)
        s->stray[n - 2 * ENGINES].token = token & 15;
    else if (n % 2)
        s->engine[n / 2].call.token = token & 15;
    else
        s->engine[n / 2].token = token & 15;
}

void lease_changed(struct state *s, int slot, int bucket)
{
    for (int i = 0; i < ENGINES; i++)
        if (s->engine[i].watch == slot * BUCKETS + bucket)
            s->engine[i].watch = s->engine[i].watch_left = 0;
}

static void holders_lose(struct state *s, int slot, int bucket)
{
    struct holder h;
    struct rules any = { 0 };
    for (int n = 0; n < HOLDERS; n++)
        if (holder_get(s, &any, n, &h) && h.slot == (unsigned)slot && h.bucket == (unsigned)bucket)
            holder_set_token(s, n, h.token & ~(unsigned)(TOKEN_GOOD | TOKEN_FAKE));
}

void lease_gone(struct state *s, int slot, int bucket)
{
    s->db.lease[slot][bucket] = (struct lease){ 0 };
    holders_lose(s, slot, bucket);
    lease_changed(s, slot, bucket);
}

void engine_drop_run(struct engine *e)
{
    struct engine kept = { .mode = e->mode, .watch = e->watch, .watch_left = e->watch_left,
                           .low = e->low, .pulse = e->pulse, .pulse_at = e->pulse_at,
                           .pulse_older = e->pulse_older, .pause = e->pause, .place = e->place,
                           .place_good = e->place_good, .place_standby = e->place_standby,
                           .place_trust = e->place_trust };
    *e = kept;
}

/* ---- places ---- */

static void request_loses_place(struct request *r, int number)
{
    if (r->place == (unsigned)number)
        r->place_good = 0;
}

void place_gone(struct state *s, int number)
{
    s->db.place[number - 1] = (struct lease){ 0 };
    for (int i = 0; i < ENGINES; i++) {
        if (s->engine[i].place == (unsigned)number)
            s->engine[i].place_good = 0;
        request_loses_place(&s->engine[i].call, number);
    }
    for (int j = 0; j < STRAYS; j++)
        request_loses_place(&s->stray[j], number);
}

/* ---- transactions ---- */

static bool has_xid(const struct request *r, const struct rules *rules)
{
    return r->kind == REQUEST_SETTLE && r->looked && !r->result && rules->settleid;
}

int running_xids(const struct state *s, const struct rules *rules)
{
    int xids = s->app.phase && s->app.has_id ? XID_APP : 0;
    for (int i = 0; i < ENGINES; i++)
        xids |= has_xid(&s->engine[i].call, rules) ? XID_ENGINE << i : 0;
    for (int j = 0; j < STRAYS; j++)
        xids |= has_xid(&s->stray[j], rules) ? XID_STRAY << j : 0;
    for (int i = 0; i < CLERKS; i++)
        xids |= s->clerk[i].op ? XID_CLERK << i : 0;
    return xids;
}

/* Replaces every set of transactions by the result of `map`. */
static void map_xids(struct state *s, int (*map)(int set, int arg), int arg)
{
    for (int slot = 1; slot <= SLOTS; slot++)
        s->db.pass[slot].older = (unsigned)map(s->db.pass[slot].older, arg) & ALL_XIDS;
    s->db.noted_older = (unsigned)map(s->db.noted_older, arg) & ALL_XIDS;
    for (int i = 0; i < ENGINES; i++) {
        s->engine[i].older = (unsigned)map(s->engine[i].older, arg) & ALL_XIDS;
        s->engine[i].call.older = (unsigned)map(s->engine[i].call.older, arg) & ALL_XIDS;
        s->engine[i].pulse_older = (unsigned)map(s->engine[i].pulse_older, arg) & ALL_XIDS;
    }
    for (int j = 0; j < STRAYS; j++)
        s->stray[j].older = (unsigned)map(s->stray[j].older, arg) & ALL_XIDS;
}

static int without(int set, int bit)
{
    return set & ~bit;
}

void xid_over(struct state *s, int bit)
{
    map_xids(s, without, bit);
    s->app.passed |= bit != XID_APP && s->app.phase && s->app.has_id;
}

static int swap_bits(int set, int low)
{
    int high = low << 1;
    int swapped = set & ~(low | high);
    if (set & low)
        swapped |= high;
    if (set & high)
        swapped |= low;
    return swapped;
}

/* ---- canonical form ---- */

/* The owner that it is when the two engines change places. */
static unsigned swap_owner(unsigned owner)
{
    static const unsigned swapped[] = { 0, 2, 1, NOBODY };
    return swapped[owner & 3];
}

static void swap_owners(struct lease lease[SLOTS + 1][BUCKETS])
{
    for (int slot = 1; slot <= SLOTS; slot++)
        for (int b = 0; b < BUCKETS; b++)
            lease[slot][b].owner = swap_owner(lease[slot][b].owner) & 3;
}

static void swap_places(struct state *s, bool owners)
{
    for (int i = 0; i < PLACES && owners; i++) {
        s->db.place[i].owner = swap_owner(s->db.place[i].owner) & 3;
        s->standby.place[i].owner = swap_owner(s->standby.place[i].owner) & 3;
    }
    for (int i = 0; i < LOOSE; i++)
        s->loose[i].engine = swap_owner(s->loose[i].engine) & 3;
}

static void swap_engines(struct state *s, const struct rules *rules)
{
    struct engine first = s->engine[0];
    s->engine[0] = s->engine[1];
    s->engine[1] = first;
    map_xids(s, swap_bits, XID_ENGINE);
    swap_places(s, !rules->lanes);
    if (rules->lanes)
        return;
    swap_owners(s->db.lease);
    swap_owners(s->standby.lease);
    for (int j = 0; j < STRAYS; j++)
        s->stray[j].owner = swap_owner(s->stray[j].owner) & 3;
}

static void swap_strays(struct state *s)
{
    struct request first = s->stray[0];
    s->stray[0] = s->stray[1];
    s->stray[1] = first;
    map_xids(s, swap_bits, XID_STRAY);
}

static void swap_clerks(struct state *s)
{
    struct clerk first = s->clerk[0];
    s->clerk[0] = s->clerk[1];
    s->clerk[1] = first;
    map_xids(s, swap_bits, XID_CLERK);
}

static void clear_items_out(struct item *item)
{
    for (int k = 0; k < CHECKS; k++)
        if (item[k].state == ITEM_OUT)
            item[k] = (struct item){ 0 };
}

static void sort_loose(struct state *s)
{
    if (memcmp(&s->loose[0], &s->loose[1], sizeof s->loose[0]) <= 0)
        return;
    struct loose first = s->loose[0];
    s->loose[0] = s->loose[1];
    s->loose[1] = first;
}

static void clear_unused_places(struct state *s)
{
    for (int i = 0; i < PLACES; i++)
        if (!s->db.place[i].ticks)
            s->db.place[i].owner = 0;
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &s->engine[i];
        if (!e->place)
            e->place_good = e->place_standby = e->place_trust = 0;
    }
    sort_loose(s);
}

static void clear_unused(struct state *s, const struct rules *rules)
{
    clear_unused_places(s);
    if (rules->nextid)
        s->app.passed = 0;
    for (int slot = 1; slot <= SLOTS; slot++)
        for (int b = 0; b < BUCKETS; b++)
            if (!s->db.lease[slot][b].ticks)
                s->db.lease[slot][b].owner = 0;
    for (int k = 0; k < CHECKS; k++)
        if (!s->db.row[k].slot)
            s->db.row[k] = (struct row){ 0 };
        else if (!in_sight(&s->db.row[k], rules))
            s->db.row[k] = (struct row){ .slot = s->db.row[k].slot, .id = s->db.row[k].id };
    for (int i = 0; i < ENGINES; i++) {
        struct engine *e = &s->engine[i];
        clear_items_out(e->item);
        if (e->began && e->cursor && !e->partial)
            e->older = 0;
        bool is_timed = e->call.kind == REQUEST_OPEN || e->call.kind == REQUEST_RENEW ||
                        e->call.kind == REQUEST_TAKE_PLACE || e->call.kind == REQUEST_RENEW_PLACE;
        if (!is_timed && e->trust == e->call_trust)
            e->call_trust = 0;
        clear_items_out(e->call.item);
    }
    for (int j = 0; j < STRAYS; j++)
        if (!s->stray[j].kind)
            memset(&s->stray[j], 0, sizeof s->stray[j]);
        else
            clear_items_out(s->stray[j].item);
}

bool state_canonize(struct state *s, const struct rules *rules)
{
    clear_unused(s, rules);
    if (memcmp(&s->clerk[0], &s->clerk[1], sizeof s->clerk[0]) > 0)
        swap_clerks(s);
    if (memcmp(&s->stray[0], &s->stray[1], sizeof s->stray[0]) > 0)
        swap_strays(s);
    if (rules->unknown || memcmp(&s->engine[0], &s->engine[1], sizeof s->engine[0]) <= 0)
        return false;
    swap_engines(s, rules);
    sort_loose(s);
    /* The owners of the strays have changed, and with them perhaps their order. */
    if (memcmp(&s->stray[0], &s->stray[1], sizeof s->stray[0]) > 0)
        swap_strays(s);
    return true;
}

_Static_assert(sizeof(struct state) % 4 == 0 && offsetof(struct state, post) % 4 == 0,
               "states are hashed by words");
