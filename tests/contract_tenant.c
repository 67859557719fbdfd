/* contract_tenant.c - the store's contract: a check says whose it is, as long as it is known. */
#include <string.h>

#include "store_contract.h"

static const char odd_tenant[] = "4:x\n\xc3\xa9 'shop'";

static const char *put_of(const char *key, const char *conflict, const char *tenant)
{
    struct store_rows rows = REPORT("enqueue", "orders", key, "look", text_of(SLOT), NULL, conflict, NULL,
                                    text_of(BEFORE), NULL, tenant);
    return filed_as(&rows);
}

void a_check_keeps_its_tenant_while_it_waits_and_in_its_runs(void)
{
    WITH_STORE();
    TEXT_IS("new +0", put_of("1", "keep", odd_tenant));
    TEXT_IS("kept +0", put_of("1", "keep", "another"));
    struct scene scene = scene_of_slot(1);
    const struct check *check = &scene.page.checks[0];
    TEXT_IS(odd_tenant, check->tenant);
    CU_ASSERT(!check->terms && !check->concurrency_key && !check->origin);
    answer_again(&scene.answers[0], SLOT + 2 * LENGTH);
    IS(1, settle(&scene).touched);
    TEXT_IS(odd_tenant, value("list", "1", "tenant"));
    TEXT_IS(odd_tenant, value("runs", "1", "tenant"));
    TEXT_IS("moved +5", reschedule("1", SLOT + 5 * LENGTH, NOW));
    TEXT_IS(odd_tenant, value("list", "1", "tenant"));
    scene_end(&scene);
}

void a_tenant_comes_beside_a_concurrency_key(void)
{
    WITH_STORE();
    REPORT("enqueue", "orders", "1", "look", text_of(SLOT), NULL, "keep", NULL, text_of(BEFORE), "2:k\n",
           odd_tenant);
    struct scene scene = scene_of_slot(1);
    TEXT_IS("2:k\n", scene.page.checks[0].concurrency_key);
    TEXT_IS(odd_tenant, scene.page.checks[0].tenant);
    CU_ASSERT_PTR_NULL(scene.page.checks[0].terms);
    scene_end(&scene);
}

/* However it ends. */
void history_says_whose_a_check_was(void)
{
    WITH_STORE();
    put_of("1", "keep", "a");
    put_of("2", "keep", "b");
    put_of("3", "keep", NULL);
    put_of("4", "keep", "d");
    TEXT_IS("1", resolve("4"));
    struct scene scene = scene_of_slot(3);
    scene.answers[1].outcome = OUTCOME_FAILED;
    IS(3, settle(&scene).touched);
    scene_end(&scene);
    TEXT_IS("a", value("history", "1", "tenant"));
    TEXT_IS("b", value("history", "2", "tenant"));
    TEXT_IS("NULL", value("history", "3", "tenant"));
    TEXT_IS("d", value("history", "4", "tenant"));
}

void retry_puts_a_check_back_for_its_tenant(void)
{
    WITH_STORE();
    put_of("1", "keep", odd_tenant);
    put_of("2", "keep", NULL);
    struct scene scene = scene_of_slot(2);
    scene.answers[0].outcome = scene.answers[1].outcome = OUTCOME_FAILED;
    IS(2, settle(&scene).touched);
    scene_end(&scene);
    IS(2, fixture_retry(NULL, NULL, NULL, NULL, NULL, text_of(NOW)).rows);
    TEXT_IS(odd_tenant, value("list", "1", "tenant"));
    TEXT_IS("NULL", value("list", "2", "tenant"));
}

void replace_brings_another_tenant(void)
{
    WITH_STORE();
    put_of("1", "keep", "a");
    TEXT_IS("replaced +0", put_of("1", "replace", "b"));
    TEXT_IS("b", value("list", "1", "tenant"));
    TEXT_IS("replaced +0", put_of("1", "replace", NULL));
    TEXT_IS("NULL", value("list", "1", "tenant"));
}

/* What is asked for again while it runs begins anew as its row has it. */
void a_check_that_begins_anew_keeps_its_tenant(void)
{
    WITH_STORE();
    put_of("1", "keep", "a");
    struct scene scene = scene_of_slot(1);
    TEXT_IS("kept +3", put("1", SLOT + 3 * LENGTH, "keep", NOW));
    IS(1, settle(&scene).touched);
    scene_end(&scene);
    TEXT_IS("a", value("history", "1", "tenant"));
    TEXT_IS("a", value("list", "1", "tenant"));
}

