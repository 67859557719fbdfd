/* redis_stream - adds each check to a stream of Redis, a batch in one go. A reply is the answer of
 * its check; whoever reads the stream drops duplicates by the field `id`. */
#include <prescient/job.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../shared/answers/unreached.h"
#include "../shared/settings/settings.h"
#include "link.h"

enum {
    GROUP_CHECKS = 100,             /* sent before the first reply is read */
    GROUP_BYTES = 1 << 20,
    WORDS = 11,                     /* XADD stream MAXLEN ~ n * id KEY document JSON */
};

struct redis_stream {
    const struct prescient_host *host;
    struct link_place place;
    struct link_login login;
    const char *server, *stream;
    int maxlen;
    char maxlen_text[16];
    struct link link;
};

struct call {
    struct redis_stream *job;
    const struct prescient_check *checks;
    struct prescient_answer *answers;
    int n, next;                    /* checks; the first that is not answered */
    int64_t until_us;               /* of the group that is under way */
};

/* ---- settings ---- */

/* "host", "host:port", "[::1]:port", or the path of a socket. */
static int read_server(const struct settings *s, void *into)
{
    struct redis_stream *job = into;
    struct link_place *place = &job->place;
    static const char such[] = "expected such as \"127.0.0.1:6379\" or \"/run/redis/redis.sock\"";
    job->server = settings_text(s, "server");
    if (!job->server || !*job->server || strlen(job->server) >= sizeof place->path_or_host)
        return settings_refuse(s, "setting 'server' is missing or too long, %s", such);
    if (settings_has_no_user(s, "server", job->server))
        return -1;
    place->is_path = *job->server == '/';
    place->port = 6379;
    snprintf(place->path_or_host, sizeof place->path_or_host, "%s", job->server);
    if (place->is_path)
        return 0;
    char *host = place->path_or_host, *colon = strrchr(host, ':');
    if (*host == '[') {
        size_t len = strcspn(host, "]");
        colon = host[len] && host[len + 1] == ':' ? host + len + 1 : NULL;
        if (!host[len] || (host[len + 1] && !colon))
            return settings_refuse(s, "setting 'server': found '%.80s', %s", job->server, such);
        memmove(host, host + 1, len - 1);
        host[len - 1] = '\0';
    } else if (colon && colon != strchr(host, ':')) {
        return settings_refuse(s, "setting 'server': found '%.80s', expected [ ] around an IPv6 address",
                               job->server);
    } else if (colon) {
        *colon = '\0';
    }
    if (!*host || strstr(job->server, "//") ||
        (colon && settings_whole_number(job->server + (colon - host) + 1, 1, 65535, &place->port)))
        return settings_refuse(s, "setting 'server': found '%.80s', %s", job->server, such);
    return 0;
}

static int read_stream(const struct settings *s, void *into)
{
    struct redis_stream *job = into;
    job->stream = settings_text(s, "stream");
    if (!job->stream || !*job->stream)
        return settings_refuse(s, "setting 'stream' is missing, expected the key of a stream");
    if (settings_number(s, "maxlen", 0, 2000000000, &job->maxlen))
        return -1;
    snprintf(job->maxlen_text, sizeof job->maxlen_text, "%d", job->maxlen);
    return 0;
}

static int read_login(const struct settings *s, void *into)
{
    struct redis_stream *job = into;
    job->login.user = settings_text(s, "user");
    job->login.password = settings_text(s, "password");
    if (job->login.user && !job->login.password)
        return settings_refuse(s, "setting 'user' is set, but not 'password': expected both");
    return settings_number(s, "database", 0, 1000000, &job->login.database);
}

static int read_tls(const struct settings *s, void *into)
{
    struct redis_stream *job = into;
    return tls_open(s, job->place.is_path, &job->link.tls);
}

/* ---- answers ---- */

static bool is_code(const char *text, const char *code)
{
    size_t n = strlen(code);
    return !strncmp(text, code, n) && (text[n] == ' ' || !text[n]);
}

/* Final is what only a person ends who changes the key or the rights: each check that waited for
 * that would fail in the end, and be heard of late. All else passes: a server starts, fails over,
 * is given memory, or a password is being changed. */
