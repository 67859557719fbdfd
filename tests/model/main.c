/* main.c - runs the scenarios, several at a time, each in its own process; or one scenario given by
 * its switches. Prints "N passed, N failed" at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"
#include "search.h"

enum {
    SCENARIOS_MAX = 300,
    AT_ONCE_MAX = 8,
    LIMIT_S = 600,
    MOST_STATES = 6000000,
    MOST_STATES_QUICK = 60000,
    MOST_STATES_IN_PART = 20000,
    MOST_STATES_ALONE = 60000000
};

static const char usage[] = "usage: model [-v] [TEXT]        all scenarios, or those whose title, switches "
                            "or group contain TEXT; -v prints counterexamples\n"
                            "       model -q                 the quick part: of a large world, 20,000 "
                            "states\n"
                            "       model SWITCH=VALUE ...   one scenario, with its counterexample\n"
                            "       model -l                 the switches\n";

/* A scenario and its search, which writes the counterexample to `out`, and then its verdict. */
struct run {
    const struct scenario *scenario;
    const char *group;
    FILE *out;
    pid_t pid;
    bool quick;                         /* a large world is seen in part */
    bool over;
    struct verdict verdict;
    long trace_size;                    /* length of the counterexample */
};

struct runs {
    struct run run[SCENARIOS_MAX];
    int n, passed, failed, in_part;
    bool verbose, quick;
};

static bool parse(struct rules *rules, const char *switches)
{
    const char *bad;
    rules_init(rules);
    if (rules_set(rules, switches, &bad))
        return true;
    fprintf(stderr, "model: unknown switch or value: %s\n", bad);
    return false;
}

/* ---- one scenario ---- */

static size_t most_states(const struct run *run)
{
    if (!run->quick)
        return MOST_STATES;
    return run->scenario->is_large ? MOST_STATES_IN_PART : MOST_STATES_QUICK;
}

static void search_in_child(struct run *run)
{
    struct rules rules;
    struct verdict verdict = { .complete = false };
    alarm(LIMIT_S);
    if (parse(&rules, run->scenario->rules))
        search_run(&rules, most_states(run), run->scenario->expected_move, run->out, &verdict);
    fwrite(&verdict, sizeof verdict, 1, run->out);
    _exit(fflush(run->out) ? 1 : 0);
}

static bool begin(struct run *run)
{
    run->out = tmpfile();
    fflush(stdout);
    run->pid = run->out ? fork() : -1;
    if (run->pid == 0)
        search_in_child(run);
    return run->pid > 0;
}

static void read_verdict(struct run *run, int status)
{
    run->over = true;
    if (status || fseek(run->out, -(long)sizeof run->verdict, SEEK_END) ||
        (run->trace_size = ftell(run->out)) < 0 ||
        fread(&run->verdict, sizeof run->verdict, 1, run->out) != 1)
        run->verdict = (struct verdict){ .complete = false };
}

static void end_one(struct runs *runs)
{
    int status;
    pid_t pid = wait(&status);
    for (int i = 0; i < runs->n; i++)
        if (!runs->run[i].over && runs->run[i].pid == pid)      /* a pid is used again */
            read_verdict(&runs->run[i], status);
}

/* ---- results ---- */

static void print_trace(struct run *run)
{
    rewind(run->out);
    for (long i = 0; i < run->trace_size; i++)
        putchar(getc(run->out));
}

static bool is_as_expected(const struct run *run)
{
    return run->verdict.complete && run->verdict.broken == run->scenario->expected &&
           (run->verdict.expected_move_made || !run->scenario->expected_move);
}

/* What a search that was ended early has not found is no verdict. */
static bool is_in_part(const struct run *run)
{
    return run->quick && run->scenario->is_large && !run->verdict.complete &&
           run->verdict.states >= MOST_STATES_IN_PART - 1;
}

/* A world that is marked for no reason would have no verdict in the quick part; one that lacks its
 * mark is not complete there. */
static bool is_marked_well(const struct run *run)
{
    bool is_large = !run->verdict.complete || run->verdict.states >= MOST_STATES_QUICK;
    return run->scenario->is_large ? run->quick || is_large : !is_large;
}

static const char *result_of(const struct verdict *v)
{
    return v->complete ? property_names[v->broken] : "(search incomplete)";
}

