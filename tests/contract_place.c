/* contract_place.c - the store's contract: a concurrency key has so many places, each is one
 * engine's at a time, and checks bring their keys. */
#include <string.h>

#include "../engine/store/store_place.h"
#include "store_contract.h"

enum { A_MINUTE = 60 };

static struct store_place take_place(const unsigned char *who, const char *key, int32_t lasts_s)
{
    struct store_place place = { .key = key, .lasts_s = lasts_s };
    struct store_take_places t = STORE_TAKE_PLACES_INIT;
    t.places = &place;
    t.n = 1;
    t.owner = who;
    IS(0, fixture_call(&t.call));
    return place;
}

static void renew_place(const unsigned char *who, struct store_place *place)
{
    struct store_renew_places r = STORE_RENEW_PLACES_INIT;
    r.places = place;
    r.n = 1;
    r.owner = who;
    IS(0, fixture_call(&r.call));
}

static void return_place(const unsigned char *who, const struct store_place *place)
{
    struct store_return_places r = STORE_RETURN_PLACES_INIT;
    r.places = place;
    r.n = 1;
    r.owner = who;
    IS(0, fixture_call(&r.call));
}

/* "set", "removed", ...; "error" where it was refused. */
static const char *limit(const char *pattern, const char *places)
{
    struct store_rows rows = REPORT("concurrency", pattern, places);
    return rows.rows == 1 ? cell(&rows, 0, "outcome") : "error";
}

static const char *put_keyed(const char *key, const char *conflict, const char *concurrency_key)
{
    struct store_rows rows = REPORT("enqueue", "orders", key, "look", text_of(SLOT), NULL, conflict, NULL,
                                    text_of(BEFORE), concurrency_key);
    return filed_as(&rows);
}

/* ---- places ---- */

void a_place_is_taken_once(void)
{
    WITH_STORE();
    struct store_place mine = take_place(owner, "shop", A_MINUTE);
    IS(1, mine.number);
    IS(1, mine.places);
    IS(0, take_place(stranger, "shop", A_MINUTE).number);
    renew_place(owner, &mine);
    CU_ASSERT_FALSE(mine.is_lost);
    CU_ASSERT_TRUE(mine.is_wanted);
}

void a_place_given_back_is_free(void)
{
    WITH_STORE();
    struct store_place mine = take_place(owner, "shop", A_MINUTE);
    renew_place(owner, &mine);
    CU_ASSERT_FALSE(mine.is_wanted);
    return_place(owner, &mine);
    return_place(owner, &mine);
    struct store_place theirs = take_place(stranger, "shop", A_MINUTE);
    IS(1, theirs.number);
    CU_ASSERT(theirs.token != mine.token);
    return_place(owner, &mine);
    renew_place(stranger, &theirs);
    CU_ASSERT_FALSE(theirs.is_lost);
}

void an_expired_place_is_taken_and_not_renewed(void)
{
    WITH_STORE();
    struct store_place mine = take_place(owner, "shop", 0);
    mine.lasts_s = A_MINUTE;
    renew_place(owner, &mine);
    CU_ASSERT_TRUE(mine.is_lost);
    struct store_place theirs = take_place(stranger, "shop", A_MINUTE);
    IS(1, theirs.number);
    renew_place(owner, &mine);
    CU_ASSERT_TRUE(mine.is_lost);
    return_place(owner, &mine);
    IS(0, take_place(owner, "shop", A_MINUTE).number);
}

void a_key_has_as_many_places_as_its_limit_says(void)
{
    WITH_STORE();
    TEXT_IS("set", limit("shop", "3"));
    for (int i = 1; i <= 3; i++) {
        struct store_place place = take_place(i == 2 ? stranger : owner, "shop", A_MINUTE);
        IS(i, place.number);
        IS(3, place.places);
    }
    IS(0, take_place(owner, "shop", A_MINUTE).number);
    IS(1, take_place(owner, "shop-2", A_MINUTE).places);
    TEXT_IS("removed", limit("shop", NULL));
    TEXT_IS("not_found", limit("shop", NULL));
}

