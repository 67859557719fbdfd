/* contract_slot.c - the store's contract: slots are opened, swept and closed; leases are taken and
 * lost. */
#include <string.h>

#include "store_contract.h"

/* ---- opening --------------------------------------------------------------------------------- */

void opening_a_slot_counts_its_rows_once(void)
{
    WITH_STORE();
    put_in_slot(3);
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    IS(3, o.rows);
    IS(1, o.split);
    IS(SLOT_OPEN, o.state);
    o = open_slot(stranger, 60);
    IS(0, fixture_call(&o.call));
    IS(-1, o.rows);
    IS(SLOT_OPEN, o.state);
}

void an_empty_slot_waits_for_its_relook_and_has_nothing_to_take(void)
{
    WITH_STORE();
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    IS(0, o.rows);
    IS(0, o.ntaken);
    IS(0, o.nheld);
    IS(SLOT_RELOOK, o.state);
    IS(0, rows_in("leases"));
}

/* An engine's idea of the time may run ahead of the database's: opened too early, a slot could be
 * closed under an enqueue. */
void a_slot_that_has_not_begun_is_not_opened(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct store_open_slot o = open_slot(owner, 60);
    o.now = SLOT - 1;
    IS(ERR_BUSY, fixture_call(&o.call));
    CU_ASSERT_TRUE(o.not_begun);
    IS(0, o.ntaken);
    IS(0, rows_in("leases"));
    o = open_slot(owner, 60);
    o.slot = 253402300500;                          /* and by the database's own clock */
    o.now = 0;
    IS(ERR_BUSY, fixture_call(&o.call));
    CU_ASSERT_TRUE(o.not_begun);
    CU_ASSERT(llabs(o.clock_us - clock_wall_us(&clock_system)) < 60 * 1000000LL);
    o = open_slot(owner, 60);
    o.now = SLOT;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
}

void a_large_slot_is_split_where_the_store_splits(void)
{
    WITH_STORE();
    put_in_slot(5);
    struct store_open_slot o = open_slot(owner, 60);
    o.split_at = 4;
    IS(0, fixture_call(&o.call));
    IS(5, o.rows);
    IS(fixture_is_sqlite() ? 1 : 64, o.split);
    IS(o.split, o.ntaken);
    int seen = 0;
    for (int i = 0; i < o.ntaken; i++) {
        struct check_rows page = read_page(&o.taken[i], 10);
        seen += page.n;
        check_rows_free(&page);
    }
    IS(5, seen);
}

/* ---- leases ---------------------------------------------------------------------------------- */

void a_lease_is_taken_once(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct store_open_slot first = open_slot(owner, 60), second = open_slot(stranger, 60);
    IS(0, fixture_call(&first.call));
    IS(0, fixture_call(&second.call));
    IS(1, first.ntaken);
    IS(0, second.ntaken);
    CU_ASSERT_EQUAL_FATAL(second.nheld, 1);
    IS(first.taken[0].token, second.held[0].token);
    IS(first.taken[0].expires_us, second.held[0].expires_us);
    CU_ASSERT_EQUAL(memcmp(second.held[0].owner, owner, STORE_OWNER_SIZE), 0);
    IS(BUCKET_WHOLE_SLOT, first.taken[0].bucket);
    IS(1, rows_in("leases"));
}

void no_lease_is_taken_when_none_is_wanted(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct store_open_slot o = open_slot(owner, 60);
    o.want = 1;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
}

void an_expired_lease_is_taken_over_with_another_token(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct store_open_slot first = open_slot(owner, 0), second = open_slot(stranger, 60);
    IS(0, fixture_call(&first.call));
    IS(0, fixture_call(&second.call));
    IS(1, second.ntaken);
    CU_ASSERT(second.taken[0].token != first.taken[0].token);
    CU_ASSERT(second.taken[0].expires_us > first.taken[0].expires_us);
}

void a_lease_watched_unchanged_is_taken_over(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease held = take(), mine = take_over(&held);
    CU_ASSERT(mine.token != held.token);
    CU_ASSERT_EQUAL(memcmp(mine.owner, stranger, STORE_OWNER_SIZE), 0);
}

void a_lease_renewed_under_watch_stays(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease held = take(), watched = held;
    struct store_renew renew = STORE_RENEW_INIT;
    renew.leases = &held;
    renew.n = 1;
    renew.lease_s = 120;
    IS(0, fixture_call(&renew.call));
    struct store_open_slot o = open_slot(stranger, 60);
    o.watched = &watched;
    o.nwatched = 1;
    IS(0, fixture_call(&o.call));
    IS(0, o.ntaken);
    IS(1, o.nheld);
    IS(held.expires_us, o.held[0].expires_us);
}

