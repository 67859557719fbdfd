/* connection.c - see connection.h. */
#include "connection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define S INT64_C(1000000)

enum {
    PIECE = 16 * 1024,              /* read at once */
    /* of what comes or goes slowly, so much more moves the time that it has */
    STRIDE = 64 * 1024,
};

/* How long each may last: the next request, a head from its first byte on, STRIDE of a body or of
 * an answer, the reading of the last answer by the client. */
#define IDLE_US (65 * S)
#define HEAD_US (10 * S)
#define STRIDE_US (20 * S)
#define DRAIN_US (2 * S)
/* Who has come so short a time before the server ends may still ask. */
#define NEW_US (2 * S)

static int64_t now_us(const struct connection *c)
{
    return clock_mono_us(c->host->clock);
}

/* ---- begin and end ---- */

struct connection *connection_new(const struct connection_host *host, int fd)
{
    struct connection *c = calloc(1, sizeof *c);
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };
    if (!c || epoll_ctl(host->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        free(c);
        close(fd);
        return NULL;
    }
    c->host = host;
    c->fd = fd;
    c->wants = EPOLLIN;
    c->route = -1;
    request_init(&c->request);
    c->since_us = now_us(c);
    agenda_set(host->agenda, &c->alarm, c->since_us + IDLE_US);
    return c;
}

void connection_free(struct connection *c)
{
    agenda_unset(c->host->agenda, &c->alarm);
    /* a process that is being forked may keep the socket open for a moment, and epoll its event */
    epoll_ctl(c->host->epoll, EPOLL_CTL_DEL, c->fd, NULL);
    close(c->fd);
    request_free(&c->request);
    bytes_free(&c->in);
    outgoing_free(&c->out);
    free(c);
}

static void give_up(struct connection *c)
{
    c->state = CONNECTION_OVER;
}

static void set_alarm(struct connection *c, int64_t in_us)
{
    agenda_set(c->host->agenda, &c->alarm, now_us(c) + in_us);
}

bool connection_is_idle(const struct connection *c)
{
    return c->state == CONNECTION_READS && c->request.state == REQUEST_HEAD && !c->in.len &&
           outgoing_is_empty(&c->out) && !request_is_cut(&c->request);
}

bool connection_may_go(const struct connection *c)
{
    enum request_state state = c->request.state;
    bool is_slow = state == REQUEST_HEAD || (state == REQUEST_BODY && c->is_of_anyone);
    return (c->state == CONNECTION_READS && is_slow) || c->state == CONNECTION_DRAINS;
}

/* ---- answers ---- */

/* What is of this moment is kept nowhere, and is no page; a page may be kept, is asked for again
 * with its tag, and brings its own policy. */
#define OF_NOW \
    "Cache-Control: no-store\r\n" \
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
#define KEPT "Cache-Control: no-cache\r\n"

static const struct {
    const char *type, *lines;
} contents[CONTENTS] = {
    [CONTENT_JSON] = { "application/json", OF_NOW },
    [CONTENT_PROBLEM] = { "application/problem+json", OF_NOW },
    [CONTENT_NDJSON] = { "application/x-ndjson", OF_NOW },
    [CONTENT_TEXT] = { "text/plain; charset=utf-8", OF_NOW },
    [CONTENT_METRICS] = { "text/plain; version=0.0.4; charset=utf-8", OF_NOW },
    [CONTENT_OPENMETRICS] = { "application/openmetrics-text; version=1.0.0; charset=utf-8", OF_NOW },
    [CONTENT_FEED] = { "text/event-stream", OF_NOW },
    [CONTENT_HTML] = { "text/html; charset=utf-8", KEPT },
    [CONTENT_CSS] = { "text/css; charset=utf-8", KEPT },
    [CONTENT_SCRIPT] = { "text/javascript; charset=utf-8", KEPT },
    [CONTENT_SVG] = { "image/svg+xml", KEPT },
};

static const char always[] = "X-Content-Type-Options: nosniff\r\n";

static const char *reason_of(int status)
{
    return http_status_str((enum http_status)status);
}

/* RFC 9110 wants the date, in this form. */
static bool add_date(struct connection *c)
{
    char text[64];
    struct tm tm;
    time_t now = (time_t)(clock_wall_us(c->host->clock) / S);
    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &tm);
    return bytes_add_text(&c->out.bytes, text);
}

