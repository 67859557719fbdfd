/* problem.h - what goes wrong with a request, as a document of RFC 9457 (application/problem+json).
 * The list is closed: programs decide by `type`, and people read `detail`. */
#ifndef PRESCIENT_PROBLEM_H
#define PRESCIENT_PROBLEM_H

#include <jansson.h>
#include <stdint.h>

/* id, status, type, title */
#define PROBLEMS(row) \
    row(BAD_REQUEST, 400, "bad-request", "The request cannot be understood") \
    row(NO_TOKEN, 401, "no-token", "A token is needed") \
    row(NOT_ALLOWED, 403, "not-allowed", "This is not allowed") \
    row(NOT_FOUND, 404, "not-found", "There is no such thing") \
    row(METHOD, 405, "method-not-allowed", "This can be asked with another method only") \
    row(SLOW, 408, "too-slow", "The request did not come in time") \
    row(CONFLICT, 409, "conflict", "Something else is there already") \
    row(OTHER_HISTORY, 410, "other-history", "The cursor is of another history") \
    row(TOO_LARGE, 413, "too-large", "The body is too large") \
    row(CONTENT_TYPE, 415, "content-type", "The body is of a kind that is not read here") \
    row(FOREIGN_HOST, 421, "foreign-host", "The request is for another host") \
    row(INVALID, 422, "invalid", "A value is wrong") \
    row(TOO_MANY, 429, "too-many", "There are too many requests") \
    row(HEAD_TOO_LARGE, 431, "head-too-large", "The head of the request is too large") \
    row(FAULT, 500, "fault", "This is a fault of prescient") \
    row(AWAY, 503, "away", "The store cannot be asked just now")

#define PROBLEM_ID(id, status, type, title) PROBLEM_##id,
enum problem_type { PROBLEMS(PROBLEM_ID) PROBLEM_TYPES };
#undef PROBLEM_ID

/* What all URIs of `type` begin with. */
#define PROBLEM_BASE "/problems/"

int problem_status(enum problem_type type);
uint16_t problem_retry_s(enum problem_type type);       /* after which it may go well; 0: it will not */
const char *problem_title(enum problem_type type);

/* The document: `detail` says what happened, to what, why, and what to do, in valid UTF-8. The
 * caller's to decref; NULL when out of memory. */
json_t *problem_new(enum problem_type type, const char *detail);
/* One more field that is at fault: where it stands in the body (RFC 6901), and why. Returns 0, or
 * -1 when out of memory. */
int problem_add(json_t *problem, const char *pointer, const char *detail);

/* As the body of an answer, with a line end. Takes the reference, NULL is fine; the caller's to
 * free. NULL when out of memory. */
char *problem_text(json_t *problem);

#endif
