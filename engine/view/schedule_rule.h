/* schedule_rule.h - the rule of a schedule as people write it, read as an engine reads it. */
#ifndef PRESCIENT_SCHEDULE_RULE_H
#define PRESCIENT_SCHEDULE_RULE_H

#include "../base/arena.h"
#include "../base/err.h"

/* Values as the store takes them: `every` in seconds, `bias` in ten thousandths. NULL: not
 * given. */
struct schedule_rule {
    const char *every, *bias, *cron, *zone, *missed, *payload, *concurrency_key, *tenant;
};

/* *out lives in the arena. ERR_INPUT names what is wrong. */
int schedule_read_every(struct arena *a, const char *text, const char **out, struct err *err);
int schedule_read_bias(struct arena *a, const char *text, const char **out, struct err *err);
int schedule_check_missed(const char *missed, bool has_every, struct err *err);
/* *out is the text as it is stored. Either may be NULL. The zone must be there on this machine. */
int schedule_read_cron(struct arena *a, const char *text, const char *zone_name, const char **out,
                       struct err *err);

/* A bias as it is written: "0.0667". Lives in the arena; NULL stays NULL. */
const char *schedule_bias_text(struct arena *a, const char *bias);

/* "every 5m becomes 15m in slots of 15m", of values as they are stored; NULL: slots can keep it, or
 * there is no every. */
const char *schedule_becomes(struct arena *a, int32_t length_s, const char *every_s, const char *bias);

#endif