/* False: there is no memory for all of it. */
static bool add_head(struct connection *c, const struct answer *a, const char *headers)
{
    char retry[40] = "", length[60] = "Transfer-Encoding: chunked\r\n";
    const char *closes = c->closes ? "Connection: close\r\n" : "";
    if (a->retry_after_s)
        snprintf(retry, sizeof retry, "Retry-After: %d\r\n", a->retry_after_s);
    if (!c->stream.has_begun && !c->follow.is_feed)
        snprintf(length, sizeof length, "Content-Length: %" PRIu32 "\r\n", a->body_len);
    struct bytes *out = &c->out.bytes;
    return bytes_printf(out, "HTTP/1.1 %d %s\r\n", a->status, reason_of(a->status)) && add_date(c) &&
           bytes_printf(out, "Content-Type: %s\r\n%s", contents[a->content].type, length) &&
           bytes_printf(out, "%s%s%s%s%s\r\n", retry, closes, contents[a->content].lines, always, headers);
}

static bool add_whole(struct connection *c, const struct answer *answer, const char *headers)
{
    struct request *r = &c->request;
    bool has_head = r->state != REQUEST_HEAD && r->state != REQUEST_BAD;
    if (r->state == REQUEST_HEAD_READ && !r->has_body)
        request_go_on(r);
    /* what else of a body comes is not read */
    c->closes = r->state != REQUEST_COMPLETE || !r->keeps_alive || c->host->is_ending;
    bool is_bare = (has_head && r->method == HTTP_HEAD) || answer->status == HTTP_STATUS_NOT_MODIFIED;
    bool fits = add_head(c, answer, headers);
    if (fits && !is_bare && answer->shared)
        outgoing_share(&c->out, answer->shared);
    else if (fits && !is_bare)
        fits = bytes_add(&c->out.bytes, answer->body, answer->body_len);
    return fits;
}

/* An empty chunk would be the end. */
static bool add_chunk(struct connection *c, const char *data, size_t len)
{
    struct bytes *out = &c->out.bytes;
    return !len || (bytes_printf(out, "%zx\r\n", len) && bytes_add(out, data, len) &&
                    bytes_add_text(out, "\r\n"));
}

/* A stream that ends with a problem has no last chunk: so each client sees that something is
 * missing. */
static bool add_lines(struct connection *c, const struct answer *answer)
{
    struct stream *s = &c->stream;
    bool begins = !s->has_begun, is_good = answer->content == CONTENT_NDJSON;
    s->has_begun = true;
    s->is_over = !is_good;
    if (begins)
        c->closes = !c->request.keeps_alive || c->host->is_ending;
    c->closes = c->closes || !is_good;
    stream_answered(s);
    return (!begins || add_head(c, answer, "")) && add_chunk(c, answer->body, answer->body_len);
}

static void begin_to_write(struct connection *c, bool fits)
{
    if (!fits) {
        give_up(c);                 /* half an answer is worse than none */
        return;
    }
    c->state = CONNECTION_WRITES;
    c->progress = 0;
    set_alarm(c, STRIDE_US);
}

static void follow_on(struct connection *c)
{
    c->follow.is_resting = true;
    connection_hold(c, c->follow.again_us);
}

static bool is_feed(const struct connection *c, const struct answer *answer)
{
    return answer->content == CONTENT_FEED && c->request.method != HTTP_HEAD;
}

/* By this answer the client begins to wait. False: it may not, and has been refused. */
static bool may_begin_to_follow(struct connection *c, const struct answer *answer)
{
    bool feeds = is_feed(c, answer), waits = answer->content == CONTENT_JSON && answer->wait_ms;
    if (follow_is_on(&c->follow) || (!feeds && !waits))
        return true;
    if (feeds && c->request.parser.http_minor == 0)
        connection_refuse(c, PROBLEM_BAD_REQUEST, "", "events are sent in chunks, which HTTP/1.0 does not "
                          "have; ask with HTTP/1.1, or with wait=30s");
    else if (feeds && c->host->is_ending)
        connection_refuse(c, PROBLEM_AWAY, "", "the server is about to end");
    else if (!c->host->may_follow(c->host->ctx, c))
        connection_refuse(c, PROBLEM_TOO_MANY, "", "too many clients wait for events here already, or too "
                          "many of this address; ask again later, or without waiting");
    else
        return true;
    return false;
}

