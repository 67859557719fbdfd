/* test_rules_on_sqlite.c - SQLite's triggers read the rules of schedules as the command line does:
 * each text is inserted as an application would, in one transaction. */
#include "sqlite_store_fixture.h"

#include <stdio.h>
#include <string.h>

#include "../engine/base/arena.h"
#include "rule_texts.h"

enum { FOUND_MAX = 8192 };

/* `columns` of the insert and their `values`; ?1 is the text. `stored`: the column that has it. */
static void sqlite_reads_the_same(int line, const struct rule_texts *texts, const char *columns,
                                  const char *values, const char *stored)
{
    const char *found[FOUND_MAX];
    char sql[500];
    sqlite3_stmt *put, *get;
    CLEANUP(arena_freep) struct arena *a = arena_new(1 << 16);
    snprintf(sql, sizeof sql,
             "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, job_exec, %s) "
             "VALUES ('one', 'shop', '1', 'sync', %s)",
             columns, values);
    CU_ASSERT_EQUAL_FATAL(sqlite3_prepare_v2(litefx.app, sql, -1, &put, NULL), SQLITE_OK);
    snprintf(sql, sizeof sql, "SELECT %s FROM prescient_schedule", stored);
    CU_ASSERT_EQUAL_FATAL(sqlite3_prepare_v2(litefx.app, sql, -1, &get, NULL), SQLITE_OK);
    SQL_IS("", "BEGIN");
    for (int i = 0; i < texts->n; i++) {
        sqlite3_bind_text(put, 1, texts->all[i].text, -1, SQLITE_STATIC);
        int rc = sqlite3_step(put);
        /* words, whichever they are, but those of a constraint */
        if (rc != SQLITE_DONE && strncmp(sqlite3_errmsg(litefx.app), "prescient: ", 11) != 0)
            printf("      line %d: \"%s\": %s\n", line, texts->all[i].text, sqlite3_errmsg(litefx.app));
        CU_ASSERT(rc == SQLITE_DONE || !strncmp(sqlite3_errmsg(litefx.app), "prescient: ", 11));
        sqlite3_reset(put);
        found[i] = NULL;
        if (rc == SQLITE_DONE && sqlite3_step(get) == SQLITE_ROW)
            found[i] = arena_strdup(a, (const char *)sqlite3_column_text(get, 0));
        sqlite3_reset(get);
    }
    sqlite3_finalize(put);
    sqlite3_finalize(get);
    SQL_IS("", "COMMIT");
    rule_texts_are_the_same(line, texts, found);
    rule_texts_end();
}
#define READS_THE_SAME(...) sqlite_reads_the_same(__LINE__, __VA_ARGS__)

static void cron_texts_are_read_as_by_engines(void)
{
    litefx_begin();
    READS_THE_SAME(rule_texts_cron(), "cron", "?1", "cron");
}

static void zones_have_the_form_that_engines_read(void)
{
    litefx_begin();
    READS_THE_SAME(rule_texts_zone_form(), "cron, timezone", "'@daily', ?1", "timezone");
}

