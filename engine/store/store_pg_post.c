/* store_pg_post.c - see store_post.h: one call of the function post_checks. Where nothing can be
 * wrong with its answer, it is one message, and not one to begin, one to file and one to commit. */
#include "../base/arena.h"
#include "store_pg.h"
#include "store_post.h"

struct columns {
    const char **uniqids, **contents, **entities, **keys, **jobs, **payloads, **conflicts, **concurrency_keys,
        **tenants;
    int64_t *times, *within_s;
    int32_t *are_after, *priorities;
};

/* False: there is no memory. */
static bool allocate(struct columns *c, struct arena *a, int n)
{
    const char ***const texts[] = { &c->uniqids, &c->contents, &c->entities, &c->keys, &c->jobs, &c->payloads,
                                    &c->conflicts, &c->concurrency_keys, &c->tenants };
    bool fits = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = arena_alloc(a, (size_t)n * sizeof **texts[i]);
        fits = fits && *texts[i];
    }
    c->times = arena_alloc(a, (size_t)n * sizeof *c->times);
    c->within_s = arena_alloc(a, (size_t)n * sizeof *c->within_s);
    c->are_after = arena_alloc(a, (size_t)n * sizeof *c->are_after);
    c->priorities = arena_alloc(a, (size_t)n * sizeof *c->priorities);
    return fits && c->times && c->within_s && c->are_after && c->priorities;
}

static void fill(struct columns *c, const struct post_item *items, int n)
{
    for (int i = 0; i < n; i++) {
        const struct post_item *item = &items[i];
        const struct load_row *row = &item->row;
        c->uniqids[i] = item->uniqid;
        c->contents[i] = item->content;
        c->entities[i] = row->entity_name;
        c->keys[i] = row->entity_key;
        c->jobs[i] = row->job_exec;
        c->payloads[i] = row->payload;
        c->conflicts[i] = item->conflict;
        c->concurrency_keys[i] = row->concurrency_key;
        c->tenants[i] = row->tenant;
        c->times[i] = row->at;
        c->within_s[i] = item->within_s;
        c->are_after[i] = item->is_after;
        c->priorities[i] = row->priority;
    }
}

static int take_results(struct pg_store *pg, const PGresult *r, int n, struct post_result *results,
                        struct err *err)
{
    struct pg_post_out row = { 0 };
    for (int i = 0; i < n; i++) {
        bool is_row = i < PQntuples(r) && pg_row(pg, PG_POST, r, i, &row);
        const char *word = is_row ? post_outcome_word(row.outcome) : NULL;
        if (!word)
            return err_set(err, ERR_LOST, "the database's answer to a post cannot be read");
        results[i] = (struct post_result){
            .outcome = word, .check_id = row.check_id, .filed_at = row.filed_at,
        };
        if (row.is_repeat)
            results[i].state = row.is_other ? POST_OTHER : POST_REPEATED;
    }
    return 0;
}

/* Runs the statement; the caller clears the result. NULL: err has the reason. */
static PGresult *run(struct pg_store *pg, const struct columns *c, int n, int64_t keep_s, bool at_once,
                     struct err *err)
{
    struct pg_post_in in = {
        .uniqids = { n, c->uniqids },
        .contents = { n, c->contents },
        .entities = { n, c->entities },
        .keys = { n, c->keys },
        .jobs = { n, c->jobs },
        .times = { n, c->times },
        .are_after = { n, c->are_after },
        .within_s = { n, c->within_s },
        .payloads = { n, c->payloads },
        .conflicts = { n, c->conflicts },
        .priorities = { n, c->priorities },
        .concurrency_keys = { n, c->concurrency_keys },
        .tenants = { n, c->tenants },
        .keep_s = keep_s,
        .lock_timeout = pg->lock_timeout,
    };
    if (at_once)
        return pg_run_at_once(pg, PG_POST, &in, err);
    return pg_run(pg, pg->side, PG_POST, PG_FORM_PLAIN, &in, err);
}

static int file_all(struct pg_store *pg, const struct post_item *items, int n, int64_t keep_s, bool at_once,
                    struct post_result *results, struct err *err)
{
    struct columns c;
    arena_reset(pg->arena);
    if (!allocate(&c, pg->arena, n))
        return err_set(err, ERR_NOMEM, "store: out of memory");
    fill(&c, items, n);
    PGresult *r = run(pg, &c, n, keep_s, at_once, err);
    int rc = r ? 0 : err->code;
    if (r && PQresultStatus(r) != PGRES_TUPLES_OK)
        rc = pg_fail(pg, err, r, pg->side);
    else if (r)
        rc = take_results(pg, r, n, results, err);
    PQclear(r);
    return rc;
}

/* What was filed is looked at before it is committed. */
static int post_in_steps(struct pg_store *pg, const struct post_item *items, int n,
                         const struct post_terms *terms, struct post_result *results, struct err *err)
{
    struct err of_rollback;
    int rc = pg_begin_blocking(pg, pg->side, PG_BEGIN, err);
    if (rc == 0)
        rc = file_all(pg, items, n, terms->keep_s, false, results, err);
    if (rc == 0)
        rc = post_check_all(results, n, terms->all, err);
    bool is_open = rc < 0 && rc != ERR_LOST;
    if (rc == 0)
        rc = pg_execute_text(pg, pg->side, "COMMIT", err);
    bool is_over = rc == 0 || (is_open && pg_execute_text(pg, pg->side, "ROLLBACK", &of_rollback) == 0);
    if (!is_over)                       /* nothing of it may be committed with what comes next */
        pg_side_close(pg);
    return rc;
}

static int post_once(struct pg_store *pg, const struct post_item *items, int n,
                     const struct post_terms *terms, struct post_result *results, struct err *err)
{
    if (!pg_side(pg, err))
        return err->code;
    if (terms->all || pg->pooled || pg->unprepared)
        return post_in_steps(pg, items, n, terms, results, err);
    int rc = file_all(pg, items, n, terms->keep_s, true, results, err);
    if (rc == ERR_LOST)
        pg_side_close(pg);
    return rc;
}

/* Nothing of it was filed, and the transaction that was in the way may be over. */
static bool may_go_well(const struct err *err, const struct post_terms *terms)
{
    return (terms->all && err->code == ERR_BUSY) || err->reason == ERR_REASON_COLLIDED;
}

/* Two arrays that have something in common, of two servers, wait for each other: all take their
 * locks in one order, but no lock is waited for longer than lock_timeout, and a thousand checks may
 * take longer than that. Whoever gives up holds nothing, so that the other one goes on. Of checks
 * that stand each for itself, the caller tries others first. */
int pg_post(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
            struct post_result *results, struct err *err)
{
    enum { TRIES = 8 };
    struct pg_store *pg = pg_store(st);
    int rc = post_once(pg, items, n, terms, results, err);
    for (int tried = 1; tried < TRIES && rc < 0 && may_go_well(err, terms); tried++)
        rc = post_once(pg, items, n, terms, results, err);
    return rc;
}
