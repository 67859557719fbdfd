/* receivers.c - one list, in no order. When room is needed, the one that was wanted least lately
 * leaves it. */
#include "receivers.h"

#include <stdlib.h>
#include <string.h>

#include "lookup.h"

/* analyze: -Wno-analyzer-malloc-leak: receivers_release() frees the list; gcc loses sight of it
 * where one of its pointers is set. */

static void forget_addresses(struct receiver *one)
{
    curl_slist_free_all(one->addresses);
    free(one->why);
    one->addresses = NULL;
    one->why = NULL;
    one->is_looked_up = one->is_wanted = false;
}

static void free_one(struct receiver *one)
{
    forget_addresses(one);
    place_release(&one->place);
    free(one);
}

void receivers_begin_batch(struct receivers *r)
{
    r->batch++;
}

/* The one that is not wanted now and was wanted least lately. */
static void make_room(struct receivers *r)
{
    int oldest = 0;
    for (int i = 1; i < r->n; i++)
        if (r->list[i]->batch < r->list[oldest]->batch)
            oldest = i;
    if (r->list[oldest]->batch == r->batch)
        return;
    free_one(r->list[oldest]);
    r->list[oldest] = r->list[--r->n];
}

static struct receiver *add(struct receivers *r, struct place *place)
{
    if (r->n == RECEIVERS_MAX)
        make_room(r);
    if (!r->list)
        r->list = calloc(RECEIVERS_MAX, sizeof(struct receiver *));
    if (!r->list || r->n == RECEIVERS_MAX)
        return NULL;
    struct receiver *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    r->list[r->n++] = one;
    one->place = *place;
    *place = (struct place){ .receiver = NULL };
    return one;
}

struct receiver *receivers_find(struct receivers *r, struct place *place)
{
    struct receiver *one = NULL;
    for (int i = 0; i < r->n && !one; i++)
        if (!strcasecmp(r->list[i]->place.receiver, place->receiver))
            one = r->list[i];
    if (one)
        place_release(place);
    else
        one = add(r, place);
    if (one && one->batch != r->batch) {
        one->batch = r->batch;
        forget_addresses(one);
    }
    return one;
}

/* ---- look-ups ---- */

/* What cannot be looked up, or need not be. */
static bool is_known(const struct receivers *r, struct receiver *one)
{
    char text[64];
    if (!lookup_is_address(one->place.host, text, sizeof text))
        return !r->are_looked_up;
    const char *what = r->rules ? address_refusal_of_text(r->rules, text) : NULL;
    if (what && asprintf(&one->why, "its address %s is %s, and in none of 'networks'", text, what) < 0)
        one->why = NULL;
    return true;
}

static bool has_to_be_looked_up(const struct receivers *r, struct receiver *one)
{
    bool is_new = one->batch == r->batch && one->is_wanted && !one->is_looked_up;
    one->is_looked_up = one->is_looked_up || (is_new && is_known(r, one));
    return is_new && !one->is_looked_up;
}

static void take(struct receiver *one, struct lookup_wish *w)
{
    one->is_looked_up = w->addresses || w->why;
    one->addresses = w->addresses ? curl_slist_append(NULL, w->addresses) : NULL;
    one->why = w->why;
    if (w->addresses && !one->addresses)
        one->is_looked_up = false;
    free(w->addresses);
}

void receivers_look_up(struct receivers *r, long timeout_ms)
{
    struct lookup_wish *wishes = calloc((size_t)r->n + 1, sizeof *wishes);
    int n = 0, k = 0;
    for (int i = 0; i < r->n && wishes; i++) {
        struct receiver *one = r->list[i];
        one->is_asked = has_to_be_looked_up(r, one);
        if (one->is_asked)
            wishes[n++] = (struct lookup_wish){ .host = one->place.host, .port = one->place.port };
    }
    if (n)
        lookup_all(wishes, n, timeout_ms, r->rules);
    for (int i = 0; i < r->n && k < n; i++)
        if (r->list[i]->is_asked)
            take(r->list[i], &wishes[k++]);
    free(wishes);
}

void receivers_release(struct receivers *r)
{
    for (int i = 0; i < r->n; i++)
        free_one(r->list[i]);
    free(r->list);
    *r = (struct receivers){ .list = NULL };
}