/* Under OR IGNORE, too: a CHECK alone would drop the row without a word. */
static void a_refusal_names_what_and_what_was_expected(void)
{
    litefx_begin();
    static const struct {
        const char *columns, *values, *words;
    } all[] = {
        { "cron", "'61 * * * *'",
          "cron: minute: expected 0 to 59, *, a range (0-30), a step (*/15) or a list" },
        { "cron", "'0 9-5 * * *'", "cron: hour: a range runs backwards; expected the smaller end first" },
        { "cron", "'0 9 1,x * *'", "cron: day of month: expected 1 to 31" },
        { "cron", "'0 9 * 5/2 *'",
          "cron: month: a step stands behind one value, expected it behind a range" },
        { "cron", "'0 9 * * */8'", "cron: weekday: a step must be a number from 1 to 7" },
        { "cron", "'0 9 * *'", "cron: expected five fields: minute, hour, day of month, month and weekday" },
        { "cron", "'0 9 31 2,4 *'", "cron: day of month: none of the months has that day" },
        { "cron", "'@dayly'", "cron: expected @yearly, @annually, @monthly" },
        { "cron", "'0 9 * * ?'", "cron: expected digits, names, *, comma, - and / in the fields" },
        { "cron", "printf('%500s', '@daily')", "cron must have at most 499 bytes" },
        { "cron", "'@daily' || char(0) || 'x'", "cron must have no NUL" },
        { "cron", "CAST('@daily' AS BLOB)", "cron, timezone and missed must be texts" },
        { "cron, timezone", "'@daily', '../UTC'", "timezone must be the name of a zone" },
        { "cron, timezone", "'@daily', 'posix/UTC'", "timezone: what is in posix or right" },
        { "cron, timezone", "'@daily', 'UTC' || char(0)", "timezone must be the name of a zone" },
        { "cron, every_s", "'@daily', 60", "a schedule must have either every_s or cron, and only one" },
        { "cron", "NULL", "a schedule must have either every_s or cron, and only one" },
        { "cron, bias", "'@daily', 0.1", "bias must be a fraction of every_s from 0 to 0.5, and only there" },
        { "every_s", "0", "every_s must be whole seconds, from 1 to 31622400 (366 days)" },
        { "every_s", "-5", "every_s must be whole seconds" },
        { "every_s", "0.5", "every_s must be whole seconds" },
        { "every_s", "'5 minutes'", "every_s must be whole seconds" },
        { "every_s", "31622401", "every_s must be whole seconds" },
        { "every_s, bias", "60, 0.50001", "bias must be a fraction of every_s from 0 to 0.5" },
        { "every_s, bias", "60, 0.00004", "bias must be a fraction of every_s from 0 to 0.5" },
        { "every_s, bias", "60, -0.00001", "bias must be a fraction of every_s from 0 to 0.5" },
        { "every_s, timezone", "60, 'UTC'", "a timezone belongs to cron" },
        { "every_s, missed", "60, 'RUN_ONCE'", "missed must be run_once, run_all or skip" },
        { "every_s, missed", "60, ''", "missed must be run_once, run_all or skip" },
        { "every_s, missed", "60, 'run_all'", "missed = run_all belongs to cron" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char sql[400], words[120];
        snprintf(sql, sizeof sql,
                 "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, job_exec, %s) "
                 "VALUES ('a', 'shop', '1', 'sync', %s)",
                 all[i].columns, all[i].values);
        snprintf(words, sizeof words, "prescient: %s", all[i].words);
        const char *said = litefx_look(sql);
        if (!strstr(said, words))
            printf("      %s: %s\n", all[i].values, said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, words));
    }
    SQL_IS("0", "SELECT count(*) FROM prescient_schedule");
}

static void other_columns_are_refused_in_words_too(void)
{
    litefx_begin();
    static const char into[] = "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, "
                               "job_exec, every_s) VALUES ";
    char sql[400];
    snprintf(sql, sizeof sql, "%s ('', 'shop', '1', 'sync', 60)", into);
    SQL_IS("prescient: the name of a schedule must have 1 to 255 bytes and no control characters", sql);
    snprintf(sql, sizeof sql, "%s ('a' || char(10), 'shop', '1', 'sync', 60)", into);
    SQL_IS("prescient: the name of a schedule must have 1 to 255 bytes and no control characters", sql);
    snprintf(sql, sizeof sql, "%s ('a', 'shop', '1', 'sync', 60)", into);
    SQL_IS("", sql);
    SQL_IS("prescient: is_active must be 0 or 1",
           "UPDATE OR IGNORE prescient_schedules SET is_active = 2 WHERE name = 'a'");
    SQL_IS("prescient: is_active must be 0 or 1", "UPDATE prescient_schedules SET is_active = NULL");
    SQL_IS("prescient: is_active must be 0 or 1",
           "UPDATE OR IGNORE prescient_schedules SET is_active = NULL, every_s = 61 WHERE name = 'a'");
    SQL_IS("prescient: cron: minute: a step must be a number from 1 to 60",
           "UPDATE OR IGNORE prescient_schedules SET every_s = NULL, bias = NULL, cron = '*/0 * * * *' "
           "WHERE name = 'a'");
    SQL_IS("60", "SELECT every_s FROM prescient_schedules");
    SQL_IS("prescient: what must be job, entity, schedule or tenant",
           "INSERT OR IGNORE INTO prescient_pauses (what, name) VALUES ('jobs', 'sync')");
    SQL_IS("prescient: what must be job, entity, schedule or tenant",
           "INSERT OR IGNORE INTO prescient_pauses (name) VALUES ('sync')");
    SQL_IS("prescient: name must have 1 to 1024 bytes and no NUL",
           "INSERT OR IGNORE INTO prescient_pauses (what, name) VALUES ('job', '')");
    SQL_IS("prescient: reason must have at most 4096 bytes",
           "INSERT OR IGNORE INTO prescient_pauses (what, name, reason) VALUES ('job', 'sync', "
           "printf('%5000s', 'x'))");
    SQL_IS("0", "SELECT count(*) FROM prescient_pause");
}

