/* state.h - one state of the model: what the database holds, what each engine believes, what is on
 * its way between them. A bit field each, so that millions of states fit into memory. All zeroes
 * is the empty world. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "rules.h"

enum { CHECKS = 2, SLOTS = 3, ENGINES = 2, STRAYS = 2, BUCKETS = 2 };
/* a lease of a database whose clock was set back: its end is not in sight */
enum { FAR = 7 };

/* ---- the database ---- */

/* A check of future_job. slot 0: there is none; one beyond the last slot of the scenario: out of
 * sight. The last three are no columns: they are the model's own notes. */
struct row {
    uint32_t slot : 3, id : 3, count : 1, fails : 1, deferred : 1, again : 3;
    uint32_t runs : 2;                  /* jobs started for it as it stands */
    /* asked for by a transaction that has committed, and no job was started since */
    uint32_t owed : 1;
    /* its id was drawn after a failover: it may have been another's before */
    uint32_t reborn : 1;
};

enum { PASS_NONE, PASS_OPEN, PASS_CLOSED };
/* slot_pass: done has a bit for each finished bucket. older: transactions that were running when
 * seen_xid was taken. */
struct pass {
    uint16_t state : 2, split : 2, done : 2, seen : 1, trimming : 1, older : 5;
};

/* left: ticks until expires_at; 0: expired or not there. owner: engine + 1, or NOBODY when that
 * process is dead. */
enum { NOBODY = 3 };
struct lease {
    uint8_t left : 3, owner : 2;
};

struct db {
    struct row row[CHECKS];
    struct pass pass[SLOTS + 1];
    struct lease lease[SLOTS + 1][BUCKETS];
    uint8_t next_id : 4, mark : 3;
    uint8_t noted : 3, noted_older : 5; /* what is to be the mark once these transactions are over */
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
    uint16_t state : 3, id : 3, count : 1, fails : 1, answer : 2, to : 3;
    uint16_t reborn : 1;                /* of the row that was read */
    /* the model's note: somebody else settled this very run number meanwhile */
    uint16_t settled : 1;
    uint16_t put_off : 1;               /* moved without having been run */
};

/* Does a holder's (owner, token) match the lease in the database? */
enum {
    TOKEN_GOOD = 1,                     /* it is the one in the lease */
    TOKEN_STANDBY = 2,                  /* it is the one in the standby's copy of the lease */
    /* given out by a sequence value that a failover lost or will lose: it comes again */
    TOKEN_AFTER = 4,
    TOKEN_FAKE = 8                      /* another owner's lease has the same number by now */
};

enum request_kind { REQUEST_NONE, REQUEST_OPEN, REQUEST_RENEW, REQUEST_SETTLE, REQUEST_FINISH };
enum result { RESULT_NONE, RESULT_GOOD, RESULT_LOST };
enum target_kind { TARGET_SLOT, TARGET_SWEEP, TARGET_RESLOT };

/* A call to the store on its way, at the database, or on its way back (result). For a settle: item
 * has what it writes. */
struct request {
    uint32_t kind : 3, looked : 1, result : 2, slot : 2, bucket : 1, whole : 1, token : 4, owner : 2,
        target : 2;
    uint32_t xid : 4;                   /* of a settle, where events are read; 0: none */
    uint32_t bare : 1, clean : 1, leave : 1, moved : 1, left : 2, cursor : 4, at : 3;
    uint8_t older : 5;
    struct item item[CHECKS];
};

enum engine_mode { AWAKE, FROZEN_ALONE, FROZEN_WITH_WORKER };

/* The lease an engine works under (leased), the page, and the call under way. */
struct engine {
    uint32_t mode : 2, leased : 1, slot : 2, bucket : 1, whole : 1, target : 2, token : 4, trust : 2,
        shadow : 2;
    uint32_t bare : 1, exhausted : 1, began : 1, clean : 1, moved : 1, doubt : 1, leave : 1, left : 2,
        leaving : 1, cursor : 4;
    /* moved: the database failed over since. */
    /* transactions with ids below X, that of the open_slot, which still run */
    uint8_t older : 5;
    uint8_t watch : 4, watch_left : 3;
    struct item item[CHECKS];
    struct request call;
};

