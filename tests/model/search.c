/* search.c - the states, the path to each, and the states that can be reached from it. Liveness:
 * the end must be reachable from every state without further faults. A move that stays possible is
 * made some day, so the end is then reached. */
#include "search.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_SIZE = 240, PATH_MAX_STEPS = 1000 };

/* A step: the state it leads to, and its maker. */
struct edge { uint32_t to : 29, mover : 3; };

struct search {
    size_t size;                        /* bytes kept of a state */
    unsigned char *states;
    uint32_t *table, *parent;
    size_t n, room, table_size, most;
    struct edge *edges;
    size_t *first_edge;                 /* of each state, and one more */
    size_t nedges, edges_room;
    bool failed;                        /* out of memory, or too many states */
    uint32_t from;                      /* the state whose moves are being made */
    /* the move that breaks a promise */
    enum property about_to_break, broken;
    char why[TEXT_SIZE], broken_why[TEXT_SIZE], broken_step[TEXT_SIZE];
    /* while a path is printed: the state whose step is wanted */
    const struct state *wanted;
    const char *expected_move;          /* text of a move that must occur; NULL once it has */
    char step[TEXT_SIZE];
    bool found, swapped;
};

/* ---- keeping states ---- */

static void load(const struct search *x, size_t i, struct state *s)
{
    memset(s, 0, sizeof *s);
    memcpy(s, x->states + i * x->size, x->size);
}

static uint64_t hash_of(const struct search *x, const void *state)
{
    uint64_t h = 0x9E3779B97F4A7C15ull;
    for (size_t at = 0; at < x->size; at += 4) {
        uint32_t word;
        memcpy(&word, (const char *)state + at, 4);
        h = (h ^ word) * 0xD6E8FEB86659FD93ull;
        h ^= h >> 32;
    }
    return h;
}

static bool grow(struct search *x)
{
    size_t room = x->room ? x->room * 2 : 1 << 14;
    if (room > x->most)
        room = x->most;
    if (x->n + 1 >= room)
        return false;
    unsigned char *states = realloc(x->states, room * x->size);
    x->states = states ? states : x->states;
    uint32_t *parent = realloc(x->parent, room * sizeof *parent);
    x->parent = parent ? parent : x->parent;
    size_t *first = realloc(x->first_edge, (room + 1) * sizeof *first);
    x->first_edge = first ? first : x->first_edge;
    size_t table_size = 1;
    while (table_size < room * 2)
        table_size *= 2;
    uint32_t *table = calloc(table_size, sizeof *table);
    if (!states || !parent || !first || !table) {
        free(table);
        return false;
    }
    free(x->table);
    x->table = table;
    x->table_size = table_size;
    x->room = room;
    for (size_t i = 0; i < x->n; i++) {
        size_t at = hash_of(x, x->states + i * x->size) & (table_size - 1);
        while (table[at])
            at = (at + 1) & (table_size - 1);
        table[at] = (uint32_t)i + 1;
    }
    return true;
}

/* The number of a state; a new state gets the next one. */
static uint32_t number_of(struct search *x, const struct state *s)
{
    if (x->n + 1 >= x->room && !grow(x)) {
        x->failed = true;
        return 0;
    }
    size_t at = hash_of(x, s) & (x->table_size - 1);
    for (; x->table[at]; at = (at + 1) & (x->table_size - 1))
        if (!memcmp(x->states + (x->table[at] - 1) * x->size, s, x->size))
            return x->table[at] - 1;
    memcpy(x->states + x->n * x->size, s, x->size);
    x->parent[x->n] = x->from;
    x->table[at] = (uint32_t)++x->n;
    return (uint32_t)x->n - 1;
}

static void add_edge(struct search *x, uint32_t to, enum mover mover)
{
    if (x->nedges == x->edges_room) {
        size_t room = x->edges_room ? x->edges_room * 2 : 1 << 16;
        struct edge *edges = realloc(x->edges, room * sizeof *edges);
        if (!edges) {
            x->failed = true;
            return;
        }
        x->edges = edges;
        x->edges_room = room;
    }
    x->edges[x->nedges++] = (struct edge){ to & 0x1fffffff, (unsigned)mover & 7 };
}

/* ---- called by the moves ---- */

void breaks(struct model *m, enum property property, const char *format, ...)
{
    struct search *x = m->search;
    if (x->about_to_break)
        return;
    x->about_to_break = property;
    va_list ap;
    va_start(ap, format);
    vsnprintf(x->why, sizeof x->why, format, ap);
    va_end(ap);
}

/* Looks for the move that the scenario expects. Formatting costs more than the move itself, so this
 * ends with the first hit. */
static void look_for_expected_move(struct search *x, const char *format, va_list ap)
{
    char text[TEXT_SIZE];
    vsnprintf(text, sizeof text, format, ap);
    if (strstr(text, x->expected_move))
        x->expected_move = NULL;
}

