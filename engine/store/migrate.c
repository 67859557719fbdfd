/* migrate.c - which migrations are applied, in what order, and what is refused. No SQL: a dialect
 * gives the calls. */
#include "migrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"

struct migrate_run {
    const struct migrate_dialect *dialect;
    void *ctx;
    const struct sql_migration *steps;
    const struct migrate_options *options;
};

int migrate_newest(const struct sql_migration *steps)
{
    int newest = 0;
    for (const struct sql_migration *m = steps; m->name; m++)
        if (m->version > newest)
            newest = m->version;
    return newest;
}

int migrate_oldest_engine(const struct sql_migration *m)
{
    static const char label[] = "-- oldest engine:";
    const char *at = strstr(m->text, label);
    return at ? atoi(at + strlen(label)) : m->version;
}

/* The names are compared as far as both lists go. */
bool migrate_is_unreleased(const struct sql_migration *steps, const char *names)
{
    for (const struct sql_migration *m = steps; m->name && *names; m++) {
        size_t len = strcspn(names, " ");
        if (len != strlen(m->name) || memcmp(names, m->name, len) != 0)
            return true;
        names += len;
        names += strspn(names, " ");
    }
    return false;
}

enum migrate_fit migrate_fit(const struct sql_migration *steps, const struct migrate_state *found)
{
    int known = migrate_newest(steps);
    if (found->is_unreleased)           /* its numbers mean nothing here */
        return MIGRATE_UNRELEASED;
    if (found->oldest_engine > known)
        return MIGRATE_OUTGROWN;
    return found->version < known ? MIGRATE_BEHIND : MIGRATE_FITS;
}

static void report(const struct migrate_run *run, const struct sql_migration *m)
{
    if (run->options->applied)
        run->options->applied(run->options->ctx, m->version, m->name);
}

int migrate_refuse_unreleased(const char *where, const char *drop, struct err *err)
{
    return err_set(err, ERR_SCHEMA,
                   "%s was made by an unreleased version of prescient, and no migration leads from it to "
                   "this one: dump what you need, drop it (%s), and run `prescient init`",
                   where, drop);
}

static int refuse_misfit(const struct migrate_run *run, const struct migrate_state *found, struct err *err)
{
    const struct migrate_dialect *dialect = run->dialect;
    enum migrate_fit fit = migrate_fit(run->steps, found);
    if (fit == MIGRATE_UNRELEASED)
        return dialect->refuse_unreleased(run->ctx, err);
    return fit == MIGRATE_OUTGROWN ? dialect->refuse_newer(run->ctx, found, err) : 0;
}

/* 1: applied, with the text that this program has; 0: not applied. */
static int is_applied(const struct migrate_run *run, const struct sql_migration *m, struct err *err)
{
    char sha256[CHECKSUM_SIZE];
    struct migrate_applied applied = { .name = "" };
    int rc = run->dialect->find(run->ctx, m->version, &applied, err);
    if (rc <= 0)
        return rc;
    fingerprint_checksum(m->text, sha256);
    if (strcmp(applied.sha256, sha256) == 0)
        return 1;
    return run->dialect->refuse_changed(run->ctx, m, &applied, sha256, err);
}

static bool add_note(struct arena *a, const struct sql_migration *m, struct migrate_notes *notes)
{
    char *sha256 = arena_alloc(a, CHECKSUM_SIZE);
    if (!sha256)
        return false;
    fingerprint_checksum(m->text, sha256);
    notes->versions[notes->n] = m->version;
    notes->oldest_engines[notes->n] = migrate_oldest_engine(m);
    notes->names[notes->n] = m->name;
    notes->sha256s[notes->n++] = sha256;
    return true;
}

/* The first `n` of the steps. They are noted by one call, as each call is a round trip. */
static int record(const struct migrate_run *run, const struct sql_migration *steps, int n, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(0);
    struct migrate_notes notes = { 0 };
    size_t room = (size_t)n;
    bool is_noted = a && (notes.versions = arena_alloc(a, room * sizeof *notes.versions)) &&
                    (notes.oldest_engines = arena_alloc(a, room * sizeof *notes.oldest_engines)) &&
                    (notes.names = arena_alloc(a, room * sizeof *notes.names)) &&
                    (notes.sha256s = arena_alloc(a, room * sizeof *notes.sha256s));
    for (int i = 0; i < n && is_noted; i++)
        is_noted = add_note(a, &steps[i], &notes);
    if (!is_noted)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = run->dialect->record(run->ctx, &notes, err);
    return rc < 0 ? err_wrap(err, rc, "migration %s", steps[n - 1].name) : 0;
}

