/* places.c - see places.h. A key is kept as long as checks of it wait or places of it are not
 * free; it is in one of three lists, or in none. */
#include "places.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAITING_MOST = 256,             /* of a key; the others are put off, so that pages come to an end */
    ASK_AGAIN_US = 250 * 1000,
    PATIENCE_US = 1000 * 1000,
    PUT_OFF_S = 30,
    PUT_OFF_STEP = 1024,            /* each time so many were put off, the next ones are put off further */
    PUT_OFF_MOST_S = 3600,
};

enum place_state {
    PLACE_FREE,
    PLACE_HELD,
    PLACE_LOST,                     /* others may have it; a check that was started under it still runs */
    PLACE_ENDING,                   /* to be given back */
    PLACE_RETURNING,                /* the call that gives it back is under way */
    PLACE_STATES
};

struct place {
    enum place_state state;
    struct place_key *key;
    int32_t number, lasts_s;
    int64_t token;
    int64_t sent_us, sent_boot_us;  /* when the call was sent that took or renewed it last */
    bool is_wanted;
    bool is_told;                   /* LOST: places_next_lost has reported it */
    struct keyed_check *check;      /* admitted under it; NULL: none */
};

enum key_list { KEY_TO_ASK, KEY_ASKED_LATER, KEY_BUSY, KEY_LISTS, KEY_IN_NONE = KEY_LISTS };

struct place_key {
    const char *text;               /* behind the struct */
    TAILQ_HEAD(key_queue, keyed_check) waiting;
    int nwaiting;
    int nplaces, nheld;             /* places of it that are not free, and those that are held */
    int32_t most;                   /* places that the key has, as far as is known */
    int32_t lasts_s;                /* that its places have to last */
    bool is_asked;                  /* the call under way asks for it; it is in no list */
    int nrenewed;                   /* requests of the renewal under way that have its text */
    enum key_list list;
    TAILQ_ENTRY(place_key) in_list;
    int64_t ask_us;                 /* ASKED_LATER: not before */
    int64_t busy_since_us;          /* 0: it is not busy */
    int64_t nput_off;
};

struct call {
    bool is_under_way;
    struct store_place request[PLACES_MOST];
    struct place *places[PLACES_MOST];          /* of a renewal or return */
    struct place_key *keys[PLACES_MOST];        /* of a take or renewal */
    int n;
    int64_t sent_us, sent_boot_us;
};

struct places {
    struct places_options o;
    void *keys;                     /* a tree of them (tsearch), by their texts */
    TAILQ_HEAD(keys_in_list, place_key) lists[KEY_LISTS];
    struct place all[PLACES_MOST];
    int counts[PLACE_STATES];
    int64_t renew_us;               /* when the places held are to be renewed; never too late */
    int64_t oldest_boot_us;         /* of those held, the oldest sent_boot_us; never too late */
    struct call calls[PLACES_CALLS];
};

/* ---- keys ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct place_key *)a)->text, ((const struct place_key *)b)->text);
}

static struct place_key *find_key(const struct places *p, const char *text)
{
    struct place_key sought = { .text = text };
    struct place_key **found = tfind(&sought, &p->keys, by_text);
    return found ? *found : NULL;
}

static struct place_key *add_key(struct places *p, const char *text)
{
    size_t size = strlen(text) + 1;
    struct place_key *key = calloc(1, sizeof *key + size);
    if (!key)
        return NULL;
    key->text = memcpy(key + 1, text, size);
    if (!tsearch(key, &p->keys, by_text)) {
        free(key);
        return NULL;
    }
    key->most = 1;
    key->list = KEY_IN_NONE;
    TAILQ_INIT(&key->waiting);
    return key;
}

static void put_into(struct places *p, struct place_key *key, enum key_list list)
{
    if (key->list != KEY_IN_NONE)
        TAILQ_REMOVE(&p->lists[key->list], key, in_list);
    if (list != KEY_IN_NONE)
        TAILQ_INSERT_TAIL(&p->lists[list], key, in_list);
    key->list = list;
}

static void ask_later(struct places *p, struct place_key *key, int64_t now_us)
{
    key->ask_us = now_us + ASK_AGAIN_US;
    put_into(p, key, KEY_ASKED_LATER);
}

/* Something of it has changed: it goes where it belongs, and nowhere if nothing is left of it. */
static void consider(struct places *p, struct place_key *key)
{
    bool wants_more = key->nwaiting > 0 && key->nplaces < key->most;
    if (key->is_asked)
        return;
    if (wants_more && key->list == KEY_IN_NONE)
        put_into(p, key, KEY_TO_ASK);
    if (!key->nwaiting)
        put_into(p, key, KEY_IN_NONE);
    if (key->nwaiting || key->nplaces || key->nrenewed)
        return;
    tdelete(key, &p->keys, by_text);
    free(key);
}

