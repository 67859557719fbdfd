/* prescient/job.h - all that the author of a job includes.
 *
 * A plug-in is a shared object that answers checks. It links to nothing of prescient: what it may
 * call arrives in `struct prescient_host`, the rest is inline. Build one with
 *
 *     cc -shared -fPIC -o order_paid.so order_paid.c
 *
 * and bind it to a job's name in the settings. A check names the job; its plug-in is asked, at the
 * check's slot, whether the awaited thing has happened. It looks at that one row by its primary
 * key and answers:
 *
 *     DONE            the check is over
 *     AGAIN at t      look again at t (rounded up to a slot)
 *     DEFER until t   could not look now (a rate limit); counts neither as a check nor as a failure
 *     FAIL with words something is broken; the engine tries again later, a limited number of times
 *
 * All times are whole seconds since the Unix epoch, UTC. `check->now` is the time to go by: in a
 * replay it is the virtual time, so never call time(). All strings are UTF-8, end with NUL and
 * live until the call returns, unless said.
 *
 * A job runs in a worker process of its own: it may crash, hang or leak without harm to others,
 * and it is stopped when it takes longer than its timeout. A check can be run a second time after
 * a crash or a lost connection; then it carries the same idempotency key. What a job declares with
 * emit, enqueue and resolve is written together with its answer, exactly once.
 *
 * Structs begin with their size and only grow at the end, so that a plug-in compiled long ago
 * still loads. */
#ifndef PRESCIENT_JOB_H
#define PRESCIENT_JOB_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PRESCIENT_ABI 1u

/* One check, as it was read. */
struct prescient_check {
    size_t size;
    const char *entity_name;        /* "orders" */
    const char *entity_key;         /* "42": the primary key of the row to look at, as text */
    const char *job;                /* the name this plug-in was bound to */
    const char *payload;            /* JSON text that came with the enqueue; NULL when there is none */
    int64_t now;                    /* the time to go by */
    int64_t slot;                   /* the slot this check is run in; <= now */
    int64_t first_check_at;         /* the first slot this check was filed under; never changes */
    int32_t check_count;            /* AGAINs granted so far: 0 on the first look, whose number is 1 */
    int32_t failure_count;          /* failures in a row since the last AGAIN */
    const void *impl;               /* the host's own */
};

enum prescient_answer_kind {
    PRESCIENT_NO_ANSWER = 0,        /* counts as FAIL "no answer" */
    PRESCIENT_DONE = 1,
    PRESCIENT_AGAIN = 2,
    PRESCIENT_DEFER = 3,
    PRESCIENT_FAIL = 4,
};

/* Filled by the functions below, or by hand. `text` is room of `text_size` bytes for words: the
 * error of a FAIL, or a note of at most that length that history keeps with a DONE or an AGAIN. */
struct prescient_answer {
    size_t size;
    int32_t kind;                   /* enum prescient_answer_kind */
    int64_t at;                     /* AGAIN: when; DEFER: until when */
    char *text;
    size_t text_size;
    void *impl;                     /* the host's own */
};

/* A value of a query's parameter or of a result. Text stays valid until the next query or the end
 * of the call. */
struct prescient_value {
    const char *text;               /* NULL is SQL NULL */
    size_t len;                     /* without the NUL at the end */
};

/* The rows of a query, row by row: values[row * columns + column]. Owned by the host, valid as
 * above. */
struct prescient_rows {
    size_t size;
    int rows, columns;
    const char *const *names;       /* of the columns */
    const struct prescient_value *values;
};

enum prescient_log_level { PRESCIENT_LOG_DEBUG, PRESCIENT_LOG_INFO, PRESCIENT_LOG_WARN, PRESCIENT_LOG_ERROR };

/* What the host offers. Valid from `open` to `close`; one per worker and job, used by one thread
 * at a time. Functions return 0, or -1 with words in error(host). */
struct prescient_host {
    size_t size;
    uint32_t abi;
    void *impl;
    const char *job;                /* the name this plug-in was bound to */

    /* Why the last call failed; never NULL. */
    const char *(*error)(const struct prescient_host *host);

    void (*log)(const struct prescient_host *host, int level, const char *text);

    /* The job's own settings (`settings = { ... }` in its block). A list or array has elements
     * "name.0", "name.1", ...; a group has members "name.member". NULL when there is no such
     * setting. Numbers and booleans come as text. Text stays valid until close.
     * Ask for all of them in `open`, also for those that are not needed just then: a setting that
     * nobody has asked for by then is taken for a misspelt one, and the job is refused. */
    const char *(*setting)(const struct prescient_host *host, const char *name);
    /* How many elements a list, array or group has; -1 when there is no such setting, 0 for a
     * plain value. */
    int (*setting_count)(const struct prescient_host *host, const char *name);
    /* A duration setting ("90s", "15m", "24h", "3d", or a number of seconds) in seconds;
     * `otherwise` when it is not set, -1 when it cannot be read (words in error). */
    int64_t (*setting_duration)(const struct prescient_host *host, const char *name, int64_t otherwise);

