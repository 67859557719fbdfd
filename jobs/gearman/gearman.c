/* gearman - hands each check to a Gearman server as a background job. That it was taken is the
 * answer; whoever works on it drops duplicates by its unique id. */
#include <prescient/job.h>

#include <libgearman-1.0/gearman.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../shared/answers/unreached.h"
#include "../shared/settings/settings.h"

enum { SERVERS_MAX = 16, HOST_MAX = 255, PORT = 4730, LEAST_MS = 20 };

struct server {
    const char *text;               /* as it stands in the settings */
    char host[HOST_MAX + 1];
    int port;
    gearman_client_st *client;      /* NULL: none yet, or given up after a failure */
};

typedef gearman_return_t submit(gearman_client_st *client, const char *function, const char *unique,
                                const void *workload, size_t size, gearman_job_handle_t handle);

struct gearman {
    const struct prescient_host *host;
    struct server servers[SERVERS_MAX];
    int nservers;
    int first;                      /* the one that took the last check */
    const char *function;
    submit *submit;
};

static int64_t boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- settings ---- */

/* "host", "host:port" or "[::1]:port" */
static int read_server(const struct settings *s, struct server *server, const char *text)
{
    if (settings_has_no_user(s, "servers", text))
        return -1;
    const char *colon = strrchr(text, ':');
    bool is_bracketed = *text == '[' && strchr(text, ']');
    const char *end = is_bracketed ? strchr(text, ']') : text + strcspn(text, ":");
    const char *begin = text + is_bracketed, *port = end + is_bracketed;
    *server = (struct server){ .text = text, .port = PORT };
    bool good = end > begin && end - begin <= HOST_MAX && (!*port || port == colon);
    if (good && *port)
        good = settings_whole_number(port + 1, 1, 65535, &server->port) == 0;
    if (!good)
        return settings_refuse(s, "setting 'servers': found '%.80s', expected such as \"127.0.0.1:4730\" or "
                               "\"[::1]:4730\"", text);
    memcpy(server->host, begin, (size_t)(end - begin));
    return 0;
}

static int read_servers(const struct settings *s, void *into)
{
    struct gearman *job = into;
    int n = settings_length(s, "servers", "[ \"127.0.0.1:4730\" ]");
    if (n < 0)
        return -1;
    if (n < 1 || n > SERVERS_MAX)
        return settings_refuse(s, "setting 'servers': found %d, expected 1 to %d, such as "
                               "[ \"127.0.0.1:4730\" ]", n, SERVERS_MAX);
    for (; job->nservers < n; job->nservers++) {
        const char *text = settings_element(s, "servers", job->nservers);
        if (read_server(s, &job->servers[job->nservers], text ? text : ""))
            return -1;
    }
    return 0;
}

static int read_function(const struct settings *s, void *into)
{
    struct gearman *job = into;
    job->function = settings_text(s, "function");
    if (!job->function || !*job->function || strlen(job->function) > GEARMAN_FUNCTION_MAX_SIZE)
        return settings_refuse(s, "setting 'function': expected the name of a function, at most %d bytes",
                               GEARMAN_FUNCTION_MAX_SIZE);
    return 0;
}

static int read_priority(const struct settings *s, void *into)
{
    struct gearman *job = into;
    static const struct { const char *name; submit *submit; } priorities[] = {
        { "normal", gearman_client_do_background },
        { "high", gearman_client_do_high_background },
        { "low", gearman_client_do_low_background },
    };
    const char *priority = settings_text(s, "priority");
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        if (!priority || !strcmp(priority, priorities[i].name)) {
            job->submit = priorities[i].submit;
            return 0;
        }
    return settings_refuse(s, "setting 'priority': found '%.40s', expected \"high\", \"normal\" or \"low\"",
                           priority);
}

/* ---- submitting ---- */

static void drop_client(struct server *server)
{
    if (server->client)
        gearman_client_free(server->client);
    server->client = NULL;
}

/* One client a server: libgearman would give one that is silent all the time there is, and try the
 * others in an order of its own. */
static bool have_client(struct server *server)
{
    if (server->client)
        return true;
    server->client = gearman_client_create(NULL);
    if (server->client &&
        gearman_failed(gearman_client_add_server(server->client, server->host, (in_port_t)server->port)))
        drop_client(server);
    return server->client;
}