static void enqueue(struct keyed_check *k, struct place_key *key, bool first)
{
    if (first)
        TAILQ_INSERT_HEAD(&key->waiting, k, in_queue);
    else
        TAILQ_INSERT_TAIL(&key->waiting, k, in_queue);
    k->queue = key;
    key->nwaiting++;
    if (k->lasts_s > key->lasts_s)
        key->lasts_s = k->lasts_s;
}

static void dequeue(struct place_key *key, struct keyed_check *k)
{
    TAILQ_REMOVE(&key->waiting, k, in_queue);
    key->nwaiting--;
    k->queue = NULL;
}

/* One that was decided without a run meanwhile (paused, or its job is gone) waits no more. */
static struct keyed_check *first_waiting(struct place_key *key)
{
    struct keyed_check *k;
    while ((k = TAILQ_FIRST(&key->waiting)) && k->page->checks[k->index].state != CHECK_KEYED)
        dequeue(key, k);
    return k;
}

/* ---- places ---- */

static void set_state(struct places *p, struct place *place, enum place_state to)
{
    p->counts[place->state]--;
    p->counts[to]++;
    place->key->nheld += (to == PLACE_HELD) - (place->state == PLACE_HELD);
    place->key->nplaces += (to != PLACE_FREE) - (place->state != PLACE_FREE);
    place->state = to;
}

static struct place *free_place(struct places *p)
{
    for (int i = 0; i < PLACES_MOST; i++)
        if (p->all[i].state == PLACE_FREE)
            return &p->all[i];
    return NULL;
}

/* What is held has changed. */
static void refresh(struct places *p)
{
    int64_t shorter_us = p->o.trust_us < p->o.lease_us ? p->o.trust_us : p->o.lease_us;
    p->renew_us = p->oldest_boot_us = INT64_MAX;
    for (int i = 0; i < PLACES_MOST && p->counts[PLACE_HELD]; i++) {
        const struct place *place = &p->all[i];
        if (place->state != PLACE_HELD)
            continue;
        bool is_short = !place->check && place->key->nwaiting;
        int64_t renew_us = is_short ? 0 : place->sent_us + shorter_us / 3;
        p->renew_us = renew_us < p->renew_us ? renew_us : p->renew_us;
        if (place->sent_boot_us < p->oldest_boot_us)
            p->oldest_boot_us = place->sent_boot_us;
    }
}

/* The first check that waits is admitted. If that needs a place that lasts for longer, this one is
 * renewed before. */
static void use(struct places *p, struct place *place)
{
    struct place_key *key = place->key;
    struct keyed_check *first = first_waiting(key);
    if (!first || place->is_wanted) {
        set_state(p, place, PLACE_ENDING);
        if (first && !key->nheld && !key->is_asked)     /* else the answer decides */
            put_into(p, key, KEY_BUSY);
        consider(p, key);
        return;
    }
    if (first->lasts_s > place->lasts_s) {
        p->renew_us = 0;
        return;
    }
    dequeue(key, first);
    place->check = first;
    first->place = place;
    page_admit(first);
    consider(p, key);
}

static void set_free(struct places *p, struct place *place)
{
    struct place_key *key = place->key;
    set_state(p, place, PLACE_FREE);
    consider(p, key);
}

/* Nothing runs under it any more. */
static void check_is_over(struct places *p, struct place *place)
{
    place->check->place = NULL;
    place->check = NULL;
    if (place->state == PLACE_HELD)
        use(p, place);
    else
        set_free(p, place);
}

/* ---- checks ---- */

enum places_added places_add(struct places *p, struct page *page, int index, int32_t lasts_s)
{
    const char *text = page->rows.checks[index].concurrency_key;
    struct place_key *key = find_key(p, text);
    if (key && key->nwaiting >= WAITING_MOST) {
        key->nput_off++;
        return PLACES_CROWDED;
    }
    if (!key)
        key = add_key(p, text);
    struct keyed_check *k = key ? page_hold(page, index) : NULL;
    if (k) {
        k->lasts_s = lasts_s;
        enqueue(k, key, false);
    }
    if (key)
        consider(p, key);
    return k ? PLACES_WAITS : PLACES_NO_MEMORY;
}

static bool may_run(const struct keyed_check *k)
{
    enum check_state state = (enum check_state)k->page->checks[k->index].state;
    return state == CHECK_WAITING || state == CHECK_GIVEN;
}

/* It is held again, as others may have its place. */
static void waits_again(struct places *p, struct keyed_check *k)
{
    struct place *place = k->place;
    k->place = NULL;
    k->has_lost_place = false;
    place->check = NULL;
    enqueue(k, place->key, true);
    set_free(p, place);
}

