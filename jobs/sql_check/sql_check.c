/* sql_check - has it happened? A query of the settings says so; while it has not, an event is
 * emitted at every look. The query is given the keys as one JSON array and returns those for which
 * the awaited thing HAS happened. */
#include <prescient/job.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    DELAYS_MAX = 64,
    PAYLOAD_MAX = 48 * 1024,        /* of a check; with the names around it, an event's 64 KiB hold it */
    EVENT_ROOM = 64 * 1024,
    WHY_ROOM = 512,
    NAME_ROOM = 6 * 1024 + 16,      /* a name of 1 KiB as a JSON string */
    GIVE_UP_AFTER = 3,              /* failing queries in a row: it is the database, not the key */
};

struct sql_check {
    const struct prescient_host *host;
    const char *query, *event;
    bool wants_now;                 /* the query has a $2 */
    int64_t delays_s[DELAYS_MAX];   /* counted from first_check_at */
    int ndelays;
    int64_t every_s;                /* 0: the list counts */
    int failures;                   /* in a row */
    char json[EVENT_ROOM];
};

/* ---- settings ---- */

/* Asks for the queries of both databases: one settings file may serve both. */
static const char *find_query(const struct prescient_host *host)
{
    const char *postgresql = host->setting(host, "query_postgresql");
    const char *sqlite = host->setting(host, "query_sqlite");
    const char *query = !strcmp(host->dialect(host), "postgresql") ? postgresql : sqlite;
    const char *either = host->setting(host, "query");
    return query ? query : either;
}

static int read_delays(struct sql_check *job, char *why, size_t why_size)
{
    const struct prescient_host *host = job->host;
    int n = host->setting_count(host, "again");
    if (n == 0 && !host->setting(host, "again"))
        n = -1;
    if (n > DELAYS_MAX) {
        snprintf(why, why_size, "setting 'again': found %d delays, expected at most %d", n, DELAYS_MAX);
        return -1;
    }
    for (int i = 0; i < (n == 0 ? 1 : n); i++) {        /* a plain value is a list of one */
        char name[32];
        snprintf(name, sizeof name, n == 0 ? "again" : "again.%d", i);
        job->delays_s[i] = host->setting_duration(host, name, -1);
        if (job->delays_s[i] < 0) {
            snprintf(why, why_size, "%s", host->error(host));
            return -1;
        }
        job->ndelays = i + 1;
    }
    job->every_s = host->setting_duration(host, "again_every", 0);
    if (job->every_s < 0) {
        snprintf(why, why_size, "%s", host->error(host));
        return -1;
    }
    if (job->every_s && job->ndelays) {
        snprintf(why, why_size, "settings 'again' and 'again_every': found both, expected one of them");
        return -1;
    }
    return 0;
}

static int read_settings(struct sql_check *job, char *why, size_t why_size)
{
    const struct prescient_host *host = job->host;
    if (!*host->dialect(host)) {
        snprintf(why, why_size, "no business database is set; expected `business = \"...\"` in the settings");
        return -1;
    }
    job->query = find_query(host);
    if (!job->query || !strstr(job->query, "$1")) {
        snprintf(why, why_size,
                 "setting 'query' (or 'query_%s'): %s, expected a SELECT with $1, the JSON array of keys",
                 host->dialect(host), job->query ? "found no $1 in it" : "not set");
        return -1;
    }
    job->event = host->setting(host, "event");
    if (!job->event || !*job->event) {
        snprintf(
            why, why_size,
            "setting 'event': not set, expected the name of the event to emit while it has not happened");
        return -1;
    }
    job->wants_now = strstr(job->query, "$2") != NULL;
    return read_delays(job, why, why_size);
}

static int sql_check_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    struct sql_check *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    job->host = host;
    if (read_settings(job, why, why_size)) {
        free(job);
        return -1;
    }
    *state = job;
    return 0;
}

/* ---- the answer ---- */

/* The next look: the first delay that is not past. 0: the list is used up. */
static int64_t next_look(const struct sql_check *job, const struct prescient_check *check)
{
    int64_t next = 0;
    if (job->every_s)
        return check->now + job->every_s;
    for (int i = 0; i < job->ndelays; i++) {
        int64_t at = check->first_check_at + job->delays_s[i];
        if (at > check->now && (next == 0 || at < next))
            next = at;
    }
    return next;
}

