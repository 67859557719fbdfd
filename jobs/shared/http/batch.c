/* batch.c - first where each request goes, then all look-ups, then the requests, on one multi
 * handle of libcurl. */
#include "batch.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"
#include "shown.h"

enum {
    POLL_MS = 1000,
    FILL_MS = 100,        /* of filling in templates, while nothing else is done */
    FILL_PART = 2,        /* of the timeout: what templates that take longer may take in all */
    LOOKUP_MS = 5000,     /* what all look-ups may take, and no more than half of the timeout */
    NO_TIME_S = 10,       /* until what was not looked up comes again */
    EXCERPT_BYTES = 1024, /* of a response, in the words of a failure */
};

struct run { /* of batch_run */
    struct batch *batch;
    struct batch_check *checks;
    int n, next, active; /* checks; the next one to send; under way */
    int64_t began_us;
    long slow_ms;      /* what the templates took that took more than FILL_MS */
    long looked_up_ms; /* that took so long, of the time of each check */
    bool is_dry;       /* nothing is sent, nor looked up */
};

static int64_t boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static const char *key_of(const struct run *run, const struct batch_check *one)
{
    const struct prescient_host *host = run->batch->host;
    return host->idempotency_key(host, one->check);
}

/* ---- answers ---- */

/* Hands it over: it is settled while the others are under way. Its URL shows that it waits no
 * more. */
static void hand_over(struct run *run, struct batch_check *one)
{
    const struct prescient_host *host = run->batch->host;
    if (host->answered(host, one->answer))
        host->log(host, PRESCIENT_LOG_WARN, host->error(host));
    free(one->url);
    one->url = NULL;
}

/* When a wait is over that is counted from now on, and not from when the checks were read. */
static int64_t over_at(const struct run *run, const struct batch_check *one, int64_t wait_s)
{
    int64_t passed_us = boot_us() - run->began_us;
    return hold_over_at(one->check->now, passed_us, (int64_t)time(NULL), wait_s);
}

static void put_off(const struct run *run, struct batch_check *one, int64_t wait_s)
{
    prescient_defer(one->answer, over_at(run, one, wait_s));
}

/* Behind what the receiver has sent away. */
static void hold_back(const struct run *run, struct batch_check *one, int64_t wait_s)
{
    prescient_defer(one->answer, hold_second_of_others(over_at(run, one, wait_s)));
}

/* Its turn comes then. */
static void send_away(const struct run *run, struct batch_check *one, int64_t wait_s)
{
    prescient_defer(one->answer, hold_second_of_turn(over_at(run, one, wait_s)));
}

/* ---- templates that take long ---- */

/* Nothing else was done meanwhile: a receiver that has answered in time has answered in time. */
static void count_fill(struct run *run, struct batch_check *one, int64_t began_us)
{
    struct batch *b = run->batch;
    long took_ms = (long)((boot_us() - began_us) / 1000);
    one->filled_ms += took_ms;
    if (took_ms < FILL_MS)
        return;
    run->slow_ms += took_ms;
    for (int i = 0; i < b->transport.in_flight; i++)
        if (b->flights[i].place >= 0)
            flight_wait(&b->flights[i], &b->transport, took_ms);
}

static int prepare(struct run *run, struct flight *f, struct batch_check *one, struct flight_request *request)
{
    int64_t began_us = boot_us();
    int rc = run->batch->prepare(run->batch->job, one, f, request);
    count_fill(run, one, began_us);
    return rc;
}

/* The batch would have no time for the rest if they took theirs, too: those behind are done in
 * another one. */
static bool is_behind_slow(struct run *run, struct batch_check *one)
{
    if (run->slow_ms <= run->batch->transport.timeout_ms / FILL_PART)
        return false;
    put_off(run, one, 0);
    prescient_note(one->answer, "not sent: the templates of other checks took the time");
    hand_over(run, one);
    return true;
}

/* ---- failures and verdicts ---- */

