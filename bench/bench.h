/* bench.h - shared by the parts of prescient-bench: a run, its scratch place, and the figures of a
 * round. bench_main.c has the options, bench_measure.c the measures, bench_scratch.c the scratch
 * place. bench_engine.c starts engines; bench_pg.c and bench_sqlite.c run the bare SQL beside them.
 * bench_report.c prints tables and JSON; bench_load.c is the load generator. */
#ifndef PRESCIENT_BENCH_H
#define PRESCIENT_BENCH_H

#include "../engine/base/clock.h"
#include "../engine/cmd/args.h"
#include "../engine/cmd/command.h"
#include "../engine/cmd/interrupt.h"
#include "../engine/store/embedded_sql.h"

enum { BENCH_ROUNDS_MAX = 99, BENCH_ENGINES_MAX = 16, BENCH_BATCH = 1000, BENCH_CHUNK = 10000 };

struct bench_options {
    int64_t checks, singles;        /* due in one slot; enqueued in a transaction each */
    int64_t future;                 /* waiting checks besides those that are due */
    bool scattered;  /* waiting checks in random order, with the due ones among them */
    /* checks settled before the rounds while an older snapshot is held; 0: none */
    int64_t old_snapshot;
    int engines, rounds;
    const char *only;               /* names of measures, separated by commas; NULL: all */
    int32_t slot_length_s;          /* 0: the default */
};

/* The figures of one round of one measure; -1: not known. Memory is that of the largest process of
 * its kind. */
struct bench_figures {
    int64_t checks, us, whole_us;           /* whole_us: with starting the processes */
    int64_t engine_cpu_us, worker_cpu_us, client_cpu_us, server_cpu_us;
    int64_t wal_bytes, transactions, dead_rows;
    int64_t engine_peak_kib, worker_peak_kib;
};
#define BENCH_UNKNOWN { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 }

/* END and MOVE: by ids, or by their range. ENQUEUE: one by one through the SQL API. UNWAITED, and
 * all behind it: a commit does not wait for the disk, in which everything else drowns. BIGINT to
 * JSONB: the kinds of key, time and payload. */
enum bench_bare {
    BARE_INSERT,
    BARE_COPY,
    BARE_END,
    BARE_END_RANGE,
    BARE_MOVE,
    BARE_MOVE_RANGE,
    BARE_LOOP,
    BARE_ENQUEUE,
    BARE_ENQUEUE_UNWAITED,
    BARE_ENQUEUE_BIGINT,
    BARE_ENQUEUE_UUID,
    BARE_ENQUEUE_INTERVAL,
    BARE_ENQUEUE_WORDS,
    BARE_ENQUEUE_JSONB,
    BARE_INSERT_UNWAITED,
    BARE_PLAIN_UNWAITED
};

struct bench_db;

struct bench {
    struct app *app;
    struct bench_options o;
    struct interrupt interrupt;
    const struct bench_db_ops *ops;
    struct bench_db *db;
    char dir[64];                   /* for settings, outputs and, with SQLite, the file */
    char url[4096];                 /* of the scratch store */
    char settings_file[96];
    char program[4096];             /* path of prescient, which runs the engines */
    char where[256];                /* the scratch place, as people read it */
    /* the slot of this round's due checks; each round has a later one, in the past */
    int64_t slot;
    int32_t slot_length_s;
    char server[512]; /* what was measured on, as people read it */
};

/* The bench's own connections to a database: bare SQL, preparation and figures. Functions return 0
 * or a negative ERR_. */
