/* backends.c - see backends.h. */
#include "backends.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend.h"
#include "dry_run.h"
#include "route.h"

#define S INT64_C(1000000)
/* One that ended is started again after this time, counted from when it had begun. */
#define RESTART_US (1 * S)
/* The tokens are asked for so often. */
#define TOKENS_US (1 * S)
/* What a question may wait for its turn. */
#define TURN_US (30 * S)
/* Beyond the time that the store has for a call: it may try several hosts. */
#define SLACK_US (120 * S)

enum {
    PIECE = 64 * 1024,
    /* bytes of questions that are asked together, so that no message has to wait for long */
    TOGETHER = 1024 * 1024,
    READS_MAX = EXCHANGE_BYTES_MAX / PIECE + 2,         /* of the last message of one that has ended */
};

static int64_t now_us(const struct backends *b)
{
    return clock_mono_us(b->o.clock);
}

void backends_init(struct backends *b, const struct backends_options *options)
{
    *b = (struct backends){ .o = *options };
    waiting_init(&b->reads);
    waiting_init(&b->writes);
    waiting_init(&b->streams);
    for (int i = 0; i < BACKENDS; i++) {
        b->all[i].all = b;
        b->all[i].sock = -1;
        b->all[i].writes = i == 0;
        b->all[i].asks_tokens = i == BACKENDS - 1;
    }
}

bool backends_have(const struct backends *b, const void *pointer)
{
    const struct backend_process *p = pointer;
    return p >= b->all && p < b->all + BACKENDS;
}

/* ---- the processes ---- */

/* Its parent decides when it ends: signals to the whole group are not for it. Killed at any moment,
 * it loses nothing that was promised. */
static void become_backend(const struct backend_process *p, int sock, pid_t parent)
{
    struct backends *b = p->all;
    bool reads_only = !p->writes && !p->asks_tokens;
    const char *role = reads_only ? b->o.reader_role : b->o.role;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    b->o.in_child(b->o.ctx);
    for (int i = 0; i < BACKENDS; i++)
        if (b->all[i].sock >= 0)
            close(b->all[i].sock);
    _exit(backend_run(b->o.settings, b->o.log, role, reads_only, sock));
}

static void start_later(struct backend_process *p)
{
    agenda_set(p->all->o.agenda, &p->alarm, p->began_us + RESTART_US);
}

static bool watch(struct backend_process *p, int op, uint32_t wants)
{
    struct epoll_event event = { .events = wants, .data.ptr = p };
    p->wants = wants;
    return epoll_ctl(p->all->o.epoll, op, p->sock, &event) == 0;
}

static void start(struct backend_process *p)
{
    struct backends *b = p->all;
    int pair[2];
    pid_t parent = getpid();
    p->began_us = now_us(b);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        start_later(p);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        become_backend(p, pair[1], parent);
    }
    close(pair[1]);
    p->sock = pair[0];
    p->pid = pid < 0 ? 0 : pid;
    if (pid > 0 && watch(p, EPOLL_CTL_ADD, EPOLLIN)) {
        if (p->asks_tokens)
            agenda_set(b->o.agenda, &p->alarm, p->began_us);        /* who has come waits for them */
        return;
    }
    log_warn(b->o.log, "a process that asks the store cannot be started; it is tried again");
    close(p->sock);
    p->sock = -1;
    start_later(p);
}

/* Where nothing may be changed, there is none that could. */
static bool is_needed(const struct backend_process *p)
{
    return !(p->writes && p->all->o.settings->http_read_only);
}

void backends_start(struct backends *b)
{
    for (int i = 0; i < BACKENDS; i++)
        if (is_needed(&b->all[i]))
            start(&b->all[i]);
}

void backends_renew(struct backends *b, const struct settings *settings)
{
    b->o.settings = settings;
    for (int i = 0; i < BACKENDS; i++)
        b->all[i].is_old = b->all[i].pid > 0;
}

enum asked_rc { WAS_ASKED, WAS_NOT_ASKED };

static const char *const refusals[2][2] = {
    [WAS_ASKED] = { "the server has lost this question; ask again",
                    "the server does not know what has become of this; send it again with its uniqid, so "
                    "that it is done once" },
    [WAS_NOT_ASKED] = { "there is no memory for this question just now; ask again later",
                        "there is no memory for this just now, and nothing was done; send it again later" },
};

/* What it may have changed is asked for anew. */
static void note_change(struct backends *b)
{
    b->changes++;
    sharing_forget(&b->sharing);
}