static void fail_unreachable(struct run *run, struct batch_check *one, const char *why, int64_t took_us)
{
    struct batch *b = run->batch;
    if (b->judges_itself) {
        b->unreached(b->job, one, why, took_us / 1000);
        hand_over(run, one);
        return;
    }
    hold_unreachable(&one->receiver->hold, boot_us());
    prescient_fail(one->answer, "%s: %s (%" PRId64 " ms)", one->receiver->place.receiver, why,
                   took_us / 1000);
    hand_over(run, one);
}

/* What the status means for the check, and for others that go there. */
static void judge(struct run *run, struct batch_check *one, const struct flight *f)
{
    static const int kinds[] = { [VERDICT_DONE] = PRESCIENT_DONE,
                                 [VERDICT_FAIL] = PRESCIENT_FAIL,
                                 [VERDICT_FINAL] = PRESCIENT_FAIL_FINAL,
                                 [VERDICT_WAIT] = PRESCIENT_DEFER };
    struct batch *b = run->batch;
    struct verdict v = response_judge(&f->response, b->final, b->nfinal, (int64_t)time(NULL));
    hold_answered(&one->receiver->hold);
    one->answer->kind = kinds[v.kind];
    if (v.kind == VERDICT_WAIT) {
        hold_asked(&one->receiver->hold, boot_us(), v.wait_s, one->is_tried);
        send_away(run, one, v.wait_s + hold_spread_s(v.wait_s, key_of(run, one)));
    }
}

/* "status 500 of https://example.com:443, 12 ms: what it wrote" */
static void describe(const struct batch_check *one, const struct flight *f, int64_t took_us)
{
    struct prescient_answer *answer = one->answer;
    prescient_note(answer, "status %d of %s, %" PRId64 " ms", f->response.status,
                   one->receiver->place.receiver, took_us / 1000);
    size_t used = strlen(answer->text), n = f->len < EXCERPT_BYTES ? f->len : EXCERPT_BYTES;
    bool is_short = answer->kind == PRESCIENT_DONE || !n || used + 4 > answer->text_size;
    if (is_short)
        return;
    if (n > answer->text_size - used - 3)
        n = answer->text_size - used - 3;
    char *to = stpcpy(answer->text + used, ": ");
    for (size_t i = 0; i < n; i++)
        to[i] = f->body[i] ? f->body[i] : ' ';
    to[n] = '\0';
}

static void answer_response(struct run *run, struct batch_check *one, const struct flight *f, CURLcode rc,
                            int64_t took_us)
{
    struct batch *b = run->batch;
    if (!b->judges_itself)
        judge(run, one, f);
    describe(one, f, took_us);
    if (b->respond)
        b->respond(b->job, one, f, rc);
    hand_over(run, one);
}

/* ---- where to ---- */

/* The receiver wants nothing now, or does not answer: it is not asked for each check. */
static bool is_held(struct run *run, struct batch_check *one)
{
    const struct prescient_check *check = one->check;
    const struct hold *hold = &one->receiver->hold;
    int64_t wait_s = hold_wait_s(hold, boot_us(), key_of(run, one));
    bool is_turn = wait_s && hold->is_asked &&
                   hold_is_turn(check->slot, check->first_check_at, check->failure_count);
    bool is_free = !wait_s || (is_turn && hold_lets_try(hold, run->batch->transport.in_flight));
    if (is_free)
        return false;
    if (is_turn)
        send_away(run, one, wait_s);
    else
        hold_back(run, one, wait_s);
    prescient_note(one->answer, "not sent to %s: %s", one->receiver->place.receiver, one->receiver->hold.why);
    hand_over(run, one);
    return true;
}

static bool may_be_sent_to(const struct batch *b, const char *host)
{
    for (int i = 0; i < b->nhosts; i++)
        if (address_is_host(b->hosts[i], host))
            return true;
    return !b->nhosts;
}

/* 0, or -1: it is answered. */
static int find_receiver(struct batch *b, struct batch_check *one, struct place *place)
{
    char why[256];
    if (place_read(place, one->url, why, sizeof why)) {
        prescient_fail_final(one->answer, "its url: %s", why);
        return -1;
    }
    if (!may_be_sent_to(b, place->host)) {
        prescient_fail_final(one->answer, "its url: the host %.100s is none of 'hosts'", place->host);
        return -1;
    }
    one->receiver = receivers_find(&b->receivers, place);
    if (!one->receiver)
        prescient_fail(one->answer, "out of memory for where it goes to");
    return one->receiver ? 0 : -1;
}

