/* state.h - one state of the model: the database, the engines, and the requests and answers between
 * them. All of it is bit fields, so that millions of states fit into memory. All zeroes is the
 * empty world. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "rules.h"

enum { CHECKS = 2, SLOTS = 5, ENGINES = 2, STRAYS = 2, BUCKETS = 2, CLERKS = 2, PLACES = 2, LOOSE = 2 };
/* The slot of a pause, far after all others: it never begins. */
enum { PAUSE_SLOT = SLOTS };
/* ticks of a lease whose database had its clock set back: it does not expire in this scenario */
enum { FAR = 7 };

/* ---- the database ---- */

/* A check of future_job. slot 0: no row; a slot after the scenario's last one: ignored. The last
 * five fields are no columns but the model's own notes. */
struct row {
    uint32_t slot : 3, id : 4, count : 1, fails : 2, deferred : 1, again : 3;
    uint32_t first : 3, terms : 1;      /* of a schedule's check: its first_check_at, its rule */
    uint32_t runs : 2;                  /* jobs started for it as it stands */
    /* a transaction that asked for it has committed, and no run has begun since */
    uint32_t owed : 1;
    /* its id was issued after a failover: another row may have had it before */
    uint32_t reborn : 1;
    /* it took an answer that changed nothing that a settle compares, and no run has begun since */
    uint32_t written : 1;
    uint32_t keys : 6;                  /* a bit for each first slot under which this id has run */
};

enum { PASS_NONE, PASS_OPEN, PASS_CLOSED };
/* slot_pass: done has a bit for each finished bucket. older: transactions that were running when
 * seen_xid was taken. */
struct pass {
    uint16_t state : 2, split : 2, done : 2, seen : 1, trimming : 1, older : 7;
};

/* ticks: until expires_at; 0: expired or not there. owner: engine + 1, or NOBODY when that
 * process is dead. */
enum { NOBODY = 3 };
struct lease {
    uint8_t ticks : 3, owner : 2;
};

enum pause { PAUSE_NONE, PAUSE_ON, PAUSE_ENDING };

struct db {
    struct row row[CHECKS];
    struct pass pass[SLOTS + 1];
    struct lease lease[SLOTS + 1][BUCKETS];
    struct lease place[PLACES];         /* of the key (places.c): number 1 is the first */
    uint16_t rounds : 12;               /* a bit for each slot and bucket whose first round is over */
    uint8_t next_id : 4, mark : 3;
    uint8_t noted : 3;                  /* the next mark, as soon as these transactions are over */
    uint8_t schedule_on : 1, schedule_terms : 1;
    uint8_t pause : 2;
    uint8_t noted_older : 7;
    /* how many places the key has; ticks until none over that number is in use; ticks in which no
     * place is taken, after this history has begun */
    uint8_t places : 2, fewer : 3, young : 3;
};

/* ---- engines ---- */

enum item_state {
    ITEM_OUT,
    ITEM_WAITING,
    ITEM_RUNNING,
    ITEM_ANSWERED,
    ITEM_SETTLING,
    ITEM_TOUCHED,
    ITEM_LOCKED,
    ITEM_SUPERSEDED
};
enum answer { ANSWER_DONE, ANSWER_AGAIN, ANSWER_FAIL, ANSWER_DEFER };

/* A check in a page, as it was read, and its answer; `to`: the slot it is to move to. */
struct item {
    uint32_t state : 3, id : 4, count : 1, fails : 2, answer : 2, to : 3;
    uint32_t reborn : 1;                /* of the row that was read */
    /* the model's note: another engine has settled the same run */
    uint32_t settled : 1;
    uint32_t terms : 1;
    uint32_t put_off : 1;               /* moved without a run */
    uint32_t busy : 1;                  /* put off, since its key is */
    uint32_t left : 2;                  /* of a run with a key: ticks until its deadline */
    uint32_t looked : 1;                /* a worker has looked at the windows, and not yet started it */
};

/* Whether a holder's (owner, token) matches the lease in the database. */
enum {
    TOKEN_GOOD = 1,                     /* the lease has this token */
    TOKEN_STANDBY = 2,                  /* the standby's copy of the lease has it */
    /* from a sequence value that a failover has lost or will lose: it will be issued again */
    TOKEN_AFTER = 4,
    TOKEN_FAKE = 8                      /* the lease of another owner has the same number by now */
};

enum request_kind {
    REQUEST_NONE,
    REQUEST_OPEN,
    REQUEST_RENEW,
    REQUEST_SETTLE,
    REQUEST_FINISH,
    REQUEST_TAKE_PLACE,
    REQUEST_RENEW_PLACE,
    REQUEST_RETURN_PLACE
};
enum result { RESULT_NONE, RESULT_GOOD, RESULT_LOST };
enum target_kind { TARGET_SLOT, TARGET_SWEEP, TARGET_RESLOT, TARGET_RESUME };

/* A call to the store: on its way, at the database, or on its way back (result). A settle writes
 * `item`. */
