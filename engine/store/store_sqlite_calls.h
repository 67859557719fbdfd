/* store_sqlite_calls.h - what each call does, by subject; store_sqlite.c has the table. All run
 * inside the transaction that the table asks for, and return 0 or a negative ERR_ that undoes it.
 */
#ifndef PRESCIENT_STORE_SQLITE_CALLS_H
#define PRESCIENT_STORE_SQLITE_CALLS_H

#include "store_sqlite_db.h"

/* store_sqlite_slot.c */
int lite_open_slot(struct lite *db, struct store_call *call);
int lite_renew(struct lite *db, struct store_call *call);
int lite_release(struct lite *db, struct store_call *call);
int lite_finish(struct lite *db, struct store_call *call);
int lite_relook(struct lite *db, struct store_call *call);
int lite_late_slot(struct lite *db, struct store_call *call);
int lite_pulse(struct lite *db, struct store_call *call);
int lite_mark_swept(struct lite *db, struct store_call *call);

/* store_sqlite_page.c */
int lite_read_page(struct lite *db, struct store_call *call);
int lite_settle(struct lite *db, struct store_call *call);

/* store_sqlite_prune.c */
int lite_prune(struct lite *db, struct store_call *call);

/* store_sqlite_report.c */
int lite_report(struct lite *db, struct store_call *call);
bool lite_report_writes(const struct store_report *report);

/* store_sqlite_doctor.c */
int lite_report_doctor(struct lite *db, struct store_report *req);
int lite_report_whole(struct lite *db, struct store_report *req);

/* store_sqlite_load.c, store_sqlite_schema.c: these block and open their own transactions */
int lite_load(struct store *st, const struct load_row *rows, int n, const char *conflict, int64_t now,
              struct load_counts *out, int *bad, struct err *err);
int lite_migrate(struct store *st, const struct migrate_options *options, struct err *err);

/* Files one check inside the caller's transaction and says what happened. `check_at` and
 * `priority` are words, as the views take them; with check_at NULL, `at` and `priority_number`
 * count. `at` of the answer is the slot that it will be looked at. */
enum lite_outcome { LITE_NEW, LITE_KEPT, LITE_MOVED, LITE_REPLACED, LITE_OUTCOMES };
struct lite_wanted {
    const char *entity_name, *entity_key, *job_exec, *check_at, *payload, *conflict, *priority;
    int64_t at;
    int32_t priority_number;
};
struct lite_filed {
    enum lite_outcome what;
    int64_t at;
};
int lite_enqueue(struct lite *db, const struct lite_wanted *wanted, int64_t now, struct lite_filed *out,
                 struct err *err);

/* Whether the lease is still in the file: 0, ERR_FENCED in words, or another ERR_. */
int lite_check_lease(struct lite *db, const struct lease *lease, struct err *err);

#endif
