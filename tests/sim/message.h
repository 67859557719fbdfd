/* message.h - a call on its way from an engine's store to the database and back. It is a copy,
 * because the engine that sent it may be dead when it arrives. */
#ifndef PRESCIENT_SIM_MESSAGE_H
#define PRESCIENT_SIM_MESSAGE_H

#include "../../engine/store/store_place.h"
#include "../../engine/store/store_slot.h"
#include "db.h"

enum { EFFECTS_MAX = 3, PAGE_MAX = 64, WATCHED_MAX_SENT = BUCKETS * 2, PLACES_SENT = 32 };

struct sent_effect {
    enum effect_kind kind;
    int key;
    int64_t at;
    enum conflict conflict;
};

struct sent_settlement {
    struct settlement s;            /* its pointers are not valid here */
    int key;
    int64_t id, slot;
    int32_t check_count, failure_count;
    int run;                        /* the run whose answer it is, by its text; -1: unknown */
    struct sent_effect effects[EFFECTS_MAX];
    int neffects;
};

/* As struct store_place, of a key by its number. */
struct sent_place {
    int concurrency;
    int32_t lasts_s, number, places;
    int64_t token;
    bool is_lost, is_wanted;
};

struct sent_check { int key, bucket; struct version v; };

struct message {
    struct message *older, *spare;
    struct link *link;              /* waits for the answer; NULL: no longer */
    const struct db *db;
    uint64_t connection;
    int host, start;
    int64_t sent_boot_us, arrived_us;
    struct tx *tx;
    bool served, arrived;           /* answered by the database; the answer has come back */
    bool lose_answer;
    int64_t answer_delay_us;
    int rc;
    const char *error_text;
    enum store_op op;
    union {
        struct store_call call;
        struct store_hello hello;
        struct store_open_slot open;
        struct store_renew renew;
        struct store_release release;
        struct store_read_page read;
        struct store_settle settle;
        struct store_take_places take_places;
        struct store_renew_places renew_places;
        struct store_return_places return_places;
        struct store_finish finish;
        struct store_relook relook;
        struct store_pulse pulse;
        struct store_fine_slots fine;
        struct store_pauses pauses;
        struct store_end_pauses end_pauses;
        struct store_late_slot late;
        struct store_recall recall;
        struct store_mark_swept swept;
        struct store_keep_days days;
        struct store_prune prune;
    } u;
    bool any_job;                   /* open, fine slots, read; finish: all were read */
    bool jobs[JOBS];                /* open, fine slots, read: wanted; finish: left */
    unsigned char owner[STORE_OWNER_SIZE];
    struct lease leases[WATCHED_MAX_SENT];          /* open: watched; renew, release */
    struct sent_place places[PLACES_SENT];
    int nplaces;
    struct sent_settlement *settlements;
    int settlements_room;
    struct sent_check page[PAGE_MAX];
    int npage;
    struct relook_slot slots[BUCKETS];
    struct pause_row pauses[PAUSES_MAX];
    int npauses;
};

/* The transaction of its statement, begun when there is none. */
struct tx *message_tx(struct db *db, struct message *m);

/* Copies the request into the message, and the answer back into the request. */
void message_take(struct message *m, const struct store_call *call);
int message_give(const struct message *m, struct store_call *call);

/* "order 17" is key 17, job "j2" is 2; -1: unknown. */
int key_of(const char *entity_key);
int job_of(const char *job);
int concurrency_of(const char *key);             /* "c1" is 1 */
const char *message_name(enum store_op op);

#endif
