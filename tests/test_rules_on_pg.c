/* test_rules_on_pg.c - PostgreSQL's functions read the rules of schedules as the command line does:
 * all texts in one statement. */
#include "pg_fixture.h"

#include <inttypes.h>

#include "../engine/base/zone.h"
#include "../engine/rules/recurrence.h"
#include "rule_texts.h"

enum { FOUND_MAX = 8192 };

/* A zone that only one of server and machine has says nothing. */
static void leave_out_others(const struct rule_text *t, const char *server_has, const char **found)
{
    bool is_there = *server_has == 't';
    if (t->stored && !is_there && !*found)
        *found = t->stored;
    if (!t->stored && is_there && zone_check_name(t->text, NULL) == 0)
        *found = NULL;
}

/* `body`: an expression of t that is the stored text. */
static void pg_reads_the_same(int line, const struct rule_texts *texts, const char *body)
{
    const char *found[FOUND_MAX];
    json_t *all = rule_texts_json(texts);
    char *json = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    CU_ASSERT_FATAL(json && texts->n <= FOUND_MAX);
    PQclear(
        pgfx_ask(pgfx.app,
                 "CREATE OR REPLACE FUNCTION pg_temp.read_rule(t text) RETURNS text LANGUAGE plpgsql AS $$"
                 "BEGIN RETURN %s; EXCEPTION WHEN invalid_parameter_value OR invalid_text_representation "
                 "OR numeric_value_out_of_range OR invalid_datetime_format THEN RETURN NULL; END $$",
                 body));
    PGresult *rows = PQexecParams(pgfx.app,
                                  "SELECT pg_temp.read_rule(t), t IN (SELECT name FROM pg_timezone_names) "
                                  "FROM json_array_elements_text($1::json) WITH ORDINALITY r (t, n) "
                                  "ORDER BY n",
                                  1, NULL, (const char *const[]){ json }, NULL, NULL, 0);
    free(json);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK)
        printf("      line %d: %s\n", line, PQerrorMessage(pgfx.app));
    CU_ASSERT_EQUAL_FATAL(PQntuples(rows), texts->n);
    for (int i = 0; i < texts->n; i++) {
        found[i] = PQgetisnull(rows, i, 0) ? NULL : PQgetvalue(rows, i, 0);
        if (!strcmp(texts->what, "timezone"))
            leave_out_others(&texts->all[i], PQgetvalue(rows, i, 1), &found[i]);
    }
    rule_texts_are_the_same(line, texts, found);
    PQclear(rows);
    rule_texts_end();
}
#define READS_THE_SAME(texts, body) pg_reads_the_same(__LINE__, texts, body)

static void cron_texts_are_read_as_by_engines(void)
{
    WITH_SERVER();
    READS_THE_SAME(rule_texts_cron(), "prescient.cron_text(t)");
}

static void periods_are_read_as_by_the_command_line(void)
{
    WITH_SERVER();
    READS_THE_SAME(rule_texts_every(), "prescient.period_s(t::interval)");
}

static void biases_are_read_as_by_the_command_line(void)
{
    WITH_SERVER();
    READS_THE_SAME(rule_texts_bias(), "prescient.bias_of(t::numeric)");
}

static void zones_are_read_as_by_engines(void)
{
    WITH_SERVER();
    /* Not what was probably meant, which reads the files of all zones for each wrong name. */
    SQL_IS("", "BEGIN; CREATE OR REPLACE FUNCTION prescient.zone_meant(words text) RETURNS text "
               "LANGUAGE sql AS 'SELECT NULL::text'");
    READS_THE_SAME(rule_texts_zone(), "prescient.zone_text(t)");
    SQL_IS("", "ROLLBACK");
}

static void the_setting_of_a_session_stays(void)
{
    WITH_SERVER();
    SQL_IS("Asia/Kathmandu",
           "SET timezone = 'Asia/Kathmandu'; SELECT prescient.zone_text('Europe/Amsterdam'); SHOW timezone");
    /* A name that is searched for in the view, where there is such a zone: Debian 13 has those in a
     * package of their own. */
    SQL_IS("UTC", "SET timezone = 'UTC'; BEGIN; SET LOCAL timezone = 'Asia/Kathmandu'; "
                  "SELECT prescient.zone_text(coalesce((SELECT z.name FROM pg_timezone_names z "
                  "WHERE z.name = 'EST5EDT'), 'Europe/Amsterdam')); COMMIT; SHOW timezone");
}