/* ---- the application: one open transaction at a time ---- */

enum app_phase { APP_IDLE, APP_DECIDED, APP_WRITTEN };
enum app_effect { APP_NOTHING, APP_INSERT, APP_NEW_LIFE, APP_MOVE, APP_AGAIN, APP_DELETE, APP_KEPT };
struct app {
    uint32_t phase : 2, op : 6, check : 1, at : 3, to : 3, has_id : 1, left : 2, effect : 3, id : 3,
        locks : 1, late : 1;
};

/* ---- events, and who reads them ---- */

/* Where an event stands, for a consumer, and in its cursor: by generation, then by transaction id.
 */
struct place {
    uint8_t there : 1, generation : 2, xid : 5;
};

/* What the database has of events: those that the consumer has not been shown, in their order; the
 * next transaction id of this server; the newest generation noted, and the history that it was
 * noted for. */
enum { EVENTS = 4, LAST_XID = 15 };
struct journal {
    struct place event[EVENTS];
    uint8_t next_xid : 4, generation : 2, noted_for : 2;
    uint8_t unused[3];
};

enum replication { REPLICATES, REPLICATION_STOPPED, FAILED_OVER };
struct state {
    uint8_t clock : 3;                  /* the slot that runs by the database's clock */
    uint8_t faults : 3, replication : 2;
    struct app app;
    struct engine engine[ENGINES];
    struct request stray[STRAYS];       /* requests whose sender does not wait for them any more */
    struct db db;
    struct db standby;                  /* kept only where a failover may lose commits */
    /* Last: kept only where events are read. */
    struct journal journal, standby_journal;
    struct place cursor;                /* the consumer's */
    uint8_t history : 2;                /* which one this is, as a server knows it by its timeline */
    uint8_t unused[2];
};

void state_init(struct state *s, const struct rules *rules);
/* Brings what means the same into the same form. True when the two engines changed places. */
bool state_canonize(struct state *s, const struct rules *rules);

/* ---- questions ---- */

bool in_bucket(int check, int bucket, bool whole);
/* The place of a row in the order in which pages are read: by id, in a whole slot by bucket first.
 */
int place_of(int check, int id, bool whole);
bool in_sight(const struct row *row, const struct rules *rules);
bool slot_has_rows(const struct db *db, int slot);
bool bucket_has_rows(const struct db *db, int slot, int bucket, bool whole);
bool is_locked(const struct state *s, int check);
/* locked by somebody who found it pending, and changes nothing in it */
bool is_kept(const struct state *s, int check);
bool all_done(const struct pass *p);
int owner_of(const struct rules *rules, int engine);
/* An open settle's look at the lease keeps everybody from changing that. */
bool is_shared(const struct state *s, const struct rules *rules, int slot, int bucket);

/* ---- changes that several steps share ---- */

/* Transactions that have an id and are not over, a bit each: the application's, one a call of an
 * engine, one a stray. */
enum { XID_APP = 1, XID_ENGINE = 2, XID_STRAY = 8 };
int running_xids(const struct state *s, const struct rules *rules);
void xid_over(struct state *s, int bit);

/* Whoever shows a token: engines by their lease, their calls, strays. Bucket of a whole slot: 0. */
struct holder { unsigned slot, bucket, owner, token; };
enum { HOLDERS = 2 * ENGINES + STRAYS };
/* false: nobody there */
bool holder_get(const struct state *s, const struct rules *rules, int n, struct holder *out);
void holder_set_token(struct state *s, int n, unsigned token);
void lease_changed(struct state *s, int slot, int bucket);      /* nobody watches it any more */
void lease_gone(struct state *s, int slot, int bucket);
void engine_drop_run(struct engine *e);

#endif
