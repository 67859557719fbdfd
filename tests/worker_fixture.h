/* worker_fixture.h - a real worker process, forked, and the engine's end of it. For suites of the
 * worker. */
#ifndef PRESCIENT_WORKER_FIXTURE_H
#define PRESCIENT_WORKER_FIXTURE_H

#include <sys/types.h>

#include "test.h"

#include "../engine/base/arena.h"
#include "../engine/wire/message.h"
#include "../engine/wire/slab.h"
#include "../include/prescient/job.h"

struct worker_fixture {
    struct slab *slab;
    struct arena *arena;                /* of answers */
    int sock;
    pid_t pid;
    char logged[8192];                  /* what came as LOG, and the words of FAILED */
};
extern struct worker_fixture workerfx;

/* the jobs that workerfx_start gives it, in order */
enum { MISBEHAVE, NOANSWER, EFFECTS, BATCH_CRASH, MISSING, BATCH_EFFECTS };

void workerfx_start(void);
/* With these settings, until it has told what it can use; returns that message. */
int workerfx_start_with(const char *text);
/* The same, which is left in `body`; `how` has an enum message_begin for each job. */
int workerfx_begin(const char *text, const char *how, size_t njobs, char body[MESSAGE_MAX + 1], int *len);
void workerfx_fork(void);               /* without a word to it */
/* The next message that is no LOG or OPENING; the former are kept. 0 when the worker is gone or
 * says nothing for ten seconds. */
int workerfx_hear(char body[MESSAGE_MAX + 1], int *len);
void workerfx_stop(void);               /* asks it to end, which it has to do well */
int workerfx_ended(void);               /* waits for its end; returns its status */

void workerfx_fill(int64_t trust_us);   /* a new generation of checks; then each of them: */
void workerfx_put(int job, const char *key, bool single);
void workerfx_put_keyed(int job, const char *key);      /* it has a concurrency key */
void workerfx_say_run(void);
bool workerfx_run_to_end(void);         /* says so, and waits for the end of them */

struct raw_answer workerfx_answer(int index);
bool workerfx_is_answer(int index, int kind, const char *text);         /* text NULL: none */

bool workerfx_says(const char *words);  /* it has logged them */

#endif