static void refuse_all(struct connection *c, enum problem_type type, const char *detail)
{
    for (struct connection *next; c; c = next) {
        next = sharers_take(c);
        connection_refuse(c, type, "", "%s", detail);
        connection_turn(c, false, false);
    }
}

static bool ends_shared(const struct backend_process *p)
{
    return p->writes && p->nasked && route_table[p->route].ends_shared;
}

static void refuse_asked(struct backend_process *p, enum asked_rc asked)
{
    if (asked == WAS_ASKED && ends_shared(p))
        note_change(p->all);
    /* who has asked the same behind it is told by somebody else */
    while (p->nanswered < p->nasked)
        refuse_all(p->asked[p->nanswered++], PROBLEM_AWAY, refusals[asked][p->writes]);
    p->nasked = p->nanswered = 0;
}

static void close_socket(struct backend_process *p)
{
    if (p->sock >= 0) {
        epoll_ctl(p->all->o.epoll, EPOLL_CTL_DEL, p->sock, NULL);
        close(p->sock);
    }
    p->sock = -1;
    bytes_free(&p->in);
    outgoing_free(&p->out);
}

/* It is gone, or nothing that it says can be believed. */
static void give_up(struct backend_process *p)
{
    close_socket(p);
    if (p->pid)
        kill(p->pid, SIGKILL);
    refuse_asked(p, WAS_ASKED);
    start_later(p);
}

static void read_in(struct backend_process *p);

static void log_end(const struct backends *b, int status)
{
    if (WIFSIGNALED(status))
        log_warn(b->o.log, "a process that asks the store was ended by signal %d; it is started again",
                 WTERMSIG(status));
    else
        log_warn(b->o.log, "a process that asks the store has ended with exit code %d; it is started again",
                 WEXITSTATUS(status));
}

/* What it has said before is heard. */
void backends_reap(struct backends *b)
{
    for (int i = 0; i < BACKENDS; i++) {
        struct backend_process *p = &b->all[i];
        int status;
        if (!p->pid || waitpid(p->pid, &status, WNOHANG) != p->pid)
            continue;
        if (!p->is_old || status)
            log_end(b, status);
        p->pid = 0;
        p->is_old = false;
        for (int n = 0; p->sock >= 0 && n < READS_MAX; n++)
            read_in(p);
        if (p->sock >= 0)
            give_up(p);
    }
}

/* One that still asks the store will not be heard any more. */
static bool all_have_ended(struct backends *b)
{
    bool have = true;
    for (int i = 0; i < BACKENDS; i++) {
        struct backend_process *p = &b->all[i];
        if (p->pid && waitpid(p->pid, NULL, WNOHANG) == p->pid)
            p->pid = 0;
        have = have && !p->pid;
    }
    return have;
}

void backends_end(struct backends *b)
{
    enum { PAUSES = 50, PAUSE_US = 10 * 1000 };
    for (int i = 0; i < BACKENDS; i++) {
        close_socket(&b->all[i]);
        agenda_unset(b->o.agenda, &b->all[i].alarm);
    }
    for (int i = 0; i < PAUSES && !all_have_ended(b); i++)
        usleep(PAUSE_US);
    for (int i = 0; i < BACKENDS; i++)
        if (b->all[i].pid) {
            kill(b->all[i].pid, SIGKILL);
            waitpid(b->all[i].pid, NULL, 0);
        }
    sharing_forget(&b->sharing);
}

/* ---- what waits ---- */

/* Only tried, a change is what those that read look for: it may take long, and what is to be filed
 * does not wait for it. */
static bool is_only_tried(const struct connection *c)
{
    const struct bytes *body = &c->request.body;
    return route_table[c->route].may_be_dry && body->len && dry_run_is_asked(body->data, body->len);
}

static struct waiting *queue_of(struct backends *b, const struct connection *c)
{
    const struct route *route = &route_table[c->route];
    if (route->streams)
        return &b->streams;
    return route->writes && !is_only_tried(c) ? &b->writes : &b->reads;
}

/* Where both wait, each has its turn: a single question waits for a thousand lines at most, however
 * many streams there are. */
static struct waiting *next_of(struct backend_process *p)
{
    struct backends *b = p->all;
    if (!p->writes)
        return &b->reads;
    p->streamed = b->streams.first && (!b->writes.first || !p->streamed);
    return p->streamed ? &b->streams : &b->writes;
}

static void await(struct backends *b, struct connection *c)
{
    connection_wait(c);
    waiting_put(queue_of(b, c), c);
}

/* ---- what several have asked ---- */

