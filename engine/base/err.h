/* err.h - errors: a negative code to act on and a message to show. The message is written where the
 * failure is known and gains context on the way up. A function logs or returns, never both. */
#ifndef PRESCIENT_ERR_H
#define PRESCIENT_ERR_H

#include <stdbool.h>

enum err_code {
    ERR_OK = 0,
    ERR_GENERAL = -1,   /* anything else */
    ERR_NOMEM = -2,
    ERR_INPUT = -3,     /* bad input of a user: a flag, a file, a value */
    ERR_SETTINGS = -4,  /* bad or missing settings */
    /* the store is away, cannot take writes, or its answer is unknown: retry later, run nothing */
    ERR_LOST = -5,
    ERR_BUSY = -6,      /* another process holds the lock or the lease: try again later */
    ERR_FENCED = -7,    /* the lease is no longer ours: nothing was changed */
    ERR_DATA = -8,      /* the database rejects a value (SQLSTATE class 22 or 23) */
    ERR_SCHEMA = -9,    /* the schema is missing, too old or too new for this program */
    ERR_NOTFOUND = -10,
    ERR_STOPPED = -11,  /* a signal asked us to stop */
    ERR_CHANGED = -12,  /* the store changed in a way that needs a new process: start it again */
    ERR_DENIED = -13,   /* err_is_denied, as the end of a command: trying again does not help */
};

/* Why a call failed, where the code alone does not decide what to do next. All come with ERR_LOST
 * but the last. */
enum err_reason {
    ERR_REASON_NONE = 0,
    ERR_REASON_REFUSED,     /* the store is reachable and rejected the write */
    ERR_REASON_DENIED,      /* the same, as this user lacks a right to the store's file */
    ERR_REASON_DAMAGED,     /* the store is reachable and a block of it cannot be read */
    ERR_REASON_COLLIDED,    /* another transaction was in the way and is over now: try again at once */
    ERR_REASON_TIMEOUT,     /* connected, and no answer within the call's time: away, or only slow */
    ERR_REASON_CANCELED,    /* the server ended the statement at its own time limit: slow, not away */
    ERR_REASON_OUTGROWN,    /* with ERR_SCHEMA: the schema serves later programs only; waiting is no use */
};

struct err {
    int code;
    char sqlstate[6];   /* "" when the failure did not come from a database */
    enum err_reason reason;
    char text[2048];
};

/* The store gave no answer in time, by our clock or by its own. */
static inline bool err_is_late(const struct err *err)
{
    return err->reason == ERR_REASON_TIMEOUT || err->reason == ERR_REASON_CANCELED;
}

/* The store is reachable and did not do what it was asked to write. */
static inline bool err_is_refusal(const struct err *err)
{
    return err->reason == ERR_REASON_REFUSED || err->reason == ERR_REASON_DENIED ||
           err->reason == ERR_REASON_CANCELED;
}

/* The server does not let us in (a wrong password, no such user), or refuses a right, as the system
 * does for a file. It says so at once and will say so again, until somebody gives that right: a
 * command ends, a daemon that has worked before goes on trying. */
bool err_is_denied(const struct err *err);

/* Sets the message and returns `code`, so that a failure is one line: return err_set(err,
 * ERR_INPUT, "..."). Nothing of an earlier failure is kept. `err` may be NULL. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts context in front of the message: "slot 9: connection refused". Returns `code`. */
int err_wrap(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, with ": " and the text of errno at the end. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Replaces line ends and tabs in a message that another program wrote, libpq, say. */
void err_one_line(struct err *err);

/* No error, whatever the memory held. Much cheaper than `= { 0 }`, which clears all of `text`. */
void err_clear(struct err *err);

#endif
