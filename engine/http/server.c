/* server.c - see server.h. epoll, as there may be a thousand clients. */
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../base/hangup.h"
#include "../base/signals.h"

#include "backends.h"
#include "clients.h"
#include "counts.h"
#include "front.h"
#include "front_metrics.h"
#include "judge.h"
#include "route.h"

enum {
    EVENTS = 64,
    CONNECTIONS_MAX = 1024,
    DESCRIPTORS = 64,               /* of this process beside those of connections */
    TURN_MS = 1000,                 /* the longest that the loop waits */
};

/* For so long who asks is not judged again. */
#define JUDGED_US (INT64_C(1) * 1000 * 1000)

struct server {
    struct server_options o;
    int epoll, signals;
    struct agenda agenda;
    struct connection_host host;
    struct judge_rules rules;
    struct front front;
    struct backends backends;
    struct counts *counts;
    struct front_metrics metrics;
    struct clients clients;
    bool has_visitors;              /* somebody wants to be accepted */
    bool is_full;                   /* nobody can be, until a connection is over or can be let go */
    int64_t full_since_us;
    bool is_ending;
    int64_t ends_by_us;
    int stop_signals;
    struct hangup hangup;
    bool wants_renewal; /* SIGHUP came, and nothing was made of it yet */
};

static int64_t now_us(void)
{
    return clock_mono_us(&clock_system);
}

/* ---- connections ---- */

/* Who cannot be accepted waits in the system's queue. */
static void set_full(struct server *s, bool is_full)
{
    struct epoll_event event = { .events = is_full ? 0 : EPOLLIN, .data.ptr = s };
    if (s->is_full != is_full && s->o.listen_fd >= 0)
        epoll_ctl(s->epoll, EPOLL_CTL_MOD, s->o.listen_fd, &event);
    s->is_full = is_full;
    s->full_since_us = now_us();
}

static void free_connection(struct server *s, struct connection *c)
{
    backends_forget(&s->backends, c);
    front_forget(&s->front, c);
    clients_remove(&s->clients, c);
    connection_free(c);
    set_full(s, false);
}

/* Those that are over may have become so while others were looked at. */
static void free_those_over(struct server *s)
{
    for (struct connection *c = s->clients.first, *next; c; c = next) {
        next = c->after;
        if (c->state == CONNECTION_OVER)
            free_connection(s, c);
    }
}

static bool is_short_of(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

/* False: nobody more can be accepted just now. */
static bool accept_one(struct server *s)
{
    bool has_room = s->clients.n < s->clients.most;
    struct connection *idlest = has_room ? NULL : clients_idlest(&s->clients, now_us());
    if (!has_room && !idlest) {
        set_full(s, true);
        return false;
    }
    struct sockaddr_storage peer = { 0 };
    socklen_t len = sizeof peer;
    int fd = accept4(s->o.listen_fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && is_short_of(errno))
        set_full(s, true);
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED;
    if (idlest)
        free_connection(s, idlest);
    struct connection *c = connection_new(&s->host, fd);
    if (!c)
        return false;
    c->peer = slow_who((struct sockaddr *)&peer);
    clients_add(&s->clients, c);
    return true;
}

static void accept_some(struct server *s)
{
    enum { AT_ONCE = 64 };
    for (int i = 0; i < AT_ONCE; i++)
        if (!accept_one(s))
            return;
}

/* ---- requests ---- */

static bool take_head(void *ctx, struct connection *c)
{
    struct server *s = ctx;
    char headers[ROUTE_ALLOW + 16] = "";
    struct verdict_of_head v = judge_head(&s->rules, &c->request);
    int bound = s->o.settings->http_peer_requests;
    c->route = v.route;
    bool is_small = v.row && v.row->access == ACCESS_ANYONE && !v.row->body_max;
    if (!is_small && !c->visit.came_us && !clients_have_share(&s->clients, c, bound)) {
        connection_refuse(c, PROBLEM_TOO_MANY, "", "too many requests of this address are under way; send it "
                          "again later");
        return false;
    }
    if (!front_lets_in(&s->front, c, &v))
        return false;
    if (v.route < 0) {
        if (*v.allow)
            snprintf(headers, sizeof headers, "Allow: %s\r\n", v.allow);
        connection_refuse(c, v.problem, headers, "%s", v.detail);
        return false;
    }
    const struct route *route = &route_table[v.route];
    c->judged_us = now_us();
    c->is_of_anyone = route->access == ACCESS_ANYONE;
    c->body_max = route->body_max;
    if (route->streams)
        stream_begin(&c->stream);
    return true;
}

static void note_answer(void *ctx, const struct connection *c, int status)
{
    struct server *s = ctx;
    counts_add(s->counts, c->route, status, c->asked_us ? now_us() - c->asked_us : 0);
}

static bool may_follow(void *ctx, const struct connection *c)
{
    const struct server *s = ctx;
    return clients_may_follow(&s->clients, c);
}

/* What has taken its time, or comes again and again, is judged again: its token may have been
 * revoked meanwhile, or its name taken away. It is for what it was, whatever its path is now.
 * False: it has been answered, or is held. */
static bool is_still_let_in(struct server *s, struct connection *c)
{
    if (now_us() - c->judged_us < JUDGED_US)
        return true;
    if (c->visit.came_us <= c->judged_us)
        c->visit.came_us = 0;       /* as one that comes now */
    struct verdict_of_head v = { .route = c->route, .row = &route_table[c->route] };
    if (!judge_host(&v, &s->rules, &c->request)) {
        connection_refuse(c, v.problem, "", "%s", v.detail);
        return false;
    }
    if (!front_lets_in(&s->front, c, &v))
        return false;
    c->judged_us = now_us();
    return true;
}

static void take_request(void *ctx, struct connection *c)
{
    struct server *s = ctx;
    const struct route *route = &route_table[c->route];
    c->follow.is_resting = false;
    if (!route->at_front && !is_still_let_in(s, c))
        return;
    if (s->is_ending && !strcmp(route->path, "/readiness"))
        connection_refuse(c, PROBLEM_AWAY, "", "the server is about to end");
    else if (route->at_front)
        route->at_front(&s->front, c);
    else if (route->has_counts)
        front_metrics_ask(&s->metrics, c, now_us());
    else
        backends_ask(&s->backends, c);
}

/* Those who are held may go on, or wait for another list. */
static void tokens_came(void *ctx, const struct answer *answer, int64_t asked_us)
{
    struct server *s = ctx;
    front_take_tokens(&s->front, answer, asked_us);
    for (struct connection *c = s->clients.first; c; c = c->after)
        if (c->state == CONNECTION_HELD && !c->follow.is_resting)
            connection_go_on(c);
}

/* ---- ending ---- */

static void begin_to_end(struct server *s)
{
    enum { STOP_MORE_US = 5 * 1000 * 1000 };
    s->is_ending = s->host.is_ending = true;
    s->ends_by_us = now_us() + s->o.settings->stop_timeout_us;
    supervisor_stops(s->o.supervisor, s->o.settings->stop_timeout_us + STOP_MORE_US);
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, s->o.listen_fd, NULL);
    close(s->o.listen_fd);
    s->o.listen_fd = -1;
    for (struct connection *c = s->clients.first; c; c = c->after)
        if (connection_is_idle(c))
            connection_host_ends(c);
        else if (c->follow.is_feed)
            c->state = CONNECTION_OVER;
        else if (c->state == CONNECTION_HELD && follow_is_on(&c->follow))
            connection_go_on(c);
        else if (c->stream.is_on)
            connection_turn(c, false, false);
}

