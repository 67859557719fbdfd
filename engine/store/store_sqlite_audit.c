/* store_sqlite_audit.c - rows of the audit: who has changed what. */
#include <pwd.h>
#include <unistd.h>

#include "store_sqlite_calls.h"

/* A file has no users: it is who runs this program. */
const char *sqlite_user(struct arena *a)
{
    const struct passwd *user = getpwuid(geteuid());
    return user ? arena_strdup(a, user->pw_name) : arena_printf(a, "uid %ld", (long)geteuid());
}

int sqlite_note_change(struct sqlite_store *db, struct arena *a, const struct sqlite_audited *change,
                       struct err *err)
{
    int64_t rc = sqlite_run(db, err, STATEMENT_NOTE_CHANGE, &(struct sqlite_note_change_in){
        .clock_us = sqlite_clock_us(db),
        .who = change->who,
        .done_by = sqlite_user(a),
        .change = change->change,
        .what = change->what,
        .entity = change->entity,
        .key = change->key,
        .job = change->job,
        .name = change->name,
        .before = change->before,
        .after = change->after,
        .reason = change->reason,
    });
    return rc < 0 ? (int)rc : 0;
}
