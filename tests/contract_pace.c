/* contract_pace.c - the store's contract: slots are spread over a part of their seconds. */
#include <string.h>

#include "../engine/rules/bucket.h"
#include "../engine/rules/phase.h"
#include "store_contract.h"

static const char *set_pace(const char *part)
{
    struct store_rows rows = REPORT("set_pace", part);
    return rows.rows == 1 ? cell(&rows, 0, "pace") : "error";
}

static int32_t pace_s(void)
{
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    return hello.pace_s;
}

void slots_are_not_spread_before_somebody_says_so(void)
{
    WITH_STORE();
    IS(0, pace_s());
    struct store_rows rows = REPORT("pace");
    TEXT_IS("NULL", cell(&rows, 0, "pace"));
    TEXT_IS("0", cell(&rows, 0, "seconds"));
}

void engines_hear_over_how_many_seconds_slots_are_spread(void)
{
    WITH_STORE();
    TEXT_IS("0.500", set_pace("0.5"));
    IS(LENGTH / 2, pace_s());
    struct store_rows rows = REPORT("pace");
    TEXT_IS("0.500", cell(&rows, 0, "pace"));
    TEXT_IS(text_of(LENGTH / 2), cell(&rows, 0, "seconds"));
    TEXT_IS("0.333", set_pace("0.3333"));
    IS(LENGTH * 333 / 1000, pace_s());
    TEXT_IS("1.000", set_pace("1"));
    IS(LENGTH, pace_s());
    TEXT_IS("0.000", set_pace("0"));
    IS(0, pace_s());
}

void an_impossible_pace_is_refused(void)
{
    WITH_STORE();
    if (!strcmp(store_scheme(fixture_store()), "sqlite"))
        return;                         /* there `prescient pace` alone sets it, and reads the number */
    static const char *const bad[] = { "-0.1", "1.01", "NaN", NULL };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEXT_IS("error", set_pace(bad[i]));
    IS(0, pace_s());
}

enum { MANY = 40 };

/* Reads the first parts of the slot, a few rows at a time. */
static int read_parts(const struct lease *lease, int parts)
{
    int n = 0;
    struct store_read_page r = STORE_READ_PAGE_INIT;
    r.lease = *lease;
    r.want = 7;
    r.max_bytes = 1 << 20;
    r.parts = parts;
    do {
        IS(0, fixture_call(&r.call));
        for (int i = 0; i < r.page.n; i++) {
            const struct check *c = &r.page.checks[i];
            CU_ASSERT_TRUE(c->priority < 0 || bucket_of(c->entity_name, c->entity_key) < parts);
            r.after = (struct page_cursor){ c->bucket, c->priority, c->id };
        }
        n += r.page.n;
        check_rows_free(&r.page);
    } while (r.has_more);
    return n;
}

void the_first_parts_of_a_slot_are_read_alone(void)
{
    WITH_STORE();
    int first = 0;
    char key[12];
    for (int i = 0; i < MANY; i++) {
        bool is_urgent = i % 10 == 0;
        snprintf(key, sizeof key, "%d", i);
        REPORT("enqueue", "orders", key, "look", text_of(SLOT), NULL, "keep", is_urgent ? "-1" : "0",
               text_of(BEFORE));
        first += is_urgent || bucket_of("orders", key) < 20;
    }
    struct store_open_slot o = open_slot(owner, 60);
    IS(0, fixture_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    CU_ASSERT(first > MANY / 10 && first < MANY);
    IS(first, read_parts(&o.taken[0], 20));
    IS(MANY, read_parts(&o.taken[0], PHASES));
}