static const struct { const char *code, *advice; bool is_final; } errors[] = {
    { "WRONGTYPE", "the key 'stream' holds something else: name another, or delete it", true },
    { "NOPERM", "the user lacks a right: ACL SETUSER NAME +xadd +select ~STREAM", true },
    { "NOAUTH", "set 'password', and 'user' if it is not the default one", false },
    { "WRONGPASS", "correct 'user' and 'password'", false },
    { "OOM", "the server's maxmemory is reached: raise it, or keep less (maxlen)", false },
    { "READONLY", "this server is a replica: name the primary, or wait for the failover", false },
    { "LOADING", "it is starting", false },
    { "MASTERDOWN", "its primary is away", false },
    { "MISCONF", "it cannot write to its disk", false },
    { "MOVED", "it is one of a cluster: name the node that has the stream", false },
};

static void answer_error(struct call *call, struct prescient_answer *answer, const char *text)
{
    const struct redis_stream *job = call->job;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (!is_code(text, errors[i].code))
            continue;
        if (errors[i].is_final)
            prescient_fail_final(answer, "redis %s: %.200s; %s", job->server, text, errors[i].advice);
        else
            prescient_fail(answer, "redis %s: %.200s; %s", job->server, text, errors[i].advice);
        return;
    }
    prescient_fail(answer, "redis %s: %.300s", job->server, text);
}

static void hand_over(struct call *call)
{
    const struct prescient_host *host = call->job->host;
    if (host->answered(host, &call->answers[call->next]))
        host->log(host, PRESCIENT_LOG_WARN, host->error(host));
    call->next++;
}

static void answer_reply(struct call *call, const redisReply *reply)
{
    struct prescient_answer *answer = &call->answers[call->next];
    if (reply->type == REDIS_REPLY_STRING) {
        prescient_done(answer);
        prescient_note(answer, "entry %.60s of %.200s", reply->str, call->job->stream);
    } else if (reply->type == REDIS_REPLY_ERROR) {
        answer_error(call, answer, reply->str);
    } else {
        prescient_fail(answer, "redis %s: found a reply of type %d, expected the id of an entry",
                       call->job->server, reply->type);
    }
    hand_over(call);
}

static void fail_rest(struct call *call, int until, const char *doubt)
{
    struct redis_stream *job = call->job;
    while (call->next < until) {
        prescient_fail(&call->answers[call->next], "redis %s: %s%s", job->server, job->link.why, doubt);
        hand_over(call);
    }
}

/* Nothing of them was sent. */
static void fail_unreached(struct call *call)
{
    struct redis_stream *job = call->job;
    char server[280];
    snprintf(server, sizeof server, "redis %.250s", job->server);
    while (call->next < call->n) {
        answer_unreached(&call->checks[call->next], &call->answers[call->next], server, job->link.why);
        hand_over(call);
    }
}

/* ---- sending ---- */

/* The words of a command; their number, or -1 as one could not be made. */
static int write_words(const struct call *call, int place, const char *words[WORDS])
{
    const struct redis_stream *job = call->job;
    const struct prescient_host *host = job->host;
    int n = 0;
    words[n++] = "XADD";
    words[n++] = job->stream;
    if (job->maxlen) {
        words[n++] = "MAXLEN";
        words[n++] = "~";
        words[n++] = job->maxlen_text;
    }
    words[n++] = "*";
    words[n++] = "id";
    words[n++] = host->idempotency_key(host, &call->checks[place]);
    words[n++] = "document";
    words[n++] = host->document(host, &call->checks[place]);
    return words[n - 1] && words[n - 3] ? n : -1;
}

/* One command; its size, or -1. */
static long add(struct call *call, int place)
{
    struct redis_stream *job = call->job;
    const char *words[WORDS];
    size_t sizes[WORDS];
    long size = 0;
    int n = write_words(call, place, words);
    if (n < 0) {
        snprintf(job->link.why, sizeof job->link.why, "%s", job->host->error(job->host));
        link_close(&job->link);                 /* the buffer has commands before this one */
        return -1;
    }
    for (int i = 0; i < n; i++) {
        sizes[i] = strlen(words[i]);
        size += (long)sizes[i];
    }
    return link_add(&job->link, n, words, sizes) ? -1 : size;
}

