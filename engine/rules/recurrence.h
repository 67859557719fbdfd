/* recurrence.h - when a schedule's check comes up next: after a fixed time, or by a cron text in a
 * time zone. Pure: no I/O, no clock; the zone is data that the caller brings. Two callers with the
 * same arguments compute the same slot, so a settle that is repeated repeats it.
 *
 * An *occurrence* is one run that the rule asks for. Its nominal slot is the first slot at or after
 * its time; times that round up to the same slot are one occurrence. */
#ifndef PRESCIENT_RECURRENCE_H
#define PRESCIENT_RECURRENCE_H

#include <stdbool.h>
#include <stdint.h>
#include "cron.h"

#define RECURRENCE_NAME_MAX 255 /* bytes of a schedule's name */
#define RECURRENCE_EVERY_MAX_S (366 * INT64_C(86400))
#define RECURRENCE_BIAS_DEFAULT 667 /* 0.0667: 20 s of 5 minutes */
#define RECURRENCE_BIAS_MAX 5000    /* 0.5 */
#define RECURRENCE_ALL_MAX 100      /* occurrences that run_all makes up for */
#define RECURRENCE_COUNT_MAX 1000   /* that are counted; more count as this many */

/* What becomes of occurrences whose slot has ended before they could run. */
enum recurrence_missed {
    RECURRENCE_RUN_ONCE, /* one late run stands for all of them */
    RECURRENCE_RUN_ALL,  /* one after the other, the newest RECURRENCE_ALL_MAX */
    RECURRENCE_SKIP,     /* none runs */
};
extern const char *const recurrence_missed_words[];     /* in the order of the enum; ends with NULL */
const char *recurrence_missed_word(enum recurrence_missed missed); /* "run_once", ... */

struct recurrence {
    char name[RECURRENCE_NAME_MAX + 1]; /* of the schedule: what is drawn follows from it */
    bool is_cron;
    int64_t every_s; /* if not cron: from the end of a run to the next */
    int32_t bias;    /* +- that fraction of it, in ten thousandths */
    struct cron cron;
    char cron_text[CRON_TEXT_MAX + 1]; /* one blank between fields */
    char zone[ZONE_NAME_MAX + 1];      /* "UTC" if none was named; with `every` "" */
    enum recurrence_missed missed;
};

/* What the times of a rule are computed on. */
struct recurrence_grid {
    const struct zone *zone; /* the one that the rule names; `every` needs none: NULL */
    int32_t slot_length_s;
};

/* The first nominal slot of a rule that holds from `from` on: later than `from`, and with `every`
 * anywhere in the period that begins there, spread by a hash of the name. 0: none. */
int64_t recurrence_first(const struct recurrence *r, const struct recurrence_grid *grid, int64_t from);

/* A run of a check that waited for an occurrence, to its end. One that began before `nominal` was
 * asked for (`earlier`, a run by hand). So that no clock that was set back makes an occurrence look
 * like that, the caller gives no began_at before the slot that the check was filed under. */
struct recurrence_run {
    int64_t nominal;  /* the occurrence's nominal slot */
    int64_t began_at; /* the time that its job was given */
    int64_t ended_at; /* rounded up to a whole second */
};

/* The nominal slot of the next occurrence, always later than began_at or than `nominal`; 0: there
 * is none. With `every`: the slot nearest to ended_at + every_s + a draw from -bias to +bias, never
 * one before ended_at + every_s - bias. With a cron text: the first one later than began_at; with
 * RUN_ALL the first one later than `nominal`, so it may be over already. A run before `nominal`
 * takes no time of a cron text away: `nominal` itself is next, or the first time behind it if it
 * was none, because the check was rescheduled. */
int64_t recurrence_after(const struct recurrence *r, const struct recurrence_grid *grid,
                         const struct recurrence_run *run);

/* What to do with an occurrence whose check was read and whose job has not been run for it. Not
 * for further attempts: they belong to an occurrence that has begun. */
struct recurrence_verdict {
    bool runs; /* false: the check moves on without a run */
    /* if it runs, the given one; else the one that it moves on to, 0: there is none. Its slot may
     * have begun, or be over (RUN_ALL, which passes over the oldest): then the next second is its
     * time. */
    int64_t nominal;
    int64_t passed_over; /* if it moves on: occurrences that get no run of their own */
};

/* An occurrence is missed when its slot has ended. One that has not come yet waits on. */
struct recurrence_verdict recurrence_judge(const struct recurrence *r, const struct recurrence_grid *grid,
                                           int64_t nominal, int64_t now);

/* What an `every` becomes in slots of this length: the time between two runs that take less than a
 * second. Where it differs from every_s, the user has to hear of it. A cron rule: 0. */
int64_t recurrence_becomes_s(const struct recurrence *r, int32_t slot_length_s);

/* +- so many seconds. */
int64_t recurrence_bias_s(const struct recurrence *r);

#endif
