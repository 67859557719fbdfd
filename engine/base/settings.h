/* settings.h - what the operator decides: one row a setting (settings_table.c), which serves
 * parser, bounds, flags, environment, `config --print` and the sample file. settings_load.h reads
 * them. Files have libconfig's syntax. Durations are "250ms", "90s", "15m", "3h", "30d" or a number
 * of seconds; sizes "64MiB" or a number of bytes. Unknown settings are errors; every error names
 * file, line, setting, what was found and what was expected. */
#ifndef PRESCIENT_SETTINGS_H
#define PRESCIENT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct config_setting_t;

/* jobs = { unshipped_order = { plugin = "..."; ... }; }; unset values come from the top level */
struct job_settings {
    const char *name;
    const char *from;               /* "prescient.cfg:12"; NULL in the defaults */
    /* a file name in one of plugin_dirs, with or without ".so", never a path */
    const char *plugin;
    int64_t timeout_us;             /* one check */
    int64_t batch_timeout_us;       /* one job_exec_many call */
    int32_t batch;                  /* checks handed to job_exec_many at most; 1: never */
    int32_t max_running;            /* workers of an engine at once; 0: any, for deliveries half */
    int32_t weight;                 /* its part of the workers' time, beside that of others */
    int32_t max_checks;
    int64_t horizon_s;
    int32_t max_failures;
    int64_t backoff_s, backoff_max_s;       /* backoff_s 0: one slot length */
    int32_t attempts;               /* in one full slot; 1: no other */
    int64_t attempt_interval_s, attempt_interval_max_s, attempt_jitter_s;
    const struct config_setting_t *own;     /* its `settings` group; NULL: none */
    /* Which of these its own group sets: deliveries do not take them from the top level. */
    bool sets_attempts, sets_max_failures, sets_backoff, sets_backoff_max;
};

/* A delivery has failed for good. A pattern with a star does not hear it: the deliveries of a
 * listener to everything would make new ones, as long as their receiver is away. */
#define EVENT_DELIVERY_FAILED "delivery.failed"

/* listeners = ( { name = "hook"; events = "order.*"; except = []; job = "hook"; } ) */
struct listener_settings {
    const char *name;               /* that of its job, if it has no other */
    const char *from;               /* "prescient.cfg:12" */
    const char **events, **except;  /* names of events; with a star at its end, all that begin so */
    int nevents, nexcept;
    const char *job;                /* one of the settings' jobs */
    /* What matched since the last time is one delivery: "15m" or "cron 0 8 * * mon-fri", whose time
     * zone is `timezone` (NULL: UTC). NULL: each event is a delivery of its own. */
    const char *digest, *timezone;
};

struct settings {
    const char *file;               /* where they were read from, with its whole path; NULL: no file */
    /* store and business database */
    const char *store;              /* URL; default "sqlite:prescient.db" */
    /* "DATABASE_URL", when that or another variable of the environment has replaced the store of
     * the file, and "prescient.cfg:3"; NULL: neither */
    const char *store_from, *store_instead_of;
    const char *store_place;        /* "prescient.cfg:3", "DATABASE_URL", "--store"; NULL: the default */
    const char *schema;             /* PostgreSQL; "prescient" */
    const char *schema_owner;       /* "prescient_owner" */
    const char *business;           /* URL of the business database; NULL: the store's own */
    int64_t slot_length_s;          /* 0: as the database has it */
    int64_t connect_timeout_us, statement_timeout_us, lock_timeout_us;
    bool prepared;                  /* prepared statements */
    int32_t connections;            /* store connections of an engine; 0: 2 on PostgreSQL, 1 on SQLite */
    int32_t business_connections;   /* at most, over all workers; 0: one a worker */
    /* engine */
    const char *engine_name;        /* NULL: host name */
    int32_t workers;                /* 0: the number of processors */
    int32_t workers_max;            /* with those started while others are stuck */
    int32_t worker_checks;          /* replaced after so many; 0: never */
    int64_t worker_memory;          /* RLIMIT_AS in bytes; 0: none */
    int32_t worker_files;           /* RLIMIT_NOFILE */
    int32_t worker_processes;       /* RLIMIT_NPROC; 0: none */
    int64_t worker_file_size;       /* RLIMIT_FSIZE in bytes; 0: none */
    const char *worker_user;        /* to switch to when started as root; NULL: none */
    const char *worker_seccomp;     /* "on", "off": what no job needs is refused by the kernel */
    int64_t kill_grace_us;          /* from SIGTERM to SIGKILL */
    int32_t hold_back_after;        /* timeouts or crashes of one job in a row */
    int32_t page;                   /* checks a page */
    int64_t page_bytes;
    int32_t slab;                   /* checks a worker is handed at once */
    int32_t split_at;               /* more checks than this split a slot into 64 leases */
    int64_t lease_us, trust_us;     /* trust window: shorter than the lease */
    int64_t settle_after_us;        /* a page is settled after so long, full or not */
    int64_t stop_timeout_us;
    int serve[60];                  /* minutes of the hour whose slots this server runs; nserve = 0: all */
    int nserve;
    const char *keep_runs;          /* "all", "problems", "none" */
    int64_t keep_us;                /* how long history, runs, passes and events are kept; 0: for ever */
    int32_t history_days_ahead;
    const char *notify;             /* a channel: who waits for events is told; NULL: nobody is */
    const char *metrics_file;       /* engines write metrics to it; NULL: to none */
    const char *log_level, *log_format;
    /* serve */
    const char *listen;             /* "127.0.0.1:8080", "unix:PATH" */
    const char *base_path;          /* what paths begin with: "/prescient"; NULL: nothing */
    const char **http_hosts;        /* names that it answers to, beside loopback addresses */
    int nhttp_hosts;
    bool http_read_only;            /* no change can be made over HTTP */
    int32_t http_peer_requests;     /* of one peer, under way at once; 0: as many as there is room for */
    int64_t uniqid_keep_us;         /* how long requests with a uniqid are remembered, at least */
    /* jobs */
    const char **plugin_dirs;
    int nplugin_dirs;
    struct job_settings defaults;   /* the top-level timeout, max_checks, ... */
    struct job_settings *jobs;      /* in the order of the file */
    int njobs;
    struct listener_settings *listeners;    /* in the order of the file */
    int nlisteners;
    void *impl;                     /* what the strings and groups live in */
};

void settings_release(struct settings *s);

/* The job named `name`, or NULL; *index its place. */
const struct job_settings *settings_job(const struct settings *s, const char *name, int *index);
/* Which job was probably meant by a name that no job has; NULL: none is near enough. */
const char *settings_nearest_job(const struct settings *s, const char *name);

#endif
