/* store_sqlite_place.c - places of concurrency keys: taking, renewing, giving back. A file has one
 * writer at a time, so nothing changes between the statements of a call. */
#include "store_place.h"
#include "store_sqlite_calls.h"

/* 0 or an ERR_. */
static int find_places(struct sqlite_store *db, const char *key, int32_t *most, struct err *err)
{
    struct sqlite_places_of_in in = { .key = key };
    struct sqlite_places_of_out row = { 0 };
    int rc = sqlite_ask(db, err, STATEMENT_PLACES_OF, &row, &in);
    *most = rc > 0 ? row.places : 1;
    return rc < 0 ? rc : 0;
}

static int take(struct sqlite_store *db, const struct store_take_places *req, struct store_place *place,
                int64_t clock_us, struct err *err)
{
    place->number = 0;
    int rc = find_places(db, place->key, &place->places, err);
    if (rc < 0)
        return rc;
    int64_t taken = sqlite_run(db, err, STATEMENT_PLACE_TAKE, &(struct sqlite_place_take_in){
        .key = place->key,
        .most = place->places,
        .owner = req->owner,
        .engine = db->engine,
        .clock_us = clock_us,
        .expires_us = clock_us + place->lasts_s * INT64_C(1000000),
        .lasts_s = place->lasts_s,
    });
    if (taken < 0)
        return (int)taken;
    if (taken == 0)
        return (int)sqlite_run(db, err, STATEMENT_PLACE_WANT, &(struct sqlite_place_want_in){
            .key = place->key,
            .owner = req->owner,
            .clock_us = clock_us,
        });
    struct sqlite_place_taken_out row = { 0 };
    rc = sqlite_ask(db, err, STATEMENT_PLACE_TAKEN, &row, &(struct sqlite_place_taken_in){
        .key = place->key,
        .owner = req->owner,
    });
    place->number = row.number;
    place->token = row.token;
    return rc < 0 ? rc : 0;
}

int sqlite_take_places(struct sqlite_store *db, struct store_call *call)
{
    struct store_take_places *req = (struct store_take_places *)call;
    int64_t clock_us = sqlite_clock_us(db);
    for (int i = 0; i < req->n; i++) {
        int rc = take(db, req, &req->places[i], clock_us, &call->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int renew(struct sqlite_store *db, const struct store_renew_places *req, struct store_place *place,
                 int64_t clock_us, struct err *err)
{
    int32_t most;
    int rc = find_places(db, place->key, &most, err);
    if (rc < 0)
        return rc;
    int64_t renewed = sqlite_run(db, err, STATEMENT_PLACE_RENEW, &(struct sqlite_place_renew_in){
        .key = place->key,
        .number = place->number,
        .most = most,
        .owner = req->owner,
        .token = place->token,
        .clock_us = clock_us,
        .expires_us = clock_us + place->lasts_s * INT64_C(1000000),
        .lasts_s = place->lasts_s,
    });
    place->is_lost = renewed == 0;
    if (renewed <= 0)
        return (int)renewed;
    struct sqlite_place_is_wanted_out row = { 0 };
    rc = sqlite_ask(db, err, STATEMENT_PLACE_IS_WANTED, &row, &(struct sqlite_place_is_wanted_in){
        .key = place->key,
        .number = place->number,
    });
    place->is_wanted = row.yes;
    return rc < 0 ? rc : 0;
}

int sqlite_renew_places(struct sqlite_store *db, struct store_call *call)
{
    struct store_renew_places *req = (struct store_renew_places *)call;
    int64_t clock_us = sqlite_clock_us(db);
    for (int i = 0; i < req->n; i++) {
        int rc = renew(db, req, &req->places[i], clock_us, &call->err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int sqlite_return_places(struct sqlite_store *db, struct store_call *call)
{
    const struct store_return_places *req = (const struct store_return_places *)call;
    for (int i = 0; i < req->n; i++) {
        int64_t rc = sqlite_run(db, &call->err, STATEMENT_PLACE_RETURN, &(struct sqlite_place_return_in){
            .key = req->places[i].key,
            .number = req->places[i].number,
            .owner = req->owner,
            .token = req->places[i].token,
        });
        if (rc < 0)
            return (int)rc;
    }
    return 0;
}
