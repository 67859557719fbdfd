/* asked_check.h - a check that is asked for, as an object of JSON: its members are read, and each
 * that is at fault is named. No I/O, no clock. */
#ifndef PRESCIENT_HTTP_ASKED_CHECK_H
#define PRESCIENT_HTTP_ASKED_CHECK_H

#include <jansson.h>
#include "../base/arena.h"
#include "../store/store_post.h"
#include "problem.h"

struct asked_check {
    struct post_item item;          /* its texts live in the arena, or in the object */
    enum problem_type type;         /* of `problem` */
    bool has_bad_job;               /* its name is told in `problem` */
    json_t *problem;                /* NULL: it may be filed. The caller's to decref */
};

/* Reads {"entity", "key", "job", "check_at" or "in", "payload", "uniqid", "on_conflict",
 * "priority", "within", "concurrency_key", "tenant"}. `header` is Idempotency-Key, which stands for
 * uniqid, or NULL. `pointer` is where the object stands in the body: "" or "/12". `now` says which
 * day it is. Returns 0, or ERR_NOMEM. */
int asked_check_read(struct asked_check *out, const json_t *object, const char *header, const char *pointer,
                     int64_t now, struct arena *a);

#endif
