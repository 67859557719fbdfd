/* engine.h - one engine: lanes (a store connection each), the pool of workers, and a plan that
 * decides what there is to do. One loop drives it all (process.h); nothing here blocks but the poll
 * there (and SQLite's own calls). */
#ifndef PRESCIENT_ENGINE_H
#define PRESCIENT_ENGINE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "counts.h"
#include "engine_options.h"

struct engine;
struct plan;

int engine_new(const struct engine_options *options, struct engine **out, struct err *err);
void engine_free(struct engine *e);

/* A process that runs it until the plan ends it or a signal stops it. 0, or the negative ERR_ that
 * it ended with. */
int engine_run(struct engine *e, const struct plan *plan, void *plan_state, struct err *err);

/* The same in parts, for a caller with a loop of its own: begin once, then turn whenever a
 * connection or a worker has something to say, and at the latest at engine_next_us (monotonic),
 * until it has ended. Signals come in by engine_stop. */
void engine_begin(struct engine *e, const struct plan *plan, void *plan_state);
void engine_turn(struct engine *e);
int64_t engine_next_us(const struct engine *e);
bool engine_has_ended(const struct engine *e);
int engine_result(const struct engine *e, struct err *err);
/* What it waits for: how many were filled in. */
int engine_poll_fds(const struct engine *e, struct pollfd *out, int room);

void engine_stop(struct engine *e);             /* as a first SIGTERM: finishes what runs */
void engine_stop_in_its_time(struct engine *e); /* the same, however long jobs take */
void engine_stop_at_once(struct engine *e);     /* as a second one */

/* It has ended: it says what it has left to say, and idle workers close their jobs. Then it is
 * asked whether they have, when something has happened, until they have. */
void engine_close(struct engine *e);
bool engine_is_closed(struct engine *e);

bool engine_has_worked(const struct engine *e);           /* its store has let it do an engine's work */
/* The last call of its store that failed, in words; "": none has. */
const char *engine_last_failure(const struct engine *e);
bool engine_has_child(const struct engine *e, pid_t pid); /* a worker */
const struct settings *engine_settings(const struct engine *e);
struct log *engine_log(const struct engine *e);
const struct clock *engine_clock(const struct engine *e);

const struct totals *engine_totals(const struct engine *e);
const unsigned char *engine_owner(const struct engine *e);      /* of its leases; STORE_OWNER_SIZE bytes */

#endif
