/* settings_table.c - the rows. To add a setting: a field in settings.h and a row here. */
#include "settings_table.h"

#include <ctype.h>
#include <libconfig.h>
#include <string.h>
#include "nearest.h"

#define US INT64_C(1)
#define MS (1000 * US)
#define S (1000 * MS)
#define MINUTE (60 * S)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)

/* ---- what texts may be ---- */

static bool is_identifier(const char *text)
{
    bool good = *text && !isdigit((unsigned char)*text);
    for (; *text; text++)
        good &= *text == '_' || (isalnum((unsigned char)*text) && !isupper((unsigned char)*text));
    return good;
}

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool is_user_name(const char *text)
{
    return is_printable(text) && !strpbrk(text, " :/");
}

static bool is_plugin_name(const char *text)
{
    return is_printable(text) && !strchr(text, '/') && *text != '.';
}

static bool is_part_of_a_day(int64_t us)       /* as rules/slot.h has it */
{
    return DAY % us == 0;
}

static const char *const words_keep_runs[] = { "all", "problems", "none", NULL };
static const char *const words_on_off[] = { "on", "off", NULL };
static const char *const words_log_level[] = { "debug", "info", "warn", "error", NULL };

/* ---- the rows ---- */

#define AT(member) .offset = offsetof(struct settings, member)
#define AT_JOB(member) .offset = offsetof(struct job_settings, member)