static bool leads_to(const struct search *x, const struct state *next)
{
    return x->wanted && !x->found && !memcmp(next, x->wanted, x->size);
}

void move(struct model *m, struct state *next, enum mover mover, const char *format, ...)
{
    struct search *x = m->search;
    bool swapped = state_canonize(next, &m->rules);
    va_list ap;
    va_start(ap, format);
    if (x->wanted) {                    /* a path is being printed */
        if (leads_to(x, next)) {
            vsnprintf(x->step, sizeof x->step, format, ap);
            x->found = true;
            x->swapped = swapped;
        }
    } else {
        check_state(m, next);
        if (x->about_to_break && !x->broken) {
            vsnprintf(x->broken_step, sizeof x->broken_step, format, ap);
            x->broken = x->about_to_break;
            memcpy(x->broken_why, x->why, sizeof x->why);
        } else if (x->expected_move)
            look_for_expected_move(x, format, ap);
        if (!x->failed)
            add_edge(x, number_of(x, next), mover);
    }
    va_end(ap);
    x->about_to_break = HOLDS;
}

static void all_moves(struct model *m, const struct state *s)
{
    for (int i = 0; i < ENGINES; i++)
        engine_moves(m, s, i);
    server_moves(m, s);
    closing_moves(m, s);
    app_moves(m, s);
    clerk_moves(m, s);
    pause_moves(m, s);
    places_moves(m, s);
    time_moves(m, s);
    fault_moves(m, s);
    consumer_moves(m, s);
    writer_moves(m, s);
    named_consumer_moves(m, s);
}

/* ---- counterexamples ---- */

/* Engines change places in the canonical form of a state; in a path they keep their names A and B.
 */
static void print_step(FILE *out, int number, const char *step, bool swapped)
{
    fprintf(out, "  %2d. ", number);
    for (const char *at = step; *at; at++)
        if (at[0] == 'E' && (at[1] == '0' || at[1] == '1')) {
            fprintf(out, "engine %c", "AB"[(at[1] - '0') ^ swapped]);
            at++;
        } else
            putc(*at, out);
    putc('\n', out);
}

static void print_path(struct model *m, uint32_t to, FILE *out)
{
    struct search *x = m->search;
    uint32_t path[PATH_MAX_STEPS];
    int n = 0;
    bool swapped = false;
    uint32_t at = to;
    for (; at && n < PATH_MAX_STEPS; at = x->parent[at])
        path[n++] = at;
    if (at)
        fputs("      (earlier steps are not shown)\n", out);
    for (int i = n - 1; i >= 0; i--) {
        struct state from, next;
        load(x, x->parent[path[i]], &from);
        load(x, path[i], &next);
        x->wanted = &next;
        x->found = false;
        all_moves(m, &from);
        x->wanted = NULL;
        print_step(out, n - i, x->step, swapped);
        swapped ^= x->swapped;
    }
    if (x->broken_step[0])
        print_step(out, n + 1, x->broken_step, swapped);
    fprintf(out, "  ==> %s: %s\n", property_names[x->broken], x->broken_why);
}

/* ---- liveness ---- */

/* For each state the states from which a step leads to it. */
struct backwards { size_t *first; uint32_t *from; };

static bool reverse_edges(const struct search *x, unsigned without, struct backwards *b)
{
    b->first = calloc(x->n + 2, sizeof *b->first);
    b->from = malloc((x->nedges + 1) * sizeof *b->from);
    if (!b->first || !b->from)
        return false;
    for (size_t i = 0; i < x->nedges; i++)
        if (!(without & 1u << x->edges[i].mover))
            b->first[x->edges[i].to + 2]++;
    for (size_t i = 2; i < x->n + 2; i++)
        b->first[i] += b->first[i - 1];
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = x->first_edge[i]; k < x->first_edge[i + 1]; k++)
            if (!(without & 1u << x->edges[k].mover))
                b->from[b->first[x->edges[k].to + 1]++] = (uint32_t)i;
    return true;
}

/* A kind of end, and the makers of moves without whom it must be reachable. */
struct end {
    enum property property;             /* broken where it cannot be reached */
    bool (*is_there)(const struct model *m, const struct state *s);
    unsigned without;
    bool needs_engine;                  /* not required while no engine is awake */
    const char *text;
};

static bool some_engine_is_awake(const struct state *s)
{
    return s->engine[0].mode == AWAKE || s->engine[1].mode == AWAKE;
}

/* Marks each state that is an end, then each state that leads to one. `queue` has room for all. */
static void mark_reaching(const struct model *m, const struct end *end, const struct backwards *b,
                   unsigned char *reaches, uint32_t *queue)
{
    const struct search *x = m->search;
    size_t head = 0, tail = 0;
    struct state s;
    for (size_t i = 0; i < x->n; i++) {
        load(x, i, &s);
        if (end->is_there(m, &s)) {
            reaches[i] = 1;
            queue[tail++] = (uint32_t)i;
        }
    }
    for (; head < tail; head++)
        for (size_t k = b->first[queue[head]]; k < b->first[queue[head] + 1]; k++)
            if (!reaches[b->from[k]]) {
                reaches[b->from[k]] = 1;
                queue[tail++] = b->from[k];
            }
}

