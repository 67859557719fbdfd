/* ping - gets a URL, and looks whether the response is as expected: a status, a text. If it is not,
 * it emits an event, or fails. */
#include <prescient/job.h>

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../shared/http/batch.h"
#include "../shared/http/target.h"

enum { STATUSES_MAX = SETTINGS_LIST_MAX, WHY_BYTES = 512 };

struct ping {
    const struct prescient_host *host;
    struct target target;
    struct transport transport;
    struct batch batch;
    int statuses[STATUSES_MAX], nstatuses; /* none: each from 200 to 299 */
    const char *contains, *event;          /* or NULL */
};

/* ---- settings ---- */

static int read_target(const struct settings *s, void *into)
{
    struct ping *p = into;
    return target_read(&p->target, s);
}

static int read_transport(const struct settings *s, void *into)
{
    struct ping *p = into;
    return transport_read(&p->transport, s);
}

static int add_status(const struct settings *s, struct ping *p, const char *text)
{
    if (!text || settings_whole_number(text, 100, 599, &p->statuses[p->nstatuses]))
        return settings_refuse(s,
                               "setting 'status': found '%.40s', expected one from 100 to 599, or a list of "
                               "such",
                               text ? text : "a group");
    p->nstatuses++;
    return 0;
}

static int read_status(const struct settings *s, void *into)
{
    struct ping *p = into;
    const char *text = settings_text(s, "status");
    if (text)
        return add_status(s, p, text);
    int n = settings_length(s, "status", "[ 200, 204 ]");
    for (int i = 0; i < n; i++)
        if (add_status(s, p, settings_element(s, "status", i)))
            return -1;
    return n < 0 ? -1 : 0;
}

static int read_texts(const struct settings *s, void *into)
{
    struct ping *p = into;
    p->contains = settings_text(s, "contains");
    p->event = settings_text(s, "event");
    if (p->event && !*p->event)
        return settings_refuse(s, "setting 'event': expected a name such as \"shop.down\", or none");
    return 0;
}

/* ---- what is expected ---- */

static bool is_status(const struct ping *p, int status)
{
    for (int i = 0; i < p->nstatuses; i++)
        if (p->statuses[i] == status)
            return true;
    return !p->nstatuses && status >= 200 && status < 300;
}

/* For "%.*s": at most that many bytes, and no letter in two, as no event may have half of one. */
static int letters(const char *text, int most)
{
    int n = (int)strnlen(text, (size_t)most + 1);
    if (n <= most)
        return n;
    for (n = most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
        ;
    return n;
}

#define SHOWN(text, most) letters(text, most), text

/* {"url": "https://shop.example:443", "status": 500, "why": "..."}: 0 is no status. */
static void emit(const struct ping *p, const struct batch_check *one, int status, const char *why)
{
    char url[1024], words[WHY_BYTES * 6 + 3], data[sizeof url + sizeof words + 128];
    if (prescient_json_string(url, sizeof url, one->receiver->place.receiver) < 0)
        strcpy(url, "null");
    if (prescient_json_string(words, sizeof words, why) < 0)
        strcpy(words, "null");
    snprintf(data, sizeof data, "{\"url\": %s, \"status\": %d, \"why\": %s}", url, status, words);
    p->host->emit(p->host, one->answer, p->event, data);
}

/* An event is an answer: the check has found what it was to find. */
static void is_wrong(const struct ping *p, struct batch_check *one, int status, const char *why)
{
    if (!p->event) {
        prescient_fail(one->answer, "%s", why);
        return;
    }
    prescient_done(one->answer);
    prescient_note(one->answer, "%s", why);
    emit(p, one, status, why);
}

static void ping_unreached(void *job, struct batch_check *one, const char *why, int64_t took_ms)
{
    char words[WHY_BYTES];
    snprintf(words, sizeof words, "%.*s: %.*s (%" PRId64 " ms)", SHOWN(one->receiver->place.receiver, 200),
             SHOWN(why, 200), took_ms);
    is_wrong(job, one, 0, words);
}

static bool has_text(const struct flight *f, const char *text)
{
    return memmem(f->body ? f->body : "", f->len, text, strlen(text)) != NULL;
}

static void ping_respond(void *job, struct batch_check *one, const struct flight *f, CURLcode rc)
{
    const struct ping *p = job;
    char words[WHY_BYTES];
    int status = f->response.status;
    const char *receiver = one->receiver->place.receiver;
    if (!is_status(p, status))
        snprintf(words, sizeof words, "%.*s: found status %d, which is not expected", SHOWN(receiver, 200),
                 status);
    else if (!p->contains || has_text(f, p->contains))
        words[0] = '\0';
    else if (f->is_cut)
        snprintf(words, sizeof words, "%.*s: its first %zu bytes do not have '%.*s'", SHOWN(receiver, 200),
                 f->len, SHOWN(p->contains, 100));
    else if (rc)
        snprintf(words, sizeof words, "%.*s: its body was cut: %.100s", SHOWN(receiver, 200),
                 curl_easy_strerror(rc));
    else
        snprintf(words, sizeof words, "%.*s: its body does not have '%.*s'", SHOWN(receiver, 200),
                 SHOWN(p->contains, 100));
    if (words[0])
        is_wrong(p, one, status, words);
    else
        prescient_done(one->answer);
}

/* ---- requests ---- */

static char *ping_aim(void *job, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct ping *p = job;
    return target_url(&p->target, p->host, check, answer);
}

static int ping_prepare(void *job, struct batch_check *one, struct flight *f, struct flight_request *request)
{
    (void)job;
    request->method = "GET";
    if (!flight_begin(f))
        return 0;
    prescient_fail(one->answer, "out of memory for the request");
    return -1;
}

static void ping_many(void *state, const struct prescient_check *checks, int n,
                      struct prescient_answer *answers)
{
    struct ping *p = state;
    batch_run(&p->batch, checks, n, answers);
}

static void ping_one(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    ping_many(state, check, 1, answer);
}

/* ---- opening and closing ---- */

static void ping_close(void *state)
{
    struct ping *p = state;
    batch_release(&p->batch);
    target_release(&p->target);
    free(p);
}

static int ping_prepare_all(struct ping *p, const struct settings *s)
{
    static settings_part *const parts[] = { read_target, read_status, read_texts, read_transport };
    if (settings_read(s, parts, sizeof parts / sizeof *parts, p))
        return -1;
    p->batch = (struct batch){ .host = p->host,
                               .transport = p->transport,
                               .job = p,
                               .aim = ping_aim,
                               .prepare = ping_prepare,
                               .respond = ping_respond,
                               .unreached = ping_unreached,
                               .judges_itself = true };
    target_apply(&p->target, &p->batch);
    return batch_open(&p->batch, s->why, s->why_size);
}

static int ping_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    struct settings s = { host, why, why_size };
    if (batch_begin(host, why, why_size))
        return -1;
    struct ping *p = calloc(1, sizeof *p);
    if (!p)
        return settings_refuse(&s, "out of memory");
    p->host = host;
    *state = p;
    if (!ping_prepare_all(p, &s))
        return 0;
    ping_close(p);
    return -1;
}

PRESCIENT_PLUGIN(.name = "ping", .summary = "gets a URL: if its response is not as expected, an event",
                 .open = ping_open, .close = ping_close, .job_exec = ping_one, .job_exec_many = ping_many,
                 .heeds_dry = 1);