void renewing_moves_the_expiry(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease held = take();
    int64_t before = held.expires_us;
    struct store_renew renew = STORE_RENEW_INIT;
    renew.leases = &held;
    renew.n = 1;
    renew.lease_s = 600;
    IS(0, fixture_call(&renew.call));
    CU_ASSERT_FALSE(renew.lost[0]);
    CU_ASSERT(held.expires_us > before + 500 * 1000000LL);
}

void renewing_a_lost_lease_says_so(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease old = take(), leases[2] = { old, take_over(&old) };
    struct store_renew renew = STORE_RENEW_INIT;
    renew.leases = leases;
    renew.n = 2;
    renew.lease_s = 60;
    IS(0, fixture_call(&renew.call));
    CU_ASSERT_TRUE(renew.lost[0]);
    CU_ASSERT_FALSE(renew.lost[1]);
}

void a_lease_given_back_is_free(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease held = take();
    struct store_release release = STORE_RELEASE_INIT;
    release.leases = &held;
    release.n = 1;
    IS(0, fixture_call(&release.call));
    IS(0, rows_in("leases"));
    struct store_open_slot o = open_slot(stranger, 60);
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
}

void giving_back_a_lost_lease_leaves_the_new_one(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease old = take();
    take_over(&old);
    struct store_release release = STORE_RELEASE_INIT;
    release.leases = &old;
    release.n = 1;
    IS(0, fixture_call(&release.call));
    IS(1, rows_in("leases"));
}

void a_slot_that_was_run_is_not_taken_again_unasked(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    CU_ASSERT(finish(&scene.lease));
    put("late", SLOT, "keep", BEFORE);
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    IS(0, o.ntaken);
    IS(SLOT_RELOOK, o.state);
    o.again = true;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
    scene_end(&scene);
}

void a_slot_is_taken_again_only_for_jobs_known_here(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    CU_ASSERT(finish(&scene.lease));
    put("late", SLOT, "keep", BEFORE);
    static const char *const others[] = { "bill", "it's" }, *const known[] = { "bill", "look" };
    struct store_open_slot o = open_slot(owner, 60);
    o.again = true;
    o.jobs = others;
    o.njobs = 2;
    IS(0, fixture_call(&o.call));
    IS(0, o.ntaken);
    o.jobs = known;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
    scene_end(&scene);
}

/* ---- slots that are not over ----------------------------------------------------------------- */

void a_relook_closes_what_is_done_and_empty(void)
{
    WITH_STORE();
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    struct store_relook r = relook();
    IS(1, r.closed);
    IS(0, r.n);
    IS(0, fixture_call(&o.call));
    IS(SLOT_CLOSED, o.state);
    IS(0, relook().closed);
}

void a_relook_returns_a_slot_that_was_never_finished(void)
{
    WITH_STORE();
    put_in_slot(1);
    take();
    struct store_relook r = relook();
    IS(0, r.closed);
    CU_ASSERT_EQUAL_FATAL(r.n, 1);
    IS(SLOT, r.slots[0].slot);
    CU_ASSERT(r.slots[0].undone);
    CU_ASSERT(r.slots[0].has_rows);
}

void a_relook_returns_a_slot_that_holds_rows_again(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    CU_ASSERT(finish(&scene.lease));
    put("late", SLOT, "keep", BEFORE);
    struct store_relook r = relook();
    CU_ASSERT_EQUAL_FATAL(r.n, 1);
    CU_ASSERT_FALSE(r.slots[0].undone);
    CU_ASSERT(r.slots[0].has_rows);
    scene_end(&scene);
}

/* Taken by an engine that died, of a slot that others found empty meanwhile: nobody would ever
 * want it again. */
void a_relook_removes_an_expired_lease_on_a_closed_slot(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    CU_ASSERT(finish(&scene.lease));
    put("late", SLOT, "keep", BEFORE);
    struct store_open_slot dead = open_slot(owner, 0), alive = open_slot(stranger, 60);
    dead.again = true;
    IS(0, fixture_call(&dead.call));
    CU_ASSERT_EQUAL_FATAL(dead.ntaken, 1);
    resolve("late");
    relook();                                       /* closes */
    relook();
    IS(0, rows_in("leases"));
    put("later", SLOT, "keep", BEFORE);
    alive.again = true;
    IS(0, fixture_call(&alive.call));
    resolve("later");
    relook();
    relook();
    IS(1, rows_in("leases"));                       /* it has not expired: its engine lives */
    scene_end(&scene);
}

