/* doctor.h - what is examined by `prescient doctor`, by subject, and what was found. A look adds
 * findings; one that fails is a finding itself. */
#ifndef PRESCIENT_DOCTOR_H
#define PRESCIENT_DOCTOR_H

#include <jansson.h>
#include "../store/store.h"
#include "command.h"

enum level { OK, WARN, ERROR };

struct doctor {
    struct app *app;
    bool colour;
    json_t *findings;               /* with --json */
    int counts[3];
    bool full;                      /* also what takes long */
    bool reachable;                 /* the store answers; without it, looks that need it are skipped */
    struct store_hello hello;
    int64_t wall_us;                /* the machine's clock in the middle of the hello */
    struct store_rows status;
};

/* `advice` may be NULL or empty. */
void doctor_finding(struct doctor *d, enum level level, const char *what, const char *found,
                    const char *advice);
void doctor_failed(struct doctor *d, const char *what, const struct err *err, const char *advice);
/* The level of that name; one that is not known is an error. */
enum level doctor_level_named(const char *name);

/* Lives in the arena of the command. */
const char *doctor_text(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One word for a shell. Whoever names a schedule or a row must not write a line for an admin. */
const char *doctor_shell_word(struct doctor *d, const char *value);

/* What is here: the settings, their jobs and listeners (doctor_settings.c). */
void doctor_settings(struct doctor *d);
void doctor_jobs(struct doctor *d);
void doctor_serve(struct doctor *d);
void doctor_attempts(struct doctor *d);
void doctor_listeners(struct doctor *d);
void doctor_digests(struct doctor *d);

/* The store, and what it finds itself (doctor_store.c). */
void doctor_connection(struct doctor *d);
void doctor_schema(struct doctor *d);
void doctor_objects(struct doctor *d);
void doctor_tokens(struct doctor *d);
void doctor_clock(struct doctor *d);
void doctor_status(struct doctor *d);
void doctor_inside(struct doctor *d);
void doctor_growth(struct doctor *d);
void doctor_plan(struct doctor *d);
void doctor_pooler(struct doctor *d);
void doctor_whole(struct doctor *d);

/* Checks that wait for somebody (doctor_checks.c). */
void doctor_put_off(struct doctor *d);
void doctor_waiting_jobs(struct doctor *d);
void doctor_refused(struct doctor *d);
void doctor_pauses(struct doctor *d);
void doctor_schedules(struct doctor *d);

#endif
