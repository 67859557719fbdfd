/* check.h - a check as it is read, and what its run leads to: effects that its job declared, and a
 * settlement. Stores, the engine and its workers share these types. No I/O.
 *
 * All moments and slots are seconds since the Unix epoch, UTC; names ending in _us are
 * microseconds. */
#ifndef PRESCIENT_CHECK_H
#define PRESCIENT_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include "idempotency.h"
#include "outcome.h"

#define CHECK_PAYLOAD_MAX (64 * 1024)   /* bytes */
#define CHECK_NAME_MAX 1024             /* bytes of an entity name, entity key or job name */

/* The texts of a check, which `read_page` has as columns of the same names. Only the payload may be
 * missing (NULL). */
#define CHECK_TEXTS(X) X(entity_name) X(entity_key) X(job_exec) X(payload)

struct check {                      /* the strings end with NUL and live as long as their rows */
    int64_t id;
    int64_t first_check_at, next_check_at;
    int64_t deferred_at;            /* first deferral of this check number; 0: none */
    int64_t put_off_at;             /* the slot at which it was put off without a run; 0: it was not */
    int32_t bucket, priority;
    int32_t check_count, failure_count;
#define CHECK_TEXT(name) const char *name;
    CHECK_TEXTS(CHECK_TEXT)
#undef CHECK_TEXT
    /* part of its idempotency key; NULL: first_check_at and id stand for it */
    const char *origin;
    /* an open transaction has asked for it again: a job would not see its writes yet */
    bool kept;
#define CHECK_TEXT(name) uint32_t name##_len;       /* bytes, without the NUL */
    CHECK_TEXTS(CHECK_TEXT)
#undef CHECK_TEXT
};

/* The checks of one page. The receiver frees them; they are not shared. */
struct check_rows {
    struct check *checks;           /* malloc()ed: check_rows_free frees it, and then the rest by free_impl */
    int n;
    void *impl;                     /* what the strings live in: a PGresult, an arena */
    void (*free_impl)(void *impl);
};
/* frees what it holds and zeroes it; zeroed rows are fine */
void check_rows_free(struct check_rows *rows);

/* What the idempotency key of its run is made of. */
struct idempotency check_identity(const struct check *c);
/* The origin of what the answer to this check declares, in this place among its effects. */
void check_origin_of_effect(const struct check *c, int place, char out[IDEMPOTENCY_KEY_SIZE]);

enum effect_kind { EFFECT_EMIT, EFFECT_ENQUEUE, EFFECT_RESOLVE };

struct effect {
    enum effect_kind kind;
    const char *event;                              /* emit: its name */
    /* enqueue, resolve (job NULL: all); emit: those of the check itself */
    const char *entity_name, *entity_key, *job;
    const char *json;                               /* emit, enqueue; NULL: none */
    const char *conflict;                           /* enqueue: "keep", "earlier", "replace" */
    int64_t at;                                     /* enqueue */
};

enum settle_state {
    SETTLE_TOUCHED,         /* written, with its history or run row */
    SETTLE_UNTOUCHED,       /* not written; send it again with skip_locked to learn why */
    SETTLE_SUPERSEDED,      /* the row is gone or has changed since it was read, and stays as it is */
    /* the row is as read but an application's transaction holds it: try again later */
    SETTLE_LOCKED,
};

struct settlement {
    const struct check *check;      /* as read */
    bool ends;
    enum outcome outcome;
    /* moves only; the statement clamps it to the first slot that has not begun */
    int64_t next_at;
    /* moves: what the row holds from now on; ends: with this run counted */
    int32_t check_count, failure_count;
    int64_t deferred_at;            /* moves; 0: none */
    int64_t put_off_at;             /* moves; 0: none */
    bool ran;                       /* false: put off without a run; leaves no run row */
    int64_t run_at_us;              /* when the run began (virtual time in a replay) */
    int64_t run_us;                 /* how long it took */
    const char *note;               /* error or output, valid UTF-8; NULL: none */
    const struct effect *effects;   /* in the order they were declared */
    int neffects;
    /* out */
    enum settle_state state;
};

#endif
