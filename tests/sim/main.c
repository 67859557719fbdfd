/* main.c - lives worlds: one with its story, or thousands on all processors; and sees that planted
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
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"
#include "../../engine/base/settings_load.h"

enum { CHILDREN_MAX = 64, WORLD_LIMIT_S = 30, SHOWN_MAX = 10 };

static const char settings_text[] =
    "keep = \"1d\"; store = \"simulated:\"; engine_name = \"host\"; lock_timeout = \"250ms\"; "
    "statement_timeout = \"5s\"; connect_timeout = \"3s\";\n"
    "timeout = \"2s\"; batch_timeout = \"3s\"; max_checks = 4; max_failures = 2; backoff_max = \"60s\"; "
    "stop_timeout = \"10s\"; batch = 1;\n"
    "horizon = \"30d\"; jobs = { j0 = { plugin = \"a\"; }; j1 = { plugin = \"b\"; batch = 4; }; j2 = { "
    "plugin = \"c\"; }; };\n";

struct options {
    uint64_t seeds, from;
    int wrong;                      /* enum mistake; -1: none */
    bool mistakes, story;
};

/* What the children tell, in memory that all share. */
struct board {
    uint64_t next;                  /* seed to be taken next; taken by an atomic add */
    uint64_t now[CHILDREN_MAX];     /* the seed that each lives; 0: none */
    uint64_t failed, lived;
    uint64_t first_failed;
};

static void *shared(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

struct held { size_t bytes; int fd; };

static struct held what_is_held(void)
{
    struct held h = { mallinfo2().uordblks, dup(0) };
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

/* Memory and descriptors are as they were before, but for what the allocator keeps for the next
 * time. */
static bool gave_all_back(struct held before, uint64_t worlds, char words[WORLD_WORDS])
{
    struct held now = what_is_held();
    size_t kept = 1 << 20, grown = now.bytes > before.bytes ? now.bytes - before.bytes : 0;
    words[0] = '\0';
    if (grown > kept + 16 * worlds)
        snprintf(words, WORLD_WORDS, "%zu bytes of memory were not given back by %llu worlds", grown,
                 (unsigned long long)worlds);
    else if (now.fd != before.fd)
        snprintf(words, WORLD_WORDS, "a descriptor was not given back");
    else if (has_slabs())
        snprintf(words, WORLD_WORDS, "a slab is still mapped");
    return !words[0];
}

static void report(uint64_t seed, const char *words)
{
    char line[WORLD_WORDS + 64];
    int n = snprintf(line, sizeof line, "seed %llu: %s\n", (unsigned long long)seed, words);
    if (write(STDOUT_FILENO, line, (size_t)n) < 0)
        return;
}

static void child(struct board *b, int number, uint64_t end, const struct settings *settings,
                  const bool *wrong, bool until_found)
{
    char words[WORLD_WORDS];
    uint64_t lived = 0;
    world_live(1, settings, wrong, NULL, words);        /* whatever is made once is made now */
    struct held before = what_is_held();
    for (;; lived++) {
        uint64_t seed = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED);
        if (seed >= end || (until_found && b->failed))
            break;
        b->now[number] = seed;
        alarm(WORLD_LIMIT_S);
        bool good = world_live(seed, settings, wrong, NULL, words);
        __atomic_fetch_add(&b->lived, 1, __ATOMIC_RELAXED);
        if (!good && __atomic_fetch_add(&b->failed, 1, __ATOMIC_RELAXED) < SHOWN_MAX)
            report(seed, words);
    }
    if (!gave_all_back(before, lived, words)) {
        __atomic_fetch_add(&b->failed, 1, __ATOMIC_RELAXED);
        report(0, words);
    }
    exit(0);
}

static pid_t start_child(struct board *b, int number, uint64_t end, const struct settings *settings,
                         const bool *wrong, bool until_found)
{
    pid_t pid = fork();
    if (pid == 0)
        child(b, number, end, settings, wrong, until_found);
    return pid;
}

static void child_died(struct board *b, int number, int status)
{
    char words[WORLD_WORDS];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(words, sizeof words, "did not end within %d s of real time", WORLD_LIMIT_S);
    else
        snprintf(words, sizeof words, "the process died, status %d", status);
    report(b->now[number], words);
    b->failed++;
    b->lived++;
}

/* One for each processor, within bounds. */
static int count_children(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < CHILDREN_MAX ? (int)processors : CHILDREN_MAX;
}

/* Lives the worlds on all processors. A world that kills its process is one that failed; another
 * process goes on. */
static void live_many(struct board *b, const struct options *o, const struct settings *settings,
                      const bool *wrong, bool until_found)
{
    int n = count_children(), running = 0;
    pid_t pids[CHILDREN_MAX];
    b->next = o->from;
    for (int i = 0; i < n; i++, running++)
        pids[i] = start_child(b, i, o->from + o->seeds, settings, wrong, until_found);
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
            child_died(b, i, status);
            if (b->failed < SHOWN_MAX) {
                pids[i] = start_child(b, i, o->from + o->seeds, settings, wrong, until_found);
                running++;
            }
        }
    }
}

static int many(const struct options *o, const struct settings *settings, const bool *wrong)
{
    struct board *b = shared(sizeof *b);
    live_many(b, o, settings, wrong, false);
    printf("%llu passed, %llu failed\n", (unsigned long long)(b->lived - b->failed),
           (unsigned long long)b->failed);
    return b->failed || b->lived < o->seeds ? 1 : 0;
}

/* Each mistake alone; one that no world finds is a hole in the checker. */
static int find_mistakes(const struct options *o, const struct settings *settings)
{
    int found = 0;
    for (int i = 0; i < MISTAKES; i++) {
        if (o->wrong >= 0 && o->wrong != i)
            continue;
        bool wrong[MISTAKES] = { false };
        wrong[i] = true;
        struct board *b = shared(sizeof *b);
        printf("%s: %s\n", mistake_rows[i].name, mistake_rows[i].what);
        fflush(stdout);
        live_many(b, o, settings, wrong, true);
        const char *ok = b->failed ? "ok" : "not ok";
        const char *is_found = b->failed ? "is found" : "is not found";
        printf("%s - %s %s after %llu worlds\n", ok, mistake_rows[i].name, is_found,
               (unsigned long long)b->lived);
        found += b->failed > 0;
        munmap(b, sizeof *b);
    }
    int all = o->wrong >= 0 ? 1 : MISTAKES;
    printf("%d passed, %d failed\n", found, all - found);
    return found == all ? 0 : 1;
}

static int story(const struct options *o, const struct settings *settings, const bool *wrong)
{
    char words[WORLD_WORDS];
    bool good = world_live(o->from, settings, wrong, stdout, words);
    printf("seed %llu: %s\n%d passed, %d failed\n", (unsigned long long)o->from,
           good ? "every rule held" : words, good, !good);
    return good ? 0 : 1;
}

static int mistake_named(const char *name)
{
    for (int i = 0; i < MISTAKES; i++)
        if (!strcmp(mistake_rows[i].name, name))
            return i;
    fprintf(stderr, "sim: there is no mistake '%s'; there are:\n", name);
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
