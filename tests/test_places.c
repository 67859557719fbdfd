/* test_places.c - places of concurrency keys: whose checks are admitted when, what is asked of the
 * store, and what becomes of a place that is lost, wanted or busy. */
#include "../engine/run/places.h"
#include "lane_env_fixture.h"

enum { SECOND = 1000 * 1000, LASTS_S = 60 };

static struct lane_env_fixture fx;
static struct places *p;
static int64_t now;

static void begin(void)
{
    lane_env_begin(&fx, "");
    now = fixture_now_us;
    p = places_new(&(struct places_options){
        .health = &fx.health, .trust_us = 20 * SECOND, .lease_us = 30 * SECOND });
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
}

static void end(void)
{
    places_free(p);
    lane_env_end(&fx);
}

/* A page of checks that wait for places, one of each of these keys. */
static struct page *page_of(const char *const *keys, int n)
{
    struct page *page = fixture_page(&fx, n);
    for (int i = 0; i < n; i++)
        page->rows.checks[i].concurrency_key = keys[i];
    for (int i = 0; i < n; i++)
        CU_ASSERT_EQUAL(places_add(p, page, i, LASTS_S), PLACES_WAITS);
    return page;
}
#define PAGE(...)                                                                                            \
    page_of((const char *const[]){ __VA_ARGS__ },                                                            \
            (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

static void drop(struct page *page)
{
    page_leave_waiting(page);
    places_leave(p, page);
    page_free(page);
}

/* As a pool and a lane do it. */
static void answer(struct page *page, int index)
{
    page_give(page, index);
    page_answer(page, index, now);
    if (page->has_freed_places)
        places_collect(p, page);
}

/* What the next take asks for; each key gets this place, 0: it is busy. */
static int take(int number, int places)
{
    int n = 0;
    struct store_place *asked = places_begin(p, PLACES_TAKE, &n, now, now);
    for (int i = 0; i < n; i++) {
        asked[i].number = number;
        asked[i].places = places;
        asked[i].token = number ? 100 + number : 0;
    }
    places_taken(p, true, now);
    return n;
}

static int give_back(void)
{
    int n = 0;
    places_begin(p, PLACES_RETURN, &n, now, now);
    places_returned(p, true, now);
    return n;
}

static int renew(bool is_lost, bool is_wanted)
{
    int n = 0;
    struct store_place *held = places_begin(p, PLACES_RENEW, &n, now, now);
    for (int i = 0; i < n; i++) {
        held[i].is_lost = is_lost;
        held[i].is_wanted = is_wanted;
    }
    places_renewed(p, true, now);
    return n;
}

static int put_off(int64_t *most_s)
{
    int n = 0;
    while (places_next_busy(p, most_s))
        n++;
    return n;
}

/* ---- one at a time ---- */

static void checks_of_a_key_are_admitted_one_after_the_other(void)
{
    begin();
    struct page *page = PAGE("a", "b", "a", "a");
    CU_ASSERT_EQUAL(page_waiting(page), 0);
    CU_ASSERT_TRUE(places_due(p, PLACES_TAKE, now));
    CU_ASSERT_EQUAL(take(1, 1), 2);
    CU_ASSERT_EQUAL(page_waiting(page), 2);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_WAITING);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_WAITING);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now));
    answer(page, 0);
    CU_ASSERT_EQUAL(page->checks[2].state, CHECK_WAITING);
    CU_ASSERT_EQUAL(page->checks[3].state, CHECK_KEYED);
    answer(page, 2);
    CU_ASSERT_FALSE(places_due(p, PLACES_RETURN, now));
    answer(page, 3);
    answer(page, 1);
    CU_ASSERT_EQUAL(give_back(), 2);
    CU_ASSERT_TRUE(places_hold_nothing(p));
    drop(page);
    end();
}

