/* answer_object.h - an answer as a JSON object, as programs that are not plug-ins give it:
 *
 *     {"done": true}                            one of these four
 *     {"again_at": "2026-03-01T13:15:00Z"}      or 1772370900, or "+2h" from now
 *     {"defer_until": "+90s"}
 *     {"fail": "410 Gone", "final": true}       final: it is not tried again
 *
 * and beside it
 *
 *     "id": "…"                                 of the check that it answers
 *     "note": "what history keeps"
 *     "emit": {"event": "order.late", "data": {"n": 1}}
 *     "enqueue": {"entity_name": "orders", "entity_key": "43", "job": "late", "at": "+1d",
 *                 "data": null, "conflict": "keep", "priority": 0, "concurrency_key": null,
 *                 "tenant": null}        null: that of the check
 *     "resolve": {"entity_name": "orders", "entity_key": "44", "job": "late"}
 *
 * where the last three may be lists. A member that is null counts as not there. */
#ifndef PRESCIENT_ANSWER_OBJECT_H
#define PRESCIENT_ANSWER_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/err.h"
#include "check.h"
#include "effect.h"
#include "guard.h"

#define ANSWER_OBJECT_MAX (256 * 1024)  /* bytes */

struct answer_object {                  /* the strings live until answer_object_release */
    enum answer_kind kind;              /* DONE, AGAIN, DEFER, FAIL or FAIL_FINAL */
    int64_t at;                         /* of AGAIN and DEFER */
    const char *words;                  /* of a FAIL; else NULL */
    const char *note, *id;              /* NULL: none */
    struct effect effects[ANSWER_EFFECTS_MAX]; /* in the order they stand there */
    int neffects;
    void *impl;
};

/* Reads `len` bytes and the NUL behind them: one object with nothing but space around it. `now` is
 * the time that "+2h" is counted from. Without `may_declare` an answer with effects is refused.
 * Returns 0, or ERR_INPUT with what is wrong, in valid UTF-8; then nothing has to be released. The
 * data of effects keep their text: they stay in `text`, which is changed for that. */
int answer_object_read(char *text, size_t len, int64_t now, bool may_declare, struct answer_object *out,
                       struct err *err);
void answer_object_release(struct answer_object *o);

/* One member of an object, as text: a string, a number of at most 15 digits, true or false. *out is
 * NULL when it is another value, or is not there; else the caller frees it. `len` bytes and the NUL
 * behind them, as above. Returns 0, ERR_INPUT when it is no object, or ERR_NOMEM. */
int answer_object_member(const char *text, size_t len, const char *name, char **out, struct err *err);

#endif
