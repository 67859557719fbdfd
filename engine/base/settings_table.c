/* settings_table.c - the rows. To add a setting: a field in settings.h and a row here. */
#include "settings_table.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <libconfig.h>
#include <string.h>
#include "log.h"
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

/* Of what stands in a target as it is. */
static bool is_base_path(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    return text[0] == '/' && text[strspn(text, plain)] == '\0' && text[strlen(text) - 1] != '/' &&
           !strstr(text, "//");
}

/* As a Host has it, but for the port and the brackets of an address. */
static bool is_host_name(const char *text)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    struct in6_addr v6;
    return !text[strspn(text, of_names)] || inet_pton(AF_INET6, text, &v6) == 1;
}

static bool is_part_of_a_day(int64_t us)       /* as rules/slot.h has it */
{
    return DAY % us == 0;
}

static const char *const words_keep_runs[] = { "all", "problems", "none", NULL };
static const char *const words_on_off[] = { "on", "off", NULL };
static const char *const words_log_format[] = { "text", "json", NULL };

/* ---- the rows ---- */

#define AT(member) .offset = offsetof(struct settings, member)
#define AT_JOB(member) .offset = offsetof(struct job_settings, member)

const struct setting_row settings_rows[] = {
    { "store", SETTING_URL, AT(store), .default_text = "sqlite:prescient.db", .min = 1, .max = 4096,
      .section = "Where checks are kept", .accepts = is_printable,
      .expected = "sqlite:FILE, postgresql://USER:PASSWORD@HOST/DATABASE or a libpq keyword string",
      .help = "The store: sqlite:FILE, postgresql://USER:PASSWORD@HOST/DATABASE or a libpq keyword string.\n"
              "DATABASE_URL sets it, too; so do PGHOST, PGSERVICE, ... when nothing else does." },
    { "schema", SETTING_TEXT, AT(schema), .default_text = "prescient", .min = 1, .max = 63,
      .accepts = is_identifier, .expected = "a name of lower-case letters, digits and _",
      .help = "The schema on PostgreSQL." },
    { "schema_owner", SETTING_TEXT, AT(schema_owner), .default_text = "prescient_owner", .min = 1, .max = 63,
      .accepts = is_printable, .expected = "the name of a role",
      .help = "The role that the schema may belong to, beside the user in the store's URL, superusers "
              "and the database's owner.\n"
              "Functions of any other owner would run with our rights: they are refused." },
    { "business", SETTING_URL, AT(business), .min = 1, .max = 4096, .accepts = is_printable,
      .expected = "sqlite:FILE, postgresql://USER:PASSWORD@HOST/DATABASE or a libpq keyword string",
      .help = "The database that jobs query, read-only. Unset: the store's own." },
    { "slot_length", SETTING_DURATION_S, AT(slot_length_s), .default_text = "0s", .min = 1 * S, .max = DAY,
      .or_zero = true, .accepts_us = is_part_of_a_day,
      .expected = "0s, or a length that divides a day, such as 1m, 15m or 1h, from 1s to 1d",
      .help = "Length of a slot; it divides a day. 0s: as the database has it (15m in a new one)." },
    { "connect_timeout", SETTING_DURATION_US, AT(connect_timeout_us), .default_text = "10s", .min = 100 * MS,
      .max = 10 * MINUTE,
      .help = "How long opening a connection may take; an engine gives each host half a lease first." },
    { "statement_timeout", SETTING_DURATION_US, AT(statement_timeout_us), .default_text = "30s",
      .min = 100 * MS, .max = DAY,
      .help = "How long one call to the store may take before its connection is closed. An engine's "
              "call has the time of its lease first, and twice as much each time it was late. The "
              "database role's own timeouts, of statements and for locks, do not count." },
    { "lock_timeout", SETTING_DURATION_US, AT(lock_timeout_us), .default_text = "250ms", .min = 1 * MS,
      .max = MINUTE,
      .help = "How long a settle waits for a row that an application holds before it skips the row." },
    { "prepared", SETTING_BOOL, AT(prepared), .default_text = "true",
      .help = "Prepared statements. false saves a failed try with a pooler that does not keep them." },
    { "connections", SETTING_INT, AT(connections), .default_text = "0", .min = 0, .max = 64,
      .help = "Store connections of an engine, and one more for what is asked for at once. "
              "0: 2 on PostgreSQL, 1 on SQLite." },
    { "business_connections", SETTING_INT, AT(business_connections), .default_text = "0", .min = 0,
      .max = 10000,
      .help = "Connections to the business database, over all workers of an engine. 0: one a worker." },

    { "engine_name", SETTING_TEXT, AT(engine_name), .min = 1, .max = 255, .accepts = is_printable,
      .section = "The engine", .expected = "text without control characters",
      .help = "The engine's name in passes and history. Unset: the host's name." },
    { "workers", SETTING_INT, AT(workers), .default_text = "0", .min = 0, .max = 1024,
      .help = "Worker processes. 0: one a processor." },
    { "workers_max", SETTING_INT, AT(workers_max), .default_text = "64", .min = 1, .max = 4096,
      .help = "Workers at most, with those started while others are stuck." },
    { "worker_checks", SETTING_INT, AT(worker_checks), .default_text = "100000", .min = 0, .max = INT32_MAX,
      .help = "Checks after which a worker is replaced by a new one. 0: never." },
    { "worker_memory", SETTING_SIZE, AT(worker_memory), .default_text = "1GiB", .min = 32 * MIB,
      .max = 64 * TIB, .or_zero = true, .help = "Address space of a worker. 0: no limit." },
    { "worker_files", SETTING_INT, AT(worker_files), .default_text = "256", .min = 16, .max = 1048576,
      .help = "Open files of a worker." },
    { "worker_processes", SETTING_INT, AT(worker_processes), .default_text = "0", .min = 0, .max = 4194304,
      .help = "Processes and threads that the workers' user may have. All processes of that user count, "
              "so give workers\n"
              "a user of their own. Root has no limit. 0: no limit." },
    { "worker_file_size", SETTING_SIZE, AT(worker_file_size), .default_text = "0", .min = 4 * KIB,
      .max = 64 * TIB, .or_zero = true,
      .help = "Size of a file that a worker may write; a worker that writes more is killed. 0: no "
              "limit." },
    { "worker_user", SETTING_TEXT, AT(worker_user), .min = 1, .max = 255, .accepts = is_user_name,
      .expected = "the name of a user",
      .help = "The user that workers switch to when the engine was started as root. Unset: they do not "
              "switch." },
    { "worker_seccomp", SETTING_WORD, AT(worker_seccomp), .default_text = "on", .words = words_on_off,
      .help = "Whether the kernel refuses system calls that no job needs: debugging other processes, "
              "mounts, namespaces, modules, keys, clocks." },
    { "kill_grace", SETTING_DURATION_US, AT(kill_grace_us), .default_text = "250ms", .min = 0, .max = MINUTE,
      .help = "Time from SIGTERM to SIGKILL, when a worker has passed its deadline." },
    { "hold_back_after", SETTING_INT, AT(hold_back_after), .default_text = "20", .min = 1, .max = 1000000,
      .help =
          "Timeouts or crashes of one job in a row after which it is held back for the rest of the pass." },
    { "page", SETTING_INT, AT(page), .default_text = "2000", .min = 1, .max = 100000,
      .help = "Checks read and settled at once." },
    { "page_bytes", SETTING_SIZE, AT(page_bytes), .default_text = "4MiB", .min = 64 * KIB, .max = GIB,
      .help = "The same in bytes, whichever is reached first." },
    { "slab", SETTING_INT, AT(slab), .default_text = "256", .min = 1, .max = 1024, /* SLAB_CHECKS_MAX */
      .help = "Checks handed to a worker at once. Of a job that takes them one by one no more than it does "
              "in 250 ms." },
    { "split_at", SETTING_INT, AT(split_at), .default_text = "2000", .min = 1, .max = INT32_MAX,
      .help = "A slot with more checks is split into 64 leases, so that engines can share it. While "
              "checks take microseconds, the limit is up to ten times as high." },
    { "lease", SETTING_DURATION_US, AT(lease_us), .default_text = "30s", .min = 1 * S, .max = HOUR,
      .whole_seconds = true,
      .help = "How long a lease lasts without a renewal: the checks of an engine that died are delayed "
              "by so much." },
    { "trust", SETTING_DURATION_US, AT(trust_us), .default_text = "20s", .min = 100 * MS, .max = HOUR,
      .help = "How long workers may start checks after a renewal was sent that succeeded. Shorter than "
              "lease." },
    { "settle_after", SETTING_DURATION_US, AT(settle_after_us), .default_text = "250ms", .min = 1 * MS,
      .max = MINUTE, .help = "Answers are written after this time, even when their page is not full." },
    { "stop_timeout", SETTING_DURATION_US, AT(stop_timeout_us), .default_text = "20s", .min = 100 * MS,
      .max = HOUR, .help = "How long a stop may take to settle the answers." },
    { "serve", SETTING_MINUTES, AT(serve), .count = offsetof(struct settings, nserve), .default_text = "",
      .min = 0, .max = 59, .separator = ',', .as_text = "0,30",
      .help = "Minutes of the hour whose slots this server runs, such as [0, 30]. Empty: all." },
    { "keep_runs", SETTING_WORD, AT(keep_runs), .default_text = "all", .words = words_keep_runs,
      .help = "Which runs that did not end their check are kept." },
    { "keep", SETTING_DURATION_US, AT(keep_us), .default_text = "0s", .min = DAY, .max = 36500 * DAY,
      .or_zero = true,
      .help = "How long history, runs, passes and events are kept: engines drop what is older, in whole days "
              "on PostgreSQL. 0s: for ever." },
    { "history_days_ahead", SETTING_INT, AT(history_days_ahead), .default_text = "3", .min = 1, .max = 365,
      .help = "Daily partitions of history, runs and events made in advance (PostgreSQL)." },
    { "notify", SETTING_TEXT, AT(notify), .min = 1, .max = 63, .accepts = is_identifier,
      .expected = "a name of lower-case letters, digits and _",
      .help = "A channel of PostgreSQL on which engines tell, once a second at most, that there are new "
              "events:\n"
              "`prescient events --deliver --every` listens there, and looks at once. SQLite tells nobody." },
    { "metrics_file", SETTING_TEXT, AT(metrics_file), .min = 1, .max = 4000, .accepts = is_printable,
      .expected = "a file, such as /var/lib/prometheus/node-exporter/prescient.prom",
      .help = "Engines write metrics there for the textfile collector of node_exporter, a daemon once a "
              "minute, others at their end.\nUnset: nowhere." },
    { "log_level", SETTING_WORD, AT(log_level), .default_text = "info", .words = log_levels,
      .help = "What is logged: this level and those after it." },
    { "log_format", SETTING_WORD, AT(log_format), .default_text = "text", .words = words_log_format,
      .help = "How: as text, or an object of JSON a line, with time, level, role, pid, message, and "
              "the slot, job, entity and key that it is about. systemd's journal is given the level as "
              "a priority, and text without a time." },

    { "listen", SETTING_TEXT, AT(listen), .default_text = "127.0.0.1:8080", .min = 1, .max = 200,
      .section = "The HTTP server (prescient serve)", .accepts = is_printable,
      .expected = "an address with a port (127.0.0.1:8080, [::1]:8080) or unix:PATH",
      .help = "Where prescient serve listens: an address with a port, or unix:PATH. Without tokens "
              "(prescient token)\nonly a loopback address or a socket file: who reaches it may do all "
              "that it can." },
    { "base_path", SETTING_TEXT, AT(base_path), .min = 2, .max = 200, .accepts = is_base_path,
      .expected = "a path such as \"/prescient\": it begins with / and does not end with it",
      .help = "What the paths of its requests begin with, behind a proxy that passes them on as they are." },
    { "http_hosts", SETTING_TEXTS, AT(http_hosts), .count = offsetof(struct settings, nhttp_hosts),
      .default_text = "localhost", .min = 1, .max = 255, .accepts = is_host_name,
      .expected = "names of hosts, without a port", .separator = ',',
      .as_text = "shop.example,www.shop.example",
      .help = "Names in the header Host that it answers to, beside localhost and loopback addresses: those "
              "by\nwhich a proxy is reached that passes the header on." },
    { "http_read_only", SETTING_BOOL, AT(http_read_only), .default_text = "false",
      .help = "No change can be made over HTTP: what would make one is refused with 403." },
    { "http_peer_requests", SETTING_INT, AT(http_peer_requests), .default_text = "0", .min = 0, .max = 1024,
      .help = "How many requests of one address may be under way at once, feeds of events too; more get "
              "429.\n0: as many as there is room for, but the last of it is for others. All clients behind a "
              "proxy are one address." },
    { "uniqid_keep", SETTING_DURATION_US, AT(uniqid_keep_us), .default_text = "7d", .min = MINUTE,
      .max = 3660 * DAY,
      .help = "How long it is remembered, at least, what was asked for under a uniqid: a repeat in that\n"
              "time gets the answer of before, and does nothing." },

    { "plugin_dirs", SETTING_TEXTS, AT(plugin_dirs), .count = offsetof(struct settings, nplugin_dirs),
      .default_text = PLUGIN_DIR, .min = 1, .max = 4095, .accepts = is_printable, .section = "Jobs",
      .separator = ':', .as_text = PLUGIN_DIR ":/srv/jobs",
      .help = "Folders where plug-ins are looked for, in this order. The bundled ones are found only if "
              "their\nfolder, the default, is among them." },
    { .name = NULL },
};

