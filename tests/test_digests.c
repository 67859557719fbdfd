/* test_digests.c - digests in the engine: which checks the settings ask for, and what becomes of
 * one when it is read. */
#include <string.h>

#include "../engine/rules/bucket.h"
#include "../engine/rules/digest.h"
#include "../engine/run/digests.h"
#include "../engine/run/settle.h"
#include "../engine/run/verdict.h"
#include "lane_env_fixture.h"

#define LISTENER "listeners = ( { name = \"late\"; events = \"*\"; job = \"j\"; digest = \"30m\"; } );"
#define TERMS "schedule \"late\" every 1800 bias 0 missed run_once digest \"late\""
#define CRON "schedule \"late\" cron \"0 8 * * *\" zone \"UTC\" missed run_once digest \"late\""

static struct lane_env_fixture x;

static struct page *page_of(const char *terms)
{
    struct page *page = fixture_page(&x, 1);
    struct check *c = &page->rows.checks[0];
    c->entity_name = DIGEST_ENTITY;
    c->entity_key = "late";
    c->terms = terms;
    return page;
}

static struct settlement *taken_in(struct page *page)
{
    verdict_take_in(&x.env, page, fixture_now_us);
    return &page->checks[0].settlement;
}

static void a_digest_is_answered_without_a_worker(void)
{
    lane_env_begin(&x, LISTENER);
    struct page *page = page_of(TERMS);
    struct settlement *s = taken_in(page);
    CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 1);
    CU_ASSERT_TRUE(s->renews && !s->ends && s->ran);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_DONE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->digest);
    CU_ASSERT_TRUE(s->digest->files);
    CU_ASSERT_STRING_EQUAL(s->digest->listener->name, "late");
    CU_ASSERT_EQUAL(s->next_at, FIXTURE_SLOT + 1800);
    CU_ASSERT_EQUAL(s->run_at_us, page->now * INT64_C(1000000));
    page_free(page);
    lane_env_end(&x);
}

/* What is late is told once, and the next one comes in its time from the slot that runs. */
static void a_digest_that_was_missed_comes_once(void)
{
    lane_env_begin(&x, LISTENER);
    struct page *page = page_of(TERMS);
    page->rows.checks[0].first_check_at = page->rows.checks[0].next_check_at = FIXTURE_SLOT - 9000;
    CU_ASSERT_EQUAL(taken_in(page)->next_at, FIXTURE_SLOT + 1800);
    page_free(page);
    page = page_of(CRON);
    page->rows.checks[0].first_check_at = page->rows.checks[0].next_check_at = 800 * 1000;
    CU_ASSERT_EQUAL(taken_in(page)->next_at, (FIXTURE_SLOT + 86400) / 86400 * 86400 + 8 * 3600);
    page_free(page);
    lane_env_end(&x);
}

/* There was more to read than a settle may: it comes again at once, and its time stays. */
static void a_digest_that_comes_again_at_once_keeps_its_next_time(void)
{
    lane_env_begin(&x, LISTENER);
    struct page *page = page_of(CRON);
    page->rows.checks[0].first_check_at = FIXTURE_SLOT + 86400;
    page->rows.checks[0].next_check_at = FIXTURE_SLOT + 1;
    struct settlement *s = taken_in(page);
    CU_ASSERT_TRUE(s->renews);
    CU_ASSERT_TRUE(s->next_at > FIXTURE_SLOT && s->next_at <= FIXTURE_SLOT + 2 * 86400);
    CU_ASSERT_EQUAL(s->next_at, s->first_at);
    page_free(page);
    lane_env_end(&x);
}

static void nobodys_digest_is_left_to_others_and_put_off(void)
{
    static const char *const all[] = {
        "", "listeners = ( { name = \"late\"; events = \"*\"; job = \"j\"; } );",
        "listeners = ( { name = \"other\"; events = \"*\"; job = \"j\"; digest = \"1h\"; } );",
    };
    for (int i = 0; i < 3; i++) {
        lane_env_begin(&x, all[i]);
        struct page *page = page_of(TERMS);
        taken_in(page);
        CU_ASSERT_EQUAL(page->counts[CHECK_ANSWERED], 0);
        CU_ASSERT_EQUAL(x.bucket.counts.done, 0);
        CU_ASSERT_TRUE(fixture_logged(&x, "no listener \"late\" with a digest and the job \"j\""));
        page_free(page);
        x.target.kind = TARGET_SWEEP;
        x.target.puts_off = true;
        page = page_of(TERMS);
        struct settlement *s = taken_in(page);
        CU_ASSERT_EQUAL(s->outcome, OUTCOME_UNKNOWN_JOB);
        CU_ASSERT_TRUE(!s->ends && !s->renews && !s->ran && !s->digest);
        page_free(page);
        lane_env_end(&x);
    }
}

