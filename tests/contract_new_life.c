/* contract_new_life.c - the store's contract: a check that is enqueued again while it runs begins a
 * new life, whose key follows from the old one. */
#include <string.h>

#include "store_contract.h"

/* ---- enqueued again meanwhile ---------------------------------------------------------------- */

void a_check_asked_for_again_starts_anew_when_it_ends(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    int64_t id = scene.answers[0].check->id;
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "keep", NOW));
    IS(1, settle(&scene).touched);
    TEXT_IS("done", value("history", "1", "outcome"));
    IS(SLOT, number("history", "1", "first_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 3 * LENGTH, number("list", "1", "first_check_at"));
    TEXT_IS("NULL", value("list", "1", "again_at"));
    scene_end(&scene);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = SLOT + 3 * LENGTH;
    IS(0, fixture_call(&o.call));
    struct check_rows page = read_page(&o.taken[0], 10);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    CU_ASSERT(page.checks[0].id > id);
    check_rows_free(&page);
}

void a_new_life_does_not_inherit_counts(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + LENGTH, "keep", NOW);
    scene.answers[0].outcome = OUTCOME_MAX_CHECKS;
    scene.answers[0].check_count = 5;
    scene.answers[0].failure_count = 2;
    IS(1, settle(&scene).touched);
    TEXT_IS("max_checks", value("history", "1", "guard"));
    TEXT_IS("5", value("history", "1", "check_count"));
    TEXT_IS("0", value("list", "1", "check_count"));
    TEXT_IS("0", value("list", "1", "failure_count"));
    scene_end(&scene);
}

void a_wish_that_has_passed_starts_in_the_next_slot(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + LENGTH, "keep", NOW);
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.now = SLOT + 5 * LENGTH + 1;
    s.settlements = scene.answers;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    IS(SLOT + 6 * LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

void a_wish_stays_beside_a_check_that_moves(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + 9 * LENGTH, "keep", NOW);
    answer_again(&scene.answers[0], SLOT + LENGTH);
    IS(1, settle(&scene).touched);
    IS(SLOT + LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 9 * LENGTH, number("list", "1", "again_at"));
    scene_end(&scene);
}

/* "kept +2" is a promise: whoever asked was told that slot. */
void a_check_that_moves_goes_where_it_was_asked_for_meanwhile(void)
{
    WITH_STORE();
    struct scene scene = scene_of(3);
    TEXT_IS("kept +2", put("1", SLOT + 2 * LENGTH, "earlier", NOW));
    TEXT_IS("kept +2", put("2", SLOT + 2 * LENGTH, "keep", NOW));
    TEXT_IS("kept +5", put("3", SLOT + 5 * LENGTH, "earlier", NOW));
    for (int i = 0; i < 3; i++)
        answer_again(&scene.answers[i], SLOT + 5 * LENGTH);
    scene.answers[1].outcome = OUTCOME_DEFERRED;
    IS(3, settle(&scene).touched);
    IS(SLOT + 2 * LENGTH, number("list", "1", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("list", "2", "next_check_at"));
    IS(SLOT + 5 * LENGTH, number("list", "3", "next_check_at"));
    IS(SLOT + 2 * LENGTH, number("runs", "1", "next_check_at"));
    const char *keys[] = { "1", "2", "3" };
    for (int i = 0; i < 3; i++)
        /* the look that comes then is the one that was asked for */
        TEXT_IS("NULL", value("list", keys[i], "again_at"));
    scene_end(&scene);
}

void a_move_to_a_time_asked_for_is_clamped_too(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    put("1", SLOT + LENGTH, "earlier", NOW);
    answer_again(&scene.answers[0], SLOT + 9 * LENGTH);
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.now = SLOT + 5 * LENGTH + 1;
    s.settlements = scene.answers;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    IS(SLOT + 6 * LENGTH, number("list", "1", "next_check_at"));
    TEXT_IS("NULL", value("list", "1", "again_at"));
    scene_end(&scene);
}

/* ---- keys of new lives ----------------------------------------------------------------------- */

/* The idempotency key of what a page of this slot holds for ("orders", key). */
static const char *key_in(int64_t slot, const char *key)
{
    static char keys[4][IDEMPOTENCY_KEY_SIZE];
    static int next;
    char *out = keys[next++ % 4];
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    o.again = true;
    strcpy(out, "none");
    if (fixture_call(&o.call) || o.ntaken != 1)
        return out;
    struct check_rows page = read_page(&o.taken[0], 10);
    for (int i = 0; i < page.n; i++)
        if (strcmp(page.checks[i].entity_key, key) == 0) {
            struct idempotency of = check_identity(&page.checks[i]);
            idempotency_key(&of, out);
        }
    check_rows_free(&page);
    struct store_release r = STORE_RELEASE_INIT;
    r.leases = o.taken;
    r.n = 1;
    IS(0, fixture_call(&r.call));
    return out;
}

/* The answer to row 0 of a page, a failure or a deferral, declares a child; the check itself waits
 * on under its number. */
static void wait_on_and_declare(const struct lease *lease, const struct check_rows *page, int32_t failures,
                                int64_t to, struct effect *child)
{
    struct settlement waits = { .check = &page->checks[0],
                                .outcome = failures ? OUTCOME_FAILED : OUTCOME_DEFERRED,
                                .next_at = to,
                                .ran = true,
                                .failure_count = failures,
                                .effects = child,
                                .neffects = 1 };
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = *lease;
    s.now = lease->slot;
    s.settlements = &waits;
    s.n = 1;
    child->at = lease->slot + LENGTH;
    IS(0, fixture_call(&s.call));
    IS(1, s.touched);
}

static struct check_rows page_at(int64_t slot, struct lease *lease)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    IS(0, fixture_call(&o.call));
    *lease = o.taken[0];
    return read_page(lease, 10);
}

