/* contract_digest.c - the store's contract: the settle that starts the check of a digest anew files
 * one delivery of the events behind its cursor. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../engine/base/settings.h"
#include "../engine/rules/bucket.h"
#include "../engine/rules/digest.h"
#include "../engine/rules/terms.h"
#include "store_contract.h"

#define TERMS_OF(every) "schedule \"late\" every " every " bias 0 missed run_once digest \"late\""
#define FIRST (SLOT + LENGTH)

static const char *late_events[] = { "order.*", "delivery.failed" }, *but[] = { "order.paid", "order.x*" };
static const struct listener_settings late = { .name = "late", .job = "mail", .events = late_events,
                                               .nevents = 2, .except = but, .nexcept = 2, .digest = "15m" };

static int64_t keep_at(const char *job, const char *terms, int64_t first_at, int64_t now)
{
    const struct digest_check check = { "late", job, terms, bucket_of(DIGEST_ENTITY, "late"), first_at };
    struct store_keep_digests k = STORE_KEEP_DIGESTS_INIT;
    k.checks = &check;
    k.n = 1;
    k.now = now;
    IS(0, fixture_call(&k.call));
    return k.filed;
}

static int64_t keep(void)
{
    return keep_at("mail", TERMS_OF("900"), FIRST, BEFORE);
}

/* A check emits each of these; `json` is the data of the first. */
static void emit(const char *const *events, int n, const char *json)
{
    struct scene scene = scene_of(1);
    struct effect *effects = calloc((size_t)n, sizeof *effects);
    for (int i = 0; i < n; i++)
        effects[i] = (struct effect){ .kind = EFFECT_EMIT, .event = events[i], .json = i ? NULL : json };
    scene.answers[0].effects = effects;
    scene.answers[0].neffects = n;
    struct store_settle s = settle(&scene);
    IS(0, s.call.rc);
    IS(1, s.touched);
    CU_ASSERT_TRUE(finish(&scene.lease));
    scene_end(&scene);
    free(effects);
}

static void emit_one(const char *event, const char *json)
{
    emit(&event, 1, json);
}

static void emit_many(const char *event, int n)
{
    const char **all = calloc((size_t)n, sizeof *all);
    for (int i = 0; i < n; i++)
        all[i] = event;
    emit(all, n, NULL);
    free(all);
}

/* The check of the digest, read under a lease of the slot. */
struct due { struct lease lease; struct check_rows page; struct settlement answer; struct digest digest; };

static struct due due_at(int64_t slot)
{
    struct due due = { .digest = { &late, true } };
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    o.again = true;
    IS(0, fixture_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    due.lease = o.taken[0];
    due.page = read_page(&due.lease, 9);
    CU_ASSERT_EQUAL_FATAL(due.page.n, 1);
    TEXT_IS(DIGEST_ENTITY, due.page.checks[0].entity_name);
    CU_ASSERT_TRUE(check_is_digest(&due.page.checks[0]) && check_recurs(&due.page.checks[0]));
    return due;
}

static struct store_settle settle_due(struct due *due)
{
    struct store_settle s = STORE_SETTLE_INIT;
    const struct check *c = &due->page.checks[0];
    int64_t next = (c->next_check_at / LENGTH + 1) * LENGTH;
    due->answer = (struct settlement){ .check = c, .renews = true, .outcome = OUTCOME_DONE, .ran = true,
                                       .run_at_us = c->next_check_at * 1000000, .next_at = next,
                                       .first_at = next, .digest = &due->digest };
    s.lease = due->lease;
    s.now = c->next_check_at + 5;
    s.settlements = &due->answer;
    s.n = 1;
    fixture_call(&s.call);
    return s;
}

/* Whether it files anything, when it is settled at its slot. */
static bool tell_at(int64_t slot)
{
    struct due due = due_at(slot);
    struct store_settle s = settle_due(&due);
    IS(0, s.call.rc);
    IS(1, s.touched);
    check_rows_free(&due.page);
    return due.digest.files;
}

/* The deliveries that wait, and the data of one of them. */
static int deliveries(void)
{
    return REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL).rows;
}
static json_t *data_of(int n)
{
    struct store_rows rows = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    json_t *data = rows.rows > n ? json_loads(cell(&rows, n, "payload"), 0, NULL) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    return data;
}
static int64_t count_in(const json_t *data, const char *name)
{
    return json_integer_value(json_object_get(data, name));
}
static const char *text_in(const json_t *data, size_t event, const char *name)
{
    const char *text = json_string_value(
        json_object_get(json_array_get(json_object_get(data, "events"), event), name));
    return text ? text : "none";
}
static size_t shown_in(const json_t *data)
{
    return json_array_size(json_object_get(data, "events"));
}