static void take_stop_signal(struct server *s, int signo)
{
    log_info(s->o.log, "SIG%s: answering what was read, taking nothing new", sigabbrev_np(signo));
    if (!s->is_ending)
        begin_to_end(s);
    s->stop_signals++;
}

/* A terminal that is closed sends more than one, by its shell and by the kernel: they do not hurry
 * what ends. */
static void take_hangup(struct server *s, bool from_kernel)
{
    enum hangup_means means = hangup_came(&s->hangup, from_kernel, s->o.renew != NULL, now_us());
    if (means == HANGUP_RENEWS)
        s->wants_renewal = true;
    else if (means == HANGUP_ENDS && !s->is_ending)
        take_stop_signal(s, SIGHUP);
}

static void take_signals(struct server *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            backends_reap(&s->backends);
            continue;
        }
        if (info.ssi_signo == SIGHUP)
            take_hangup(s, info.ssi_code == SI_KERNEL);
        else
            take_stop_signal(s, (int)info.ssi_signo);
    }
}

static bool is_over(const struct server *s)
{
    return s->is_ending && (!s->clients.first || s->stop_signals > 1 || now_us() >= s->ends_by_us);
}

/* ---- other settings ---- */

static void take_settings(struct server *s, const struct settings *settings)
{
    s->o.settings = settings;
    s->rules = (struct judge_rules){
        .base_path = settings->base_path ? settings->base_path : "",
        .hosts = settings->http_hosts,
        .nhosts = settings->nhttp_hosts,
    };
}

/* A request is for what it was when its head was judged, whatever paths begin with now; those who
 * ask the store are replaced when they have answered what they were asked. */
static void renew(struct server *s)
{
    if (!s->wants_renewal)
        return;
    s->wants_renewal = false;
    if (s->is_ending) {
        log_info(s->o.log, "SIGHUP: it is about to end, and reads no settings");
        return;
    }
    supervisor_reloads(s->o.supervisor, now_us());
    const struct settings *settings = s->o.renew(s->o.ctx);
    if (settings) {
        take_settings(s, settings);
        s->front.settings = settings;
        backends_renew(&s->backends, settings);
    }
    supervisor_ready(s->o.supervisor);
}

/* ---- the loop ---- */

static int wait_ms(const struct server *s)
{
    int64_t next_us = agenda_next_us(&s->agenda);
    if (s->is_ending && s->ends_by_us < next_us)
        next_us = s->ends_by_us;
    int64_t left_us = next_us - now_us();
    if (left_us <= 0)
        return 0;
    return left_us >= TURN_MS * 1000 ? TURN_MS : (int)((left_us + 999) / 1000);
}