void a_place_above_the_limit_comes_to_its_end(void)
{
    WITH_STORE();
    limit("shop*", "2");
    struct store_place first = take_place(owner, "shop", A_MINUTE), second = take_place(owner, "shop", 0);
    IS(2, second.number);
    struct store_place again = take_place(stranger, "shop", A_MINUTE);
    IS(2, again.number);
    limit("shop*", "1");
    renew_place(owner, &first);
    renew_place(stranger, &again);
    CU_ASSERT_FALSE(first.is_lost);
    CU_ASSERT_TRUE(again.is_lost);
    IS(0, take_place(stranger, "shop", A_MINUTE).number);
}

void of_several_patterns_the_longest_one_counts(void)
{
    WITH_STORE();
    limit("*", "2");
    limit("shop-*", "5");
    limit("shop-1*", "3");
    limit("shop-1", "4");
    limit("*%_", "9");
    static const struct { const char *key; int places; } keys[] = {
        { "shop-1", 4 }, { "shop-12", 3 }, { "shop-2", 5 }, { "shop", 2 }, { "Shop-2", 2 }, { "%", 2 },
    };
    for (int i = 0; i < 6; i++)
        IS(keys[i].places, take_place(owner, keys[i].key, A_MINUTE).places);
}

void who_has_a_place_asks_nobody_for_his(void)
{
    WITH_STORE();
    limit("shop", "2");
    struct store_place mine = take_place(owner, "shop", A_MINUTE);
    struct store_place theirs = take_place(stranger, "shop", A_MINUTE);
    IS(0, take_place(owner, "shop", A_MINUTE).number);
    renew_place(stranger, &theirs);
    CU_ASSERT_FALSE(theirs.is_wanted);
    return_place(owner, &mine);
    IS(1, take_place(stranger, "shop", A_MINUTE).number);
    IS(0, take_place(owner, "shop", A_MINUTE).number);
    renew_place(stranger, &theirs);
    CU_ASSERT_TRUE(theirs.is_wanted);
}

void keys_of_one_call_are_told_apart(void)
{
    WITH_STORE();
    take_place(stranger, "b", A_MINUTE);
    struct store_place places[] = { { .key = "c", .lasts_s = 5 },
                                    { .key = "a", .lasts_s = 5 },
                                    { .key = "b", .lasts_s = 5 },
                                    { .key = "it's \"d\", \xc3\xa9\n", .lasts_s = 5 } };
    struct store_take_places t = STORE_TAKE_PLACES_INIT;
    t.places = places;
    t.n = 4;
    t.owner = owner;
    IS(0, fixture_call(&t.call));
    IS(1, places[0].number);
    IS(1, places[1].number);
    IS(0, places[2].number);
    IS(1, places[3].number);
    CU_ASSERT(places[0].token != places[1].token);
    struct store_renew_places r = STORE_RENEW_PLACES_INIT;
    r.places = places;
    r.n = 4;
    r.owner = owner;
    IS(0, fixture_call(&r.call));
    CU_ASSERT_FALSE(places[0].is_lost || places[1].is_lost || places[3].is_lost);
    CU_ASSERT_TRUE(places[2].is_lost);
}

void limits_that_make_no_sense_are_refused(void)
{
    WITH_STORE();
    char pattern[1100];
    memset(pattern, 'x', sizeof pattern);
    pattern[1024] = '\0';
    TEXT_IS("set", limit(pattern, "1000"));
    pattern[1024] = 'x';
    pattern[1025] = '\0';
    TEXT_IS("error", limit(pattern, "1"));
    TEXT_IS("error", limit("", "1"));
    TEXT_IS("error", limit("a*b", "1"));
    TEXT_IS("error", limit("a**", "1"));
    TEXT_IS("error", limit("a", "0"));
    TEXT_IS("error", limit("a", "-1"));
    TEXT_IS("error", limit("a", "1001"));
}

/* ---- checks ---- */

static const char odd_key[] = "it's 5:\n\"x\" \xe2\x82\xac";