struct bench_db_ops {
    const char *scheme, *schema;
    /* creates an empty scratch place and sets b->url */
    int (*take)(struct bench *b, struct err *err);
    void (*drop)(struct bench *b);                          /* drops all of it; NULL db is fine */
    /* once, after the schema: business rows and waiting checks */
    int (*fill)(struct bench *b, struct err *err);
    /* files the checks of `job` under b->slot, which has not run; job NULL: no checks */
    int (*prepare)(struct bench *b, const char *job, struct err *err);
    int (*bare)(struct bench *b, enum bench_bare what, int connections, struct bench_figures *out,
                struct err *err);
    /* server_cpu_us, wal_bytes, transactions and dead_rows so far */
    int (*counters)(struct bench *b, struct bench_figures *out, struct err *err);
    /* reads the counts in slot_pass of b->slot */
    int (*pass)(struct bench *b, int64_t *us, int64_t *run, int64_t *late_us, struct err *err);
    int (*hold_snapshot)(struct bench *b, struct err *err);     /* NULL: not supported */
    /* Rows of numbers of the block `name`, at most `room` rows of 4 columns; the first column is
     * text if `texts` is not NULL. Returns how many. */
    int (*ask)(struct bench *b, const char *name, int64_t (*out)[4], char (*texts)[64], int room,
               struct err *err);
};
extern const struct bench_db_ops bench_pg_ops, bench_sqlite_ops;

/* The block's text with {checks}, {future}, {slot} and {job} replaced, in the arena; NULL: out of
 * memory. */
extern const struct sql_block sql_bench_pg[], sql_bench_sqlite[];
char *bench_sql(const struct bench *b, const struct sql_block *blocks, const char *name, const char *job,
                struct arena *a);

/* ---- bench_scratch.c: a place of our own ---- */
/* `jobs`: the engines' jobs, as libconfig text */
int bench_open(struct bench *b, const char *jobs, struct err *err);
void bench_close(struct bench *b);
/* A new store on the scratch place; the caller frees it. */
struct store *bench_store(struct bench *b, struct err *err);
static inline void bench_store_freep(struct store **st)
{
    store_free(*st);
}

/* ---- bench_engine.c: engines as processes of their own ---- */
struct bench_engine_run {
    const char *command[8];  /* follows the common flags: "run", "--slot", ...; ends with NULL */
    int engines;
    int64_t stop_after_us;          /* send SIGTERM after this time; 0: never */
};
/* Starts engines and waits for them; sets times, CPU and memory in the figures. *run is how many
 * checks the engines report. */
int bench_engines(struct bench *b, const struct bench_engine_run *r, struct bench_figures *out, int64_t *run,
                  struct err *err);

/* ---- bench_proc.c: what the kernel knows of processes ---- */
int64_t bench_self_cpu_us(void);
/* A process without its children, also when it is a zombie. -1: not known. */
int64_t bench_task_cpu_us(int pid);
int64_t bench_tree_cpu_us(int pid);             /* with its children, running and reaped */
int64_t bench_parent_of(int pid);
int64_t bench_peak_kib(int pid);
int bench_children_of(int pid, int *out, int room);
bool bench_comm_is(int pid, const char *prefix);

/* ---- bench_report.c ---- */
struct bench_measure {
    const char *name, *title;
    int (*run)(struct bench *b, const struct bench_measure *m, struct bench_figures *out, struct err *err);
    const char *job;                /* of a pass */
    enum bench_bare bare;
    int connections;
    bool server_only;               /* PostgreSQL only */
    bool plain_only;                /* not with --future or --old-snapshot */
};
/* compares with the better one of `against` */
struct bench_ratio { const char *name, *against[3]; };
void bench_report(struct bench *b, const struct bench_measure *measures, int n,
                  struct bench_figures (*rounds)[BENCH_ROUNDS_MAX], const bool *measured,
                  const struct bench_ratio *ratios);

/* ---- bench_measure.c ---- */
/* Runs all rounds and prints the report. Returns an exit code. */
int bench_measures(struct bench *b);

/* ---- bench_main.c: options ---- */
/* The options that `bench` and `bench load` share: --engines, --future, --scattered. */
int bench_common_options(const struct args *args, struct bench_options *o, struct err *err);
/* ERR_INPUT with the message `why` when one of these options was given, else 0. */
int bench_refuse_options(const struct args *args, const char *letters, const char *why, struct err *err);

/* ---- bench_load.c ---- */
int bench_load_main(struct app *app, const struct args *args);

#endif
