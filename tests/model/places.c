/* places.c - concurrency keys. All checks have one key, which has one or two places. A place is a
 * lease of its own: it has an owner and a token, is taken when it is free or has expired, renewed,
 * and given back when no run under it is going on. It lasts as long as a run
 * that was started in its window may last, so that a run ends before its place is another's. */
#include "model.h"

#include <assert.h>

enum { BACK_AT_ANY_TIME, BACK_BY_SETTLE, BACK_AFTER_ANSWER };

int place_lasts(const struct model *m)
{
    int run = m->rules.trust + m->rules.limit;
    return m->rules.lasts && run > m->rules.lease ? run : m->rules.lease;
}

static bool has_item(const struct engine *e, enum item_state state)
{
    return e->item[0].state == state || e->item[1].state == state;
}

static bool has_any_item(const struct engine *e)
{
    return e->item[0].state || e->item[1].state;
}

/* ---- the database ---- */

static bool can_be_taken(const struct model *m, const struct state *s, int number)
{
    return !s->db.place[number - 1].ticks && !(s->db.young && m->rules.pyoung);
}

/* Who finds no place shortens those that a clock which was set back has made endless: no run under
 * one goes on for longer than it lasts, from now on. */
static void shorten_places(const struct model *m, struct state *s)
{
    int lasts = m->rules.pshort ? place_lasts(m) : m->rules.lease;
    for (int number = 1; number <= (int)s->db.places; number++)
        if (s->db.place[number - 1].ticks == FAR)
            s->db.place[number - 1].ticks = (unsigned)lasts & 7;
}

void serve_take_place(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request *r = request_of(&t, from);
    int number = 1;
    while (number <= (int)s->db.places && !can_be_taken(m, s, number))
        number++;
    bool taken = number <= (int)s->db.places;
    if (taken) {
        place_gone(&t, number);
        t.db.place[number - 1] = (struct lease){ .ticks = (unsigned)place_lasts(m) & 7,
                                                 .owner = (unsigned)sender_owner(m, s, from) & 3 };
        r->place = (unsigned)number & 3;
        r->place_good = 1;
    } else
        shorten_places(m, &t);
    r->result = taken ? RESULT_GOOD : RESULT_LOST;
    answer(m, &t, from);
    if (taken)
        move(m, &t, BY_SYSTEM, "%s call takes place %d of the key", sender_name(from), number);
    else
        move(m, &t, BY_SYSTEM, "%s call takes no place: the key is busy", sender_name(from));
}

static bool is_own(const struct model *m, const struct state *s, struct sender from)
{
    const struct request *r = request_in(s, from);
    bool is_owner = s->db.place[r->place - 1].owner == (unsigned)sender_owner(m, s, from);
    return m->rules.ptoken ? r->place_good : is_owner;
}

void serve_renew_place(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request *r = request_of(&t, from);
    struct lease *place = &t.db.place[r->place - 1];
    bool has_expired = !place->ticks && m->rules.pexpired;
    bool is_over = r->place > s->db.places && m->rules.pnumber;
    bool good = is_own(m, s, from) && !has_expired && !is_over;
    int number = r->place;
    if (good) {
        *place = (struct lease){ .ticks = (unsigned)place_lasts(m) & 7,
                                 .owner = (unsigned)sender_owner(m, s, from) & 3 };
    }
    r->result = good ? RESULT_GOOD : RESULT_LOST;
    answer(m, &t, from);
    move(m, &t, BY_SYSTEM, "%s renewal of place %d: %s", sender_name(from), number,
         good ? "renewed" : "it is lost");
}

void serve_return_place(struct model *m, const struct state *s, struct sender from)
{
    struct state t = *s;
    struct request *r = request_of(&t, from);
    int number = r->place;
    bool good = is_own(m, s, from);
    if (good)
        place_gone(&t, number);
    r->result = RESULT_GOOD;
    answer(m, &t, from);
    move(m, &t, BY_SYSTEM, "%s giving back of place %d: %s", sender_name(from), number,
         good ? "it is free" : "another has it");
}

