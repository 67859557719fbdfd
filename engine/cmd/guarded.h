/* guarded.h - a command in a process group of its own, beside a guard process. The guard ends the
 * group when the command has ended, at its time limit, when it is asked to, and when the process
 * that wants the command is gone, even by kill -9. If the guard itself is killed, that process ends
 * the group. */
#ifndef PRESCIENT_GUARDED_H
#define PRESCIENT_GUARDED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../base/err.h"

struct guarded_command {
    char *const *argv;              /* argv[0] is looked for in PATH unless it has a '/' */
    const char *const *env;         /* name, value, ..., NULL: beside what we have; NULL: none */
    int in, out, err;               /* its standard files; -1: ours, but /dev/null for `in` */
    int held;                       /* open in the guard for as long as anything is left; -1: none */
    int64_t timeout_us, grace_us;   /* the limit, and the time from TERM to KILL */
    /* It is ended at this time of clock_boot_us, which guarded_trust puts off; INT64_MAX: never. */
    int64_t trust_until_us;
};

enum guarded_what {
    GUARDED_ENDED,                  /* value: the status of waitpid() */
    GUARDED_LATE,                   /* ended at its limit */
    GUARDED_STOPPED,                /* ended as it was asked to */
    GUARDED_UNTRUSTED,              /* ended at trust_until_us */
    GUARDED_NO_PROGRAM,             /* cannot be executed; value: errno */
    GUARDED_NO_PROCESS,             /* value: errno */
    GUARDED_STARTED,                /* not over yet; value: the number of its process group */
    GUARDED_LOST                    /* the guard was killed, and the command with it */
};
struct guarded_report { int what, value; };

/* sock is readable when something is reported: guarded_is_over() tells whether that is the end. */
struct guarded { pid_t guard, leader; int sock; };

/* 0 when there is such a program, which we may execute, at that path or in PATH, and what its `#!`
 * names, too; else an errno, with what `#!` named in `at_fault` where that is the reason. Whether
 * the rest of its content can be executed shows only when it is. */
enum { GUARDED_INTERPRETER_SIZE = 256 };        /* the kernel reads as much of the first line */
int guarded_look_for(const char *program, char at_fault[GUARDED_INTERPRETER_SIZE]);

/* The same with words: 0, or ERR_INPUT saying what cannot be executed, and why. */
int guarded_check(const char *program, struct err *err);

/* Starts it. SIGTERM and the like are handled as usual in the command, whatever they do here. */
int guarded_start(struct guarded *g, const struct guarded_command *c, struct err *err);
void guarded_trust(struct guarded *g, int64_t until_us);
void guarded_stop(struct guarded *g);
bool guarded_is_over(struct guarded *g);
/* Waits for the report; then nothing of the command is left. */
struct guarded_report guarded_end(struct guarded *g);

bool guarded_went_well(const struct guarded_report *r);
/* "ended with exit status 3", "was ended after 5m", ... in `out`. */
const char *guarded_words(const struct guarded_report *r, int64_t timeout_us, char *out, size_t size);

#endif