const struct setting_row settings_rows[] = {
    { "store", SETTING_URL, AT(store), .otherwise = "sqlite:prescient.db", .min = 1, .max = 4096,
      .section = "Where checks are kept", .accepts = is_printable,
      .expected = "sqlite:FILE, postgresql://USER:PASSWORD@HOST/DATABASE or a libpq keyword string",
      .help = "The store: sqlite:FILE, postgresql://USER:PASSWORD@HOST/DATABASE or a libpq keyword string.\n"
              "DATABASE_URL sets it, too; so do PGHOST, PGSERVICE, ... when nothing else does." },
    { "schema", SETTING_TEXT, AT(schema), .otherwise = "prescient", .min = 1, .max = 63,
      .accepts = is_identifier, .expected = "a name of lower-case letters, digits and _",
      .help = "The schema on PostgreSQL." },
    { "schema_owner", SETTING_TEXT, AT(schema_owner), .otherwise = "prescient_owner", .min = 1, .max = 63,
      .accepts = is_printable, .expected = "the name of a role",
      .help = "The role that the schema may belong to, beside the user in the store's URL, superusers and "
              "the database's owner.\n"
              "Anybody else's functions would run with our rights, and are refused." },
    { "business", SETTING_URL, AT(business), .min = 1, .max = 4096, .accepts = is_printable,
      .expected = "sqlite:FILE, postgresql://USER:PASSWORD@HOST/DATABASE or a libpq keyword string",
      .help = "The database that jobs look into, read-only. Unset: the store's own." },
    { "slot_length", SETTING_DURATION_S, AT(slot_length_s), .otherwise = "0s", .min = 1 * S, .max = DAY,
      .or_zero = true, .accepts_us = is_part_of_a_day,
      .expected = "0s, or a length that divides a day, such as 1m, 15m or 1h, from 1s to 1d",
      .help = "Length of a slot; it divides a day. 0s: whatever the database says (15m in a new one)." },
    { "connect_timeout", SETTING_DURATION_US, AT(connect_timeout_us), .otherwise = "10s", .min = 100 * MS,
      .max = 10 * MINUTE,
      .help = "How long a connection may take to come about; an engine gives each host half a lease first." },
    { "statement_timeout", SETTING_DURATION_US, AT(statement_timeout_us), .otherwise = "30s", .min = 100 * MS,
      .max = DAY,
      .help = "How long one call to the store may take before its connection is given up; an engine's has "
              "the time of its lease first, and twice as much each time it was late. The database role's own "
              "timeouts, of statements and for locks, do not count." },
    { "lock_timeout", SETTING_DURATION_US, AT(lock_timeout_us), .otherwise = "250ms", .min = 1 * MS,
      .max = MINUTE,
      .help = "How long a settle waits for a row that an application holds before it goes around it." },
    { "prepared", SETTING_BOOL, AT(prepared), .otherwise = "true",
      .help = "Prepared statements; false saves a try where a pooler does not keep them." },
    { "connections", SETTING_INT, AT(connections), .otherwise = "0", .min = 0, .max = 64,
      .help = "Store connections of an engine. 0: 2 on PostgreSQL, 1 on SQLite." },
    { "business_connections", SETTING_INT, AT(business_connections), .otherwise = "0", .min = 0, .max = 10000,
      .help =
          "Connections to the business database at most, over all workers of an engine. 0: one a worker." },

    { "engine_name", SETTING_TEXT, AT(engine_name), .min = 1, .max = 255, .accepts = is_printable,
      .section = "The engine", .expected = "text without control characters",
      .help = "What this engine is called in passes and history. Unset: the host's name." },
    { "workers", SETTING_INT, AT(workers), .otherwise = "0", .min = 0, .max = 1024,
      .help = "Worker processes. 0: one a processor." },
    { "workers_max", SETTING_INT, AT(workers_max), .otherwise = "64", .min = 1, .max = 4096,
      .help = "Workers at most, with those started while others are stuck." },
    { "worker_checks", SETTING_INT, AT(worker_checks), .otherwise = "100000", .min = 0, .max = INT32_MAX,
      .help = "Checks after which a worker is replaced by a fresh one. 0: never." },
    { "worker_memory", SETTING_SIZE, AT(worker_memory), .otherwise = "1GiB", .min = 32 * MIB, .max = 64 * TIB,
      .or_zero = true, .help = "Address space of a worker. 0: no limit." },
    { "worker_files", SETTING_INT, AT(worker_files), .otherwise = "256", .min = 16, .max = 1048576,
      .help = "Open files of a worker." },
    { "worker_processes", SETTING_INT, AT(worker_processes), .otherwise = "0", .min = 0, .max = 4194304,
      .help = "Processes and threads at most of the user who workers are; all that this user runs is "
              "counted, so it wants a user\n"
              "of its own. Nothing holds root. 0: no limit." },
    { "worker_file_size", SETTING_SIZE, AT(worker_file_size), .otherwise = "0", .min = 4 * KIB,
      .max = 64 * TIB, .or_zero = true,
      .help = "Size of a file that a worker writes: who goes on writing is killed. 0: no limit." },
    { "worker_user", SETTING_TEXT, AT(worker_user), .min = 1, .max = 255, .accepts = is_user_name,
      .expected = "the name of a user",
      .help = "The user whom workers become when the engine was started as root. Unset: nobody else." },
    { "worker_seccomp", SETTING_WORD, AT(worker_seccomp), .otherwise = "on", .words = words_on_off,
      .help = "Whether the kernel refuses workers what no job needs: to debug others, to mount, namespaces, "
              "modules, keys, clocks." },
    { "kill_grace", SETTING_DURATION_US, AT(kill_grace_us), .otherwise = "250ms", .min = 0, .max = MINUTE,
      .help = "From SIGTERM to SIGKILL, when a worker has passed its deadline." },
    { "hold_back_after", SETTING_INT, AT(hold_back_after), .otherwise = "20", .min = 1, .max = 1000000,
      .help =
          "Timeouts or crashes of one job in a row after which it is held back for the rest of the pass." },
    { "page", SETTING_INT, AT(page), .otherwise = "2000", .min = 1, .max = 100000,
      .help = "Checks read and settled at once." },
    { "page_bytes", SETTING_SIZE, AT(page_bytes), .otherwise = "4MiB", .min = 64 * KIB, .max = GIB,
      .help = "The same in bytes, whichever is reached first." },
    { "slab", SETTING_INT, AT(slab), .otherwise = "256", .min = 1, .max = 1024, /* SLAB_CHECKS_MAX */
      .help = "Checks handed to a worker at once." },
    { "split_at", SETTING_INT, AT(split_at), .otherwise = "2000", .min = 1, .max = INT32_MAX,
      .help = "A slot of more checks (while they are seen to take microseconds: of up to ten times as many) "
              "is split into 64 leases, so that engines can share it." },
    { "lease", SETTING_DURATION_US, AT(lease_us), .otherwise = "30s", .min = 1 * S, .max = HOUR,
      .whole_seconds = true,
      .help = "How long a lease lasts without being renewed: what a dead engine delays its checks by." },
    { "trust", SETTING_DURATION_US, AT(trust_us), .otherwise = "20s", .min = 100 * MS, .max = HOUR,
      .help = "How long after the sending of a good renewal workers may start checks. Shorter than lease." },
    { "settle_after", SETTING_DURATION_US, AT(settle_after_us), .otherwise = "250ms", .min = 1 * MS,
      .max = MINUTE, .help = "Answers are written down after so long, even when their page is not full." },
    { "stop_timeout", SETTING_DURATION_US, AT(stop_timeout_us), .otherwise = "20s", .min = 100 * MS,
      .max = HOUR, .help = "How long a stop may take to settle what is answered." },
    { "serve", SETTING_MINUTES, AT(serve), .count = offsetof(struct settings, nserve), .otherwise = "",
      .min = 0, .max = 59,
      .help = "Minutes of the hour whose slots this server runs, such as [0, 30]. Empty: all." },
    { "keep_runs", SETTING_WORD, AT(keep_runs), .otherwise = "all", .words = words_keep_runs,
      .help = "Which runs that did not end their check are kept." },
    { "keep", SETTING_DURATION_US, AT(keep_us), .otherwise = "0s", .min = DAY, .max = 36500 * DAY,
      .or_zero = true,
      .help = "How long history, runs, passes and events are kept: engines drop what is older, in whole days "
              "on PostgreSQL. 0s: for ever." },
    { "history_days_ahead", SETTING_INT, AT(history_days_ahead), .otherwise = "3", .min = 1, .max = 365,
      .help = "Daily partitions of history, runs and events made in advance (PostgreSQL)." },
    { "log_level", SETTING_WORD, AT(log_level), .otherwise = "info", .words = words_log_level,
      .help = "What is logged: this level and those after it." },

    { "plugin_dirs", SETTING_TEXTS, AT(plugin_dirs), .count = offsetof(struct settings, nplugin_dirs),
      .otherwise = PLUGIN_DIR, .min = 1, .max = 4095, .accepts = is_printable, .section = "Jobs",
      .help = "Folders where plug-ins are looked for, in this order." },
    { .name = NULL },
};

