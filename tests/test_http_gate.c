/* test_http_gate.c - who is let in, by a list that may be old, and how wrong tokens are slowed. The
 * clock is the test's. */
#include "../engine/http/gate.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include "../engine/base/hex.h"
#include "test.h"

#define S INT64_C(1000000)

static const char shop[] = "prescient_00000000000000000000000000000001";
static const char eye[] = "prescient_00000000000000000000000000000002";
static const char old[] = "prescient_00000000000000000000000000000003";
static const char unknown[] = "prescient_00000000000000000000000000000004";
static const int64_t today_s = 1795990990;

static struct gate g;

static void add_row(char *json, const char *name, const char *role, const char *token, bool is_in_force)
{
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY];
    char hash_text[TOKEN_DIGITS], key_text[TOKEN_DIGITS];
    token_hash(token, hash);
    token_session_key(token, key);
    hex_write(hash, sizeof hash, hash_text);
    hex_write(key, sizeof key, key_text);
    const char *comma = json[1] ? "," : "";
    sprintf(json + strlen(json), "%s[\"%s\",\"%s\",%s,\"%s\",\"%s\"]", comma, name, role,
            is_in_force ? "true" : "false", hash_text, key_text);
}

static void take(const char *rows, int64_t asked_us)
{
    char json[2048];
    struct err err;
    snprintf(json, sizeof json, "{\"tokens\": %s, \"read_only\": false}", rows);
    CU_ASSERT_FATAL(gate_take(&g, json, strlen(json), asked_us, &err) == 0);
}

static void begin(int64_t asked_us)
{
    char json[2000] = "[";
    gate_free(&g);
    memset(&g, 0, sizeof g);
    add_row(json, "shop", "enqueue", shop, true);
    add_row(json, "eye", "read", eye, true);
    add_row(json, "old", "operate", old, false);
    strcat(json, "]");
    take(json, asked_us);
}

static struct gate_visit visit;

static enum gate_rc judge_at(const char *authorization, const char *cookie, int64_t came_us, int64_t now_us)
{
    visit = (struct gate_visit){ .came_us = came_us };
    return gate_judge(&g, &(struct gate_asks){ .authorization = authorization, .cookie = cookie,
                                               .cookie_name = SESSION_COOKIE }, now_us, today_s, &visit);
}

static enum gate_rc judge(const char *token, int64_t came_us, int64_t now_us)
{
    char header[100];
    snprintf(header, sizeof header, "Bearer %s", token);
    return judge_at(header, NULL, came_us, now_us);
}

static const char *cookie_of(const char *token, int64_t until_s)
{
    static const uint8_t random[SESSION_RANDOM] = { 9 };
    static char header[sizeof SESSION_COOKIE + SESSION_TEXT];
    struct session s;
    session_make(token, until_s, random, &s);
    strcpy(header, SESSION_COOKIE "=");
    session_text(&s, header + strlen(header));
    return header;
}

static void a_right_token_is_let_in_with_its_role(void)
{
    begin(10 * S);
    CU_ASSERT(judge(shop, 11 * S, 11 * S) == GATE_LETS_IN);
    CU_ASSERT_STRING_EQUAL(visit.guest.name, "shop");
    CU_ASSERT(visit.guest.role == ROLE_ENQUEUE && visit.guest.by == BY_TOKEN);
    CU_ASSERT(judge(eye, 11 * S, 11 * S) == GATE_LETS_IN && visit.guest.role == ROLE_READ);
}

static void without_one_nobody_is(void)
{
    begin(10 * S);
    CU_ASSERT(judge_at(NULL, NULL, 11 * S, 11 * S) == GATE_NOTHING);
    CU_ASSERT(judge_at(NULL, "a=b", 11 * S, 11 * S) == GATE_NOTHING);
    CU_ASSERT(judge_at("Basic eDp5", NULL, 11 * S, 11 * S) == GATE_WRONG);
    CU_ASSERT(judge_at("", cookie_of(shop, today_s + 1), 11 * S, 11 * S) == GATE_WRONG);
    CU_ASSERT(judge(old, 11 * S, 11 * S) == GATE_OVER);
}

