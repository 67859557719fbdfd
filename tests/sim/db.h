/* db.h - the simulated database that all engines of a world share: rows in two versions, the
 * committed one and that of a running transaction; leases by the database's clock; and a function
 * for each statement of the store's contract. Its promises are those of the PostgreSQL store: a
 * statement sees the rows that were committed when it began, writers lock rows, a commit may come
 * long after its statement, and a transaction gets its number before it reads the clock. */
#ifndef PRESCIENT_SIM_DB_H
#define PRESCIENT_SIM_DB_H

#include "../../engine/store/store_slot.h"
#include "world.h"

struct message;
struct tx;

/* By which a schedule's check recurs. */
struct rule {
    bool is_cron;
    int32_t period_s;               /* of a cron text: minutes of the hour, all that it divides */
    int32_t bias;                   /* ten thousandths; only without a cron text */
    const char *missed;
};
enum { RULES = 6, TERMS_SIZE = 160 };

/* What is unusual about a check: the number of its rule, and from when on that holds, as in
 * rules/terms.h (0: not there). For the checker: no engine has found its first occurrence, and the
 * slot in which an edit leaves it to be found. */
struct check_terms {
    bool exists;
    int rule;
    int64_t from, sought;
    bool is_unfound;
    int64_t looks_at;
};

struct version {
    bool exists;
    int64_t id;
    int64_t first_at, next_at, deferred_at, put_off_at, again_at;
    int32_t priority, check_count, failure_count;
    struct check_terms terms;
};

struct schedule_version { bool is_on; int rule; };

/* The schedule of the check with the same number. */
struct schedule {
    struct schedule_version is, will;
    struct tx *by;
};

/* One row for each key. Its checks come and go, and differ by their ids. */
struct row {
    int key, job, bucket;
    int concurrency;                /* the number of their concurrency key; -1: they have none */
    struct version is, will;        /* committed; as changed by `by` */
    struct tx *by;                  /* the transaction that has locked it */
    struct check_terms read;        /* as an engine has read them last */
    int64_t read_id, read_slot;     /* of that check, there */
    bool is_reread;                 /* it was read there before, with terms that an engine may go by */
};

enum pause_state { NOT_PAUSED, PAUSED, RESUMING, RESUMED };

struct pause_version { enum pause_state state; bool is_reslotted; };

enum { PAUSES_MAX = 6 };
struct pause_row {
    int64_t slot;
    int job, key;                   /* of a job, -1: of the schedule of the key */
    struct pause_version is, will;
    struct tx *by;
    int shares;                     /* settles and openings under way */
    int64_t since_us;               /* when its last change was committed */
};

struct lease_version {
    bool exists;
    unsigned char owner[STORE_OWNER_SIZE];
    int64_t token, expires_us;
    int host, start;                /* its owner: the host, and the number of engine starts there */
    int64_t sent_boot_us;           /* when its owner sent the take or renewal, by the owner's clock */
};

struct lease_row {
    int64_t slot;
    int32_t bucket;
    struct lease_version is, will;
    struct tx *by;
    int shares;                     /* settles under way: no engine takes it over */
};

struct slot_row {                   /* the opening row, and the sum of its passes */
    int64_t slot;
    bool exists, closed;
    struct tx *by;
    int split;
    int64_t opened_us;              /* when it was opened first */
    uint64_t done;                  /* a bit for each finished bucket; bit 0 for the whole slot */
    unsigned char left[BUCKETS];    /* by its last pass: a bit for each job that its engine lacks */
    /* of the opening transaction: for later ones the slot has begun */
    int64_t xid;
    /* empty_xid: the look that found the slot empty; 0: no such look. seen_xid: the newest look */
    int64_t empty_xid, seen_xid;
};

/* A place of a concurrency key. */
struct place_version {
    bool exists, is_wanted;
    unsigned char owner[STORE_OWNER_SIZE];
    int64_t token, expires_us;
    int32_t lasts_s;
    int host, start;                /* its owner, as that of a lease */
    int64_t sent_boot_us;
};

struct place_row {
    int concurrency;
    int32_t number;                 /* from 1 on */
    struct place_version is, will;
    struct tx *by;
};

/* LIMITS: patterns that say how many places there are: one for each key, and one for all keys. */
enum { PLACES_OF_KEY = 3, LIMIT_OF_ALL = CONCURRENCY_MAX, LIMITS };