void an_impossible_tenant_is_refused(void)
{
    WITH_STORE();
    char longest[1026];
    memset(longest, 't', sizeof longest);
    longest[1025] = '\0';
    CU_ASSERT(strncmp(put_of("1", "keep", longest), "error", 5) == 0);
    CU_ASSERT(strncmp(put_of("1", "keep", ""), "error", 5) == 0);
    TEXT_IS("none", value("list", "1", "tenant"));
    longest[1024] = '\0';
    TEXT_IS("new +0", put_of("1", "keep", longest));
}

void what_is_asked_for_at_once_has_its_tenant(void)
{
    WITH_STORE();
    REPORT("enqueue_now", "orders", "1", "look", NULL, NULL, NULL, text_of(NOW), NULL, "a");
    TEXT_IS("a", value("list", "1", "tenant"));
}

void a_load_brings_tenants(void)
{
    WITH_STORE();
    struct load_row rows[] = { { "orders", "1", "look", NULL, SLOT, 0, NULL, "a" },
                               { "orders", "2", "look", NULL, SLOT, 0, "k", NULL },
                               { "orders", "3", "look", NULL, SLOT, 0, "k", "c" } };
    struct load_counts counts;
    struct err err;
    int bad;
    put_of("3", "keep", "b");
    IS(0, store_load(fixture_store(), rows, 3, "replace", BEFORE, &counts, &bad, &err));
    TEXT_IS("a", value("list", "1", "tenant"));
    TEXT_IS("NULL", value("list", "2", "tenant"));
    TEXT_IS("c", value("list", "3", "tenant"));
}

static const char *schedule_of(const char *mode, const char *tenant, int64_t now)
{
    struct store_rows rows = REPORT("schedule_put", mode, "nightly", "orders", "1", "look", "300", NULL, NULL,
                                    NULL, NULL, NULL, text_of(now), NULL, tenant);
    return filed_as(&rows);
}

/* Whatever somebody enqueues it with. */
void the_check_of_a_schedule_has_its_tenant(void)
{
    WITH_STORE();
    TEXT_IS("new +0", schedule_of("put", "a", BEFORE));
    TEXT_IS("a", value("list", "1", "tenant"));
    TEXT_IS("replaced +0", put_of("1", "replace", "another"));
    TEXT_IS("a", value("list", "1", "tenant"));
    TEXT_IS("moved +0", reschedule("1", SLOT, BEFORE));
    TEXT_IS("a", value("list", "1", "tenant"));
    TEXT_IS("changed +0", schedule_of("put", "b", BEFORE));
    TEXT_IS("kept", schedule_of("set", NULL, BEFORE));
    TEXT_IS("b", value("list", "1", "tenant"));
    TEXT_IS("changed +0", schedule_of("put", NULL, BEFORE));
    TEXT_IS("NULL", value("list", "1", "tenant"));
    CU_ASSERT(strncmp(schedule_of("put", "", BEFORE), "error", 5) == 0);
}

static const char *cell_of(struct store_rows rows, const char *column)
{
    return cell(&rows, 0, column);
}

static void end_deliveries(int64_t slot)
{
    struct store_open_slot o = open_slot(owner, 60);
    o.slot = o.now = slot;
    o.want = 64;
    IS(0, fixture_call(&o.call));
    CU_ASSERT_EQUAL_FATAL(o.ntaken, 1);
    struct scene scene = { .lease = o.taken[0], .page = read_page(&o.taken[0], SCENE_MAX) };
    scene.n = scene.page.n;
    for (int i = 0; i < scene.n; i++) {
        scene.answers[i].check = &scene.page.checks[i];
        answer_done(&scene.answers[i]);
    }
    IS(2, settle(&scene).touched);
    scene_end(&scene);
}

