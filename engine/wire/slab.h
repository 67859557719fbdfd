/* slab.h - the shared memory between an engine and one worker: checks in, answers out.
 *
 * A memfd of fixed size, sealed against shrinking, growing and resealing before the worker gets
 * it. The engine fills it while the worker waits, then sends RUN over the socket. From then on:
 *   - the worker claims the next index (or, for job_exec_many, a range) by compare-and-swap on
 *   `claim`, which holds (next << 32 | end); the engine may lower `end` at any time (slab_cut), so
 *   that what has not been claimed goes to other workers;
 *   - before each claim the worker reads `start_until_us` (CLOCK_BOOTTIME): past it, no check is
 *   started until the engine has set a later one and sent CONTINUE;
 *   - each answer is written whole and then published by its `state` (release), which carries the
 *   slab's generation; those of a range in any order. So what is running is always what is claimed
 *   and not published. No message per check. When less than SLAB_ANSWER_BYTES of the out heap are
 *   free, the worker lowers `end` itself and sends ENDED: checks behind the end that slab_cut then
 *   returns were never started.
 *
 * The engine believes nothing it reads here: slab_take_answer copies an answer once, then checks
 * generation, kind, offsets, lengths and UTF-8 on the copy. The same code reads a slab whose
 * worker was killed. */
#ifndef PRESCIENT_SLAB_H
#define PRESCIENT_SLAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/arena.h"
#include "../base/err.h"
#include "../rules/check.h"         /* struct check, struct effect: both sides use them */
#include "../rules/effect.h"

#define SLAB_CHECKS_MAX 1024
#define SLAB_IN_BYTES (1u << 20)        /* strings of the checks */
#define SLAB_OUT_BYTES (1u << 20)       /* texts and effects of the answers */
#define SLAB_TEXT_MAX 4096              /* bytes of one answer's text, without the NUL */
/* A check with a concurrency key has its timeout, the grace of a kill, and so long: until then the
 * engine has seen that it runs, and ended it. Then the worker ends by itself. */
#define SLAB_DEADLINE_SLACK_US INT64_C(1000000)
#define SLAB_ANSWER_BYTES (256u << 10)  /* of the out heap: what the effects of one answer may take */

struct slab;                            /* the mapping; engine and worker each have their own */

/* ---- engine's side ---- */

/* Makes, seals and maps one. *fd is what the worker is given; the caller closes it. */
int slab_new(struct slab **out, int *fd, struct err *err);
void slab_free(struct slab *s);         /* unmaps; NULL is fine */

/* Empties the slab and gives it the next generation. Jobs get `now` as the time; `start_until_us`
 * is CLOCK_BOOTTIME. */
void slab_reset(struct slab *s, int64_t now, int64_t start_until_us);

/* Puts a check in. `job` is its index in the worker's table of jobs (the order of the settings),
 * `single` keeps it out of job_exec_many. A check that has a concurrency key is ended by the worker
 * itself, at its deadline. False when it does not fit (count or bytes). */
bool slab_put(struct slab *s, const struct check *check, int job, bool single);
void slab_open(struct slab *s);         /* all put: indexes may be claimed from now on */

int slab_count(const struct slab *s);           /* checks put */
uint32_t slab_generation(const struct slab *s);
/* indexes [0, n) have been claimed; never more than slab_count */
int slab_claimed(const struct slab *s);
int slab_end(const struct slab *s);             /* indexes from here on will not be claimed */
/* lowers the end to what is claimed; returns the new end: [end, count) is the engine's again */
int slab_cut(struct slab *s);
void slab_set_trust(struct slab *s, int64_t start_until_us);
/* To be called beside slab_cut, when others do not take the rest: what is claimed and not begun is
 * better put off. */
void slab_stop(struct slab *s);

struct raw_answer {                     /* one answer, copied and checked; the strings live in the arena */
    /* enum prescient_answer_kind, or -1: a bad answer, and `text` is what was wrong */
    int kind;
    int64_t at;
    int64_t began_us;                   /* CLOCK_BOOTTIME when it began */
    int64_t run_us;
    const char *text;                   /* NULL: none */
    struct effect *effects;
    int neffects;
};
bool slab_is_answered(const struct slab *s, int index);
/* True when check `index` is answered; fills `out`. Anything that is not as it must be becomes kind
 * -1 with a text. An emit's entity_name, entity_key and job are NULL: they are those of the check,
 * which the engine has itself. What all answers of one slab take of the arena is bounded by a few
 * times SLAB_OUT_BYTES, whatever is in there. */
bool slab_take_answer(struct slab *s, int index, struct arena *a, struct raw_answer *out);
/* The same when there is no memory left for effects: an answer that declares some becomes DEFER,
 * and they are not copied. */
bool slab_take_without_effects(struct slab *s, int index, struct arena *a, struct raw_answer *out);

/* ---- worker's side ---- */

/* Maps the memfd that was handed over; ERR_GENERAL when it is not one of ours. */
int slab_attach(int fd, struct slab **out, struct err *err);

struct slab_check {                     /* a check as the worker sees it */
    int job;
    bool single;
    int64_t id, now, slot, first_check_at;
    int32_t check_count, failure_count;
    /* in the slab; the last three NULL: none */
    const char *entity_name, *entity_key, *job_name, *payload, *origin;
    const char *terms;                  /* of a delivery only */
};
void slab_get(const struct slab *s, int index, struct slab_check *out);

/* Whether any check of this range has a concurrency key. */
bool slab_has_key(const struct slab *s, int from, int n);

/* What the next claim begins with: its job and whether it is single. False when nothing is left to
 * claim. */
bool slab_peek(struct slab *s, int *job, bool *single);

enum slab_claim { SLAB_CLAIMED, SLAB_EMPTY, SLAB_UNTRUSTED };
/* Whether the trust allows to start a check at this moment; a claim asks for it, too. */
bool slab_may_start(const struct slab *s, int64_t boot_us);
/* Claims up to `most` checks that follow each other and share job and single (single: one).
 * `boot_us` is the time now. */
enum slab_claim slab_claim(struct slab *s, int most, int64_t boot_us, int *from, int *n);

bool slab_is_stopped(const struct slab *s);     /* of what was claimed last; see slab_stop */

/* Room for answer `index`'s effects and text comes from the slab's out heap. Returns 0,
 * SLAB_CROWDED when that is full, or SLAB_TOO_MUCH when this answer has ANSWER_EFFECTS_MAX or
 * SLAB_ANSWER_BYTES of them. The caller has checked the effect. */
enum { SLAB_CROWDED = -1, SLAB_TOO_MUCH = -2 };
int slab_add_effect(struct slab *s, int index, const struct effect *effect);
void slab_drop_effects(struct slab *s, int index);     /* the answer will declare none */
/* Publishes. text may be NULL; it is cut at SLAB_TEXT_MAX on a character boundary. */
void slab_answer(struct slab *s, int index, int kind, int64_t at, int64_t began_us, int64_t run_us,
                 const char *text);

#endif