static void a_key_with_two_places_runs_two(void)
{
    begin();
    struct page *page = PAGE("a", "a", "a");
    CU_ASSERT_EQUAL(take(1, 2), 1);
    CU_ASSERT_EQUAL(take(2, 2), 1);
    CU_ASSERT_EQUAL(page_waiting(page), 2);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now));
    answer(page, 1);
    CU_ASSERT_EQUAL(page->checks[2].state, CHECK_WAITING);
    answer(page, 0);
    CU_ASSERT_EQUAL(give_back(), 1);
    drop(page);
    end();
}

static void a_check_that_comes_back_unrun_keeps_its_place(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    take(1, 1);
    page_give(page, 0);
    page_return(page, 0);
    CU_ASSERT_FALSE(page->has_freed_places);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_KEYED);
    answer(page, 0);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_WAITING);
    drop(page);
    end();
}

static void what_is_decided_without_a_run_frees_its_place(void)
{
    begin();
    struct page *page = PAGE("a", "a", "a");
    take(1, 1);
    page_answer(page, 0, now);              /* paused, or its job is gone */
    page_answer(page, 1, now);
    places_collect(p, page);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_ANSWERED);
    CU_ASSERT_EQUAL(page->checks[2].state, CHECK_WAITING);
    answer(page, 2);
    CU_ASSERT_EQUAL(give_back(), 1);
    drop(page);
    end();
}

static void very_many_of_a_key_do_not_all_wait(void)
{
    begin();
    struct page *page = fixture_page(&fx, 300);
    int waits = 0, crowded = 0;
    for (int i = 0; i < 300; i++) {
        page->rows.checks[i].concurrency_key = "a";
        enum places_added added = places_add(p, page, i, LASTS_S);
        waits += added == PLACES_WAITS;
        crowded += added == PLACES_CROWDED;
    }
    CU_ASSERT_EQUAL(waits, 256);
    CU_ASSERT_EQUAL(crowded, 44);
    CU_ASSERT_EQUAL(places_crowded_s(p, "a"), 30);
    drop(page);
    end();
}

/* ---- busy and wanted ---- */

static void a_busy_key_is_asked_for_again_and_put_off_after_a_second(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    int64_t most_s = 0;
    CU_ASSERT_EQUAL(take(0, 1), 1);
    CU_ASSERT_EQUAL(put_off(&most_s), 0);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now));
    CU_ASSERT_EQUAL(places_next_us(p), now + SECOND / 4);
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(put_off(&most_s), 0);
        now += SECOND / 4;
        CU_ASSERT_TRUE(places_due(p, PLACES_TAKE, now));
        CU_ASSERT_EQUAL(take(0, 1), 1);
    }
    CU_ASSERT_EQUAL(put_off(&most_s), 2);
    CU_ASSERT_EQUAL(most_s, 30);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now + SECOND));
    drop(page);
    end();
}

static void a_key_that_is_free_in_time_is_run(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    int64_t most_s;
    take(0, 1);
    now += SECOND / 2;
    CU_ASSERT_EQUAL(take(1, 1), 1);
    CU_ASSERT_EQUAL(put_off(&most_s), 0);
    CU_ASSERT_EQUAL(page_waiting(page), 1);
    drop(page);
    end();
}

static void a_place_that_others_want_is_given_back_after_the_run(void)
{
    begin();
    struct page *page = PAGE("a", "a", "a");
    int64_t most_s;
    take(1, 1);
    page_give(page, 0);
    now += 7 * SECOND;
    CU_ASSERT_TRUE(places_due(p, PLACES_RENEW, now));
    renew(false, true);
    CU_ASSERT_FALSE(places_due(p, PLACES_RETURN, now));
    page_answer(page, 0, now);
    places_collect(p, page);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_KEYED);
    CU_ASSERT_EQUAL(put_off(&most_s), 2);
    CU_ASSERT_EQUAL(give_back(), 1);
    CU_ASSERT_TRUE(places_hold_nothing(p));
    drop(page);
    end();
}

