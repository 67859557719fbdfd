/* email - sends each check as a mail, one after the other over one connection. */
#include <prescient/job.h>

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "../shared/answers/unreached.h"
#include "../shared/http/batch.h"
#include "../shared/http/hold.h"
#include "../shared/http/lookup.h"
#include "draft.h"
#include "options.h"
#include "session.h"

enum { LOOKUP_MS = 5000 };

struct email {
    const struct prescient_host *host;
    struct options o;
    struct session session;
    struct hold hold;
};

struct run { /* of email_many */
    struct email *e;
    int64_t began_us;
    struct curl_slist *addresses; /* of the server; NULL: it needs none */
    char why[256];                /* it has none: why; else "" */
    long looked_up_ms;            /* that took so long, of the time of each check */
    bool is_dry;                  /* nothing is sent, nor looked up */
};

static int64_t boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- answers ---- */

static bool is_held(const struct run *run, const struct prescient_check *check,
                    struct prescient_answer *answer)
{
    struct email *e = run->e;
    int64_t now_us = boot_us();
    int64_t wait_s = hold_wait_s(&e->hold, now_us, e->host->idempotency_key(e->host, check));
    if (!wait_s)
        return false;
    prescient_defer(answer, hold_over_at(check->now, now_us - run->began_us, (int64_t)time(NULL), wait_s));
    prescient_note(answer, "not sent to %s: %s", e->o.receiver, e->hold.why);
    return true;
}

static void fail_unreached(struct email *e, const struct prescient_check *check,
                           struct prescient_answer *answer, const char *why)
{
    hold_unreachable(&e->hold, boot_us());
    answer_unreached(check, answer, e->o.receiver, why);
}

static void answer_end(struct email *e, enum session_end end, const struct prescient_check *check,
                       struct prescient_answer *answer)
{
    static const int kinds[] = { [SESSION_TAKEN] = PRESCIENT_DONE,
                                 [SESSION_REFUSED] = PRESCIENT_FAIL_FINAL,
                                 [SESSION_FAILED] = PRESCIENT_FAIL,
                                 [SESSION_UNREACHED] = PRESCIENT_FAIL };
    const char *words = session_words(&e->session);
    if (end == SESSION_UNREACHED && !session_has_begun_mail(&e->session)) {
        fail_unreached(e, check, answer, words);
        return;
    }
    /* one that has begun with this mail may have ended for its sake: another one may fare better */
    if (end == SESSION_UNREACHED)
        hold_unreachable(&e->hold, boot_us());
    else
        hold_answered(&e->hold);
    answer->kind = kinds[end];
    prescient_note(answer, "%s: %s", e->o.receiver, words);
}

/* ---- mails ---- */

/* libcurl would wait for a name server for as long as that likes. */
static void find_server(struct run *run)
{
    const struct options *o = &run->e->o;
    char text[64];
    if (lookup_is_address(o->host, text, sizeof text))
        return;
    long most_ms = o->timeout_ms / 2 < LOOKUP_MS ? o->timeout_ms / 2 : LOOKUP_MS;
    struct lookup_wish wish = { .host = o->host, .port = o->port };
    lookup_all(&wish, 1, most_ms, NULL);
    run->looked_up_ms = (long)((boot_us() - run->began_us) / 1000);
    if (wish.addresses)
        run->addresses = curl_slist_append(NULL, wish.addresses);
    if (!run->addresses)
        snprintf(run->why, sizeof run->why, "%s", wish.why ? wish.why : "out of memory");
    free(wish.addresses);
    free(wish.why);
}

/* The envelope and the mail, for a try that sends nothing. */
static void show_mail(const struct email *e, const struct prescient_check *check, const struct draft *d,
                      struct prescient_answer *answer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        fprintf(out, "to %s%s\nMAIL FROM:<%s>\n", e->o.receiver,
                e->o.server.user ? ", with user and password" : "", d->from.address);
        for (const struct curl_slist *to = d->recipients; to; to = to->next)
            fprintf(out, "RCPT TO:<%s>\n", to->data);
        fputs("DATA\n", out);
        fwrite(d->bytes, 1, d->len, out);
    }
    if (!out || fclose(out)) {
        prescient_fail(answer, "out of memory for the words of a mail");
    } else {
        e->host->dry(e->host, check, text);
        prescient_done(answer);
        prescient_note(answer, "not sent to %s", e->o.receiver);
    }
    free(text);
}

static void send_one(struct run *run, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct email *e = run->e;
    struct draft d;
    if (is_held(run, check, answer))
        return;
    if (*run->why) {
        fail_unreached(e, check, answer, run->why);
        return;
    }
    int64_t began_us = boot_us();
    if (draft_write(&d, &e->o, e->host, check, (int64_t)time(NULL), run->is_dry, answer)) {
        draft_release(&d);
        return;
    }
    if (run->is_dry) {
        show_mail(e, check, &d, answer);
    } else {
        const struct session_mail mail = { d.from.address, d.recipients, run->addresses, d.bytes, d.len };
        long filled_ms = (long)((boot_us() - began_us) / 1000);
        long timeout_ms = e->o.timeout_ms - run->looked_up_ms - filled_ms;
        if (timeout_ms < 1)
            timeout_ms = 1; /* 0 would be no limit */
        answer_end(e, session_send(&e->session, &e->o.server, &mail, timeout_ms), check, answer);
    }
    draft_release(&d);
}

static void email_many(void *state, const struct prescient_check *checks, int n,
                       struct prescient_answer *answers)
{
    struct email *e = state;
    struct run run = { .e = e, .began_us = boot_us() };
    run.is_dry = PRESCIENT_HAS(e->host, dry) && e->host->dry(e->host, checks, NULL);
    if (!run.is_dry && !hold_wait_s(&e->hold, boot_us(), ""))
        find_server(&run);
    for (int i = 0; i < n; i++) {
        send_one(&run, &checks[i], &answers[i]);
        if (e->host->answered(e->host, &answers[i]))
            e->host->log(e->host, PRESCIENT_LOG_WARN, e->host->error(e->host));
    }
    curl_slist_free_all(run.addresses);
}

static void email_one(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    email_many(state, check, 1, answer);
}

/* ---- opening and closing ---- */

static void email_close(void *state)
{
    struct email *e = state;
    session_release(&e->session);
    options_release(&e->o);
    free(e);
}

static int email_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    struct settings s = { host, why, why_size };
    if (batch_begin(host, why, why_size))
        return -1;
    struct email *e = calloc(1, sizeof *e);
    if (!e)
        return settings_refuse(&s, "out of memory");
    e->host = host;
    *state = e;
    if (!options_read(&e->o, &s))
        return 0;
    email_close(e);
    return -1;
}

PRESCIENT_PLUGIN(.name = "email", .summary = "sends checks as mails, by SMTP", .open = email_open,
                 .close = email_close, .job_exec = email_one, .job_exec_many = email_many,
                 .heeds_dry = 1);
