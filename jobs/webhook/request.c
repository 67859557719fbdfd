/* request.c - what Standard Webhooks ask for, beside the headers of the settings. */
#include "request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int add_signatures(struct flight *f, const struct options *o, const char *id, const char *body,
                          size_t body_len, int64_t now)
{
    static const char name[] = "webhook-signature:";
    if (!o->nkeys)
        return 0;
    size_t each = SIGNATURE_SIZE;               /* the NUL of one is the blank of the next */
    char *line = malloc(sizeof name + (size_t)o->nkeys * each);
    if (!line)
        return -1;
    char *to = stpcpy(line, name);
    for (int i = 0; i < o->nkeys; i++) {
        *to++ = ' ';
        signature_write(&o->keys[i], id, now, body, body_len, to);
        to += SIGNATURE_SIZE - 1;
    }
    int rc = flight_add_header(f, line);
    free(line);
    return rc;
}

static int add_key(struct flight *f, const char *id, int64_t now)
{
    char line[128];
    snprintf(line, sizeof line, "Idempotency-Key: %s", id);
    int rc = flight_add_header(f, line);
    snprintf(line, sizeof line, "webhook-id: %s", id);
    rc |= flight_add_header(f, line);
    snprintf(line, sizeof line, "webhook-timestamp: %" PRId64, now);
    return rc | flight_add_header(f, line);
}

/* ---- what is filled in ---- */

/* Without a value, libcurl would take the header away. */
static int add_header(struct flight *f, const struct header *h, struct template_input *input,
                      struct prescient_answer *answer)
{
    size_t len;
    char *line = NULL, *value = template_fill_or_answer(h->value, input, &len, answer);
    if (!value)
        return -1;
    int n = len ? asprintf(&line, "%s%s", h->name, value)
                : asprintf(&line, "%.*s;", (int)strcspn(h->name, ":"), h->name);
    free(value);
    int rc = n < 0 ? -1 : flight_add_header(f, line);
    if (rc)
        prescient_fail(answer, "out of memory for a header");
    if (n >= 0)
        free(line);
    return rc;
}

static int add_headers(struct flight *f, const struct options *o, struct template_input *input,
                       struct prescient_answer *answer)
{
    for (int i = 0; i < o->nheaders; i++)
        if (add_header(f, &o->headers[i], input, answer))
            return -1;
    return 0;
}

static int add_body(struct flight *f, const struct options *o, const struct prescient_host *host,
                    const struct prescient_check *check, struct template_input *input,
                    struct prescient_answer *answer, struct flight_request *request)
{
    if (!o->has_body)
        return 0;
    if (o->body) {
        f->sent = template_fill_or_answer(o->body, input, &request->body_len, answer);
        request->body = f->sent;
        return request->body ? 0 : -1;
    }
    request->body = host->document(host, check);
    if (request->body)
        request->body_len = strlen(request->body);
    else
        prescient_fail(answer, "%s", host->error(host));
    return request->body ? 0 : -1;
}

/* ---- all of it ---- */

static int add_ours(struct flight *f, const struct options *o, const char *id, int64_t now,
                    const struct flight_request *request)
{
    bool needs_type = o->has_body && !o->has_type;
    if (needs_type && flight_add_header(f, "Content-Type: application/json"))
        return -1;
    if (add_key(f, id, now))
        return -1;
    return add_signatures(f, o, id, request->body ? request->body : "", request->body_len, now);
}

int request_prepare(struct flight *f, const struct options *o, const struct prescient_host *host,
                    const struct prescient_check *check, struct prescient_answer *answer, int64_t now,
                    struct flight_request *request)
{
    struct template_input *input = NULL;
    if (o->is_filled && !(input = template_input_of(host, check, answer)))
        return -1;
    request->method = o->method;
    int rc = flight_begin(f);
    if (rc)
        prescient_fail(answer, "out of memory for the request");
    if (!rc)
        rc = add_body(f, o, host, check, input, answer, request);
    if (!rc)
        rc = add_headers(f, o, input, answer);
    template_input_free(input);
    if (!rc && add_ours(f, o, host->idempotency_key(host, check), now, request)) {
        prescient_fail(answer, "out of memory for the request");
        rc = -1;
    }
    return rc;
}
