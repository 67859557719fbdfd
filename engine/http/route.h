/* route.h - what can be asked: a row each, with what answers it. Keys of checks stand in the query
 * or in a body, never in a path, so a path is compared as it was sent. */
#ifndef PRESCIENT_HTTP_ROUTE_H
#define PRESCIENT_HTTP_ROUTE_H

#include <http_parser.h>
#include <stdbool.h>
#include <stddef.h>
#include "desk.h"
#include "exchange.h"
#include "token.h"

struct connection;
struct front;

struct route {
    enum http_method method;        /* one of GET answers HEAD, too */
    const char *path;
    enum access access;             /* a row that says nothing is for `operate` alone */
    bool is_of_pages;               /* it stands for all of page.h */
    /* One backend answers all that change something, so that what comes in at once is written at
     * once; the others are for what only reads. */
    bool writes;
    /* What it has changed is to be seen at once: the answers that readers share end with it. Checks
     * that are filed end none: they come by the thousand a second, and each would make every reader
     * ask the store anew. Who has to see what was just filed does not say max-age. */
    bool ends_shared;
    /* A body that only tries it (dry_run.h) changes nothing, and is answered by those that read. */
    bool may_be_dry;
    bool takes_many;                /* `answer` gets up to EXCHANGE_MOST questions, else one */
    /* Its body is lines, some of which are a question each (stream.h). */
    bool streams;
    /* All that is asked stands in its body: a `uniqid` in the query is not passed over. */
    bool takes_no_query;
    bool needs_no_store;            /* it goes on while the store is away, for those known by then */
    const char *content_type;       /* that its body must have; NULL: it has no body */
    size_t body_max;                /* bytes */
    /* Its answers have a tag, and are shared by readers who say so (sharing.h). */
    bool is_shared;
    /* The front puts what it has counted into the body of the question, and answers by itself where
     * the backends do not in time. */
    bool has_counts;
    /* Answers each of `n` questions, whatever befalls. The bodies of answers live in the arena of
     * the desk. NULL: the front does it (`at_front`), and asks no store. */
    void (*answer)(struct desk *desk, const struct question *questions, int n, struct answer *answers);
    void (*at_front)(struct front *front, struct connection *c);
};

/* What is said of a row that writes, where http_read_only is set. */
#define ROUTE_READ_ONLY "nothing can be changed through this server (http_read_only)"

extern const struct route route_table[];
extern const int routes;

/* The row of an index in a question: one of the table, or behind it, as number `routes`, what the
 * front itself asks, the list of tokens. NULL: there is none. */
const struct route *route_at(uint32_t index);
/* The index of the row that answers, or -1: `is_path` says whether the path is known with another
 * method. */
int route_find(enum http_method method, const char *path, bool *is_path);
/* Of those with the same method and path, the one for such a body. `first`: what route_find() has
 * found. -1: there is none. */
int route_of_type(int first, const char *content_type);

/* "GET, HEAD": the methods of a path, for the header Allow. */
enum { ROUTE_ALLOW = 64 };
const char *route_allow(const char *path, char out[ROUTE_ALLOW]);

#endif
