/* watch.c - which leases are watched, and for how long. */
#include "watch.h"

#include <string.h>

static bool is_same(const struct lease *a, const struct lease *b)
{
    return a->slot == b->slot && a->bucket == b->bucket && a->token == b->token &&
           a->expires_us == b->expires_us && !memcmp(a->owner, b->owner, STORE_OWNER_SIZE);
}

/* How long a lease must be seen unchanged before it is taken over: our lease time, or what its
 * owner may still have of a longer one. A lease of ours that no lane knows comes from an open whose
 * answer was lost: it is free for us at once. */
static int64_t patience_us(const struct watch_terms *terms, const struct lease *held)
{
    if (!memcmp(held->owner, terms->owner, STORE_OWNER_SIZE))
        return 0;
    int64_t remaining_us = held->expires_us - terms->database_us;
    if (!terms->database_us || remaining_us < terms->lease_us)
        return terms->lease_us;
    int64_t most_us = 10 * terms->lease_us;             /* beyond that the clock was set back */
    return remaining_us < most_us ? remaining_us : most_us;
}

static struct watched_lease seen(const struct watch *w, const struct watch_terms *terms,
                                 const struct lease *held)
{
    for (int i = w->n - 1; i >= 0; i--)
        if (is_same(&w->leases[i].lease, held))
            return w->leases[i];
    return (struct watched_lease){ *held, terms->now_us, patience_us(terms, held) };
}

static bool is_of_bucket(const struct lease *lease, const struct lease *all, int n)
{
    for (int i = 0; i < n; i++)
        if (all[i].bucket == lease->bucket)
            return true;
    return false;
}

static bool was_asked(uint64_t asked, const struct lease *lease)
{
    int bit = lease->bucket < 0 ? 0 : lease->bucket;
    return asked >> bit & 1;
}

void watch_note(struct watch *w, const struct watch_terms *terms, int64_t slot, uint64_t asked,
                const struct lease *held, int n)
{
    struct watched_lease kept[WATCH_MAX];
    int nkept = 0;
    for (int i = 0; i < n && nkept < WATCH_MAX; i++)
        kept[nkept++] = seen(w, terms, &held[i]);
    for (int i = 0; i < w->n && nkept < WATCH_MAX; i++) {
        const struct lease *known = &w->leases[i].lease;
        bool was_seen = was_asked(asked, known) || is_of_bucket(known, held, n);
        if (known->slot != slot || !was_seen)
            kept[nkept++] = w->leases[i];
    }
    memcpy(w->leases, kept, (size_t)nkept * sizeof *kept);
    w->n = nkept;
}

int watch_expired(const struct watch *w, int64_t slot, int64_t now_us, struct lease *out, int room)
{
    int n = 0;
    for (int i = 0; i < w->n && n < room; i++) {
        const struct watched_lease *one = &w->leases[i];
        if (one->lease.slot == slot && now_us - one->since_us >= one->patience_us)
            out[n++] = one->lease;
    }
    return n;
}
