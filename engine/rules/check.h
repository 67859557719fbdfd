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
/* bytes of an entity name, entity key, job name, concurrency key or tenant */
#define CHECK_NAME_MAX 1024

/* The texts of a check, which `read_page` has as columns of the same names. Only the payload may be
 * missing (NULL). */
#define CHECK_TEXTS(X) X(entity_name) X(entity_key) X(job_exec) X(payload)

struct check {                      /* the strings end with NUL and live as long as their rows */
    int64_t id;
    int64_t first_check_at, next_check_at;
    /* First deferral of this check number; 0: none. Within the full slot, behind its beginning: it
     * is not looked at before, and was filed there as it comes up later in it (phase.h). */
    int64_t deferred_at;
    int64_t put_off_at;             /* the slot at which it was put off without a run; 0: it was not */
    int32_t bucket, priority;
    int32_t check_count, failure_count;
#define CHECK_TEXT(name) const char *name;
    CHECK_TEXTS(CHECK_TEXT)
#undef CHECK_TEXT
    /* part of its idempotency key; NULL: first_check_at and id stand for it */
    const char *origin;
    const char *terms;              /* what is unusual about it (terms.h); NULL: nothing */
    /* checks that share it are not run at the same moment; NULL: it shares none */
    const char *concurrency_key;
    const char *tenant;             /* whose it is; NULL: its entity stands for it */
    /* an open transaction has asked for it again: a job would not see its writes yet */
    bool kept;
    /* its origin has an end of line: what stands behind it cannot be told from what follows */
    bool is_garbled;
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
/* The origin of the check that the answer to this one declares, in this place among its effects. */
void check_origin_of_effect(const struct check *c, int place, char out[IDEMPOTENCY_KEY_SIZE]);
/* The origin of an event that it emits; `is_deferral`: the answer was a deferral. */
struct emission { const char *event; int place; bool is_deferral; };
void check_origin_of_event(const struct check *c, const struct emission *e, char out[IDEMPOTENCY_KEY_SIZE]);

/* Who hears an event: a delivery to its job is filed. */
struct hearer { const char *listener, *job; int32_t bucket; };

enum effect_kind { EFFECT_EMIT, EFFECT_ENQUEUE, EFFECT_RESOLVE };

struct effect {
    enum effect_kind kind;
    const char *event;                              /* emit: its name */
    /* enqueue, resolve (job NULL: all); emit: those of the check itself */
    const char *entity_name, *entity_key, *job;
    const char *json;                               /* emit, enqueue; NULL: none */
    const char *conflict;                           /* enqueue: "keep", "earlier", "replace" */
    int64_t at;                                     /* enqueue */
    int32_t priority;                               /* enqueue */
    const char *concurrency_key;                    /* enqueue; NULL: none */
    const char *tenant;                             /* enqueue; NULL: that of the check (effect.h) */
    /* Of an event that is heard; each of them has a delivery. */
    const struct hearer *hearers;
    int nhearers;                                   /* 0: nobody hears it */
    const char *origin;                             /* of the event */
    const char *terms;                              /* of its deliveries, but for `listener` and `at` */
};

struct listener_settings;

/* The check is a listener's digest (digest.h), which the settle makes when it starts it anew. */
struct digest {
    const struct listener_settings *listener;
    /* out: false: no delivery is filed and nothing is left to read. Until it is known: true */
    bool files;
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
    /* An occurrence of a schedule is over: the check starts anew, with a new id and first_at as its
     * first_check_at. If it `ends`, by a guard or failures, it leaves a row of history, else a row
     * of the run log. */
    bool renews;
    enum outcome outcome;
    /* moves and renewals only; the statement clamps it to the first slot that has not begun */
    int64_t next_at;
    /* moves to its next attempt, or try for a place of its key, within the slot that runs */
    bool is_attempt;
    int64_t first_at;               /* renewals only: the nominal slot of the next occurrence */
    /* moves: what the row holds from now on; ends: with this run counted */
    int32_t check_count, failure_count;
    int64_t deferred_at;            /* moves; 0: none */
    int64_t put_off_at;             /* moves; 0: none */
    bool ran;                       /* false: put off without a run */
    int64_t run_at_us;      /* when the run began (virtual time in a replay), or was skipped; 0: neither */
    int64_t run_us;                 /* how long it took */
    const char *note;               /* error or output, valid UTF-8; NULL: none */
    const struct effect *effects;   /* in the order they were declared */
    int neffects;
    struct digest *digest;          /* only of what is renewed; NULL: it is none */
    /* out */
    enum settle_state state;
};

/* Of one that moves or is renewed. */
bool settlement_leaves_run_row(const struct settlement *s, enum keep_runs keep);

/* Whether the occurrence that is over had a payload of its own (terms.h): the check gets that of
 * its schedule. One that is only moved, to its first time or behind a pause, still has it. */
bool settlement_gives_back_payload(const struct settlement *s);

#endif