/* What is said of a text: the field, the column in the text as it was given, what was expected. */
static void a_refusal_names_the_place(void)
{
    WITH_SERVER();
    static const struct {
        const char *call, *words;
    } all[] = {
        { "cron => '  61 * * * *'", "cron: minute: '61' at column 3: expected values from 0 to 59" },
        { "cron => '0\t\t9-5 * * *'",
          "cron: hour: '9-5' at column 4: the range runs backwards; expected the smaller end first" },
        { "cron => '0 9 1,x * *'", "cron: day of month: 'x' at column 7: expected 1 to 31, *, a range" },
        { "cron => '0 9 * 1,, *'", "cron: month: nothing at column 9: expected 1 to 12, jan to dec" },
        { "cron => '0 9 * * */8'", "cron: weekday: '*/8' at column 9: expected a step from 1 to 7" },
        { "cron => '5/10 9 * * *'", "cron: minute: '5/10' at column 1: the step stands behind one value; "
                                    "expected a range, such as 5-59/10" },
        { "cron => '0 9 * *'", "cron: found 4 fields, expected five: minute, hour" },
        { "cron => '0 9 * * * 2026'", "cron: '2026' at column 11 is a sixth field" },
        { "cron => '0 9 31 2,4 *'",
          "cron: day of month: '31' at column 5: none of the months at column 8 has that day" },
        { "cron => '@dayly'", "cron: '@dayly'; expected five fields, or @yearly" },
        { "cron => repeat(' ', 500)", "cron: a text of 500 bytes; expected at most 499" },
        { "cron => '@daily', timezone => 'Amsterdam'", "did you mean Europe/Amsterdam?" },
        { "cron => '@daily', timezone => 'europe/amsterdam'", "did you mean Europe/Amsterdam?" },
        { "cron => '@daily', timezone => 'America/New York'", "did you mean America/New_York?" },
        { "cron => '@daily', timezone => '../UTC'", "timezone is '../UTC', expected the name of a zone" },
        { "cron => '@daily', every => '1 day'", "and only one of them" },
        { "cron => '@daily', bias => 0.1", "a bias belongs to every" },
        { "every => '5 minutes', timezone => 'UTC'", "a timezone belongs to cron" },
        { "every => '5 minutes', bias => 0.50001",
          "bias is 0.50001, expected 0, or a fraction of every from 0.0001 to 0.5" },
        { "every => '5 minutes', bias => 0.00004", "bias is 0.00004, expected 0, or a fraction" },
        { "every => '5 minutes', bias => 'NaN'", "bias is NaN, expected 0, or a fraction" },
        { "every => '-5 minutes'", "every is -00:05:00, expected whole seconds, from 1 second to 366 days" },
        { "every => '1 month'", "months have no fixed length" },
        { "every => '5 minutes', missed => 'RUN_ONCE'",
          "missed is 'RUN_ONCE', expected run_once, run_all or skip" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        PGresult *r = pgfx_ask(pgfx.app, "SELECT prescient.schedule('a', 'shop', '1', 'sync', %s)",
                               all[i].call);
        const char *said = PQresultErrorMessage(r);
        if (!strstr(said, all[i].words))
            printf("      %s: %s", all[i].call, said);
        CU_ASSERT_PTR_NOT_NULL(strstr(said, all[i].words));
        PQclear(r);
    }
    SQL_IS("0", "SELECT count(*) FROM prescient.schedule");
}

/* In a Turkish locale the small letter of I is another one. */
static void letters_are_those_of_ascii(void)
{
    WITH_SERVER();
    if (!strcmp(pgfx_cell(pgfx.app, "SELECT count(*) FROM pg_collation WHERE collname = 'tr-x-icu'"), "0"))
        return; /* a server without ICU */
    SQL_IS("0 9 * * fri", "SELECT prescient.cron_text('0 9 * * FRI' COLLATE \"tr-x-icu\")");
}

static void what_an_every_becomes_is_as_engines_have_it(void)
{
    WITH_SERVER();
    static const int32_t lengths[] = { 1, 7, 60, 61, 300, 900, 3600, 86400 };
    static const int64_t periods[] = { 1,   2,   29,  30,  31,   60,   299,  300,   301,
                                       449, 450, 451, 900, 1200, 1350, 3601, 86400, RECURRENCE_EVERY_MAX_S };
    static const int32_t biases[] = { 0, 1, 667, 2500, RECURRENCE_BIAS_MAX };
    char expected[24];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t j = 0; j < sizeof periods / sizeof *periods; j++)
            for (size_t k = 0; k < sizeof biases / sizeof *biases; k++) {
                struct recurrence r = { .every_s = periods[j], .bias = biases[k] };
                snprintf(expected, sizeof expected, "%" PRId64, recurrence_becomes_s(&r, lengths[i]));
                SQL_IS(expected, "SELECT prescient.becomes_s(%" PRId64 ", %d, %d)", periods[j], biases[k],
                       lengths[i]);
            }
}

