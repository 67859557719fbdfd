/* draft.c - fills in the templates, and puts the message together. */
#include "draft.h"

#include <stdlib.h>
#include <string.h>

#include "../shared/http/shown.h"
#include "message.h"

struct filling {
    const struct options *o;
    struct draft *draft;
    struct template_input *input;
    struct prescient_answer *answer;
    struct mailbox *to, *cc, *bcc; /* room for all of them */
    int nto, ncc, nbcc;
    char *subject, *text, *html;
    struct message_header *headers;
    const struct prescient_host *shower; /* of a mail that is shown; NULL: it is to be sent */
};

/* 0 with NULL when there is no such template; -1: the check is answered. */
static int fill(const struct filling *f, struct template *t, char **out)
{
    size_t len;
    *out = t ? template_fill_or_answer(t, f->input, &len, f->answer) : NULL;
    if (!t || !*out)
        return t ? -1 : 0;
    if (strlen(*out) == len)
        return 0;
    prescient_fail_final(f->answer, "a NUL has come out of a template");
    return -1;
}

/* One that is a secret has no part that is none. */
static void mask_mailbox(const struct filling *f, char *text, struct mailbox *m)
{
    if (f->shower)
        shown_hide(f->shower, text);
    if (f->shower && strstr(text, "***"))
        *m = (struct mailbox){ "", "***@***" };
}

static int read_mailbox(const struct filling *f, const char *name, struct template *t, struct mailbox *out)
{
    char *text;
    if (fill(f, t, &text) || !text)
        return -1;
    const char *wrong = NULL;
    if (text[strspn(text, " \t")])
        wrong = mailbox_read(text, out);
    else
        *out = (struct mailbox){ "", "" };
    if (wrong)
        prescient_fail_final(f->answer, "%s: '%.100s': %s", name, text, wrong);
    else
        mask_mailbox(f, text, out);
    free(text);
    return wrong ? -1 : 0;
}

/* An address that is empty is left out: not each check has one. */
static int read_mailboxes(const struct filling *f, const char *name, const struct recipients *r,
                          struct mailbox **out, int *n)
{
    *out = calloc((size_t)r->n + 1, sizeof **out);
    if (!*out) {
        prescient_fail(f->answer, "out of memory for the mail");
        return -1;
    }
    for (int i = 0; i < r->n; i++) {
        struct mailbox *m = &(*out)[*n];
        if (read_mailbox(f, name, r->list[i], m))
            return -1;
        *n += *m->address != '\0';
    }
    return 0;
}

static int read_recipients(const struct filling *f, const char *name, const struct recipients *r,
                           struct mailbox **out, int *n)
{
    if (read_mailboxes(f, name, r, out, n))
        return -1;
    for (int i = 0; i < *n; i++) {
        struct curl_slist *more = curl_slist_append(f->draft->recipients, (*out)[i].address);
        if (!more) {
            prescient_fail(f->answer, "out of memory for the mail");
            return -1;
        }
        f->draft->recipients = more;
    }
    return 0;
}

static int read_who(struct filling *f)
{
    const struct options *o = f->o;
    if (read_mailbox(f, "from", o->from, &f->draft->from) ||
        read_recipients(f, "to", &o->to, &f->to, &f->nto) ||
        read_recipients(f, "cc", &o->cc, &f->cc, &f->ncc) ||
        read_recipients(f, "bcc", &o->bcc, &f->bcc, &f->nbcc))
        return -1;
    bool has_all = *f->draft->from.address && f->draft->recipients;
    if (!has_all)
        prescient_fail_final(f->answer, "%s",
                             *f->draft->from.address ? "it is to nobody" : "it is from nobody");
    return has_all ? 0 : -1;
}