void places_collect(struct places *p, struct page *page)
{
    page->has_freed_places = false;
    for (int i = 0; i < page->rows.n; i++) {
        struct keyed_check *k = page->checks[i].keyed;
        if (!k || !k->place || may_run(k))
            continue;
        if (page->checks[i].state == CHECK_KEYED)
            waits_again(p, k);
        else
            check_is_over(p, k->place);
    }
}

void places_leave(struct places *p, struct page *page)
{
    for (int i = 0; page->nkeyed && i < page->rows.n; i++) {
        struct keyed_check *k = page->checks[i].keyed;
        struct place_key *key = k ? k->queue : NULL;
        if (!key)
            continue;
        dequeue(k->queue, k);
        consider(p, key);
    }
}

static int64_t put_off_s(const struct place_key *key)
{
    int64_t s = PUT_OFF_S * (1 + key->nput_off / PUT_OFF_STEP);
    return s < PUT_OFF_MOST_S ? s : PUT_OFF_MOST_S;
}

struct keyed_check *places_next_busy(struct places *p, int64_t *most_s)
{
    struct place_key *key;
    struct keyed_check *k = NULL;
    while (!k && (key = TAILQ_FIRST(&p->lists[KEY_BUSY]))) {
        k = first_waiting(key);
        if (!k)
            consider(p, key);
    }
    if (!k)
        return NULL;
    *most_s = put_off_s(key);
    key->nput_off++;
    dequeue(key, k);
    consider(p, key);
    return k;
}

int64_t places_crowded_s(const struct places *p, const char *text)
{
    const struct place_key *key = find_key(p, text);
    return key ? put_off_s(key) : PUT_OFF_S;
}

/* ---- calls ---- */

bool places_due(const struct places *p, enum places_call call, int64_t now_us)
{
    const struct place_key *later = TAILQ_FIRST(&p->lists[KEY_ASKED_LATER]);
    if (p->calls[call].is_under_way)
        return false;
    switch (call) {
    case PLACES_TAKE:
        return p->counts[PLACE_FREE] &&
               (TAILQ_FIRST(&p->lists[KEY_TO_ASK]) || (later && later->ask_us <= now_us));
    case PLACES_RENEW:
        return p->counts[PLACE_HELD] && p->renew_us <= now_us;
    default:
        return p->counts[PLACE_ENDING] > 0;
    }
}

int64_t places_next_us(const struct places *p)
{
    const struct place_key *later = TAILQ_FIRST(&p->lists[KEY_ASKED_LATER]);
    bool asks = later && p->counts[PLACE_FREE] && !p->calls[PLACES_TAKE].is_under_way;
    bool renews = p->counts[PLACE_HELD] && !p->calls[PLACES_RENEW].is_under_way;
    int64_t ask_us = asks ? later->ask_us : INT64_MAX;
    int64_t renew_us = renews ? p->renew_us : INT64_MAX;
    return ask_us < renew_us ? ask_us : renew_us;
}

static void fill_take(struct places *p, struct call *call, int64_t now_us)
{
    struct place_key *key;
    while ((key = TAILQ_FIRST(&p->lists[KEY_ASKED_LATER])) && key->ask_us <= now_us)
        put_into(p, key, KEY_TO_ASK);
    while (call->n < p->counts[PLACE_FREE] && (key = TAILQ_FIRST(&p->lists[KEY_TO_ASK]))) {
        put_into(p, key, KEY_IN_NONE);
        key->is_asked = true;
        call->keys[call->n] = key;
        call->request[call->n++] = (struct store_place){ .key = key->text, .lasts_s = key->lasts_s };
    }
}

static void fill(struct places *p, struct call *call, enum place_state state, enum place_state to)
{
    for (int i = 0; i < PLACES_MOST; i++) {
        struct place *place = &p->all[i];
        if (place->state != state)
            continue;
        bool waits = place->key->nwaiting && place->key->lasts_s > place->lasts_s;
        call->places[call->n] = place;
        call->keys[call->n] = place->key;
        call->request[call->n++] = (struct store_place){
            .key = place->key->text,
            .lasts_s = waits ? place->key->lasts_s : place->lasts_s,
            .number = place->number,
            .token = place->token,
        };
        set_state(p, place, to);
    }
}

struct store_place *places_begin(struct places *p, enum places_call which, int *n, int64_t now_us,
                                 int64_t boot_us)
{
    struct call *call = &p->calls[which];
    call->n = 0;
    call->is_under_way = true;
    call->sent_us = now_us;
    call->sent_boot_us = boot_us;
    if (which == PLACES_TAKE)
        fill_take(p, call, now_us);
    else if (which == PLACES_RENEW)
        fill(p, call, PLACE_HELD, PLACE_HELD);
    else
        fill(p, call, PLACE_ENDING, PLACE_RETURNING);
    for (int i = 0; which == PLACES_RENEW && i < call->n; i++)
        call->keys[i]->nrenewed++;
    *n = call->n;
    return call->request;
}

