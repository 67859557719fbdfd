/* effect.h - what a job may declare with its answer. Pure. */
#ifndef PRESCIENT_EFFECT_H
#define PRESCIENT_EFFECT_H

#include "../base/err.h"
#include "check.h"

#define ANSWER_EFFECTS_MAX 64              /* declared by one answer */

/* 0, or ERR_INPUT with what is wrong with it. Asked where a job declares it, so that the job learns
 * why, and again where the engine takes it, which believes no worker. */
int effect_check(const struct effect *effect, struct err *err);

#endif