static void print_result(struct runs *runs, struct run *run)
{
    const struct verdict *v = &run->verdict;
    bool marked_well = is_marked_well(run), good = is_as_expected(run) && marked_well;
    if (is_in_part(run)) {
        runs->in_part++;
        fclose(run->out);
        return;
    }
    printf("%-6s  %-32s  %s  [%s]  %zu states, %.1f s\n", good ? "ok" : "not ok", result_of(v),
           run->scenario->title, run->scenario->rules, v->states, v->seconds);
    if (!good)
        printf("        expected: %s", property_names[run->scenario->expected]);
    if (!good && run->scenario->expected_move)
        printf(", and a move with the text: %s", run->scenario->expected_move);
    if (!good)
        putchar('\n');
    if (!marked_well)
        printf("        %s LARGE in scenarios.c: the quick part sees %d states\n",
               run->scenario->is_large ? "it must not be" : "it must be", MOST_STATES_QUICK);
    if (v->broken && (runs->verbose || !good))
        print_trace(run);
    runs->passed += good;
    runs->failed += !good;
    if (run->out)
        fclose(run->out);
}

/* ---- all of them ---- */

static void collect(struct runs *runs, const char *wanted)
{
    for (int g = 0; g < scenario_group_count; g++)
        for (int i = 0; i < scenario_groups[g].n && runs->n < SCENARIOS_MAX; i++) {
            const struct scenario *s = &scenario_groups[g].scenarios[i];
            if (!wanted || strstr(scenario_groups[g].title, wanted) || strstr(s->title, wanted) ||
                strstr(s->rules, wanted))
                runs->run[runs->n++] = (struct run){ .scenario = s,
                                                     .group = scenario_groups[g].title,
                                                     .quick = runs->quick };
        }
}

/* One search for each processor, within bounds. */
static int searches_at_once(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1)
        return 1;
    return processors < AT_ONCE_MAX ? (int)processors : AT_ONCE_MAX;
}

static int run_all(struct runs *runs)
{
    int at_once = searches_at_once();
    const char *group = "";
    for (int printed = 0, begun = 0, running = 0; printed < runs->n;) {
        if (begun < runs->n && running < at_once) {
            bool forked = begin(&runs->run[begun]);
            runs->run[begun++].over = !forked;
            running += forked;
            continue;
        }
        if (running) {
            end_one(runs);
            running--;
        }
        for (; printed < runs->n && runs->run[printed].over; printed++) {
            if (strcmp(group, runs->run[printed].group))
                printf("-- %s\n", group = runs->run[printed].group);
            print_result(runs, &runs->run[printed]);
        }
    }
    if (runs->in_part)
        printf("%d worlds are larger: %d states of each were seen, and no promise was broken in them\n",
               runs->in_part, MOST_STATES_IN_PART);
    printf("%d passed, %d failed\n", runs->passed, runs->failed);
    return runs->failed || !runs->passed;
}

static int run_by_switches(int argc, char **argv)
{
    struct rules rules;
    struct verdict v;
    const char *bad;
    rules_init(&rules);
    for (int i = 1; i < argc; i++)
        if (!rules_set(&rules, argv[i], &bad)) {
            fprintf(stderr, "model: unknown switch or value: %s\n%s", bad, usage);
            return 2;
        }
    search_run(&rules, MOST_STATES_ALONE, NULL, stdout, &v);
    printf("%s: %zu states, %zu steps, %.1f s\n", result_of(&v), v.states, v.steps, v.seconds);
    return !v.complete || v.broken;
}

int main(int argc, char **argv)
{
    struct runs runs = { .n = 0 };
    if (argc == 2 && !strcmp(argv[1], "-l")) {
        rules_list();
        return 0;
    }
    if (argc > 1 && strchr(argv[argc - 1], '='))
        return run_by_switches(argc, argv);
    runs.verbose = argc > 1 && !strcmp(argv[1], "-v");
    runs.quick = argc > 1 && !strcmp(argv[1], "-q");
    int first = 1 + (runs.verbose || runs.quick);
    if (argc > first + 1 || (argc > first && argv[first][0] == '-')) {
        fputs(usage, stderr);
        return 2;
    }
    collect(&runs, argc > first ? argv[first] : NULL);
    return run_all(&runs);
}