    /* Asks the business database, read-only, within the time the check has left. Parameters are
     * $1, $2, ... in both databases and are passed as text; a NULL text is SQL NULL. The rows live
     * until the next query or the end of the call. */
    int (*query)(const struct prescient_host *host, const char *sql, const struct prescient_value *params,
                 int n, const struct prescient_rows **rows);
    /* "postgresql" or "sqlite": which dialect the business database speaks; "" when none is set. */
    const char *(*dialect)(const struct prescient_host *host);

    /* 32 hexadecimal digits that are the same for every run of the same check number. Valid until
     * the call returns. */
    const char *(*idempotency_key)(const struct prescient_host *host, const struct prescient_check *check);

    /* Effects. Each belongs to the answer it is declared with and is written in the same
     * transaction as that answer; nothing of it happens when the answer is not settled. `json` is
     * JSON text of at most 64 KiB, or NULL for none. One that is refused (-1: bad JSON, a name
     * that is empty or longer than 1 KiB, more than 64 effects) turns an answer that is not FAIL
     * into FAIL. enqueue: conflict is "keep", "earlier" or "replace"; resolve: job NULL means
     * every job of that row. */
    int (*emit)(const struct prescient_host *host, struct prescient_answer *answer, const char *event,
                const char *json);
    int (*enqueue)(const struct prescient_host *host, struct prescient_answer *answer,
                   const char *entity_name, const char *entity_key, const char *job, int64_t at,
                   const char *json, const char *conflict);
    int (*resolve)(const struct prescient_host *host, struct prescient_answer *answer,
                   const char *entity_name, const char *entity_key, const char *job);
};

/* What a plug-in exports, as `prescient_plugin` (PRESCIENT_PLUGIN below writes it). */
struct prescient_plugin {
    uint32_t abi;                   /* PRESCIENT_ABI of the header it was compiled with */
    uint32_t size;                  /* sizeof(struct prescient_plugin) then */
    const char *name;
    const char *summary;            /* one line for `prescient jobs` */

    /* Once per worker and job, before its first check; NULL when there is nothing to set up.
     * `*state` is handed to all other calls. Returns 0, or -1 with words in `why` (at most
     * `why_size` bytes): then no check is run. */
    int (*open)(const struct prescient_host *host, void **state, char *why, size_t why_size);
    void (*close)(void *state);

    /* Answers one check. */
    void (*job_exec)(void *state, const struct prescient_check *check, struct prescient_answer *answer);

    /* Optional: answers `n` checks in one go, answers[i] belonging to checks[i]. Those left
     * without an answer count as FAIL. When the call crashes or takes longer than the batch
     * timeout, its unanswered checks are run one by one. */
    void (*job_exec_many)(void *state, const struct prescient_check *checks, int n,
                          struct prescient_answer *answers);

    /* Optional: asks the business database what a check asks, but about no row, so that a table, a
     * column or a right that is missing shows before a check is due. `prescient doctor`, `jobs` and
     * `config --check` call it once, after open. Returns 0, or -1 with words in `why`. */
    int (*probe)(void *state, char *why, size_t why_size);
};

/* PRESCIENT_PLUGIN(.name = "order_paid", .summary = "...", .open = order_paid_open, .job_exec =
 * order_paid); */
#define PRESCIENT_PLUGIN(...)                                                                                \
    __attribute__((visibility("default"))) const struct prescient_plugin prescient_plugin = {                \
        .abi = PRESCIENT_ABI, .size = sizeof(struct prescient_plugin), __VA_ARGS__                           \
    }

static inline void prescient_done(struct prescient_answer *answer)
{
    answer->kind = PRESCIENT_DONE;
}

static inline void prescient_again(struct prescient_answer *answer, int64_t at)
{
    answer->kind = PRESCIENT_AGAIN;
    answer->at = at;
}

static inline void prescient_defer(struct prescient_answer *answer, int64_t until)
{
    answer->kind = PRESCIENT_DEFER;
    answer->at = until;
}

/* Words that history keeps beside the answer; cut when they do not fit. */
static inline void __attribute__((format(printf, 2, 3)))
prescient_note(struct prescient_answer *answer, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (answer->text && answer->text_size)
        vsnprintf(answer->text, answer->text_size, fmt, ap);
    va_end(ap);
}

static inline void __attribute__((format(printf, 2, 3)))
prescient_fail(struct prescient_answer *answer, const char *fmt, ...)
{
    va_list ap;
    answer->kind = PRESCIENT_FAIL;
    va_start(ap, fmt);
    if (answer->text && answer->text_size)
        vsnprintf(answer->text, answer->text_size, fmt, ap);
    va_end(ap);
}

/* Writes `text` as a JSON string with its quotes. Returns its length, or -1 when `size` bytes do
 * not hold it and the NUL. */
static inline int prescient_json_string(char *out, size_t size, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    if (size < 3)
        return -1;
    out[n++] = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (n + 8 > size)               /* the longest escape, the quote and the NUL */
            return -1;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 0x20) {
            out[n++] = '\\';
            out[n++] = 'u';
            out[n++] = '0';
            out[n++] = '0';
            out[n++] = hex[c >> 4];
            out[n++] = hex[c & 15];
        } else {
            out[n++] = (char)c;
        }
    }
    out[n++] = '"';
    out[n] = '\0';
    return (int)n;
}

#ifdef __cplusplus
}
#endif
#endif
