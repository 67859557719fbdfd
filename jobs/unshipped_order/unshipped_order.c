/* unshipped_order - was the order shipped by the time we promised to look? If not: an event, and
 * another look later. One row is looked up by its primary key; a batch is one query over all its
 * keys. */
#include <prescient/job.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_ROOM = 140,                /* a quoted table: "schema"."table" */
    SQL_ROOM = 1024,
    GIVE_UP_AFTER = 3,              /* failing lookups in a row: it is the database, not the key */
};

struct unshipped_order {
    const struct prescient_host *host;
    int64_t again_after_s;
    bool is_postgresql;
    char one_sql[SQL_ROOM], many_sql[SQL_ROOM];
    int failures;                   /* in a row */
};

enum shipped { SHIPPED_UNKNOWN, SHIPPED_NO, SHIPPED_YES, SHIPPED_NO_ROW };

/* Quotes a name of letters, digits and '_', with dots between its parts where `dots` allows. */
static bool quote_name(char out[NAME_ROOM], const char *name, bool dots)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                      digits[] = "0123456789";
    size_t n = 0;
    for (;;) {
        size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (len == 0 || len > 63 || strchr(digits, name[0]) || !strchr(letters, name[0]) ||
            n + len + 4 > NAME_ROOM)
            return false;
        n += (size_t)snprintf(out + n, NAME_ROOM - n, "\"%.*s\"", (int)len, name);
        name += len;
        if (!*name)
            return true;
        if (*name++ != '.' || !dots)
            return false;
        out[n++] = '.';
        dots = false;
    }
}

static int read_name(const struct prescient_host *host, const char *setting, const char *default_name,
                     bool dots, char out[NAME_ROOM], char *why, size_t why_size)
{
    const char *name = host->setting(host, setting);
    if (!name)
        name = default_name;
    if (quote_name(out, name, dots))
        return 0;
    snprintf(why, why_size, "setting '%s': found '%.80s', expected a name of letters, digits and '_'%s",
             setting, name, dots ? ", as \"orders\" or \"shop.orders\"" : "");
    return -1;
}

static void write_sql(struct unshipped_order *job, const char *table, const char *key, const char *shipped)
{
    snprintf(job->one_sql, SQL_ROOM, "SELECT CASE WHEN %s IS NULL THEN 0 ELSE 1 END FROM %s WHERE %s = $1",
             shipped, table, key);
    if (job->is_postgresql)         /* $1 takes the type of an array of the key's */
        snprintf(
            job->many_sql, SQL_ROOM,
            "SELECT CAST(%s AS text), CASE WHEN %s IS NULL THEN 0 ELSE 1 END FROM %s WHERE %s = ANY ($1)",
            key, shipped, table, key);
    else
        snprintf(job->many_sql, SQL_ROOM,
                 "SELECT k.value, CASE WHEN t.%s IS NULL THEN 0 ELSE 1 END FROM json_each($1) AS k JOIN %s "
                 "AS t ON t.%s = k.value",
                 shipped, table, key);
}

static int unshipped_order_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    char table[NAME_ROOM], key[NAME_ROOM], shipped[NAME_ROOM];
    if (read_name(host, "table", "orders", true, table, why, why_size) ||
        read_name(host, "key", "id", false, key, why, why_size) ||
        read_name(host, "shipped", "shipped_at", false, shipped, why, why_size))
        return -1;
    int64_t after_s = host->setting_duration(host, "again_after", 24 * 3600);
    if (after_s <= 0) {
        snprintf(why, why_size, "%s",
                 after_s < 0 ? host->error(host)
                             : "setting 'again_after': found 0, expected a duration such as \"24h\"");
        return -1;
    }
    struct unshipped_order *job = calloc(1, sizeof *job);
    if (!job) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    job->host = host;
    job->again_after_s = after_s;
    job->is_postgresql = !strcmp(host->dialect(host), "postgresql");
    write_sql(job, table, key, shipped);
    *state = job;
    return 0;
}

