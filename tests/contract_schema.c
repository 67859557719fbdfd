/* contract_schema.c - the store's contract: making the schema, refusing one that does not fit, and
 * the slot length. */
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

static int migrate(struct store *st, struct migrate_options options)
{
    return store_migrate(st, &options, &fixture_err);
}

static int hello_of(struct store *st, struct store_hello *hello)
{
    *hello = (struct store_hello)STORE_HELLO_INIT;
    int rc = store_do(st, &hello->call);
    fixture_err = hello->call.err;
    return rc;
}

void a_second_init_applies_nothing(void)
{
    WITH_STORE();
    IS(0, migrate(fixture_store(), (struct migrate_options){ 0 }));
}

static void count_name(void *ctx, int version, const char *name)
{
    CU_ASSERT(version > 0 && *name);
    ++*(int *)ctx;
}

void a_dry_init_says_what_it_would_apply_and_makes_nothing(void)
{
    WITH_STORE();
    struct store *nowhere = fixture_nowhere();
    struct store_hello hello;
    int names = 0;
    int n = migrate(nowhere,
                    (struct migrate_options){ .dry_run = true, .applied = count_name, .ctx = &names });
    CU_ASSERT(n > 0);
    IS(n, names);
    IS(ERR_SCHEMA, hello_of(nowhere, &hello));
    store_free(nowhere);
}

void without_a_schema_the_words_say_init(void)
{
    WITH_STORE();
    struct store *nowhere = fixture_nowhere();
    struct store_hello hello;
    IS(ERR_SCHEMA, hello_of(nowhere, &hello));
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "prescient init"));
    store_free(nowhere);
}

void hello_tells_clock_length_and_version(void)
{
    WITH_STORE();
    struct store_hello hello;
    IS(0, hello_of(fixture_store(), &hello));
    CU_ASSERT(llabs(hello.now_us - clock_wall_us(&clock_system)) < 60 * 1000000LL);
    IS(LENGTH, hello.slot_length_s);
    IS(LENGTH, store_slot_length_s(fixture_store()));
    CU_ASSERT(hello.schema_version > 0);
    CU_ASSERT_FALSE(hello.read_only);
    CU_ASSERT_PTR_NOT_NULL(strstr(hello.server, fixture_is_sqlite() ? "SQLite 3." : "PostgreSQL "));
}

void a_slot_length_that_differs_from_the_settings_is_refused(void)
{
    WITH_STORE();
    struct store *other = fixture_another((struct store_options){ .slot_length_s = 300 });
    struct store *same = fixture_another((struct store_options){ .slot_length_s = LENGTH });
    struct store_hello hello;
    IS(ERR_SETTINGS, hello_of(other, &hello));
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "300"));
    CU_ASSERT_PTR_NOT_NULL(strstr(fixture_err.text, "900"));
    IS(0, hello_of(same, &hello));
    store_free(other);
    store_free(same);
}

void init_does_not_change_the_slot_length_unasked(void)
{
    WITH_STORE();
    IS(ERR_SETTINGS, migrate(fixture_store(), (struct migrate_options){ .slot_length_s = 300 }));
    struct store_hello hello;
    IS(0, hello_of(fixture_store(), &hello));
    IS(LENGTH, hello.slot_length_s);
}

void a_slot_length_that_does_not_divide_a_day_is_refused(void)
{
    WITH_STORE();
    static const int32_t lengths[] = { -900, 7, 86401, 172800, 1000000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        CU_ASSERT(migrate(fixture_store(), (struct migrate_options){ .slot_length_s = lengths[i],
                                                                     .change_slot_length = true }) < 0);
}

static const char *at_of(const char *key)
{
    return value("list", key, "next_check_at");
}

void changing_the_slot_length_reslots_what_is_pending(void)
{
    WITH_STORE();
    put("on", FUTURE + 3600, NULL, NOW);
    put("between", FUTURE + 3600 + 900, NULL, NOW);
    put("missed", SLOT, NULL, BEFORE);              /* long begun, and on no slot of an hour */
    struct store *st = fixture_another((struct store_options){ 0 });
    IS(0, migrate(st, (struct migrate_options){ .slot_length_s = 3600, .change_slot_length = true }));
    struct store_hello hello;
    IS(0, hello_of(st, &hello));
    IS(3600, hello.slot_length_s);
    struct migrate_options back = { .slot_length_s = LENGTH, .change_slot_length = true };
    TEXT_IS("4102448400", at_of("on"));
    TEXT_IS("4102452000", at_of("between"));
    int64_t missed = number("list", "missed", "next_check_at");
    CU_ASSERT(missed % 3600 == 0 && missed > hello.now_us / 1000000);
    IS(0, migrate(st, back));
    store_free(st);
}

void after_a_change_checks_are_filed_under_the_new_slots(void)
{
    WITH_STORE();
    struct store *st = fixture_another((struct store_options){ 0 });
    if (!fixture_is_sqlite())                       /* there a store refuses to go on */
        put("before", FUTURE + 1, NULL, NOW);       /* so that the session has its plans */
    IS(0, migrate(st, (struct migrate_options){ .slot_length_s = 3600, .change_slot_length = true }));
    put("new", FUTURE + 1, NULL, NOW);
    TEXT_IS("4102448400", at_of("new"));
    IS(0, migrate(st, (struct migrate_options){ .slot_length_s = LENGTH, .change_slot_length = true }));
    store_free(st);
}

void ids_are_not_used_again_after_a_change_of_the_slot_length(void)
{
    WITH_STORE();
    struct scene scene = scene_of(3);
    int64_t highest = scene.answers[2].check->id;
    IS(3, settle(&scene).touched);
    finish(&scene.lease);
    scene_end(&scene);
    struct store *st = fixture_another((struct store_options){ 0 });
    IS(0, migrate(st, (struct migrate_options){ .slot_length_s = 300, .change_slot_length = true }));
    IS(0, migrate(st, (struct migrate_options){ .slot_length_s = LENGTH, .change_slot_length = true }));
    store_free(st);
    scene = scene_of(1);
    CU_ASSERT(scene.answers[0].check->id > highest);
    scene_end(&scene);
}
