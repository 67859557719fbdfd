/* consumer.h - one reader of events among those of one name: its lease in the store, what it reads,
 * and how it moves the cursor. What it may do at which time: tests/model, consumers.c. */
#ifndef PRESCIENT_CONSUMER_H
#define PRESCIENT_CONSUMER_H

#include "../rules/event_cursor.h"
#include "app.h"

enum { CONSUMER_NAME_MAX = 64 };

struct consumer {
    struct app *app;
    struct store *store;
    const char *name;
    bool is_new;                    /* the name was made when it was opened */
    char owner[33], holder[300], lease_ms[24];
    char cursor[EVENT_CURSOR_SIZE]; /* as it was read */
    char token[24];
    /* By clock_boot_us: commands may be started, and may run, until then; it counts from when that
     * was sent which renewed the lease. 0: the lease is not ours. */
    int64_t trusted_until_us;
    int64_t renew_at_us;            /* at the latest */
    /* The holder's lease, and since when (clock_mono_us) it has been as it is. */
    struct { char owner[33], token[24], until_us[24], holder[300]; int64_t since_us; } seen;
    int64_t pruned_at;              /* events were pruned that it had not read; 0: none */
};

int consumer_check_name(const char *name, struct err *err);

/* The store of the settings, opened by who needs the rights of an engine: the command `events` has
 * those of a reader. The caller frees it. */
int consumer_store(struct app *app, struct store **out, struct err *err);

/* Connects so, and makes the cursor of that name when there is none. */
int consumer_open(struct consumer *c, struct app *app, const char *name, struct err *err);
void consumer_release(struct consumer *c);          /* gives the lease back; zeroed is fine */

/* 1: the lease is ours, and `cursor` is as it is in the store; 0: `seen.holder` has it.
 * ERR_NOTFOUND: it was forgotten meanwhile. */
int consumer_take(struct consumer *c, struct err *err);
/* 1; 0: it is no longer ours. After an ERR_ that is not known. */
int consumer_renew(struct consumer *c, struct err *err);
/* Renews it when that is due. */
int consumer_keep(struct consumer *c, struct err *err);

/* Events behind the cursor, in their order, that no transaction can still come before. */
int consumer_read(struct consumer *c, struct arena *a, int most, struct store_rows *out, struct err *err);
/* 1: the cursor is `cursor` now, and the lease is renewed. 0: lease or cursor are not as we read
 * them, and nothing was changed. */
int consumer_move(struct consumer *c, const char *cursor, bool skipped, struct err *err);
void consumer_give_back(struct consumer *c);

/* The rows of a report. */
int consumer_ask(struct store *st, const char *report, const char *const *params, int n, struct arena *a,
                 struct store_rows *out, struct err *err);
/* A report of the store that changes at most one row: 1 when it did, 0, or an ERR_. */
int consumer_change(struct store *st, const char *report, const char *const *params, int n, struct err *err);

#endif
