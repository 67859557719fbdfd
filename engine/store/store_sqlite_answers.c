/* store_sqlite_answers.c - the answers of one page as a virtual table, so that a few statements
 * settle a page, not thousands. The table exists only in the engine's connection (nothing in the
 * file refers to it), and has rows only during a settle. SELECT ... FROM prescient_answers WHERE
 * part = ?: all answers, or the touched ones that end, that move, or that leave a run row. */
#include "store_sqlite_answers.h"

#include <stdlib.h>
#include <string.h>

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
    KEEPS_PAYLOAD
};

static const char schema[] =
    "CREATE TABLE prescient_answers (nth INTEGER, part INTEGER HIDDEN, id INTEGER, slot_at INTEGER, "
    "read_check_count INTEGER, "
    "read_failure_count INTEGER, outcome TEXT, check_count INTEGER, failure_count INTEGER, next_at INTEGER, "
    "deferred_at INTEGER, put_off_at INTEGER, "
    "runs INTEGER, run_at_us INTEGER, run_us INTEGER, note TEXT, keeps_payload INTEGER)";

struct answers_table {
    sqlite3_vtab base;
    const struct sqlite_answers *answers;
};

struct answers_cursor {
    sqlite3_vtab_cursor base;
    const struct sqlite_answers *answers;
    int at, part;
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
    if (part == ANSWERS_ENDS)
        return t->ends;
    if (t->ends)
        return false;
    return part == ANSWERS_MOVES || (t->ran && outcome_leaves_run_row(t->outcome, a->keep_runs));
}

static int seek(struct answers_cursor *c)
{
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
    c->at = 0;
    return seek(c);
}

static int answers_next(sqlite3_vtab_cursor *base)
{
    struct answers_cursor *c = (struct answers_cursor *)base;
    c->at++;
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
    case OUTCOME: sqlite3_result_text(result, outcome_name(t->outcome), -1, SQLITE_STATIC); break;
    case CHECK_COUNT: sqlite3_result_int(result, t->check_count); break;
    case FAILURE_COUNT: sqlite3_result_int(result, t->failure_count); break;
    case NEXT_AT:
        sqlite3_result_int64(result, t->next_at > c->answers->open_slot ? t->next_at : c->answers->open_slot);
        break;
    case DEFERRED_AT: result_when(result, t->deferred_at != 0, t->deferred_at); break;
    case PUT_OFF_AT: result_when(result, t->put_off_at != 0, t->put_off_at); break;
    case RUNS: sqlite3_result_int(result, t->ran); break;
    case RUN_AT_US: result_when(result, t->ran, t->run_at_us); break;
    case RUN_US: result_when(result, t->ran, t->run_us); break;
    case NOTE: sqlite3_result_text(result, t->note, -1, SQLITE_STATIC); break;
    case KEEPS_PAYLOAD: sqlite3_result_int(result, outcome_is_problem(t->outcome)); break;
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
