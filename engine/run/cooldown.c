/* cooldown.c - a small table, searched from its beginning: it is nearly always empty. */
#include "cooldown.h"

static const int64_t first_us = 60 * 1000000LL, most_us = 3600 * 1000000LL,
                     corrupt_us = 24 * 3600 * 1000000LL;

static bool is_same(const struct cooldown_key *a, const struct cooldown_key *b)
{
    return a->kind == b->kind && a->number == b->number;
}

static int place_of(const struct cooldowns *all, const struct cooldown_key *key)
{
    for (int i = 0; i < all->n; i++)
        if (is_same(&all->entries[i].key, key))
            return i;
    return -1;
}

static struct cooldown *entry_for(struct cooldowns *all, const struct cooldown_key *key)
{
    int place = place_of(all, key);
    if (place >= 0)
        return &all->entries[place];
    if (all->n < COOLDOWN_MAX)
        place = all->n++;
    else
        for (int i = place = 0; i < COOLDOWN_MAX; i++)
            if (all->entries[i].until_us < all->entries[place].until_us)
                place = i;
    all->entries[place] = (struct cooldown){ .key = *key };
    return &all->entries[place];
}

static int64_t next_pause_us(const struct cooldown *c, enum cooldown_reason reason)
{
    if (reason == COOLDOWN_CORRUPT)
        return corrupt_us;
    if (!c->pause_us)
        return first_us;
    return c->pause_us < most_us / 2 ? c->pause_us * 2 : most_us;
}

void cooldown_start(struct cooldowns *all, struct cooldown_key key, enum cooldown_reason reason,
                    int64_t now_us)
{
    struct cooldown *c = entry_for(all, &key);
    c->pause_us = next_pause_us(c, reason);
    c->until_us = now_us + c->pause_us;
    c->reason = reason;
}

bool cooldown_is_on(const struct cooldowns *all, struct cooldown_key key, int64_t now_us)
{
    int place = place_of(all, &key);
    return place >= 0 && now_us < all->entries[place].until_us;
}

void cooldown_end_held(struct cooldowns *all)
{
    for (int i = 0; i < all->n; i++)
        if (all->entries[i].reason == COOLDOWN_HELD)
            all->entries[i].until_us = 0;
}

bool cooldown_may_log(struct cooldowns *all, struct cooldown_key key, int64_t now_us)
{
    if (cooldown_is_on(all, key, now_us))
        return false;
    cooldown_start(all, key, COOLDOWN_LOGGED, now_us);
    return true;
}
