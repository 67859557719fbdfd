/* store_sqlite_calls.h - the functions that carry out calls, by subject; store_sqlite.c has the
 * table of them. Each runs inside the transaction that the table asks for, and returns 0, or a
 * negative ERR_, which rolls it back. */
#ifndef PRESCIENT_STORE_SQLITE_CALLS_H
#define PRESCIENT_STORE_SQLITE_CALLS_H

#include "store_sqlite_db.h"

/* Small tenants are looked for among so many rows of a slot. */
enum { SQLITE_SMALL_LOOK = 200000 };

/* store_sqlite_slot.c */
int sqlite_open_slot(struct sqlite_store *db, struct store_call *call);
int sqlite_renew(struct sqlite_store *db, struct store_call *call);
int sqlite_release(struct sqlite_store *db, struct store_call *call);
/* As a JSON array, which the caller frees; NULL for NULL. */
int sqlite_names_as_json(const char *const *names, int n, char **out, struct err *err);
int sqlite_finish(struct sqlite_store *db, struct store_call *call);
int sqlite_relook(struct sqlite_store *db, struct store_call *call);
int sqlite_pauses(struct sqlite_store *db, struct store_call *call);
int sqlite_end_pauses(struct sqlite_store *db, struct store_call *call);
int sqlite_late_slot(struct sqlite_store *db, struct store_call *call);
int sqlite_recall(struct sqlite_store *db, struct store_call *call);
int sqlite_fine_slots(struct sqlite_store *db, struct store_call *call);
int sqlite_pulse(struct sqlite_store *db, struct store_call *call);
int sqlite_mark_swept(struct sqlite_store *db, struct store_call *call);

/* store_sqlite_place.c */
int sqlite_take_places(struct sqlite_store *db, struct store_call *call);
int sqlite_renew_places(struct sqlite_store *db, struct store_call *call);
int sqlite_return_places(struct sqlite_store *db, struct store_call *call);

/* store_sqlite_digest.c */
int sqlite_keep_digests(struct sqlite_store *db, struct store_call *call);
int sqlite_note_listeners(struct sqlite_store *db, struct store_call *call);
int sqlite_note_loads(struct sqlite_store *db, struct store_call *call);
int sqlite_note_runs(struct sqlite_store *db, struct store_call *call);
int sqlite_note_running(struct sqlite_store *db, struct store_call *call);
/* Inside of the settle that has renewed the check; `at_us` may be virtual. */
int64_t sqlite_write_digest(struct sqlite_store *db, const struct settlement *of, int64_t at_us,
                            int64_t clock_us, struct err *err);

/* store_sqlite_page.c */
int sqlite_read_page(struct sqlite_store *db, struct store_call *call);
int sqlite_settle(struct sqlite_store *db, struct store_call *call);

/* store_sqlite_prune.c */
int sqlite_prune(struct sqlite_store *db, struct store_call *call);

/* Enqueues one check inside the caller's transaction and reports what happened. `at` NULL: in the
 * next second. `at` of the answer is the slot in which it will be run, `id` that of the check. */
enum sqlite_filing { FILED_NEW, FILED_KEPT, FILED_MOVED, FILED_REPLACED, FILED_OUTCOMES };
struct sqlite_filed {
    enum sqlite_filing what;
    int64_t at, id;
};
const char *sqlite_filing_word(enum sqlite_filing what);        /* "new", ... */
int sqlite_enqueue(struct sqlite_store *db, struct sqlite_enqueue_in *wanted, struct sqlite_filed *out,
                   struct err *err);

/* store_sqlite_report.c */
int sqlite_report(struct sqlite_store *db, struct store_call *call);
bool sqlite_report_writes(const struct store_report *report);

/* store_sqlite_audit.c */
struct sqlite_audited {                 /* a row of the audit; what is NULL there may be NULL here */
    const char *who, *change, *what, *entity, *key, *job, *name, *before, *after, *reason;
};
int sqlite_note_change(struct sqlite_store *db, struct arena *a, const struct sqlite_audited *change,
                       struct err *err);
/* Who runs this program: a file has no users. */
const char *sqlite_user(struct arena *a);

/* store_sqlite_pause.c; `who`: for whom, NULL: nobody is known beside the system's user;
 * `tells_checks`: whether any wait for what is paused, too */
int sqlite_report_pause(struct sqlite_store *db, struct store_report *req);
int sqlite_report_resume(struct sqlite_store *db, struct store_report *req);
int sqlite_pause_for(struct sqlite_store *db, struct store_report *req, const char *who, bool tells_checks);
int sqlite_resume_for(struct sqlite_store *db, struct store_report *req, const char *who,
                      const char *reason);

/* store_sqlite_change.c */
int sqlite_report_change_checks(struct sqlite_store *db, struct store_report *req);
int sqlite_report_change_pause(struct sqlite_store *db, struct store_report *req);
int sqlite_report_change_schedule(struct sqlite_store *db, struct store_report *req);
int sqlite_report_change_delivery(struct sqlite_store *db, struct store_report *req);
/* The same without a row of the audit. */
int sqlite_deliver_again(struct sqlite_store *db, struct store_report *req);
/* Files again what failed: `wanted` has what failed, its time and the clock. */
int sqlite_retry_check(struct sqlite_store *db, struct sqlite_enqueue_in *wanted,
                       struct sqlite_filed *filed, struct err *err);

/* store_sqlite_cursor.c */
int sqlite_report_cursor_take(struct sqlite_store *db, struct store_report *req);
int sqlite_report_cursor_reset(struct sqlite_store *db, struct store_report *req);
/* ERR_INPUT for a cursor that this file cannot have given out: the next events would come before
 * it. NULL is 0. */
int sqlite_check_cursor(struct sqlite_store *db, const char *generation, const char *xid, const char *id,
                        struct err *err);

/* store_sqlite_doctor.c */
int sqlite_report_doctor(struct sqlite_store *db, struct store_report *req);
int sqlite_report_schedule_put(struct sqlite_store *db, struct store_report *req);
int sqlite_report_schedule_put_many(struct sqlite_store *db, struct store_report *req);
int sqlite_report_schedule_remove_many(struct sqlite_store *db, struct store_report *req);
int sqlite_report_schedule_switch(struct sqlite_store *db, struct store_report *req);
int sqlite_report_schedule_remove(struct sqlite_store *db, struct store_report *req);
int sqlite_schedule_put_for(struct sqlite_store *db, struct store_report *req, const char *who,
                            const char *reason);
int sqlite_schedule_switch_for(struct sqlite_store *db, struct store_report *req, const char *who);
int sqlite_schedule_remove_for(struct sqlite_store *db, struct store_report *req, const char *who,
                               const char *reason);
int sqlite_report_whole(struct sqlite_store *db, struct store_report *req);

/* store_sqlite_load.c, store_sqlite_post.c, store_sqlite_schema.c: these block and open their own
 * transactions */
int sqlite_post(struct store *st, const struct post_item *items, int n, const struct post_terms *terms,
                struct post_result *results, struct err *err);
int sqlite_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
                struct load_counts *out, int *bad, struct err *err);
int sqlite_migrate(struct store *st, const struct migrate_options *options, struct err *err);

/* Whether the lease is still in the file: 0, ERR_FENCED, or another ERR_. */
int sqlite_check_lease(struct sqlite_store *db, const struct lease *lease, struct err *err);

#endif