struct request {
    uint32_t kind : 3, looked : 1, result : 2, slot : 3, bucket : 1, whole : 1, token : 4, owner : 2,
        target : 2;
    uint32_t xid : 4;                   /* of a settle, where events are read; 0: none */
    uint32_t no_lease : 1, complete : 1, leave_rows : 1, failed_over : 1, skipped : 2, cursor : 5, at : 3;
    uint32_t found_pause_on : 1, locks_pause : 1;       /* of a settle that moves checks there */
    uint32_t hears : 1;                 /* of a settle: its engine has the listener */
    uint8_t older : 7;
    uint8_t place : 2, place_good : 1, place_standby : 1;
    uint8_t partial : 1, unlisted : 1;  /* of a lease for the first round (rounds.c) */
    struct item item[CHECKS];
};

enum engine_mode { AWAKE, FROZEN_ALONE, FROZEN_WITH_WORKER };

/* What an engine keeps of an earlier pulse: its time, then also the transactions that ran. */
enum pulse { PULSE_NONE, PULSE_HAS_TIME, PULSE_HAS_SNAPSHOT, PULSE_HAS_BOTH };

/* An engine: its lease (leased), its page, and its call under way. */
struct engine {
    uint32_t mode : 2, leased : 1, slot : 3, bucket : 1, whole : 1, target : 2, token : 4, trust : 2,
        call_trust : 2,                 /* trust, once the call has succeeded */
        low : 3, pulse : 2, pulse_at : 3,       /* pulse.c */
        /* the place that it holds, 0: none; as TOKEN_GOOD and TOKEN_STANDBY; until when a worker
         * may start a check under it */
        place : 2, place_good : 1, place_standby : 1, place_trust : 2;
    /* complete: the reads have missed no row. must_renew: the lease, before any other call.
     * failed_over: the database did, since the lease was taken. skipped: a bit for each check that
     * stays in the slot. */
    uint32_t no_lease : 1, exhausted : 1, began : 1, complete : 1, failed_over : 1, must_renew : 1,
        leave_rows : 1, skipped : 2, leaving : 1, cursor : 5, pulse_older : 7,
        pause : 2;                      /* as the engine has heard of it */
    /* transactions with ids below X, that of the open_slot, which still run */
    uint8_t older : 7;
    uint8_t watch : 4, watch_left : 3;
    /* its lease is for the first round. Planted: it does not know whom to leave to the last one;
     * the last one reads the rest, too */
    uint8_t partial : 1, unlisted : 1, reads_rest : 1;
    struct item item[CHECKS];
    struct request call;
};

/* ---- the application: one open transaction at a time ---- */

enum app_phase { APP_IDLE, APP_DECIDED, APP_WRITTEN };
enum app_effect { APP_NOTHING, APP_INSERT, APP_NEW_LIFE, APP_MOVE, APP_AGAIN, APP_DELETE, APP_KEPT };
struct app {
    uint32_t phase : 2, op : 7, check : 1, at : 3, to : 3, has_id : 1, txns_left : 2,
        effect : 3, id : 4, locks : 1, late : 1,
        passed : 1;                     /* another transaction has ended since it has its id */
};

/* ---- transactions that change a schedule: two at a time (clerks.c) ---- */

enum clerk_op { CLERK_NONE, CLERK_EDIT, CLERK_OFF, CLERK_REPAIR };
enum clerk_phase { CLERK_BEGUN, CLERK_HAS_ONE, CLERK_HAS_BOTH };
enum clerk_effect { CLERK_LEAVES, CLERK_ASKS_AGAIN, CLERK_NEW_LIFE, CLERK_DELETES, CLERK_INSERTS };
struct clerk {
    uint16_t op : 2, phase : 2, to : 3, effect : 3, holds_check : 1, holds_schedule : 1;
};

/* ---- events, and their consumer ---- */

/* The position of an event, also in a consumer's cursor: by generation, then by transaction id.
 * got: a command has taken the event, or a digest has it. */
struct place {
    uint8_t there : 1, generation : 2, xid : 4, got : 1;
};

/* The events that the consumer has not read, in their order; the next transaction id of this
 * server; the newest generation noted, and the history that it was noted for. */
enum { EVENTS = 4, LAST_XID = 15 };
struct journal {
    struct place event[EVENTS];
    uint8_t next_xid : 4, generation : 2, noted_for : 2;
    uint8_t unused[3];
};

/* ---- deliveries (deliveries.c) ---- */

/* An event that a listener of the engine hears, by what the key of its delivery is made of: the
 * answered run as it was read; of a deferral its slot, too. other: the data differ from those that
 * a lost history had. filed: its delivery has been created. */
struct letter {
    uint16_t there : 1, count : 1, fails : 2, deferral : 1, slot : 3, other : 1, filed : 1;
};

/* Events that were heard, in their order. pending: that of the delivery which is check 1. */
enum { LETTERS = 5 };
struct post {
    struct letter event[LETTERS], pending;
};

/* ---- writers of events, and consumers with a cursor in the store (consumers.c, digests.c) ---- */

