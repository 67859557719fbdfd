/* connection.h - one client: what it sends is read as requests, one after the other, and answered.
 * Nothing waits for a client here; each state has a time that it may last. */
#ifndef PRESCIENT_HTTP_CONNECTION_H
#define PRESCIENT_HTTP_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/agenda.h"
#include "../base/bytes.h"
#include "../base/clock.h"
#include "exchange.h"
#include "follow.h"
#include "gate.h"
#include "outgoing.h"
#include "request.h"
#include "stream.h"

enum connection_state {
    CONNECTION_READS,   /* a request, or the next one */
    CONNECTION_HELD,    /* its request is not judged yet, and nothing more is read */
    CONNECTION_WAITS,   /* its request is asked elsewhere */
    CONNECTION_WRITES,  /* the answer */
    CONNECTION_DRAINS,  /* all is written, and it does not go on: until the client has read it */
    CONNECTION_OVER,    /* to be freed */
};

struct connection;

/* What a server gives its connections. */
struct connection_host {
    const struct clock *clock;
    struct agenda *agenda;
    int epoll;
    /* The head of a request has come. Sets `body_max`, and begins its stream if its body is lines.
     * False: it has been answered, or is held (connection_hold). */
    bool (*take_head)(void *ctx, struct connection *c);
    /* All of a request has come, or some lines of a stream. It has been answered when this returns,
     * waits (connection_wait) or is held. */
    void (*take_request)(void *ctx, struct connection *c);
    /* An answer with that status is on its way: once a request, when that of a stream or a feed
     * begins. */
    void (*answered)(void *ctx, const struct connection *c, int status);
    /* Whether this client may wait for events beside those who do. */
    bool (*may_follow)(void *ctx, const struct connection *c);
    bool is_ending;                 /* it closes each connection behind its answer */
    void *ctx;
};

struct connection {
    const struct connection_host *host;
    int fd;
    enum connection_state state;
    struct request request;
    struct bytes in;                /* read, and not part of a request yet */
    struct outgoing out;
    bool closes;                    /* behind the answer */
    bool has_spoken;                /* something of it has come */
    bool is_at_end;                 /* the client sends no more */
    uint32_t wants;                 /* EPOLLIN, EPOLLOUT: as epoll knows it */
    struct alarm alarm;             /* when the state has lasted long enough */
    uint64_t progress;              /* bytes of the body or of the answer that had gone by then */
    size_t body_max;                /* of its request */
    struct stream stream;           /* it is one */
    int64_t asked_us;               /* when the head of its request had come; 0: it has not */
    struct follow follow;           /* it waits for what comes */
    /* the server's */
    uint64_t peer;                  /* slow_who() */
    int route;                      /* of the request; -1: none */
    bool is_of_anyone;              /* it may be asked by who has no token */
    int64_t judged_us;              /* when it was found that who asks may do so */
    struct gate_visit visit;        /* who asks, once that is judged */
    int64_t since_us;               /* when it was opened, was answered last, or began to wait */
    struct connection *before, *after;              /* in its list */
    struct connection *next_waiting;                /* behind it in a queue of questions */
    /* others who get the answer to its question, too: they have asked the same (waiting.h) */
    struct connection *sharers;
    int64_t shares_since_us;        /* it takes answers that were asked for by then; 0: none */
    uint64_t changes;               /* how many there had been when it asked */
};

/* Takes over `fd`. NULL: there is no memory, or nothing to watch it with. */
struct connection *connection_new(const struct connection_host *host, int fd);
void connection_free(struct connection *c);

/* Reads, judges and writes what it can without waiting. `is_gone`: the client has closed it both
 * ways, or is away. */
void connection_turn(struct connection *c, bool readable, bool is_gone);
/* Its alarm has rung. */
void connection_is_late(struct connection *c);
/* The host begins to end. What the client has sent is read; who is between two requests is let go,
 * and who has just come has a moment to ask: it was accepted, so nobody else would answer. */
void connection_host_ends(struct connection *c);

void connection_wait(struct connection *c);

/* A stream that waits is asked about now: reads what the client has sent by now for that. */
void connection_fill(struct connection *c);

/* The host is asked about its request once more, after that time at the latest, or when the owner
 * calls connection_go_on. */
void connection_hold(struct connection *c, int64_t in_us);
void connection_go_on(struct connection *c);

/* The answer to its request; goes on with what the client has sent behind it. `headers`: further
 * lines, or "". Of a stream, CONTENT_NDJSON has the answers to the lines that were asked about; any
 * other answer ends it. What there is nothing to tell of, and a feed, is asked again. */
void connection_answer(struct connection *c, const struct answer *answer, const char *headers);
void connection_refuse(struct connection *c, enum problem_type type, const char *headers, const char *fmt,
                       ...) __attribute__((format(printf, 4, 5)));

/* It is between two requests: nobody loses anything when it is closed. */
bool connection_is_idle(const struct connection *c);
/* No request of it has come, and all answers are on their way. */
bool connection_may_go(const struct connection *c);

#endif