/* RECORD_PUT_OFF: the settle moves the check on without a run; no row is written of that. */
enum record_kind { RECORD_HISTORY, RECORD_RUN, RECORD_EVENT, RECORD_PUT_OFF };

/* A row of one of the logs. */
struct record {
    enum record_kind kind;
    int key;
    int64_t id, slot;
    int32_t check_count, failure_count;     /* as read */
    enum outcome outcome;
    bool ran;
    int run;                        /* the run whose answer it is, by its text; -1: unknown */
    int host;                       /* -1: an application */
};

struct pass { struct slot_row *slot; int32_t bucket; bool complete; unsigned char left; };

enum { TX_LEASES = 64, TX_RECORDS = 256, TX_CLOSES = 64 };

struct tx {
    struct tx *following;           /* in the list of running ones, or of spare ones */
    struct tx **holder;             /* the pointer of its beginner, set to NULL when it is over */
    bool committing;                /* its work is done: it waits for the disk */
    int64_t xid;
    int host, start;                /* its engine; -1: an application */
    struct row *rows[KEYS_MAX];
    int nrows;
    struct schedule *schedules[SCHEDULES_MAX];
    int nschedules;
    struct pause_row *pauses[PAUSES_MAX], *shared_pauses[PAUSES_MAX];
    int npauses, nshared_pauses;
    int64_t pause_change;
    struct lease_row *leases[TX_LEASES];
    int nleases;
    struct lease_row *shared;
    struct place_row *places[CONCURRENCY_MAX * PLACES_OF_KEY];
    int nplaces;
    struct slot_row *opens, *reopens, *closes[TX_CLOSES];
    int ncloses;
    bool clears;                    /* removes expired leases on closed slots */
    struct pass pass;               /* slot NULL: none */
    struct record records[TX_RECORDS];
    int nrecords;
    int64_t mark, noted;            /* 0: not moved */
    int64_t full_look_at;           /* 0: none */
    bool makes_day;
    bool asks_at_once;              /* it files checks under fine slots */
    bool files;                     /* it enqueues or reschedules checks */
};

struct db {
    struct world *w;
    int64_t clock_offset_us;        /* from true time */
    int64_t clock_most_us;          /* the latest time that its clock has shown */
    int64_t next_xid, next_id, next_token;
    int64_t over_xid;               /* the greatest of the transactions that are over */
    int64_t incarnation;            /* how often the server was started; 0 would be a store without ids */
    struct row rows[KEYS_MAX];
    struct rule rules[RULES];
    struct schedule schedules[SCHEDULES_MAX];
    struct pause_row pauses[PAUSES_MAX];
    int npauses;
    int64_t pause_change;           /* the number of the last one */
    struct tx *pausing;             /* has changed pauses, and is not over */
    struct place_row places[CONCURRENCY_MAX][PLACES_OF_KEY];
    int32_t limits[LIMITS];         /* 0: nobody has set it */
    bool generation_is_new;         /* the server has started, and nobody has begun its generation */
    int64_t generation_us;          /* when it began, by the database's clock; 0: it is the first */
    struct lease_row **leases;
    int nleases, leases_room;
    struct slot_row **slots;
    int nslots, slots_room;
    struct tx *running, *spare;
    int64_t full_look_at;
    int64_t mark;                   /* of the sweep */
    int64_t noted, noted_xid;       /* the next mark, when the transactions older than noted_xid are over */
    bool read_only, day_missing;
    int64_t down_until_us, commits_hang_until_us;
};

void db_make(struct world *w);
void db_free(struct world *w);

static inline int64_t db_clock_us(const struct db *db) { return db->w->now_us + db->clock_offset_us; }
void db_set_clock(struct db *db, int64_t by_us);

/* Ends all transactions: by a rollback, or by a commit that was under way. */
void db_go_down(struct db *db);

/* True when no check waits, no lease or place remains, every slot is closed and no transaction
 * runs; else `remaining` describes the rest. */
bool db_is_done(const struct db *db, char *remaining, size_t size);

/* ---- transactions ---- */
struct tx *tx_begin(struct db *db, struct tx **holder);
void tx_commit(struct db *db, struct tx *tx);
void tx_roll_back(struct db *db, struct tx *tx);
/* The row with its lock held, `will` to be changed; NULL: another transaction holds it. */
struct version *tx_row(struct tx *tx, struct row *row);
const struct version *tx_sees(const struct tx *tx, const struct row *row);
struct lease_version *tx_lease(struct tx *tx, struct lease_row *lease);        /* NULL: locked */
struct record *tx_record(struct tx *tx, enum record_kind kind, const struct row *row,
                         const struct version *as_read);