static void aim(struct run *run, struct batch_check *one)
{
    struct batch *b = run->batch;
    struct place place = { .receiver = NULL };
    if (is_behind_slow(run, one))
        return;
    int64_t began_us = boot_us();
    one->url = b->aim(b->job, one->check, one->answer);
    count_fill(run, one, began_us);
    if (!one->url || find_receiver(b, one, &place))
        hand_over(run, one);
    else if (!is_held(run, one))
        one->receiver->is_wanted = true;
    place_release(&place);
}

/* Once for all of them: libcurl would start a thread for each request, and wait for it. */
static void find_addresses(struct run *run)
{
    struct batch *b = run->batch;
    long most_ms = b->transport.timeout_ms / 2;
    receivers_begin_batch(&b->receivers);
    for (int i = 0; i < run->n; i++)
        aim(run, &run->checks[i]);
    run->slow_ms = 0; /* or what has a URL would be put off for those that have none */
    if (run->is_dry)
        return;
    int64_t aimed_us = boot_us();
    receivers_look_up(&b->receivers, most_ms < LOOKUP_MS ? most_ms : LOOKUP_MS);
    run->looked_up_ms = (long)((boot_us() - aimed_us) / 1000);
}

/* ---- requests ---- */

/* All of it but sending. */
static void show_one(struct run *run, struct flight *f, struct batch_check *one)
{
    struct batch *b = run->batch;
    struct flight_request request = { .url = one->url };
    if (prepare(run, f, one, &request)) {
        hand_over(run, one);
        return;
    }
    char *text = shown_request(b->host, f, &request, b->hides_path);
    if (text) {
        b->host->dry(b->host, one->check, text);
        prescient_done(one->answer);
        prescient_note(one->answer, "not sent to %s", one->receiver->place.receiver);
    } else {
        prescient_fail(one->answer, "out of memory for the words of a request");
    }
    free(text);
    hand_over(run, one);
}

static void send_one(struct run *run, struct flight *f, struct batch_check *one)
{
    struct batch *b = run->batch;
    struct flight_request request = { .url = one->url, .addresses = one->receiver->addresses };
    if (prepare(run, f, one, &request)) {
        hand_over(run, one);
        return;
    }
    f->timeout_ms = b->transport.timeout_ms - run->looked_up_ms - one->filled_ms;
    if (f->timeout_ms < 1)
        f->timeout_ms = 1; /* 0 would be no limit */
    int rc = flight_prepare(f, &b->transport, &request);
    if (b->has_rules)
        peer_watch(f->curl, &b->rules);
    if (rc || curl_multi_add_handle(b->multi, f->curl)) {
        prescient_fail(one->answer, "out of memory for the request");
        hand_over(run, one);
        return;
    }
    f->place = (int)(one - run->checks);
    f->began_us = boot_us();
    one->is_tried = hold_wait_s(&one->receiver->hold, f->began_us, key_of(run, one)) > 0;
    if (one->is_tried)
        hold_tried(&one->receiver->hold);
    run->active++;
}

/* Name servers that are silent about other hosts are no fault of this one. */
static void has_had_no_time(struct run *run, struct batch_check *one)
{
    put_off(run, one, NO_TIME_S);
    prescient_note(one->answer, "not sent to %s: look-ups of other names took the time",
                   one->receiver->place.receiver);
    hand_over(run, one);
}

static void try_one(struct run *run, struct flight *f, struct batch_check *one)
{
    bool is_over = !one->url || is_held(run, one) || is_behind_slow(run, one);
    if (is_over)
        return;
    if (run->is_dry)
        show_one(run, f, one);
    else if (!one->receiver->is_looked_up)
        has_had_no_time(run, one);
    else if (one->receiver->why)
        fail_unreachable(run, one, one->receiver->why, boot_us() - run->began_us);
    else
        send_one(run, f, one);
}

