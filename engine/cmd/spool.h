/* spool.h - folders as slots: DIR/yymmddhhmi/ holds the programs of one slot. A program is claimed
 * by being renamed into DIR/running/, and ends up in DIR/done/ or DIR/failed/, beside what it
 * wrote. The file for that is there first, and a lock on it says that the run is alive; it goes
 * with the last process that has it. So any number of processes of one host may run a spool.
 *
 * What others than root and the user that runs this could have written is refused. */
#ifndef PRESCIENT_SPOOL_H
#define PRESCIENT_SPOOL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "../base/arena.h"
#include "../base/err.h"

struct spool {
    char path[PATH_MAX];                /* without links, from / */
    int folder, running, done, failed;  /* descriptors */
};

/* DIR must be there; the three folders in it are made. Returns 0, or an ERR_ with nothing open. */
int spool_open(const char *path, struct spool *s, struct err *err);
void spool_close(struct spool *s);

/* Names in a folder, in their order; those that begin with a dot are left out. They live in the
 * arena. */
struct spool_names { char **names; int n; };
int spool_names(int folder, struct arena *a, struct spool_names *out, struct err *err);

/* The folder of a slot, opened. Returns 0 with *fd, which is -1 when there is none, or an ERR_. */
int spool_open_slot(const struct spool *s, const char *slot, int *fd, struct err *err);
/* Takes the folder of a slot away, if it is empty. */
void spool_close_slot(const struct spool *s, const char *slot, int fd);

struct spool_program {
    char name[NAME_MAX + 1];            /* in running/, done/ and failed/ */
    char output_name[NAME_MAX + 1];
    int output;                         /* what it writes goes there; -1: none */
    int lock;                           /* the same file, opened once more; it holds the lock */
};

enum spool_claim {
    SPOOL_CLAIMED,
    SPOOL_GONE,                         /* another process has it, or has had it */
    SPOOL_REFUSED,                      /* err says why; it stays where it is */
    SPOOL_SHORT                         /* the same, and so would be all others */
};
enum spool_claim spool_claim(const struct spool *s, int slot_folder, const char *slot, const char *name,
                             struct spool_program *p, struct err *err);

/* Gives a claimed program up, to done/ or failed/. Returns 0, ERR_NOTFOUND when it has taken itself
 * away, or another ERR_. */
int spool_finish(const struct spool *s, struct spool_program *p, bool went_well, struct err *err);

/* Puts a claimed program back that was not begun, under the name that it had. */
int spool_put_back(const struct spool *s, int slot_folder, const char *name, struct spool_program *p,
                   struct err *err);

/* What a run that is gone left in running/ under `name`, with its output, to failed/; an output to
 * where its program is. Returns 0 with the program's name there in `p` ("": it was an output),
 * ERR_NOTFOUND when nobody has left that, or another ERR_. */
int spool_give_up(const struct spool *s, const char *name, struct spool_program *p, struct err *err);

/* Adds a program of that text to the folder of a slot, under `name` or, when that is taken,
 * "name.2", "name.3", ... It is there whole or not at all. Returns 0 with the name in `name_out`,
 * or an ERR_. */
int spool_add(const struct spool *s, const char *slot, const char *name, const char *text,
              char name_out[NAME_MAX + 1], struct err *err);

#endif
