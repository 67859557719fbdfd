/* effect.h - what a job may declare with its answer. Pure. */
#ifndef PRESCIENT_EFFECT_H
#define PRESCIENT_EFFECT_H

#include "../base/err.h"
#include "check.h"

#define ANSWER_EFFECTS_MAX 64              /* declared by one answer */

/* 0, or ERR_INPUT with what is wrong with it. Asked where a job declares it, so that the job learns
 * why, and again where the engine takes it, which believes no worker. */
int effect_check(const struct effect *effect, struct err *err);

/* Whose a check is that the effect of `check` files, a delivery too; NULL: nobody has said it. It
 * is that of the check, so that what holds a tenant, and what shares workers among tenants, meets
 * all that comes of one. */
const char *effect_tenant(const struct check *check, const struct effect *effect);

#endif
