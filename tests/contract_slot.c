/* contract_slot.c - the store's contract: slots opened, leases taken and lost, pages read, passes
 * finished, slots closed. */
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

static void put_in_slot(int n)
{
    static const char *const keys[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9" };
    for (int i = 0; i < n; i++)
        put(keys[i], SLOT, "keep", BEFORE);
}

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

/* ---- pages ----------------------------------------------------------------------------------- */

static struct store_read_page read_after(const struct lease *lease, struct page_cursor after, int want,
                                         size_t max_bytes)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.after = after;
    r.want = want;
    r.max_bytes = max_bytes;
    IS(0, fixture_call(&r.call));
    return r;
}

static struct page_cursor cursor_after(const struct check_rows *page)
{
    const struct check *last = &page->checks[page->n - 1];
    return (struct page_cursor){ .bucket = last->bucket, .priority = last->priority, .id = last->id };
}

static bool comes_after(const struct check *c, const struct page_cursor *at)
{
    if (c->bucket != at->bucket)
        return c->bucket > at->bucket;
    if (c->priority != at->priority)
        return c->priority > at->priority;
    return c->id > at->id;
}

/* Pages of `want` to the end of the slot: how many pages and rows, and whether they came in order.
 * Behind a page that says that there is no more there is nothing. */
static void read_all(const struct lease *lease, int want, size_t max_bytes, int *pages, int *rows,
                     bool *in_order)
{
    struct page_cursor at = PAGE_START;
    *pages = *rows = 0;
    *in_order = true;
    bool over = false;
    for (;;) {
        struct store_read_page r = read_after(lease, at, want, max_bytes);
        CU_ASSERT(!over || r.page.n == 0);
        over = !r.has_more;
        if (r.page.n == 0 || *pages > 20)
            break;
        for (int i = 0; i < r.page.n; i++) {
            const struct check *c = &r.page.checks[i];
            *in_order = *in_order && comes_after(c, &at);
            at = (struct page_cursor){ c->bucket, c->priority, c->id };
        }
        ++*pages;
        *rows += r.page.n;
        CU_ASSERT(r.page.n <= want);
        check_rows_free(&r.page);
    }
}

void pages_bring_everything_once_and_in_order(void)
{
    WITH_STORE();
    put_in_slot(9);
    struct lease lease = take();
    int pages, rows;
    bool in_order;
    read_all(&lease, 4, 1 << 20, &pages, &rows, &in_order);
    IS(9, rows);
    CU_ASSERT(in_order);
    CU_ASSERT(pages >= 3);
    read_all(&lease, 1, 1 << 20, &pages, &rows, &in_order);
    IS(9, rows);
    IS(9, pages);
    CU_ASSERT(in_order);
}

/* A page, a settle and a commit for each of 20,000 priorities took 50 times as long. */
void a_page_spans_priorities(void)
{
    WITH_STORE();
    put_with("1", NULL, 5);
    put_with("2", NULL, -5);
    put_with("3", NULL, 5);
    put_with("4", NULL, 0);
    struct lease lease = take();
    struct store_read_page r = read_after(&lease, (struct page_cursor)PAGE_START, 10, 1 << 20);
    IS(4, r.page.n);
    CU_ASSERT_FALSE(r.has_more);
    check_rows_free(&r.page);
    int pages, rows;
    bool in_order;
    read_all(&lease, 10, 1 << 20, &pages, &rows, &in_order);
    IS(4, rows);
    IS(1, pages);
    CU_ASSERT(in_order);
    read_all(&lease, 1, 1 << 20, &pages, &rows, &in_order);
    IS(4, rows);
    CU_ASSERT(in_order);
}

void a_page_stops_at_its_bytes_but_has_one_row(void)
{
    WITH_STORE();
    char payload[5001];
    memset(payload, '1', 5000);
    payload[0] = payload[4999] = '"';
    payload[5000] = '\0';
    for (int i = 0; i < 4; i++)
        put_any("orders", (const char *const[]){ "1", "2", "3", "4" }[i], "look", payload, "keep", SLOT,
                BEFORE);
    struct lease lease = take();
    struct store_read_page r = read_after(&lease, (struct page_cursor)PAGE_START, 100, 100);
    IS(1, r.page.n);
    IS(5000, r.page.checks[0].payload_len);
    CU_ASSERT(r.has_more);
    check_rows_free(&r.page);
    int pages, rows;
    bool in_order;
    read_all(&lease, 100, 9000, &pages, &rows, &in_order);
    IS(4, rows);
    CU_ASSERT(pages >= 2);
}