/* The first line of libgearman's words, without the place in its source behind " -> ". */
static void put_words(char *words, size_t size, const struct server *server, gearman_return_t rc)
{
    const char *error = server->client ? gearman_client_error(server->client) : NULL;
    if (rc == GEARMAN_TIMEOUT)
        error = "no answer in time";
    if (!error || !*error)
        error = gearman_strerror(rc);
    const char *place = strstr(error, " -> ");
    size_t used = strlen(words), len = strcspn(error, "\n");
    const char *separator = used ? "; " : "";
    if (place)
        len = (size_t)(place - error);
    snprintf(words + used, size - used, "%s%s: %.*s", separator, server->text, (int)len, error);
}

static bool submit_to(struct gearman *job, struct server *server, const char *key, const char *document,
                      int timeout_ms, char *words, size_t size)
{
    gearman_job_handle_t handle = "";
    gearman_return_t rc = GEARMAN_MEMORY_ALLOCATION_FAILURE;
    for (int attempt = 0; attempt < 2; attempt++) {
        bool is_old = server->client;
        if (!have_client(server))
            break;
        gearman_client_set_timeout(server->client, timeout_ms);
        rc = job->submit(server->client, job->function, key, document, strlen(document), handle);
        if (gearman_success(rc)) {
            snprintf(words, size, "job %s of %s", handle, server->text);
            return true;
        }
        /* an old connection may have been closed long ago: the server has not seen the job */
        bool is_closed = rc == GEARMAN_LOST_CONNECTION || rc == GEARMAN_ERRNO;
        if (!is_old || !is_closed)
            break;
        drop_client(server);
    }
    put_words(words, size, server, rc);
    drop_client(server);
    return false;
}

/* Whether nothing may be sent: then it is answered. */
static bool show(const struct gearman *job, const struct prescient_check *check,
                 struct prescient_answer *answer, const char *key, const char *document)
{
    const struct prescient_host *host = job->host;
    char *text = NULL;
    if (!PRESCIENT_HAS(host, dry) || !host->dry(host, check, NULL))
        return false;
    if (asprintf(&text, "to gearman %s, or the next of %d\nbackground job %s, unique %s\n\n%s",
                 job->servers[job->first].text, job->nservers, job->function, key, document) < 0) {
        prescient_fail(answer, "out of memory for the words of a job");
        return true;
    }
    host->dry(host, check, text);
    free(text);
    prescient_done(answer);
    prescient_note(answer, "not sent to gearman");
    return true;
}

/* All servers, from the one that took the last check on. Each gets its share of what is left of
 * three quarters of the timeout, so that our words come before the worker's end. */
static void submit_check(struct gearman *job, const struct prescient_check *check,
                         struct prescient_answer *answer)
{
    const struct prescient_host *host = job->host;
    const char *key = host->idempotency_key(host, check), *document = host->document(host, check);
    int64_t until_ms = boot_ms() + host->timeout_ms * 3 / 4;
    char words[1024] = "";
    if (!key || !document) {
        prescient_fail(answer, "%s", host->error(host));
        return;
    }
    if (show(job, check, answer, key, document))
        return;
    for (int i = 0; i < job->nservers; i++) {
        int at = (job->first + i) % job->nservers;
        int64_t share_ms = (until_ms - boot_ms()) / (job->nservers - i);
        int timeout_ms = share_ms > LEAST_MS ? (int)share_ms : LEAST_MS;
        if (submit_to(job, &job->servers[at], key, document, timeout_ms, words, sizeof words)) {
            job->first = at;
            prescient_done(answer);
            prescient_note(answer, "%s", words);
            return;
        }
    }
    answer_unreached(check, answer, "gearman: no server took it", words);
}

/* libgearman writes to sockets that the other side may have closed. */
static void gearman_exec(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct timespec none = { 0 };
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    submit_check(state, check, answer);
    while (sigtimedwait(&broken, NULL, &none) == SIGPIPE)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- opening and closing ---- */

static void gearman_close(void *state)
{
    struct gearman *job = state;
    for (int i = 0; i < job->nservers; i++)
        drop_client(&job->servers[i]);
    free(job);
}

static int gearman_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    static settings_part *const parts[] = { read_servers, read_function, read_priority };
    struct settings s = { host, why, why_size };
    if (!PRESCIENT_HAS(host, timeout_ms)) {
        snprintf(why, why_size, "this engine is older than the plug-in: it does not tell the timeout");
        return -1;
    }
    struct gearman *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    job->host = host;
    if (settings_read(&s, parts, sizeof parts / sizeof *parts, job)) {
        gearman_close(job);
        return -1;
    }
    *state = job;
    return 0;
}

PRESCIENT_PLUGIN(.name = "gearman", .summary = "hands checks to a Gearman server as background jobs",
                 .open = gearman_open, .close = gearman_close, .job_exec = gearman_exec,
                 .heeds_dry = 1);