/* Settled, lost with what was committed last, and settled again, later: the child has another id
 * and perhaps another slot, and the key that it had. Of a run after a failure, which has the key
 * of the one before, it is another child. */
void what_an_answer_declares_has_one_key_however_often_it_is_written(void)
{
    WITH_STORE();
    struct effect child = { .kind = EFFECT_ENQUEUE,
                            .entity_name = "orders",
                            .entity_key = "child",
                            .job = "look",
                            .conflict = "keep",
                            .json = "[1]" };
    char first[IDEMPOTENCY_KEY_SIZE];
    struct lease lease;
    struct scene scene = scene_of(1);
    /* its counts stay: it is as it was */
    wait_on_and_declare(&scene.lease, &scene.page, 0, SLOT + 8 * LENGTH, &child);
    strcpy(first, key_in(SLOT + LENGTH, "child"));
    CU_ASSERT_STRING_NOT_EQUAL("none", first);
    TEXT_IS("1", resolve("child"));
    struct check_rows page = page_at(SLOT + 8 * LENGTH, &lease);
    wait_on_and_declare(&lease, &page, 1, SLOT + 12 * LENGTH, &child);
    TEXT_IS(first, key_in(SLOT + 9 * LENGTH, "child"));
    TEXT_IS("1", resolve("child"));
    check_rows_free(&page);
    page = page_at(SLOT + 12 * LENGTH, &lease);
    IS(0, page.checks[0].check_count);
    wait_on_and_declare(&lease, &page, 2, SLOT + 16 * LENGTH, &child);
    CU_ASSERT_STRING_NOT_EQUAL("none", key_in(SLOT + 13 * LENGTH, "child"));
    CU_ASSERT_STRING_NOT_EQUAL(first, key_in(SLOT + 13 * LENGTH, "child"));
    TEXT_IS("1", resolve("child"));
    put_any("orders", "child", "look", "[1]", "keep", SLOT + 14 * LENGTH, SLOT + 8 * LENGTH);
    /* filed by an application: another life */
    CU_ASSERT_STRING_NOT_EQUAL(first, key_in(SLOT + 14 * LENGTH, "child"));
    check_rows_free(&page);
    scene_end(&scene);
}

void a_new_life_has_a_key_that_follows_from_the_old_one(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    char expected[IDEMPOTENCY_KEY_SIZE], origin[IDEMPOTENCY_KEY_SIZE];
    put("1", SLOT + 3 * LENGTH, "keep", NOW);
    struct check old = *scene.answers[0].check;
    IS(2, settle(&scene).touched);
    struct idempotency of = check_identity(&old);
    idempotency_origin_anew(&of, origin);
    of.origin = origin;
    idempotency_key(&of, expected);
    TEXT_IS(expected, key_in(SLOT + 3 * LENGTH, "1"));
    scene_end(&scene);
}