static void what_people_write_beside_is_bounded_in_words(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s) "
               "VALUES ('a', 'shop', '1', 'sync', 60)");
    SQL_IS("prescient: switched_why must have at most 4096 bytes and no NUL",
           "UPDATE OR IGNORE prescient_schedules SET is_active = 0, switched_why = printf('%4097s', 'x')");
    SQL_IS("1", "SELECT is_active FROM prescient_schedules");
    SQL_IS("", "UPDATE prescient_schedules SET is_active = 0, switched_why = printf('%4096s', 'x')");
    SQL_IS("0 4096", "SELECT is_active || ' ' || length(switched_why) FROM prescient_schedules");
    SQL_IS("prescient: paused_by must have at most 255 bytes and no NUL",
           "INSERT OR IGNORE INTO prescient_pauses (what, name, paused_by) VALUES ('job', 'sync', "
           "printf('%256s', 'x'))");
    SQL_IS("", "INSERT INTO prescient_pauses (what, name, paused_by) VALUES ('job', 'sync', "
               "printf('%255s', 'x'))");
    SQL_IS("prescient: resumed_by must have at most 255 bytes and no NUL",
           "UPDATE OR IGNORE prescient_pauses SET state = 'ending', resumed_by = printf('%256s', 'x')");
    SQL_IS("on", "SELECT state FROM prescient_pauses");
    SQL_IS("", "UPDATE prescient_pauses SET state = 'ending', resumed_by = printf('%255s', 'x')");
}

/* What an UPDATE cannot do it refuses: it would seem to be done. */
static void an_update_that_would_change_nothing_is_refused_in_words(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s) "
               "VALUES ('a', 'shop', '1', 'sync', 60)");
    SQL_IS("", "INSERT INTO prescient_pauses (what, name, reason) VALUES ('job', 'sync', 'why not')");
    static const struct { const char *set, *words; } all[] = {
        { "prescient_schedules SET is_active = NULL", "prescient: is_active must be 0 or 1" },
        { "prescient_schedules SET is_active = 0.5", "prescient: is_active must be 0 or 1" },
        { "prescient_schedules SET is_active = 'no'", "prescient: is_active must be 0 or 1" },
        { "prescient_schedules SET name = 'b'",
          "prescient: a schedule keeps its name: insert another one and delete this one" },
        { "prescient_schedules SET next_check_at = 900",
          "prescient: next_check_at, made_at_us, changed_at_us and switched_at_us are only read" },
        { "prescient_schedules SET is_active = 0, switched_at_us = 1",
          "prescient: next_check_at, made_at_us, changed_at_us and switched_at_us are only read" },
        { "prescient_schedules SET switched_why = 'moving'",
          "prescient: switched_why is written with an is_active that changes" },
        { "prescient_pauses SET state = 'over'",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = NULL",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET reason = 'because'",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = 'ending', name = 'b'",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = 'ending', reason = 'because'",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = 'ending', paused_by = 'me'",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = 'ending', ended_at_us = 1",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = 'ending', slot_at = 900",
          "prescient: only state = 'ending' can be written, with is_reslotted and resumed_by" },
        { "prescient_pauses SET state = 'ending', is_reslotted = 'yes'",
          "prescient: is_reslotted must be 0 or 1" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE OR IGNORE %s", all[i].set);
        SQL_IS(all[i].words, sql);
    }
    SQL_IS("1 60", "SELECT is_active || ' ' || every_s FROM prescient_schedules");
    SQL_IS("on why not", "SELECT state || ' ' || reason FROM prescient_pauses");
    SQL_IS("", "UPDATE prescient_schedules SET is_active = 0, switched_why = 'moving', now = 1000");
    SQL_IS("", "UPDATE prescient_schedules SET is_active = 1, now = 2000");
    SQL_IS("", "UPDATE prescient_pauses SET state = 'ending', is_reslotted = 1, resumed_by = 'me'");
    SQL_IS("ending 1 me", "SELECT state || ' ' || is_reslotted || ' ' || resumed_by FROM prescient_pauses");
}

