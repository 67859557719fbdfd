/* deliveries.c - an event that a listener hears has a delivery: a check in a fine slot, filed by
 * the settle that writes the event, in the same transaction. Check 0 emits, check 1 is the
 * delivery. If it is still pending when another event is emitted, the delivery of that one is
 * another check, which is not followed here. */
#include "model.h"

#include <string.h>

enum { KEY_HAS_FAILURES = 1, KEY_HAS_SLOT_OF_DEFERRAL = 2, KEY_HAS_SLOT = 4, KEY_HAS_DATA = 8 };
enum { AFTER_THE_SETTLE, IN_THE_SETTLE, BEFORE_THE_SETTLE };

/* ---- keys ---- */

/* A key must be the same when the answered run is repeated after a failover that lost its settle:
 * by then the slot and the data may be others. A deferral leaves the counts of its check as they
 * are; only its slot tells it from the answer that comes after it. */
static struct letter letter_of(const struct model *m, const struct state *s, const struct request *r,
                               const struct item *item)
{
    int parts = m->rules.ekey;
    bool is_deferral = item->answer == ANSWER_DEFER;
    bool has_slot = parts & KEY_HAS_SLOT || (parts & KEY_HAS_SLOT_OF_DEFERRAL && is_deferral);
    struct letter letter = { .there = 1, .count = item->count, .deferral = is_deferral };
    if (parts & KEY_HAS_FAILURES)
        letter.fails = item->fails;
    if (has_slot)
        letter.slot = r->slot;
    if (parts & KEY_HAS_DATA)
        letter.other = s->replication == FAILED_OVER;
    return letter;
}

static bool same_run(struct letter a, struct letter b)
{
    return a.there && b.there && a.count == b.count && a.fails == b.fails;
}

static bool same_key(struct letter a, struct letter b)
{
    return same_run(a, b) && a.slot == b.slot && a.other == b.other;
}

/* A deferral that was lost may be repeated from another slot. */
static bool has_other_key(struct letter sent, struct letter letter)
{
    bool is_deferral = sent.deferral || letter.deferral;
    return same_run(sent, letter) && !same_key(sent, letter) && !is_deferral;
}

/* ---- filing ---- */

/* A delivery after the scenario's last slot is not followed either. */
static void file(const struct model *m, struct state *s, struct letter letter, int clock)
{
    struct row *row = &s->db.row[1];
    int slot = m->rules.ahead ? next_fine(m, clock) : clock;
    if (row->slot || slot > m->rules.slots)
        return;
    *row = (struct row){ .slot = (unsigned)slot & 7, .id = s->db.next_id++ & 15, .owed = 1,
                         .reborn = s->replication == FAILED_OVER };
    letter.filed = 0;
    s->post.pending = letter;
}

void emit(struct model *m, struct state *s, const struct request *r, const struct item *item)
{
    if (!m->rules.deliver || item->put_off || !r->hears)
        return;
    struct letter letter = letter_of(m, s, r, item);
    int n = 0;
    for (; n < LETTERS && s->post.event[n].there; n++)
        if (same_key(s->post.event[n], letter))
            breaks(m, SAME_KEY, "check 0 emits another event (count %d, failures %d), and both have one key",
                   item->count, item->fails);
    for (int i = 0; i < LETTERS; i++)
        if (has_other_key(s->sent[i], letter))
            breaks(m, OTHER_KEY,
                   "the run (count %d, failures %d) is repeated, and its event has another key than before",
                   item->count, item->fails);
    if (n == LETTERS)
        return;
    letter.filed = m->rules.within != AFTER_THE_SETTLE;
    s->post.event[n] = letter;
    if (m->rules.within == IN_THE_SETTLE)
        file(m, s, letter, r->at);
}

/* ---- planted mistakes: not in that transaction ---- */

void file_before_settle(const struct model *m, struct state *s, struct request *r)
{
    const struct item *item = &r->item[0];
    if (m->rules.within == BEFORE_THE_SETTLE && item->state && !item->put_off && r->hears)
        file(m, s, letter_of(m, s, r, item), s->clock);
}

void file_after_settle(const struct model *m, struct state *s, const struct request *r)
{
    bool is_written = r->item[0].state == ITEM_TOUCHED;
    for (int i = 0; m->rules.within == AFTER_THE_SETTLE && is_written && i < LETTERS; i++)
        if (s->post.event[i].there && !s->post.event[i].filed) {
            s->post.event[i].filed = 1;
            file(m, s, s->post.event[i], s->clock);
        }
}

bool is_event_without_delivery(const struct state *s)
{
    for (int i = 0; i < LETTERS; i++)
        if (s->post.event[i].there && !s->post.event[i].filed)
            return true;
    return false;
}

/* ---- the promises ---- */

static bool has_event(const struct state *s, struct letter pending)
{
    for (int i = 0; i < LETTERS; i++)
        if (same_key(s->post.event[i], pending))
            return true;
    return false;
}

void check_delivery(struct model *m, const struct state *s)
{
    struct letter pending = s->post.pending;
    if (!m->rules.deliver)
        return;
    if (!has_event(s, pending))
        breaks(m, NO_EVENT, "the delivery of an event (count %d, failures %d) that is not there is made",
               pending.count, pending.fails);
}

/* That a receiver has seen a key is not undone by a failover. */
void note_sent(const struct model *m, struct state *s)
{
    int n = 0;
    if (!m->rules.deliver || !m->rules.failover)
        return;
    for (; n < LETTERS && s->sent[n].there; n++)
        if (!memcmp(&s->sent[n], &s->post.pending, sizeof s->post.pending))
            return;
    if (n < LETTERS)
        s->sent[n] = s->post.pending;
}