static struct sharing_question question_of(const struct connection *c)
{
    return (struct sharing_question){ (uint32_t)c->route, c->visit.guest.role, c->request.query };
}

/* An answer with its tag, or the word that the reader has it already. */
static void answer_tagged(struct connection *c, const struct answer *answer, const char *etag, int64_t age_us)
{
    char headers[SHARING_ETAG + 40];
    struct answer same = *answer;
    snprintf(headers, sizeof headers, "ETag: %s\r\nAge: %d\r\n", etag, (int)(age_us / S));
    if (sharing_is_known(etag, c->request.headers[REQUEST_IF_NONE_MATCH]))
        same.status = HTTP_STATUS_NOT_MODIFIED;
    connection_answer(c, &same, headers);
}

/* False: none is kept. */
static bool answer_kept(struct backends *b, struct connection *c)
{
    struct sharing_question q = question_of(c);
    const struct shared_answer *kept = sharing_find(&b->sharing, &q, c->shares_since_us);
    if (!kept)
        return false;
    answer_tagged(c, &(struct answer){ .status = HTTP_STATUS_OK, .content = kept->content,
                                       .body = kept->body->data, .body_len = (uint32_t)kept->body->len,
                                       .shared = kept->body },
                  kept->etag, now_us(b) - kept->asked_us);
    return true;
}

/* Whether the answer to `leads` is good for `c`, too: nothing was changed since. */
static bool is_twin(const struct backends *b, const struct connection *leads, const struct connection *c)
{
    return leads && leads->shares_since_us && leads->changes == b->changes && leads->route == c->route &&
           leads->visit.guest.role == c->visit.guest.role && !strcmp(leads->request.query, c->request.query);
}

/* Of those that wait to be asked, or are, for no longer than `c` takes answers. NULL: nobody has
 * asked the same. */
static struct connection *find_twin(const struct backends *b, const struct connection *c)
{
    for (struct connection *w = b->reads.first; w; w = w->next_waiting)
        if (is_twin(b, w, c))
            return w;
    for (int i = 0; i < BACKENDS; i++)
        for (int k = b->all[i].nanswered; k < b->all[i].nasked; k++)
            if (b->all[i].asked_us >= c->shares_since_us && is_twin(b, b->all[i].asked[k], c))
                return b->all[i].asked[k];
    return NULL;
}

static int64_t shares_since(const struct backends *b, const struct connection *c)
{
    int age_s = sharing_max_age_s(c->request.headers[REQUEST_CACHE_CONTROL]);
    bool is_shared = route_table[c->route].is_shared && sharing_may(c->request.query);
    return is_shared && age_s > 0 ? now_us(b) - age_s * S : 0;
}

void backends_ask(struct backends *b, struct connection *c)
{
    c->sharers = NULL;
    c->changes = b->changes;
    c->shares_since_us = shares_since(b, c);
    if (c->shares_since_us && answer_kept(b, c))
        return;
    struct connection *twin = c->shares_since_us ? find_twin(b, c) : NULL;
    if (!twin) {
        await(b, c);
        return;
    }
    connection_wait(c);
    sharers_join(twin, c);
}

void backends_forget(struct backends *b, const struct connection *c)
{
    for (struct connection *w = b->reads.first; w; w = w->next_waiting)
        sharers_drop(w, c);
    for (int i = 0; i < BACKENDS; i++)
        for (int k = b->all[i].nanswered; k < b->all[i].nasked; k++) {
            sharers_drop(b->all[i].asked[k], c);
            if (b->all[i].asked[k] == c)
                b->all[i].asked[k] = c->sharers;
        }
    waiting_drop(&b->reads, c);
    waiting_drop(&b->writes, c);
    waiting_drop(&b->streams, c);
}

static void refuse_old(struct backends *b, struct waiting *w)
{
    while (w->first && now_us(b) - w->first->since_us > TURN_US)
        refuse_all(waiting_take(w), PROBLEM_AWAY,
                   "the store has not been asked in time; nothing was done; send it again later");
}

/* They were let in before nothing could be changed any more, and nobody is left to be asked. */
static void refuse_changes(struct waiting *w)
{
    while (w->first)
        refuse_all(waiting_take(w), PROBLEM_NOT_ALLOWED, ROUTE_READ_ONLY);
}

/* ---- asking ---- */

