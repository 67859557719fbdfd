/* stream.h - a request whose body is lines, which are answered while it comes, up to a thousand at
 * a time: what has come of it, and what is to be done next. Nothing of the body is read while lines
 * are asked about, or while the client has not read the answers to them; so what one holds here is
 * bounded, and what it sends waits in its socket. Pure. */
#ifndef PRESCIENT_HTTP_STREAM_H
#define PRESCIENT_HTTP_STREAM_H

#include <stdbool.h>
#include "lines.h"
#include "request.h"

enum {
    STREAM_LINES_MAX = 100 * 1000,
    STREAM_LINE_MAX = 64 * 1024,        /* bytes of a line, without its end */
    /* Of what is asked about together: lines, and bytes after which no more are read for it. */
    STREAM_TOGETHER = 1000,
    STREAM_TOGETHER_BYTES = 1024 * 1024,
};
/* With CR and LF. */
#define STREAM_BODY_MAX ((size_t)STREAM_LINES_MAX * (STREAM_LINE_MAX + 2))

struct stream {                     /* all zero: the request is none */
    bool is_on;
    bool has_begun;                 /* to be answered: its status and headers are on their way */
    bool is_over;                   /* nothing follows what is on its way */
    struct lines lines;             /* of the body of the request */
    int answered;                   /* lines of the body */
    int asked;                      /* that are asked about now */
};

void stream_begin(struct stream *s);

/* More of the body has come. False: there is no memory for it. */
bool stream_look(struct stream *s, struct request *r);
/* Whether more lines may be read for what is asked next. */
bool stream_has_room(const struct stream *s, const struct request *r);
/* The bytes of the lines that are asked about next; stream_ask() takes them from the body. */
size_t stream_next_len(const struct stream *s, const struct request *r, int *n);
void stream_ask(struct stream *s, struct request *r);
/* What a problem that ends it says beside: how many lines were answered before. Returns 0, or -1
 * when out of memory. */
int stream_tell(json_t *problem, int answered);
/* What was asked about has its answers. */
void stream_answered(struct stream *s);

enum stream_step {
    STREAM_READS,                   /* more of the body has to come */
    STREAM_ASKS,
    STREAM_ENDS,                    /* all of it is answered */
    /* what cannot go on, and ends with a problem */
    STREAM_IS_BAD,                  /* see the request */
    STREAM_IS_CUT,                  /* the client sends no more */
    STREAM_IS_TOO_LONG,
    STREAM_STOPS,                   /* the server ends */
};

/* What is to be done when nothing of it is asked or on its way. */
enum stream_step stream_step(const struct stream *s, const struct request *r, bool is_at_end, bool is_ending);

#endif