/* The planted mistake: the settle gives the place back, if it has written all its answers. */
void place_in_settle(const struct model *m, struct state *s, struct request *r)
{
    if (m->rules.pback != BACK_BY_SETTLE || !r->place)
        return;
    for (int k = 0; k < CHECKS; k++)
        if (r->item[k].state == ITEM_LOCKED)
            r->place = 0;
    if (r->place && r->place_good)
        place_gone(s, r->place);
}

/* ---- an engine's answers ---- */

/* What found no place is moved unrun. */
static void puts_off(const struct model *m, const struct state *s, struct engine *e)
{
    for (int k = 0; k < CHECKS; k++)
        if (e->item[k].state == ITEM_WAITING) {
            e->item[k].state = ITEM_ANSWERED;
            e->item[k].put_off = e->item[k].busy = 1;
            e->item[k].looked = 0;
            e->item[k].to = (unsigned)next_attempt(m, s->clock) & 7;
        }
}

static void has_no_place(struct engine *e)
{
    e->place = e->place_good = e->place_standby = e->place_trust = 0;
}

void receive_place(const struct model *m, struct state *s, int engine, const struct request *r)
{
    struct engine *e = &s->engine[engine];
    unsigned trust = m->rules.psend ? e->call_trust : (unsigned)m->rules.trust & 3;
    if (r->kind == REQUEST_TAKE_PLACE && r->result == RESULT_GOOD) {
        e->place = r->place;
        e->place_good = r->place_good;
        e->place_standby = r->place_standby;
        e->place_trust = trust;
    } else if (r->kind == REQUEST_TAKE_PLACE)
        puts_off(m, s, e);
    else if (r->kind == REQUEST_RETURN_PLACE || r->result == RESULT_LOST)
        has_no_place(e);
    else
        e->place_trust = trust;
}

/* ---- an engine's moves ---- */

bool place_allows_start(const struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    if (m->rules.single && (has_item(e, ITEM_RUNNING) || has_loose_run(s, engine)))
        return false;
    return e->place && (e->place_trust || !m->rules.pwindow);
}

static void sends(struct model *m, const struct state *s, int engine, enum request_kind kind,
                  const char *what)
{
    struct state t = *s;
    struct engine *e = &t.engine[engine];
    e->call = (struct request){ .kind = kind, .place = e->place, .place_good = e->place_good,
                                .place_standby = e->place_standby };
    e->call_trust = kind == REQUEST_RETURN_PLACE ? 0 : (unsigned)m->rules.trust & 3;
    if (kind == REQUEST_RETURN_PLACE && m->rules.psent)
        has_no_place(e);
    if (call_is_one_move(m, s))
        serve_call(m, &t, engine);
    else
        move(m, &t, BY_SYSTEM, "E%d sends %s", engine, what);
}

static bool may_give_back(const struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    if (m->rules.pback == BACK_AT_ANY_TIME)
        return true;
    if (m->rules.pback == BACK_BY_SETTLE)
        return !has_any_item(e) && !has_loose_run(s, engine);
    bool is_last = m->rules.yields || !has_item(e, ITEM_WAITING);
    return is_last && !has_item(e, ITEM_RUNNING) && !has_loose_run(s, engine);
}

bool wants_place(const struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    return m->rules.keys && !e->place && !e->leaving && has_item(e, ITEM_WAITING);
}

/* A place outlives the lease under which its checks were read. */
void place_moves(struct model *m, const struct state *s, int engine)
{
    const struct engine *e = &s->engine[engine];
    if (wants_place(m, s, engine) && e->leased && !e->must_renew)
        sends(m, s, engine, REQUEST_TAKE_PLACE, "a call that takes a place of the key");
    if (!e->place)
        return;
    if (e->place_trust < (unsigned)m->rules.trust)
        sends(m, s, engine, REQUEST_RENEW_PLACE, "a renewal of its place");
    if (may_give_back(m, s, engine))
        sends(m, s, engine, REQUEST_RETURN_PLACE, "its place back");
}

