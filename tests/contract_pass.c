/* contract_pass.c - the store's contract: the pages of a pass bring every row once and in order; a
 * pass finishes when nothing is left. */
#include <string.h>

#include "store_contract.h"

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
                                     .busy = 11,
                                     .superseded = 12,
                                     .locked = 13,
                                     .late_us = 14,
                                     .took_us = 15 };
    IS(0, fixture_call(&f.call));
    CU_ASSERT(f.finished);
    static const char *const columns[] = { "run",        "done",    "again",   "deferred",  "failed",
                                           "timeout",    "crashed", "guarded", "held_back", "unknown_job",
                                           "busy",       "superseded", "locked", "late_us", "took_us" };
    struct store_rows rows = REPORT("passes", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    for (int i = 0; i < 15; i++)
        IS(i + 1, atoll(cell(&rows, 0, columns[i])));
    TEXT_IS("test/1", cell(&rows, 0, "engine"));
    TEXT_IS("1", cell(&rows, 0, "pass"));
    TEXT_IS("-1", cell(&rows, 0, "bucket"));
    scene_end(&scene);
}

/* The row that opens a slot has counts only of leases that were given back; what was not run took
 * no time. */
void what_was_not_run_has_the_same_numbers_in_each_store(void)
{
    static const char *const sums[] = { "run", "done", "again", "failed" };
    WITH_STORE();
    put("2", SLOT + LENGTH, "keep", BEFORE);
    TEXT_IS("1", resolve("2"));
    TEXT_IS("0", value("history", "2", "total_run_us"));
    struct scene scene = scene_of(1);
    struct store_rows rows = REPORT("slots", text_of(SLOT), text_of(SLOT + 1), NULL);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        TEXT_IS("0", cell(&rows, 0, sums[i]));
    rows = REPORT("passes", NULL);
    TEXT_IS("1", cell(&rows, 0, "split"));
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        TEXT_IS("NULL", cell(&rows, 0, sums[i]));
    settle(&scene);
    CU_ASSERT(finish(&scene.lease));
    rows = REPORT("passes", NULL);
    IS(2, rows.rows);
    TEXT_IS("NULL", cell(&rows, 0, "split"));
    TEXT_IS("0", cell(&rows, 0, "again"));
    TEXT_IS("NULL", cell(&rows, 1, "again"));
    rows = REPORT("slots", text_of(SLOT + 2 * LENGTH), text_of(SLOT + 2 * LENGTH + 1), NULL);
    IS(0, rows.rows);
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

static const char *const own[] = { "look", "it's \"x\"" };

static struct store_read_page read_own(const struct lease *lease, struct page_cursor after)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.after = after;
    r.want = 2;
    r.max_bytes = 1000;
    r.jobs = own;
    r.njobs = 2;
    IS(0, fixture_call(&r.call));
    return r;
}

/* Most rows of the slot are of another job, and one of these is as large as a page. */
static void put_own_and_others(void)
{
    char large[2000];
    memset(large, '1', sizeof large);
    large[0] = large[sizeof large - 2] = '"';
    large[sizeof large - 1] = '\0';
    for (int i = 0; i < 12; i++) {
        const char *job = i % 4 == 3 ? own[i / 4 % 2] : "bill";
        const char *payload = i == 7 || i == 8 ? large : NULL;
        put_any("orders", text_of(i), job, payload, "keep", SLOT, BEFORE);
    }
}

void a_page_of_some_jobs_holds_rows_of_these_only(void)
{
    WITH_STORE();
    put_own_and_others();
    struct lease lease = take();
    struct page_cursor at = PAGE_START;
    int rows = 0;
    for (int pages = 0; pages < 6; pages++) {
        struct store_read_page r = read_own(&lease, at);
        for (int i = 0; i < r.page.n; i++) {
            CU_ASSERT_STRING_NOT_EQUAL(r.page.checks[i].job_exec, "bill");
            CU_ASSERT(comes_after(&r.page.checks[i], &at));
            at = (struct page_cursor){ r.page.checks[i].bucket, r.page.checks[i].priority,
                                       r.page.checks[i].id };
        }
        rows += r.page.n;
        check_rows_free(&r.page);
        if (!r.has_more)
            break;
    }
    IS(3, rows);
    struct store_read_page none = STORE_READ_PAGE_INIT;
    none.lease = lease;
    none.want = 2;
    none.max_bytes = 1000;
    none.jobs = own;
    IS(0, fixture_call(&none.call));
    IS(0, none.page.n);
}

void a_pass_that_read_some_jobs_finishes_without_the_others_and_names_them(void)
{
    WITH_STORE();
    put_own_and_others();
    put_any("orders", "first", "toll", NULL, "keep", SLOT, BEFORE);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = take();
    f.leave = true;
    f.jobs = own;
    f.njobs = 2;
    IS(0, fixture_call(&f.call));
    CU_ASSERT_TRUE(f.finished);
    struct store_rows rows = REPORT("passes", NULL);
    TEXT_IS("bill, toll", cell(&rows, 0, "left_jobs"));
    IS(13, rows_in("list"));
    struct store_relook l = relook();
    CU_ASSERT_EQUAL_FATAL(l.n, 1);
    CU_ASSERT(l.slots[0].has_rows);
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
