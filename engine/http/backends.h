/* backends.h - the processes that ask the store, as the front sees them: one that writes, some that
 * read, and one that reads the tokens each second, each with at most one message under way. One
 * that ends or does not answer is replaced; who waited for it is told that its answer is not
 * known. */
#ifndef PRESCIENT_HTTP_BACKENDS_H
#define PRESCIENT_HTTP_BACKENDS_H

#include <stdbool.h>
#include <sys/types.h>
#include "../base/agenda.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "sharing.h"
#include "waiting.h"

enum { BACKENDS_READ = 2, BACKENDS = BACKENDS_READ + 2 };

struct backends_options {
    const struct settings *settings;
    struct log *log;
    const struct clock *clock;
    struct agenda *agenda;
    int epoll;
    /* whose rights they need on PostgreSQL: the one that writes, those that read */
    const char *role, *reader_role;
    /* The process of one begins: closes what is the front's alone. */
    void (*in_child)(void *ctx);
    /* What has become of the question for the tokens that was asked at that time. */
    void (*tokens_came)(void *ctx, const struct answer *answer, int64_t asked_us);
    void *ctx;
};

struct backend_process {
    struct backends *all;
    pid_t pid;                      /* 0: it does not run */
    int sock;
    bool writes, asks_tokens;       /* neither: it reads */
    bool is_old;                    /* it has the settings of before */
    bool streamed;                  /* what it was asked last was lines of a stream */
    struct bytes in;
    struct outgoing out;
    uint32_t wants;                 /* EPOLLIN, EPOLLOUT: as epoll knows it */
    /* whose questions are under way, in their order; NULL: the client has gone */
    struct connection *asked[EXCHANGE_MOST];
    int nasked, nanswered;
    int route;                      /* of all of them */
    int64_t began_us;
    int64_t asked_us, answers_by_us;
    struct alarm alarm;             /* it is started again, or has not answered */
};

struct backends {
    struct backends_options o;
    struct backend_process all[BACKENDS];
    struct waiting reads, writes, streams;      /* questions that nobody has been asked yet */
    struct sharing sharing;
    uint64_t changes;               /* that readers are to see at once */
};

void backends_init(struct backends *b, const struct backends_options *options);
void backends_start(struct backends *b);
/* Those who have the settings of before are replaced, each when it has answered. */
void backends_renew(struct backends *b, const struct settings *settings);
/* Closes them: they end by themselves, or are killed half a second later. */
void backends_end(struct backends *b);

/* The request of the connection is answered by an answer that is kept, or waits from here on: for
 * its own answer, or for that of another one that has asked the same. */
void backends_ask(struct backends *b, struct connection *c);
/* It is not interested any more. */
void backends_forget(struct backends *b, const struct connection *c);

/* Whether epoll's pointer is one of them. */
bool backends_have(const struct backends *b, const void *pointer);
void backends_event(struct backends *b, void *pointer, uint32_t events);
/* Gives out what waits, starts what is due, ends what is late: each turn of the loop. */
void backends_turn(struct backends *b);
/* A child has ended. */
void backends_reap(struct backends *b);

#endif