static int apply(const struct migrate_run *run, const struct sql_migration *m, struct err *err)
{
    int rc = run->dialect->apply(run->ctx, m->text, err);
    return rc < 0 ? err_wrap(err, rc, "migration %s", m->name) : 0;
}

static int read_state(const struct migrate_run *run, struct migrate_state *out, struct err *err)
{
    *out = (struct migrate_state){ 0 };
    int rc = run->dialect->read_state(run->ctx, out, err);
    return rc < 0 ? rc : refuse_misfit(run, out, err);
}

/* In a transaction of its caller. 1: applied now; 0: was there. */
static int apply_if_missing(const struct migrate_run *run, const struct sql_migration *m, struct err *err)
{
    struct migrate_state found;
    int applied = 0;
    int rc = read_state(run, &found, err);
    if (rc < 0)
        return rc;
    if (found.is_there)
        applied = is_applied(run, m, err);
    if (applied < 0)
        return applied;
    if (applied)
        return 0;
    rc = apply(run, m, err);
    if (rc >= 0)
        rc = record(run, m, 1, err);
    return rc < 0 ? rc : 1;
}

/* In a transaction of its own. 1: applied now; 0: was there. */
static int migrate_one(const struct migrate_run *run, const struct sql_migration *m, struct err *err)
{
    int applied = run->dialect->begin(run->ctx, err);
    if (applied >= 0)
        applied = apply_if_missing(run, m, err);
    if (applied < 0) {
        run->dialect->rollback(run->ctx);
        return applied;
    }
    int rc = run->dialect->commit(run->ctx, err);
    return rc < 0 ? rc : applied;
}

/* In a transaction of its caller, if it is still empty: another process may have been quicker.
 * Returns how many were applied. */
static int apply_all(const struct migrate_run *run, struct err *err)
{
    struct migrate_state found;
    int count = 0;
    int rc = read_state(run, &found, err);
    if (rc < 0 || found.version)
        return rc;
    for (const struct sql_migration *m = run->steps; m->name && rc >= 0; m++, count++)
        rc = apply(run, m, err);
    if (rc >= 0 && count)
        rc = record(run, run->steps, count, err);
    if (rc >= 0 && run->dialect->complete)
        rc = run->dialect->complete(run->ctx, err);
    return rc < 0 ? rc : count;
}

/* Of an empty database. Returns how many were applied; 0: another process has applied them. */
static int migrate_empty(const struct migrate_run *run, struct err *err)
{
    int count = run->dialect->begin(run->ctx, err);
    if (count >= 0)
        count = apply_all(run, err);
    if (count < 0) {
        run->dialect->rollback(run->ctx);
        return count;
    }
    int rc = run->dialect->commit(run->ctx, err);
    if (rc < 0)
        return rc;
    for (const struct sql_migration *m = run->steps; count && m->name; m++)
        report(run, m);
    return count;
}

static int apply_missing(const struct migrate_run *run, struct err *err)
{
    struct migrate_state found;
    int count = read_state(run, &found, err);
    if (count >= 0 && !found.version)
        count = migrate_empty(run, err);
    if (count != 0)
        return count;
    for (const struct sql_migration *m = run->steps; m->name; m++) {
        int applied = migrate_one(run, m, err);
        if (applied < 0)
            return applied;
        if (applied)
            report(run, m);
        count += applied;
    }
    return count;
}

static int count_missing(const struct migrate_run *run, struct err *err)
{
    int missing = 0;
    struct migrate_state found;
    int rc = read_state(run, &found, err);
    if (rc < 0)
        return rc;
    for (const struct sql_migration *m = run->steps; m->name; m++) {
        int applied = found.is_there ? is_applied(run, m, err) : 0;
        if (applied < 0)
            return applied;
        if (applied)
            continue;
        report(run, m);
        missing++;
    }
    return missing;
}

int migrate_run(const struct migrate_dialect *dialect, void *ctx, const struct sql_migration *steps,
                const struct migrate_options *options, struct err *err)
{
    const struct migrate_run run = { dialect, ctx, steps, options };
    return options->dry_run ? count_missing(&run, err) : apply_missing(&run, err);
}