/* Its lines stay in the message alone. */
static bool put_lines(struct backend_process *p, struct connection *c)
{
    struct stream *s = &c->stream;
    struct request *r = &c->request;
    int n;
    connection_fill(c);
    size_t len = stream_next_len(s, r, &n);
    bool fits = exchange_put_question(&p->out.bytes, &(struct question){
        .route = (uint32_t)c->route,
        .query = r->query,
        .who = c->visit.guest.name,
        .role = c->visit.guest.role,
        .body = r->body.data,
        .body_len = (uint32_t)len,
        .line = (uint32_t)s->answered + 1,
    });
    stream_ask(s, r);
    return fits;
}

static const char *key_of(const struct connection *c)
{
    const char *const *headers = c->request.headers;
    if (c->request.method != HTTP_GET && c->request.method != HTTP_HEAD)
        return headers[REQUEST_IDEMPOTENCY_KEY];
    return *c->follow.after ? c->follow.after : headers[REQUEST_LAST_EVENT_ID];
}

static bool put_question(struct backend_process *p, struct connection *c)
{
    const struct request *r = &c->request;
    if (c->stream.is_on)
        return put_lines(p, c);
    return exchange_put_question(&p->out.bytes, &(struct question){
        .route = (uint32_t)c->route,
        .query = r->query,
        .key = key_of(c),
        .accept = r->headers[REQUEST_ACCEPT],
        .who = c->visit.guest.name,
        .role = c->visit.guest.role,
        .body = r->body.data ? r->body.data : "",
        .body_len = (uint32_t)r->body.len,
    });
}

static bool goes_with(const struct backend_process *p, const struct connection *c)
{
    if (!p->nasked)
        return true;
    return p->nasked < EXCHANGE_MOST && p->out.bytes.len < TOGETHER && route_table[c->route].takes_many &&
           c->route == p->asked[0]->route;
}

static void is_asked(struct backend_process *p)
{
    struct backends *b = p->all;
    p->asked_us = now_us(b);
    p->answers_by_us = p->asked_us + b->o.settings->connect_timeout_us +
                       b->o.settings->statement_timeout_us + SLACK_US;
    agenda_set(b->o.agenda, &p->alarm, p->answers_by_us);
}

/* Nobody's connection waits for the answer. */
static void ask_tokens(struct backend_process *p)
{
    static const struct question q = { .query = "", .who = "", .role = ROLE_OPERATE, .body = "" };
    struct question own = q;
    own.route = (uint32_t)routes;
    bool fits = exchange_begin(&p->out.bytes) && exchange_put_question(&p->out.bytes, &own) &&
                exchange_end(&p->out.bytes, 0);
    if (!fits) {
        outgoing_free(&p->out);
        return;
    }
    p->asked[p->nasked++] = NULL;
    is_asked(p);
}

static void ask(struct backend_process *p, struct waiting *w)
{
    bool fits = exchange_begin(&p->out.bytes);
    while (fits && w->first && goes_with(p, w->first)) {
        struct connection *c = waiting_take(w);
        p->asked[p->nasked++] = c;
        p->route = c->route;
        fits = put_question(p, c);
    }
    if (!fits || !exchange_end(&p->out.bytes, 0)) {
        outgoing_free(&p->out);
        refuse_asked(p, WAS_NOT_ASKED);
        return;
    }
    is_asked(p);
}

static void write_out(struct backend_process *p)
{
    size_t written;
    enum outgoing_rc rc = outgoing_write(&p->out, p->sock, &written);
    if (rc == OUTGOING_GONE) {
        give_up(p);
        return;
    }
    uint32_t wants = rc == OUTGOING_DONE ? EPOLLIN : EPOLLIN | EPOLLOUT;
    if (wants != p->wants)
        watch(p, EPOLL_CTL_MOD, wants);
}

/* ---- answers ---- */

/* To all who share it, and kept for those who come. */
static void answer_shared(struct backend_process *p, struct connection *c, const struct answer *answer)
{
    char etag[SHARING_ETAG];
    struct backends *b = p->all;
    struct sharing_question q = question_of(c);
    struct answer same = *answer;
    sharing_etag(answer->body, answer->body_len, etag);
    if (c->shares_since_us)         /* else nobody gets it beside this one */
        same.shared = shared_body_new(answer->body, answer->body_len);
    if (same.shared && c->changes == b->changes)
        sharing_keep(&b->sharing, &q, &same, etag, p->asked_us);
    for (struct connection *next; c; c = next) {
        next = sharers_take(c);
        answer_tagged(c, &same, etag, now_us(b) - p->asked_us);
        connection_turn(c, false, false);
    }
    shared_body_drop(same.shared);
}

