/* contract_delivery.c - the store's contract: an event that listeners hear has a delivery for each,
 * filed in the transaction that writes it. */
#include <stdlib.h>
#include <string.h>

#include "../engine/rules/bucket.h"
#include "../engine/rules/terms.h"
#include "store_contract.h"

#define DELIVERED (NOW + 1)                 /* the next second at NOW */
#define E1 "00112233445566778899aabbccddeeff"
#define E2 "ffeeddccbbaa99887766554433221100"
#define TERMS                                                                                                \
    "event \"late\" of \"orders\" key \"1\" job \"look\" number 1 failures 0 first 1772370900"

/* As the engine makes them; SQLite takes no notice of the bucket. */
static struct hearer hearer(const char *listener, const char *job, const char *origin)
{
    char key[LISTENER_NAME_MAX + 1 + IDEMPOTENCY_KEY_SIZE];
    snprintf(key, sizeof key, "%s/%s", listener, origin);
    return (struct hearer){ listener, job, bucket_of(DELIVERY_ENTITY, key) };
}

static struct effect heard(const char *event, const char *origin, const struct hearer *hearers, int n)
{
    return (struct effect){ .kind = EFFECT_EMIT, .event = event, .json = "{\"days\": 3}", .hearers = hearers,
                            .nhearers = n, .origin = origin, .terms = TERMS };
}

static struct store_settle settle_with(struct scene *scene, const struct effect *effects, int n)
{
    scene->answers[0].effects = effects;
    scene->answers[0].neffects = n;
    return settle(scene);
}

/* Of a check of the entity, by its key: a column of `list`; "none" where there is no such check. */
static const char *delivery(const char *key, const char *column)
{
    struct store_rows rows = REPORT("list", DELIVERY_ENTITY, key, NULL, NULL, NULL, NULL);
    return rows.rows > 0 ? cell(&rows, 0, column) : "none";
}

/* The checks of the next second, read under its lease. */
static struct check_rows deliveries(void)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = DELIVERED;
    o.want = 64;
    fixture_call(&o.call);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    return read_page(&o.taken[0], SCENE_MAX);
}

/* How many of the page have the key, and the terms of the last of them. */
static int found(const struct check_rows *page, const char *key, struct terms *t)
{
    int n = 0;
    for (int i = 0; i < page->n; i++)
        if (!strcmp(page->checks[i].entity_key, key)) {
            CU_ASSERT_EQUAL(terms_parse(page->checks[i].terms, t, &fixture_err), 0);
            CU_ASSERT(check_is_delivery(&page->checks[i]) && !check_recurs(&page->checks[i]));
            n++;
        }
    return n;
}

void each_event_has_one_delivery_for_each_that_hears_it(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer first[] = { hearer("hook", "post", E1), hearer("mail", "send", E1),
                                    hearer("log", "post", E1) };
    const struct hearer second[] = { hearer("mail", "send", E2) };
    const struct effect effects[] = {
        heard("late", E1, first, 3),
        { .kind = EFFECT_EMIT, .event = "unheard", .json = "[1]" },
        { .kind = EFFECT_ENQUEUE, .entity_name = "orders", .entity_key = "next", .job = "look",
          .at = SLOT + 2 * LENGTH, .conflict = "keep" },
        heard("late", E2, second, 1),
        { .kind = EFFECT_RESOLVE, .entity_name = "orders", .entity_key = "none" },
    };
    IS(0, settle_with(&scene, effects, 5).call.rc);
    IS(5, rows_in("list"));
    struct store_rows events = REPORT("events", "0", "0", "0", NULL);
    IS(3, events.rows);
    TEXT_IS("late", cell(&events, 0, "event"));
    TEXT_IS("unheard", cell(&events, 1, "event"));
    TEXT_IS("[1]", cell(&events, 1, "data"));
    IS(SLOT + 2 * LENGTH, number("list", "next", "next_check_at"));
    struct check_rows page = deliveries();
    IS(4, page.n);
    static const char *const keys[] = { "hook/" E1, "mail/" E1, "log/" E1, "mail/" E2 };
    static const char *const jobs[] = { "post", "send", "post", "send" };
    for (int i = 0; i < 4; i++) {
        struct terms t = { 0 };
        IS(1, found(&page, keys[i], &t));
        TEXT_IS(jobs[i], delivery(keys[i], "job_exec"));
        TEXT_IS("{\"days\": 3}", delivery(keys[i], "payload"));
        IS(DELIVERED, atoll(delivery(keys[i], "first_check_at")));
        CU_ASSERT(t.has_event);
        TEXT_IS("late", t.event.type);
        TEXT_IS("orders", t.event.entity_name);
        IS(NOW * INT64_C(1000000), t.event.emitted_us);
        IS((int64_t)strcspn(keys[i], "/"), (int64_t)strlen(t.event.listener));
    }
    check_rows_free(&page);
    scene_end(&scene);
}

