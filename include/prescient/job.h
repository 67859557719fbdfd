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
 *     DEFER until t   could not look now (a rate limit); counts neither as a check nor as a
 *                     failure; a time before the next slot is kept to the second
 *     FAIL with words something is broken; the engine tries again, within the slot if the job's
 *                     settings have attempts, and in later ones, a limited number of times
 *     final FAIL      trying again cannot help: the check is over, as after its last failure
 *     BROKEN          it is not about this check: the job cannot ask about any. It counts as no
 *                     failure, the check is put off and late until the job can be run. A FAIL after
 *                     host->query has failed for such a reason becomes this by itself
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
    /* JSON text that came with the enqueue; NULL when there is none. Of a delivery: the document of
     * its event (docs/delivery.schema.json), with the event's data in `data` */
    const char *payload;
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
    /* A FAIL that is not tried again. An engine from before takes it for a bad answer: a failure,
     * too, but without the words, and tried again. */
    PRESCIENT_FAIL_FINAL = 5,
    /* An engine from before takes it for a bad answer, likewise. */
    PRESCIENT_BROKEN = 6,
};

/* Filled by the functions below, or by hand. `text` is room of `text_size` bytes for words: the
 * error of a FAIL, or a note of at most that length that history keeps with a DONE or an AGAIN.
 * job_exec_many gets them in an array, so this struct and that of a check cannot grow. */
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

/* A check that an answer asks for. Members that are 0 or NULL stand for what is written there. */
struct prescient_new_check {
    size_t size;                    /* sizeof(struct prescient_new_check) */
    const char *entity_name, *entity_key, *job;
    int64_t at;                     /* when it is to be looked at (rounded up to a slot) */
    const char *json;               /* its payload; NULL: none */
    /* what happens to one that is there already: "keep" (NULL), "earlier" or "replace" */
    const char *conflict;
    int32_t priority;               /* below 0: urgent */
    const char *concurrency_key;    /* checks that share it are not run at once; NULL: none */
    const char *tenant;             /* whose it is; NULL: that of the check that is answered */
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
    /* A duration setting ("90s", "15m", "24h", "3d", or 0) in seconds; `otherwise` when it is not
     * set, -1 when it cannot be read, as 24 without a unit (words in error). */
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
     * that is empty or longer than 1 KiB, more than 64 effects) turns an answer that is no FAIL
     * into FAIL. enqueue: conflict is "keep", "earlier" or "replace", and the check has the tenant
     * of the one that is answered, as deliveries of its events have; resolve: job NULL means every
     * job of that row. */
    int (*emit)(const struct prescient_host *host, struct prescient_answer *answer, const char *event,
                const char *json);
    int (*enqueue)(const struct prescient_host *host, struct prescient_answer *answer,
                   const char *entity_name, const char *entity_key, const char *job, int64_t at,
                   const char *json, const char *conflict);
    int (*resolve)(const struct prescient_host *host, struct prescient_answer *answer,
                   const char *entity_name, const char *entity_key, const char *job);

    /* The following are not in every engine: see PRESCIENT_HAS. */

    /* A check as one JSON document, in one line (docs/delivery.schema.json): what another program
     * is given of it. NULL with words in error(host). Valid until the call returns. */
    const char *(*document)(const struct prescient_host *host, const struct prescient_check *check);
    /* One member of that document but `data`, as text: "type", "id", "timestamp", "entity_name",
     * "entity_key", "job", "check_number", "failure_count" or "first_check_at". NULL: there is no
     * such member, or as above. */
    const char *(*field)(const struct prescient_host *host, const struct prescient_check *check,
                         const char *name);
    /* Answers with what another program has written: `len` bytes, one JSON object with one of done,
     * again_at, defer_until and fail, and beside it final, note, emit, enqueue, resolve and id. -1
     * with words when it is no such object, or its id is another check's: then the answer is as
     * before. */
    int (*answer_json)(const struct prescient_host *host, const struct prescient_check *check,
                       struct prescient_answer *answer, const char *json, size_t len, unsigned flags);

    /* Hands one answer of the call that is under way over to the engine, before the call is over.
     * From then on it belongs to the engine, with its text: it may be settled at once, and it stays
     * when the call crashes or is stopped later. -1 with words when it has been handed over before,
     * or belongs to no call that is under way. Time: `timeout_ms` and `batch_timeout_ms` below. */
    int (*answered)(const struct prescient_host *host, struct prescient_answer *answer);
    /* What the engine allows, by the job's settings: one check `timeout`, a call of job_exec_many
     * `batch_timeout`. A worker that takes longer is stopped. In a call that hands over answers
     * both count anew from the last one: `batch_timeout` while several are left, `timeout` for the
     * last. So a job that watches the time of each check itself has to be a little quicker. */
    int64_t timeout_ms, batch_timeout_ms;

    /* A member of a JSON object that another program has written: the text of a string, a number,
     * or "true" or "false". *text is NULL when it is another value, or is not there. Returns -1
     * with words when the `len` bytes are not one JSON object of at most 256 KiB. Valid until the
     * call returns. */
    int (*json_member)(const struct prescient_host *host, const char *json, size_t len, const char *name,
                       const char **text);
    /* In `open`: no call of job_exec_many is to get more than `n` checks. 1: there is none, and
     * each check goes to job_exec, with a time and a worker of its own. */
    void (*batch_most)(const struct prescient_host *host, int n);

    /* In a call: 1 when the engine stops, has lost its lease, or holds these checks back; else 0.
     * What is under way may be answered as usual; what the job has not begun yet is better put off
     * (DEFER) than waited for. */
    int (*stopping)(const struct prescient_host *host);

    /* Whether nothing may be sent or changed, as in `prescient try JOB ... --event`: not 0. A job
     * whose plug-in has `heeds_dry` asks for each check before it sends anything, and answers DONE
     * then. `request` is what it would send, in lines: it is shown, and secrets of the settings are
     * hidden in it; what else lets others in the job has to leave out. NULL, and a check that is
     * NULL (in `open`), only ask. */
    int (*dry)(const struct prescient_host *host, const struct prescient_check *check, const char *request);
    /* Puts "***" for secrets of the settings in a text that is to be shown, and for long pieces of
     * them, as `dry` does with `request`: for what a job changes before it shows it, since a secret
     * that is encoded, or hidden in part, is not known any more. The text never gets longer. */
    void (*hide)(const struct prescient_host *host, char *text);

    /* Whether the last query of this call failed for a reason that is not the row's: a right, a
     * table or a column is missing, or the database cannot be reached. Not 0: other checks would
     * fare no better, and need not be asked about. */
    int (*broken)(const struct prescient_host *host);

    /* As enqueue, for a check that has a priority, a concurrency key or a tenant of its own. */
    int (*enqueue_check)(const struct prescient_host *host, struct prescient_answer *answer,
                         const struct prescient_new_check *wanted);
};