enum { CONSUMERS = 2, WRITERS = 2, DIGESTS = 3 };

/* Transactions that write an event each: how many are left, and the ids of those that are open. */
struct writers {
    uint8_t left : 2, unused : 6;
    uint8_t xid[WRITERS];
};

/* The cursor of a name, and its lease. owner: consumer + 1, or NOBODY. */
struct subscription {
    struct place cursor;
    uint8_t ticks : 3, owner : 2;
};

enum consumer_phase { CONSUMER_IDLE, CONSUMER_LOOKED, CONSUMER_HAS_EVENT, CONSUMER_RUNS, CONSUMER_DONE };

/* A consumer: the cursor as read, the event that its command gets. good, on_standby: as TOKEN_GOOD
 * and TOKEN_STANDBY. */
struct consumer {
    struct place cursor, event;
    uint8_t frozen : 1, leased : 1, good : 1, on_standby : 1, must_renew : 1, phase : 3;
    uint8_t trust : 2;
};

/* A move of the cursor whose sender waits no longer. */
struct late_move {
    struct place cursor, event;
    uint8_t there : 1, good : 1;
    uint8_t unused;
};

/* A digest that was filed: its events lie behind `after`, up to `upto`. */
struct digest {
    struct place after, upto;
};

/* A run that nobody waits for: its engine was killed, or has lost the lease of its check. engine:
 * the one that knows of it, 1 or 2; 0: none. */
struct loose {
    uint8_t there : 1, left : 2, engine : 2;
};

enum replication { REPLICATES, REPLICATION_STOPPED, FAILED_OVER };
struct state {
    uint8_t clock : 3;                  /* the slot that runs by the database's clock */
    uint8_t faults : 3, replication : 2;
    uint8_t was_paused : 1, resuming : 1;       /* pause.c */
    uint8_t lowered : 1, raised : 1;    /* the number of places */
    struct loose loose[LOOSE];
    struct app app;
    struct clerk clerk[CLERKS];
    struct engine engine[ENGINES];
    struct request stray[STRAYS];       /* requests whose sender waits no longer */
    struct db db;
    struct db standby;                  /* used only where a failover may lose commits */
    /* Last: used only where events are read. */
    struct journal journal, standby_journal;
    struct place cursor;                /* the consumer's */
    uint8_t history : 2;                /* the timeline, and the start of the server */
    uint8_t unused[2];
    /* Used only where events are delivered, or writers write them. */
    struct post post, standby_post;
    struct letter sent[LETTERS];        /* deliveries that a job was started for, in any history */
    struct subscription subscription, standby_subscription;
    struct consumer consumer[CONSUMERS];
    struct late_move late_move;
    struct writers writers;
    struct digest digest[DIGESTS];
    uint8_t unused_too[1];
};

void state_init(struct state *s, const struct rules *rules);
/* Gives equivalent states the same bytes. True when the two engines changed places. */
bool state_canonize(struct state *s, const struct rules *rules);

/* ---- questions ---- */

bool in_bucket(int check, int bucket, bool whole);
/* The place of a row in the order of pages: by id, in a whole slot by bucket and id. */
int place_of(int check, int id, bool whole);
bool in_sight(const struct row *row, const struct rules *rules);
/* A check in a slot that is looked at; none is looked for in the slot of a pause that is on. */
bool is_waiting(const struct state *s, int check, const struct rules *rules);
bool slot_has_rows(const struct db *db, int slot);
bool bucket_has_rows(const struct db *db, int slot, int bucket, bool whole);
bool is_locked(const struct state *s, int check);
/* locked by a transaction that keeps the row and changes nothing in it */
bool is_kept(const struct state *s, int check);
bool all_done(const struct pass *p);
int owner_of(const struct rules *rules, int engine);
/* An open settle has locked the lease against changes. */
bool is_shared(const struct state *s, const struct rules *rules, int slot, int bucket);

/* ---- changes that several steps share ---- */

/* Transactions that have an id and are not over, a bit each: the application's, one for the call of
 * each engine, one for each stray, one for each that changes a schedule. */
enum { XID_APP = 1, XID_ENGINE = 2, XID_STRAY = 8, XID_CLERK = 32, ALL_XIDS = 127 };
int running_xids(const struct state *s, const struct rules *rules);
void xid_over(struct state *s, int bit);

/* A holder of a token: an engine's lease, an engine's call, or a stray. A whole slot is bucket 0.
 */
struct holder { unsigned slot, bucket, owner, token; };
enum { HOLDERS = 2 * ENGINES + STRAYS };
/* false: no holder with this number */
bool holder_get(const struct state *s, const struct rules *rules, int n, struct holder *out);
void holder_set_token(struct state *s, int n, unsigned token);
void lease_changed(struct state *s, int slot, int bucket);      /* all watching of it ends */
void lease_gone(struct state *s, int slot, int bucket);
void engine_drop_run(struct engine *e);

/* ---- places (number 1 is the first) ---- */

void place_gone(struct state *s, int number);                   /* no token matches it any more */

#endif