static void take_event(struct server *s, const struct epoll_event *event)
{
    uint32_t is = event->events;
    if (event->data.ptr == s)
        s->has_visitors = true;     /* later: a connection that makes room may have an event here, too */
    else if (event->data.ptr == &s->signals)
        take_signals(s);
    else if (backends_have(&s->backends, event->data.ptr))
        backends_event(&s->backends, event->data.ptr, is);
    else
        connection_turn(event->data.ptr, is & (EPOLLIN | EPOLLHUP | EPOLLERR),
                        is & (EPOLLHUP | EPOLLERR | EPOLLRDHUP));
}

static void end_the_late(struct server *s)
{
    int64_t now = now_us();
    for (struct connection *c = s->clients.first; c; c = c->after)
        if (c->alarm.at_us && c->alarm.at_us <= now && c->state == CONNECTION_WAITS)
            front_metrics_late(&s->metrics, c);
        else if (c->alarm.at_us && c->alarm.at_us <= now)
            connection_is_late(c);
    agenda_ring(&s->agenda, now);
}

static void turn(struct server *s)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(s->epoll, events, EVENTS, wait_ms(s));
    for (int i = 0; i < n; i++)
        take_event(s, &events[i]);
    /* some may go by now, or others may have let go of what was short */
    if (s->is_full && now_us() - s->full_since_us >= CLIENTS_FRESH_US)
        set_full(s, false);
    if (s->has_visitors && !s->is_ending)
        accept_some(s);
    s->has_visitors = false;
    if (agenda_next_us(&s->agenda) <= now_us())
        end_the_late(s);
    hangup_look(&s->hangup, now_us());
    renew(s);
    backends_turn(&s->backends);
    free_those_over(s);
    supervisor_turn(s->o.supervisor, now_us());
}

/* ---- begin and end ---- */

static const int heard[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, 0 };

static int watch(struct server *s, int fd, void *pointer, struct err *err)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = pointer };
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? err_sys(err, ERR_GENERAL, "epoll") : 0;
}

/* A process that asks the store has no descriptor of the front but its own socket. */
static void in_child(void *ctx)
{
    struct server *s = ctx;
    close(s->epoll);
    close(s->signals);
    if (s->o.listen_fd >= 0)
        close(s->o.listen_fd);
    for (struct connection *c = s->clients.first; c; c = c->after)
        close(c->fd);
}

/* A descriptor for each client. Where fewer are allowed, fewer are held. */
static int allowed_connections(void)
{
    const rlim_t wanted = CONNECTIONS_MAX + DESCRIPTORS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return CONNECTIONS_MAX;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= wanted)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > 2 * DESCRIPTORS ? (int)(limit.rlim_cur - DESCRIPTORS) : DESCRIPTORS;
}

static void prepare(struct server *s)
{
    const struct settings *settings = s->o.settings;
    s->clients.most = allowed_connections();
    s->host = (struct connection_host){
        .clock = &clock_system, .agenda = &s->agenda,
        .take_head = take_head, .take_request = take_request,
        .may_follow = may_follow, .answered = note_answer, .ctx = s,
    };
    take_settings(s, settings);
    front_init(&s->front, settings, s->o.log, &clock_system, !s->o.is_local);
    backends_init(&s->backends, &(struct backends_options){
        .settings = settings, .log = s->o.log, .clock = &clock_system, .agenda = &s->agenda,
        .role = s->o.role, .reader_role = s->o.reader_role, .in_child = in_child,
        .tokens_came = tokens_came, .ctx = s,
    });
}

static int begin(struct server *s, struct err *err)
{
    s->counts = counts_new();
    if (!s->counts)
        return err_set(err, ERR_NOMEM, "out of memory for the server");
    s->metrics = (struct front_metrics){ s->counts, &s->backends, &s->agenda };
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0)
        return err_sys(err, ERR_GENERAL, "epoll");
    s->host.epoll = s->backends.o.epoll = s->epoll;
    signal(SIGPIPE, SIG_IGN);
    hangup_init(&s->hangup, now_us());
    s->signals = signals_open(heard, err);
    if (s->signals < 0)
        return s->signals;
    int rc = watch(s, s->o.listen_fd, s, err);
    return rc < 0 ? rc : watch(s, s->signals, &s->signals, err);
}

static void end(struct server *s)
{
    while (s->clients.first)
        free_connection(s, s->clients.first);
    backends_end(&s->backends);
    counts_free(s->counts);
    front_free(&s->front);
    if (s->o.listen_fd >= 0)
        close(s->o.listen_fd);
    if (s->signals >= 0)
        close(s->signals);
    if (s->epoll >= 0)
        close(s->epoll);
}

int server_run(const struct server_options *options, struct err *err)
{
    struct server s = { .o = *options, .epoll = -1, .signals = -1 };
    prepare(&s);
    int rc = begin(&s, err);
    if (rc == 0) {
        backends_start(&s.backends);
        supervisor_ready(s.o.supervisor);
        supervisor_turn(s.o.supervisor, now_us());
    }
    while (rc == 0 && !is_over(&s))
        turn(&s);
    end(&s);
    return rc;
}