static void what_waits_while_another_place_is_asked_for_waits_for_the_answer(void)
{
    begin();
    struct page *page = PAGE("a", "a", "a");
    int64_t most_s = 0;
    int n;
    CU_ASSERT_EQUAL(take(1, 2), 1);
    CU_ASSERT_EQUAL(renew(false, true), 1);
    struct store_place *asked = places_begin(p, PLACES_TAKE, &n, now, now);
    CU_ASSERT_EQUAL(n, 1);
    answer(page, 0);
    CU_ASSERT_EQUAL(put_off(&most_s), 0);
    CU_ASSERT_EQUAL(give_back(), 1);
    asked[0].number = asked[0].places = 2;
    places_taken(p, true, now);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_WAITING);
    CU_ASSERT_EQUAL(page->checks[2].state, CHECK_KEYED);
    drop(page);
    end();
}

static void a_take_that_fails_is_made_again(void)
{
    begin();
    struct page *page = PAGE("a");
    int n, given_back;
    int64_t most_s;
    places_begin(p, PLACES_TAKE, &n, now, now);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now));
    places_taken(p, false, now);
    CU_ASSERT_EQUAL(put_off(&most_s), 0);
    now += SECOND / 4;
    CU_ASSERT_EQUAL(take(1, 1), 1);
    answer(page, 0);
    places_begin(p, PLACES_RETURN, &n, now, now);
    places_returned(p, false, now);
    CU_ASSERT_FALSE(places_hold_nothing(p));
    given_back = give_back();
    CU_ASSERT_EQUAL(given_back, 1);
    drop(page);
    end();
}

/* ---- lost ---- */

static void a_check_whose_place_is_lost_waits_for_another(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    take(1, 1);
    renew(true, false);
    struct keyed_check *k = places_next_lost(p);
    CU_ASSERT_PTR_EQUAL_FATAL(k, page->checks[0].keyed);
    places_take_back(p, k);
    CU_ASSERT_PTR_NULL(places_next_lost(p));
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_KEYED);
    CU_ASSERT_TRUE(places_hold_nothing(p));
    CU_ASSERT_EQUAL(take(1, 1), 1);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_WAITING);
    drop(page);
    end();
}

static void nothing_else_runs_beside_a_run_whose_place_is_lost(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    take(1, 1);
    page_give(page, 0);
    renew(true, false);
    places_take_back(p, places_next_lost(p));
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_GIVEN);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now + SECOND));
    page_answer(page, 0, now);
    places_collect(p, page);
    CU_ASSERT_FALSE(places_due(p, PLACES_RETURN, now));
    CU_ASSERT_EQUAL(take(1, 1), 1);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_WAITING);
    drop(page);
    end();
}

/* Its worker had begun a batch with it, and was ended in the middle. */
static void what_comes_back_unrun_when_its_place_is_lost_waits_for_another(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    take(1, 1);
    page_give(page, 0);
    renew(true, false);
    places_take_back(p, places_next_lost(p));
    page_return(page, 0);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_KEYED);
    CU_ASSERT_TRUE(page->has_freed_places);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now + SECOND));
    places_collect(p, page);
    CU_ASSERT_TRUE(places_hold_nothing(p));
    CU_ASSERT_EQUAL(take(1, 1), 1);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_WAITING);
    CU_ASSERT_EQUAL(page->checks[1].state, CHECK_KEYED);
    page_give(page, 0);
    page_return(page, 0);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_WAITING);
    drop(page);
    end();
}

/* The worker had not begun it: it comes back while it is taken back. */
static void what_is_cut_when_its_place_is_lost_waits_for_another(void)
{
    begin();
    struct page *page = PAGE("a");
    take(1, 1);
    page_give(page, 0);
    renew(true, false);
    struct keyed_check *k = places_next_lost(p);
    page_return(page, 0);
    places_take_back(p, k);
    places_collect(p, page);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_KEYED);
    CU_ASSERT_TRUE(places_hold_nothing(p));
    CU_ASSERT_EQUAL(take(1, 1), 1);
    CU_ASSERT_EQUAL(page->checks[0].state, CHECK_WAITING);
    drop(page);
    end();
}

