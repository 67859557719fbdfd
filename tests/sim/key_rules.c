/* key_rules.c - no more runs of a concurrency key go on than it has places, over all hosts; and no
 * key stands still. */
#include "key_rules.h"

#include <stdlib.h>
#include <string.h>

#include "../../engine/wire/slab.h"
#include "host.h"

/* What is found busy is put off by so much at most; then its slot is opened like any other. */
enum { BUSY_MOST_US = 30 * 1000 * 1000, BUSY_FOR_US = 2 * 1000 * 1000 };

/* ---- how long things last ---- */

/* From the sending of a take or renewal to the end of the last run under it; as a place lasts. */
static int64_t lasts_us(const struct settings *s)
{
    int64_t timeout_us = s->defaults.timeout_us;
    int64_t run_us = s->defaults.batch_timeout_us > timeout_us ? s->defaults.batch_timeout_us : timeout_us;
    int64_t us = s->trust_us + run_us + s->kill_grace_us + SLAB_DEADLINE_SLACK_US;
    us = us > s->lease_us ? us : s->lease_us;
    return (us / SECOND_US + 1) * SECOND_US;
}

static int64_t longest_us(const struct world *w)
{
    int64_t most_us = 0;
    for (int i = 0; i < w->shape.hosts; i++) {
        int64_t us = lasts_us(&w->hosts[i].settings);
        most_us = us > most_us ? us : most_us;
    }
    return most_us;
}

bool key_rules_clock_is_good(const struct world *w, const struct key_rules *k)
{
    return !k->set_forward_us || w->now_us > k->set_forward_us + longest_us(w);
}

/* ---- how many may go on ---- */

void key_rules_limits_change(const struct world *w, struct key_rules *k)
{
    for (int i = 0; i < CONCURRENCY_MAX; i++) {
        int at = k->nold[i]++ % OLD_LIMITS_MAX;
        k->old[i][at] = (struct old_limit){ places_of(w->db, i), w->now_us };
    }
}

/* A number that was lowered counts for as long as a place lasts. */
static int32_t most_of(const struct world *w, const struct key_rules *k, int concurrency)
{
    int32_t most = places_of(w->db, concurrency);
    int64_t since_us = w->now_us - longest_us(w);
    for (int i = 0; i < OLD_LIMITS_MAX && i < k->nold[concurrency]; i++) {
        const struct old_limit *old = &k->old[concurrency][i];
        if (old->until_us >= since_us && old->places > most)
            most = old->places;
    }
    return most;
}

/* ---- runs ---- */

static void remove_going(const struct world *w, struct key_rules *k, int i)
{
    k->ended_us[k->going[i].concurrency] = w->now_us;
    k->going[i] = k->going[--k->ngoing];
}

/* One whose deadline has passed is over: its worker was ended, or is on a host that is suspended,
 * and will be as it wakes. */
static void drop_late(const struct world *w, struct key_rules *k)
{
    for (int i = k->ngoing - 1; i >= 0; i--) {
        const struct host *h = &w->hosts[k->going[i].host];
        bool stands_still = h->asleep_since_us != 0;
        if ((k->going[i].is_left || stands_still) && host_boot_us(h) >= k->going[i].deadline_boot_us)
            remove_going(w, k, i);
    }
}

static int count_going(const struct key_rules *k, int concurrency, const struct host *h)
{
    int n = 0;
    for (int i = 0; i < k->ngoing; i++) {
        const struct going *g = &k->going[i];
        bool is_of_host = !h || (g->host == h->number && g->start == h->starts);
        n += g->concurrency == concurrency && is_of_host;
    }
    return n;
}

static void no_more_go_on_than_there_are_places(struct world *w, const struct key_rules *k,
                                                const struct run *run, int concurrency)
{
    int n = count_going(k, concurrency, NULL), most = most_of(w, k, concurrency);
    if (n > most && key_rules_clock_is_good(w, k))
        world_violate(w, "with check %d on host %d, %d runs of key c%d go on; it has %d places", run->key,
                      run->host, n, concurrency, most);
}