/* The first state from which this end cannot be reached; -1: no such state, -2: out of memory. */
static long cannot_reach(const struct model *m, const struct end *end)
{
    const struct search *x = m->search;
    struct backwards b = { 0 };
    unsigned char *reaches = calloc(x->n, 1);
    uint32_t *queue = malloc((x->n + 1) * sizeof *queue);
    long stuck = -1;
    if (reaches && queue && reverse_edges(x, end->without, &b)) {
        mark_reaching(m, end, &b, reaches, queue);
        for (size_t i = 0; i < x->n && stuck == -1; i++) {
            struct state s;
            load(x, i, &s);
            if (!reaches[i] && (!end->needs_engine || some_engine_is_awake(&s)))
                stuck = (long)i;
        }
    } else
        stuck = -2;
    free(reaches);
    free(queue);
    free(b.first);
    free(b.from);
    return stuck;
}

static const struct end ends[] = {
    { NO_END, is_over, 1u << BY_FAULT | 1u << BY_NEW_TXN, false,
      "from here the work can never end, even without further faults" },
    { STUCK, is_answered, 1u << BY_FAULT | 1u << BY_NEW_TXN | 1u << BY_APP | 1u << BY_WAKING, true,
      "from here checks wait forever, unless a frozen engine wakes or the application's transaction ends" },
    { PASSED_OVER, is_prompt,
      1u << BY_FAULT | 1u << BY_NEW_TXN | 1u << BY_APP | 1u << BY_WAKING | 1u << BY_NEW_SLOT, true,
      "from here a check that is due in a fine slot waits for the next full slot" },
    { HELD_FOR_NOTHING, is_no_place_held_for_nothing,
      1u << BY_FAULT | 1u << BY_NEW_TXN | 1u << BY_APP | 1u << BY_WAKING | 1u << BY_NEW_SLOT |
          1u << BY_GIVING_UP,
      true, "from here an engine holds a place without a run, until another transaction ends" },
};

static void check_liveness(struct model *m, FILE *out)
{
    struct search *x = m->search;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !x->broken && !x->failed; i++) {
        if (ends[i].property == PASSED_OVER && !(m->rules.pulse && m->rules.prompt))
            continue;
        if (ends[i].property == HELD_FOR_NOTHING && !m->rules.keys)
            continue;
        long stuck = cannot_reach(m, &ends[i]);
        if (stuck == -1)
            continue;
        x->failed = stuck == -2;
        x->broken = ends[i].property;
        snprintf(x->broken_why, sizeof x->broken_why, "%s", ends[i].text);
        if (out && stuck >= 0)
            print_path(m, (uint32_t)stuck, out);
    }
}

/* ---- the search ---- */

static void explore(struct model *m, FILE *out)
{
    struct search *x = m->search;
    struct state s;
    state_init(&s, &m->rules);
    state_canonize(&s, &m->rules);
    number_of(x, &s);
    for (size_t i = 0; i < x->n && !x->failed; i++) {
        x->first_edge[i] = x->nedges;
        x->from = (uint32_t)i;
        load(x, i, &s);
        all_moves(m, &s);
        x->first_edge[i + 1] = x->nedges;
        if (!x->broken)
            continue;
        if (out)
            print_path(m, (uint32_t)i, out);
        return;
    }
    check_liveness(m, out);
}

/* The parts that this scenario does not use stand at the end of a state, and are not kept. */
static size_t bytes_kept(const struct rules *rules)
{
    if (rules->deliver || rules->writers)
        return sizeof(struct state);
    if (rules->events)
        return offsetof(struct state, post);
    if (rules->failover == FAILOVER_ASYNC)
        return offsetof(struct state, journal);
    return offsetof(struct state, standby);
}

void search_run(const struct rules *rules, size_t most_states, const char *expected_move, FILE *out,
                struct verdict *verdict)
{
    struct search x = { .most = most_states < 0x1fffffff ? most_states : 0x1fffffff,
                        .expected_move = expected_move };
    struct model m = { .rules = *rules, .search = &x };
    struct timespec began, ended;
    x.size = bytes_kept(rules);
    clock_gettime(CLOCK_MONOTONIC, &began);
    explore(&m, out);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    *verdict = (struct verdict){ .broken = x.broken, .complete = !x.failed,
                                 .expected_move_made = !x.expected_move,
                                 .states = x.n, .steps = x.nedges,
        .seconds = (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9 };
    free(x.states);
    free(x.table);
    free(x.parent);
    free(x.edges);
    free(x.first_edge);
}