static int64_t late_slot(int64_t from, int64_t before, bool full)
{
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    l.from = from;
    l.before = before;
    l.full = full;
    IS(0, fixture_call(&l.call));
    return l.slot;
}

/* Twice: the first call may only note it. */
static void mark_swept(int64_t slot)
{
    struct store_mark_swept m = STORE_MARK_SWEPT_INIT;
    m.slot = slot;
    IS(0, fixture_call(&m.call));
    IS(0, fixture_call(&m.call));
}

void late_slots_are_found_from_the_mark_on(void)
{
    WITH_STORE();
    IS(0, late_slot(0, NOW, false));
    put("1", SLOT - 2 * LENGTH, "keep", SLOT - 3 * LENGTH);
    put("2", SLOT, "keep", BEFORE);
    IS(SLOT - 2 * LENGTH, late_slot(0, SLOT + LENGTH, false));
    IS(0, late_slot(0, SLOT - 2 * LENGTH, false));                  /* `before` is not looked at */
    resolve("1");
    mark_swept(SLOT - LENGTH);
    put("1", SLOT - 2 * LENGTH, "keep", SLOT - 3 * LENGTH);
    IS(SLOT, late_slot(0, SLOT + LENGTH, false));
    IS(SLOT, late_slot(SLOT - LENGTH, SLOT + LENGTH, false));
    IS(SLOT - 2 * LENGTH, late_slot(SLOT - 2 * LENGTH, SLOT + LENGTH, false));
}

void a_full_look_finds_what_lies_below_the_mark(void)
{
    WITH_STORE();
    mark_swept(SLOT);
    put("1", SLOT - 2 * LENGTH, "keep", SLOT - 3 * LENGTH);
    IS(0, late_slot(0, SLOT + LENGTH, false));
    IS(SLOT - 2 * LENGTH, late_slot(0, SLOT + LENGTH, true));
    IS(0, late_slot(0, SLOT - 2 * LENGTH, true));
}

void a_mark_ahead_of_the_clock_counts_for_nothing(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct store_mark_swept m = STORE_MARK_SWEPT_INIT;
    /* a run in virtual time, or a clock that came back from the future */
    m.slot = 253402300500;
    IS(0, fixture_call(&m.call));
    struct store_late_slot late = STORE_LATE_SLOT_INIT;
    late.before = SLOT + LENGTH;
    IS(0, fixture_call(&late.call));
    IS(SLOT, late.slot);
    resolve("1");
    mark_swept(SLOT + LENGTH);
    put_in_slot(1);
    IS(0, fixture_call(&late.call));
    IS(0, late.slot);
}

/* Whoever is started once in a while learns from it how long ago the last one was. */
void a_full_look_is_noted_when_the_mark_is_moved(void)
{
    WITH_STORE();
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    IS(0, hello.full_look_at);
    mark_swept(SLOT);
    IS(0, fixture_call(&hello.call));
    IS(0, hello.full_look_at);
    struct store_mark_swept m = STORE_MARK_SWEPT_INIT;
    m.slot = SLOT;
    m.full = true;
    IS(0, fixture_call(&m.call));
    IS(0, fixture_call(&hello.call));
    CU_ASSERT(llabs(hello.now_us / 1000000 - hello.full_look_at) < 60);
    IS(0, fixture_call(&m.call));               /* and again */
    IS(0, fixture_call(&hello.call));
    CU_ASSERT(llabs(hello.now_us / 1000000 - hello.full_look_at) < 60);
}

void the_mark_of_the_sweep_only_moves_up(void)
{
    WITH_STORE();
    mark_swept(SLOT);
    put("1", SLOT - LENGTH, "keep", SLOT - 3 * LENGTH);
    mark_swept(SLOT - 9 * LENGTH);
    IS(0, late_slot(0, SLOT + LENGTH, false));
}

void days_are_kept_ahead(void)
{
    WITH_STORE();
    struct store_keep_days k = STORE_KEEP_DAYS_INIT;
    k.days = 2;
    IS(0, fixture_call(&k.call));
    IS(0, fixture_call(&k.call));
    IS(0, k.made);
}
