/* rule_texts.h - texts that may be parts of a schedule's rule, and what the command line makes of
 * them (engine/cmd/schedule_rule.h, rules/cron.h, base/zone.h). Each store is compared with that,
 * so the three accept the same texts, store them as the same, and refuse the same.
 *
 * Of the random texts about half are wrong in one or two places. RULE_TEXTS_SEED repeats a run. */
#ifndef PRESCIENT_RULE_TEXTS_H
#define PRESCIENT_RULE_TEXTS_H

#include <jansson.h>

struct rule_text {
    const char *text;
    const char *stored; /* NULL: it is refused */
    const char *why;    /* it is refused */
};

struct rule_texts {
    const char *what;
    struct rule_text *all;
    int n;
};

/* They live until rule_texts_end. Cron texts: random ones, and those of tests/cron/table.tsv. */
const struct rule_texts *rule_texts_cron(void);
/* Durations as they are written for --every; stored as seconds. */
const struct rule_texts *rule_texts_every(void);
/* Stored in ten thousandths. */
const struct rule_texts *rule_texts_bias(void);
/* Names of zones: all of this machine, and what is not quite one. */
const struct rule_texts *rule_texts_zone(void);
/* Texts that have the form of a zone's name, or not quite. Nothing is looked up. */
const struct rule_texts *rule_texts_zone_form(void);
void rule_texts_end(void);

/* An array of them all. */
json_t *rule_texts_json(const struct rule_texts *texts);
/* Found is what a store has of each, NULL: it refused it. Prints the first differences. */
void rule_texts_are_the_same(int line, const struct rule_texts *texts, const char *const *found);

#endif
