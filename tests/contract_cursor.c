/* contract_cursor.c - the store's contract: cursors of named readers of events, and who reads by a
 * name. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store_contract.h"

#define ALICE "0000000000000000000000000000000a"
#define BOB "0000000000000000000000000000000b"
#define LEASE_MS "60000"

/* Texts that live until the test ends: reports have their own. */
struct held { const char *cursor, *token, *owner, *until_us; bool ours, found; };

static struct held held_of(struct store_rows rows)
{
    return rows.rows < 1 ? (struct held){ 0 } : (struct held){
        .cursor = cell(&rows, 0, "cursor"),
        .token = cell(&rows, 0, "token"),
        .owner = cell(&rows, 0, "owner"),
        .until_us = cell(&rows, 0, "until_us"),
        .ours = !strcmp(cell(&rows, 0, "ours"), "1"),
        .found = true,
    };
}
static struct held take_for(const char *who, const char *lease_ms)
{
    return held_of(REPORT("cursor_take", "mail", who, "host/1", lease_ms));
}
static struct held take_watched(const char *who, const struct held *seen)
{
    return held_of(REPORT("cursor_take", "mail", who, "host/1", LEASE_MS, seen->owner, seen->token,
                          seen->until_us));
}

/* Whether a report changed a row: it has one, with 1 in its only column. */
static bool changed(struct store_rows rows)
{
    CU_ASSERT(rows.rows >= 0);
    return rows.rows == 1 && !strcmp(rows.cells[0], "1");
}
static bool make(void) { return changed(REPORT("cursor_make", "mail")); }
static bool renew(const char *who, const struct held *h)
{
    return changed(REPORT("cursor_renew", "mail", who, h->token, LEASE_MS));
}
static bool release(const char *who, const struct held *h)
{
    return changed(REPORT("cursor_release", "mail", who, h->token));
}

struct place { char generation[24], xid[24], id[24]; };
static struct place place_of(const char *cursor)
{
    struct place p = { "", "", "" };
    CU_ASSERT_EQUAL_FATAL(sscanf(cursor, "%23[0-9]-%23[0-9]-%23[0-9]", p.generation, p.xid, p.id), 3);
    return p;
}
static bool move(const char *who, const struct held *h, const char *from, const char *to)
{
    struct place f = place_of(from), t = place_of(to);
    return changed(REPORT("cursor_move", "mail", who, h->token, LEASE_MS, f.generation, f.xid, f.id,
                          t.generation, t.xid, t.id, "0"));
}
static struct store_rows reset(const char *cursor)
{
    struct place p = place_of(cursor);
    return REPORT("cursor_reset", "mail", p.generation, p.xid, p.id);
}
static const char *shown(const char *column)
{
    struct store_rows rows = fixture_report("consumers", NULL, 0);
    return rows.rows == 1 ? cell(&rows, 0, column) : "not one row";
}

/* `n` events, each with its cursor. */
enum { EVENTS = 3 };
static void emit(const char *cursors[EVENTS])
{
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "late" };
    struct scene scene = scene_of(EVENTS);
    for (int i = 0; i < EVENTS; i++) {
        scene.answers[i].effects = &effect;
        scene.answers[i].neffects = 1;
    }
    IS(EVENTS, settle(&scene).touched);
    scene_end(&scene);
    struct store_rows rows = fixture_report("events", NULL, 0);
    CU_ASSERT_EQUAL_FATAL(rows.rows, EVENTS);
    for (int i = 0; i < EVENTS; i++)
        cursors[i] = cell(&rows, i, "cursor");
}

/* ---- the lease ---- */

void a_consumer_begins_with_the_oldest_event(void)
{
    WITH_STORE();
    CU_ASSERT(make());
    CU_ASSERT(!make());
    struct held h = take_for(ALICE, LEASE_MS);
    CU_ASSERT(h.ours);
    TEXT_IS("0-0-0", h.cursor);
    TEXT_IS(ALICE, h.owner);
}

