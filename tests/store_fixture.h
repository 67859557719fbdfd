/* store_fixture.h - a store to test: an empty one for each test, on whichever backend the suite
 * was set up for, and the few things most tests do with it. Virtual time: the slot that most tests
 * look at is SLOT, and it is running at NOW. */
#ifndef PRESCIENT_STORE_FIXTURE_H
#define PRESCIENT_STORE_FIXTURE_H

#include "test.h"

#include "../engine/store/store_report.h"
#include "../engine/store/store_slot.h"

#define LENGTH 900
#define SLOT INT64_C(1772370900)            /* 2026-03-01T13:15:00Z */
#define NOW (SLOT + 60)
#define BEFORE (SLOT - 100)                 /* when SLOT had not begun yet */
#define FUTURE INT64_C(4102444800)          /* 2100-01-01, a boundary of every slot length */
#define SCENE_MAX 16

/* Of a suite. A suite on PostgreSQL without a server is set up, and its tests do nothing. */
int fixture_setup_sqlite(void);
int fixture_setup_pg(void);
int fixture_teardown(void);

/* Empties the store; false when there is none. Every test begins with WITH_STORE(). */
bool fixture_begin(void);
#define WITH_STORE() do { if (!fixture_begin()) return; } while (0)

struct store *fixture_store(void);
void fixture_make_old(int days);             /* all that was written, by the real clock */
bool fixture_is_sqlite(void);
/* SQL as an application runs it, on a connection that lasts to the end of the test: it may leave a
 * transaction open. */
void fixture_run(const char *on_pg, const char *on_sqlite);
/* Another connection to the same store (url and engine are filled in), or to one that was never
 * made; the caller frees it. */
struct store *fixture_another(struct store_options changes);
struct store *fixture_nowhere(void);

extern struct err fixture_err;              /* of the last call that failed */
int fixture_call(struct store_call *call);

/* ---- comparing: says line, found and expected ---- */

void fixture_text_is(int line, const char *found, const char *expected);
void fixture_number_is(int line, int64_t found, int64_t expected);
#define TEXT_IS(expected, found) fixture_text_is(__LINE__, found, expected)
#define IS(expected, found) fixture_number_is(__LINE__, found, expected)

/* ---- reports ---- */

/* The rows live until the test ends; rows.rows is -1 when the report failed. */
struct store_rows fixture_report(const char *name, const char *const *params, int n);
#define REPORT(name, ...)                                                                                    \
    fixture_report(name, (const char *const[]){ __VA_ARGS__ },                                               \
                   (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))
/* What failed is put back, as `prescient retry` does it: NULL takes all. */
struct store_rows fixture_retry(const char *entity, const char *key, const char *job, const char *since,
                                const char *at, const char *now);
/* "NULL", "no such column" */
const char *cell(const struct store_rows *rows, int row, const char *column);
const char *text_of(int64_t n);             /* a parameter of a report */
/* A column of the newest row that the report (list, history, runs) has for ("orders", key); "none"
 * when there is no row. */
const char *value(const char *report, const char *key, const char *column);
int64_t number(const char *report, const char *key, const char *column);
int rows_in(const char *report);            /* how many rows it has without parameters */

/* ---- enqueue and friends: job "look" of row `key` of "orders" ---- */

/* "new +1": what happened, and how many slots after SLOT it is filed; "error CODE" for a failure.
 */
const char *filed_as(const struct store_rows *rows);     /* what such a report came back with */
const char *put(const char *key, int64_t at, const char *conflict, int64_t now);
void put_in_slot(int n);             /* checks of rows "1" to "9" at most, in SLOT */
const char *put_with(const char *key, const char *payload, int32_t priority);      /* into SLOT */
const char *put_any(const char *entity, const char *key, const char *job, const char *payload,
                    const char *conflict, int64_t at, int64_t now);
const char *reschedule(const char *key, int64_t at, int64_t now);
const char *resolve(const char *key);       /* how many, as text */

/* ---- slots ---- */

extern const unsigned char owner[STORE_OWNER_SIZE], stranger[STORE_OWNER_SIZE];

struct store_open_slot open_slot(const unsigned char *who, int lease_s);
struct lease take(void);                    /* a lease of SLOT, for a minute */
struct lease take_over(const struct lease *held);       /* by the stranger, who watched it */
struct check_rows read_page(const struct lease *lease, int want);

/* `n` checks of SLOT with keys "1" to "n", leased and read. answers[i] is DONE, for the check with
 * key i + 1. */
struct scene {
    struct lease lease;
    struct check_rows page;
    struct settlement answers[SCENE_MAX];
    int n;
};
struct scene scene_of(int n);
struct scene scene_of_slot(int n);          /* the same, of `n` checks that are there already */
void scene_end(struct scene *scene);
void answer_done(struct settlement *answer);
void answer_again(struct settlement *answer, int64_t at);
struct store_settle settle(struct scene *scene);        /* at NOW; the request as it came back */

bool finish(const struct lease *lease);     /* true when it finished */
struct store_relook relook(void);           /* .slots live until the next one */

#endif
