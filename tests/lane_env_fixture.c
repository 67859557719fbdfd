/* lane_env_fixture.c - see lane_env_fixture.h. */
#include "lane_env_fixture.h"

#include <stdlib.h>
#include <string.h>

int64_t fixture_now_us;

static int64_t now(void *ctx)
{
    (void)ctx;
    return fixture_now_us;
}
static const struct clock counted = { now, now, now, NULL };

static void fatal(void *ctx, int rc, const char *text)
{
    struct lane_env_fixture *x = ctx;
    (void)text;
    x->fatal_rc = rc;
}

static bool is_never_idle(const void *engine)
{
    (void)engine;
    return false;
}

static struct plan_env plan_env_of(struct lane_env_fixture *x)
{
    return (struct plan_env){
        .settings = &x->settings,
        .log = &x->log,
        .clock = &counted,
        .patient = true,
        .clocks = &x->clocks,
        .targets = &x->targets,
        .fine_targets = &x->fine_targets,
        .errands = &x->errands,
        .fine_errands = &x->fine_errands,
        .jobs = &x->jobs,
        .cooldowns = &x->cooldowns,
        .health = &x->health,
        .shutdown = &x->shutdown,
        .trouble = &x->trouble,
        .run_hours = x->run_hours,
        .long_runs = &x->long_runs,
        .measuring = &x->measuring,
        .totals = &x->totals,
        .agenda = &x->agenda,
        .wake = &x->wake_plan,
        .is_idle = is_never_idle,
    };
}

void lane_env_begin(struct lane_env_fixture *x, const char *text)
{
    static const char job[] = "jobs = { j = { plugin = \"noop\"; }; };";
    static const unsigned char owner[STORE_OWNER_SIZE] = { 1 };
    char whole[1024];
    struct err err;
    memset(x, 0, sizeof *x);
    snprintf(whole, sizeof whole, "store = \"sqlite:not used\"; %s %s", text, job);
    x->settings = parsed(whole);
    FILE *out = open_memstream(&x->logged, &x->logged_size);
    log_init(&x->log, out, LOG_LEVEL_INFO, "test");
    x->trouble = (struct trouble){ .settings = &x->settings, .log = &x->log };
    fixture_now_us = 1000 * INT64_C(1000000);
    clocks_set(&x->clocks, (FIXTURE_SLOT + 1) * INT64_C(1000000), FIXTURE_LENGTH_S, 0, fixture_now_us);
    CU_ASSERT_EQUAL_FATAL(jobs_init(&x->jobs, &x->settings, &err), 0);
    x->targets.agenda = x->fine_targets.agenda = &x->agenda;
    x->random = 1;
    x->places = places_new(&(struct places_options){ .health = &x->health });
    CU_ASSERT_PTR_NOT_NULL_FATAL(x->places);
    x->run_hours = run_hours_new(owner);
    CU_ASSERT_PTR_NOT_NULL_FATAL(x->run_hours);
    x->long_runs = (struct long_runs){ .clocks = &x->clocks };
    x->env = (struct lane_env){
        .settings = &x->settings,
        .log = &x->log,
        .clock = &counted,
        .patient = true,
        .owner = owner,
        .agenda = &x->agenda,
        .clocks = &x->clocks,
        .targets = &x->targets,
        .watch = &x->watch,
        .cooldowns = &x->cooldowns,
        .health = &x->health,
        .jobs = &x->jobs,
        .pace = &x->pace,
        .pausing = &x->pausing,
        .places = x->places,
        .run_hours = x->run_hours,
        .long_runs = &x->long_runs,
        .measuring = &x->measuring,
        .errands = &x->errands,
        .shutdown = &x->shutdown,
        .totals = &x->totals,
        .trouble = &x->trouble,
        .zones = &x->zones,
        .terms_memo = &x->terms_memo,
        .random = &x->random,
        .events = { .fatal = fatal, .ctx = x },
    };
    x->plan_env = plan_env_of(x);
    x->target = (struct target){ .kind = TARGET_SLOT, .slot = FIXTURE_SLOT };
    x->bucket = (struct leased_bucket){
        .lease = { .slot = FIXTURE_SLOT, .bucket = BUCKET_WHOLE_SLOT, .token = 1 }, .target = &x->target,
        .settles = &x->settles
    };
}

void lane_env_end(struct lane_env_fixture *x)
{
    leased_bucket_release(&x->bucket);
    places_free(x->places);
    run_hours_free(x->run_hours);
    targets_release(&x->targets);
    targets_release(&x->fine_targets);
    jobs_release(&x->jobs);
    trouble_release(&x->trouble);
    zones_release(&x->zones);
    settings_release(&x->settings);
    fclose(x->log.out);
    free(x->logged);
}

static int job_of(void *jobs, const char *name)
{
    return jobs_usable_index(jobs, name);
}

struct page *fixture_page(struct lane_env_fixture *x, int n)
{
    struct check_rows rows = { .checks = calloc((size_t)n, sizeof *rows.checks), .n = n };
    CU_ASSERT_PTR_NOT_NULL_FATAL(rows.checks);
    for (int i = 0; i < n; i++)
        rows.checks[i] = (struct check){ .id = i + 1,
                                         .first_check_at = FIXTURE_SLOT,
                                         .next_check_at = FIXTURE_SLOT,
                                         .entity_name = "e",
                                         .entity_key = "k",
                                         .job_exec = "j",
                                         .entity_name_len = 1,
                                         .entity_key_len = 1,
                                         .job_exec_len = 1 };
    struct page *page = page_new(&rows, job_of, &x->jobs, clocks_now(&x->clocks, fixture_now_us));
    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    page->bucket = &x->bucket;
    return page;
}

bool fixture_logged(struct lane_env_fixture *x, const char *text)
{
    fflush(x->log.out);
    return x->logged && strstr(x->logged, text);
}
