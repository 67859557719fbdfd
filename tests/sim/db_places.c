/* db_places.c - places of concurrency keys, as in migrations/pg/0014_places.sql and store_pg.sql:
 * taking, renewing, giving back, and how many a key has. */
#include <string.h>

#include "db.h"
#include "message.h"

/* ---- how many a key has ---- */

int32_t places_of(const struct db *db, int concurrency)
{
    if (db->limits[concurrency])
        return db->limits[concurrency];
    return db->limits[LIMIT_OF_ALL] ? db->limits[LIMIT_OF_ALL] : 1;
}

void concurrency_draw(struct db *db)
{
    struct world *w = db->w;
    for (int key = 0; key < KEYS_MAX; key++) {
        bool has_key = w->shape.concurrency_keys && world_chance(w, 600);
        db->rows[key].concurrency = has_key ? (int)world_between(w, 0, w->shape.concurrency_keys - 1) : -1;
    }
    for (int i = 0; i < LIMITS && w->shape.concurrency_keys; i++)
        db->limits[i] = world_chance(w, 250) ? (int32_t)world_between(w, 1, PLACES_OF_KEY) : 0;
    for (int i = 0; i < CONCURRENCY_MAX; i++)
        for (int k = 0; k < PLACES_OF_KEY; k++)
            db->places[i][k] = (struct place_row){ .concurrency = i, .number = k + 1 };
}

/* ---- transactions ---- */

/* The row with its lock held, `will` to be changed; NULL: another transaction holds it. */
static struct place_version *lock_place(struct tx *tx, struct place_row *place)
{
    if (place->by == tx)
        return &place->will;
    if (place->by)
        return NULL;
    place->by = tx;
    place->will = place->is;
    tx->places[tx->nplaces++] = place;
    return &place->will;
}

void places_committed(struct tx *tx)
{
    for (int i = 0; i < tx->nplaces; i++)
        tx->places[i]->is = tx->places[i]->will;
}

void places_unlock(struct tx *tx)
{
    for (int i = 0; i < tx->nplaces; i++)
        tx->places[i]->by = NULL;
    tx->nplaces = 0;
}

static struct place_row *place_at(struct db *db, const struct sent_place *s)
{
    bool is_one = s->concurrency >= 0 && s->number >= 1 && s->number <= PLACES_OF_KEY;
    return is_one ? &db->places[s->concurrency][s->number - 1] : NULL;
}

static bool is_ours(const struct place_row *place, const struct message *m, const struct sent_place *s)
{
    return place && place->is.exists && place->is.token == s->token &&
           !memcmp(place->is.owner, m->owner, STORE_OWNER_SIZE);
}

static bool has_expired(const struct db *db, const struct place_version *v)
{
    return v->expires_us <= db_clock_us(db);
}

bool place_is_held(const struct db *db, const struct place_row *place)
{
    return place->is.exists && !has_expired(db, &place->is);
}

/* ---- take ---- */

/* Where the database goes on in another history, a place may be missing whose run goes on. The
 * first one that asks begins the generation. */
static bool may_take(struct db *db, const struct message *m)
{
    int32_t longest_s = 0;
    if (db->generation_is_new) {
        db->generation_us = db_clock_us(db);
        db->generation_is_new = false;
    }
    for (int i = 0; i < m->nplaces; i++)
        longest_s = m->places[i].lasts_s > longest_s ? m->places[i].lasts_s : longest_s;
    return !db->generation_us || db->generation_us + longest_s * SECOND_US <= db_clock_us(db);
}

static bool is_ripe(const struct db *db, const struct place_row *place)
{
    bool ends_early = db->w->wrong[PLACE_ENDS_EARLY];
    int64_t early_us = ends_early ? place->is.lasts_s * SECOND_US * 4 / 5 : 0;
    return place->is.expires_us <= db_clock_us(db) + early_us && !place->by;
}

/* The lowest that is not there or has expired; NULL: none. */
static struct place_row *first_free(struct db *db, int concurrency, int32_t most)
{
    for (int i = 0; i < most; i++) {
        struct place_row *place = &db->places[concurrency][i];
        if (!place->is.exists || is_ripe(db, place))
            return place;
    }
    return NULL;
}

