/* pg_notify - sends each check as a NOTIFY to whoever LISTENs in a PostgreSQL database. */
#include <prescient/job.h>

#include <stdlib.h>
#include <string.h>

#include "../shared/pg/link.h"

enum {
    CHANNEL_MAX = 63,               /* bytes of a channel's name */
    PAYLOAD_MAX = 7999,             /* bytes that a NOTIFY can have */
};

struct pg_notify {
    const struct prescient_host *host;
    struct pg_link link;
    const char *channel;
};

static int read_connection(const struct settings *s, void *into)
{
    struct pg_notify *job = into;
    return pg_link_read(&job->link, s);
}

static int read_channel(const struct settings *s, void *into)
{
    struct pg_notify *job = into;
    job->channel = settings_text(s, "channel");
    if (!job->channel || !*job->channel || strlen(job->channel) > CHANNEL_MAX)
        return settings_refuse(s, "setting 'channel': expected the name of a channel, 1 to %d bytes",
                               CHANNEL_MAX);
    return 0;
}

static void pg_notify_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct pg_notify *job = state;
    const struct prescient_host *host = job->host;
    const char *document = host->document(host, check), *key = host->idempotency_key(host, check);
    char value[2];
    if (!document || !key) {
        prescient_fail(answer, "%s", host->error(host));
        return;
    }
    bool fits = strlen(document) <= PAYLOAD_MAX;
    const char *const params[] = { job->channel, fits ? document : key };
    if (pg_link_show(&job->link, host, check, "SELECT pg_catalog.pg_notify($1, $2)", 2, params, answer))
        return;
    if (pg_link_run(&job->link, "SELECT pg_catalog.pg_notify($1, $2)", 2, params, pg_link_deadline(host),
                    value, sizeof value)) {
        pg_link_fail(&job->link, check, answer);
        return;
    }
    prescient_done(answer);
    if (!fits)
        prescient_note(answer, "the id only, as the check has %zu bytes, and a NOTIFY %d at most",
                       strlen(document), PAYLOAD_MAX);
}

static void pg_notify_close(void *state)
{
    struct pg_notify *job = state;
    pg_link_close(&job->link);
    free(job);
}

static int pg_notify_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    static settings_part *const parts[] = { read_connection, read_channel };
    struct settings s = { host, why, why_size };
    if (!PRESCIENT_HAS(host, timeout_ms)) {
        snprintf(why, why_size, "this engine is older than the plug-in: it has no timeout for it");
        return -1;
    }
    struct pg_notify *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    job->host = host;
    if (settings_read(&s, parts, sizeof parts / sizeof *parts, job)) {
        pg_notify_close(job);
        return -1;
    }
    *state = job;
    return 0;
}

PRESCIENT_PLUGIN(.name = "pg_notify", .summary = "sends checks as NOTIFY in a PostgreSQL database",
                 .open = pg_notify_open, .close = pg_notify_close, .job_exec = pg_notify_exec,
                 .heeds_dry = 1);