enum { PRESCIENT_NO_EFFECTS = 1 };      /* answer_json: one that declares any is refused */

/* Whether the engine's host has a member that came later. */
#define PRESCIENT_HAS(host, member)                                                                          \
    ((host)->size >= offsetof(struct prescient_host, member) + sizeof((host)->member))

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
     * timeout, its checks are run one by one, but for those that host->answered has handed over;
     * when that leaves one, it has crashed or timed out. */
    void (*job_exec_many)(void *state, const struct prescient_check *checks, int n,
                          struct prescient_answer *answers);

    /* Optional: asks the business database what a check asks, but about no row, so that a table, a
     * column or a right that is missing shows before a check is due. `prescient doctor`, `jobs` and
     * `config --check` call it once, after open. Returns 0, or -1 with words in `why`. */
    int (*probe)(void *state, char *why, size_t why_size);

    /* Optional: 1: it asks host->dry before it sends or changes anything, or never does. One that
     * does not say so is not run when nothing may be sent. */
    int heeds_dry;
};

/* In C++ a constant is of its file alone, unless it is declared so. */
#ifdef __cplusplus
#define PRESCIENT_EXPORTED extern "C" __attribute__((visibility("default")))
#else
#define PRESCIENT_EXPORTED __attribute__((visibility("default")))
#endif

/* PRESCIENT_PLUGIN(.name = "order_paid", .summary = "...", .open = order_paid_open, .job_exec =
 * order_paid); in C++, too, with the members in their order. */
#define PRESCIENT_PLUGIN(...)                                                                                \
    PRESCIENT_EXPORTED const struct prescient_plugin prescient_plugin = {                                    \
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

/* Trying again cannot help: the other side has said no for good. */
static inline void __attribute__((format(printf, 2, 3)))
prescient_fail_final(struct prescient_answer *answer, const char *fmt, ...)
{
    va_list ap;
    answer->kind = PRESCIENT_FAIL_FINAL;
    va_start(ap, fmt);
    if (answer->text && answer->text_size)
        vsnprintf(answer->text, answer->text_size, fmt, ap);
    va_end(ap);
}

/* The job itself is broken, whatever check it gets. */
static inline void __attribute__((format(printf, 2, 3)))
prescient_broken(struct prescient_answer *answer, const char *fmt, ...)
{
    va_list ap;
    answer->kind = PRESCIENT_BROKEN;
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