/* It may have been made by now: the next list says so, or that it is wrong. */
static void an_unknown_one_waits_for_the_next_list(void)
{
    begin(10 * S);
    CU_ASSERT(judge(unknown, 11 * S, 11 * S) == GATE_UNKNOWN);
    begin(12 * S);
    CU_ASSERT(judge(unknown, 11 * S, 12 * S) == GATE_WRONG);
    CU_ASSERT(judge_at(NULL, cookie_of(unknown, today_s + 1), 11 * S, 12 * S) == GATE_WRONG);
    begin(10 * S);
    CU_ASSERT(judge(unknown, 10 * S + 1, 10 * S + GATE_PATIENCE_US) == GATE_UNKNOWN);
}

static void an_old_list_lets_nobody_in(void)
{
    begin(10 * S);
    int64_t late = 10 * S + GATE_FRESH_US + 1;
    CU_ASSERT(judge(shop, late - 1, late - 1) == GATE_LETS_IN);
    CU_ASSERT(judge(shop, late, late) == GATE_WAITS);
    CU_ASSERT(judge(shop, late, late + GATE_PATIENCE_US) == GATE_AWAY);
    CU_ASSERT(judge_at(NULL, NULL, late, late + GATE_PATIENCE_US) == GATE_AWAY);
}

/* A store that is away is not waited for. */
static void who_asks_while_the_store_is_away_hears_it_at_once(void)
{
    begin(10 * S);
    gate_fails(&g, 11 * S);
    CU_ASSERT(judge(shop, 12 * S, 12 * S) == GATE_LETS_IN);
    CU_ASSERT(judge(shop, 16 * S, 16 * S) == GATE_AWAY);
    take("[]", 17 * S);
    CU_ASSERT(judge(shop, 17 * S, 17 * S) == GATE_WRONG);
    CU_ASSERT(judge(shop, 30 * S, 30 * S) == GATE_WAITS);
}

static void what_needs_no_store_goes_on_for_a_while(void)
{
    char header[100];
    struct gate_asks asks = { .authorization = header, .needs_no_store = true };
    snprintf(header, sizeof header, "Bearer %s", shop);
    begin(10 * S);
    int64_t late = 10 * S + GATE_OLD_US;
    visit = (struct gate_visit){ .came_us = 11 * S };
    CU_ASSERT(gate_judge(&g, &asks, late, today_s, &visit) == GATE_LETS_IN);
    CU_ASSERT(gate_judge(&g, &asks, late + 1, today_s, &visit) == GATE_AWAY);
}

static void without_a_list_nobody_knows(void)
{
    gate_free(&g);
    memset(&g, 0, sizeof g);
    CU_ASSERT(judge(shop, 1 * S, 1 * S) == GATE_WAITS);
    CU_ASSERT(judge(shop, 1 * S, 1 * S + GATE_PATIENCE_US) == GATE_AWAY);
    take("[]", 2 * S);
    CU_ASSERT(judge(shop, 2 * S, 2 * S) == GATE_LETS_IN);
    CU_ASSERT_STRING_EQUAL(visit.guest.name, "");
    CU_ASSERT(visit.guest.role == ROLE_OPERATE && visit.guest.by == BY_NOTHING);
}

static void the_last_one_that_goes_opens_nothing(void)
{
    begin(10 * S);
    take("[]", 11 * S);
    CU_ASSERT(judge_at(NULL, NULL, 11 * S, 11 * S) == GATE_NOTHING);
    CU_ASSERT(judge(shop, 11 * S, 11 * S) == GATE_WRONG);
}

/* One that has expired is a token all the same. */
static void one_that_is_over_keeps_it_closed(void)
{
    char json[500] = "[";
    gate_free(&g);
    memset(&g, 0, sizeof g);
    add_row(json, "old", "operate", old, false);
    strcat(json, "]");
    take(json, 10 * S);
    CU_ASSERT(judge_at(NULL, NULL, 10 * S, 10 * S) == GATE_NOTHING);
}

static void what_cannot_be_read_leaves_the_list(void)
{
    struct err err;
    static const char *const bad[] = { "", "{}", "[", "7", "[]", "{\"tokens\": 7}" };
    begin(10 * S);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CU_ASSERT(gate_take(&g, bad[i], strlen(bad[i]), 11 * S, &err) < 0);
    CU_ASSERT(g.asked_us == 10 * S && judge(shop, 11 * S, 11 * S) == GATE_LETS_IN);
    take("[[\"x\", \"root\", true, \"00\", \"00\"], 7]", 12 * S);
    CU_ASSERT(g.n == 0 && g.is_closed && !g.store_reads_only);
}

