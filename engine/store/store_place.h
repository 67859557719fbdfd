/* store_place.h - concurrency keys: what an engine asks of a store so that no more checks of a key
 * run at the same moment than it has places. tests/model/README.md has the rules.
 *
 * A place lasts for so many seconds each time it is taken or renewed, by the database's clock: as
 * long as a run may last that is started in the trust window, which begins when the call is sent.
 * So a run has ended before its place can be another engine's. */
#ifndef PRESCIENT_STORE_PLACE_H
#define PRESCIENT_STORE_PLACE_H

#include "store.h"

enum { PLACES_MOST = 512 };         /* in one call */

struct store_place {
    const char *key;                /* of the caller; each once in a call that takes, in any order */
    int32_t lasts_s;
    /* Of a place that is held: 1 or more, and the token it was taken with, which is valid only
     * together with the owner. Out of a call that takes; `number` 0: no place of the key was
     * free. */
    int32_t number;
    int64_t token;
    int32_t places;                 /* out of a call that takes: how many the key has */
    /* out of a renewal */
    bool is_lost;                   /* it is no longer ours, or no longer a place of the key */
    bool is_wanted;                 /* another engine has asked for a place of the key and got none */
};

/* Takes a place of each key, the lowest that is free or has expired. It waits for nobody: a place
 * that another engine is just taking counts as held. Where none is free, those who hold the key's
 * places are asked to give them back, unless this engine has one of them.
 *
 * Where the database goes on in another history (restored, promoted, restarted), none is taken
 * until it is as old as the places last. */
struct store_take_places {
    struct store_call call;
    struct store_place *places;     /* in and out */
    int n;                          /* at most PLACES_MOST */
    const unsigned char *owner;     /* STORE_OWNER_SIZE bytes */
};
#define STORE_TAKE_PLACES_INIT { .call.op = STORE_TAKE_PLACES }

/* Renews places in one statement, each for itself. One that has expired is not renewed. */
struct store_renew_places {
    struct store_call call;
    struct store_place *places;     /* in and out */
    int n;
    const unsigned char *owner;
};
#define STORE_RENEW_PLACES_INIT { .call.op = STORE_RENEW_PLACES }

/* Gives places back. Those that are no longer ours are skipped, so it may be sent again. */
struct store_return_places {
    struct store_call call;
    const struct store_place *places;
    int n;
    const unsigned char *owner;
};
#define STORE_RETURN_PLACES_INIT { .call.op = STORE_RETURN_PLACES }

#endif
