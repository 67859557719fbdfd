/* bench_scratch.c - the scratch place: a schema "prescient_bench", or a file in a temporary folder.
 * Never the real tables. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/rules/slot.h"
#include "bench.h"
#include "../engine/cmd/program.h"
#include "../engine/base/settings_print.h"

static const struct bench_db_ops *const places[] = { &bench_pg_ops, &bench_sqlite_ops };

/* ---- SQL with the figures of this run in it ---- */

static const char *word_value(const struct bench *b, const char *word, const char *job, struct arena *a)
{
    const struct { const char *name; int64_t value; } numbers[] = {
        { "{checks}", b->o.checks }, { "{future}", b->o.future }, { "{slot}", b->slot },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strncmp(word, numbers[i].name, strlen(numbers[i].name)))
            return arena_printf(a, "%" PRId64, numbers[i].value);
    return !strncmp(word, "{job}", 5) ? job : NULL;
}

char *bench_sql(const struct bench *b, const struct sql_block *blocks, const char *name, const char *job,
                struct arena *a)
{
    const char *text = sql_find(blocks, name);
    char *out = text ? arena_strdup(a, "") : NULL;
    while (out && *text) {
        size_t plain = strcspn(text, "{");
        const char *value = text[plain] ? word_value(b, text + plain, job, a) : "";
        size_t skip = text[plain] && value ? strcspn(text + plain, "}") + 1 : 0;
        if (text[plain] && !value) {            /* a brace that belongs to SQL */
            value = "{";
            skip = 1;
        }
        out = arena_printf(a, "%s%.*s%s", out, (int)plain, text, value);
        text += plain + skip;
    }
    return out;
}

/* ---- files ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int make_dir(struct bench *b, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(b->dir, sizeof b->dir, "%s/prescient-bench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (n < 0 || n >= (int)sizeof b->dir)
        return err_set(err, ERR_INPUT, "TMPDIR: found '%s', expected a path of at most %zu bytes", tmp,
                       sizeof b->dir - 24);
    if (!mkdtemp(b->dir)) {
        b->dir[0] = '\0';
        return err_sys(err, ERR_GENERAL, "cannot make a temporary folder %s", tmp && *tmp ? tmp : "/tmp");
    }
    return 0;
}

/* The user's settings, without the store, the schema, the jobs and what names them. */
static int write_settings(struct bench *b, const char *jobs, struct err *err)
{
    struct settings s = b->app->settings;
    s.store = b->url;
    s.schema = b->ops->schema;
    s.business = NULL;
    s.slot_length_s = 0;
    s.njobs = 0;
    s.jobs = NULL;
    s.nlisteners = 0;
    s.listeners = NULL;
    s.nserve = 0;
    s.log_level = "warn";
    snprintf(b->settings_file, sizeof b->settings_file, "%s/prescient.cfg", b->dir);
    int fd = open(b->settings_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return err_sys(err, ERR_GENERAL, "cannot write %s", b->settings_file);
    int rc = settings_print(&s, f, SETTINGS_EXPLAINED, true, err);
    if (rc == 0 && fputs(jobs, f) < 0)
        rc = err_sys(err, ERR_GENERAL, "cannot write %s", b->settings_file);
    if (fclose(f) && rc == 0)
        rc = err_sys(err, ERR_GENERAL, "cannot write %s", b->settings_file);
    return rc;
}

/* ---- the place ---- */

struct store *bench_store(struct bench *b, struct err *err)
{
    struct store_options options = store_options_from(&b->app->settings);
    struct store *st;
    options.url = b->url;
    options.schema = b->ops->schema;
    options.slot_length_s = 0;
    options.statement_timeout_ms = 10 * 60 * 1000;
    return store_new(&options, &st, err) < 0 ? NULL : st;
}

static int make_schema(struct bench *b, struct err *err)
{
    CLEANUP(bench_store_freep) struct store *st = bench_store(b, err);
    if (!st)
        return err->code;
    struct migrate_options migrate = { .slot_length_s = b->o.slot_length_s };
    int rc = store_migrate(st, &migrate, err);
    if (rc < 0)
        return rc;
    struct store_hello hello = STORE_HELLO_INIT;
    rc = store_do(st, &hello.call);
    if (rc < 0) {
        *err = hello.call.err;
        return rc;
    }
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 1;
    rc = store_do(st, &days.call);
    if (rc < 0) {
        *err = days.call.err;
        return rc;
    }
    b->slot_length_s = hello.slot_length_s;
    b->slot = slot_floor(hello.now_us / 1000000, b->slot_length_s) - 10000LL * b->slot_length_s;
    return 0;
}

static int find_place(struct bench *b, struct err *err)
{
    const struct settings *s = &b->app->settings;
    struct store *st;
    struct store_options options = store_options_from(&b->app->settings);
    /* no I/O: finds the backend, and whether the URL is valid */
    if (store_new(&options, &st, err) < 0)
        return err->code;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i]->scheme, store_scheme(st)))
            b->ops = places[i];
    store_free(st);
    if (!b->ops)
        return err_set(err, ERR_INPUT, "bench: this kind of store is not supported");
    if (b->ops->schema && s->schema && !strcmp(s->schema, b->ops->schema))
        return err_set(
            err, ERR_INPUT,
            "schema: found '%s', where the bench creates and drops its own tables; expected another",
            s->schema);
    return 0;
}

int bench_open(struct bench *b, const char *jobs, struct err *err)
{
    int rc = program_find("prescient", b->program, sizeof b->program, err);
    if (rc < 0)
        return rc;
    rc = find_place(b, err);
    if (rc < 0)
        return rc;
    rc = make_dir(b, err);
    if (rc < 0)
        return rc;
    rc = b->ops->take(b, err);
    if (rc < 0)
        return rc;
    rc = write_settings(b, jobs, err);
    if (rc < 0)
        return rc;
    rc = make_schema(b, err);
    if (rc < 0)
        return rc;
    return b->ops->fill(b, err);
}

void bench_close(struct bench *b)
{
    if (b->ops)
        b->ops->drop(b);
    if (b->dir[0])
        nftw(b->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    interrupt_release(&b->interrupt);
}