const struct setting_row settings_job_rows[] = {
    { "plugin", SETTING_TEXT, AT_JOB(plugin), .min = 1, .max = 255, .accepts = is_plugin_name,
      .expected = "the name of a plug-in in one of plugin_dirs, never a path",
      .help = "The plug-in, with or without \".so\"." },
    { "timeout", SETTING_DURATION_US, AT_JOB(timeout_us), .default_text = "30s", .min = 10 * MS, .max = DAY,
      .help = "How long one check may take. This and the settings below hold for each job that does not "
              "set its own." },
    { "batch_timeout", SETTING_DURATION_US, AT_JOB(batch_timeout_us), .default_text = "60s", .min = 10 * MS,
      .max = DAY, .help = "How long one batch call may take, for jobs that answer many checks at once." },
    { "batch", SETTING_INT, AT_JOB(batch), .default_text = "1000", .min = 1, .max = 100000,
      .help = "Checks of a batch call at most. 1: never a batch." },
    { "max_running", SETTING_INT, AT_JOB(max_running), .default_text = "0", .min = 0, .max = 100000,
      .help = "How many workers of an engine run checks of one job at the same time. 0: any number, and at "
              "most half of them for deliveries of events." },
    { "weight", SETTING_INT, AT_JOB(weight), .default_text = "100", .min = 1, .max = 10000,
      .help = "Where checks of several jobs wait, each gets workers by its weight: one of 200 gets twice the "
              "time of one of 100." },
    { "max_checks", SETTING_INT, AT_JOB(max_checks), .default_text = "5", .min = 0, .max = 1000000,
      .help = "How often a job may ask for another check." },
    { "horizon", SETTING_DURATION_S, AT_JOB(horizon_s), .default_text = "30d", .min = 1 * S,
      .max = 36500 * DAY, .help = "How far ahead that may be." },
    { "max_failures", SETTING_INT, AT_JOB(max_failures), .default_text = "3", .min = 0, .max = 1000000,
      .help = "How many failures in a row are tried again." },
    { "backoff", SETTING_DURATION_S, AT_JOB(backoff_s), .default_text = "0s", .min = 1 * S, .max = 3650 * DAY,
      .or_zero = true,
      .help = "Delay after the first failure; it doubles with each. What is waited is drawn from half of it "
              "to all of it, so that what failed together does not come back together. 0s: one slot." },
    { "backoff_max", SETTING_DURATION_S, AT_JOB(backoff_max_s), .default_text = "1d", .min = 1 * S,
      .max = 3650 * DAY, .help = "The longest such delay, of which half to all is waited, too." },
    { "attempts", SETTING_INT, AT_JOB(attempts), .default_text = "1", .min = 1, .max = 100,
      .help = "How often a check is tried within a slot, some seconds apart. When all attempts have failed, "
              "that counts as one of max_failures. 1: once." },
    { "attempt_interval", SETTING_DURATION_S, AT_JOB(attempt_interval_s), .default_text = "10s", .min = 1 * S,
      .max = DAY,
      .help = "Delay after the first attempt; it doubles with each. The delays, jitters and timeouts of all "
              "attempts together have to fit into a slot." },
    { "attempt_interval_max", SETTING_DURATION_S, AT_JOB(attempt_interval_max_s), .default_text = "5m",
      .min = 1 * S, .max = DAY, .help = "The longest such delay." },
    { "attempt_jitter", SETTING_DURATION_S, AT_JOB(attempt_jitter_s), .default_text = "5s", .min = 1 * S,
      .max = DAY, .or_zero = true,
      .help = "At most so much is added to such a delay, at random, so that checks that failed together do "
              "not come back together." },
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
    if (!job)
        settings_guess_look(&g, "listeners");
    const char *nearest = nearest_word(&g.near);
    return nearest ? nearest : g.with_unit;
}