const struct setting_row settings_job_rows[] = {
    { "plugin", SETTING_TEXT, AT_JOB(plugin), .min = 1, .max = 255, .accepts = is_plugin_name,
      .expected = "the name of a plug-in in one of plugin_dirs, never a path",
      .help = "The plug-in, with or without \".so\"." },
    { "timeout", SETTING_DURATION_US, AT_JOB(timeout_us), .otherwise = "30s", .min = 10 * MS, .max = DAY,
      .help = "How long one check may take. This and what follows holds for every job that does not say "
              "otherwise." },
    { "batch_timeout", SETTING_DURATION_US, AT_JOB(batch_timeout_us), .otherwise = "60s", .min = 10 * MS,
      .max = DAY, .help = "How long one batch call may take, for jobs that answer many checks at once." },
    { "batch", SETTING_INT, AT_JOB(batch), .otherwise = "1000", .min = 1, .max = 100000,
      .help = "Checks of a batch call at most. 1: never a batch." },
    { "max_checks", SETTING_INT, AT_JOB(max_checks), .otherwise = "5", .min = 0, .max = 1000000,
      .help = "How often a job may ask to look again." },
    { "horizon", SETTING_DURATION_S, AT_JOB(horizon_s), .otherwise = "30d", .min = 1 * S, .max = 36500 * DAY,
      .help = "How far ahead that may be." },
    { "max_failures", SETTING_INT, AT_JOB(max_failures), .otherwise = "3", .min = 0, .max = 1000000,
      .help = "How many failures in a row are tried again." },
    { "backoff", SETTING_DURATION_S, AT_JOB(backoff_s), .otherwise = "0s", .min = 1 * S, .max = 3650 * DAY,
      .or_zero = true, .help = "Delay after the first failure; it doubles with each. 0s: one slot." },
    { "backoff_max", SETTING_DURATION_S, AT_JOB(backoff_max_s), .otherwise = "1d", .min = 1 * S,
      .max = 3650 * DAY, .help = "The longest such delay." },
    { .name = NULL },
};

/* ---- looking rows up ---- */

static bool is_called(const char *known, const char *name)
{
    for (; *known && (*known == *name || (*known == '_' && *name == '-')); known++, name++)
        ;
    return *known == '\0' && *name == '\0';
}

static const struct setting_row *find(const struct setting_row *rows, const char *name)
{
    for (; rows->name; rows++)
        if (is_called(rows->name, name))
            return rows;
    return NULL;
}

static bool stands_at_top(const struct setting_row *row)
{
    return row != settings_job_rows;            /* a plug-in is each job's own */
}

const struct setting_row *settings_row(const char *name, bool job)
{
    const struct setting_row *row = find(settings_job_rows, name);
    if (row)
        return job || stands_at_top(row) ? row : NULL;
    return job ? NULL : find(settings_rows, name);
}

enum {
    ROWS = sizeof settings_rows / sizeof *settings_rows,
    JOB_ROWS = sizeof settings_job_rows / sizeof *settings_job_rows
};
_Static_assert(ROWS + JOB_ROWS <= SETTINGS_ROWS_MAX, "room for all rows");

int settings_row_index(const struct setting_row *row)
{
    bool job = row >= settings_job_rows && row < settings_job_rows + JOB_ROWS;
    return (int)(job ? ROWS + (row - settings_job_rows) : row - settings_rows);
}

void *settings_field(const struct setting_row *row, struct settings *s, struct job_settings *job)
{
    if (settings_row_index(row) < ROWS)
        return (char *)s + row->offset;
    return (char *)(job ? job : &s->defaults) + row->offset;
}

/* ---- names that are close ---- */

/* "timeout_ms" is meant to be "timeout": elsewhere the unit stands in the name. */
static bool is_with_unit(const char *name, const char *known)
{
    size_t n = strlen(known);
    return !strncmp(name, known, n) && name[n] == '_';
}

struct settings_guess { struct nearest near; const char *with_unit; };

static void settings_guess_look(struct settings_guess *g, const char *known)
{
    nearest_look(&g->near, known);
    if (is_with_unit(g->near.wanted, known))
        g->with_unit = known;
}

const char *settings_nearest(const char *name, bool job)
{
    struct settings_guess g = { .near.wanted = name };
    for (const struct setting_row *row = settings_rows; row->name && !job; row++)
        settings_guess_look(&g, row->name);
    for (const struct setting_row *row = settings_job_rows; row->name; row++)
        if (job || stands_at_top(row))
            settings_guess_look(&g, row->name);
    settings_guess_look(&g, job ? "settings" : "jobs");
    const char *nearest = nearest_word(&g.near);
    return nearest ? nearest : g.with_unit;
}