void a_page_of_a_slot_holds_no_other_slots_rows(void)
{
    WITH_STORE();
    put("before", SLOT - LENGTH, "keep", SLOT - LENGTH - 1);
    put("in", SLOT, "keep", BEFORE);
    put("after", SLOT + LENGTH, "keep", BEFORE);
    struct lease lease = take();
    struct check_rows page = read_page(&lease, 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    const struct check *c = &page.checks[0];
    TEXT_IS("in", c->entity_key);
    TEXT_IS("orders", c->entity_name);
    TEXT_IS("look", c->job_exec);
    CU_ASSERT_PTR_NULL(c->payload);
    IS(6, c->entity_name_len);
    IS(2, c->entity_key_len);
    IS(4, c->job_exec_len);
    IS(SLOT, c->next_check_at);
    IS(SLOT, c->first_check_at);
    IS(0, c->check_count + c->failure_count + c->deferred_at);
    struct page_cursor end = cursor_after(&page);
    check_rows_free(&page);
    struct store_read_page r = read_after(&lease, end, 10, 1000);
    IS(0, r.page.n);
    check_rows_free(&r.page);
}

/* ---- the end of a pass ----------------------------------------------------------------------- */

void a_pass_does_not_finish_while_rows_are_left(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    CU_ASSERT_FALSE(finish(&scene.lease));
    IS(1, rows_in("leases"));
    scene.n = 1;
    settle(&scene);
    CU_ASSERT_FALSE(finish(&scene.lease));
    scene.answers[0] = scene.answers[1];
    settle(&scene);
    CU_ASSERT_TRUE(finish(&scene.lease));
    IS(0, rows_in("leases"));
    scene_end(&scene);
}

void a_finished_pass_keeps_its_counts(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = scene.lease;
    f.now = NOW;
    f.counts = (struct pass_counts){ .run = 1,
                                     .done = 2,
                                     .again = 3,
                                     .deferred = 4,
                                     .failed = 5,
                                     .timeout = 6,
                                     .crashed = 7,
                                     .guarded = 8,
                                     .held_back = 9,
                                     .unknown_job = 10,
                                     .superseded = 11,
                                     .locked = 12,
                                     .late_us = 13,
                                     .took_us = 14 };
    IS(0, fixture_call(&f.call));
    CU_ASSERT(f.finished);
    static const char *const columns[] = { "run",        "done",    "again",   "deferred",  "failed",
                                           "timeout",    "crashed", "guarded", "held_back", "unknown_job",
                                           "superseded", "locked",  "late_us", "took_us" };
    struct store_rows rows = REPORT("passes", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    for (int i = 0; i < 14; i++)
        IS(i + 1, atoll(cell(&rows, 0, columns[i])));
    TEXT_IS("test/1", cell(&rows, 0, "engine"));
    TEXT_IS("1", cell(&rows, 0, "pass"));
    TEXT_IS("-1", cell(&rows, 0, "bucket"));
    scene_end(&scene);
}

void a_pass_finishes_with_jobs_that_are_unknown_here(void)
{
    WITH_STORE();
    put_any("orders", "1", "bill", NULL, "keep", SLOT, BEFORE);
    put_any("orders", "2", "it's \"x\"", NULL, "keep", SLOT, BEFORE);
    struct lease lease = take();
    static const char *const unknown[] = { "bill", "it's \"x\"" };
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = lease;
    f.unknown_jobs = unknown;
    f.nunknown_jobs = 1;
    IS(0, fixture_call(&f.call));
    CU_ASSERT_FALSE(f.finished);
    f.nunknown_jobs = 2;
    IS(0, fixture_call(&f.call));
    CU_ASSERT_TRUE(f.finished);
    struct store_rows rows = REPORT("passes", NULL);
    TEXT_IS("bill, it's \"x\"", cell(&rows, 0, "left_jobs"));
}

void a_pass_told_to_leave_finishes_whatever_is_left(void)
{
    WITH_STORE();
    put_in_slot(2);
    struct lease lease = take();
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = lease;
    f.leave = true;
    IS(0, fixture_call(&f.call));
    CU_ASSERT_TRUE(f.finished);
    IS(2, rows_in("list"));
}

void finishing_under_a_lease_taken_over_is_refused(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    settle(&scene);
    take_over(&scene.lease);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = scene.lease;
    IS(ERR_FENCED, fixture_call(&f.call));
    CU_ASSERT_FALSE(f.finished);
    IS(1, rows_in("leases"));
    scene_end(&scene);
}

void a_finish_looks_behind_the_last_row_read_only(void)
{
    WITH_STORE();
    put_in_slot(2);
    struct lease lease = take();
    struct store_read_page r = read_after(&lease, (struct page_cursor)PAGE_START, 1, 1000);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = lease;
    f.after = cursor_after(&r.page);
    check_rows_free(&r.page);
    IS(0, fixture_call(&f.call));
    CU_ASSERT_FALSE(f.finished);
    r = read_after(&lease, f.after, 1, 1000);
    f.after = cursor_after(&r.page);
    check_rows_free(&r.page);
    IS(0, fixture_call(&f.call));
    CU_ASSERT_TRUE(f.finished);
    IS(2, rows_in("list"));
    struct store_relook l = relook();
    CU_ASSERT_EQUAL_FATAL(l.n, 1);
    CU_ASSERT(l.slots[0].has_rows);
}

void a_read_says_whether_there_is_more(void)
{
    WITH_STORE();
    put_in_slot(3);
    struct lease lease = take();
    static const struct {
        int want;
        size_t max_bytes;
    } all[] = { { 2, 1 << 20 }, { 10, 1 << 20 }, { 10, 1 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct store_read_page r = read_after(&lease, (struct page_cursor)PAGE_START, all[i].want,
                                              all[i].max_bytes);
        CU_ASSERT(r.page.n > 0);
        IS(r.page.n < 3, r.has_more);
        check_rows_free(&r.page);
    }
}

void a_closed_slot_that_is_taken_again_is_open_again(void)
{
    WITH_STORE();
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    IS(1, relook().closed);
    put("late", SLOT, "keep", BEFORE);
    o = open_slot(owner, 60);
    o.again = true;
    IS(0, fixture_call(&o.call));
    IS(1, o.ntaken);
    struct store_relook r = relook();
    CU_ASSERT_EQUAL_FATAL(r.n, 1);
    CU_ASSERT(r.slots[0].has_rows);
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