/* The slot is the first second that has not begun by the clock of the statement. */
void a_delivery_without_now_is_filed_by_the_clock_of_the_store(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1);
    struct store_hello hello = STORE_HELLO_INIT;
    fixture_call(&hello.call);
    scene.answers[0].effects = &effect;
    scene.answers[0].neffects = 1;
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = scene.lease;
    s.settlements = scene.answers;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    int64_t at = atoll(delivery("hook/" E1, "next_check_at")), now = hello.now_us / 1000000;
    CU_ASSERT(at > now && at <= now + 60);
    CU_ASSERT(at % LENGTH != 0);
    scene_end(&scene);
}

void a_settle_that_touches_no_row_files_no_delivery(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    const struct hearer to[] = { hearer("hook", "post", E1), hearer("mail", "send", E1) };
    const struct effect effect = heard("late", E1, to, 2);
    TEXT_IS("1", resolve("1"));
    IS(1, settle_with(&scene, &effect, 1).touched);
    TEXT_IS("none", delivery("hook/" E1, "job_exec"));
    TEXT_IS("none", delivery("mail/" E1, "job_exec"));
    IS(0, rows_in("events"));
    scene_end(&scene);
}

void a_settle_that_is_sent_again_files_no_other_delivery(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1);
    for (int round = 0; round < 2; round++) {
        IS(round == 0, settle_with(&scene, &effect, 1).touched);
        IS(1, rows_in("list"));
        IS(1, rows_in("events"));
    }
    scene_end(&scene);
}

/* The run was repeated after a failover that lost its settle, or the clock was set back. */
void an_event_whose_delivery_is_there_is_written_beside_it(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1), again = heard("later", E1, to, 1);
    scene.answers[1].effects = &again;
    scene.answers[1].neffects = 1;
    IS(2, settle_with(&scene, &effect, 1).touched);
    IS(1, rows_in("list"));
    IS(2, rows_in("events"));
    scene_end(&scene);
}

void the_data_of_an_event_arrive_whole(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1), hearer("mail", "send", E1),
                                 hearer("log", "log", E1) };
    struct effect effects[] = { heard("late", E1, to, 3), heard("late", E2, to, 0) };
    char *data = malloc(CHECK_PAYLOAD_MAX + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    memset(data, 'x', CHECK_PAYLOAD_MAX);
    data[0] = data[CHECK_PAYLOAD_MAX - 1] = '"';
    data[CHECK_PAYLOAD_MAX] = '\0';
    effects[0].json = data;
    effects[1].json = NULL;
    IS(0, settle_with(&scene, effects, 2).call.rc);
    struct check_rows page = deliveries();
    IS(3, page.n);
    for (int i = 0; i < page.n; i++) {
        IS(CHECK_PAYLOAD_MAX, page.checks[i].payload_len);
        CU_ASSERT_STRING_EQUAL(page.checks[i].payload, data);
    }
    check_rows_free(&page);
    free(data);
    scene_end(&scene);
}

void an_event_without_data_has_deliveries_without(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1), hearer("mail", "send", E1) };
    struct effect effect = heard("late", E1, to, 2);
    effect.json = NULL;
    IS(0, settle_with(&scene, &effect, 1).call.rc);
    TEXT_IS("NULL", delivery("hook/" E1, "payload"));
    TEXT_IS("NULL", delivery("mail/" E1, "payload"));
    scene_end(&scene);
}

void a_check_that_moves_files_deliveries_too(void)
{
    WITH_STORE();
    struct scene scene = scene_of(2);
    const struct hearer to[] = { hearer("hook", "post", E1) }, too[] = { hearer("hook", "post", E2) };
    const struct effect effect = heard("late", E1, to, 1), other = heard("late", E2, too, 1);
    answer_again(&scene.answers[0], SLOT + 4 * LENGTH);
    scene.answers[1].effects = &other;
    scene.answers[1].neffects = 1;
    IS(2, settle_with(&scene, &effect, 1).touched);
    TEXT_IS("post", delivery("hook/" E1, "job_exec"));
    TEXT_IS("post", delivery("hook/" E2, "job_exec"));
    IS(SLOT + 4 * LENGTH, number("list", "1", "next_check_at"));
    scene_end(&scene);
}

