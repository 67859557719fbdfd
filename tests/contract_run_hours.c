/* contract_run_hours.c - the store's contract: what the runs of an hour were like, as engines write
 * it and `prescient status --by` shows it. */
#include "store_contract.h"

#include <poll.h>

#include "../engine/rules/histogram.h"

#define HOUR (SLOT / 3600 * 3600)

static struct run_hour hour_of(const char *job, const char *entity, const char *outcome, int64_t runs)
{
    return (struct run_hour){ .hour_at = HOUR, .job = job, .entity = entity, .tenant = "",
                              .outcome = outcome, .runs = runs, .took_us = runs * 1000,
                              .took_max_us = 1000, .late_max_us = 70, .took = "{}", .late = "{}" };
}

enum { OLD_S = 12 * 3600, LATELY_S = 11 * 3600 };

static int64_t clock_us(void)
{
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    return hello.now_us;
}

static struct store_note_runs note_of(const unsigned char *who, int64_t number, const struct run_hour *rows,
                                      int n)
{
    struct store_note_runs call = STORE_NOTE_RUNS_INIT;
    call.owner = who;
    call.number = number;
    call.made_us = clock_us();
    call.rows = rows;
    call.n = n;
    return call;
}

static int note(const unsigned char *who, int64_t number, const struct run_hour *rows, int n)
{
    struct store_note_runs call = note_of(who, number, rows, n);
    return fixture_call(&call.call);
}

static int note_made_before(int64_t s, int64_t number, const struct run_hour *row)
{
    struct store_note_runs call = note_of(owner, number, row, 1);
    call.made_us -= s * 1000000;
    return fixture_call(&call.call);
}

static struct store_rows runs_by(const char *part)
{
    return REPORT("runs_by", part, text_of(HOUR), "100");
}

/* How often the one job has run. */
static int64_t runs_in_all(void)
{
    struct store_rows found = runs_by("job");
    return found.rows ? atoll(cell(&found, 0, "runs")) : 0;
}

static int64_t rows_of_hours(void)
{
    struct store_prune prune = STORE_PRUNE_INIT;
    prune.part = PRUNE_HOURS;
    prune.before = HOUR + 1;
    prune.wish = PRUNE_COUNT;
    IS(0, fixture_call(&prune.call));
    return prune.n;
}

/* Hours of long ago are not of the last day. */
void lately_has_the_last_pass_and_the_last_day(void)
{
    WITH_STORE();
    int64_t now = clock_us() / 1000000;
    struct run_hour rows[] = { hour_of("job", "orders", "done", 7), hour_of("job", "orders", "failed", 2),
                               hour_of("other", "orders", "crashed", 1),
                               hour_of("job", "orders", "again", 5) };
    for (int i = 0; i < 3; i++)
        rows[i].hour_at = now / 3600 * 3600;
    struct store_rows lately = fixture_report("lately", NULL, 0);
    IS(1, lately.rows);
    TEXT_IS("NULL", cell(&lately, 0, "last_slot_at"));
    TEXT_IS("NULL", cell(&lately, 0, "last_pass_at"));
    TEXT_IS("0", cell(&lately, 0, "day_runs"));
    IS(0, note(owner, 1, rows, 4));
    put_any("orders", "1", "look", NULL, "keep", SLOT, BEFORE);
    struct store_finish f = STORE_FINISH_INIT;
    f.lease = take();
    f.unknown_jobs = &(const char *){ "look" };
    f.nunknown_jobs = 1;
    f.counts = (struct pass_counts){ .run = 9, .done = 5, .failed = 2, .timeout = 1, .crashed = 1 };
    IS(0, fixture_call(&f.call));
    CU_ASSERT_TRUE(f.finished);
    lately = fixture_report("lately", NULL, 0);
    TEXT_IS(text_of(SLOT), cell(&lately, 0, "last_slot_at"));
    CU_ASSERT(atoll(cell(&lately, 0, "last_pass_at")) >= now);
    TEXT_IS("9", cell(&lately, 0, "last_run"));
    TEXT_IS("4", cell(&lately, 0, "last_failed"));
    TEXT_IS("10", cell(&lately, 0, "day_runs"));
    TEXT_IS("3", cell(&lately, 0, "day_failed"));
}