static void a_run_of_a_page_that_is_dropped_keeps_its_place(void)
{
    begin();
    struct page *page = PAGE("a", "a");
    take(1, 1);
    page_give(page, 0);
    places_leave(p, page);
    page_leave_waiting(page);
    CU_ASSERT_FALSE(places_due(p, PLACES_RETURN, now));
    struct page *next = PAGE("a");
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now));
    page_answer(page, 0, now);
    places_collect(p, page);
    CU_ASSERT_EQUAL(next->checks[0].state, CHECK_WAITING);
    drop(page);
    drop(next);
    end();
}

/* ---- how long ---- */

static void a_place_that_does_not_last_is_renewed_for_longer_first(void)
{
    begin();
    struct page *page = PAGE("a"), *longer = fixture_page(&fx, 1);
    take(1, 1);
    longer->rows.checks[0].concurrency_key = "a";
    CU_ASSERT_EQUAL(places_add(p, longer, 0, 2 * LASTS_S), PLACES_WAITS);
    answer(page, 0);
    CU_ASSERT_EQUAL(longer->checks[0].state, CHECK_KEYED);
    CU_ASSERT_TRUE(places_due(p, PLACES_RENEW, now));
    int n;
    CU_ASSERT_EQUAL(places_begin(p, PLACES_RENEW, &n, now, now)[0].lasts_s, 2 * LASTS_S);
    places_renewed(p, true, now);
    CU_ASSERT_EQUAL(longer->checks[0].state, CHECK_WAITING);
    drop(page);
    drop(longer);
    end();
}

static void trust_begins_with_the_sending_of_the_oldest(void)
{
    begin();
    CU_ASSERT_EQUAL(places_trust_until_us(p), INT64_MAX);
    struct page *page = PAGE("a");
    int64_t first = now;
    take(1, 1);
    CU_ASSERT_EQUAL(places_trust_until_us(p), first + 20 * SECOND);
    now += 5 * SECOND;
    struct page *other = PAGE("b");
    take(1, 1);
    CU_ASSERT_EQUAL(places_trust_until_us(p), first + 20 * SECOND);
    CU_ASSERT_EQUAL(places_next_us(p), first + 20 * SECOND / 3);
    now += 2 * SECOND;
    CU_ASSERT_EQUAL(renew(false, false), 2);
    CU_ASSERT_EQUAL(places_trust_until_us(p), now + 20 * SECOND);
    fx.health.refused_boot_us = now + 1;
    CU_ASSERT_EQUAL(places_trust_until_us(p), 0);
    drop(page);
    drop(other);
    end();
}

/* The engine would turn round and round until the answer comes. */
static void while_a_call_is_under_way_it_is_not_due_again(void)
{
    begin();
    struct page *page = PAGE("a");
    int n;
    take(1, 1);
    int64_t renew_us = places_next_us(p);
    now = renew_us;
    places_begin(p, PLACES_RENEW, &n, now, now);
    CU_ASSERT(places_next_us(p) > now);
    places_renewed(p, false, now);
    CU_ASSERT_EQUAL(places_next_us(p), renew_us);
    renew(false, false);
    struct page *later = PAGE("b");
    CU_ASSERT_EQUAL(take(0, 1), 1);
    now = places_next_us(p);
    places_begin(p, PLACES_TAKE, &n, now, now);
    CU_ASSERT_EQUAL(n, 1);
    CU_ASSERT(places_next_us(p) > now);
    places_taken(p, false, now);
    drop(page);
    drop(later);
    end();
}