static const char *write_event(struct sql_check *job, const struct prescient_check *check)
{
    char entity[NAME_ROOM], key[NAME_ROOM], name[NAME_ROOM];
    bool has_payload = check->payload && *check->payload;
    bool fits = has_payload && strlen(check->payload) <= PAYLOAD_MAX;
    const char *payload = fits ? check->payload : "null";
    const char *left_out = has_payload && !fits ? ", \"payload_left_out\": true" : "";
    if (prescient_json_string(entity, sizeof entity, check->entity_name) < 0 ||
        prescient_json_string(key, sizeof key, check->entity_key) < 0 ||
        prescient_json_string(name, sizeof name, check->job) < 0)
        return NULL;
    int n = snprintf(job->json, sizeof job->json,
                     "{\"entity_name\": %s, \"entity_key\": %s, \"job\": %s, \"first_check_at\": %lld, "
                     "\"check_number\": %d, \"payload\": %s%s}",
                     entity, key, name, (long long)check->first_check_at, (int)check->check_count + 1,
                     payload, left_out);
    return n >= 0 && (size_t)n < sizeof job->json ? job->json : NULL;
}

static void answer_with(struct sql_check *job, const struct prescient_check *check,
                        struct prescient_answer *answer, bool has_happened)
{
    if (has_happened) {
        prescient_done(answer);
        return;
    }
    const char *json = write_event(job, check);
    if (!json || job->host->emit(job->host, answer, job->event, json)) {
        prescient_fail(answer, "key %.200s: %s", check->entity_key,
                       json ? job->host->error(job->host) : "its names are too long for an event");
        return;
    }
    int64_t next = next_look(job, check);
    if (next) {
        prescient_again(answer, next);
        return;
    }
    prescient_done(answer);
    prescient_note(answer, "has not happened; no look is left");
}

/* ---- asking ---- */

/* The keys as a JSON array; NULL when out of memory. */
static char *write_keys(const struct prescient_check *checks, int n)
{
    size_t size = 3;
    for (int i = 0; i < n; i++)
        size += 6 * strlen(checks[i].entity_key) + 12;
    char *keys = malloc(size), *to = keys;
    if (!keys)
        return NULL;
    *to++ = '[';
    for (int i = 0; i < n; i++) {
        if (i)
            *to++ = ',';
        to += prescient_json_string(to, size - (size_t)(to - keys), checks[i].entity_key);
    }
    *to++ = ']';
    *to = '\0';
    return keys;
}

/* 0 and the keys that the query returned, in its first column. */
static int ask(struct sql_check *job, const struct prescient_check *checks, int n,
               const struct prescient_rows **rows)
{
    char now[24];
    char *keys = write_keys(checks, n);
    if (!keys)
        return -1;
    int now_len = snprintf(now, sizeof now, "%lld", n > 0 ? (long long)checks[0].now : 0);
    struct prescient_value params[] = { { keys, strlen(keys) }, { now, (size_t)now_len } };
    int rc = job->host->query(job->host, job->query, params, job->wants_now ? 2 : 1, rows);
    free(keys);
    job->failures = rc ? job->failures + 1 : 0;
    return rc;
}

/* Of a key that was not asked for: with it, what the query says about the others is no answer. */
static void refuse_answer(const char *key, char *why, size_t size)
{
    char what[220] = "a NULL";
    if (key)
        snprintf(what, sizeof what, "the key '%.200s'", key);
    snprintf(why, size,
             "the query returned %s, which was not asked for: its first column must be the key, of those of "
             "$1 that have happened", what);
}