static int read_header(const struct filling *f, const struct option_header *option,
                       struct message_header *h)
{
    char *value;
    *h = (struct message_header){ .name = option->name, .is_plain = option->kind == OPTION_PLAIN };
    if (!option->value)
        return read_mailboxes(f, option->name, &option->mailboxes, &h->list, &h->nlist);
    if (fill(f, option->value, &value))
        return -1;
    h->value = value;
    if (!h->is_plain || message_is_plain(value))
        return 0;
    prescient_fail_final(f->answer, "%s " OPTION_PLAIN_WORDS, h->name);
    return -1;
}

static int read_headers(struct filling *f)
{
    f->headers = calloc((size_t)f->o->nheaders + 1, sizeof *f->headers);
    if (!f->headers) {
        prescient_fail(f->answer, "out of memory for the mail");
        return -1;
    }
    for (int i = 0; i < f->o->nheaders; i++)
        if (read_header(f, &f->o->headers[i], &f->headers[i]))
            return -1;
    return 0;
}

/* ---- a mail that is shown ---- */

static int mask_header(const struct filling *f, struct message_header *h)
{
    if (!h->value || !*h->value)
        return 0;
    bool is_secret = shown_is_secret_name(h->name, strlen(h->name));
    char *value = strdup(is_secret ? "***" : h->value);
    if (!value) {
        prescient_fail(f->answer, "out of memory for the mail");
        return -1;
    }
    shown_hide(f->shower, value);
    free((char *)h->value);
    h->value = value;
    return 0;
}

/* Before they are encoded: nobody would know them then. */
static int mask(struct filling *f)
{
    char *const texts[] = { f->subject, f->text, f->html };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i])
            shown_hide(f->shower, texts[i]);
    for (int i = 0; i < f->o->nheaders; i++)
        if (mask_header(f, &f->headers[i]))
            return -1;
    return 0;
}

/* ---- all of it ---- */

static int put_together(struct filling *f, const char *key, int64_t now)
{
    const struct message m = {
        .key = key,
        .now = now,
        .from = &f->draft->from,
        .to = f->to,
        .nto = f->nto,
        .cc = f->cc,
        .ncc = f->ncc,
        .subject = f->subject,
        .text = f->text,
        .html = f->html,
        .headers = f->headers,
        .nheaders = f->o->nheaders,
    };
    FILE *out = open_memstream(&f->draft->bytes, &f->draft->len);
    int rc = out ? message_write(&m, out) : -1;
    if (out && fclose(out))
        rc = -1;
    if (rc)
        prescient_fail(f->answer, "out of memory for the mail");
    return rc;
}

static void release(struct filling *f)
{
    for (int i = 0; f->headers && i < f->o->nheaders; i++) {
        free((char *)f->headers[i].value);
        free(f->headers[i].list);
    }
    free(f->headers);
    free(f->to);
    free(f->cc);
    free(f->bcc);
    free(f->subject);
    free(f->text);
    free(f->html);
}

int draft_write(struct draft *d, const struct options *o, const struct prescient_host *host,
                const struct prescient_check *check, int64_t now, bool is_shown,
                struct prescient_answer *answer)
{
    struct template_input *input = template_input_of(host, check, answer);
    struct filling f = { .o = o, .draft = d, .input = input, .answer = answer };
    f.shower = is_shown ? host : NULL;
    *d = (struct draft){ .bytes = NULL };
    int rc = input ? read_who(&f) : -1;
    if (!rc)
        rc = fill(&f, o->subject, &f.subject);
    if (!rc)
        rc = fill(&f, o->text, &f.text);
    if (!rc)
        rc = fill(&f, o->html, &f.html);
    if (!rc)
        rc = read_headers(&f);
    if (!rc && is_shown)
        rc = mask(&f);
    if (!rc)
        rc = put_together(&f, host->idempotency_key(host, check), now);
    release(&f);
    template_input_free(input);
    return rc;
}

void draft_release(struct draft *d)
{
    curl_slist_free_all(d->recipients);
    free(d->bytes);
    *d = (struct draft){ .bytes = NULL };
}
