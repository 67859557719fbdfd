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
    CURSOR_BACK,
    EVENT_REPEATED,
    NO_EVENT,
    OTHER_KEY,
    TWO_AT_ONCE,
    HEAVY_FIRST,
    NO_END,
    STUCK,
    PASSED_OVER,
    HELD_FOR_NOTHING,
    PROPERTIES
};
extern const char *const property_names[PROPERTIES];

/* The maker of a move. Liveness asks whether work can end without some of them. */
enum mover { BY_SYSTEM, BY_TIME, BY_NEW_SLOT, BY_APP, BY_NEW_TXN, BY_WAKING, BY_FAULT, BY_GIVING_UP };

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
void places_moves(struct model *m, const struct state *s);
void place_moves(struct model *m, const struct state *s, int engine);
void round_moves(struct model *m, const struct state *s, int engine);
void writer_moves(struct model *m, const struct state *s);
void named_consumer_moves(struct model *m, const struct state *s);
void named_consumer_faults(struct model *m, const struct state *s);

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

/* the next fine slot, but not past the end of the full slot: then the next full slot */
int next_attempt(const struct model *m, int clock);
/* Where a check that failed is to run next, unless it has failed too often and ends. */
int slot_after_failure(const struct model *m, int failures, int clock);
int file_attempt_at(const struct model *m, int wanted, int clock);
bool ends_check(const struct model *m, const struct item *item);    /* this answer does */

/* ---- concurrency keys (places.c) ---- */

int place_lasts(const struct model *m);
bool wants_place(const struct model *m, const struct state *s, int engine);
/* A worker of this engine may start a check under its place. */
bool place_allows_start(const struct model *m, const struct state *s, int engine);
bool has_loose_run(const struct state *s, int engine);
/* a run of the key, of an engine that forgets it; known: it waits for its end */
void loosen_runs(const struct model *m, struct state *s, int engine, bool known);
/* what becomes of the loose runs of an engine that is killed */
void engine_leaves_runs(struct state *s, int engine, bool outlive);
void receive_place(const struct model *m, struct state *s, int engine, const struct request *r);
void places_tick(const struct model *m, struct state *s);
bool places_have_ticks(const struct state *s);
bool places_may_tick(const struct model *m, const struct state *s);
void places_note_standby(struct state *s);
void places_fail_over(const struct model *m, struct state *s, bool loses);
bool places_are_over(const struct state *s);
bool is_no_place_held_for_nothing(const struct model *m, const struct state *s);
void check_places(struct model *m, const struct state *s);
struct sender;
void serve_take_place(struct model *m, const struct state *s, struct sender from);
void serve_renew_place(struct model *m, const struct state *s, struct sender from);
void serve_return_place(struct model *m, const struct state *s, struct sender from);
void place_in_settle(const struct model *m, struct state *s, struct request *r);

/* ---- rounds (rounds.c) ---- */

bool is_heavy(const struct model *m, int check);
/* A lease of this bucket would be for the first round. */
bool has_first_round(const struct model *m, const struct state *s, const struct request *r, int bucket);
void note_round(struct state *s, int slot, int bucket);
void forget_rounds(struct state *s, int slot);
bool round_passes_over(const struct model *m, const struct engine *e, int check);

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

/* ---- deliveries (deliveries.c) ---- */

/* This settle has written an answer of check 0, which emits an event. */
void emit(struct model *m, struct state *s, const struct request *r, const struct item *item);
/* Where deliveries are filed not in the settle, but before it is sent or when its answer is there.
 */
void file_before_settle(const struct model *m, struct state *s, struct request *r);
void file_after_settle(const struct model *m, struct state *s, const struct request *r);
/* before the job of a delivery is started */
void check_delivery(struct model *m, const struct state *s);
void note_sent(const struct model *m, struct state *s);
bool is_event_without_delivery(const struct state *s);

/* ---- consumers by name (consumers.c) and digests (digests.c) ---- */

bool consumers_may_tick(const struct model *m, const struct state *s);
bool consumers_have_ticks(const struct state *s);
void consumers_tick(struct state *s);
void consumers_note_standby(struct state *s);
void consumers_fail_over(struct state *s, bool loses);
bool consumers_are_over(const struct model *m, const struct state *s);
/* no event can be read and waits, as far as a consumer is awake */
bool consumers_have_all(const struct model *m, const struct state *s);
void digest_at_run(struct model *m, struct state *s);
void digest_in_settle(struct model *m, struct state *s);

/* ---- between the files of moves ---- */

bool slot_begun(const struct model *m, const struct state *s, int slot);
bool takes_part(const struct model *m, int engine, int check);              /* it has the check's job */
bool lease_can_be_taken(const struct model *m, const struct state *s, int engine, int slot, int bucket);
bool wants_bucket(const struct model *m, const struct state *s, const struct request *r, int engine,
                  int bucket);
/* The sender of a request: an engine's own call (stray < 0), or a stray. */
struct sender { int engine, stray; };
struct request *request_of(struct state *s, struct sender from);
const struct request *request_in(const struct state *s, struct sender from);
int sender_owner(const struct model *m, const struct state *s, struct sender from);
const char *sender_name(struct sender from);
/* The answer goes to its sender. */
void answer(const struct model *m, struct state *s, struct sender from);
struct request make_request(const struct model *m, const struct engine *e, enum request_kind kind);
/* Where no fault can hit a call, the call and its effect are one move. The outcomes are the same,
 * with far fewer states. */
bool call_is_one_move(const struct model *m, const struct state *s);
/* The run was ended at its deadline. */
void run_times_out(const struct model *m, struct state *s, int engine, int check);

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
bool is_before(const struct model *m, struct place a, struct place b);
bool is_at(struct place a, struct place b);
/* The index of the first event behind this cursor, of those that may be read, or of all; -1: none.
 */
int event_behind(const struct model *m, const struct state *s, struct place cursor, bool of_all);
bool is_readable(const struct model *m, const struct state *s, struct place event);
void forget_event(struct journal *j, struct place event);
/* The consumer's cursor is past the event, and the consumer has not read it. */
bool is_skipped(const struct model *m, const struct state *s, struct place event);

/* Where the application wants the row next; 0: nowhere. */
int slot_promised(const struct model *m, const struct request *r, const struct row *row);
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