static void the_list_says_whether_its_store_takes_writes(void)
{
    static const char json[] = "{\"tokens\": [], \"read_only\": true}";
    struct err err;
    begin(10 * S);
    CU_ASSERT_FATAL(gate_take(&g, json, strlen(json), 11 * S, &err) == 0);
    CU_ASSERT(g.store_reads_only);
    take("[]", 12 * S);
    CU_ASSERT_FALSE(g.store_reads_only);
}

static void a_session_lasts_as_long_as_it_says(void)
{
    begin(10 * S);
    CU_ASSERT(judge_at(NULL, cookie_of(shop, today_s + 1), 10 * S, 10 * S) == GATE_LETS_IN);
    CU_ASSERT(visit.guest.by == BY_SESSION && visit.guest.role == ROLE_ENQUEUE && *visit.guest.csrf);
    CU_ASSERT(visit.guest.until_s == today_s + 1);
    CU_ASSERT(judge_at(NULL, cookie_of(shop, today_s), 10 * S, 10 * S) == GATE_OVER);
    CU_ASSERT(judge_at(NULL, cookie_of(old, today_s + 1), 10 * S, 10 * S) == GATE_OVER);
}

static enum gate_rc judge_two(const char *one, const char *two, int64_t came_us, int64_t now_us)
{
    char header[2 * (sizeof SESSION_COOKIE + SESSION_TEXT) + 2];
    strcpy(header, cookie_of(one, one == old ? today_s : today_s + 1));
    strcat(header, "; ");
    strcat(header, cookie_of(two, two == old ? today_s : today_s + 1));
    return judge_at(NULL, header, came_us, now_us);
}

/* Those of another server, of a path above ours, or of who may set cookies for all of a domain. */
static void of_several_sessions_the_first_good_one_counts(void)
{
    begin(10 * S);
    CU_ASSERT(judge_two(unknown, shop, 10 * S, 10 * S) == GATE_LETS_IN);
    CU_ASSERT_STRING_EQUAL(visit.guest.name, "shop");
    CU_ASSERT(judge_two(shop, unknown, 10 * S, 10 * S) == GATE_LETS_IN);
    CU_ASSERT(judge_two(old, shop, 10 * S, 10 * S) == GATE_LETS_IN);
    CU_ASSERT(judge_two(eye, shop, 10 * S, 10 * S) == GATE_LETS_IN);
    CU_ASSERT_STRING_EQUAL(visit.guest.name, "eye");
}

/* One that may be made by now is waited for; one that was good slows nobody. */
static void of_several_bad_ones_the_best_is_told(void)
{
    begin(10 * S);
    CU_ASSERT(judge_two(old, unknown, 11 * S, 11 * S) == GATE_UNKNOWN);
    CU_ASSERT(judge_two(unknown, old, 11 * S, 11 * S) == GATE_UNKNOWN);
    CU_ASSERT(judge_two(unknown, old, 10 * S, 10 * S) == GATE_OVER);
    CU_ASSERT(judge_two(old, unknown, 10 * S, 10 * S) == GATE_OVER);
    CU_ASSERT(judge_two(unknown, unknown, 10 * S, 10 * S) == GATE_WRONG);
}

/* Who knows the digest of a token can name it, and not sign for it. */
static void a_session_that_another_token_has_signed_is_wrong(void)
{
    static const uint8_t random[SESSION_RANDOM] = { 9 };
    char header[sizeof SESSION_COOKIE + SESSION_TEXT] = SESSION_COOKIE "=";
    uint8_t hash[TOKEN_HASH];
    struct session s;
    begin(10 * S);
    session_make(unknown, today_s + 1, random, &s);
    token_hash(shop, hash);
    memcpy(s.bytes, hash, SESSION_TOKEN);
    session_text(&s, header + strlen(header));
    CU_ASSERT(judge_at(NULL, header, 10 * S, 10 * S) == GATE_WRONG);
}

/* ---- slowing ---- */

