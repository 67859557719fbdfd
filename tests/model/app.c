/* app.c - the application: one transaction at a time, which writes and commits at any later move.
 * It decides as file_check, file_again and resolve_at do (migrations/pg/0007_filing.sql). */
#include "model.h"

static const struct { int op; int check; const char *name;
} operations[] = {
    { APP_ENQUEUE, 1, "enqueue" },
    { APP_RESOLVE, 0, "resolve" },
    { APP_REPLACE, 0, "replace" },
    { APP_KEEP, 0, "enqueue with keep" },
    { APP_EARLIER, 0, "enqueue with earlier" },
    { APP_PLAIN, 1, "INSERT by hand" },
    { APP_NOW, 0, "enqueue at once" },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const char *name_of(int op)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (operations[i].op == op)
            return operations[i].name;
    return "";
}

static void app_begins(struct model *m, const struct state *s, int i, int to)
{
    struct state t = *s;
    int check = operations[i].check, op = operations[i].op;
    bool id = m->rules.idfirst || op == APP_PLAIN;
    t.app = (struct app){ .phase = APP_DECIDED,
                          .op = (unsigned)op & 127,
                          .check = (unsigned)check & 1,
                          .at = s->clock,
                          .to = (unsigned)to & 7,
                          .has_id = id,
                          .txns_left = (s->app.txns_left - 1u) & 3 };
    move(m, &t, BY_NEW_TXN, "the application begins: %s of check %d, %s, for slot %d", operations[i].name,
         check, id ? "it has a transaction id and has read the clock" : "it has read the clock", to);
}

/* Today's calls file a check under full slots that have not begun, and a call that asks for it at
 * once under the next second. By hand all can be done. */
static bool may_file_at(const struct model *m, const struct state *s, int op, int slot)
{
    if (op == APP_PLAIN)
        return slot <= s->clock;
    if (op == APP_NOW)
        return slot == (m->rules.ahead ? next_fine(m, s->clock) : s->clock);
    return slot > s->clock && !is_fine(m, slot);
}

static void app_may_begin(struct model *m, const struct state *s)
{
    for (int i = 0; i < OPERATIONS; i++) {
        int op = operations[i].op;
        bool must_be_new = op == APP_ENQUEUE || op == APP_PLAIN;
        if (!(m->rules.app & op) || (must_be_new && s->db.row[operations[i].check].slot))
            continue;
        for (int slot = 1; slot <= m->rules.slots; slot++) {
            if (!may_file_at(m, s, op, slot))
                continue;
            app_begins(m, s, i, slot);
            if (op == APP_RESOLVE)
                break;
        }
    }
}

/* A check that is pending is pulled forward by a call that asks for it at once. */
static bool wants_earlier(const struct app *app)
{
    return app->op == APP_EARLIER || app->op == APP_NOW;
}

/* As file_check and file_again decide. The transaction chose its slot by the clock that it read
 * first. It reads the clock again when the row is locked, to see whether the row's slot has begun.
 */
static enum app_effect effect_of(const struct model *m, const struct app *app, const struct row *row,
                                 int clock)
{
    if (app->op == APP_RESOLVE)
        return row->slot ? APP_DELETE : APP_NOTHING;
    if (!row->slot)
        return APP_INSERT;
    if (app->op == APP_REPLACE)
        return APP_NEW_LIFE;
    int now = m->rules.lockclock ? clock : app->at;
    if ((int)row->slot <= now)
        return m->rules.againat ? APP_AGAIN : APP_KEPT;
    return wants_earlier(app) && app->to < row->slot ? APP_MOVE : APP_KEPT;
}

static void app_writes(struct model *m, const struct state *s)
{
    static const char *const results[] = {
        [APP_NOTHING] = "finds nothing",
        [APP_INSERT] = "inserts its row",
        [APP_NEW_LIFE] = "gives the row a new life",
        [APP_MOVE] = "moves the row",
        [APP_AGAIN] = "writes again_at beside the running check",
        [APP_DELETE] = "deletes the row",
        [APP_KEPT] = "keeps the pending row",
    };
    struct state t = *s;
    struct app *app = &t.app;
    app->effect = effect_of(m, app, &s->db.row[app->check], s->clock);
    app->late = app->effect == APP_MOVE && s->db.row[app->check].slot <= s->clock;
    app->phase = APP_WRITTEN;
    app->has_id = 1;
    app->locks = app->effect != APP_NOTHING && app->effect != APP_INSERT &&
                 (app->effect != APP_KEPT || m->rules.keptlock);
    if (app->effect == APP_INSERT || (app->effect == APP_NEW_LIFE && m->rules.newid)) {
        app->id = t.db.next_id;
        t.db.next_id = (t.db.next_id + 1) & 15;
    }
    move(m, &t, BY_APP, "the application's %s %s, and has not committed", name_of(app->op),
         results[app->effect]);
}

static void apply(struct model *m, struct state *t)
{
    const struct app app = t->app;
    struct row *row = &t->db.row[app.check];
    switch ((enum app_effect)app.effect) {
    case APP_NOTHING:
        break;
    case APP_INSERT:
    case APP_NEW_LIFE:
        *row = (struct row){ .slot = app.to & 7,
                             .id = app.effect == APP_INSERT || m->rules.newid ? app.id : row->id,
                             .owed = 1,
                             .reborn = t->replication == FAILED_OVER };
        break;
    case APP_MOVE:
        row->slot = app.to & 7;
        if (!app.late)
            /* the row changes: a run since it was locked is superseded */
            row->runs = 0;
        break;
    case APP_AGAIN:
        if (!row->again || (wants_earlier(&app) && app.to < row->again))
            row->again = app.to;
        row->owed = 1;
        break;
    case APP_DELETE:
        *row = (struct row){ 0 };
        break;
    case APP_KEPT:
        /* A run before this commit could not see what the transaction wrote. */
        if (!row->slot)
            breaks(m, CHECK_LOST,
                   "the enqueue of check %d was acknowledged as kept, and no run follows its commit",
                   app.check);
        row->owed = row->slot != 0;
        break;
    }
}

static void app_ends(struct model *m, const struct state *s, bool commits)
{
    struct state t = *s;
    if (commits)
        apply(m, &t);
    t.app = (struct app){ .txns_left = s->app.txns_left };
    xid_over(&t, XID_APP);
    move(m, &t, BY_APP, commits ? "the application COMMITS" : "the application rolls back");
}

void app_moves(struct model *m, const struct state *s)
{
    if (s->app.phase == APP_IDLE && s->app.txns_left)
        app_may_begin(m, s);
    else if (s->app.phase == APP_DECIDED)
        app_writes(m, s);
    else if (s->app.phase == APP_WRITTEN) {
        app_ends(m, s, true);
        app_ends(m, s, false);
    }
}