static void say_unshipped(struct unshipped_order *job, const struct prescient_check *check,
                          struct prescient_answer *answer)
{
    char key[7 * 1024], json[8 * 1024];
    if (prescient_json_string(key, sizeof key, check->entity_key) < 0)
        key[0] = '\0';
    snprintf(json, sizeof json, "{\"entity_key\": %s, \"first_check_at\": %lld, \"check_number\": %d}",
             *key ? key : "null", (long long)check->first_check_at, (int)check->check_count + 1);
    if (job->host->emit(job->host, answer, "order.unshipped", json))
        prescient_fail(answer, "order %.200s: %s", check->entity_key, job->host->error(job->host));
    else
        prescient_again(answer, check->now + job->again_after_s);
}

static void answer_with(struct unshipped_order *job, const struct prescient_check *check,
                        struct prescient_answer *answer, enum shipped shipped)
{
    if (shipped == SHIPPED_NO) {
        say_unshipped(job, check, answer);
        return;
    }
    prescient_done(answer);
    if (shipped == SHIPPED_NO_ROW)
        prescient_note(answer, "there is no such order");
}

static enum shipped shipped_in(const struct prescient_rows *rows)
{
    if (rows->rows == 0)
        return SHIPPED_NO_ROW;
    return rows->values[0].text[0] == '1' ? SHIPPED_YES : SHIPPED_NO;
}

static void unshipped_order(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct unshipped_order *job = state;
    struct prescient_value key = { check->entity_key, strlen(check->entity_key) };
    const struct prescient_rows *rows;
    if (job->host->query(job->host, job->one_sql, &key, 1, &rows)) {
        job->failures++;
        prescient_fail(answer, "order %.200s: %s", check->entity_key, job->host->error(job->host));
        return;
    }
    job->failures = 0;
    answer_with(job, check, answer, shipped_in(rows));
}

/* ---- batches ---- */

/* The keys as one parameter: a PostgreSQL array, or JSON. NULL when out of memory. Both escape by
 * backslash; the JSON writer's escapes of control characters are not an array's, so those go in as
 * they are there. */
static char *write_keys(const struct unshipped_order *job, const struct prescient_check *checks, int n)
{
    size_t size = 3;
    for (int i = 0; i < n; i++)
        size += 6 * strlen(checks[i].entity_key) + 12;
    char *keys = malloc(size), *to = keys;
    if (!keys)
        return NULL;
    *to++ = job->is_postgresql ? '{' : '[';
    for (int i = 0; i < n; i++) {
        if (i)
            *to++ = ',';
        if (!job->is_postgresql) {
            to += prescient_json_string(to, size - (size_t)(to - keys), checks[i].entity_key);
            continue;
        }
        *to++ = '"';
        for (const char *from = checks[i].entity_key; *from; *to++ = *from++)
            if (*from == '"' || *from == '\\')
                *to++ = '\\';
        *to++ = '"';
    }
    *to++ = job->is_postgresql ? '}' : ']';
    *to = '\0';
    return keys;
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp(((const struct prescient_value *)a)->text, ((const struct prescient_value *)b)->text);
}

/* The rows (key, 0 or 1) in the order of their keys; owned by the caller. */
static struct prescient_value *sort_rows(const struct prescient_rows *rows)
{
    size_t row = 2 * sizeof *rows->values;
    struct prescient_value *sorted = malloc((size_t)rows->rows * row + 1);
    if (sorted && rows->rows) {
        memcpy(sorted, rows->values, (size_t)rows->rows * row);
        qsort(sorted, (size_t)rows->rows, row, compare_rows);
    }
    return sorted;
}

/* Not asked: the lookups before it have failed. Where that was for any order, so would be this
 * one. */
static void put_off(const struct unshipped_order *job, const struct prescient_check *check,
                    struct prescient_answer *answer)
{
    const struct prescient_host *host = job->host;
    if (PRESCIENT_HAS(host, broken) && host->broken(host)) {
        prescient_broken(answer, "not asked: %s", host->error(host));
        return;
    }
    prescient_defer(answer, check->now);
    prescient_note(answer, "not asked: %d lookups in a row failed", job->failures);
}

/* Looks at them one by one; once the database fails again and again, the others are put off and
 * not counted. */
static void one_by_one(struct unshipped_order *job, const struct prescient_check *checks, int n,
                       struct prescient_answer *answers)
{
    job->failures = 0;
    for (int i = 0; i < n; i++) {
        if (answers[i].kind != PRESCIENT_NO_ANSWER)
            continue;
        if (job->failures < GIVE_UP_AFTER) {
            unshipped_order(job, &checks[i], &answers[i]);
            continue;
        }
        put_off(job, &checks[i], &answers[i]);
    }
}