void notes_are_added_up(void)
{
    WITH_STORE();
    struct run_hour rows[] = { hour_of("look", "orders", "done", 3), hour_of("look", "orders", "failed", 1) };
    rows[1].took_max_us = rows[1].late_max_us = 2000;
    IS(0, note(owner, 1, rows, 2));
    rows[1].took_max_us = rows[1].late_max_us = 1500;
    IS(0, note(owner, 2, rows, 2));
    IS(0, note(owner, 3, rows, 1));
    struct store_rows found = runs_by("job");
    IS(1, found.rows);
    TEXT_IS("look", cell(&found, 0, "name"));
    TEXT_IS("11", cell(&found, 0, "runs"));
    TEXT_IS("9", cell(&found, 0, "done"));
    TEXT_IS("2", cell(&found, 0, "failed"));
    TEXT_IS("0", cell(&found, 0, "other"));
    TEXT_IS("11000", cell(&found, 0, "took_us"));
    TEXT_IS("2000", cell(&found, 0, "took_max_us"));
    TEXT_IS("2000", cell(&found, 0, "late_max_us"));
}

/* After an answer that was lost; and a call of before that waited for a lock. */
void a_note_that_comes_again_counts_once(void)
{
    WITH_STORE();
    struct run_hour row = hour_of("look", "orders", "done", 3);
    IS(0, note(owner, 1, &row, 1));
    IS(0, note(owner, 1, &row, 1));
    IS(3, runs_in_all());
    IS(0, note(owner, 2, &row, 1));
    IS(0, note(owner, 1, &row, 1));
    IS(0, note(owner, 2, &row, 1));
    IS(6, runs_in_all());
}

/* The store may have forgotten that it was added. */
void a_note_of_long_ago_is_not_added(void)
{
    WITH_STORE();
    struct run_hour row = hour_of("look", "orders", "done", 3);
    IS(0, note_made_before(OLD_S, 1, &row));
    IS(0, runs_in_all());
    IS(0, note_made_before(LATELY_S, 1, &row));
    IS(3, runs_in_all());
    IS(0, note_made_before(OLD_S + 1, 2, &row));
    IS(3, runs_in_all());
    IS(0, note(owner, 2, &row, 1));
    IS(6, runs_in_all());
}

void which_notes_were_added_is_remembered_for_a_day(void)
{
    WITH_STORE();
    struct run_hour row = hour_of("look", "orders", "done", 3);
    IS(0, note(owner, 7, &row, 1));
    fixture_make_old(1);
    IS(0, note(stranger, 1, &row, 1));                  /* forgets those of yesterday */
    IS(0, note_made_before(24 * 3600, 7, &row));
    IS(6, runs_in_all());
    IS(0, note(owner, 8, &row, 1));
    IS(9, runs_in_all());
}

void hours_of_several_engines_are_one_row(void)
{
    WITH_STORE();
    struct run_hour one = hour_of("look", "orders", "done", 3), other = hour_of("ship", "orders", "past", 9);
    IS(0, note(owner, 1, &one, 1));
    IS(0, note(stranger, 1, &one, 1));
    IS(1, rows_of_hours());
    IS(0, note(stranger, 2, &other, 1));
    struct store_rows jobs = runs_by("job"), entities = runs_by("entity");
    IS(2, jobs.rows);
    TEXT_IS("ship", cell(&jobs, 0, "name"));        /* it took most */
    TEXT_IS("9", cell(&jobs, 0, "other"));
    TEXT_IS("6", cell(&jobs, 1, "runs"));
    IS(1, entities.rows);
    TEXT_IS("orders", cell(&entities, 0, "name"));
    TEXT_IS("15", cell(&entities, 0, "runs"));
    TEXT_IS("15000", cell(&entities, 0, "took_us"));
}

/* Both at once, on connections of their own. */
static void call_both(struct store *const stores[2], struct store_note_runs calls[2])
{
    bool is_done[2] = { false };
    for (int i = 0; i < 2; i++)
        store_begin(stores[i], &calls[i].call);
    while (!is_done[0] || !is_done[1])
        for (int i = 0; i < 2; i++) {
            struct pollfd one = { .fd = store_fd(stores[i]), .events = store_wants(stores[i]) };
            if (is_done[i])
                continue;
            poll(&one, 1, 1);
            is_done[i] = store_step(stores[i]);
        }
    for (int i = 0; i < 2; i++)
        IS(0, calls[i].call.rc);
}

static void open_both(struct store *out[2])
{
    for (int i = 0; i < 2; i++) {
        out[i] = fixture_another((struct store_options){ 0 });
        CU_ASSERT_PTR_NOT_NULL_FATAL(out[i]);
    }
}

