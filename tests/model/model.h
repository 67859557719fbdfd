/* model.h - the moves of the protocol, and the functions by which they reach the search. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include "state.h"

/* The promises. Scenarios expect one of these names, and a counterexample ends with it. */
enum property {
    HOLDS,
    LOST_LEASE_RUN,
    LOST_LEASE_SETTLE,
    SECOND_RUN,
    SETTLED_TWICE,
    CHECK_LOST,
    LATER_THAN_PROMISED,
    PAST_ITS_SLOT,
    SAME_KEY,
    SCHEDULE_IGNORED,
    CLOSED_OVER_A_ROW,
    EVENT_SKIPPED,
    NO_END,
    STUCK,
    PASSED_OVER,
    PROPERTIES
};
extern const char *const property_names[PROPERTIES];

/* The maker of a move. Liveness asks whether work can end without some of them. */
enum mover { BY_SYSTEM, BY_TIME, BY_NEW_SLOT, BY_APP, BY_NEW_TXN, BY_WAKING, BY_FAULT };

struct search;
struct model {
    struct rules rules;
    struct search *search;
};

/* Adds `next` as a successor of the current state. The text describes the move, with engines as E0
 * and E1. */
void move(struct model *m, struct state *next, enum mover mover, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The next move that is added breaks a promise. */
void breaks(struct model *m, enum property property, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- the moves, by their makers ---- */

void engine_moves(struct model *m, const struct state *s, int engine);
void server_moves(struct model *m, const struct state *s);
void closing_moves(struct model *m, const struct state *s);
void app_moves(struct model *m, const struct state *s);
void time_moves(struct model *m, const struct state *s);
void fault_moves(struct model *m, const struct state *s);
void consumer_moves(struct model *m, const struct state *s);
void clerk_moves(struct model *m, const struct state *s);
void pause_moves(struct model *m, const struct state *s);
void hears_of_pause(struct model *m, const struct state *s, int engine);
void pulse_moves(struct model *m, const struct state *s, int engine);

/* ---- full and fine slots (slots.c) ---- */

bool is_fine(const struct model *m, int slot);
int full_slot_of(const struct model *m, int moment);    /* the full slot that runs at this moment */
/* The first slot of either kind that begins after this moment. */
int next_full(const struct model *m, int moment);
int next_fine(const struct model *m, int moment);
int next_of_kind(const struct model *m, int moment, bool fine);
/* Where a settle files a check that is to move to this slot; 0: nowhere that is looked at. */
int file_at(const struct model *m, int wanted, int clock);

/* ---- attempts (attempts.c) ---- */

/* Where a check that failed is to run next, unless it has failed too often and ends. */
int slot_after_failure(const struct model *m, int failures, int clock);
int file_attempt_at(const struct model *m, int wanted, int clock);
bool ends_check(const struct model *m, const struct item *item);    /* this answer does */

/* ---- the pause (pause.c) ---- */

/* Where a check that is resumed goes: all are spread over the next full slot and its seconds. */
int slot_after_pause(const struct model *m, int check, int clock);
/* The settle asks whether the pause is on; false: it waits. */
bool ask_for_pause(const struct model *m, const struct state *s, struct request *r);

/* ---- schedules (lives.c) ---- */

bool recurs(const struct model *m, int check);
int next_occurrence(const struct model *m, int terms, int moment);
/* The row is in the slot of an edit, in which no occurrence is. */
bool is_between_occurrences(const struct model *m, int check, const struct row *row);
/* Gives the row a new life at this slot. */
void new_life(struct model *m, struct state *s, struct row *row, int slot, int first, int terms);
void start_anew(struct model *m, struct state *s, const struct request *r, const struct item *item,
                struct row *row);

/* ---- the pulse (pulse.c) ---- */

/* of an engine that has a new connection */
void pulse_begins_anew(const struct model *m, struct engine *e, int clock);
bool pulse_finds(const struct model *m, const struct state *s, int engine, int slot);
/* no check that is due in a fine slot of this full slot waits, except locked ones */
bool is_prompt(const struct model *m, const struct state *s);

/* ---- between the files of moves ---- */

bool slot_begun(const struct model *m, const struct state *s, int slot);
bool takes_part(const struct model *m, int engine, int check);              /* it has the check's job */
bool lease_can_be_taken(const struct model *m, const struct state *s, int engine, int slot, int bucket);
bool wants_bucket(const struct model *m, const struct state *s, const struct request *r, int engine,
                  int bucket);
/* the database executes the engine's call */
void serve_call(struct model *m, const struct state *s, int engine);
enum finish { FINISH_BLOCKED, FINISH_FENCED, FINISH_MORE, FINISH_OVER };
enum finish finish_bucket(const struct model *m, struct state *s, const struct request *r);
/* the answer to its call reaches an engine */
void receive(const struct model *m, struct state *s, int engine);

/* ---- events (events.c) ---- */

bool has_room_for_event(const struct model *m, const struct state *s);
void take_xid(const struct model *m, struct state *s, struct request *r);
void write_event(const struct model *m, struct state *s, unsigned xid);
/* The consumer's cursor is past the event, and the consumer has not read it. */
bool is_skipped(const struct model *m, const struct state *s, struct place event);

int slot_to_move_to(const struct model *m, const struct request *r, const struct item *item,
                    const struct row *row);

/* ---- the promises (checks.c) ---- */

/* before the job is started */
void check_start(struct model *m, const struct state *s, int engine, int check);
/* before the row is touched */
void check_settle(struct model *m, const struct row *row, const struct request *r, int check, int found);
/* before the row moves to this slot */
void check_move(struct model *m, const struct request *r, const struct item *item, const struct row *row,
                int slot);
void check_state(struct model *m, const struct state *s);
int events_so_far(const struct model *m, const struct state *s);
bool is_over(const struct model *m, const struct state *s);                 /* all work has ended */
/* no row is left, except locked ones */
bool is_answered(const struct model *m, const struct state *s);

#endif