static void take_over(struct places *p, const struct call *call, int i)
{
    struct place *place = free_place(p);
    const struct store_place *r = &call->request[i];
    if (!place)                         /* no more were asked for than there is room for */
        return;
    *place = (struct place){
        .key = call->keys[i], .number = r->number, .lasts_s = r->lasts_s, .token = r->token,
        .sent_us = call->sent_us, .sent_boot_us = call->sent_boot_us,
    };
    set_state(p, place, PLACE_HELD);
    place->key->busy_since_us = 0;
    use(p, place);
}

/* While this engine has other places of the key, its checks go on. */
static void is_busy(struct places *p, struct place_key *key, int64_t now_us)
{
    if (!key->nwaiting || key->nheld) {
        key->busy_since_us = 0;
        ask_later(p, key, now_us);
        return;
    }
    if (!key->busy_since_us)
        key->busy_since_us = now_us;
    if (now_us - key->busy_since_us >= PATIENCE_US)
        put_into(p, key, KEY_BUSY);
    else
        ask_later(p, key, now_us);
}

void places_taken(struct places *p, bool worked, int64_t now_us)
{
    struct call *call = &p->calls[PLACES_TAKE];
    call->is_under_way = false;
    for (int i = 0; i < call->n; i++) {
        struct place_key *key = call->keys[i];
        key->is_asked = false;
        if (worked && call->request[i].places)
            key->most = call->request[i].places;
        if (worked && call->request[i].number) {
            take_over(p, call, i);
            continue;
        }
        if (worked)
            is_busy(p, key, now_us);
        else
            ask_later(p, key, now_us);
        consider(p, key);
    }
    refresh(p);
}

static void renewed(struct places *p, const struct call *call, int i)
{
    struct place *place = call->places[i];
    const struct store_place *r = &call->request[i];
    if (place->state != PLACE_HELD || place->token != r->token)
        return;                         /* given back meanwhile */
    place->is_wanted = place->is_wanted || r->is_wanted;
    if (r->is_lost) {
        set_state(p, place, PLACE_LOST);
        if (!place->check)
            set_free(p, place);
        return;
    }
    place->lasts_s = r->lasts_s;
    place->sent_us = call->sent_us;
    place->sent_boot_us = call->sent_boot_us;
    if (!place->check)
        use(p, place);
}

/* Places may be given back while they are renewed, and the store reads the texts of their keys when
 * it comes to it: until now each was kept. */
void places_renewed(struct places *p, bool worked, int64_t now_us)
{
    struct call *call = &p->calls[PLACES_RENEW];
    (void)now_us;
    call->is_under_way = false;
    for (int i = 0; i < call->n; i++) {
        if (worked)
            renewed(p, call, i);
        call->keys[i]->nrenewed--;
        consider(p, call->keys[i]);
    }
    refresh(p);
}

void places_returned(struct places *p, bool worked, int64_t now_us)
{
    struct call *call = &p->calls[PLACES_RETURN];
    (void)now_us;
    call->is_under_way = false;
    for (int i = 0; i < call->n; i++) {
        struct place *place = call->places[i];
        if (worked)
            set_free(p, place);
        else
            set_state(p, place, PLACE_ENDING);
    }
}

struct keyed_check *places_next_lost(struct places *p)
{
    for (int i = 0; i < PLACES_MOST && p->counts[PLACE_LOST]; i++) {
        struct place *place = &p->all[i];
        if (place->state != PLACE_LOST || place->is_told)
            continue;
        place->is_told = true;
        place->check->has_lost_place = true;
        return place->check;
    }
    return NULL;
}

void places_take_back(struct places *p, struct keyed_check *k)
{
    enum check_state state = (enum check_state)k->page->checks[k->index].state;
    if (!k->place || (state != CHECK_WAITING && state != CHECK_KEYED))
        return;
    if (state == CHECK_WAITING)
        page_hold_again(k);
    waits_again(p, k);
}

int64_t places_trust_until_us(const struct places *p)
{
    if (!p->counts[PLACE_HELD])
        return INT64_MAX;
    return health_trust_until_us(p->o.health, p->oldest_boot_us, p->o.trust_us);
}

bool places_hold_nothing(const struct places *p)
{
    return p->counts[PLACE_FREE] == PLACES_MOST;
}

/* ---- memory ---- */

struct places *places_new(const struct places_options *options)
{
    struct places *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->o = *options;
    for (int i = 0; i < KEY_LISTS; i++)
        TAILQ_INIT(&p->lists[i]);
    p->counts[PLACE_FREE] = PLACES_MOST;
    p->renew_us = p->oldest_boot_us = INT64_MAX;
    return p;
}

void places_free(struct places *p)
{
    if (p)
        tdestroy(p->keys, free);
    free(p);
}