static void an_insert_that_would_be_ignored_in_part_is_refused_in_words(void)
{
    litefx_begin();
    SQL_IS("prescient: only what, name, reason and paused_by of a pause can be given",
           "INSERT OR IGNORE INTO prescient_pauses (what, name, state) VALUES ('job', 'sync', 'ending')");
    SQL_IS("prescient: only what, name, reason and paused_by of a pause can be given",
           "INSERT OR IGNORE INTO prescient_pauses (what, name, is_reslotted) VALUES ('job', 'sync', 1)");
    SQL_IS("prescient: a schedule is on when it is made: UPDATE switches it off",
           "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s, "
           "is_active) VALUES ('a', 'shop', '1', 'sync', 60, 0)");
    SQL_IS("0", "SELECT (SELECT count(*) FROM prescient_pause) + (SELECT count(*) FROM prescient_schedule)");
    SQL_IS("", "INSERT INTO prescient_pauses (what, name, state) VALUES ('job', 'sync', 'on')");
    SQL_IS("", "INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s, "
               "is_active) VALUES ('a', 'shop', '1', 'sync', 60, 1)");
}

static void what_begins_like_an_array_is_no_name(void)
{
    litefx_begin();
    SQL_IS("prescient: entity_name begins with {, like an array: it must be one name, and a row one check",
           "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at) "
           "VALUES ('{a,b}', '1', 'sync', '2026-03-01 13:15:00')");
    SQL_IS("prescient: job_exec begins with {, like an array: it must be one name, and a row one check",
           "INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec) "
           "VALUES ('a', '{1}', '{sync,sync}')");
    SQL_IS("", "INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec) "
               "VALUES ('a{', '{1}', 'sync')");
}

/* Each way in: the view, the table, and what the program writes to. */
static void no_schedule_is_of_an_array(void)
{
    litefx_begin();
    static const char entity[] = "prescient: entity_name begins with {, like an array: it must be one name, "
                                 "and a row one check";
    static const char job[] = "prescient: job_exec begins with {, like an array: it must be one name, "
                              "and a row one check";
    static const struct { const char *words, *sql; } all[] = {
        { entity, "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, job_exec, "
                  "every_s) VALUES ('b', '{a,b}', '1', 'sync', 60)" },
        { job, "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, job_exec, cron) "
               "VALUES ('b', 'a', '1', '{sync,sync}', '@daily')" },
        { entity, "INSERT OR IGNORE INTO prescient_put_schedule "
                  "VALUES ('b', '{a', '1', 'sync', 60, 667, NULL, NULL, 'run_once', NULL, 900, NULL, NULL)" },
        { job, "INSERT OR IGNORE INTO prescient_schedule (name, entity_name, entity_key, job_exec, every_s, "
               "bias, missed, made_at_us, changed_at_us) "
               "VALUES ('b', 'a', '1', '{sync', 60, 667, 'run_once', 1, 1)" },
        { entity, "UPDATE OR IGNORE prescient_schedules SET entity_name = '{shop}'" },
        { job, "UPDATE OR IGNORE prescient_schedules SET job_exec = '{sync}'" },
        { entity, "UPDATE OR IGNORE prescient_schedule SET entity_name = '{shop}'" },
        { job, "UPDATE OR IGNORE prescient_schedule SET job_exec = '{sync}'" },
    };
    SQL_IS("", "INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s) "
               "VALUES ('{a}', 'shop{', '{1}', 'sync', 60)");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        SQL_IS(all[i].words, all[i].sql);
    SQL_IS("{a} shop{ {1} sync", "SELECT name || ' ' || entity_name || ' ' || entity_key || ' ' || job_exec "
                                 "FROM prescient_schedule");
    SQL_IS("shop{ sync", "SELECT entity_name || ' ' || job_exec FROM prescient_future_job");
}