static void sql_check(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct sql_check *job = state;
    const struct prescient_rows *rows;
    if (ask(job, check, 1, &rows)) {
        prescient_fail(answer, "key %.200s: %s", check->entity_key, job->host->error(job->host));
        return;
    }
    bool has_happened = false;
    for (int i = 0; i < rows->rows; i++) {
        const char *key = rows->values[i * rows->columns].text;
        if (!key || strcmp(key, check->entity_key) != 0) {
            char why[WHY_ROOM];
            refuse_answer(key, why, sizeof why);
            prescient_fail(answer, "key %.200s: %s", check->entity_key, why);
            return;
        }
        has_happened = true;
    }
    answer_with(job, check, answer, has_happened);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The keys of the rows, sorted; owned by the caller. *n: how many. */
static const char **sort_keys(const struct prescient_rows *rows, size_t *n)
{
    const char **keys = malloc(((size_t)rows->rows + 1) * sizeof *keys);
    *n = 0;
    for (int i = 0; keys && i < rows->rows; i++)
        if (rows->values[i * rows->columns].text)
            keys[(*n)++] = rows->values[i * rows->columns].text;
    if (keys)
        qsort(keys, *n, sizeof *keys, compare_keys);
    return keys;
}

static bool has_key(const char **keys, size_t n, const char *key)
{
    return key && bsearch(&key, keys, n, sizeof *keys, compare_keys);
}

/* True, with words, when a row is of no check of these. */
static bool has_foreign_key(const struct prescient_rows *rows, const struct prescient_check *checks, int n,
                            char *why, size_t size)
{
    const char **asked = malloc(((size_t)n + 1) * sizeof *asked);
    bool is_foreign = false;
    for (int i = 0; asked && i < n; i++)
        asked[i] = checks[i].entity_key;
    if (asked)
        qsort(asked, (size_t)n, sizeof *asked, compare_keys);
    for (int i = 0; asked && !is_foreign && i < rows->rows; i++) {
        const char *key = rows->values[i * rows->columns].text;
        is_foreign = !has_key(asked, (size_t)n, key);
        if (is_foreign)
            refuse_answer(key, why, size);
    }
    free(asked);
    return is_foreign;
}

static void fail_all(const struct prescient_check *checks, int n, struct prescient_answer *answers,
                     const char *why)
{
    for (int i = 0; i < n; i++)
        prescient_fail(&answers[i], "key %.200s: %s", checks[i].entity_key, why);
}

/* Not asked: the queries before it have failed. Where that was for any key, so would be this
 * one. */
static void put_off(const struct sql_check *job, const struct prescient_check *check,
                    struct prescient_answer *answer)
{
    const struct prescient_host *host = job->host;
    if (PRESCIENT_HAS(host, broken) && host->broken(host)) {
        prescient_broken(answer, "not asked: %s", host->error(host));
        return;
    }
    prescient_defer(answer, check->now);
    prescient_note(answer, "not asked: %d queries in a row failed", job->failures);
}

/* One key can make the query of a whole batch fail: asked one by one, only it fails. Once the
 * database fails again and again, the others are put off and not counted. */
static void one_by_one(struct sql_check *job, const struct prescient_check *checks, int n,
                       struct prescient_answer *answers)
{
    job->failures = 0;
    for (int i = 0; i < n; i++) {
        if (job->failures < GIVE_UP_AFTER) {
            sql_check(job, &checks[i], &answers[i]);
            continue;
        }
        put_off(job, &checks[i], &answers[i]);
    }
}

static void sql_checks(void *state, const struct prescient_check *checks, int n,
                       struct prescient_answer *answers)
{
    struct sql_check *job = state;
    const struct prescient_rows *rows;
    char why[WHY_ROOM];
    size_t found;
    const char **keys = ask(job, checks, n, &rows) ? NULL : sort_keys(rows, &found);
    if (!keys) {
        one_by_one(job, checks, n, answers);
        return;
    }
    if (has_foreign_key(rows, checks, n, why, sizeof why))
        fail_all(checks, n, answers, why);
    else
        for (int i = 0; i < n; i++)
            answer_with(job, &checks[i], &answers[i], has_key(keys, found, checks[i].entity_key));
    free(keys);
}

/* ---- before a check is due ---- */

/* The query, with an empty array of keys. */
static int sql_check_probe(void *state, char *why, size_t why_size)
{
    struct sql_check *job = state;
    const struct prescient_rows *rows;
    if (ask(job, NULL, 0, &rows)) {
        snprintf(why, why_size, "%s", job->host->error(job->host));
        return -1;
    }
    if (rows->columns > 0 && !has_foreign_key(rows, NULL, 0, why, why_size))
        return 0;
    if (rows->columns > 0)
        return -1;
    snprintf(why, why_size, "the query returns no column, expected the keys in its first one");
    return -1;
}

PRESCIENT_PLUGIN(.name = "sql_check",
                 .summary = "asks a query of the settings; emits an event while it has not happened",
                 .open = sql_check_open, .close = free, .job_exec = sql_check, .job_exec_many = sql_checks,
                 .probe = sql_check_probe, .heeds_dry = 1);
