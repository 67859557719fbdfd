/* run_hours.h - what the runs of this engine were like, by hour, job, entity, tenant and outcome:
 * how many there were, how long they took, how late they began; and what is counted for ever
 * (struct tally). What is new is a note, which the store adds to the rows of all engines. A note is
 * numbered, and is sent as it was until the store has answered: one whose answer was lost counts
 * once. What is not added yet is lost with the engine, and so is a note that could not be sent for
 * half a day. */
#ifndef PRESCIENT_RUN_HOURS_H
#define PRESCIENT_RUN_HOURS_H

#include <stdbool.h>
#include "../rules/check.h"
#include "../store/store_slot.h"
#include "clocks.h"

struct run_hours;

/* Of so many hours, jobs, entities, tenants and outcomes it keeps counts at a time. What more there
 * is counts for its entity alone, then for the entity "", as long as there is room for that. */
enum { RUN_HOURS_TENANTS = 800, RUN_HOURS_ENTITIES = 1000, RUN_HOURS_MOST = 1200 };

/* `owner`: of STORE_OWNER_SIZE bytes, the engine's. NULL: out of memory. */
struct run_hours *run_hours_new(const unsigned char *owner);
void run_hours_free(struct run_hours *all);

/* A settlement was written. What has not run counts for nothing; so does what there is no memory
 * for. The clocks say when in its slot a check was due. */
void run_hours_count(struct run_hours *all, const struct clocks *clocks, const struct settlement *written);
/* The same for those of a page that were written (SETTLE_TOUCHED). It is cheaper where those side
 * by side share the texts of their names, as a page makes them do. */
void run_hours_count_written(struct run_hours *all, const struct clocks *clocks,
                             const struct settlement *page, int n);

/* A slot was opened that held checks, and had begun a slot length ago or more. */
void run_hours_missed_slot(struct run_hours *all);
/* A call of the store has failed, and is tried again. */
void run_hours_store_failed(struct run_hours *all, const struct err *err);

/* Something was counted that is not known to be written. */
bool run_hours_have_news(const struct run_hours *all);
/* It is time to write: a minute is over since it was tried, or since the first look; or there is
 * hardly room for more, and writing makes room. */
bool run_hours_are_due(struct run_hours *all, int64_t now_us);

/* The note that has not been answered yet, or a new one: what was counted since the last, as many
 * rows as one call may have. `now_us` is by the store's clock. The rows live until the call that
 * was filled has ended. */
void run_hours_fill(struct run_hours *all, int64_t now_us, struct store_note_runs *out);
/* It has. `well`: its rows are added. Then those of hours that are over make room. */
void run_hours_noted(struct run_hours *all, bool well);

#endif