static void unshipped_orders(void *state, const struct prescient_check *checks, int n,
                             struct prescient_answer *answers)
{
    struct unshipped_order *job = state;
    const struct prescient_rows *rows = NULL;
    char *keys = write_keys(job, checks, n);
    struct prescient_value param = { keys, keys ? strlen(keys) : 0 };
    struct prescient_value *sorted = NULL;
    if (keys && job->host->query(job->host, job->many_sql, &param, 1, &rows) == 0)
        sorted = sort_rows(rows);
    for (int i = 0; sorted && i < n; i++) {
        struct prescient_value key = { checks[i].entity_key, 0 };
        const struct prescient_value *row = bsearch(&key, sorted, (size_t)rows->rows, 2 * sizeof *sorted,
                                                    compare_rows);
        if (row)
            answer_with(job, &checks[i], &answers[i], row[1].text[0] == '1' ? SHIPPED_YES : SHIPPED_NO);
    }
    free(sorted);
    free(keys);
    /* What is left: no such row, a key written in another way than the database writes it ("042"),
     * or one that is no key at all and made the whole query fail. */
    one_by_one(job, checks, n, answers);
}

/* ---- before a check is due ---- */

static const char *setting_or(const struct prescient_host *host, const char *name, const char *otherwise)
{
    const char *text = host->setting(host, name);
    return text ? text : otherwise;
}

/* A column that is never NULL makes every order a shipped one, and so does a boolean, which is
 * false until then. Returns what the column is, or NULL: nothing is wrong. Of a view the type is
 * looked at, and a table of a file that is attached is not looked into. */
static const char *why_always_shipped(const struct unshipped_order *job, const char *table,
                                      const char *column)
{
    const struct prescient_host *host = job->host;
    const struct prescient_rows *rows;
    static const char postgresql[] =
        "SELECT CASE WHEN a.attnotnull OR t.typnotnull THEN 'NOT NULL' ELSE 'a boolean' END"
        "  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
        " WHERE a.attrelid = to_regclass($1) AND a.attname = $2"
        "   AND (a.attnotnull OR t.typnotnull OR t.typcategory = 'B')";
    static const char sqlite[] =
        "SELECT CASE WHEN \"notnull\" THEN 'NOT NULL' ELSE 'a boolean' END FROM pragma_table_info($1)"
        " WHERE lower(name) = lower($2) AND (\"notnull\" OR type LIKE '%bool%')";
    char quoted[NAME_ROOM];
    const char *name = job->is_postgresql && quote_name(quoted, table, true) ? quoted : table;
    const struct prescient_value params[] = { { name, strlen(name) }, { column, strlen(column) } };
    const char *sql = job->is_postgresql ? postgresql : sqlite;
    bool is_found = host->query(host, sql, params, 2, &rows) == 0 && rows->rows > 0;
    return is_found ? rows->values[0].text : NULL;
}

/* The same two queries, about no order. */
static int unshipped_order_probe(void *state, char *why, size_t why_size)
{
    struct unshipped_order *job = state;
    const char *table = setting_or(job->host, "table", "orders");
    const char *column = setting_or(job->host, "shipped", "shipped_at");
    const char *is = why_always_shipped(job, table, column);
    if (is) {
        snprintf(why, why_size,
                 "column '%s' of '%s' is %s, so every order would count as shipped; expected one that "
                 "is NULL until then, such as a time",
                 column, table, is);
        return -1;
    }
    const char *none = job->is_postgresql ? "{}" : "[]";
    const struct prescient_value no_key = { NULL, 0 }, no_keys = { none, strlen(none) };
    const struct prescient_rows *rows;
    if (job->host->query(job->host, job->one_sql, &no_key, 1, &rows) == 0 &&
        job->host->query(job->host, job->many_sql, &no_keys, 1, &rows) == 0)
        return 0;
    snprintf(why, why_size, "%s", job->host->error(job->host));
    return -1;
}

PRESCIENT_PLUGIN(.name = "unshipped_order", .summary = "emits order.unshipped until an order is shipped",
                 .open = unshipped_order_open, .close = free, .job_exec = unshipped_order,
                 .job_exec_many = unshipped_orders, .probe = unshipped_order_probe,
                 .heeds_dry = 1);