void a_digest_is_one_delivery_of_what_its_listener_hears(void)
{
    static const char *const events[] = { "order.late", "ticket.late", "order.paid", "order.\"a\"\n",
                                          "order.xy", "delivery.failed", "order." };
    WITH_STORE();
    IS(1, keep());
    emit(events, 7, "{\"n\": 1.10}");
    CU_ASSERT_TRUE(tell_at(FIRST));
    IS(1, deliveries());
    struct store_rows rows = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    TEXT_IS("mail", cell(&rows, 0, "job_exec"));
    IS(FIRST + 6, atoll(cell(&rows, 0, "next_check_at")));
    CU_ASSERT_FALSE(strncmp(cell(&rows, 0, "entity_key"), "late/", 5));
    CU_ASSERT_PTR_NOT_NULL(strstr(cell(&rows, 0, "payload"), "\"data\":{\"n\": 1.10}"));
    json_t *data = data_of(0);
    IS(4, count_in(data, "count"));
    IS(0, count_in(data, "left_out"));
    CU_ASSERT_TRUE(json_is_false(json_object_get(data, "pruned")));
    CU_ASSERT_EQUAL_FATAL(shown_in(data), 4);
    TEXT_IS("order.late", text_in(data, 0, "type"));
    TEXT_IS("order.\"a\"\n", text_in(data, 1, "type"));
    TEXT_IS("delivery.failed", text_in(data, 2, "type"));
    TEXT_IS("order.", text_in(data, 3, "type"));
    TEXT_IS("orders", text_in(data, 0, "entity_name"));
    TEXT_IS("1", text_in(data, 0, "entity_key"));
    TEXT_IS("look", text_in(data, 0, "job"));
    TEXT_IS("2026-03-01T13:16:00Z", text_in(data, 0, "timestamp"));
    IS(32, (int64_t)strlen(text_in(data, 0, "id")));
    CU_ASSERT_STRING_NOT_EQUAL(text_in(data, 0, "id"), text_in(data, 1, "id"));
    json_decref(data);
}

/* Two digests of the same events have one id for each of them, on both stores. */
void the_key_of_an_event_in_a_digest_follows_from_its_listener_and_cursor(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    struct store_rows events = REPORT("events", "0", "0", "0", NULL);
    char key[IDEMPOTENCY_KEY_SIZE];
    idempotency_key_of_event("late", cell(&events, 0, "cursor"),
                             atoll(cell(&events, 0, "emitted_at_us")), key);
    CU_ASSERT_TRUE(tell_at(FIRST));
    json_t *data = data_of(0);
    TEXT_IS(key, text_in(data, 0, "id"));
    json_decref(data);
}

void a_new_digest_begins_with_what_comes(void)
{
    WITH_STORE();
    emit_one("order.late", NULL);
    IS(1, keep());
    IS(0, keep());
    CU_ASSERT_FALSE(tell_at(FIRST));
    IS(0, deliveries());
}

void each_digest_has_what_came_since_the_last(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", "1");
    CU_ASSERT_TRUE(tell_at(FIRST));
    emit_one("order.paid", "2");
    CU_ASSERT_FALSE(tell_at(FIRST + LENGTH));
    emit_one("order.late", "3");
    CU_ASSERT_TRUE(tell_at(FIRST + 2 * LENGTH));
    IS(2, deliveries());
    json_t *first = data_of(0), *second = data_of(1);
    IS(1, count_in(first, "count"));
    IS(1, count_in(second, "count"));
    CU_ASSERT_STRING_NOT_EQUAL(text_in(first, 0, "id"), text_in(second, 0, "id"));
    json_decref(first);
    json_decref(second);
}

/* The checks of as many digests as one settle may have, all due at FIRST, and what listens. */
enum { MANY = SETTLE_DIGESTS_MAX, OTHERS = 2 };
struct many { struct listener_settings listeners[MANY]; struct digest digests[MANY]; char names[MANY][8]; };

