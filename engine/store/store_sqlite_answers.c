/* store_sqlite_answers.c - the answers of one page as a virtual table, so that a few statements
 * settle a page, not thousands. The table exists only in the engine's connection (nothing in the
 * file refers to it), and has rows only during a settle. SELECT ... FROM prescient_answers WHERE
 * part = ?: all answers, or the touched ones that end, that move, or that leave a run row. The part
 * of deliveries has a row for each listener of each event that the touched ones emit. */
#include "store_sqlite_answers.h"

#include <stdlib.h>
#include <string.h>

#include "../rules/effect.h"
#include "../rules/slot.h"

#define NO_PART (-1)

enum column {
    NTH,
    PART,
    ID,
    SLOT_AT,
    READ_CHECK_COUNT,
    READ_FAILURE_COUNT,
    OUTCOME,
    CHECK_COUNT,
    FAILURE_COUNT,
    NEXT_AT,
    DEFERRED_AT,
    PUT_OFF_AT,
    RUNS,
    RUN_AT_US,
    RUN_US,
    NOTE,
    KEEPS_PAYLOAD,
    FIRST_AT,
    ORIGIN_ANEW,
    /* only in the part of deliveries */
    LISTENER,
    HEARING_JOB,
    DATA,
    EVENT_ORIGIN,
    EVENT_TERMS,
    EVENT_TENANT
};

static const char schema[] =
    "CREATE TABLE prescient_answers (nth INTEGER, part INTEGER HIDDEN, id INTEGER, slot_at INTEGER, "
    "read_check_count INTEGER, "
    "read_failure_count INTEGER, outcome TEXT, check_count INTEGER, failure_count INTEGER, next_at INTEGER, "
    "deferred_at INTEGER, put_off_at INTEGER, "
    "runs INTEGER, run_at_us INTEGER, run_us INTEGER, note TEXT, keeps_payload INTEGER, "
    "first_at INTEGER, origin_anew TEXT, "
    "listener TEXT, hearing_job TEXT, data TEXT, event_origin TEXT, event_terms TEXT, event_tenant TEXT)";

struct answers_table {
    sqlite3_vtab base;
    const struct sqlite_answers *answers;
};

struct answers_cursor {
    sqlite3_vtab_cursor base;
    const struct sqlite_answers *answers;
    int at, part;
    int effect, hearer;             /* of the answer, in the part of deliveries; else 0 */
};

static int answers_connect(sqlite3 *db, void *ctx, int argc, const char *const *argv, sqlite3_vtab **out,
                           char **words)
{
    (void)argc, (void)argv, (void)words;
    int rc = sqlite3_declare_vtab(db, schema);
    struct answers_table *table = rc == SQLITE_OK ? sqlite3_malloc(sizeof *table) : NULL;
    if (rc == SQLITE_OK && !table)
        return SQLITE_NOMEM;
    if (table)
        *table = (struct answers_table){ .answers = ctx };
    *out = (sqlite3_vtab *)table;
    return rc;
}

static int answers_disconnect(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* Always the outer loop: only the part selects answers. */
static int answers_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    for (int i = 0; i < info->nConstraint; i++)
        if (info->aConstraint[i].iColumn == PART && info->aConstraint[i].usable &&
            info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ) {
            info->aConstraintUsage[i].argvIndex = 1;
            info->aConstraintUsage[i].omit = 1;
            info->estimatedCost = 1000;
            info->estimatedRows = 1000;
            return SQLITE_OK;
        }
    return SQLITE_CONSTRAINT;
}

static int answers_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct answers_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct answers_cursor){ .answers = ((struct answers_table *)base)->answers };
    *out = &cursor->base;
    return SQLITE_OK;
}

