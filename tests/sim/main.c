/* main.c - runs worlds: one with its story, or thousands on all processors; and checks that planted
 * mistakes are found.
 *
 * sim SEED                         one world, its story on stdout
 * sim [--wrong NAME] SEED          the same with a planted mistake
 * sim --seeds N [--from M]         N worlds from seed M on
 * sim --mistakes [--seeds N]       each planted mistake until found, in at most N worlds (500)
 */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"
#include "../../engine/base/settings_load.h"

/* WORLD_LIMIT_S: of processor time; a world that waits for something ends after STUCK_S. */
enum { CHILDREN_MAX = 64, WORLD_LIMIT_S = 30, STUCK_S = 900, SHOWN_MAX = 10 };

static const char settings_text[] =
    "keep = \"1d\"; store = \"simulated:\"; engine_name = \"host\"; lock_timeout = \"250ms\"; "
    "statement_timeout = \"5s\"; connect_timeout = \"3s\";\n"
    "timeout = \"2s\"; batch_timeout = \"3s\"; max_checks = 4; max_failures = 2; backoff_max = \"60s\"; "
    "attempt_interval = \"1s\"; attempt_interval_max = \"2s\"; attempt_jitter = \"1s\"; "
    "stop_timeout = \"10s\"; batch = 1;\n"
    "horizon = \"30d\"; jobs = { j0 = { plugin = \"a\"; }; j1 = { plugin = \"b\"; batch = 4; }; j2 = { "
    "plugin = \"c\"; }; };\n";

struct options {
    uint64_t seeds, from;
    int wrong;                      /* enum mistake; -1: none */
    bool mistakes, story;
};

/* The progress of all children, in shared memory. */
struct progress {
    uint64_t next;                  /* the next seed; taken by an atomic add */
    uint64_t now[CHILDREN_MAX];     /* the seed that each child runs; 0: none */
    uint64_t failed, done;
    uint64_t first_failed;
    int64_t tallies[TALLIES];
};

static const char *const tally_names[TALLIES] = {
    [TALLY_RUNS] = "runs",
    [TALLY_KEYED_RUNS] = "runs with a concurrency key",
    [TALLY_PLACES] = "places taken",
    [TALLY_BUSY] = "checks put off as busy",
    [TALLY_READ_URGENT] = "pages of urgent checks",
    [TALLY_READ_SMALL] = "pages of small tenants",
    [TALLY_SPREAD] = "runs at a second of their slots",
    [TALLY_AFTER_ROUNDS] = "runs judged to come after the urgent ones",
};

static void *map_shared(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

struct resources { size_t bytes; int fd; };

static struct resources count_resources(void)
{
    struct resources h = { mallinfo2().uordblks, dup(0) };
    close(h.fd);
    return h;
}

static bool has_slabs(void)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "prescient-slab") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* Memory and descriptors are as before, except for memory that the allocator keeps for reuse. */
static bool released_all(struct resources before, uint64_t worlds, char violation[VIOLATION_SIZE])
{
    struct resources now = count_resources();
    size_t kept = 1 << 20, grown = now.bytes > before.bytes ? now.bytes - before.bytes : 0;
    violation[0] = '\0';
    if (grown > kept + 16 * worlds)
        snprintf(violation, VIOLATION_SIZE, "%zu bytes of memory were not freed by %llu worlds", grown,
                 (unsigned long long)worlds);
    else if (now.fd != before.fd)
        snprintf(violation, VIOLATION_SIZE, "a descriptor was not closed");
    else if (has_slabs())
        snprintf(violation, VIOLATION_SIZE, "a slab is still mapped");
    return !violation[0];
}

static void report(uint64_t seed, const char *violation)
{
    char line[VIOLATION_SIZE + 64];
    int n = snprintf(line, sizeof line, "seed %llu: %s\n", (unsigned long long)seed, violation);
    if (write(STDOUT_FILENO, line, (size_t)n) < 0)
        return;
}

/* By the processor's time, as the machine may be busy with other things. */
static void limit_time(void)
{
    struct itimerval limit = { .it_value.tv_sec = WORLD_LIMIT_S };
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(STUCK_S);
}

static void child(struct progress *p, int number, uint64_t end, const struct settings *settings,
                  const bool *wrong, bool until_found)
{
    char violation[VIOLATION_SIZE];
    uint64_t done = 0;
    int64_t tallies[TALLIES] = { 0 }, first[TALLIES] = { 0 };
    struct world_options options = { .settings = settings, .wrong = wrong, .tallies = first };
    world_run(1, &options, violation);     /* allocations made once are made here */
    struct resources before = count_resources();
    options.tallies = tallies;
    for (;; done++) {
        uint64_t seed = __atomic_fetch_add(&p->next, 1, __ATOMIC_RELAXED);
        if (seed >= end || (until_found && p->failed))
            break;
        p->now[number] = seed;
        limit_time();
        bool good = world_run(seed, &options, violation);
        __atomic_fetch_add(&p->done, 1, __ATOMIC_RELAXED);
        if (!good && __atomic_fetch_add(&p->failed, 1, __ATOMIC_RELAXED) < SHOWN_MAX)
            report(seed, violation);
    }
    for (int i = 0; i < TALLIES; i++)
        __atomic_fetch_add(&p->tallies[i], tallies[i], __ATOMIC_RELAXED);
    if (!released_all(before, done, violation)) {
        __atomic_fetch_add(&p->failed, 1, __ATOMIC_RELAXED);
        report(0, violation);
    }
    exit(0);
}

