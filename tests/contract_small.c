/* contract_small.c - the store's contract: checks of small tenants can be read before those of
 * others that wait in the same place. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store_contract.h"

enum { MANY = 400, FEW = 10, ALL = MANY + FEW };

/* Checks "1" to "n" from `first` on, of this tenant; NULL: of this entity. */
static void load_of(const char *entity, const char *tenant, int first, int n)
{
    static struct load_row rows[MANY];
    static char keys[MANY][8];
    struct load_counts counts;
    struct err err;
    int bad;
    for (int i = 0; i < n; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", first + i);
        rows[i] = (struct load_row){ entity, keys[i], "look", NULL, SLOT, 0, NULL, tenant };
    }
    IS(0, store_load(fixture_store(), rows, (size_t)n, "keep", BEFORE, &counts, &bad, &err));
}

static struct store_open_slot ask_for_small(int split_at, int want)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.split_at = split_at;
    o.want = want;
    o.asks_small = true;
    IS(0, fixture_call(&o.call));
    return o;
}

static struct store_read_page read_those(const struct lease *lease, struct page_cursor after, int want,
                                         enum read_what what)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.after = after;
    r.want = want;
    r.max_bytes = 1 << 20;
    r.what = what;
    IS(0, fixture_call(&r.call));
    return r;
}

static struct store_read_page read_small(const struct lease *lease, struct page_cursor after, int want)
{
    return read_those(lease, after, want, READ_SMALL);
}

static const struct page_cursor start = PAGE_START;

/* How many of these are in the page; FEW at most. */
static int count_of_tenant(const struct check_rows *page, const char *tenant)
{
    int n = 0;
    for (int i = 0; i < page->n; i++)
        n += page->checks[i].tenant && !strcmp(page->checks[i].tenant, tenant);
    return n;
}

/* Of a slot that is one lease; the lease is given back. */
static uint64_t small_buckets(void)
{
    struct store_open_slot o = ask_for_small(1000, 1);
    struct store_release release = STORE_RELEASE_INIT;
    IS(1, o.ntaken);
    release.leases = o.taken;
    release.n = o.ntaken;
    IS(0, fixture_call(&release.call));
    return o.small_buckets;
}

void a_slot_says_whether_small_tenants_wait_beside_large_ones(void)
{
    WITH_STORE();
    load_of("orders", "large", 1, 100);
    IS(0, small_buckets());                             /* one tenant alone */
    load_of("orders", "small", 101, 6);
    IS(1, small_buckets());
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    IS(0, o.small_buckets);                             /* nobody asks */
}

void tenants_of_one_size_are_not_small(void)
{
    WITH_STORE();
    load_of("orders", "a", 1, 30);
    load_of("orders", "b", 31, 30);
    IS(0, small_buckets());
    load_of("orders", "c", 61, 4);                      /* so few are always few */
    IS(1, small_buckets());
}

void checks_of_no_tenant_are_their_entitys(void)
{
    WITH_STORE();
    load_of("orders", NULL, 1, 100);
    load_of("invoices", NULL, 1, 3);
    struct store_open_slot o = ask_for_small(1000, 1);
    IS(1, o.small_buckets);
    struct store_read_page r = read_small(&o.taken[0], start, 10);
    IS(3, r.page.n);
    for (int i = 0; i < r.page.n; i++)
        TEXT_IS("invoices", r.page.checks[i].entity_name);
    check_rows_free(&r.page);
}

/* In some buckets of a split slot the large one may have few, too. */
void each_bucket_with_small_tenants_is_named_and_brings_them(void)
{
    WITH_STORE();
    load_of("orders", "large", 1, MANY);
    load_of("orders", "small", MANY + 1, FEW);
    struct store_open_slot o = ask_for_small(2, 1);
    struct store_release release = STORE_RELEASE_INIT;
    CU_ASSERT_FATAL(o.small_buckets != 0);
    release.leases = o.taken;
    release.n = o.ntaken;
    IS(0, fixture_call(&release.call));
    o.left_out = ~o.small_buckets;
    o.want = BUCKETS;
    IS(0, fixture_call(&o.call));
    IS(__builtin_popcountll(o.small_buckets), o.ntaken);
    int n = 0;
    for (int i = 0; i < o.ntaken; i++) {
        struct store_read_page r = read_those(&o.taken[i], start, ALL, READ_SMALL);
        struct store_read_page all = read_those(&o.taken[i], start, ALL, READ_ALL);
        CU_ASSERT(r.page.n > 0 && r.page.n < all.page.n);
        IS(r.page.n, count_of_tenant(&r.page, "small"));
        IS(r.page.n, count_of_tenant(&all.page, "small"));
        n += r.page.n;
        check_rows_free(&r.page);
        check_rows_free(&all.page);
    }
    CU_ASSERT(n > 0 && n <= FEW);
}

void pages_of_small_tenants_follow_one_another(void)
{
    WITH_STORE();
    load_of("orders", "small", 1, 3);
    load_of("orders", "large", 4, 100);
    load_of("orders", "tiny", 104, 2);
    struct store_open_slot o = ask_for_small(1000, 1);
    IS(1, o.ntaken);
    struct page_cursor after = start;
    int n = 0, pages = 0;
    for (bool more = true; more && pages < ALL; pages++) {
        struct store_read_page r = read_small(&o.taken[0], after, 2);
        const struct check *last = r.page.n ? &r.page.checks[r.page.n - 1] : NULL;
        if (last)
            after = (struct page_cursor){ last->bucket, last->priority, last->id };
        n += count_of_tenant(&r.page, "small") + count_of_tenant(&r.page, "tiny");
        more = r.has_more;
        check_rows_free(&r.page);
    }
    IS(5, n);
    IS(3, pages);
}

static void note_runs_of(const char *job, int64_t us, int64_t number)
{
    struct run_hour row = { .hour_at = time(NULL) / 3600 * 3600, .job = job, .entity = "orders", .tenant = "",
                            .outcome = "done", .runs = 10, .took_us = 10 * us, .took_max_us = us,
                            .took = "{}", .late = "{}" };
    struct store_note_runs call = STORE_NOTE_RUNS_INIT;
    call.owner = owner;
    call.number = number;
    call.made_us = (int64_t)time(NULL) * 1000000;
    call.rows = &row;
    call.n = 1;
    IS(0, fixture_call(&call.call));
}

static uint64_t small_buckets_if_slow(void)
{
    struct store_open_slot o = open_slot(owner, 60);
    struct store_release release = STORE_RELEASE_INIT;
    o.asks_small = o.if_slow = true;
    IS(0, fixture_call(&o.call));
    release.leases = o.taken;
    release.n = o.ntaken;
    IS(0, fixture_call(&release.call));
    return o.small_buckets;
}

/* An engine that has run nothing yet asks whether other engines' checks took long. */
void small_tenants_may_be_asked_for_only_where_checks_were_slow(void)
{
    WITH_STORE();
    load_of("orders", "large", 1, 100);
    load_of("orders", "small", 101, 3);
    IS(1, small_buckets_if_slow());                     /* nothing is known */
    note_runs_of("look", 20, 1);
    IS(0, small_buckets_if_slow());
    IS(1, small_buckets());
    note_runs_of("crawl", 1000, 2);
    IS(1, small_buckets_if_slow());
}
