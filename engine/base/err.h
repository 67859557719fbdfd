/* err.h - how a failure is told: a negative code to act on and words to show. The words are filled
 * in where the failure is known and gain context on the way up. A function logs or returns, never
 * both. */
#ifndef PRESCIENT_ERR_H
#define PRESCIENT_ERR_H

#include <stdbool.h>

enum err_code {
    ERR_OK = 0,
    ERR_GENERAL = -1,   /* the words say it */
    ERR_NOMEM = -2,
    ERR_INPUT = -3,     /* bad input of a user: a flag, a file, a value */
    ERR_SETTINGS = -4,  /* bad or missing settings */
    /* the store is away, cannot take writes, or its answer is unknown: retry later, run nothing */
    ERR_LOST = -5,
    ERR_BUSY = -6,      /* somebody else holds the lock or the lease: try again later */
    ERR_FENCED = -7,    /* the lease is no longer ours: nothing was changed */
    ERR_DATA = -8,      /* the database refuses a value (SQLSTATE class 22 or 23) */
    ERR_SCHEMA = -9,    /* the schema is missing, too old or too new for this program */
    ERR_NOTFOUND = -10,
    ERR_STOPPED = -11,  /* a signal asked us to stop */
    ERR_CHANGED = -12,  /* the store is not what it was when this process began: start it again */
};

struct err {
    int code;
    char sqlstate[6];   /* "" when the failure did not come from a database */
    bool refused;       /* with ERR_LOST: the store is there, and did not take what was to be written */
    bool damaged;       /* with ERR_LOST: the store is there, and what it holds cannot be read */
    /* with ERR_LOST: a store that was connected to gave no answer in the call's time (by our clock
     * or by its own); it may be away, or only slow */
    bool late;
    bool outgrown;      /* with ERR_SCHEMA: it serves later programs only, which no waiting heals */
    /* with ERR_LOST: another transaction was in the way, which is over by now: the next try is
     * likely to pass */
    bool collided;
    char text[2048];
};

/* Sets the words and returns `code`, so that a failure is one line: return err_set(err, ERR_INPUT,
 * "..."). `err` may be NULL. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts context in front of the words that are there already: "slot 9: connection refused". Returns
 * `code`. */
int err_wrap(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same with ": " and the text of errno behind. Returns `code`. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Takes line ends and tabs out of words that another program has chosen, libpq, say. */
void err_one_line(struct err *err);

/* Makes one that says nothing, of memory that held anything: much cheaper than `= { 0 }`, which
 * clears all the room for words. */
void err_clear(struct err *err);

#endif