static void keep_many(struct many *m)
{
    struct digest_check checks[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(m->names[i], sizeof m->names[i], "l%d", i);
        m->listeners[i] = late;
        m->listeners[i].name = m->names[i];
        m->digests[i] = (struct digest){ &m->listeners[i], true };
        checks[i] = (struct digest_check){ m->names[i], "mail", TERMS_OF("900"),
                                           bucket_of(DIGEST_ENTITY, m->names[i]), FIRST };
    }
    struct store_keep_digests k = STORE_KEEP_DIGESTS_INIT;
    k.checks = checks;
    k.n = MANY;
    k.now = BEFORE;
    IS(0, fixture_call(&k.call));
    IS(MANY, k.filed);
}

static int by_id_of_check(const void *a, const void *b)
{
    int64_t x = ((const struct settlement *)a)->check->id, y = ((const struct settlement *)b)->check->id;
    return (x > y) - (x < y);
}

/* The digest of each listener, but for that of the first one, which is forgotten; and of the others
 * one ends with an effect and one moves. */
static struct settlement answer_among_many(struct many *m, const struct check *c)
{
    static const struct effect seen = { .kind = EFFECT_EMIT, .event = "seen" };
    struct settlement s = { .check = c, .renews = true, .outcome = OUTCOME_DONE, .ran = true,
                            .run_at_us = FIRST * 1000000, .next_at = FIRST + LENGTH,
                            .first_at = FIRST + LENGTH };
    bool is_first = !strcmp(c->entity_key, "1") || !strcmp(c->entity_key, "l0");
    if (check_is_digest(c) && is_first)
        return (struct settlement){ .check = c, .ends = true, .outcome = OUTCOME_UNKNOWN_JOB };
    if (check_is_digest(c)) {
        s.digest = &m->digests[atoi(c->entity_key + 1)];
        return s;
    }
    s.renews = false;
    s.ends = is_first;
    s.outcome = is_first ? OUTCOME_DONE : OUTCOME_AGAIN;
    s.check_count = c->check_count + !is_first;
    s.effects = &seen;
    s.neffects = is_first;
    return s;
}