void a_check_keeps_its_concurrency_key_while_it_waits(void)
{
    WITH_STORE();
    TEXT_IS("new +0", put_keyed("1", "keep", odd_key));
    TEXT_IS("kept +0", put_keyed("1", "keep", "another"));
    struct scene scene = { .lease = take(), .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    TEXT_IS(odd_key, scene.page.checks[0].concurrency_key);
    TEXT_IS("NULL", scene.page.checks[0].terms ? scene.page.checks[0].terms : "NULL");
    scene.answers[0].check = &scene.page.checks[0];
    answer_again(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle(&scene).touched);
    TEXT_IS(odd_key, value("list", "1", "concurrency_key"));
    TEXT_IS("moved +5", reschedule("1", SLOT + 5 * LENGTH, NOW));
    TEXT_IS(odd_key, value("list", "1", "concurrency_key"));
    scene_end(&scene);
}

void retry_puts_a_check_back_with_its_concurrency_key(void)
{
    WITH_STORE();
    put_keyed("1", "keep", odd_key);
    put_keyed("2", "keep", NULL);
    struct scene scene = { .lease = take(), .n = 2 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 2);
    for (int i = 0; i < 2; i++) {
        scene.answers[i].check = &scene.page.checks[i];
        answer_done(&scene.answers[i]);
        scene.answers[i].outcome = OUTCOME_FAILED;
    }
    IS(2, settle(&scene).touched);
    scene_end(&scene);
    IS(2, fixture_retry(NULL, NULL, NULL, NULL, NULL, text_of(NOW)).rows);
    TEXT_IS(odd_key, value("list", "1", "concurrency_key"));
    TEXT_IS("NULL", value("list", "2", "concurrency_key"));
}

void replace_brings_another_concurrency_key(void)
{
    WITH_STORE();
    put_keyed("1", "keep", "a");
    TEXT_IS("replaced +0", put_keyed("1", "replace", "b"));
    TEXT_IS("b", value("list", "1", "concurrency_key"));
    TEXT_IS("replaced +0", put_keyed("1", "replace", NULL));
    TEXT_IS("NULL", value("list", "1", "concurrency_key"));
}

void a_busy_check_moves_by_seconds_and_counts_for_nothing(void)
{
    WITH_STORE();
    put_keyed("1", "keep", "a");
    struct scene scene = { .lease = take(), .n = 1 };
    scene.page = read_page(&scene.lease, 10);
    CU_ASSERT_EQUAL_FATAL(scene.page.n, 1);
    scene.answers[0].check = &scene.page.checks[0];
    answer_again(&scene.answers[0], NOW + 7);
    scene.answers[0].outcome = OUTCOME_BUSY;
    scene.answers[0].ran = false;
    scene.answers[0].check_count = 0;
    IS(1, settle(&scene).touched);
    IS(NOW + 7, number("list", "1", "next_check_at"));
    IS(0, number("list", "1", "check_count"));
    TEXT_IS("NULL", value("list", "1", "put_off_at"));
    TEXT_IS("none", value("runs", "1", "outcome"));
    scene_end(&scene);
}

void keys_are_listed_with_who_holds_them_and_who_waits(void)
{
    WITH_STORE();
    put_keyed("1", "keep", "held");
    put_keyed("2", "keep", "held");
    put_keyed("3", "keep", "waited for");
    put("4", SLOT, "keep", BEFORE);
    take_place(owner, "held", A_MINUTE);
    take_place(owner, "expired", 0);
    struct store_rows rows = REPORT("keys", NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 2);
    TEXT_IS("held", cell(&rows, 0, "concurrency_key"));
    TEXT_IS("1", cell(&rows, 0, "place"));
    TEXT_IS("test/1", cell(&rows, 0, "engine"));
    TEXT_IS("2", cell(&rows, 0, "waiting"));
    TEXT_IS("waited for", cell(&rows, 1, "concurrency_key"));
    TEXT_IS("NULL", cell(&rows, 1, "place"));
    TEXT_IS("1", cell(&rows, 1, "waiting"));
}