/* A store may read what it is asked long after that: it connects anew before. */
static void what_a_renewal_asks_for_stays_while_its_places_are_given_back(void)
{
    begin();
    struct page *page = PAGE("a", "b", "b");
    int n;
    CU_ASSERT_EQUAL(take(1, 2), 2);
    CU_ASSERT_EQUAL(take(2, 2), 1);
    const struct store_place *held = places_begin(p, PLACES_RENEW, &n, now, now);
    CU_ASSERT_EQUAL(n, 3);
    for (int i = 0; i < 3; i++)
        answer(page, i);
    CU_ASSERT_EQUAL(give_back(), 3);
    for (int i = 0; i < n; i++)
        CU_ASSERT(strcmp(held[i].key, "a") == 0 || strcmp(held[i].key, "b") == 0);
    struct page *next = PAGE("a");          /* the same one, which the answer does not end */
    places_renewed(p, true, now);
    CU_ASSERT_EQUAL(take(1, 1), 1);
    CU_ASSERT_EQUAL(next->checks[0].state, CHECK_WAITING);
    answer(next, 0);
    CU_ASSERT_EQUAL(give_back(), 1);
    CU_ASSERT_TRUE(places_hold_nothing(p));
    drop(page);
    drop(next);
    end();
}

static void what_has_been_given_back_limits_no_trust(void)
{
    begin();
    struct page *page = PAGE("a", "b");
    CU_ASSERT_EQUAL(take(1, 1), 2);
    answer(page, 0);
    CU_ASSERT_EQUAL(places_trust_until_us(p), now + 20 * SECOND);
    answer(page, 1);
    CU_ASSERT_EQUAL(places_trust_until_us(p), INT64_MAX);
    CU_ASSERT_EQUAL(give_back(), 2);
    CU_ASSERT_EQUAL(places_trust_until_us(p), INT64_MAX);
    drop(page);
    end();
}

static void no_more_places_are_held_than_there_is_room_for(void)
{
    begin();
    enum { MANY = PLACES_MOST + 10 };
    struct page *page = fixture_page(&fx, MANY);
    char (*keys)[8] = calloc(MANY, sizeof *keys);
    CU_ASSERT_PTR_NOT_NULL_FATAL(keys);
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        page->rows.checks[i].concurrency_key = keys[i];
        CU_ASSERT_EQUAL(places_add(p, page, i, LASTS_S), PLACES_WAITS);
    }
    CU_ASSERT_EQUAL(take(1, 1), PLACES_MOST);
    CU_ASSERT_FALSE(places_due(p, PLACES_TAKE, now));
    answer(page, 0);
    CU_ASSERT_EQUAL(give_back(), 1);
    CU_ASSERT_EQUAL(take(1, 1), 1);
    drop(page);
    free(keys);
    end();
}

static const struct test tests[] = {
    TEST(checks_of_a_key_are_admitted_one_after_the_other),
    TEST(a_key_with_two_places_runs_two),
    TEST(a_check_that_comes_back_unrun_keeps_its_place),
    TEST(what_is_decided_without_a_run_frees_its_place),
    TEST(very_many_of_a_key_do_not_all_wait),
    TEST(a_busy_key_is_asked_for_again_and_put_off_after_a_second),
    TEST(a_key_that_is_free_in_time_is_run),
    TEST(a_place_that_others_want_is_given_back_after_the_run),
    TEST(what_waits_while_another_place_is_asked_for_waits_for_the_answer),
    TEST(a_take_that_fails_is_made_again),
    TEST(a_check_whose_place_is_lost_waits_for_another),
    TEST(nothing_else_runs_beside_a_run_whose_place_is_lost),
    TEST(what_comes_back_unrun_when_its_place_is_lost_waits_for_another),
    TEST(what_is_cut_when_its_place_is_lost_waits_for_another),
    TEST(a_run_of_a_page_that_is_dropped_keeps_its_place),
    TEST(a_place_that_does_not_last_is_renewed_for_longer_first),
    TEST(trust_begins_with_the_sending_of_the_oldest),
    TEST(while_a_call_is_under_way_it_is_not_due_again),
    TEST(what_a_renewal_asks_for_stays_while_its_places_are_given_back),
    TEST(what_has_been_given_back_limits_no_trust),
    TEST(no_more_places_are_held_than_there_is_room_for),
    { NULL, NULL },
};

const struct suite suite_places = { "places", NULL, NULL, tests };