static pid_t start_child(struct progress *p, int number, uint64_t end, const struct settings *settings,
                         const bool *wrong, bool until_found)
{
    pid_t pid = fork();
    if (pid == 0)
        child(p, number, end, settings, wrong, until_found);
    return pid;
}

static void child_died(struct progress *p, int number, int status)
{
    char violation[VIOLATION_SIZE];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        snprintf(violation, sizeof violation, "did not end within %d s of processor time", WORLD_LIMIT_S);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(violation, sizeof violation, "did not end within %d s", STUCK_S);
    else
        snprintf(violation, sizeof violation, "the process died, status %d", status);
    report(p->now[number], violation);
    p->failed++;
    p->done++;
}

/* One for each processor, within bounds. */
static int count_children(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < CHILDREN_MAX ? (int)processors : CHILDREN_MAX;
}

/* Runs the worlds on all processors. A world that kills its process has failed; another process
 * goes on. */
static void run_worlds(struct progress *p, const struct options *o, const struct settings *settings,
                      const bool *wrong, bool until_found)
{
    int n = count_children(), running = 0;
    pid_t pids[CHILDREN_MAX];
    p->next = o->from;
    for (int i = 0; i < n; i++, running++)
        pids[i] = start_child(p, i, o->from + o->seeds, settings, wrong, until_found);
    while (running > 0) {
        int status = 0;
        pid_t pid = wait(&status);
        if (pid < 0 && errno != EINTR)
            break;
        for (int i = 0; i < n; i++) {
            if (pids[i] != pid)
                continue;
            running--;
            if (status == 0)
                break;
            child_died(p, i, status);
            if (p->failed < SHOWN_MAX) {
                pids[i] = start_child(p, i, o->from + o->seeds, settings, wrong, until_found);
                running++;
            }
        }
    }
}

static int many(const struct options *o, const struct settings *settings, const bool *wrong)
{
    struct progress *p = map_shared(sizeof *p);
    run_worlds(p, o, settings, wrong, false);
    for (int i = 0; i < TALLIES; i++)
        printf("%lld %s\n", (long long)p->tallies[i], tally_names[i]);
    printf("%llu passed, %llu failed\n", (unsigned long long)(p->done - p->failed),
           (unsigned long long)p->failed);
    return p->failed || p->done < o->seeds ? 1 : 0;
}

/* Plants each mistake alone. One that no world finds is a gap in the checker. */
static int find_mistakes(const struct options *o, const struct settings *settings)
{
    int found = 0;
    for (int i = 0; i < MISTAKES; i++) {
        if (o->wrong >= 0 && o->wrong != i)
            continue;
        bool wrong[MISTAKES] = { false };
        wrong[i] = true;
        struct progress *p = map_shared(sizeof *p);
        printf("%s: %s\n", mistake_rows[i].name, mistake_rows[i].what);
        fflush(stdout);
        run_worlds(p, o, settings, wrong, true);
        const char *ok = p->failed ? "ok" : "not ok";
        const char *is_found = p->failed ? "is found" : "is not found";
        printf("%s - %s %s after %llu worlds\n", ok, mistake_rows[i].name, is_found,
               (unsigned long long)p->done);
        found += p->failed > 0;
        munmap(p, sizeof *p);
    }
    int all = o->wrong >= 0 ? 1 : MISTAKES;
    printf("%d passed, %d failed\n", found, all - found);
    return found == all ? 0 : 1;
}

static int story(const struct options *o, const struct settings *settings, const bool *wrong)
{
    char violation[VIOLATION_SIZE];
    int64_t tallies[TALLIES] = { 0 };
    struct world_options options = { settings, wrong, stdout, tallies };
    bool good = world_run(o->from, &options, violation);
    printf("seed %llu: %s\n%d passed, %d failed\n", (unsigned long long)o->from,
           good ? "every rule held" : violation, good, !good);
    return good ? 0 : 1;
}

static int mistake_named(const char *name)
{
    for (int i = 0; i < MISTAKES; i++)
        if (!strcmp(mistake_rows[i].name, name))
            return i;
    fprintf(stderr, "sim: unknown mistake '%s'; the known ones are:\n", name);
    for (int i = 0; i < MISTAKES; i++)
        fprintf(stderr, "  %-24s %s\n", mistake_rows[i].name, mistake_rows[i].what);
    exit(2);
}

static struct options read_options(int argc, char **argv)
{
    struct options o = { .from = 1, .wrong = -1 };
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--mistakes"))
            o.mistakes = true;
        else if (!strcmp(argv[i], "--seeds"))
            o.seeds = strtoull(value, NULL, 10), i++;
        else if (!strcmp(argv[i], "--from"))
            o.from = strtoull(value, NULL, 10), i++;
        else if (!strcmp(argv[i], "--wrong"))
            o.wrong = mistake_named(value), i++;
        else
            o.from = strtoull(argv[i], NULL, 10), o.story = true;
    }
    if (!o.seeds)
        o.seeds = o.mistakes ? 500 : 10000;
    return o;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    struct settings settings;
    struct err err = { 0 };
    bool wrong[MISTAKES] = { false };
    if (o.wrong >= 0)
        wrong[o.wrong] = true;
    if (settings_parse(&settings, settings_text, "the simulation", &err)) {
        fprintf(stderr, "sim: %s\n", err.text);
        return 2;
    }
    int rc;
    if (o.mistakes)
        rc = find_mistakes(&o, &settings);
    else if (o.story)
        rc = story(&o, &settings, wrong);
    else
        rc = many(&o, &settings, wrong);
    settings_release(&settings);
    return rc;
}