/* Templates may compute for long: what is under way is looked at in between. False: there is more
 * to send. */
static bool fill(struct run *run)
{
    int64_t until_us = boot_us() + FILL_MS * 1000;
    for (int i = 0; i < run->batch->transport.in_flight; i++)
        while (run->batch->flights[i].place < 0 && run->next < run->n) {
            try_one(run, &run->batch->flights[i], &run->checks[run->next++]);
            if (boot_us() > until_us)
                return false;
        }
    return true;
}

static void land(struct run *run, struct flight *f, CURLcode rc)
{
    struct batch *b = run->batch;
    struct batch_check *one = &run->checks[f->place];
    int64_t took_us = boot_us() - f->began_us;
    curl_multi_remove_handle(b->multi, f->curl);
    bool goes_on = !rc && flight_redirect(f, &b->transport, (long)(took_us / 1000));
    if (goes_on && !curl_multi_add_handle(b->multi, f->curl))
        return;
    if (f->response.has_come)
        answer_response(run, one, f, rc, took_us);
    else
        fail_unreachable(run, one, *f->error ? f->error : curl_easy_strerror(rc), took_us);
    f->place = -1;
    run->active--;
}

/* Whether there is room for others now. */
static bool land_all(struct run *run)
{
    CURLMsg *msg;
    int before = run->active;
    int left;
    while ((msg = curl_multi_info_read(run->batch->multi, &left))) {
        struct flight *f = NULL;
        CURLcode rc = msg->data.result;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &f);
        land(run, f, rc);
    }
    return run->active < before;
}

static void send_all(struct run *run)
{
    int running;
    while (run->active || run->next < run->n) {
        bool is_full = fill(run);
        curl_multi_perform(run->batch->multi, &running);
        bool has_room = land_all(run) && run->next < run->n;
        if (run->active && is_full && !has_room)
            curl_multi_poll(run->batch->multi, NULL, 0, POLL_MS, NULL);
    }
}

void batch_run(struct batch *b, const struct prescient_check *checks, int n, struct prescient_answer *answers)
{
    const struct prescient_host *host = b->host;
    struct run run = { .batch = b, .n = n, .began_us = boot_us() };
    run.is_dry = PRESCIENT_HAS(host, dry) && host->dry(host, checks, NULL);
    run.checks = calloc((size_t)n, sizeof *run.checks);
    if (!run.checks)
        return;
    for (int i = 0; i < n; i++)
        run.checks[i] = (struct batch_check){ .check = &checks[i], .answer = &answers[i] };
    find_addresses(&run);
    send_all(&run);
    free(run.checks);
}

/* ---- opening and closing ---- */

int batch_begin(const struct prescient_host *host, char *why, size_t why_size)
{
    const char *wrong = NULL;
    if (!PRESCIENT_HAS(host, batch_timeout_ms))
        wrong = "this engine is older than the plug-in: it takes no answers early";
    else if (curl_global_init(CURL_GLOBAL_DEFAULT))
        wrong = "out of memory";
    if (wrong)
        snprintf(why, why_size, "%s", wrong);
    return wrong ? -1 : 0;
}

int batch_open(struct batch *b, char *why, size_t why_size)
{
    size_t n = (size_t)b->transport.in_flight;
    b->multi = curl_multi_init();
    b->flights = calloc(n, sizeof *b->flights);
    if (!b->multi || !b->flights) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        b->flights[i].place = -1;
    b->receivers.rules = b->has_rules ? &b->rules : NULL;
    b->receivers.are_looked_up = !*b->transport.proxy;
    curl_multi_setopt(b->multi, CURLMOPT_MAXCONNECTS, (long)n);
    curl_multi_setopt(b->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)n);
    return 0;
}

void batch_release(struct batch *b)
{
    for (int i = 0; b->flights && i < b->transport.in_flight; i++)
        flight_release(&b->flights[i]);
    if (b->multi)
        curl_multi_cleanup(b->multi);
    free(b->flights);
    receivers_release(&b->receivers);
    b->multi = NULL;
    b->flights = NULL;
}