void of_two_consumers_by_one_name_one_has_the_lease(void)
{
    WITH_STORE();
    make();
    struct held a = take_for(ALICE, LEASE_MS), b = take_for(BOB, LEASE_MS);
    CU_ASSERT(a.ours && b.found && !b.ours);
    TEXT_IS(ALICE, b.owner);
    TEXT_IS("host/1", shown("held_by"));
    CU_ASSERT(release(ALICE, &a));
    CU_ASSERT(take_for(BOB, LEASE_MS).ours);
}

void a_lease_that_has_expired_is_taken(void)
{
    WITH_STORE();
    make();
    struct held a = take_for(ALICE, "0"), b = take_for(BOB, LEASE_MS);
    CU_ASSERT(a.ours && b.ours);
    CU_ASSERT(!renew(ALICE, &a));
    CU_ASSERT(!release(ALICE, &a));
    CU_ASSERT(renew(BOB, &b));
}

/* The clock of the database may have been set back: then it never expires. */
void a_lease_that_was_watched_unchanged_is_taken(void)
{
    WITH_STORE();
    make();
    struct held a = take_for(ALICE, LEASE_MS), seen = take_for(BOB, LEASE_MS);
    struct timespec tick = { .tv_nsec = 2000000 };
    nanosleep(&tick, NULL);                     /* a renewal in the same microsecond changes nothing */
    CU_ASSERT(renew(ALICE, &a));
    CU_ASSERT(!take_watched(BOB, &seen).ours);
    seen = take_for(BOB, LEASE_MS);
    CU_ASSERT(take_watched(BOB, &seen).ours);
    CU_ASSERT(!renew(ALICE, &a));
}

void each_take_has_a_token_of_its_own(void)
{
    WITH_STORE();
    make();
    struct held first = take_for(ALICE, LEASE_MS), second = take_for(ALICE, LEASE_MS);
    CU_ASSERT(first.ours && second.ours && strcmp(first.token, second.token) != 0);
    CU_ASSERT(!renew(ALICE, &first));
    CU_ASSERT(renew(ALICE, &second));
}

void a_consumer_that_was_forgotten_is_not_found(void)
{
    WITH_STORE();
    CU_ASSERT(!take_for(ALICE, LEASE_MS).found);
    make();
    struct held a = take_for(ALICE, LEASE_MS);
    const char *cursors[EVENTS];
    emit(cursors);
    CU_ASSERT(changed(REPORT("cursor_forget", "mail")));
    CU_ASSERT(!changed(REPORT("cursor_forget", "mail")));
    CU_ASSERT(!take_for(ALICE, LEASE_MS).found);
    CU_ASSERT(!move(ALICE, &a, "0-0-0", cursors[0]));
}

/* ---- the cursor ---- */

void a_cursor_moves_from_where_it_was_read(void)
{
    WITH_STORE();
    const char *cursors[EVENTS];
    emit(cursors);
    make();
    struct held a = take_for(ALICE, LEASE_MS);
    TEXT_IS("3", shown("unread"));
    CU_ASSERT(move(ALICE, &a, "0-0-0", cursors[0]));
    CU_ASSERT(!move(ALICE, &a, "0-0-0", cursors[1]));           /* late, and sent again */
    CU_ASSERT(move(ALICE, &a, cursors[0], cursors[2]));
    CU_ASSERT(!move(ALICE, &a, cursors[0], cursors[1]));        /* it does not go back */
    TEXT_IS(cursors[2], shown("cursor"));
    TEXT_IS("0", shown("unread"));
    TEXT_IS("NULL", shown("oldest_unread_at"));
    TEXT_IS(cursors[2], take_for(ALICE, LEASE_MS).cursor);
}