static void tell_feed(struct connection *c, const struct answer *answer)
{
    bool begins = !c->follow.is_feed;
    size_t len;
    const char *part = follow_part(&c->follow, answer, now_us(c), &len);
    c->closes = true;
    if (len)
        begin_to_write(c, (!begins || add_head(c, answer, "")) && add_chunk(c, part, len));
    else
        follow_on(c);
}

void connection_answer(struct connection *c, const struct answer *answer, const char *headers)
{
    bool is_part = c->stream.has_begun || (c->stream.is_on && answer->content == CONTENT_NDJSON);
    if (c->state == CONNECTION_OVER || !may_begin_to_follow(c, answer))
        return;
    if (follow_waits(&c->follow, answer, now_us(c), c->host->is_ending)) {
        follow_on(c);
        return;
    }
    if (!c->stream.has_begun && !c->follow.is_feed)
        c->host->answered(c->host->ctx, c, answer->status);
    if (is_feed(c, answer))
        tell_feed(c, answer);
    else if (c->follow.is_feed)
        give_up(c);                 /* it has begun, and is asked for again by who wants the rest */
    else if (is_part)
        begin_to_write(c, add_lines(c, answer));
    else
        begin_to_write(c, add_whole(c, answer, headers));
}

static void end_stream(struct connection *c)
{
    static const struct answer nothing = { .status = 200, .content = CONTENT_NDJSON, .body = "" };
    if (!c->stream.has_begun)
        c->host->answered(c->host->ctx, c, nothing.status);     /* it had no lines */
    bool fits = add_lines(c, &nothing) && bytes_add_text(&c->out.bytes, "0\r\n\r\n");
    c->stream.is_over = true;
    begin_to_write(c, fits);
}