/* The same rows, in another order: they must not wait for each other in a circle. */
void notes_of_two_engines_at_once_lose_nothing(void)
{
    enum { ROWS = 60, ROUNDS = 20 };
    WITH_STORE();
    struct run_hour rows[2][ROWS];
    char entities[ROWS][20];
    for (int i = 0; i < ROWS; i++) {
        snprintf(entities[i], sizeof entities[i], "e%d", i);
        rows[0][i] = rows[1][ROWS - 1 - i] = hour_of("look", entities[i], "done", 1);
    }
    struct store *stores[2];
    open_both(stores);
    for (int round = 1; round <= ROUNDS; round++) {
        struct store_note_runs calls[2] = { note_of(owner, round, rows[0], ROWS),
                                            note_of(stranger, round, rows[1], ROWS) };
        call_both(stores, calls);
    }
    for (int i = 0; i < 2; i++)
        store_free(stores[i]);
    IS(2 * ROWS * ROUNDS, runs_in_all());
    IS(ROWS, rows_of_hours());
}

void a_note_that_is_sent_twice_at_once_counts_once(void)
{
    enum { ROUNDS = 20 };
    WITH_STORE();
    struct run_hour row = hour_of("look", "orders", "done", 1);
    struct store *stores[2];
    open_both(stores);
    for (int round = 1; round <= ROUNDS; round++) {
        struct store_note_runs calls[2] = { note_of(owner, round, &row, 1), note_of(owner, round, &row, 1) };
        call_both(stores, calls);
    }
    for (int i = 0; i < 2; i++)
        store_free(stores[i]);
    IS(ROUNDS, runs_in_all());
}

