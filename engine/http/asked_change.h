/* asked_change.h - a change that is asked for, as an object of JSON: its members are read, and each
 * that is at fault is named. No I/O, no clock. */
#ifndef PRESCIENT_HTTP_ASKED_CHANGE_H
#define PRESCIENT_HTTP_ASKED_CHANGE_H

#include <jansson.h>
#include "../base/arena.h"
#include "../view/schedule_rule.h"
#include "asked_time.h"
#include "query.h"

enum change_kind {
    CHANGE_RESOLVE, CHANGE_CANCEL, CHANGE_RESCHEDULE, CHANGE_RUN_NOW, CHANGE_RETRY, CHANGE_PAUSE,
    CHANGE_RESUME, CHANGE_SCHEDULE, CHANGE_DELIVERY, CHANGE_KINDS
};

enum { CHANGE_MOST = 1000 };            /* checks of one call */

struct asked_change {
    enum change_kind kind;
    const char *reason;             /* NULL: none */
    /* one check, or what is paused; or the check of a schedule */
    const char *entity, *key, *job, *tenant, *schedule;
    bool has_time;
    struct asked_time time;
    /* or all that a list has: what its query would say */
    bool is_select, is_dry;
    struct query select;
    const char *after;              /* the cursor, as sent */
    int64_t limit;
    bool is_reslotted;
    struct schedule_rule rule;
    const char *delivery;           /* LISTENER/EVENT */
    int is_active;                  /* of a schedule; -1: not given */
    json_t *problem;                /* NULL: it may be done. The caller's to decref */
};

/* "resolve", "run-now", ...: as the store and the audit have it; of a schedule or delivery NULL. */
const char *change_word(enum change_kind kind);

/* Its texts live in the arena, or in the object. Returns 0, or ERR_NOMEM. */
int asked_change_read(struct asked_change *out, enum change_kind kind, const json_t *object,
                      int64_t now, struct arena *a);

#endif
