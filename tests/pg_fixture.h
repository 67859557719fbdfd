/* pg_fixture.h - what tests of the PostgreSQL store begin with: a database of their own, emptied
 * for each test, the store under test, and two sessions of applications that hold locks and read
 * what became of it. Virtual time: SLOT is running at NOW. */
#ifndef PRESCIENT_PG_FIXTURE_H
#define PRESCIENT_PG_FIXTURE_H

#include "test.h"

#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../engine/store/store_report.h"
#include "../engine/store/store_slot.h"
#include "pg_database.h"

#define SLOT INT64_C(1772370900)            /* 2026-03-01T13:15:00Z, long begun */
#define NOW (SLOT + 60)
#define LENGTH 900

extern struct pg_fixture {
    struct pg_database db;
    struct store *st;                       /* under test */
    PGconn *app, *other;
    struct err err;                         /* of the last call */
} pgfx;
extern const unsigned char pgfx_owner[STORE_OWNER_SIZE], pgfx_stranger[STORE_OWNER_SIZE];

/* A quarter as quick as the machine's: of a store that may be woken late, and is to hear of the
 * server's own time limit, which is a twentieth shorter than its own. */
extern const struct clock pgfx_slow;

int pgfx_setup(void);
int pgfx_teardown(void);
/* False when there is no server; else all tables are empty. */
bool pgfx_begin(void);
#define WITH_SERVER() if (!pgfx_begin()) return

/* Another store on the same database, with these options; the caller frees it. */
struct store *pgfx_new_store(const struct store_options *changes);

/* Says something else in the session of the store under test, between two calls. */
void pgfx_in_its_session(const char *sql);

PGresult *pgfx_ask(PGconn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The first cell as text, "" for none, or the SQLSTATE of a failure. */
const char *pgfx_cell(PGconn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define CELL_IS(conn, expected, ...)                                                                         \
    do {                                                                                                     \
        const char *c_ = pgfx_cell(conn, __VA_ARGS__);                                                       \
        if (strcmp(c_, expected) != 0)                                                                       \
            printf("      line %d: '%s', expected '%s'\n", __LINE__, c_, expected);                          \
        CU_ASSERT_STRING_EQUAL(c_, expected);                                                                \
    } while (0)
#define SQL_IS(expected, ...) CELL_IS(pgfx.app, expected, __VA_ARGS__)
#define RC_IS(expected, rc)                                                                                  \
    do {                                                                                                     \
        int rc_ = (rc);                                                                                      \
        if (rc_ != (expected))                                                                               \
            printf("      line %d: %d, expected %d: %s\n", __LINE__, rc_, expected, pgfx.err.text);          \
        CU_ASSERT_EQUAL(rc_, expected);                                                                      \
    } while (0)

/* `n` checks of entity e, keys 1 to n, in SLOT. */
void pgfx_put_checks(int n);
int pgfx_call(struct store_call *c);                 /* its error is kept in pgfx.err */
struct store_open_slot pgfx_open_slot(const unsigned char *who);
struct lease pgfx_take(void);
struct check_rows pgfx_read_page(const struct lease *lease, int want);
struct settlement pgfx_done(const struct check *check);
struct settlement pgfx_again(const struct check *check, int64_t at);
struct store_settle pgfx_settle_of(const struct lease *lease, struct settlement *s, int n);
struct store_relook pgfx_relook(struct relook_slot *slots);
struct store_report pgfx_report(struct arena *a, const char *name, int n, const char *const *params);

/* A lease on SLOT and its page of `n` fresh checks, each with the answer DONE. */
struct pgfx_run { struct lease lease; struct check_rows page; struct settlement s[64]; };
void pgfx_run_init(struct pgfx_run *run, int n);
struct store_settle pgfx_run_settle(struct pgfx_run *run);
struct settlement *pgfx_answer_of(struct pgfx_run *run, const char *key);

#endif