/* By the database's own rows: the engine has a place for each run, and the last take or renewal of
 * one of them was sent within the trust window. */
static void no_run_begins_without_its_place(struct world *w, const struct key_rules *k,
                                            const struct run *run, int concurrency)
{
    const struct host *h = &w->hosts[run->host];
    int going = count_going(k, concurrency, h), held = 0, trusted = 0;
    for (int i = 0; i < PLACES_OF_KEY; i++) {
        const struct place_row *place = &w->db->places[concurrency][i];
        bool is_its = !memcmp(place->is.owner, engine_owner(h->engine), STORE_OWNER_SIZE);
        if (!is_its || !place_is_held(w->db, place))
            continue;
        held++;
        trusted += host_boot_us(h) < place->is.sent_boot_us + h->settings.trust_us;
    }
    if (going > held || !trusted)
        world_violate(w, "host %d begins a run of check %d, and then has %d runs of key c%d, %d places, %d "
                      "of them within its trust window", run->host, run->key, going, concurrency, held,
                      trusted);
}

void key_rules_run_begins(struct world *w, struct key_rules *k, const struct run *run, int number)
{
    int concurrency = w->db->rows[run->key].concurrency;
    const struct host *h = &w->hosts[run->host];
    if (concurrency < 0)
        return;
    drop_late(w, k);
    if (k->ngoing == GOING_MAX)
        abort();
    k->going[k->ngoing++] = (struct going){ .number = number, .concurrency = concurrency, .host = run->host,
                                            .start = h->starts, .deadline_boot_us = run->deadline_boot_us };
    world_count(w, TALLY_KEYED_RUNS);
    no_more_go_on_than_there_are_places(w, k, run, concurrency);
    if (!checker_has_lost_rows(w))
        no_run_begins_without_its_place(w, k, run, concurrency);
}

void key_rules_run_ends(const struct world *w, struct key_rules *k, int number)
{
    for (int i = 0; i < k->ngoing; i++)
        if (k->going[i].number == number && !k->going[i].is_left) {
            remove_going(w, k, i);
            return;
        }
}

void key_rules_run_is_left(struct key_rules *k, int number)
{
    for (int i = 0; i < k->ngoing; i++)
        if (k->going[i].number == number)
            k->going[i].is_left = true;
}

void key_rules_run_has_until(struct key_rules *k, int number, int64_t boot_us)
{
    for (int i = 0; i < k->ngoing; i++)
        if (k->going[i].number == number)
            k->going[i].deadline_boot_us = boot_us;
}

/* ---- waiting ---- */

static bool is_found_busy(const struct tx *tx, int64_t id)
{
    for (int i = 0; i < tx->nrecords; i++) {
        const struct record *r = &tx->records[i];
        if (r->id == id && r->kind == RECORD_PUT_OFF && r->outcome == OUTCOME_BUSY)
            return true;
    }
    return false;
}

void key_rules_commit(struct world *w, struct key_rules *k, const struct tx *tx)
{
    for (int i = 0; i < tx->nrows; i++) {
        const struct row *row = tx->rows[i];
        bool goes_on = row->is.exists && row->will.exists && row->is.id == row->will.id;
        if (goes_on && is_found_busy(tx, row->is.id)) {
            world_count(w, TALLY_BUSY);
            continue;
        }
        if (goes_on && row->is.next_at == row->will.next_at)
            continue;
        int64_t slot_us = row->will.next_at * SECOND_US - w->db->clock_offset_us;
        k->wanted_us[row->key] = slot_us > w->now_us ? slot_us : w->now_us;
    }
}

int64_t key_rules_idle_since_us(const struct key_rules *k, const struct row *row)
{
    int64_t ended_us = k->ended_us[row->concurrency], wanted_us = k->wanted_us[row->key];
    return ended_us > wanted_us ? ended_us : wanted_us;
}

int64_t key_rules_may_wait_us(const struct world *w, bool was_killed)
{
    return BUSY_FOR_US + BUSY_MOST_US + (was_killed ? longest_us(w) : 0);
}
