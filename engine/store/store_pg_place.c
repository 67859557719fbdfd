/* store_pg_place.c - places of concurrency keys: taking, renewing, giving back. */
#include "store_place.h"
#include "store_pg_ops.h"

/* Places as columns of parameters. */
struct place_columns { const char **keys; int32_t *lasts, *numbers; int64_t *tokens; };

static bool spread_places(struct arena *a, const struct store_place *places, int n, struct place_columns *c)
{
    size_t room = (size_t)n + 1;
    c->keys = arena_alloc(a, room * sizeof *c->keys);
    c->lasts = arena_alloc(a, room * sizeof *c->lasts);
    c->numbers = arena_alloc(a, room * sizeof *c->numbers);
    c->tokens = arena_alloc(a, room * sizeof *c->tokens);
    if (!c->keys || !c->lasts || !c->numbers || !c->tokens)
        return false;
    for (int i = 0; i < n; i++) {
        c->keys[i] = places[i].key;
        c->lasts[i] = places[i].lasts_s;
        c->numbers[i] = places[i].number;
        c->tokens[i] = places[i].token;
    }
    return true;
}

static bool take_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_take_places *t = (const struct store_take_places *)call;
    struct place_columns c;
    if (!spread_places(pg->arena, t->places, t->n, &c))
        return false;
    return pg_send(pg, PG_TAKE_PLACES, &(struct pg_take_places_in){
        .keys = { t->n, c.keys },
        .lasts = { t->n, c.lasts },
        .owner = t->owner,
        .engine = pg->engine,
        .lock_timeout = pg->lock_timeout,
    });
}

static int take_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_take_places *t = (struct store_take_places *)call;
    const PGresult *result = pg_result(pg, 0);
    for (int i = 0; i < t->n; i++)
        t->places[i].number = t->places[i].places = 0;
    for (int i = 0; i < PQntuples(result); i++) {
        struct pg_take_places_out row;
        if (!pg_row(pg, PG_TAKE_PLACES, result, i, &row) || row.n < 1 || row.n > t->n)
            return unreadable(call, "take_places");
        t->places[row.n - 1].number = row.number;
        t->places[row.n - 1].token = row.token;
        t->places[row.n - 1].places = row.places;
    }
    return 0;
}

static bool renew_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_renew_places *r = (const struct store_renew_places *)call;
    struct place_columns c;
    if (!spread_places(pg->arena, r->places, r->n, &c))
        return false;
    return pg_send(pg, PG_RENEW_PLACES, &(struct pg_renew_places_in){
        .keys = { r->n, c.keys },
        .numbers = { r->n, c.numbers },
        .tokens = { r->n, c.tokens },
        .lasts = { r->n, c.lasts },
        .owner = r->owner,
        .lock_timeout = pg->lock_timeout,
    });
}

static int renew_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_renew_places *r = (struct store_renew_places *)call;
    const PGresult *result = pg_result(pg, 0);
    for (int i = 0; i < r->n; i++)
        r->places[i].is_lost = true;
    for (int i = 0; i < PQntuples(result); i++) {
        struct pg_renew_places_out row;
        if (!pg_row(pg, PG_RENEW_PLACES, result, i, &row) || row.n < 1 || row.n > r->n)
            return unreadable(call, "renew_places");
        r->places[row.n - 1].is_lost = false;
        r->places[row.n - 1].is_wanted = row.is_wanted;
    }
    return 0;
}

static bool return_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_return_places *r = (const struct store_return_places *)call;
    struct place_columns c;
    if (!spread_places(pg->arena, r->places, r->n, &c))
        return false;
    return pg_send(pg, PG_RETURN_PLACES, &(struct pg_return_places_in){
        .keys = { r->n, c.keys },
        .numbers = { r->n, c.numbers },
        .tokens = { r->n, c.tokens },
        .owner = r->owner,
        .lock_timeout = pg->lock_timeout,
    });
}

const struct pg_operation
    pg_take_places = { .send = take_send, .receive = take_receive, .relaxes = true },
    pg_renew_places = { .send = renew_send, .receive = renew_receive, .relaxes = true },
    pg_return_places = { .send = return_send, .receive = nothing_to_receive, .relaxes = true };
