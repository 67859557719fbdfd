/* desk.h - where questions are answered: a store, and how answers are written. Each backend has
 * one. */
#ifndef PRESCIENT_HTTP_DESK_H
#define PRESCIENT_HTTP_DESK_H

#include <jansson.h>
#include "../base/arena.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "../store/store_report.h"
#include "asked_metrics.h"
#include "exchange.h"
#include "known_jobs.h"
#include "problem.h"
#include "query.h"

struct desk {
    const struct settings *settings;
    struct log *log;
    struct store *store;
    struct known_jobs jobs;
    struct measured measured;
    struct arena *arena;            /* of the questions that are answered: reset before the next */
    /* what the store has said asks for a new process, once these answers are given */
    bool is_over;
    /* what was logged last, and when: who asks each second does not fill the log */
    char told[256];
    int64_t told_us;
};

/* The object as the body of an answer. Takes the reference; NULL: there was no memory for it. */
void desk_answer(struct desk *desk, struct answer *answer, int status, json_t *body);
/* The same of a problem. */
void desk_refuse(struct desk *desk, struct answer *answer, enum problem_type type, json_t *problem);
/* Runs a report; the rows live in the arena of the desk. Returns 0 or an ERR_. */
int desk_rows(struct desk *desk, const char *report, const char *const *params, int nparams,
              struct store_rows *out, struct err *err);
/* What the store is like, and what time it is there. Returns 0 or an ERR_. */
int desk_hello(struct desk *desk, struct store_hello *out, struct err *err);
/* Only the time, in seconds. */
int desk_now(struct desk *desk, int64_t *now, struct err *err);
/* Reads the query of a question. False: it is refused, and the answer says why. */
bool desk_query(struct desk *desk, const struct question *question, const char *const *known,
                struct query *out, struct answer *answer);
/* Why `what`, "the body", was not parsed: in the parser's words, as valid UTF-8. NULL: there is no
 * memory. */
const char *desk_parse_fault(struct desk *desk, const char *what, json_error_t *why);
/* The body of a question; the caller's to decref. NULL: it is no JSON, or would take too much
 * memory, and the answer says why. */
json_t *desk_body(struct desk *desk, const struct question *q, struct answer *answer);
/* A call of the store has failed. What the database says of it goes to the log, and not to the
 * client. */
void desk_failed(struct desk *desk, struct answer *answer, const struct err *err);
/* The log is told, the same words once a minute. */
void desk_tell(struct desk *desk, const struct err *err);

#endif