/* ---- runs that nobody waits for ---- */

bool has_loose_run(const struct state *s, int engine)
{
    for (int i = 0; i < LOOSE; i++)
        if (s->loose[i].there && s->loose[i].engine == (unsigned)(engine + 1))
            return true;
    return false;
}

static void add_loose(struct state *s, unsigned left, unsigned engine)
{
    int i = 0;
    while (i < LOOSE && s->loose[i].there)
        i++;
    assert(i < LOOSE);                  /* else the scenario needs room for more */
    s->loose[i] = (struct loose){ .there = 1, .left = left & 3, .engine = engine & 3 };
}

void loosen_runs(const struct model *m, struct state *s, int engine, bool known)
{
    for (int k = 0; k < CHECKS && m->rules.keys; k++)
        if (s->engine[engine].item[k].state == ITEM_RUNNING)
            add_loose(s, s->engine[engine].item[k].left, known ? (unsigned)engine + 1 : 0);
}

void engine_leaves_runs(struct state *s, int engine, bool outlive)
{
    for (int i = 0; i < LOOSE; i++)
        if (s->loose[i].engine == (unsigned)(engine + 1)) {
            s->loose[i].engine = 0;
            if (!outlive)
                s->loose[i] = (struct loose){ 0 };
        }
}

static void loose_run_ends(struct model *m, const struct state *s, int i)
{
    struct state t = *s;
    t.loose[i] = (struct loose){ 0 };
    move(m, &t, BY_SYSTEM, "a run whose answer nobody waits for ends");
}

/* ---- the number of places ---- */

static void change_places(struct model *m, const struct state *s, int places)
{
    struct state t = *s;
    t.db.places = (unsigned)places & 3;
    if (places == 1) {
        t.lowered = 1;
        t.db.fewer = (unsigned)place_lasts(m) & 7;
        if (!m->rules.pkeep)
            place_gone(&t, PLACES);
    } else
        t.raised = 1;
    move(m, &t, BY_NEW_TXN, "the number of places of the key is set to %d", places);
}

void places_moves(struct model *m, const struct state *s)
{
    if (!m->rules.keys)
        return;
    for (int i = 0; i < LOOSE; i++)
        if (s->loose[i].there)
            loose_run_ends(m, s, i);
    if (m->rules.renumber & 1 && s->db.places == 2 && !s->lowered)
        change_places(m, s, 1);
    if (m->rules.renumber & 2 && s->db.places == 1 && !s->raised)
        change_places(m, s, 2);
}

/* ---- time ---- */

bool places_have_ticks(const struct state *s)
{
    bool has = s->db.young || s->db.fewer || s->loose[0].there || s->loose[1].there;
    for (int i = 0; i < PLACES; i++)
        has = has || (s->db.place[i].ticks && s->db.place[i].ticks != FAR);
    for (int i = 0; i < ENGINES; i++) {
        const struct engine *e = &s->engine[i];
        has = has || e->place_trust;
    }
    return has;
}

/* An engine that is awake renews its place in time. */
bool places_may_tick(const struct model *m, const struct state *s)
{
    for (int i = 0; i < ENGINES; i++) {
        const struct engine *e = &s->engine[i];
        if (e->mode == AWAKE && e->place && e->place_trust < (unsigned)m->rules.trust)
            return false;
    }
    return true;
}

static void tick_places(struct db *db)
{
    for (int i = 0; i < PLACES; i++)
        if (db->place[i].ticks && db->place[i].ticks != FAR)
            db->place[i].ticks--;
    db->young -= db->young != 0;
    db->fewer -= db->fewer != 0;
}

/* The engine ends a run at its deadline, and so does a timer of the worker, whose clock goes on
 * while the machine is suspended. */
