/* request.h - one HTTP request as it comes in, in pieces of any size. http_parser reads its head,
 * laxly: Debian builds it without its strict checks. Here are the limits, and what is refused
 * though some parsers let it pass: a line that does not end with CR LF, a header that matters and
 * stands twice, a length beside chunks, a zero byte. So nothing in front of this server reads
 * another request out of the same bytes. No I/O. */
#ifndef PRESCIENT_HTTP_REQUEST_H
#define PRESCIENT_HTTP_REQUEST_H

#include <http_parser.h>
#include <stdbool.h>
#include <stdint.h>
#include "../base/bytes.h"
#include "chunks.h"
#include "problem.h"

/* Bytes of a head, with its first line. */
enum { REQUEST_HEAD_MAX = 16 * 1024 };

/* Headers that are read; all others are passed over. */
#define REQUEST_HEADERS(row) \
    row(ACCEPT, "accept") \
    row(AUTHORIZATION, "authorization") \
    row(CACHE_CONTROL, "cache-control") \
    row(CONTENT_ENCODING, "content-encoding") \
    row(CONTENT_LENGTH, "content-length") \
    row(CONTENT_TYPE, "content-type") \
    row(COOKIE, "cookie") \
    row(CSRF_TOKEN, "x-csrf-token") \
    row(EXPECT, "expect") \
    row(HOST, "host") \
    row(IDEMPOTENCY_KEY, "idempotency-key") \
    row(IF_NONE_MATCH, "if-none-match") \
    row(LAST_EVENT_ID, "last-event-id") \
    row(ORIGIN, "origin") \
    row(SEC_FETCH_SITE, "sec-fetch-site") \
    row(TRANSFER_ENCODING, "transfer-encoding")

#define REQUEST_HEADER_ID(id, name) REQUEST_##id,
enum request_header { REQUEST_HEADERS(REQUEST_HEADER_ID) REQUEST_HEADERS_READ };
#undef REQUEST_HEADER_ID

enum request_state {
    REQUEST_HEAD,       /* its head is not complete */
    REQUEST_HEAD_READ,  /* it is: nothing more is read until request_go_on() */
    REQUEST_BODY,       /* what has come of the body is in `body` */
    REQUEST_COMPLETE,
    REQUEST_BAD,        /* see `problem`; nothing that follows can be understood */
};

struct request {
    enum request_state state;
    /* from REQUEST_HEAD_READ on */
    enum http_method method;
    const char *path, *query;       /* as sent, in `head`; of "/v1/checks?a=b" "/v1/checks" and "a=b" */
    const char *headers[REQUEST_HEADERS_READ];      /* values, in `head`; NULL: it is not there */
    bool has_body;
    uint64_t body_length;           /* as announced; 0: not, it comes in chunks */
    bool keeps_alive;               /* the client may send another one on this connection */
    /* what has come of the body and was not taken; the owner bounds it by what it feeds */
    struct bytes body;
    uint64_t body_come;             /* bytes of the body so far */
    /* of REQUEST_BAD */
    enum problem_type problem;
    char detail[256];

    /* private */
    http_parser parser;
    struct bytes head;              /* the target and the values of headers, each with a NUL */
    size_t values[REQUEST_HEADERS_READ];            /* where they begin in `head`; 0: none */
    size_t head_come;
    char name[32];                  /* of the header that is being read; longer ones are not ours */
    size_t name_len;
    int header;                     /* which of ours it is, or -1 */
    bool in_value;
    char last;                      /* byte of the head */
    bool is_begun, has_line;        /* something of a request has come; all of its first line */
    uint64_t tail;                  /* the last eight bytes of that line */
    struct chunks chunks;
};

void request_init(struct request *r);
void request_free(struct request *r);
/* The next request of the same connection. */
void request_renew(struct request *r);

/* Reads some of `len` bytes and returns how many. It stops at the end of a head and of a request;
 * what follows belongs to the next call. */
size_t request_feed(struct request *r, const char *data, size_t len);
/* The client has sent all it sends. True: in the middle of a request. */
bool request_is_cut(const struct request *r);

/* Its path behind `base`; NULL: it does not begin with that. */
const char *request_path_below(const struct request *r, const char *base);

/* From REQUEST_HEAD_READ to its body, or to REQUEST_COMPLETE where it has none. */
void request_go_on(struct request *r);

#endif