/* 60 runs of a millisecond, 39 of ten and one of a second, in three notes of two engines. */
void the_classes_of_notes_are_added_up(void)
{
    WITH_STORE();
    static const struct { const unsigned char *who; int number, short_ones, long_ones, longest; } all[] = {
        { owner, 1, 30, 0, 0 }, { owner, 2, 20, 20, 0 }, { stranger, 1, 10, 19, 1 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct run_hour row = hour_of("look", "orders", "done", all[i].short_ones + all[i].long_ones +
                                                                    all[i].longest);
        char text[100];
        snprintf(text, sizeof text, "{\"%d\":%d,\"%d\":%d,\"%d\":%d}", histogram_class(1000),
                 all[i].short_ones, histogram_class(10000), all[i].long_ones, histogram_class(1000000),
                 all[i].longest);
        row.took = row.late = text;
        row.took_max_us = row.late_max_us = 1000000;
        IS(0, note(all[i].who, all[i].number, &row, 1));
    }
    struct store_rows found = runs_by("job");
    TEXT_IS("100", cell(&found, 0, "runs"));
    TEXT_IS(text_of(histogram_middle_us(histogram_class(1000))), cell(&found, 0, "took_p50_us"));
    TEXT_IS(text_of(histogram_middle_us(histogram_class(10000))), cell(&found, 0, "took_p95_us"));
    TEXT_IS(text_of(histogram_middle_us(histogram_class(10000))), cell(&found, 0, "late_p99_us"));
    TEXT_IS("1000000", cell(&found, 0, "took_max_us"));
}

/* Where nobody has said whose a check is, its entity stands for it. */
void hours_are_added_up_by_tenant(void)
{
    WITH_STORE();
    struct run_hour rows[] = { hour_of("look", "orders", "done", 3), hour_of("look", "orders", "done", 4),
                               hour_of("ship", "orders", "again", 5) };
    rows[1].tenant = rows[2].tenant = "acme";
    IS(0, note(owner, 1, rows, 3));
    struct store_rows tenants = runs_by("tenant"), entities = runs_by("entity");
    IS(2, tenants.rows);
    TEXT_IS("acme", cell(&tenants, 0, "name"));
    TEXT_IS("9", cell(&tenants, 0, "runs"));
    TEXT_IS("4", cell(&tenants, 0, "done"));
    TEXT_IS("orders", cell(&tenants, 1, "name"));
    TEXT_IS("3", cell(&tenants, 1, "runs"));
    IS(1, entities.rows);
    TEXT_IS("12", cell(&entities, 0, "runs"));
    struct store_rows first = REPORT("runs_by", "tenant", text_of(HOUR), "1");
    IS(1, first.rows);
    static const char *const told[] = { "name", "runs", "done", "again", "took_us", "took_max_us" };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        TEXT_IS(cell(&tenants, 0, told[i]), cell(&first, 0, told[i]));
}

void hours_before_the_one_asked_for_do_not_count(void)
{
    WITH_STORE();
    struct run_hour rows[] = { hour_of("look", "orders", "done", 3), hour_of("look", "orders", "done", 4) };
    rows[1].hour_at -= 3600;
    IS(0, note(owner, 1, rows, 2));
    struct store_rows found = REPORT("runs_by", "job", text_of(HOUR + 3599), "100");
    TEXT_IS("3", cell(&found, 0, "runs"));
    found = REPORT("runs_by", "job", text_of(HOUR - 1), "100");
    TEXT_IS("7", cell(&found, 0, "runs"));
}

/* 100 runs of 1 to 100 ms, in two rows. */
void percentiles_are_within_a_tenth(void)
{
    WITH_STORE();
    int classes[2][HISTOGRAM_CLASSES] = { { 0 } };
    char texts[2][4000];
    for (int ms = 1; ms <= 100; ms++)
        classes[ms % 2][histogram_class(ms * 1000)]++;
    struct run_hour rows[] = { hour_of("look", "orders", "done", 50),
                               hour_of("look", "orders", "again", 50) };
    for (int r = 0; r < 2; r++) {
        int length = 0;
        for (int i = 0; i < HISTOGRAM_CLASSES; i++)
            if (classes[r][i])
                length += snprintf(texts[r] + length, sizeof texts[r] - (size_t)length, "%c\"%d\":%d",
                                   length ? ',' : '{', i, classes[r][i]);
        snprintf(texts[r] + length, sizeof texts[r] - (size_t)length, "}");
        rows[r].took = rows[r].late = texts[r];
        rows[r].took_max_us = rows[r].late_max_us = 100 * 1000;
    }
    IS(0, note(owner, 1, rows, 2));
    struct store_rows found = runs_by("job");
    static const struct { const char *took, *late; int64_t us; } all[] = {
        { "took_p50_us", "late_p50_us", 50000 },
        { "took_p95_us", "late_p95_us", 95000 },
        { "took_p99_us", "late_p99_us", 99000 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t took = atoll(cell(&found, 0, all[i].took)), late = atoll(cell(&found, 0, all[i].late));
        CU_ASSERT(took >= all[i].us * 9 / 10 && took <= all[i].us * 11 / 10);
        IS(took, late);
    }
    TEXT_IS("100000", cell(&found, 0, "took_max_us"));
}

/* The longest of all is known exactly, and none is said to be longer. */
void no_percentile_is_above_the_longest(void)
{
    WITH_STORE();
    struct run_hour row = hour_of("look", "orders", "done", 1);
    int64_t shortest = 1024;                /* the lower end of its class */
    char text[40];
    snprintf(text, sizeof text, "{\"%d\":1}", histogram_class(shortest));
    row.took = row.late = text;
    row.took_max_us = row.late_max_us = shortest;
    IS(0, note(owner, 1, &row, 1));
    struct store_rows found = runs_by("entity");
    TEXT_IS("1024", cell(&found, 0, "took_p99_us"));
    TEXT_IS("1024", cell(&found, 0, "late_p50_us"));
}

/* The stores compute the middle of each class as the engine does. */
void classes_have_the_same_middle_everywhere(void)
{
    WITH_STORE();
    struct run_hour rows[HISTOGRAM_CLASSES];
    char texts[HISTOGRAM_CLASSES][20], jobs[HISTOGRAM_CLASSES][20];
    for (int i = 0; i < HISTOGRAM_CLASSES; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"%d\":1}", i);
        snprintf(jobs[i], sizeof jobs[i], "job%d", i);
        rows[i] = hour_of(jobs[i], "orders", "done", 1);
        rows[i].took = texts[i];
        rows[i].took_max_us = INT64_MAX;
    }
    IS(0, note(owner, 1, rows, HISTOGRAM_CLASSES));
    struct store_rows found = REPORT("runs_by", "job", text_of(HOUR), "1000");
    IS(HISTOGRAM_CLASSES, found.rows);
    for (int r = 0; r < found.rows; r++)
        TEXT_IS(text_of(histogram_middle_us(atoi(cell(&found, r, "name") + 3))),
                cell(&found, r, "took_p50_us"));
}

/* "HOURS CUT": how many hours before HOUR it goes back, asked for two days. */
static const char *hours_within(const char *looks)
{
    static char text[64];
    struct store_rows rows = REPORT("runs_since", text_of(HOUR - 48 * 3600), looks);
    bool is_cut = strchr("t1", *cell(&rows, 0, "is_cut"));
    snprintf(text, sizeof text, "%lld %s", (long long)(HOUR - atoll(cell(&rows, 0, "since_at"))) / 3600,
             is_cut ? "cut" : "all");
    return text;
}

/* Two rows each in three hours; an hour is looked at whole or not, but for the newest one. */
void a_look_at_hours_goes_back_as_far_as_its_rows_fit(void)
{
    WITH_STORE();
    struct run_hour rows[6];
    TEXT_IS("48 all", hours_within("2"));
    for (int i = 0; i < 6; i++) {
        rows[i] = hour_of("look", "orders", i % 2 ? "done" : "again", 1);
        rows[i].hour_at -= i / 2 * 3600;
    }
    IS(0, note(owner, 1, rows, 6));
    TEXT_IS("48 all", hours_within("6"));
    TEXT_IS("1 cut", hours_within("5"));
    TEXT_IS("1 cut", hours_within("4"));
    TEXT_IS("0 cut", hours_within("3"));
    TEXT_IS("0 cut", hours_within("1"));
}

void prune_drops_hours_that_are_old(void)
{
    WITH_STORE();
    struct run_hour rows[] = { hour_of("look", "orders", "done", 3), hour_of("look", "orders", "done", 4) };
    rows[1].hour_at -= 3600;
    IS(0, note(owner, 1, rows, 2));
    struct store_prune prune = STORE_PRUNE_INIT;
    prune.part = PRUNE_HOURS;
    prune.before = HOUR;
    prune.wish = PRUNE_COUNT;
    IS(0, fixture_call(&prune.call));
    IS(1, prune.n);
    prune.wish = PRUNE_DROP;
    IS(0, fixture_call(&prune.call));
    IS(1, prune.n);
    CU_ASSERT_FALSE(prune.by_days);
    struct store_rows found = REPORT("runs_by", "job", text_of(HOUR - 3600), "100");
    TEXT_IS("3", cell(&found, 0, "runs"));
}

static int note_running(const unsigned char *who, const struct running *rows, int n)
{
    struct store_note_running call = STORE_NOTE_RUNNING_INIT;
    call.owner = who;
    call.rows = rows;
    call.n = n;
    return fixture_call(&call.call);
}

static struct store_rows running_for(int64_t least_us)
{
    return REPORT("running", text_of(least_us), "100");
}

/* A thousand bytes that no index can make much shorter. */
static const char *long_name(char out[1001], uint64_t seed)
{
    for (int i = 0; i < 1000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        out[i] = (char)('!' + (seed >> 33) % 90);
    }
    out[1000] = '\0';
    return out;
}

void names_may_be_as_long_as_they_are_together(void)
{
    WITH_STORE();
    char names[3][1001];
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    const char *entity = long_name(names[0], 1), *key = long_name(names[1], 2), *job = long_name(names[2], 3);
    struct run_hour hour = hour_of(job, entity, "done", 1);
    struct running run = { .worker = 11, .entity = entity, .key = key, .job = job, .slot = SLOT,
                           .began_us = hello.now_us - INT64_C(20000000) };
    IS(0, note(owner, 1, &hour, 1));
    IS(0, note_running(owner, &run, 1));
    struct store_rows found = running_for(5000000);
    TEXT_IS(key, cell(&found, 0, "entity_key"));
}

void runs_that_go_on_are_those_that_were_noted_last(void)
{
    WITH_STORE();
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, fixture_call(&hello.call));
    struct running rows[] = {
        { .worker = 11, .entity = "orders", .key = "1", .job = "look", .slot = SLOT,
          .began_us = hello.now_us - INT64_C(20000000) },
        { .worker = 12, .entity = "orders", .key = "2", .job = "look", .slot = SLOT,
          .began_us = hello.now_us - INT64_C(90000000) },
    };
    IS(0, note_running(owner, rows, 2));
    IS(0, note_running(owner, rows, 2));
    struct store_rows found = running_for(5000000);
    IS(2, found.rows);
    TEXT_IS("2", cell(&found, 0, "entity_key"));        /* the longest */
    TEXT_IS("12", cell(&found, 0, "worker"));
    TEXT_IS(text_of(SLOT), cell(&found, 0, "slot_at"));
    CU_ASSERT(atoll(cell(&found, 0, "run_us")) >= 89000000);
    IS(1, running_for(60000000).rows);
    IS(0, note_running(owner, rows, 1));
    found = running_for(5000000);
    IS(1, found.rows);
    TEXT_IS("1", cell(&found, 0, "entity_key"));
    IS(0, note_running(stranger, &rows[1], 1));
    IS(2, running_for(5000000).rows);
    IS(0, note_running(owner, NULL, 0));
    IS(1, running_for(5000000).rows);
}
