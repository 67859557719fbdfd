/* fuzz_load.c - any file through `prescient enqueue --csv` into a SQLite store: it ends with an
 * exit code of the man page, and what it says that it added is what stands in the store, in order.
 */
#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../engine/cmd/command.h"
#include "../../engine/cmd/load.h"
#include "../../engine/store/enqueue_check.h"
#include "fuzz.h"

static char folder[64], file[96];
static sqlite3 *db;
static struct app app;
static char *said;                      /* on stdout */
static size_t said_len;

static const struct command command = { .name = "enqueue", .args = "", .help = "" };

static void remove_folder(void)
{
    char journal[128];
    snprintf(journal, sizeof journal, "%s-journal", file);
    unlink(journal);
    unlink(file);
    rmdir(folder);
}

static void run(const char *sql)
{
    MUST(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char url[128];
    struct err err;
    (void)argc, (void)argv;
    snprintf(folder, sizeof folder, "%s/prescient-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    MUST(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/fuzz.db", folder);
    snprintf(url, sizeof url, "sqlite:%s", file);
    MUST(store_new(&(struct store_options){ .url = url }, &app.store, &err) == 0);
    MUST(store_migrate(app.store, &(struct migrate_options){ 0 }, &err) >= 0);
    MUST(sqlite3_open(file, &db) == SQLITE_OK);
    run("PRAGMA journal_mode = PERSIST; PRAGMA synchronous = OFF");
    app.command = &command;
    app.quiet = app.json = true;
    app.now = 1772370900;
    app.out = open_memstream(&said, &said_len);
    /* complaints about each input; reports of findings are written to the descriptor */
    stderr = fopen("/dev/null", "w");
    atexit(remove_folder);
    return 0;
}

static int64_t number_of(const char *sql)
{
    sqlite3_stmt *s;
    MUST(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW);
    int64_t n = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}

static void check_rows(void)
{
    sqlite3_stmt *s;
    struct err err;
    MUST(sqlite3_prepare_v2(db,
                            "SELECT entity_name, entity_key, job_exec, payload, next_check_at, priority FROM "
                            "prescient_future_job",
                            -1, &s, NULL) == SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const struct load_row row = {
            .entity_name = (const char *)sqlite3_column_text(s, 0),
            .entity_key = (const char *)sqlite3_column_text(s, 1),
            .job_exec = (const char *)sqlite3_column_text(s, 2),
            .payload = (const char *)sqlite3_column_text(s, 3),
            .at = sqlite3_column_int64(s, 4),
            .priority = sqlite3_column_int(s, 5),
        };
        MUST(enqueue_check_row(&row, &err) == 0);
        MUST(row.at % 900 == 0 && row.at > app.now);
    }
    sqlite3_finalize(s);
}

static void load(int fd, bool skip_bad, int64_t start_line)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const struct load_options options = {
        .file = path, .conflict = "keep", .start_line = start_line, .skip_bad = skip_bad
    };
    rewind(app.out);
    int code = load_csv(&app, &options);
    fflush(app.out);
    MUST(code == EXIT_WELL || code == EXIT_TROUBLE || code == EXIT_BAD_USAGE);
    long long added = 0;
    if (said_len && sscanf(said, "{\"added\": %lld", &added) == 1)
        MUST(number_of("SELECT count(*) FROM prescient_future_job") == added);
    else
        MUST(code == EXIT_BAD_USAGE && number_of("SELECT count(*) FROM prescient_future_job") == 0);
    check_rows();
    run("DELETE FROM prescient_future_job");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    uint8_t how = input_u8(&in);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    app.arena = arena_new(1024);
    MUST(write(fd, in.p, in.left) == (ssize_t)in.left);
    load(fd, how & 1, how & 2 ? how >> 2 : 0);
    close(fd);
    arena_free(app.arena);
    return 0;
}
