/* contract_prune.c - the store's contract: what grows is told, and what is old is dropped. */
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

static void fill_everything(void)
{
    struct scene scene = scene_of(3);
    answer_again(&scene.answers[0], FUTURE);
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "late" };
    scene.answers[1].effects = &effect;
    scene.answers[1].neffects = 1;
    IS(3, settle(&scene).touched);
    CU_ASSERT(finish(&scene.lease));
    relook();
    scene_end(&scene);
}

/* What is kept, and since when. */
void what_grows_is_told(void)
{
    WITH_STORE();
    fill_everything();
    fixture_make_old(30);
    struct store_rows rows = fixture_report("growth", NULL, 0);
    IS(4, rows.rows);
    int64_t now = clock_wall_us(&clock_system) / 1000000;
    for (int i = 0; i < rows.rows; i++) {
        int64_t age = now - strtoll(cell(&rows, i, "oldest_at"), NULL, 10);
        CU_ASSERT(age >= 29 * 86400 && age <= 32 * 86400);
    }
}

/* Behind the slot, wherever the machine's clock is. */
static int64_t a_week_ago(void)
{
    int64_t ago = clock_wall_us(&clock_system) / 1000000 - 7 * 86400;
    return ago > SLOT + 86400 ? ago : SLOT + 86400;
}

void a_dry_prune_drops_nothing(void)
{
    WITH_STORE();
    fill_everything();
    fixture_make_old(30);
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), a_week_ago(), true, &counts, &fixture_err));
    IS(fixture_is_sqlite() ? 2 : 1, counts.history);        /* rows; days */
    CU_ASSERT_EQUAL(counts.by_days, !fixture_is_sqlite());
    IS(1, counts.runs);
    IS(2, counts.passes);
    IS(1, counts.events);
    IS(2, rows_in("history"));
    IS(1, rows_in("runs"));
    IS(1, rows_in("events"));
}

void prune_drops_what_is_old_and_leaves_what_is_pending(void)
{
    WITH_STORE();
    fill_everything();
    fixture_make_old(30);
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), a_week_ago(), false, &counts, &fixture_err));
    IS(fixture_is_sqlite() ? 2 : 1, counts.history);
    IS(1, counts.runs);
    IS(2, counts.passes);
    IS(1, counts.events);
    IS(0, rows_in("history") + rows_in("runs") + rows_in("events") + rows_in("passes"));
    IS(1, rows_in("list"));
}

void prune_leaves_what_is_young(void)
{
    WITH_STORE();
    fill_everything();
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), 86400, false, &counts, &fixture_err));
    IS(0, counts.history + counts.runs + counts.passes + counts.events);
    IS(2, rows_in("history"));
    IS(2, rows_in("passes"));
}

/* The turn is the engines': one has it, and the others are too late for an hour. */
void of_all_engines_one_prunes(void)
{
    WITH_STORE();
    for (int i = 0; i < 3; i++) {
        struct store_prune p = STORE_PRUNE_INIT;
        p.wish = PRUNE_CLAIM;
        IS(0, fixture_call(&p.call));
        IS(i == 0, p.n);
    }
}

/* An engine does a little at a time. */
void a_step_of_a_prune_is_of_one_table(void)
{
    WITH_STORE();
    fill_everything();
    fixture_make_old(30);
    struct store_prune p = STORE_PRUNE_INIT;
    p.before = a_week_ago();
    p.part = PRUNE_RUNS;
    IS(0, fixture_call(&p.call));
    IS(1, p.n);
    CU_ASSERT_EQUAL(p.by_days, !fixture_is_sqlite());
    IS(2, rows_in("history"));
    IS(0, rows_in("runs"));
    IS(0, fixture_call(&p.call));
    IS(0, p.n);
    p.part = PRUNE_PASSES;
    IS(0, fixture_call(&p.call));
    IS(2, p.n);
    CU_ASSERT(!p.by_days);
    IS(1, rows_in("events"));
}

void prune_leaves_slots_that_are_not_over(void)
{
    WITH_STORE();
    put("1", SLOT, "keep", BEFORE);
    take();
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), a_week_ago(), false, &counts, &fixture_err));
    IS(0, counts.passes);
    IS(1, rows_in("passes"));
    IS(1, rows_in("leases"));
}