void a_consumer_that_was_taken_over_moves_no_cursor(void)
{
    WITH_STORE();
    const char *cursors[EVENTS];
    emit(cursors);
    make();
    struct held a = take_for(ALICE, "0"), b = take_for(BOB, LEASE_MS);
    CU_ASSERT(!move(ALICE, &a, "0-0-0", cursors[0]));
    struct held both = { .token = b.token };
    CU_ASSERT(!move(ALICE, &both, "0-0-0", cursors[0]));        /* a token that was handed out twice */
    TEXT_IS("0-0-0", shown("cursor"));
    CU_ASSERT(move(BOB, &b, "0-0-0", cursors[0]));
}

void what_was_skipped_is_counted(void)
{
    WITH_STORE();
    const char *cursors[EVENTS];
    emit(cursors);
    make();
    struct held a = take_for(ALICE, LEASE_MS);
    struct place t = place_of(cursors[0]);
    CU_ASSERT(changed(REPORT("cursor_move", "mail", ALICE, a.token, LEASE_MS, "0", "0", "0", t.generation,
                             t.xid, t.id, "1")));
    TEXT_IS("1", shown("skipped"));
}

void a_reset_takes_the_lease_away(void)
{
    WITH_STORE();
    const char *cursors[EVENTS];
    emit(cursors);
    CU_ASSERT(changed(reset(cursors[1])));                      /* made by it */
    TEXT_IS("1", shown("unread"));
    struct held a = take_for(ALICE, LEASE_MS);
    TEXT_IS(cursors[1], a.cursor);
    CU_ASSERT(!changed(reset(cursors[0])));
    TEXT_IS(cursors[0], shown("cursor"));
    CU_ASSERT(!move(ALICE, &a, cursors[0], cursors[2]));
    IS(-1, reset("0-99999999999-99999999999").rows);
    IS(ERR_INPUT, fixture_err.code);
    TEXT_IS(cursors[0], shown("cursor"));
}

void a_cursor_is_found_by_the_time_of_its_event(void)
{
    WITH_STORE();
    struct store_rows none = REPORT("events_from", "0");
    TEXT_IS("0-0-0", cell(&none, 0, "cursor"));
    const char *cursors[EVENTS];
    emit(cursors);
    struct store_rows all = REPORT("events_from", "0");
    struct place p = place_of(cell(&all, 0, "cursor"));
    IS(EVENTS, REPORT("events", p.generation, p.xid, p.id, NULL).rows);
    struct store_rows end = REPORT("events_from", "4102444800");
    TEXT_IS(cursors[2], cell(&end, 0, "cursor"));
}

/* ---- prune ---- */

void a_prune_tells_consumers_what_it_drops_unread(void)
{
    WITH_STORE();
    const char *cursors[EVENTS];
    emit(cursors);
    make();
    const char *before = text_of(time(NULL) - 7 * 86400);
    IS(0, REPORT("consumers_unread", before).rows);
    fixture_make_old(30);
    struct store_rows rows = REPORT("consumers_unread", before);
    IS(1, rows.rows);
    TEXT_IS("mail", cell(&rows, 0, "name"));
    TEXT_IS("3", cell(&rows, 0, "unread"));
    TEXT_IS("NULL", shown("pruned_at"));
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), time(NULL) - 7 * 86400, true, &counts, &fixture_err));
    TEXT_IS("NULL", shown("pruned_at"));
    IS(0, store_prune(fixture_store(), time(NULL) - 7 * 86400, false, &counts, &fixture_err));
    CU_ASSERT(strcmp(shown("pruned_at"), "NULL") != 0);
    IS(0, REPORT("consumers_unread", before).rows);
    reset("0-0-0");
    TEXT_IS("NULL", shown("pruned_at"));
}

void a_prune_of_what_was_read_is_no_loss(void)
{
    WITH_STORE();
    const char *cursors[EVENTS];
    emit(cursors);
    reset(cursors[2]);
    fixture_make_old(30);
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), time(NULL) - 7 * 86400, false, &counts, &fixture_err));
    CU_ASSERT(counts.events > 0);
    TEXT_IS("NULL", shown("pruned_at"));
}