static void answer_all(struct backend_process *p, struct connection *c, const struct answer *answer)
{
    if (answer->status == HTTP_STATUS_OK && route_table[c->route].is_shared) {
        answer_shared(p, c, answer);
        return;
    }
    for (struct connection *next; c; c = next) {
        next = sharers_take(c);
        connection_answer(c, answer, "");
        connection_turn(c, false, false);
    }
}

/* What was refused has changed nothing. */
static bool was_done(const struct answer *answer)
{
    return answer->status >= HTTP_STATUS_OK && answer->status < HTTP_STATUS_MULTIPLE_CHOICES;
}

/* False: there are more answers than questions, or they cannot be read. */
static bool deliver(struct backend_process *p, struct exchange message)
{
    struct answer answer;
    while (p->nanswered < p->nasked && exchange_next_answer(&message, &answer)) {
        struct connection *c = p->asked[p->nanswered++];
        if (ends_shared(p) && was_done(&answer))
            note_change(p->all);
        if (p->asks_tokens)
            p->all->o.tokens_came(p->all->o.ctx, &answer, p->asked_us);
        if (c)
            answer_all(p, c, &answer);
    }
    return p->nanswered == p->nasked && !message.len && outgoing_is_empty(&p->out);
}

static void answers_came(struct backend_process *p)
{
    struct exchange message;
    bool is_bad, is_good = true;
    if (exchange_whole(&p->in, &message, &is_bad)) {
        is_good = deliver(p, message);
        exchange_take(&p->in, &message);
        if (is_good) {
            p->nasked = p->nanswered = 0;
            agenda_unset(p->all->o.agenda, &p->alarm);
            if (p->asks_tokens)
                agenda_set(p->all->o.agenda, &p->alarm, p->asked_us + TOKENS_US);
        }
    }
    if (is_bad || !is_good) {
        log_error(p->all->o.log, "a process that asks the store has sent what cannot be read; it is ended");
        give_up(p);
    }
}

static void read_in(struct backend_process *p)
{
    char *to = bytes_reserve(&p->in, PIECE);
    ssize_t n = to ? recv(p->sock, to, PIECE, MSG_DONTWAIT) : -1;
    if (!to || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        give_up(p);
        return;
    }
    if (n > 0) {
        p->in.len += (size_t)n;
        answers_came(p);
    }
}

/* ---- a turn ---- */

void backends_event(struct backends *b, void *pointer, uint32_t events)
{
    struct backend_process *p = pointer;
    (void)b;
    if (p->sock >= 0 && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        read_in(p);
    if (p->sock >= 0 && events & EPOLLOUT)
        write_out(p);
}

/* It ends by itself when nobody asks it any more. */
static void let_go(struct backend_process *p)
{
    close_socket(p);
    agenda_unset(p->all->o.agenda, &p->alarm);
    p->began_us = now_us(p->all) - RESTART_US; /* another one may be started at once */
}

static void look_after(struct backend_process *p)
{
    struct backends *b = p->all;
    if (p->is_old && p->sock >= 0 && !p->nasked)
        let_go(p);
    if (p->sock < 0 && !p->pid && is_needed(p) && now_us(b) - p->began_us >= RESTART_US) {
        start(p);
    } else if (p->nasked && now_us(b) >= p->answers_by_us) {
        log_error(b->o.log, "a process that asks the store has not answered in time; it is ended");
        give_up(p);
    }
}

static bool is_wanted(const struct backend_process *p)
{
    if (p->asks_tokens)
        return !p->asked_us || now_us(p->all) - p->asked_us >= TOKENS_US;
    if (p->writes)
        return p->all->writes.first || p->all->streams.first;
    return p->all->reads.first;
}

/* Whether one was asked. */
static bool ask_all(struct backends *b)
{
    bool was_asked = false;
    for (int i = 0; i < BACKENDS; i++) {
        struct backend_process *p = &b->all[i];
        if (p->sock < 0 || p->nasked || !is_wanted(p))
            continue;
        if (p->asks_tokens)
            ask_tokens(p);
        else
            ask(p, next_of(p));
        write_out(p);
        was_asked = true;
    }
    return was_asked;
}

void backends_turn(struct backends *b)
{
    refuse_old(b, &b->reads);
    refuse_old(b, &b->writes);
    refuse_old(b, &b->streams);
    if (b->o.settings->http_read_only) {
        refuse_changes(&b->writes);
        refuse_changes(&b->streams);
    }
    for (int i = 0; i < BACKENDS; i++)
        look_after(&b->all[i]);
    /* what was refused may have made room for what came behind it */
    for (int i = 0; i < BACKENDS && ask_all(b); i++)
        ;
}