static int answers_close(sqlite3_vtab_cursor *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

static bool is_of_part(const struct sqlite_answers *a, int n, int part)
{
    const struct settlement *t = &a->settlements[n];
    if (part == ANSWERS_ALL)
        return true;
    if (t->state != SETTLE_TOUCHED)
        return false;
    switch (part) {
    case ANSWERS_ENDS: return t->ends;
    case ANSWERS_MOVES: return !t->ends && !t->renews;
    case ANSWERS_RUNS: return !t->ends && !t->renews && settlement_leaves_run_row(t, a->keep_runs);
    case ANSWERS_RENEWALS: return t->renews;
    case ANSWERS_RENEWED_RUNS: return t->renews && !t->ends && settlement_leaves_run_row(t, a->keep_runs);
    default: return false;
    }
}

static void seek_hearer(struct answers_cursor *c)
{
    for (; c->at < c->answers->n; c->at++, c->effect = c->hearer = 0) {
        const struct settlement *t = &c->answers->settlements[c->at];
        for (; t->state == SETTLE_TOUCHED && c->effect < t->neffects; c->effect++, c->hearer = 0)
            if (c->hearer < t->effects[c->effect].nhearers)
                return;
    }
}

static int seek(struct answers_cursor *c)
{
    if (c->part == ANSWERS_DELIVERIES) {
        seek_hearer(c);
        return SQLITE_OK;
    }
    while (c->at < c->answers->n && !is_of_part(c->answers, c->at, c->part))
        c->at++;
    return SQLITE_OK;
}

static int answers_filter(sqlite3_vtab_cursor *base, int number, const char *string, int argc,
                          sqlite3_value **argv)
{
    (void)number, (void)string;
    struct answers_cursor *c = (struct answers_cursor *)base;
    c->part = argc ? sqlite3_value_int(argv[0]) : NO_PART;
    c->at = c->effect = c->hearer = 0;
    return seek(c);
}

static int answers_next(sqlite3_vtab_cursor *base)
{
    struct answers_cursor *c = (struct answers_cursor *)base;
    *(c->part == ANSWERS_DELIVERIES ? &c->hearer : &c->at) += 1;
    return seek(c);
}

static int answers_eof(sqlite3_vtab_cursor *base)
{
    struct answers_cursor *c = (struct answers_cursor *)base;
    return c->at >= c->answers->n;
}

static void result_when(sqlite3_context *result, bool is, int64_t value)
{
    if (is)
        sqlite3_result_int64(result, value);
}

/* Writers are serial: the clock that the settle has read is that of its commit. */
static int64_t slot_of(const struct sqlite_answers *a, const struct settlement *t)
{
    struct slot_move move = { .wanted = t->next_at,
                              .left = t->check->next_check_at,
                              .now = a->now,
                              .is_attempt = t->failure_count > t->check->failure_count };
    return slot_moved(&move, a->slot_length_s);
}

static bool has_run_row_time(const struct settlement *t)
{
    return t->ran || t->outcome == OUTCOME_SKIPPED;
}

static void result_origin_anew(sqlite3_context *result, const struct check *check)
{
    char origin[IDEMPOTENCY_KEY_SIZE];
    struct idempotency of = check_identity(check);
    idempotency_origin_anew(&of, origin);
    sqlite3_result_text(result, origin, -1, SQLITE_TRANSIENT);
}

static void result_text(sqlite3_context *result, const char *text)
{
    sqlite3_result_text(result, text, -1, SQLITE_STATIC);
}

static void delivery_column(const struct answers_cursor *c, sqlite3_context *result, enum column column)
{
    if (c->part != ANSWERS_DELIVERIES)
        return;
    const struct settlement *t = &c->answers->settlements[c->at];
    const struct effect *e = &t->effects[c->effect];
    const struct hearer *to = &e->hearers[c->hearer];
    const char *const texts[] = {
        [LISTENER] = to->listener, [HEARING_JOB] = to->job, [DATA] = e->json,
        [EVENT_ORIGIN] = e->origin, [EVENT_TERMS] = e->terms, [EVENT_TENANT] = effect_tenant(t->check, e),
    };
    result_text(result, texts[column]);
}

static int answers_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
    struct answers_cursor *c = (struct answers_cursor *)base;
    const struct settlement *t = &c->answers->settlements[c->at];
    switch ((enum column)column) {
    case NTH: sqlite3_result_int(result, c->at); break;
    case PART: sqlite3_result_int(result, c->part); break;
    case ID: sqlite3_result_int64(result, t->check->id); break;
    case SLOT_AT: sqlite3_result_int64(result, t->check->next_check_at); break;
    case READ_CHECK_COUNT: sqlite3_result_int(result, t->check->check_count); break;
    case READ_FAILURE_COUNT: sqlite3_result_int(result, t->check->failure_count); break;
    case OUTCOME: result_text(result, outcome_name(t->outcome)); break;
    case CHECK_COUNT: sqlite3_result_int(result, t->check_count); break;
    case FAILURE_COUNT: sqlite3_result_int(result, t->failure_count); break;
    case NEXT_AT:
        sqlite3_result_int64(result, slot_of(c->answers, t));
        break;
    case DEFERRED_AT: result_when(result, t->deferred_at != 0, t->deferred_at); break;
    case PUT_OFF_AT: result_when(result, t->put_off_at != 0, t->put_off_at); break;
    case RUNS: sqlite3_result_int(result, t->ran); break;
    case RUN_AT_US: result_when(result, has_run_row_time(t), t->run_at_us); break;
    case RUN_US: result_when(result, has_run_row_time(t), t->run_us); break;
    case NOTE: result_text(result, t->note); break;
    case KEEPS_PAYLOAD: sqlite3_result_int(result, outcome_is_problem(t->outcome)); break;
    case FIRST_AT: sqlite3_result_int64(result, t->first_at); break;
    case ORIGIN_ANEW: result_origin_anew(result, t->check); break;
    case LISTENER:
    case HEARING_JOB:
    case DATA:
    case EVENT_ORIGIN:
    case EVENT_TERMS:
    case EVENT_TENANT: delivery_column(c, result, column); break;
    }
    return SQLITE_OK;
}

static int answers_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((struct answers_cursor *)base)->at;
    return SQLITE_OK;
}

/* No xCreate: the table exists in every schema of the connection and cannot be created. */
static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = answers_connect,
    .xBestIndex = answers_best_index,
    .xDisconnect = answers_disconnect,
    .xOpen = answers_open,
    .xClose = answers_close,
    .xFilter = answers_filter,
    .xNext = answers_next,
    .xEof = answers_eof,
    .xColumn = answers_column,
    .xRowid = answers_rowid,
};

int sqlite_answers_register(sqlite3 *db, struct sqlite_answers *answers)
{
    return sqlite3_create_module_v2(db, "prescient_answers", &module, answers, NULL);
}
