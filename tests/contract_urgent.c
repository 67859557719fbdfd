/* contract_urgent.c - the store's contract: checks with a priority below 0 can be read before
 * others, in a slot and over slots. */
#include "store_contract.h"

/* Keys "1" to "9" with these priorities, in a slot that is split where the store splits. */
static struct store_open_slot open_split(const int32_t *priorities, int n)
{
    for (int i = 0; i < n; i++)
        put_with(text_of(i + 1), NULL, priorities[i]);
    struct store_open_slot o = open_slot(owner, 60);
    o.split_at = 2;
    o.want = 1;
    o.asks_urgent = true;
    IS(0, fixture_call(&o.call));
    return o;
}

static struct check_rows read_urgent(const struct lease *lease, const char *const *jobs, int njobs)
{
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.want = 10;
    r.max_bytes = 1 << 20;
    r.what = READ_URGENT;
    r.jobs = jobs;
    r.njobs = njobs;
    IS(0, fixture_call(&r.call));
    CU_ASSERT_FALSE(r.has_more);
    return r.page;
}

/* Where it is one lease, its pages are in the order of priorities. */
void a_split_slot_says_whether_it_has_urgent_checks(void)
{
    WITH_STORE();
    struct store_open_slot o = open_split((const int32_t[]){ 0, 5, 0, 1 }, 4);
    CU_ASSERT_FALSE(o.has_urgent);
    put_with("9", NULL, -1);
    IS(0, fixture_call(&o.call));
    IS(!fixture_is_sqlite(), o.has_urgent);
    o.asks_urgent = false;
    IS(0, fixture_call(&o.call));
    CU_ASSERT_FALSE(o.has_urgent);
}

void a_slot_that_is_one_lease_does_not_say_it(void)
{
    WITH_STORE();
    put_with("1", NULL, -1);
    struct store_open_slot o = open_slot(owner, 60);
    o.asks_urgent = true;
    IS(0, fixture_call(&o.call));
    IS(1, o.split);
    CU_ASSERT_FALSE(o.has_urgent);
}

/* A first round goes to no bucket in vain. */
void only_buckets_with_urgent_checks_are_taken_where_it_is_asked_for(void)
{
    WITH_STORE();
    struct store_open_slot o = open_split((const int32_t[]){ 0, -1, 0, 0, -7, 0 }, 6);
    struct store_release release = STORE_RELEASE_INIT;
    release.leases = o.taken;
    release.n = o.ntaken;
    IS(0, fixture_call(&release.call));
    o.urgent = true;
    o.want = BUCKETS;
    IS(0, fixture_call(&o.call));
    int urgent = 0;
    for (int i = 0; i < o.ntaken; i++) {
        struct check_rows page = read_urgent(&o.taken[i], NULL, 0);
        CU_ASSERT(page.n > 0);
        urgent += page.n;
        check_rows_free(&page);
    }
    IS(2, urgent);
}

void a_read_of_urgent_checks_brings_no_others_the_most_urgent_first(void)
{
    WITH_STORE();
    static const int32_t priorities[] = { 0, -1, 3, -2, -1 };
    for (int i = 0; i < 5; i++)
        put_with(text_of(i + 1), NULL, priorities[i]);
    struct lease lease = take();
    struct check_rows page = read_urgent(&lease, NULL, 0);
    IS(3, page.n);
    for (int i = 0; i < page.n; i++)
        CU_ASSERT(page.checks[i].priority < 0);
    if (fixture_is_sqlite())                    /* else a whole slot is read by its buckets */
        IS(-2, page.checks[0].priority);
    check_rows_free(&page);
}

void a_read_of_urgent_checks_may_be_of_some_jobs_only(void)
{
    WITH_STORE();
    put_with("1", NULL, -1);
    struct lease lease = take();
    static const char *const others[] = { "other" }, *const its[] = { "other", "look" };
    struct check_rows page = read_urgent(&lease, others, 1);
    IS(0, page.n);
    check_rows_free(&page);
    page = read_urgent(&lease, its, 2);
    IS(1, page.n);
    check_rows_free(&page);
}

static struct store_late_slot look_for_late(int64_t urgent_from, int64_t before)
{
    struct store_late_slot l = STORE_LATE_SLOT_INIT;
    l.before = before;
    l.urgent_from = urgent_from;
    IS(0, fixture_call(&l.call));
    return l;
}

static void put_urgent(const char *key, int64_t slot)
{
    struct store_rows rows = REPORT("enqueue", "orders", key, "look", text_of(slot), NULL, NULL, "-1",
                                    text_of(slot - 100));
    TEXT_IS("new", cell(&rows, 0, "outcome"));
}

void late_slots_with_urgent_checks_are_found_beside_the_first_late_one(void)
{
    WITH_STORE();
    struct store_late_slot l = look_for_late(1, SLOT);
    CU_ASSERT(!l.slot && !l.urgent);
    put("1", SLOT - 3 * LENGTH, "keep", SLOT - 4 * LENGTH);
    l = look_for_late(1, SLOT);
    IS(SLOT - 3 * LENGTH, l.slot);
    IS(0, l.urgent);
    put_urgent("2", SLOT - 2 * LENGTH);
    put_urgent("3", SLOT - LENGTH);
    put_urgent("4", SLOT);
    l = look_for_late(0, SLOT);
    IS(SLOT - 3 * LENGTH, l.slot);
    IS(0, l.urgent);                            /* nobody asks */
    l = look_for_late(1, SLOT);
    IS(SLOT - 3 * LENGTH, l.slot);
    IS(SLOT - 2 * LENGTH, l.urgent);
    l = look_for_late(l.urgent + 1, SLOT);
    IS(SLOT - LENGTH, l.urgent);
    l = look_for_late(l.urgent + 1, SLOT);
    IS(0, l.urgent);
    IS(SLOT - 3 * LENGTH, l.slot);
}

/* Those of the slot's opening row and of its passes together. */
static int64_t run_in_slot(void)
{
    struct store_rows rows = REPORT("passes", NULL, NULL, "100");
    int64_t run = 0;
    for (int i = 0; i < rows.rows; i++)
        run += strtoll(cell(&rows, i, "run"), NULL, 10);
    return run;
}

void what_was_run_under_leases_that_are_given_back_counts_in_their_slot(void)
{
    WITH_STORE();
    put_in_slot(1);
    struct lease lease = take();
    struct pass_counts counts = { .run = 3, .done = 2, .again = 1 };
    struct store_release release = STORE_RELEASE_INIT;
    release.leases = &lease;
    release.n = 1;
    release.counts = &counts;
    IS(0, fixture_call(&release.call));
    IS(0, rows_in("leases"));
    IS(3, run_in_slot());
    lease = take();
    release.leases = &lease;
    IS(0, fixture_call(&release.call));
    IS(6, run_in_slot());
    IS(0, fixture_call(&release.call));         /* it is nobody's any more */
    IS(6, run_in_slot());
}