static bool is_ended_at_deadline(const struct model *m, enum engine_mode mode)
{
    return mode == AWAKE || m->rules.timer;
}

static void tick_runs(const struct model *m, struct state *s, int engine)
{
    struct engine *e = &s->engine[engine];
    bool stands_still = !m->rules.boottime && e->mode == FROZEN_WITH_WORKER;
    for (int k = 0; k < CHECKS; k++) {
        struct item *item = &e->item[k];
        if (item->state != ITEM_RUNNING || stands_still)
            continue;
        if (item->left)
            item->left--;
        else if (is_ended_at_deadline(m, (enum engine_mode)e->mode))
            run_times_out(m, s, engine, k);
    }
    if (e->place_trust && !stands_still)
        e->place_trust--;
}

static void tick_loose_run(const struct model *m, struct state *s, struct loose *run)
{
    enum engine_mode mode = run->engine ? (enum engine_mode)s->engine[run->engine - 1].mode : FROZEN_ALONE;
    bool stands_still = !m->rules.boottime && mode == FROZEN_WITH_WORKER;
    if (!run->there || stands_still)
        return;
    if (run->left)
        run->left--;
    else if (is_ended_at_deadline(m, mode))
        *run = (struct loose){ 0 };
}

void places_tick(const struct model *m, struct state *s)
{
    if (!m->rules.keys)
        return;
    tick_places(&s->db);
    tick_places(&s->standby);
    for (int i = 0; i < ENGINES; i++)
        tick_runs(m, s, i);
    for (int i = 0; i < LOOSE; i++)
        tick_loose_run(m, s, &s->loose[i]);
}

/* ---- a failover ---- */

void places_note_standby(struct state *s)
{
    for (int i = 0; i < ENGINES; i++) {
        s->engine[i].place_standby = s->engine[i].place_good;
        s->engine[i].call.place_standby = s->engine[i].call.place_good;
    }
}

/* Places that were taken since then are lost, and runs under them may be going on. So none is taken
 * in the new history before all runs of the one before must have ended. */
void places_fail_over(const struct model *m, struct state *s, bool loses)
{
    for (int i = 0; i < ENGINES && loses; i++) {
        struct engine *e = &s->engine[i];
        e->place_good = e->place_standby;
        e->call.place_good = e->call.place_standby;
        e->place_standby = e->call.place_standby = 0;
    }
    if (m->rules.keys)
        s->db.young = (unsigned)place_lasts(m) & 7;
}

/* ---- the promises ---- */

static int count_runs(const struct state *s)
{
    int n = s->loose[0].there + s->loose[1].there;
    for (int i = 0; i < ENGINES; i++)
        for (int k = 0; k < CHECKS; k++)
            n += s->engine[i].item[k].state == ITEM_RUNNING;
    return n;
}

/* After the number of places was lowered, those that were taken before it may still be in use,
 * until all runs under them have ended. */
void check_places(struct model *m, const struct state *s)
{
    int most = s->db.fewer ? PLACES : s->db.places, n = count_runs(s);
    if (n > most)
        breaks(m, TWO_AT_ONCE, "%d runs of a key that has %d place(s)", n, most);
}

bool places_are_over(const struct state *s)
{
    for (int i = 0; i < PLACES; i++)
        if (s->db.place[i].ticks && s->db.place[i].ticks != FAR)
            return false;
    return !s->loose[0].there && !s->loose[1].there && !s->engine[0].place && !s->engine[1].place;
}

bool is_no_place_held_for_nothing(const struct model *m, const struct state *s)
{
    (void)m;
    for (int i = 0; i < ENGINES; i++) {
        const struct engine *e = &s->engine[i];
        bool is_used = has_item(e, ITEM_WAITING) || has_item(e, ITEM_RUNNING) || has_loose_run(s, i);
        if (e->place && e->mode == AWAKE && !is_used)
            return false;
    }
    return true;
}