void a_settle_makes_many_digests_beside_all_else_that_it_writes(void)
{
    struct many m;
    struct settlement answers[MANY + OTHERS];
    WITH_STORE();
    keep_many(&m);
    emit_one("order.late", NULL);
    put("1", FIRST, "keep", BEFORE);
    put("2", FIRST, "keep", BEFORE);
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = FIRST;
    IS(0, fixture_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    struct check_rows page = read_page(&o.taken[0], MANY + OTHERS + 1);
    CU_ASSERT_EQUAL_FATAL(page.n, MANY + OTHERS);
    for (int i = 0; i < page.n; i++)
        answers[i] = answer_among_many(&m, &page.checks[i]);
    store_abandon(fixture_store());     /* nothing is prepared in the session that it goes to */
    qsort(answers, MANY + OTHERS, sizeof *answers, by_id_of_check);
    struct store_settle s = STORE_SETTLE_INIT;
    s.lease = o.taken[0];
    s.now = FIRST + 5;
    s.settlements = answers;
    s.n = MANY + OTHERS;
    IS(0, fixture_call(&s.call));
    IS(MANY + OTHERS, s.touched);
    check_rows_free(&page);
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    CU_ASSERT_FALSE(hello.lost_prepared);
    IS(MANY - 1, deliveries());
    IS(MANY - 1, REPORT("list", DIGEST_ENTITY, NULL, NULL, NULL, NULL, NULL).rows);
}

void a_digest_that_is_settled_again_files_no_other_delivery(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    struct due due = due_at(FIRST);
    IS(0, settle_due(&due).call.rc);
    emit_one("order.late", NULL);
    struct store_settle again = settle_due(&due);
    IS(0, again.call.rc);
    IS(0, again.touched);
    check_rows_free(&due.page);
    IS(1, deliveries());
}

void a_digest_whose_lease_is_lost_files_nothing(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    struct due due = due_at(FIRST);
    struct store_release r = STORE_RELEASE_INIT;
    r.leases = &due.lease;
    r.n = 1;
    IS(0, fixture_call(&r.call));
    IS(ERR_FENCED, settle_due(&due).call.rc);
    check_rows_free(&due.page);
    IS(0, deliveries());
    CU_ASSERT_TRUE(tell_at(FIRST));
    IS(1, deliveries());
}

void a_digest_reads_ten_thousand_events_and_comes_again(void)
{
    WITH_STORE();
    keep();
    emit_many("order.late", DIGEST_READ_MAX + 3);
    CU_ASSERT_TRUE(tell_at(FIRST));
    struct store_rows rows = REPORT("list", DIGEST_ENTITY, "late", NULL, NULL, NULL, NULL);
    IS(FIRST + 6, atoll(cell(&rows, 0, "next_check_at")));
    IS(FIRST + LENGTH, atoll(cell(&rows, 0, "first_check_at")));
    json_t *data = data_of(0);
    IS(DIGEST_READ_MAX, count_in(data, "count"));
    IS(DIGEST_READ_MAX, count_in(data, "left_out") + (int64_t)shown_in(data));
    CU_ASSERT_TRUE(shown_in(data) > 100 && shown_in(data) <= DIGEST_SHOWN_MAX);
    json_decref(data);
}

void a_digest_is_cut_at_48_kib_on_whole_events(void)
{
    WITH_STORE();
    char *large = malloc(60000), *middle = malloc(20000);
    memset(large, '1', 59999);
    memset(middle, '2', 19999);
    large[59999] = middle[19999] = '\0';
    keep();
    emit_one("order.late", large);
    for (int i = 0; i < 3; i++)
        emit_one("order.late", middle);
    emit_one("order.late", "7");
    CU_ASSERT_TRUE(tell_at(FIRST));
    struct store_rows rows = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    CU_ASSERT_TRUE(strlen(cell(&rows, 0, "payload")) <= 48 * 1024);
    CU_ASSERT_PTR_NULL(strstr(cell(&rows, 0, "payload"), "1111111111"));
    CU_ASSERT_PTR_NOT_NULL(strstr(cell(&rows, 0, "payload"), "{\"count\":5,\"left_out\":3,"));
    free(large);
    free(middle);
}

void the_check_of_a_digest_follows_the_settings(void)
{
    WITH_STORE();
    keep_at("mail", TERMS_OF("86400"), SLOT + 96 * LENGTH, BEFORE);
    emit_one("order.late", NULL);
    IS(1, keep_at("post", TERMS_OF("900"), FIRST, NOW));
    IS(0, keep_at("post", TERMS_OF("900"), FIRST + LENGTH, NOW));
    struct store_rows rows = REPORT("list", DIGEST_ENTITY, "late", NULL, NULL, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("post", cell(&rows, 0, "job_exec"));
    IS(FIRST, atoll(cell(&rows, 0, "next_check_at")));
    /* what it waits for stays, if it comes sooner, and so does what is due */
    IS(1, keep_at("mail", TERMS_OF("86400"), SLOT + 96 * LENGTH, NOW));
    IS(0, keep_at("post", TERMS_OF("900"), SLOT + 96 * LENGTH, FIRST));
    rows = REPORT("list", DIGEST_ENTITY, "late", NULL, NULL, NULL, NULL);
    IS(FIRST, atoll(cell(&rows, 0, "next_check_at")));
    CU_ASSERT_TRUE(tell_at(FIRST));
}

void a_digest_that_was_resolved_begins_anew(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    struct store_rows rows = REPORT("resolve", DIGEST_ENTITY, "late", NULL, text_of(NOW));
    TEXT_IS("1", cell(&rows, 0, "resolved"));
    IS(1, keep());
    CU_ASSERT_FALSE(tell_at(FIRST));
    IS(0, deliveries());
}

/* It is over, and waits no more. */
static void end_at(int64_t slot, enum outcome outcome)
{
    struct due due = due_at(slot);
    struct store_settle s = STORE_SETTLE_INIT;
    due.answer = (struct settlement){ .check = &due.page.checks[0], .ends = true, .outcome = outcome };
    s.lease = due.lease;
    s.now = slot + 5;
    s.settlements = &due.answer;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    IS(1, s.touched);
    check_rows_free(&due.page);
    IS(0, REPORT("list", DIGEST_ENTITY, NULL, NULL, NULL, NULL, NULL).rows);
}

/* Whoever has ended it: what came in between is in the next digest, and nothing twice. */
void a_digest_whose_check_was_gone_reads_on_where_it_was(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", "1");
    CU_ASSERT_TRUE(tell_at(FIRST));
    emit_one("order.late", "2");
    end_at(FIRST + LENGTH, OUTCOME_JOB_BROKEN);
    emit_one("order.late", "3");
    IS(1, keep_at("mail", TERMS_OF("900"), FIRST + 2 * LENGTH, NOW));
    CU_ASSERT_TRUE(tell_at(FIRST + 2 * LENGTH));
    IS(2, deliveries());
    json_t *data = data_of(1);
    IS(2, count_in(data, "count"));
    IS(2, count_in(json_array_get(json_object_get(data, "events"), 0), "data"));
    json_decref(data);
}

void a_digest_that_no_settings_had_for_the_horizon_begins_anew(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    end_at(FIRST, OUTCOME_UNKNOWN_JOB);
    IS(1, keep_at("mail", TERMS_OF("900"), FIRST + LENGTH, NOW));
    CU_ASSERT_FALSE(tell_at(FIRST + LENGTH));
    IS(0, deliveries());
}

/* Its cursor is that of the check which is left. */
void a_resolve_of_another_job_leaves_a_digest_its_cursor(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    struct store_rows rows = REPORT("resolve", DIGEST_ENTITY, "late", "post", text_of(NOW));
    TEXT_IS("0", cell(&rows, 0, "resolved"));
    IS(0, keep());
    CU_ASSERT_TRUE(tell_at(FIRST));
    IS(1, deliveries());
}

/* The next digest that has anything to tell says so, and the one after it does not. */
void a_digest_says_that_events_were_pruned_before_it_read_them(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    fixture_make_old(30);
    struct prune_counts counts = { 0 };
    IS(0, store_prune(fixture_store(), time(NULL) - 7 * 86400, false, &counts, &fixture_err));
    IS(1, counts.events);
    CU_ASSERT_FALSE(tell_at(FIRST));
    emit_one("order.late", NULL);
    CU_ASSERT_TRUE(tell_at(FIRST + LENGTH));
    emit_one("order.late", NULL);
    CU_ASSERT_TRUE(tell_at(FIRST + 2 * LENGTH));
    IS(2, deliveries());
    json_t *first = data_of(0), *second = data_of(1);
    IS(1, count_in(first, "count"));
    CU_ASSERT_TRUE(json_is_true(json_object_get(first, "pruned")));
    CU_ASSERT_TRUE(json_is_false(json_object_get(second, "pruned")));
    json_decref(first);
    json_decref(second);
}

/* ---- one of them again ----------------------------------------------------------------------- */

/* The delivery is run in its slot, by a document of that time, and is over. */
static void deliver_at(int64_t slot, const char *key, int64_t emitted_at, enum outcome outcome)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    IS(0, fixture_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    struct scene sent = { .n = 1, .lease = o.taken[0], .page = read_page(&o.taken[0], SCENE_MAX) };
    CU_ASSERT_EQUAL_FATAL(sent.page.n, 1);
    const struct check *c = &sent.page.checks[0];
    struct terms terms;
    TEXT_IS(key, c->entity_key);
    TEXT_IS("mail", c->job_exec);
    CU_ASSERT_PTR_NULL(c->origin);
    CU_ASSERT_EQUAL(terms_parse(c->terms, &terms, &fixture_err), 0);
    CU_ASSERT_TRUE(terms.has_event);
    TEXT_IS(DIGEST_TYPE, terms.event.type);
    TEXT_IS(DIGEST_ENTITY, terms.event.entity_name);
    TEXT_IS("late", terms.event.entity_key);
    TEXT_IS("late", terms.event.listener);
    IS(emitted_at, terms.event.emitted_us / 1000000);
    sent.answers[0].check = c;
    answer_done(&sent.answers[0]);
    sent.answers[0].outcome = outcome;
    IS(1, settle(&sent).touched);
    scene_end(&sent);
}

static const char *again(const char *key, int64_t now)
{
    struct store_rows rows = REPORT("deliver_again", key, text_of(now));
    return cell(&rows, 0, "outcome");
}

static const char *key_of_delivery(void)
{
    struct store_rows rows = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    return cell(&rows, 0, "entity_key");
}

/* Under the same key, with all that it had. */
void a_digest_that_has_failed_is_sent_again_from_its_history(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", "{\"n\": 1.10}");
    CU_ASSERT_TRUE(tell_at(FIRST));
    const char *key = key_of_delivery();
    struct store_rows rows = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    const char *payload = cell(&rows, 0, "payload");
    TEXT_IS("waits", again(key, FIRST + 100));
    deliver_at(FIRST + 6, key, FIRST + 5, OUTCOME_FAILED);
    TEXT_IS("again", again(key, FIRST + 100));
    TEXT_IS("waits", again(key, FIRST + 100));
    TEXT_IS(key, key_of_delivery());
    rows = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    TEXT_IS(payload, cell(&rows, 0, "payload"));
    deliver_at(FIRST + 101, key, FIRST + 5, OUTCOME_FAILED);
    TEXT_IS("again", again(key, FIRST + 200));
    deliver_at(FIRST + 201, key, FIRST + 100, OUTCOME_DONE);
}

/* Nothing has what it had. */
void a_digest_that_was_delivered_is_not_sent_again(void)
{
    WITH_STORE();
    keep();
    emit_one("order.late", NULL);
    CU_ASSERT_TRUE(tell_at(FIRST));
    const char *key = key_of_delivery();
    deliver_at(FIRST + 6, key, FIRST + 5, OUTCOME_DONE);
    TEXT_IS("not_kept", again(key, FIRST + 100));
    TEXT_IS("unknown", again("late/0-0-1..0-0-2", FIRST + 100));
    IS(0, deliveries());
}

void retry_leaves_digests_alone(void)
{
    WITH_STORE();
    keep();
    struct due due = due_at(FIRST);
    struct store_settle s = STORE_SETTLE_INIT;
    due.answer = (struct settlement){ .check = &due.page.checks[0], .renews = true, .ends = true,
                                      .outcome = OUTCOME_BAD_ANSWER, .next_at = FIRST + LENGTH,
                                      .first_at = FIRST + LENGTH };
    s.lease = due.lease;
    s.now = FIRST + 5;
    s.settlements = &due.answer;
    s.n = 1;
    IS(0, fixture_call(&s.call));
    IS(1, s.touched);
    check_rows_free(&due.page);
    IS(1, rows_in("history"));
    IS(0, fixture_retry(NULL, NULL, NULL, NULL, NULL, text_of(FIRST + LENGTH)).rows);
}

/* ---- what others may do with it -------------------------------------------------------------- */

static void refused(const struct store_rows *rows)
{
    IS(-1, rows->rows);
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "prescient.digest, which stands for digests: only"));
}