/* ---- what others may do with it -------------------------------------------------------------- */

static void refused(const struct store_rows *rows)
{
    IS(-1, rows->rows);
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "prescient.event, which stands for deliveries"));
}

void nobody_asks_for_a_delivery(void)
{
    WITH_STORE();
    static const char *const conflicts[] = { "keep", "earlier", "replace" };
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1);
    IS(1, settle_with(&scene, &effect, 1).touched);
    struct store_rows rows;
    for (int i = 0; i < 3; i++) {
        rows = REPORT("enqueue", DELIVERY_ENTITY, "hook/" E1, "post", text_of(NOW), NULL, conflicts[i], NULL,
                      text_of(NOW));
        refused(&rows);
        rows = REPORT("enqueue", DELIVERY_ENTITY, "hook/" E2, "post", text_of(NOW), NULL, conflicts[i], NULL,
                      NULL);
        refused(&rows);
        rows = REPORT("enqueue_now", DELIVERY_ENTITY, "hook/" E1, "post", NULL, conflicts[i], NULL,
                      text_of(NOW));
        refused(&rows);
    }
    rows = REPORT("schedule_put", "add", "s", DELIVERY_ENTITY, "1", "look", "300", NULL, NULL, NULL, NULL,
                  NULL, text_of(NOW));
    refused(&rows);
    TEXT_IS("{\"days\": 3}", delivery("hook/" E1, "payload"));
    IS(1, rows_in("list"));
    scene_end(&scene);
}

void a_delivery_can_be_moved_and_stays_what_it_is(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1);
    IS(1, settle_with(&scene, &effect, 1).touched);
    struct check_rows page = deliveries();
    int64_t old_id = page.checks[0].id;
    char key[IDEMPOTENCY_KEY_SIZE], same[IDEMPOTENCY_KEY_SIZE];
    struct idempotency of = check_identity(&page.checks[0]);
    idempotency_key(&of, key);
    check_rows_free(&page);
    struct store_rows rows = REPORT("reschedule", DELIVERY_ENTITY, "hook/" E1, "post",
                                    text_of(SLOT + 3 * LENGTH), text_of(NOW));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("moved", cell(&rows, 0, "outcome"));
    IS(SLOT + 3 * LENGTH, atoll(delivery("hook/" E1, "next_check_at")));
    IS(1, rows_in("list"));
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = SLOT + 3 * LENGTH;
    fixture_call(&o.call);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    page = read_page(&o.taken[0], SCENE_MAX);
    CU_ASSERT_EQUAL_FATAL(page.n, 1);
    CU_ASSERT(check_is_delivery(&page.checks[0]) && page.checks[0].id != old_id);
    TEXT_IS("{\"days\": 3}", page.checks[0].payload);
    of = check_identity(&page.checks[0]);
    idempotency_key(&of, same);
    TEXT_IS(key, same);
    check_rows_free(&page);
    scene_end(&scene);
}

void a_delivery_can_be_resolved(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1);
    IS(1, settle_with(&scene, &effect, 1).touched);
    struct store_rows rows = REPORT("resolve", DELIVERY_ENTITY, "hook/" E1, NULL, text_of(NOW));
    IS(1, rows.rows);
    TEXT_IS("none", delivery("hook/" E1, "job_exec"));
    scene_end(&scene);
}

/* Its terms are gone with it: it would be a check about nothing. */
void retry_leaves_deliveries_alone(void)
{
    WITH_STORE();
    struct scene scene = scene_of(1);
    const struct hearer to[] = { hearer("hook", "post", E1) };
    const struct effect effect = heard("late", E1, to, 1);
    IS(1, settle_with(&scene, &effect, 1).touched);
    scene_end(&scene);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = DELIVERED;
    fixture_call(&o.call);
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    struct scene sent = { .n = 1, .lease = o.taken[0], .page = read_page(&o.taken[0], SCENE_MAX) };
    CU_ASSERT_EQUAL_FATAL(sent.page.n, 1);
    sent.answers[0].check = &sent.page.checks[0];
    answer_done(&sent.answers[0]);
    sent.answers[0].outcome = OUTCOME_FAILED;
    IS(1, settle(&sent).touched);
    scene_end(&sent);
    IS(0, rows_in("list"));
    struct store_rows rows = fixture_retry(NULL, NULL, NULL, NULL, NULL, text_of(NOW));
    IS(0, rows.rows);
    IS(0, rows_in("list"));
}