/* Nobody has had it for the whole horizon. A schedule's check would go on. */
static void nobodys_digest_ends_after_the_horizon(void)
{
    lane_env_begin(&x, "");
    x.target.kind = TARGET_SWEEP;
    x.target.puts_off = true;
    struct page *page = page_of(TERMS);
    page->rows.checks[0].put_off_at = 1;
    page->now = 400 * 86400;
    struct settlement *s = taken_in(page);
    CU_ASSERT_TRUE(s->ends && !s->renews);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_UNKNOWN_JOB);
    page_free(page);
    lane_env_end(&x);
}

static void a_digest_that_the_database_refuses_is_a_bad_answer_and_tells_nothing(void)
{
    lane_env_begin(&x, LISTENER);
    struct page *page = page_of(TERMS);
    struct settlement *s = taken_in(page);
    page_settling(page, 0);
    page_unsettled(page, 0);
    verdict_refused_by_database(&x.env, page, 0, "no");
    CU_ASSERT_PTR_NULL(s->digest);
    CU_ASSERT_EQUAL(s->outcome, OUTCOME_BAD_ANSWER);
    page_free(page);
    lane_env_end(&x);
}

/* ---- their checks ---- */

static void the_settings_say_which_checks_there_are(void)
{
    lane_env_begin(&x, "listeners = ( { name = \"late\"; events = \"*\"; job = \"j\"; digest = \"30m\"; },"
                       "{ events = \"*\"; job = \"j\"; }, { name = \"day\"; events = \"*\"; job = \"j\"; "
                       "digest = \"cron 0 8 * * *\"; }, { name = \"lost\"; events = \"*\"; job = \"j\"; "
                       "digest = \"cron 0 8 * * *\"; timezone = \"No/Where\"; } );");
    struct errand_env env = {
        .settings = &x.settings, .log = &x.log, .clocks = &x.clocks, .zones = &x.zones
    };
    struct store_keep_digests k = STORE_KEEP_DIGESTS_INIT;
    digests_fill(&env, fixture_now_us, &k);
    int64_t now = clocks_now(&x.clocks, fixture_now_us);
    CU_ASSERT_EQUAL_FATAL(k.n, 2);
    CU_ASSERT_STRING_EQUAL(k.checks[0].listener, "late");
    CU_ASSERT_STRING_EQUAL(k.checks[0].job, "j");
    CU_ASSERT_STRING_EQUAL(k.checks[0].terms, TERMS);
    CU_ASSERT_EQUAL(k.checks[0].bucket, bucket_of(DIGEST_ENTITY, "late"));
    CU_ASSERT_TRUE(k.checks[0].first_at > now && k.checks[0].first_at <= now + 1800 + 900);
    CU_ASSERT_EQUAL(k.checks[1].first_at % 86400, 8 * 3600);
    CU_ASSERT_TRUE(fixture_logged(&x, "listener \"lost\": its digest cannot be filed: "));
    CU_ASSERT_EQUAL(k.now, 0);
    arena_free(k.arena);
    lane_env_end(&x);
}

static const struct test tests[] = {
    TEST(a_digest_is_answered_without_a_worker),
    TEST(a_digest_that_was_missed_comes_once),
    TEST(a_digest_that_comes_again_at_once_keeps_its_next_time),
    TEST(nobodys_digest_is_left_to_others_and_put_off),
    TEST(nobodys_digest_ends_after_the_horizon),
    TEST(a_digest_that_the_database_refuses_is_a_bad_answer_and_tells_nothing),
    TEST(the_settings_say_which_checks_there_are),
    { NULL, NULL },
};

const struct suite suite_digests = { "digests", settings_fixture_setup, settings_fixture_teardown, tests };