void tx_undo_rows(struct tx *tx);       /* a statement waits: its rows stay locked, unchanged */
void tx_forget_rows(struct tx *tx);      /* a statement restarts: drops all but the lease it shares */

struct lease_row *db_lease(struct db *db, int64_t slot, int32_t bucket, bool make);
struct slot_row *db_slot(struct db *db, int64_t slot, bool make);
/* The oldest running transaction, or `own` if none is older. */
int64_t oldest_running(const struct db *db, int64_t own);
/* (bucket,) priority, id */
bool is_after(const struct row *row, const struct page_cursor *after, bool whole);
/* Some keys are of small tenants, in each slot. */
bool row_is_of_small(const struct row *row);
bool row_is_in(const struct version *v, const struct row *row, int64_t slot, int32_t bucket);

/* ---- applications and effects (db_api.c); BLOCKED when another transaction holds the row ---- */
enum served { ANSWERED, COMMITS, BLOCKED };

enum conflict { CONFLICT_KEEP, CONFLICT_EARLIER, CONFLICT_REPLACE };
enum served api_enqueue(struct db *db, struct tx *tx, int key, int64_t at, enum conflict conflict,
                        int32_t priority);
enum served api_enqueue_now(struct db *db, struct tx *tx, int key, enum conflict conflict);
enum served api_reschedule(struct db *db, struct tx *tx, int key, int64_t at);
enum served api_resolve(struct db *db, struct tx *tx, int key);

/* ---- schedules (db_schedule.c) ---- */
void rules_draw(struct db *db);
/* As the store keeps them. */
void terms_write(const struct db *db, int key, const struct check_terms *terms, char out[TERMS_SIZE]);
/* The check is to find its rule's first occurrence, as finds_first() of 0009_schedules has it. */
bool finds_first(const struct db *db, const struct version *v);
/* What is asked for is an occurrence. */
void first_is_found(struct check_terms *terms);
/* The key's schedule; NULL: it has none. */
struct schedule *schedule_of(struct db *db, int key);
/* Makes it recur by this rule; if the schedule is off, that is only noted. */
enum served api_schedule(struct db *db, struct tx *tx, int key, int rule);
enum served api_switch(struct db *db, struct tx *tx, int key, bool on);
/* Before the check is ended. */
enum served schedule_resolved(struct db *db, struct tx *tx, int key);

/* ---- pauses (db_pause.c): of a job, or with job -1 of the schedule of the key ---- */
enum served api_pause(struct db *db, struct tx *tx, int job, int key);
enum served api_resume(struct db *db, struct tx *tx, int job, int key, bool reslot);
struct pause_row *pause_of_slot(struct db *db, int64_t slot);
/* A settle may move checks to its slot; that of a resumed one may be opened. Until `tx` is over. */
bool pause_takes(struct db *db, struct tx *tx, int64_t slot);
bool pause_may_be_opened(struct db *db, struct tx *tx, int64_t slot);
void pauses_committed(struct db *db, struct tx *tx);
void pauses_unlock(struct db *db, struct tx *tx);

/* ---- places of concurrency keys (db_places.c) ---- */
void concurrency_draw(struct db *db);
int32_t places_of(const struct db *db, int concurrency);        /* how many the key has */
bool place_is_held(const struct db *db, const struct place_row *place);
void places_committed(struct tx *tx);
void places_unlock(struct tx *tx);

/* ---- the statements of the store's contract (db_slots.c, db_settle.c, db_pause.c, db_places.c)
 * ---- */
/* Runs the message's statement. COMMITS: message->tx is to be committed, then it is answered.
 * BLOCKED: try again. */
enum served db_serve(struct db *db, struct message *m);

enum served db_open_slot(struct db *db, struct message *m);
enum served db_renew(struct db *db, struct message *m);
enum served db_release(struct db *db, struct message *m);
enum served db_read_page(struct db *db, struct message *m);
enum served db_settle(struct db *db, struct message *m);
enum served db_finish(struct db *db, struct message *m);
enum served db_relook(struct db *db, struct message *m);
enum served db_pauses(struct db *db, struct message *m);
enum served db_end_pauses(struct db *db, struct message *m);
enum served db_take_places(struct db *db, struct message *m);
enum served db_renew_places(struct db *db, struct message *m);
enum served db_return_places(struct db *db, struct message *m);

#endif