void connection_refuse(struct connection *c, enum problem_type type, const char *headers, const char *fmt,
                       ...)
{
    char detail[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    json_t *problem = problem_new(type, detail);
    if (problem && c->stream.is_on)
        stream_tell(problem, c->stream.answered);
    char *body = problem_text(problem);
    struct answer answer = { .status = (uint16_t)problem_status(type), .content = CONTENT_PROBLEM,
                             .retry_after_s = problem_retry_s(type) };
    answer.body = body ? body : "";
    answer.body_len = (uint32_t)strlen(answer.body);
    connection_answer(c, &answer, headers);
    free(body);
}

void connection_wait(struct connection *c)
{
    c->state = CONNECTION_WAITS;
    c->since_us = now_us(c);
    agenda_unset(c->host->agenda, &c->alarm);
}

void connection_hold(struct connection *c, int64_t in_us)
{
    c->state = CONNECTION_HELD;
    set_alarm(c, in_us);
}

/* ---- reading ---- */

/* A client that waits to be told that its body is wanted. */
static void say_continue(struct connection *c)
{
    const char *expect = c->request.headers[REQUEST_EXPECT];
    if (expect && !strcasecmp(expect, "100-continue") && c->request.has_body &&
        c->request.parser.http_minor == 1)
        bytes_add_text(&c->out.bytes, "HTTP/1.1 100 Continue\r\n\r\n");
}

static void head_has_come(struct connection *c)
{
    c->asked_us = now_us(c);
    if (!c->host->take_head(c->host->ctx, c))
        return;
    say_continue(c);
    request_go_on(&c->request);
    c->progress = 0;
    set_alarm(c, STRIDE_US);
}

static void body_comes(struct connection *c)
{
    const struct request *r = &c->request;
    if (r->body_come < c->progress + STRIDE)
        return;
    c->progress = r->body_come;
    set_alarm(c, STRIDE_US);
}

static bool is_too_large(const struct connection *c)
{
    const struct request *r = &c->request;
    return (r->state == REQUEST_BODY || r->state == REQUEST_COMPLETE) && r->body_come > c->body_max;
}

static const struct { enum problem_type type; const char *detail;
} ends[] = {
    [STREAM_IS_CUT] = { PROBLEM_BAD_REQUEST, "the body ends in the middle; send what is missing again" },
    [STREAM_IS_TOO_LONG] = { PROBLEM_TOO_LARGE, "the body has more than 100000 lines; send the others in "
                                                "another request" },
    [STREAM_STOPS] = { PROBLEM_AWAY, "the server is about to end; send the lines that follow again" },
};

/* Nothing of it is asked or on its way. */
static void stream_goes_on(struct connection *c)
{
    enum stream_step step = stream_step(&c->stream, &c->request, c->is_at_end, c->host->is_ending);
    if (step == STREAM_ASKS) {
        c->host->take_request(c->host->ctx, c);
    } else if (step == STREAM_ENDS) {
        end_stream(c);
    } else if (step == STREAM_IS_BAD) {
        connection_refuse(c, c->request.problem, "", "%s", c->request.detail);
    } else if (step != STREAM_READS) {
        connection_refuse(c, ends[step].type, "", "%s", ends[step].detail);
    } else if (c->state != CONNECTION_READS) {
        c->state = CONNECTION_READS;
        outgoing_free(&c->out);         /* it is empty; a slow one holds no more than its line */
        set_alarm(c, STRIDE_US);        /* for one line, so that no client needs to be quick */
    }
}

/* What the request has become by what was read of it. */
static void judge(struct connection *c)
{
    const struct request *r = &c->request;
    if (c->stream.is_on)
        stream_goes_on(c);
    else if (r->state == REQUEST_BAD)
        connection_refuse(c, r->problem, "", "%s", r->detail);
    else if (is_too_large(c))
        connection_refuse(c, PROBLEM_TOO_LARGE, "", "the body has more than %zu bytes", c->body_max);
    else if (r->state == REQUEST_COMPLETE)
        c->host->take_request(c->host->ctx, c);
    else if (r->state == REQUEST_BODY)
        body_comes(c);
}

/* Feeds the request what has been read: it takes all of that, or ends in another state. */
static void feed(struct connection *c)
{
    struct request *r = &c->request;
    size_t used = request_feed(r, c->in.data, c->in.len);
    while (c->stream.is_on && r->state == REQUEST_BODY && used < c->in.len)
        used += request_feed(r, c->in.data + used, c->in.len - used);
    bytes_take(&c->in, used);
    if (!c->stream.is_on)
        return;
    if (!stream_look(&c->stream, r))
        give_up(c);
    if (!c->in.len)
        bytes_free(&c->in);
}

static void read_request(struct connection *c)
{
    struct request *r = &c->request;
    bool was_begun = request_is_cut(r);
    feed(c);
    if (!was_begun && r->state == REQUEST_HEAD && request_is_cut(r))
        set_alarm(c, HEAD_US);
    if (r->state == REQUEST_HEAD_READ)
        head_has_come(c);
    if (c->state == CONNECTION_READS)
        judge(c);
}

/* The next request may have come behind the last one. */
static void read_requests(struct connection *c)
{
    while (c->state == CONNECTION_READS && c->in.len)
        read_request(c);
}

static void read_in(struct connection *c)
{
    char *to = bytes_reserve(&c->in, PIECE);
    ssize_t n = to ? read(c->fd, to, PIECE) : -1;
    if (!to || (n < 0 && errno != EAGAIN && errno != EINTR))
        give_up(c);
    else if (n == 0)
        c->is_at_end = true;
    else if (n > 0)
        c->in.len += (size_t)n;
    c->has_spoken = c->has_spoken || n > 0;
}

/* An end that is met here is seen behind the lines that have come. */
void connection_fill(struct connection *c)
{
    enum { PIECES_MOST = 2 * STREAM_TOGETHER_BYTES / PIECE };
    ssize_t n = 1;
    for (int i = 0; i < PIECES_MOST && n > 0 && stream_has_room(&c->stream, &c->request); i++) {
        char *to = c->is_at_end || c->host->is_ending ? NULL : bytes_reserve(&c->in, PIECE);
        n = to ? read(c->fd, to, PIECE) : -1;
        c->is_at_end = c->is_at_end || (to && n == 0);
        c->in.len += n > 0 ? (size_t)n : 0;
        if (n > 0)
            feed(c);
    }
}

/* What comes now is not looked at. */
static void drain(struct connection *c)
{
    char piece[PIECE];
    ssize_t n = read(c->fd, piece, sizeof piece);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        give_up(c);
}

/* ---- writing ---- */

static void read_next(struct connection *c)
{
    request_renew(&c->request);
    c->stream = (struct stream){ 0 };
    c->follow = (struct follow){ 0 };
    c->route = -1;
    c->visit = (struct gate_visit){ 0 };
    c->asked_us = 0;
    c->state = CONNECTION_READS;
    c->since_us = now_us(c);
    set_alarm(c, IDLE_US);
}

static void answer_is_written(struct connection *c)
{
    bool is_last = c->closes || (c->host->is_ending && !c->in.len);
    if (c->stream.has_begun && !c->stream.is_over) {
        stream_goes_on(c);
        return;
    }
    if (c->follow.is_feed) {
        follow_on(c);
        return;
    }
    if (!is_last) {
        read_next(c);
        return;
    }
    /* What the client has still sent would make the system throw away what it has not read. */
    shutdown(c->fd, SHUT_WR);
    c->state = c->is_at_end ? CONNECTION_OVER : CONNECTION_DRAINS;
    set_alarm(c, DRAIN_US);
}

static void note_progress(struct connection *c, size_t written)
{
    c->progress += written;
    if (c->progress < STRIDE)
        return;
    c->progress = 0;
    set_alarm(c, STRIDE_US);
}

static void write_out(struct connection *c)
{
    size_t written;
    enum outgoing_rc rc = outgoing_write(&c->out, c->fd, &written);
    if (rc == OUTGOING_GONE) {
        give_up(c);
        return;
    }
    if (c->state == CONNECTION_WRITES)
        note_progress(c, written);
    if (c->state == CONNECTION_WRITES && rc == OUTGOING_DONE)
        answer_is_written(c);
}

/* ---- a turn ---- */

/* For an answer, or its turn. */
static bool is_waiting(const struct connection *c)
{
    return c->state == CONNECTION_WAITS || c->state == CONNECTION_HELD;
}

/* Only what a turn does something about: epoll tells the rest again at once, without an end. */
static uint32_t wanted(const struct connection *c)
{
    bool reads = c->state == CONNECTION_READS || c->state == CONNECTION_DRAINS;
    uint32_t wants = outgoing_is_empty(&c->out) ? 0 : EPOLLOUT;
    if (reads && !c->is_at_end)
        wants |= EPOLLIN;
    if (is_waiting(c) && follow_is_on(&c->follow))
        wants |= EPOLLRDHUP;        /* it sends no more, so nobody waits there any more */
    return wants;
}

static void watch(struct connection *c)
{
    uint32_t wants = wanted(c);
    struct epoll_event event = { .events = wants, .data.ptr = c };
    if (wants == c->wants)
        return;
    if (epoll_ctl(c->host->epoll, EPOLL_CTL_MOD, c->fd, &event) < 0)
        give_up(c);
    c->wants = wants;
}

void connection_turn(struct connection *c, bool readable, bool is_gone)
{
    if (is_gone && is_waiting(c))
        give_up(c);
    else if (readable && c->state == CONNECTION_READS)
        read_in(c);
    else if (readable && c->state == CONNECTION_DRAINS)
        drain(c);
    /* Each round answers one request that has come, or none. */
    do {
        read_requests(c);
        if (c->state != CONNECTION_OVER)
            write_out(c);
    } while (c->state == CONNECTION_READS && c->in.len);
    if (c->state == CONNECTION_READS && c->stream.is_on)
        stream_goes_on(c);              /* all that it has sent, or this server, may have ended */
    else if (c->state == CONNECTION_READS && c->is_at_end)
        give_up(c);
    if (c->state != CONNECTION_OVER)
        watch(c);
}

void connection_host_ends(struct connection *c)
{
    int64_t left_us = c->since_us + NEW_US - now_us(c);
    if (connection_is_idle(c))
        connection_turn(c, true, false);
    if (!connection_is_idle(c))
        return;
    if (!c->has_spoken && left_us > 0)
        set_alarm(c, left_us);
    else
        give_up(c);
}

void connection_go_on(struct connection *c)
{
    c->state = CONNECTION_READS;
    set_alarm(c, STRIDE_US);
    if (c->request.state == REQUEST_HEAD_READ)
        head_has_come(c);
    if (c->state == CONNECTION_READS)
        judge(c);
    connection_turn(c, false, false);
}

void connection_is_late(struct connection *c)
{
    if (c->state == CONNECTION_HELD) {
        connection_go_on(c);
        return;
    }
    if (c->state == CONNECTION_READS && request_is_cut(&c->request)) {
        connection_refuse(c, PROBLEM_SLOW, "", "the request did not come in time; send it again");
        write_out(c);
    } else {
        give_up(c);
    }
    if (c->state != CONNECTION_OVER)
        watch(c);
}
