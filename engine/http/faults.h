/* faults.h - what is at fault in an object of JSON that was sent: each member is told, by its place
 * in the body, in one problem. */
#ifndef PRESCIENT_HTTP_FAULTS_H
#define PRESCIENT_HTTP_FAULTS_H

#include "../base/arena.h"
#include "../base/err.h"
#include "problem.h"

enum { FAULTS_MOST = 100 };             /* what else is at fault is not told */

struct faults {
    struct arena *arena;
    const char *pointer;            /* where the object stands in the body: "" or "/12" */
    int64_t now;                    /* says which day it is, where a time is "tomorrow 09:00" */
    json_t *problem;                /* NULL: there are none. The caller's to decref */
    bool is_short;                  /* of memory */
};

bool faults_are_enough(const struct faults *f);
/* One more; `member` is its name, "" the object itself. */
void faults_add(struct faults *f, const char *member, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* "NAME: words" of a function that has failed; 0: it has not. */
void faults_check(struct faults *f, const char *member, int rc, const struct err *err);
/* A member that is not known, with the name of `n` that was probably meant; they stand `size` bytes
 * apart, each the first member of a struct. */
void faults_refuse_member(struct faults *f, const char *name, const void *known, int n, size_t size);

/* Whether entity, key and job are too long together, where none of them is by itself: told of the
 * longest. */
void faults_check_row(struct faults *f, const char *entity, const char *key, const char *job);

/* The text of a member; NULL: it is none, and that is told. */
const char *faults_text(struct faults *f, const char *name, const json_t *value);

#endif
