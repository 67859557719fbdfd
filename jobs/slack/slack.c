/* slack - sends each check as a message to an incoming webhook of Slack, or of what speaks
 * alike. */
#include <prescient/job.h>

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "../shared/http/batch.h"
#include "../shared/http/target.h"
#include "escape.h"

struct slack {
    const struct prescient_host *host;
    struct target target;
    struct transport transport;
    struct batch batch;
    struct template *text, *blocks;   /* at least one */
    char mark[ESCAPE_MARK_BYTES + 1]; /* before letters that stand in the settings */
};

/* Slack's own words for what will not change: no such channel, a payload that is none, ... */
static const int final_statuses[] = { 400, 403, 404 };

/* ---- settings ---- */

static int read_target(const struct settings *s, void *into)
{
    struct slack *k = into;
    return target_read(&k->target, s);
}

static int read_transport(const struct settings *s, void *into)
{
    struct slack *k = into;
    return transport_read(&k->transport, s);
}

static int read_message(const struct settings *s, void *into)
{
    struct slack *k = into;
    if (escape_new_mark(k->mark))
        return settings_refuse(s, "the system has no random numbers");
    if (template_marked_of_setting(s, "text", TEMPLATE_TEXT, k->mark, &k->text) ||
        template_marked_of_setting(s, "blocks", TEMPLATE_LIST, k->mark, &k->blocks))
        return -1;
    if (!k->text && !k->blocks)
        return settings_refuse(s, "settings 'text' and 'blocks': found none, expected one or both");
    return 0;
}

/* ---- messages ---- */

/* As a JSON string, to be freed. */
static char *quoted(const char *text)
{
    size_t size = strlen(text) * 6 + 16;
    char *out = malloc(size);
    if (out)
        prescient_json_string(out, size, text);
    return out;
}

/* {"text": ..., "blocks": ...}, each when it is there. To be freed. */
static char *put_together(const char *text, const char *blocks)
{
    char *json = text ? quoted(text) : NULL, *out = NULL;
    int n = -1;
    if (text && !json)
        return NULL;
    if (json && blocks)
        n = asprintf(&out, "{\"text\":%s,\"blocks\":%s}", json, blocks);
    else
        n = json ? asprintf(&out, "{\"text\":%s}", json) : asprintf(&out, "{\"blocks\":%s}", blocks);
    free(json);
    return n < 0 ? NULL : out;
}

/* Escaped last: what is not, stood in the settings, whatever the templates have made. */
static char *write_escaped(const struct slack *k, const char *text, const char *blocks)
{
    char *whole = put_together(text, blocks);
    char *message = whole ? escape_json(whole, k->mark) : NULL;
    free(whole);
    return message;
}

/* As a byte, or in a string of JSON as its escape. A text would end there, and the rest be lost
 * silently; in blocks it is no letter that Slack shows. */
static bool has_nul(const char *out, size_t len, bool is_json)
{
    if (strlen(out) < len)
        return true;
    for (const char *at = out; is_json && (at = strchr(at, '\\')); at += 2)
        if (!strncmp(at, "\\u0000", 6))
            return true;
    return false;
}

/* NULL: there is no such template, or, with *rc = -1, the check is answered. */
static char *fill(struct template *t, const char *name, struct template_input *input,
                  struct prescient_answer *answer, int *rc)
{
    size_t len;
    char *out = t ? template_fill_or_answer(t, input, &len, answer) : NULL;
    if (t && !out)
        *rc = -1;
    if (!out || !has_nul(out, len, !strcmp(name, "blocks")))
        return out;
    prescient_fail_final(answer, "%s: a NUL has come out of the template; no message can have one", name);
    *rc = -1;
    free(out);
    return NULL;
}

static char *write_message(const struct slack *k, struct batch_check *one)
{
    struct template_input *input = template_input_of(k->host, one->check, one->answer);
    if (!input)
        return NULL;
    int rc = 0;
    char *text = fill(k->text, "text", input, one->answer, &rc), *message = NULL;
    char *blocks = rc ? NULL : fill(k->blocks, "blocks", input, one->answer, &rc);
    if (!rc && !(message = write_escaped(k, text, blocks)))
        prescient_fail(one->answer, "out of memory for the message");
    free(text);
    free(blocks);
    template_input_free(input);
    return message;
}

/* ---- requests ---- */

static char *slack_aim(void *job, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct slack *k = job;
    return target_url(&k->target, k->host, check, answer);
}

static int slack_prepare(void *job, struct batch_check *one, struct flight *f, struct flight_request *request)
{
    const struct slack *k = job;
    if (flight_begin(f) || flight_add_header(f, "Content-Type: application/json")) {
        prescient_fail(one->answer, "out of memory for the request");
        return -1;
    }
    f->sent = write_message(k, one);
    if (!f->sent)
        return -1;
    request->method = "POST";
    request->body = f->sent;
    request->body_len = strlen(f->sent);
    return 0;
}

static void slack_many(void *state, const struct prescient_check *checks, int n,
                       struct prescient_answer *answers)
{
    struct slack *k = state;
    batch_run(&k->batch, checks, n, answers);
}

static void slack_one(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    slack_many(state, check, 1, answer);
}

/* ---- opening and closing ---- */

static void slack_close(void *state)
{
    struct slack *k = state;
    batch_release(&k->batch);
    target_release(&k->target);
    template_free(k->text);
    template_free(k->blocks);
    free(k);
}

static int slack_prepare_all(struct slack *k, const struct settings *s)
{
    static settings_part *const parts[] = { read_target, read_message, read_transport };
    if (settings_read(s, parts, sizeof parts / sizeof *parts, k))
        return -1;
    k->batch = (struct batch){ .host = k->host,
                               .transport = k->transport,
                               .job = k,
                               .aim = slack_aim,
                               .prepare = slack_prepare,
                               .hides_path = true,
                               .final = final_statuses,
                               .nfinal = sizeof final_statuses / sizeof *final_statuses };
    target_apply(&k->target, &k->batch);
    return batch_open(&k->batch, s->why, s->why_size);
}

static int slack_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    struct settings s = { host, why, why_size };
    if (batch_begin(host, why, why_size))
        return -1;
    struct slack *k = calloc(1, sizeof *k);
    if (!k)
        return settings_refuse(&s, "out of memory");
    k->host = host;
    *state = k;
    if (!slack_prepare_all(k, &s))
        return 0;
    slack_close(k);
    return -1;
}

PRESCIENT_PLUGIN(.name = "slack", .summary = "sends checks as messages to an incoming webhook of Slack",
                 .open = slack_open, .close = slack_close, .job_exec = slack_one,
                 .job_exec_many = slack_many, .heeds_dry = 1);