static void who_is_wrong_again_waits_longer(void)
{
    static struct slow s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < SLOW_FREE; i++)
        CU_ASSERT(slow_failed(&s, 7, i) == 0);
    CU_ASSERT(slow_failed(&s, 7, S) == SLOW_FIRST_US);
    CU_ASSERT(slow_failed(&s, 7, S) == 2 * SLOW_FIRST_US);
    CU_ASSERT(slow_failed(&s, 8, S) == 0);              /* another peer */
    for (int i = 0; i < 100; i++)
        CU_ASSERT(slow_failed(&s, 7, S) <= SLOW_MOST_US);
    CU_ASSERT(slow_failed(&s, 7, S) == SLOW_MOST_US);
    CU_ASSERT(slow_failed(&s, 7, S + SLOW_FORGETS_US) == 0);
}

static void many_peers_push_out_the_one_of_longest_ago(void)
{
    static struct slow s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < 2 * SLOW_FREE; i++)
        slow_failed(&s, 7, 1 + i);
    for (uint64_t who = 100; who < 100 + SLOW_PEERS - 1; who++)
        slow_failed(&s, who, S);
    CU_ASSERT(slow_failed(&s, 7, 2 * S) > 0);
    for (uint64_t who = 1000; who < 1000 + SLOW_PEERS; who++)
        slow_failed(&s, who, 3 * S);
    CU_ASSERT(slow_failed(&s, 7, 4 * S) == 0);
}

static void a_network_of_ipv6_is_one_peer(void)
{
    struct sockaddr_in6 a = { .sin6_family = AF_INET6 }, b = a, c = a;
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr file = { .sa_family = AF_UNIX };
    a.sin6_addr.s6_addr[0] = b.sin6_addr.s6_addr[0] = 0x20;
    b.sin6_addr.s6_addr[15] = 1;
    c.sin6_addr.s6_addr[7] = 1;
    CU_ASSERT(slow_who((struct sockaddr *)&a) == slow_who((struct sockaddr *)&b));
    CU_ASSERT(slow_who((struct sockaddr *)&a) != slow_who((struct sockaddr *)&c));
    CU_ASSERT(slow_who((struct sockaddr *)&v4) != slow_who(&file));
}

static uint64_t who_of(const char *address)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1)
        return slow_who((struct sockaddr *)&v4);
    CU_ASSERT_FATAL(inet_pton(AF_INET6, address, &v6.sin6_addr) == 1);
    return slow_who((struct sockaddr *)&v6);
}

/* To [::], a socket of both kinds, they come as addresses of IPv6 with the same beginning. */
static void addresses_of_ipv4_are_peers_of_their_own_everywhere(void)
{
    static const char *const peers[] = { "127.0.0.1", "::ffff:127.0.0.2", "192.0.2.1", "::1", "1.2.0.192",
                                         "2001:db8:100::1", "32.1.13.184", "184.13.1.32" };
    enum { PEERS = sizeof peers / sizeof *peers };
    for (int i = 0; i < PEERS; i++)
        for (int k = 0; k < i; k++)
            CU_ASSERT(who_of(peers[i]) != who_of(peers[k]));
    CU_ASSERT(who_of("::ffff:192.0.2.1") == who_of("192.0.2.1"));
    CU_ASSERT(who_of("2001:db8:100::1") == who_of("2001:db8:100::2"));
}

static int free_all(void)
{
    gate_free(&g);
    return 0;
}

static const struct test tests[] = {
    TEST(a_right_token_is_let_in_with_its_role),
    TEST(without_one_nobody_is),
    TEST(an_unknown_one_waits_for_the_next_list),
    TEST(an_old_list_lets_nobody_in),
    TEST(who_asks_while_the_store_is_away_hears_it_at_once),
    TEST(what_needs_no_store_goes_on_for_a_while),
    TEST(without_a_list_nobody_knows),
    TEST(the_last_one_that_goes_opens_nothing),
    TEST(one_that_is_over_keeps_it_closed),
    TEST(what_cannot_be_read_leaves_the_list),
    TEST(the_list_says_whether_its_store_takes_writes),
    TEST(a_session_lasts_as_long_as_it_says),
    TEST(of_several_sessions_the_first_good_one_counts),
    TEST(of_several_bad_ones_the_best_is_told),
    TEST(a_session_that_another_token_has_signed_is_wrong),
    TEST(who_is_wrong_again_waits_longer),
    TEST(many_peers_push_out_the_one_of_longest_ago),
    TEST(a_network_of_ipv6_is_one_peer),
    TEST(addresses_of_ipv4_are_peers_of_their_own_everywhere),
    { 0 }
};

const struct suite suite_http_gate = { "http_gate", NULL, free_all, tests };
