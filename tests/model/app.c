/* app.c - the application: one transaction at a time, which writes and commits as late as it
 * likes. What it decides is what file_check, file_again and resolve_at decide
 * (migrations/pg/0003_api.sql). */
#include "model.h"

static const struct { int op; int check; const char *word;
} operations[] = {
    { APP_ENQUEUE, 1, "enqueue" },
    { APP_RESOLVE, 0, "resolve" },
    { APP_REPLACE, 0, "replace" },
    { APP_KEEP, 0, "enqueue with keep" },
    { APP_EARLIER, 0, "enqueue with earlier" },
    { APP_PLAIN, 1, "INSERT by hand" },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static const char *word_of(int op)
{
    for (int i = 0; i < OPERATIONS; i++)
        if (operations[i].op == op)
            return operations[i].word;
    return "";
}

static void app_begins(struct model *m, const struct state *s, int i, int to)
{
    struct state t = *s;
    int check = operations[i].check, op = operations[i].op;
    bool id = m->rules.idfirst || op == APP_PLAIN;
    t.app = (struct app){ .phase = APP_DECIDED,
                          .op = (unsigned)op & 63,
                          .check = (unsigned)check & 1,
                          .at = s->clock,
                          .to = (unsigned)to & 7,
                          .has_id = id,
                          .left = (s->app.left - 1u) & 3 };
    move(m, &t, BY_NEW_TXN, "the application begins: %s of check %d, %s, for slot %d", operations[i].word,
         check, id ? "it has a transaction id and has read the clock" : "it has read the clock", to);
}

static void app_may_begin(struct model *m, const struct state *s)
{
    for (int i = 0; i < OPERATIONS; i++) {
        int op = operations[i].op;
        bool must_be_new = op == APP_ENQUEUE || op == APP_PLAIN;
        if (!(m->rules.app & op) || (must_be_new && s->db.row[operations[i].check].slot))
            continue;
        bool plain = op == APP_PLAIN;
        int from = plain ? 1 : s->clock + 1;
        int to = plain ? s->clock : m->rules.slots;
        for (int slot = from; slot <= to && slot <= m->rules.slots; slot++) {
            app_begins(m, s, i, slot);
            if (op == APP_RESOLVE)
                break;
        }
    }
}

/* What file_check and file_again decide. The slot was picked by the clock that the transaction
 * read; whether the row's has begun is asked of the clock once the row is locked. */
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
    return app->op == APP_EARLIER && app->to < row->slot ? APP_MOVE : APP_KEPT;
}

static void app_writes(struct model *m, const struct state *s)
{
    static const char *const words[] = {
        [APP_NOTHING] = "finds nothing",
        [APP_INSERT] = "inserts its row",
        [APP_NEW_LIFE] = "gives the row a new life",
        [APP_MOVE] = "moves the row",
        [APP_AGAIN] = "writes again_at beside the running check",
        [APP_DELETE] = "deletes the row",
        [APP_KEPT] = "finds one pending, which is kept",
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
        app->id = t.db.next_id & 7;
        t.db.next_id = (t.db.next_id + 1) & 15;
    }
    move(m, &t, BY_APP, "the application's %s %s, and has not committed", word_of(app->op),
         words[app->effect]);
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
            /* its new state stands: a run since the row was locked is superseded */
            row->runs = 0;
        break;
    case APP_AGAIN:
        if (!row->again || (app.op == APP_EARLIER && app.to < row->again))
            row->again = app.to;
        row->owed = 1;
        break;
    case APP_DELETE:
        *row = (struct row){ 0 };
        break;
    case APP_KEPT:
        /* whoever looked could not see yet what this transaction has written */
        if (!row->slot)
            breaks(m, CHECK_LOST,
                   "the enqueue of check %d was acknowledged as kept, and nobody looks after its commit",
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
    t.app = (struct app){ .left = s->app.left };
    xid_over(&t, XID_APP);
    move(m, &t, BY_APP, commits ? "the application COMMITS" : "the application rolls back");
}

void app_moves(struct model *m, const struct state *s)
{
    if (s->app.phase == APP_IDLE && s->app.left)
        app_may_begin(m, s);
    else if (s->app.phase == APP_DECIDED)
        app_writes(m, s);
    else if (s->app.phase == APP_WRITTEN) {
        app_ends(m, s, true);
        app_ends(m, s, false);
    }
}