/* As many as are sent at once. False: nothing more can be sent in this call. */
static bool send_group(struct call *call)
{
    struct redis_stream *job = call->job;
    long bytes = 0;
    int until = call->next;
    while (until < call->n && until - call->next < GROUP_CHECKS && bytes < GROUP_BYTES) {
        long size = add(call, until);
        if (size < 0)
            return false;
        bytes += size;
        until++;
    }
    while (call->next < until) {
        redisReply *reply = link_reply(&job->link, call->until_us);
        if (!reply) {
            fail_rest(call, until, "; it may have the entry all the same, with this id");
            return false;
        }
        answer_reply(call, reply);
        freeReplyObject(reply);
    }
    return true;
}

/* Three quarters of what a check is allowed, so that our words come before the worker's end. */
static int64_t deadline(const struct prescient_host *host)
{
    int64_t ms = host->timeout_ms < host->batch_timeout_ms ? host->timeout_ms : host->batch_timeout_ms;
    return link_now_us() + ms * 750;
}

/* What would be sent, for a try that sends nothing. */
static void show(struct call *call)
{
    const struct redis_stream *job = call->job;
    const struct prescient_host *host = job->host;
    struct prescient_answer *answer = &call->answers[call->next];
    const char *words[WORDS];
    char *text = NULL;
    size_t size = 0;
    int n = write_words(call, call->next, words);
    FILE *out = n < 0 ? NULL : open_memstream(&text, &size);
    if (out) {
        fprintf(out, "to redis %s%s", job->server, job->link.tls ? ", by TLS" : "");
        fprintf(out, "%s\n", job->login.password ? ", with password" : "");
        for (int i = 0; i < n; i++)
            fprintf(out, "%s%s", i ? " " : "", words[i]);
    }
    if (!out || fclose(out)) {
        prescient_fail(answer, "out of memory for the words of a command");
    } else {
        host->dry(host, &call->checks[call->next], text);
        prescient_done(answer);
        prescient_note(answer, "not sent to redis %s", job->server);
    }
    free(text);
    hand_over(call);
}

static bool is_dry(const struct call *call)
{
    const struct prescient_host *host = call->job->host;
    return PRESCIENT_HAS(host, dry) && host->dry(host, call->checks, NULL);
}

/* After a failure nothing more is tried in this call: a server that is gone costs a batch one
 * wait. */
static void send_all(struct call *call)
{
    struct redis_stream *job = call->job;
    bool is_refused;
    while (is_dry(call) && call->next < call->n)
        show(call);
    while (call->next < call->n) {
        call->until_us = deadline(job->host);
        if (link_open(&job->link, &job->place, &job->login, call->until_us, &is_refused)) {
            while (is_refused && call->next < call->n) {
                answer_error(call, &call->answers[call->next], strchr(job->link.why, ' ') + 1);
                hand_over(call);
            }
            fail_unreached(call);
            return;
        }
        if (!send_group(call)) {
            fail_rest(call, call->n, "; not sent");
            return;
        }
    }
}

/* hiredis writes to sockets that the other side may have closed. */
static void redis_stream_many(void *state, const struct prescient_check *checks, int n,
                              struct prescient_answer *answers)
{
    struct call call = { .job = state, .checks = checks, .answers = answers, .n = n };
    struct timespec none = { 0 };
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    send_all(&call);
    while (sigtimedwait(&broken, NULL, &none) == SIGPIPE)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void redis_stream_one(void *state, const struct prescient_check *check,
                             struct prescient_answer *answer)
{
    redis_stream_many(state, check, 1, answer);
}

/* ---- opening and closing ---- */

static void redis_stream_close(void *state)
{
    struct redis_stream *job = state;
    link_close(&job->link);
    tls_close(job->link.tls);
    free(job);
}

static int redis_stream_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    static settings_part *const parts[] = { read_server, read_stream, read_login, read_tls };
    struct settings s = { host, why, why_size };
    if (!PRESCIENT_HAS(host, batch_timeout_ms)) {
        snprintf(why, why_size, "this engine is older than the plug-in: it takes no answers early");
        return -1;
    }
    struct redis_stream *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    job->host = host;
    if (settings_read(&s, parts, sizeof parts / sizeof *parts, job)) {
        redis_stream_close(job);
        return -1;
    }
    *state = job;
    return 0;
}

PRESCIENT_PLUGIN(.name = "redis_stream", .summary = "adds checks to a stream of Redis",
                 .open = redis_stream_open, .close = redis_stream_close, .job_exec = redis_stream_one,
                 .job_exec_many = redis_stream_many, .heeds_dry = 1);