void nobody_asks_for_a_digest(void)
{
    WITH_STORE();
    static const char *const conflicts[] = { "keep", "earlier", "replace" };
    IS(1, keep());
    struct store_rows rows;
    for (int i = 0; i < 3; i++) {
        rows = REPORT("enqueue", DIGEST_ENTITY, "late", "mail", text_of(NOW), NULL, conflicts[i], NULL,
                      text_of(NOW));
        refused(&rows);
        rows = REPORT("enqueue", DIGEST_ENTITY, "other", "mail", text_of(NOW), NULL, conflicts[i], NULL,
                      NULL);
        refused(&rows);
        rows = REPORT("enqueue_now", DIGEST_ENTITY, "late", "mail", NULL, conflicts[i], NULL, text_of(NOW));
        refused(&rows);
    }
    rows = REPORT("schedule_put", "add", "s", DIGEST_ENTITY, "1", "look", "300", NULL, NULL, NULL, NULL,
                  NULL, text_of(NOW));
    refused(&rows);
    IS(1, REPORT("list", DIGEST_ENTITY, NULL, NULL, NULL, NULL, NULL).rows);
}

void a_digest_can_be_moved_and_stays_what_it_is(void)
{
    WITH_STORE();
    IS(1, keep());
    emit_one("order.late", NULL);
    struct store_rows rows = REPORT("reschedule", DIGEST_ENTITY, "late", "mail",
                                    text_of(FIRST + 2 * LENGTH), text_of(NOW));
    CU_ASSERT_EQUAL_FATAL(rows.rows, 1);
    TEXT_IS("moved", cell(&rows, 0, "outcome"));
    CU_ASSERT_TRUE(tell_at(FIRST + 2 * LENGTH));
    IS(1, deliveries());
    IS(1, REPORT("list", DIGEST_ENTITY, NULL, NULL, NULL, NULL, NULL).rows);
}
