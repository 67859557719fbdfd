/* store_sqlite_functions.c - what SQL cannot compute, or not in time: see the header. */
#include "store_sqlite_functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../rules/bucket.h"
#include "../rules/histogram.h"

enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY };

static void run_bucket_of(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    (void)n;
    const char *name = (const char *)sqlite3_value_text(args[0]);
    const char *key = (const char *)sqlite3_value_text(args[1]);
    if (name && key)
        sqlite3_result_int(ctx, bucket_of(name, key));
}

/* ---- classes --------------------------------------------------------------------------------- */

struct classes { int64_t runs[HISTOGRAM_CLASSES]; };

static bool skip(const char **at, char expected)
{
    *at += strspn(*at, " ");
    if (**at != expected)
        return false;
    ++*at;
    return true;
}

/* "104": 3 */
static bool add_class(struct classes *sum, const char **at)
{
    char *end;
    if (!skip(at, '"'))
        return false;
    long class = strtol(*at, &end, 10);
    bool is_class = end != *at && class >= 0 && class < HISTOGRAM_CLASSES;
    *at = end;
    if (!is_class || !skip(at, '"') || !skip(at, ':'))
        return false;
    errno = 0;
    int64_t runs = strtoll(*at, &end, 10);
    if (end == *at || errno || __builtin_add_overflow(sum->runs[class], runs, &sum->runs[class]))
        return false;
    *at = end;
    return true;
}

/* False: it is something else. */
static bool add_classes(struct classes *sum, const char *text)
{
    if (!skip(&text, '{'))
        return false;
    if (skip(&text, '}'))
        return !text[strspn(text, " ")];
    do {
        if (!add_class(sum, &text))
            return false;
    } while (skip(&text, ','));
    return skip(&text, '}') && !text[strspn(text, " ")];
}

static void step_add_up(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    (void)n;
    struct classes *sum = sqlite3_aggregate_context(ctx, sizeof *sum);
    const char *text = (const char *)sqlite3_value_text(args[0]);
    if (!sum)
        sqlite3_result_error_nomem(ctx);
    else if (!text || !add_classes(sum, text))
        sqlite3_result_error(ctx, "the classes of prescient_run_hour are not as {\"104\": 3}", -1);
}

static void end_add_up(sqlite3_context *ctx)
{
    const struct classes *sum = sqlite3_aggregate_context(ctx, 0);      /* NULL: of no rows */
    sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(ctx));
    const char *between = "";
    sqlite3_str_appendchar(out, 1, '{');
    for (int i = 0; sum && i < HISTOGRAM_CLASSES; i++)
        if (sum->runs[i]) {
            sqlite3_str_appendf(out, "%s\"%d\":%lld", between, i, (long long)sum->runs[i]);
            between = ",";
        }
    sqlite3_str_appendchar(out, 1, '}');
    char *text = sqlite3_str_finish(out);
    if (text)
        sqlite3_result_text(ctx, text, -1, sqlite3_free);
    else
        sqlite3_result_error_nomem(ctx);
}

int sqlite_functions_register(sqlite3 *db)
{
    int rc = sqlite3_create_function_v2(db, "prescient_bucket_of", 2, FLAGS, NULL, run_bucket_of, NULL, NULL,
                                        NULL);
    if (rc != SQLITE_OK)
        return rc;
    return sqlite3_create_function_v2(db, "prescient_add_up", 1, FLAGS, NULL, NULL, step_add_up, end_add_up,
                                      NULL);
}