static bool holds_one(const struct db *db, int concurrency, const unsigned char *owner)
{
    for (int i = 0; i < PLACES_OF_KEY; i++) {
        const struct place_row *place = &db->places[concurrency][i];
        if (place_is_held(db, place) && !memcmp(place->is.owner, owner, STORE_OWNER_SIZE))
            return true;
    }
    return false;
}

/* Others who hold places are asked to give them back. One that would last for longer than its time
 * was taken before the clock was set back. */
static void ask_for_one(struct db *db, struct message *m, int concurrency)
{
    bool asks = !holds_one(db, concurrency, m->owner);
    for (int i = 0; i < PLACES_OF_KEY; i++) {
        struct place_row *place = &db->places[concurrency][i];
        int64_t most_us = db_clock_us(db) + place->is.lasts_s * SECOND_US;
        bool is_too_long = place->is.expires_us > most_us;
        bool is_to_be_asked = asks && !place->is.is_wanted;
        if (!place_is_held(db, place) || !(is_too_long || is_to_be_asked))
            continue;
        struct place_version *v = lock_place(m->tx, place);
        if (!v)
            continue;               /* SKIP LOCKED */
        v->is_wanted = true;
        v->expires_us = is_too_long ? most_us : v->expires_us;
    }
}

static enum served take_one(struct db *db, struct message *m, struct sent_place *s)
{
    s->places = places_of(db, s->concurrency);
    struct place_row *place = first_free(db, s->concurrency, s->places);
    if (!place) {
        ask_for_one(db, m, s->concurrency);
        return COMMITS;
    }
    struct place_version *v = lock_place(m->tx, place);
    if (!v)
        return BLOCKED;             /* another engine is inserting it */
    *v = (struct place_version){ .exists = true, .token = db->next_token++, .lasts_s = s->lasts_s,
                                 .expires_us = db_clock_us(db) + s->lasts_s * SECOND_US,
                                 .host = m->host, .start = m->start, .sent_boot_us = m->sent_boot_us };
    memcpy(v->owner, m->owner, sizeof v->owner);
    s->number = place->number;
    s->token = v->token;
    world_count(db->w, TALLY_PLACES);
    return COMMITS;
}

enum served db_take_places(struct db *db, struct message *m)
{
    tx_forget_rows(message_tx(db, m));
    for (int i = 0; i < m->nplaces; i++)
        m->places[i].number = m->places[i].places = 0;
    if (!may_take(db, m))
        return ANSWERED;
    for (int i = 0; i < m->nplaces; i++)
        if (take_one(db, m, &m->places[i]) == BLOCKED)
            return BLOCKED;
    return COMMITS;
}

/* ---- renew, give back ---- */

static enum served renew_one(struct db *db, struct message *m, struct sent_place *s)
{
    struct place_row *place = place_at(db, s);
    bool is_known = is_ours(place, m, s) && !has_expired(db, &place->is);
    s->is_lost = !is_known || (s->number > 1 && s->number > places_of(db, s->concurrency));
    if (s->is_lost) {
        s->is_lost = !db->w->wrong[PLACE_RENEWED_LATE];
        return COMMITS;
    }
    struct place_version *v = lock_place(m->tx, place);
    if (!v)
        return BLOCKED;
    v->lasts_s = s->lasts_s;
    v->expires_us = db_clock_us(db) + s->lasts_s * SECOND_US;
    if (m->sent_boot_us > v->sent_boot_us)              /* a delayed renewal may come last */
        v->sent_boot_us = m->sent_boot_us;
    s->is_wanted = v->is_wanted;
    return COMMITS;
}

enum served db_renew_places(struct db *db, struct message *m)
{
    tx_forget_rows(message_tx(db, m));
    for (int i = 0; i < m->nplaces; i++)
        if (renew_one(db, m, &m->places[i]) == BLOCKED)
            return BLOCKED;
    return COMMITS;
}

enum served db_return_places(struct db *db, struct message *m)
{
    tx_forget_rows(message_tx(db, m));
    for (int i = 0; i < m->nplaces; i++) {
        struct place_row *place = place_at(db, &m->places[i]);
        bool is_there = place && place->is.exists;
        if (!is_ours(place, m, &m->places[i]) && !(db->w->wrong[RETURN_IGNORES_TOKEN] && is_there))
            continue;
        struct place_version *v = lock_place(m->tx, place);
        if (!v)
            return BLOCKED;
        v->exists = false;
    }
    return COMMITS;
}