/* As for new ones: an UPDATE, and an INSERT that is one, of the view or the table. */
static void no_update_makes_what_only_engines_file(void)
{
    litefx_begin();
    static const char event[] = "prescient: entity_name is prescient.event, which stands for deliveries: "
                                "only events file them";
    static const char digest[] = "prescient: entity_name is prescient.digest, which stands for digests: "
                                 "only engines file them";
    static const char check[] = "prescient: a check keeps its entity: only engines file prescient.event "
                                "and prescient.digest";
    static const struct { const char *words, *sql; } all[] = {
        { event, "UPDATE OR IGNORE prescient_schedule SET entity_name = 'prescient.event'" },
        { digest, "UPDATE OR IGNORE prescient_schedule SET entity_name = 'prescient.digest'" },
        { event, "UPDATE OR IGNORE prescient_schedules SET entity_name = 'prescient.event'" },
        { digest, "UPDATE OR IGNORE prescient_schedules SET entity_name = 'prescient.digest'" },
        { digest, "INSERT OR IGNORE INTO prescient_schedules (name, entity_name, entity_key, job_exec, "
                  "every_s) VALUES ('a', 'prescient.digest', '1', 'sync', 60)" },
        { check, "UPDATE OR IGNORE prescient_future_job SET entity_name = 'prescient.event'" },
        { check, "UPDATE OR IGNORE prescient_future_job SET entity_name = 'prescient.digest'" },
    };
    SQL_IS("", "INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s) "
               "VALUES ('a', 'shop', '1', 'sync', 60)");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        SQL_IS(all[i].words, all[i].sql);
    SQL_IS("shop shop", "SELECT s.entity_name || ' ' || f.entity_name "
                        "FROM prescient_schedule s, prescient_future_job f");
    SQL_IS("", "UPDATE prescient_schedules SET entity_name = 'shops', job_exec = 'other'");
    SQL_IS("shops other", "SELECT entity_name || ' ' || job_exec FROM prescient_future_job");
}

/* One that is an engine's is no other check. */
static void a_digest_stays_a_digest(void)
{
    litefx_begin();
    SQL_IS("", "INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, "
               "next_check_at) VALUES ('prescient.digest', 'late', 'mail', 900, 900)");
    SQL_IS("prescient: a check keeps its entity: only engines file prescient.event and prescient.digest",
           "UPDATE OR IGNORE prescient_future_job SET entity_name = 'shop'");
    SQL_IS("prescient.digest", "SELECT entity_name FROM prescient_future_job");
}

static const struct test tests[] = {
    TEST(cron_texts_are_read_as_by_engines),
    TEST(zones_have_the_form_that_engines_read),
    TEST(a_refusal_names_what_and_what_was_expected),
    TEST(other_columns_are_refused_in_words_too),
    TEST(what_people_write_beside_is_bounded_in_words),
    TEST(an_update_that_would_change_nothing_is_refused_in_words),
    TEST(an_insert_that_would_be_ignored_in_part_is_refused_in_words),
    TEST(what_begins_like_an_array_is_no_name),
    TEST(no_schedule_is_of_an_array),
    TEST(no_update_makes_what_only_engines_file),
    TEST(a_digest_stays_a_digest),
    { NULL, NULL },
};

const struct suite suite_rules_on_sqlite = { "rules_on_sqlite", NULL, litefx_teardown, tests };
