/* terms.h - what is unusual about a check, as one line of text that travels with it. Pure.
 *
 * Words, each followed by its value, with single or more blanks between them:
 *     schedule "NAME"      the schedule that it belongs to; needs `every` or `cron`
 *     every SECONDS        from the end of a run to the next
 *     bias FRACTION        0 to 0.5, at most four places; only with `every`; 0.0667 if missing
 *     cron "TEXT"          five fields (cron.h)
 *     zone "NAME"          of tzdata; only with `cron`; UTC if it is missing
 *     missed WORD          run_once, run_all or skip; run_once if it is missing
 *     from SECONDS         since 1970: the rule holds from then on, and its first time has not been
 *                          computed yet
 *     sought SECONDS       the slot under which the check was filed to find that first time, where
 *                          it is not the first one after `from`; needs `from`
 *     digest "NAME"        it is the digest of this listener, and no job is given it
 *     payload once         its payload is that of this occurrence: when it is over, the check gets
 *                          the schedule's again; it stands last, and not beside `from`
 * or, of the delivery of an event, all of these:
 *     event "TYPE"         its name
 *     of "ENTITY"          the entity, key and job of the check that emitted it
 *     key "KEY"
 *     job "JOB"
 *     number N             which look of that check it was: 1 for the first
 *     failures N           how often that look had failed before
 *     first SECONDS        since 1970: the check's first_check_at
 *     listener "NAME"      who hears it
 *     at MICROSECONDS      since 1970: when it was emitted
 * A value is bare, or in double quotes with each quote inside it doubled. A word stands once, in
 * any order; an unknown one is refused. terms_print writes all that hold, in the order above, names
 * and texts in quotes. So do the statements that write terms. */
#ifndef PRESCIENT_TERMS_H
#define PRESCIENT_TERMS_H

#include <stdbool.h>
#include <stdint.h>
#include "check.h"
#include "recurrence.h"

/* Bytes; the longest that is written is shorter: four names in quotes, each of them doubled. */
#define TERMS_MAX (8 * CHECK_NAME_MAX + 300)
#define LISTENER_NAME_MAX 64

struct terms_event {
    char type[CHECK_NAME_MAX + 1], entity_name[CHECK_NAME_MAX + 1], entity_key[CHECK_NAME_MAX + 1];
    char job[CHECK_NAME_MAX + 1], listener[LISTENER_NAME_MAX + 1];
    int64_t check_number, failure_count, first_check_at, emitted_us;
};

/* Of one of both kinds; what is of the other is not filled. */
struct terms {
    bool has_event;
    struct recurrence recurrence;
    int64_t sought, from; /* 0: none */
    char digest[LISTENER_NAME_MAX + 1]; /* "": it is none */
    bool has_payload_once;
    struct terms_event event;
};

/* Of which kind a check is, by the first word of its terms, whatever else is wrong with them. What
 * begins with another word is taken for a schedule's: that is never deleted. A check without terms
 * is neither. It is asked at each step of a check: 's' is told without a call. */
bool terms_are_of_event(const char *terms);
static inline bool check_is_delivery(const struct check *c)
{
    return c->terms && *c->terms != 's' && terms_are_of_event(c->terms);
}
static inline bool check_recurs(const struct check *c)
{
    return c->terms && (*c->terms == 's' || !terms_are_of_event(c->terms));
}

/* Whether they end with `payload once`, whatever else is wrong with them. It is asked of each
 * occurrence that is over: nothing is parsed. */
bool terms_have_payload_once(const char *terms);

/* ERR_INPUT with the word, its column (from 1, in characters), what was found and what was
 * expected. A zone is not looked up: its name must be one that could be. */
int terms_parse(const char *text, struct terms *out, struct err *err);

/* The terms that were read last. Those of many schedules are the same but for the name, and each
 * check's are read when it comes in and when it is answered. Begins as zeros. */
struct terms_memo {
    char rest[120];                 /* what follows the name; "": nothing is kept */
    struct terms terms;
};

/* As terms_parse; what differs from the terms before by a plain name alone is not parsed again. The
 * result is the memo's, until the next call; NULL with an error. */
const struct terms *terms_read(struct terms_memo *memo, const char *text, struct err *err);

/* Returns `out`. What was parsed reads back as the same. */
const char *terms_print(const struct terms *terms, char out[TERMS_MAX + 1]);

#endif
