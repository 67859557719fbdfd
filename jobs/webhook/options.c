/* options.c - each setting is checked by a function of its own. A URL and a secret never stand in
 * words: both may be what lets others in. */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* analyze: -Wno-analyzer-malloc-leak: options_release() frees what `o` holds; gcc loses sight of
 * it where one pointer of a list is tested. */

/* The other parts have readers of their own. */
static int read_target(const struct settings *s, void *into)
{
    struct options *o = into;
    return target_read(&o->target, s);
}

static int read_transport(const struct settings *s, void *into)
{
    struct options *o = into;
    return transport_read(&o->transport, s);
}

/* ---- what is sent ---- */

static int read_method(const struct settings *s, void *into)
{
    struct options *o = into;
    static const struct { const char *name; bool has_body; } methods[] = {
        { "POST", true }, { "PUT", true }, { "PATCH", true }, { "GET", false }, { "DELETE", false },
    };
    const char *method = settings_text(s, "method");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!method || !strcmp(methods[i].name, method)) {
            o->method = methods[i].name;
            o->has_body = methods[i].has_body;
            return 0;
        }
    return settings_refuse(s, "setting 'method': found '%.40s', expected POST, PUT, PATCH, GET or DELETE",
                           method);
}

static bool is_header(const char *text, const char *name)
{
    return !strncasecmp(text, name, strlen(name)) && text[strlen(name)] == ':';
}

static int read_body(const struct settings *s, void *into)
{
    struct options *o = into;
    if (template_of_setting(s, "body", TEMPLATE_PROGRAM, &o->body))
        return -1;
    if (o->body && !o->has_body)
        return settings_refuse(s, "setting 'body': expected none, as a %s has no body", o->method);
    o->is_filled = o->body != NULL;
    return 0;
}

/* Of "Name: value", the value's place; NULL with words: it is none that may be set. Nothing of a
 * value stands in words. */
static const char *check_header(const struct settings *s, const char *text, int i)
{
    static const char *const ours[] = { "Idempotency-Key", "webhook-id", "webhook-timestamp",
                                        "webhook-signature", "Host", "Content-Length", "Transfer-Encoding" };
    static const char name_characters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t name = text ? strspn(text, name_characters) : 0;
    if (!name || text[name] != ':') {
        settings_refuse(s, "setting 'headers': element %d is no text such as \"X-Team: sales\"", i + 1);
        return NULL;
    }
    for (const char *p = text; *p; p++)
        if (((unsigned char)*p < ' ' && *p != '\t') || *p == 0x7f) {
            settings_refuse(s, "setting 'headers': %.*s: its value has a control character", (int)name, text);
            return NULL;
        }
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
        if (is_header(text, ours[k])) {
            settings_refuse(s, "setting 'headers': %s is a header that the job itself sets", ours[k]);
            return NULL;
        }
    return text + name + 1;
}

static int read_header(const struct settings *s, struct options *o, const char *text)
{
    struct header *h = &o->headers[o->nheaders];
    const char *value = check_header(s, text, o->nheaders);
    if (!value)
        return -1;
    value += strspn(value, " \t");
    o->nheaders++;
    o->has_type = o->has_type || is_header(text, "Content-Type");
    h->name = strndup(text, (size_t)(value - text));
    if (!h->name || template_new(s, "headers", value, TEMPLATE_LINE, &h->value))
        return h->name ? -1 : settings_refuse(s, "out of memory");
    o->is_filled = o->is_filled || !template_is_fixed(h->value);
    return 0;
}

static int read_headers(const struct settings *s, void *into)
{
    struct options *o = into;
    int n = settings_length(s, "headers", "[ \"X-Team: sales\" ]");
    if (n < 0)
        return -1;
    o->headers = calloc((size_t)n + 1, sizeof *o->headers);
    if (!o->headers)
        return settings_refuse(s, "out of memory");
    for (int i = 0; i < n; i++)
        if (read_header(s, o, settings_element(s, "headers", i)))
            return -1;
    return 0;
}

static int read_secrets(const struct settings *s, void *into)
{
    struct options *o = into;
    int n = settings_length(s, "secrets", "[ \"whsec_...\" ]");
    if (n < 0)
        return -1;
    o->keys = calloc((size_t)n + 1, sizeof *o->keys);
    if (!o->keys)
        return settings_refuse(s, "out of memory");
    for (; o->nkeys < n; o->nkeys++) {
        const char *text = settings_element(s, "secrets", o->nkeys);
        if (!text || signature_read_key(text, &o->keys[o->nkeys]))
            return settings_refuse(s, "setting 'secrets': element %d is not \"whsec_\" and %d to %d bytes in "
                                   "base64", o->nkeys + 1, SIGNATURE_SECRET_MIN, SIGNATURE_SECRET_MAX);
    }
    return 0;
}

/* ---- responses ---- */

static int read_final(const struct settings *s, void *into)
{
    struct options *o = into;
    int n = settings_length(s, "final", "[ 400, 404 ]");
    if (n < 0)
        return -1;
    o->final = calloc((size_t)n + 1, sizeof *o->final);
    if (!o->final)
        return settings_refuse(s, "out of memory");
    for (; o->nfinal < n; o->nfinal++) {
        const char *text = settings_element(s, "final", o->nfinal);
        if (!text || settings_whole_number(text, 300, 599, &o->final[o->nfinal]))
            return settings_refuse(s, "setting 'final': element %d is no status from 300 to 599",
                                   o->nfinal + 1);
    }
    return 0;
}

static int read_answer(const struct settings *s, void *into)
{
    struct options *o = into;
    const char *answer = settings_text(s, "answer");
    o->answers_json = answer != NULL;
    if (answer && strcmp(answer, "json") != 0)
        return settings_refuse(s, "setting 'answer': found '%.80s', expected \"json\", or none, for the "
                               "status", answer);
    return 0;
}

int options_read(struct options *o, const struct prescient_host *host, char *why, size_t why_size)
{
    static settings_part *const parts[] = { read_target,  read_method, read_body,   read_headers,
                                            read_secrets, read_final,  read_answer, read_transport };
    struct settings s = { host, why, why_size };
    *o = (struct options){ .method = NULL };
    return settings_read(&s, parts, sizeof parts / sizeof *parts, o);
}

void options_release(struct options *o)
{
    if (o->keys)
        explicit_bzero(o->keys, (size_t)o->nkeys * sizeof *o->keys);
    for (int i = 0; i < o->nheaders; i++) {
        free(o->headers[i].name);
        template_free(o->headers[i].value);
    }
    template_free(o->body);
    target_release(&o->target);
    free(o->headers);
    free(o->keys);
    free(o->final);
    *o = (struct options){ .method = NULL };
}