static void keep_notice(void *arg, const char *words)
{
    snprintf(arg, 200, "%s", words);
}

/* "": nothing is said. */
static void notice_is(int line, const char *call, const char *expected)
{
    char said[200] = "";
    PQnoticeProcessor old = PQsetNoticeProcessor(pgfx.app, keep_notice, said);
    PQclear(pgfx_ask(pgfx.app, "SELECT prescient.%s", call));
    PQsetNoticeProcessor(pgfx.app, old, NULL);
    said[strcspn(said, "\n")] = '\0';
    if (strcmp(said, expected) != 0)
        printf("      line %d: '%s', expected '%s'\n", line, said, expected);
    CU_ASSERT_STRING_EQUAL(said, expected);
}
#define NOTICE_IS(call, expected) notice_is(__LINE__, call, expected)

static void an_every_that_slots_cannot_keep_is_told(void)
{
    WITH_SERVER();
    NOTICE_IS("schedule('a', 'shop', '1', 'sync', every => '5 minutes')",
              "NOTICE:  prescient: every 00:05:00 becomes 00:15:00 in slots of 00:15:00");
    NOTICE_IS("schedule('a', 'shop', 1, 'sync', every => '20 minutes')",
              "NOTICE:  prescient: every 00:20:00 becomes 00:30:00 in slots of 00:15:00");
    NOTICE_IS("schedule('a', 'shop', '1', 'sync', every => '20 minutes', bias => 0.5)",
              "NOTICE:  prescient: every 00:20:00 becomes 00:15:00 in slots of 00:15:00");
    NOTICE_IS("schedule_set('a', missed => 'skip')", "");
    NOTICE_IS("schedule_set('a', bias => 0)",
              "NOTICE:  prescient: every 00:20:00 becomes 00:30:00 in slots of 00:15:00");
    NOTICE_IS("schedule('a', 'shop', '1', 'sync', every => '1 day')", "");
    NOTICE_IS("schedule('a', 'shop', '1', 'sync', cron => '* * * * *')", "");
}

static void a_resolve_of_what_nothing_waits_for_is_told(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "TRUNCATE prescient.future_job, prescient.schedule"));
    NOTICE_IS("resolve('ordrs', '1')",
              "NOTICE:  prescient: nothing was resolved, and no check of any row of entity 'ordrs' waits: is "
              "that its name?");
    NOTICE_IS("enqueue('orders', '63', 'j', '3 hours')", "");
    NOTICE_IS("resolve('orders', 1)", "");
    NOTICE_IS("resolve('orders', 63, 'k')",
              "NOTICE:  prescient: nothing was resolved, as no check of job 'k' waits for this row; checks "
              "of these jobs do: j");
    NOTICE_IS("resolve('orders', 1, 'k')", "");
    NOTICE_IS("resolve('orders', '63')", "");
    NOTICE_IS("schedule('b', 'shops', '1', 'sync', every => '1 day')", "");
    NOTICE_IS("resolve('shops', '2')", "");
}

static const struct test tests[] = {
    TEST(a_resolve_of_what_nothing_waits_for_is_told),
    TEST(cron_texts_are_read_as_by_engines),
    TEST(periods_are_read_as_by_the_command_line),
    TEST(biases_are_read_as_by_the_command_line),
    TEST(zones_are_read_as_by_engines),
    TEST(the_setting_of_a_session_stays),
    TEST(a_refusal_names_the_place),
    TEST(letters_are_those_of_ascii),
    TEST(what_an_every_becomes_is_as_engines_have_it),
    TEST(an_every_that_slots_cannot_keep_is_told),
    { NULL, NULL },
};

const struct suite suite_rules_on_pg = { "rules_on_pg", pgfx_setup, pgfx_teardown, tests };
