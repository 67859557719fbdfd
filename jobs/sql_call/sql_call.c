/* sql_call - calls a function in a PostgreSQL database for each check: FUNCTION(id text, data
 * jsonb). That it has committed is the answer. */
#include <prescient/job.h>

#include <stdlib.h>
#include <string.h>

#include "../shared/pg/link.h"

enum { NAME_MAX_BYTES = 63 };

struct sql_call {
    const struct prescient_host *host;
    struct pg_link link;
    const char *function;
    char sql[200];
};

static int read_connection(const struct settings *s, void *into)
{
    struct sql_call *job = into;
    return pg_link_read(&job->link, s);
}

/* The length of a plain name in lower case; 0: it is none. */
static size_t name_size(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n <= NAME_MAX_BYTES && !(*text >= '0' && *text <= '9') ? n : 0;
}

/* "function" or "schema.function". Quoted, so that no name is a keyword. */
static int read_function(const struct settings *s, void *into)
{
    struct sql_call *job = into;
    const char *name = settings_text(s, "function");
    size_t first = name ? name_size(name) : 0;
    const char *second = first && name[first] == '.' ? name + first + 1 : NULL;
    const char *last = second ? second : name;
    size_t rest = last ? name_size(last) : 0;
    if (!rest || last[rest])
        return settings_refuse(s, "setting 'function': found '%.80s', expected such as \"shop.order_check\", "
                               "names of a-z, 0-9 and _", name ? name : "");
    job->function = name;
    if (second)
        snprintf(job->sql, sizeof job->sql, "SELECT \"%.*s\".\"%s\"($1::text, $2::jsonb)", (int)first, name,
                 second);
    else
        snprintf(job->sql, sizeof job->sql, "SELECT \"%s\"($1::text, $2::jsonb)", name);
    return 0;
}

/* About the function itself, or about what it calls: only then its name is another one. */
static bool is_about_it(const struct sql_call *job)
{
    const char *dot = strchr(job->function, '.'), *bare = dot ? dot + 1 : job->function;
    return strstr(job->link.why, bare);
}

static void fail(struct sql_call *job, const struct prescient_check *check, struct prescient_answer *answer)
{
    const struct pg_link *l = &job->link;
    bool is_missing = !strcmp(l->state, "42883") && is_about_it(job);
    bool is_denied = !strcmp(l->state, "42501") && is_about_it(job);
    if (is_missing || !strcmp(l->state, "3F000"))
        prescient_fail_final(answer, "%s: %s (SQLSTATE %s); expected a function %s(id text, data jsonb)",
                             l->where, l->why, l->state, job->function);
    else if (is_denied)
        prescient_fail_final(answer,
                             "%s: %s; as its owner run: GRANT EXECUTE ON FUNCTION %s(text, jsonb) TO \"%s\"",
                             l->where, l->why, job->function, l->user);
    else
        pg_link_fail(l, check, answer);
}

static void sql_call_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct sql_call *job = state;
    const struct prescient_host *host = job->host;
    const char *const params[] = { host->idempotency_key(host, check), host->document(host, check) };
    char value[200];
    if (!params[0] || !params[1]) {
        prescient_fail(answer, "%s", host->error(host));
        return;
    }
    if (pg_link_show(&job->link, host, check, job->sql, 2, params, answer))
        return;
    if (pg_link_run(&job->link, job->sql, 2, params, pg_link_deadline(host), value, sizeof value)) {
        fail(job, check, answer);
        return;
    }
    prescient_done(answer);
    if (*value)
        prescient_note(answer, "%s", value);
}

static void sql_call_close(void *state)
{
    struct sql_call *job = state;
    pg_link_close(&job->link);
    free(job);
}

static int sql_call_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    static settings_part *const parts[] = { read_connection, read_function };
    struct settings s = { host, why, why_size };
    if (!PRESCIENT_HAS(host, timeout_ms)) {
        snprintf(why, why_size, "this engine is older than the plug-in: it has no timeout for it");
        return -1;
    }
    struct sql_call *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    job->host = host;
    if (settings_read(&s, parts, sizeof parts / sizeof *parts, job)) {
        sql_call_close(job);
        return -1;
    }
    *state = job;
    return 0;
}

PRESCIENT_PLUGIN(.name = "sql_call", .summary = "calls a function in a PostgreSQL database for each check",
                 .open = sql_call_open, .close = sql_call_close, .job_exec = sql_call_exec,
                 .heeds_dry = 1);