/* A delivery that is sent again for somebody leaves a row, of the row that its event was of. */
void a_delivery_is_sent_again_for_somebody(void)
{
    static const char mail[] = "mail/22222222222222222222222222222222";
    WITH_STORE();
    put_of("1", "keep", "a");
    struct scene scene = scene_of_slot(1);
    const struct hearer to[] = {
        { "hook", "post", bucket_of(DELIVERY_ENTITY, "hook/22222222222222222222222222222222") },
        { "mail", "send", bucket_of(DELIVERY_ENTITY, mail) },
    };
    const struct effect effect = { .kind = EFFECT_EMIT, .event = "late", .hearers = to, .nhearers = 2,
                                   .origin = mail + 5, .terms = "event late of orders" };
    scene.answers[0].effects = &effect;
    scene.answers[0].neffects = 1;
    IS(1, settle(&scene).touched);
    scene_end(&scene);
    TEXT_IS("waits", cell_of(REPORT("change_delivery", mail, "anna"), "outcome"));
    end_deliveries(NOW + 1);
    IS(0, REPORT("audit").rows);
    TEXT_IS("again", cell_of(REPORT("change_delivery", mail, "anna", "the box is back"), "outcome"));
    TEXT_IS("waits", cell_of(REPORT("change_delivery", mail, "anna", "the box is back"), "outcome"));
    TEXT_IS("unknown", cell_of(REPORT("change_delivery", "mail/3", "anna", NULL), "outcome"));
    struct store_rows deliveries = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    IS(1, deliveries.rows);
    struct store_rows audit = REPORT("audit", "orders", "1");
    IS(1, audit.rows);
    TEXT_IS("deliver-again", cell_of(audit, "change"));
    TEXT_IS("delivery", cell_of(audit, "what"));
    TEXT_IS(mail, cell_of(audit, "name"));
    TEXT_IS("send", cell_of(audit, "job_exec"));
    TEXT_IS("anna", cell_of(audit, "who"));
    TEXT_IS("the box is back", cell_of(audit, "reason"));
    CU_ASSERT(strstr(cell_of(audit, "after"), "check_at") != NULL);
}

/* Checks that an answer asks for, and deliveries of its events, are of the same tenant, or of the
 * one that the answer names. */
void what_comes_of_a_check_is_of_its_tenant(void)
{
    static const char event_origin[] = "11111111111111111111111111111111";
    WITH_STORE();
    put_of("1", "keep", odd_tenant);
    struct scene scene = scene_of_slot(1);
    const struct hearer to[] = {
        { "hook", "post", bucket_of(DELIVERY_ENTITY, "hook/11111111111111111111111111111111") },
        { "mail", "send", bucket_of(DELIVERY_ENTITY, "mail/11111111111111111111111111111111") },
    };
    const struct effect effects[] = {
        { .kind = EFFECT_ENQUEUE, .entity_name = "orders", .entity_key = "next", .job = "look",
          .at = SLOT + 2 * LENGTH, .conflict = "keep" },
        { .kind = EFFECT_ENQUEUE, .entity_name = "orders", .entity_key = "other", .job = "look",
          .at = SLOT + 2 * LENGTH, .conflict = "keep", .tenant = "other", .concurrency_key = "2:k\n",
          .priority = -3 },
        { .kind = EFFECT_EMIT, .event = "late", .hearers = to, .nhearers = 2, .origin = event_origin,
          .terms = "event late of orders" },
    };
    scene.answers[0].effects = effects;
    scene.answers[0].neffects = 3;
    IS(1, settle(&scene).touched);
    scene_end(&scene);
    TEXT_IS(odd_tenant, value("list", "next", "tenant"));
    TEXT_IS("NULL", value("list", "next", "concurrency_key"));
    IS(0, number("list", "next", "priority"));
    TEXT_IS("other", value("list", "other", "tenant"));
    TEXT_IS("2:k\n", value("list", "other", "concurrency_key"));
    IS(-3, number("list", "other", "priority"));
    struct store_rows deliveries = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    IS(2, deliveries.rows);
    for (int i = 0; i < deliveries.rows; i++)
        TEXT_IS(odd_tenant, cell(&deliveries, i, "tenant"));
    end_deliveries(NOW + 1);
    TEXT_IS("again", cell_of(REPORT("deliver_again", "hook/11111111111111111111111111111111",
                                    text_of(NOW + 2)), "outcome"));
    deliveries = REPORT("list", DELIVERY_ENTITY, NULL, NULL, NULL, NULL, NULL);
    IS(1, deliveries.rows);
    TEXT_IS(odd_tenant, cell(&deliveries, 0, "tenant"));
}
