/* store_sqlite_pause.c - the reports that pause and resume, for who runs this program or for
 * somebody else; each leaves a row of the audit. */
#include <string.h>

#include "../rules/pause.h"
#include "store_sqlite_calls.h"
#include "store_sqlite_rows.h"

static const char *param(const struct store_report *req, int n)
{
    return n <= req->nparams ? req->params[n - 1] : NULL;
}

/* For those who read it: for whom, if that is known, and the user. */
static const char *pauser(struct arena *a, const char *who)
{
    const char *user = sqlite_user(a);
    return who && *who && user ? arena_printf(a, "%.100s (%s)", who, user) : user;
}

struct thing { const char *what, *name; };

/* Parameters 1 to PAUSE_WHATS are a job, an entity, a schedule and a tenant. One of them is to be
 * paused or resumed. What is known of it goes to *seen. */
static int paused_thing(struct sqlite_store *db, struct store_report *req, struct thing *thing,
                        struct sqlite_pause_look_out *seen)
{
    int given = 0;
    for (int i = 0; i < PAUSE_WHATS; i++)
        if (param(req, i + 1)) {
            thing->what = pause_what_name((enum pause_what)i);
            thing->name = param(req, i + 1);
            given++;
        }
    if (given != 1)
        return err_set(&req->call.err, ERR_INPUT,
                       "%d of job, entity, schedule and tenant are given, expected one of them", given);
    return sqlite_ask(db, &req->call.err, STATEMENT_PAUSE_LOOK, seen, &(struct sqlite_pause_look_in){
        .what = thing->what,
        .name = thing->name,
    });
}

static int outcome_of(struct store_report *req, const char *outcome, const bool *has_checks)
{
    struct gathering g = { .arena = req->arena };
    sqlite_gather_columns(&g, has_checks ? 2 : 1);
    if (!g.failed)
        sqlite_gather_name(&g, 0, "outcome", false);
    if (!g.failed && has_checks)
        sqlite_gather_name(&g, 1, "has_checks", true);
    const char **row = g.failed ? NULL : sqlite_gather_row(&g);
    if (row)
        sqlite_gather_cell(&g, &row[0], outcome);
    if (row && has_checks)
        sqlite_gather_cell(&g, &row[1], *has_checks ? "1" : "0");
    return sqlite_gathered(&g, &req->rows, &req->call.err);
}

static int note_pausing(struct sqlite_store *db, struct store_report *req, const struct thing *thing,
                        bool pauses, const char *who, const char *reason)
{
    static const char on[] = "{\"is_paused\":true}", off[] = "{\"is_paused\":false}";
    bool is_job = !strcmp(thing->what, "job"), is_entity = !strcmp(thing->what, "entity");
    struct sqlite_audited change = {
        .who = who, .change = pauses ? "pause" : "resume", .what = thing->what, .reason = reason,
    };
    change.before = pauses ? off : on;
    change.after = pauses ? on : off;
    const char **name = is_entity ? &change.entity : &change.name;
    *(is_job ? &change.job : name) = thing->name;
    return sqlite_note_change(db, req->arena, &change, &req->call.err);
}

int sqlite_pause_for(struct sqlite_store *db, struct store_report *req, const char *who, bool tells_checks)
{
    struct thing thing = { 0 };
    struct sqlite_pause_look_out seen = { 0 };
    const bool *told = tells_checks ? &seen.has_checks : NULL;
    const char *reason = param(req, PAUSE_WHATS + 1);
    int rc = paused_thing(db, req, &thing, &seen);
    if (rc < 0)
        return rc;
    if (seen.is_on)
        return outcome_of(req, "kept", told);
    struct sqlite_pause_in in = {
        .what = thing.what, .name = thing.name, .reason = reason, .who = pauser(req->arena, who)
    };
    int64_t made = sqlite_run(db, &req->call.err, STATEMENT_PAUSE, &in);
    if (made >= 0)
        made = note_pausing(db, req, &thing, true, who, reason);
    return made < 0 ? (int)made : outcome_of(req, "paused", told);
}

int sqlite_report_pause(struct sqlite_store *db, struct store_report *req)
{
    return sqlite_pause_for(db, req, NULL, true);
}

int sqlite_resume_for(struct sqlite_store *db, struct store_report *req, const char *who,
                      const char *reason)
{
    struct thing thing = { 0 };
    struct sqlite_pause_look_out seen = { 0 };
    int rc = paused_thing(db, req, &thing, &seen);
    if (rc < 0)
        return rc;
    if (!seen.is_on)
        return outcome_of(req, "not_paused", NULL);
    struct sqlite_resume_in in = {
        .what = thing.what, .name = thing.name, .reslot = param(req, PAUSE_WHATS + 1),
        .who = pauser(req->arena, who)
    };
    int64_t ended = sqlite_run(db, &req->call.err, STATEMENT_RESUME, &in);
    if (ended >= 0)
        ended = note_pausing(db, req, &thing, false, who, reason);
    return ended < 0 ? (int)ended : outcome_of(req, "resumed", NULL);
}

int sqlite_report_resume(struct sqlite_store *db, struct store_report *req)
{
    return sqlite_resume_for(db, req, NULL, NULL);
}
