/* run_hours.c - see run_hours.h. A table of groups, found by hashing. */
#include "run_hours.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/arena.h"
#include "../base/saturate.h"
#include "../rules/histogram.h"
#include "phases.h"
#include "tallies.h"

enum { SLOTS = 4096 };                  /* of the hash table: never more than a third is taken */
/* The groups of an hour are kept until two more are over, although what was written is no longer in
 * them: so many kinds an hour may have, and not a minute. */
enum { HOUR_S = 3600, KEPT_S = 2 * HOUR_S, MINUTE_US = 60 * 1000 * 1000 };
enum { NAMES_MOST = 2400 };             /* bytes: together they are a key of the store's table */
enum { CROWDED = RUN_HOURS_TENANTS * 3 / 4 };

struct group {
    struct group *following;            /* all of them, the newest first */
    uint64_t hash;
    int64_t hour_at;
    enum outcome outcome;
    char *job, *entity, *tenant;        /* behind the struct; tenant "": none */
    struct counts {                     /* since the last note */
        int64_t runs, took_us, took_max_us, late_max_us;
        int64_t ended, late_us;         /* for the tallies alone: checks that are over */
        uint32_t took[HISTOGRAM_CLASSES], late[HISTOGRAM_CLASSES];
    } counts;
};

/* What is sent, until the store has answered. */
struct note {
    int64_t number, made_us;
    struct arena *arena;                /* what the rows live in; NULL: all notes are answered */
    struct run_hour *rows;
    int n;
    const struct tally *tallies;
    int ntallies;
};

struct run_hours {
    unsigned char owner[STORE_OWNER_SIZE];
    struct group *groups;
    int n;
    struct group *table[SLOTS];
    int64_t hour;                       /* in which the last run began */
    struct note note;
    /* what no group has: checks that ended unrun, deliveries, slots, errors */
    struct tallies others;
    bool is_under_way, has_failed;      /* the last call did */
    int64_t due_us;                     /* monotonic; 0: not known yet */
};

/* What is counted. */
struct run {
    int64_t hour_at;
    const char *job, *entity, *tenant;  /* tenant NULL: none */
    enum outcome outcome;
    int64_t took_us, late_us;
};

struct run_hours *run_hours_new(const unsigned char *owner)
{
    struct run_hours *all = calloc(1, sizeof *all);
    if (all)
        memcpy(all->owner, owner, sizeof all->owner);
    return all;
}

void run_hours_free(struct run_hours *all)
{
    struct group *following;
    for (struct group *g = all ? all->groups : NULL; g; g = following) {
        following = g->following;
        free(g);
    }
    if (all) {
        arena_free(all->note.arena);
        tallies_free(&all->others);
    }
    free(all);
}

/* ---- the table ---- */

/* FNV-1a */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (hash ^ 0xff) * UINT64_C(1099511628211);
}

static uint64_t hash_of(const struct run *r)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)r->hour_at ^ (uint64_t)r->outcome << 48;
    return hash_text(hash_text(hash_text(hash, r->job), r->entity), r->tenant);
}

static bool is_of(const struct group *g, const struct run *r)
{
    return g->hour_at == r->hour_at && g->outcome == r->outcome && !strcmp(g->tenant, r->tenant) &&
           !strcmp(g->entity, r->entity) && !strcmp(g->job, r->job);
}

/* Where it is, or would be. */
static struct group **place_of(struct run_hours *all, const struct run *r, uint64_t hash)
{
    for (uint64_t at = hash;; at++) {
        struct group **place = &all->table[at % SLOTS];
        if (!*place || is_of(*place, r))
            return place;
    }
}

static struct group *group_new(const struct run *r, uint64_t hash)
{
    size_t job_size = strlen(r->job) + 1, entity_size = strlen(r->entity) + 1;
    size_t tenant_size = strlen(r->tenant) + 1;
    struct group *g = calloc(1, sizeof *g + job_size + entity_size + tenant_size);
    if (!g)
        return NULL;
    g->hash = hash;
    g->hour_at = r->hour_at;
    g->outcome = r->outcome;
    g->job = memcpy(g + 1, r->job, job_size);
    g->entity = memcpy(g->job + job_size, r->entity, entity_size);
    g->tenant = memcpy(g->entity + entity_size, r->tenant, tenant_size);
    return g;
}

/* NULL: there is no room for it. */
static struct group *group_of(struct run_hours *all, const struct run *r, int most)
{
    uint64_t hash = hash_of(r);
    struct group **place = place_of(all, r, hash);
    if (!*place && all->n < most) {
        *place = group_new(r, hash);
        if (!*place)
            return NULL;
        (*place)->following = all->groups;
        all->groups = *place;
        all->n++;
    }
    return *place;
}

static bool is_past(const struct run_hours *all, const struct group *g)
{
    return g->hour_at < all->hour - KEPT_S;
}

static bool is_empty_and_past(const struct run_hours *all, const struct group *g)
{
    return !g->counts.runs && is_past(all, g);
}

/* Those that stay are hashed anew, as the table has no marks for what is gone. */
static void drop_what_is_past(struct run_hours *all)
{
    struct group *stay = NULL, *following;
    memset(all->table, 0, sizeof all->table);
    all->n = 0;
    for (struct group *g = all->groups; g; g = following) {
        following = g->following;
        if (is_empty_and_past(all, g)) {
            free(g);
            continue;
        }
        uint64_t at = g->hash;
        while (all->table[at % SLOTS])
            at++;
        all->table[at % SLOTS] = g;
        g->following = stay;
        stay = g;
        all->n++;
    }
    all->groups = stay;
}

/* ---- counting ---- */

static void add(struct counts *c, const struct run *r, bool ends)
{
    c->runs++;
    c->ended += ends;
    c->took_us += r->took_us;
    c->late_us = saturate_add(c->late_us, r->late_us);      /* of 100,000 that are three years late */
    if (r->took_us > c->took_max_us)
        c->took_max_us = r->took_us;
    if (r->late_us > c->late_max_us)
        c->late_max_us = r->late_us;
    c->took[histogram_class(r->took_us)]++;
    c->late[histogram_class(r->late_us)]++;
}

static int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const char *tenant_that_fits(const struct run *r)
{
    bool fits = r->tenant && strlen(r->job) + strlen(r->entity) + strlen(r->tenant) <= NAMES_MOST;
    return fits ? r->tenant : "";
}

static bool has_run(const struct settlement *s)
{
    return s->ran && s->run_at_us;
}

static struct run run_of(struct run_hours *all, const struct clocks *clocks, const struct settlement *s)
{
    int64_t at = s->run_at_us / 1000000;
    int64_t due_at = s->check->next_check_at + phase_of_check_s(clocks, s->check);
    all->hour = at - at % HOUR_S;
    return (struct run){
        .hour_at = all->hour,
        .job = s->check->job_exec,
        .entity = s->check->entity_name,
        .tenant = s->check->tenant,
        .outcome = s->outcome,
        .took_us = later_of(s->run_us, 0),
        .late_us = later_of(s->run_at_us - due_at * 1000000, 0),
    };
}

/* The group that it counts for. NULL: there is none. */
static struct group *choose_group(struct run_hours *all, struct run r)
{
    r.tenant = tenant_that_fits(&r);
    struct group *g = group_of(all, &r, *r.tenant ? RUN_HOURS_TENANTS : RUN_HOURS_ENTITIES);
    if (!g && *r.tenant) {
        r.tenant = "";
        g = group_of(all, &r, RUN_HOURS_ENTITIES);
    }
    if (!g) {
        r.entity = "";
        g = group_of(all, &r, RUN_HOURS_MOST);
    }
    return g;
}

/* It is of the same group, by the same texts. */
static bool is_alike(const struct run *a, const struct run *b)
{
    return a->job == b->job && a->entity == b->entity && a->tenant == b->tenant &&
           a->outcome == b->outcome && a->hour_at == b->hour_at;
}

static void count_other(struct run_hours *all, const char *what, const char *name, const char *outcome,
                        int64_t n)
{
    struct tally_sum *sum = tallies_of(&all->others, what, name, outcome);
    if (sum)
        sum->n += n;
}

static bool is_delivery(const struct check *c)
{
    return c->entity_name_len == sizeof DELIVERY_ENTITY - 1 && !strcmp(c->entity_name, DELIVERY_ENTITY);
}

/* Its key begins with the listener's name and a slash. */
static void count_delivery(struct run_hours *all, const struct settlement *s)
{
    enum { NAME_SIZE = 65 };
    char name[NAME_SIZE];
    size_t len = strcspn(s->check->entity_key, "/");
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), s->check->entity_key);
    count_other(all, "delivery", name, outcome_name(s->outcome), 1);
}

/* Of jobs that nobody has the names are not kept: there may be any number of them. */
static void count_unrun(struct run_hours *all, const struct settlement *s)
{
    if (!s->ends)
        return;
    const char *name = s->outcome == OUTCOME_UNKNOWN_JOB ? "" : s->check->job_exec;
    count_other(all, "ended", name, outcome_name(s->outcome), 1);
}

void run_hours_count(struct run_hours *all, const struct clocks *clocks, const struct settlement *s)
{
    if (s->ends && is_delivery(s->check))
        count_delivery(all, s);
    if (!has_run(s)) {
        count_unrun(all, s);
        return;
    }
    struct run r = run_of(all, clocks, s);
    struct group *g = choose_group(all, r);
    if (g)
        add(&g->counts, &r, s->ends);
}

void run_hours_missed_slot(struct run_hours *all)
{
    count_other(all, "missed_slot", "", "", 1);
}

/* What a call that failed is counted as, by its code. */
static const char *class_of(const struct err *err)
{
    static const struct { int code; const char *class; } classes[] = {
        { ERR_LOST, "lost" }, { ERR_BUSY, "busy" }, { ERR_DATA, "data" }, { ERR_FENCED, "fenced" },
        { ERR_SCHEMA, "schema" }, { ERR_DENIED, "denied" },
    };
    if (err_is_denied(err))
        return "denied";
    if (err_is_late(err))
        return "late";
    if (err->reason == ERR_REASON_DAMAGED)
        return "damaged";
    if (err->reason == ERR_REASON_REFUSED)
        return "refused";
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].code == err->code)
            return classes[i].class;
    return "other";
}

void run_hours_store_failed(struct run_hours *all, const struct err *err)
{
    count_other(all, "store_error", class_of(err), "", 1);
}

void run_hours_count_written(struct run_hours *all, const struct clocks *clocks,
                             const struct settlement *page, int n)
{
    struct run before = { 0 };
    struct group *g = NULL;
    for (int i = 0; i < n; i++) {
        if (page[i].state != SETTLE_TOUCHED)
            continue;
        if (page[i].ends && is_delivery(page[i].check))
            count_delivery(all, &page[i]);
        if (!has_run(&page[i])) {
            count_unrun(all, &page[i]);
            continue;
        }
        struct run r = run_of(all, clocks, &page[i]);
        if (!is_alike(&r, &before))
            g = choose_group(all, r);
        if (g)
            add(&g->counts, &r, page[i].ends);
        before = r;
    }
}

bool run_hours_have_news(const struct run_hours *all)
{
    if (all->note.arena || all->others.n)
        return true;
    for (const struct group *g = all->groups; g; g = g->following)
        if (g->counts.runs)
            return true;
    return false;
}

/* There is hardly room for more, and hours that are over would go once they are written: a replay
 * has many in a minute. Of what fails a minute is waited for, too. */
static bool makes_room(const struct run_hours *all)
{
    if (all->n < CROWDED || all->has_failed)
        return false;
    for (const struct group *g = all->groups; g; g = g->following)
        if (is_past(all, g))
            return true;
    return false;
}

bool run_hours_are_due(struct run_hours *all, int64_t now_us)
{
    if (!all->due_us)
        all->due_us = now_us + MINUTE_US;
    if (all->is_under_way)
        return false;
    if (now_us < all->due_us)
        return makes_room(all);
    return run_hours_have_news(all);
}

/* ---- writing ---- */

/* {"104":3,"112":1}; NULL: out of memory. */
static const char *classes_text(struct arena *a, const uint32_t *classes)
{
    enum { ONE = sizeof "\"399\":4294967295," };
    size_t used = 0;
    for (int i = 0; i < HISTOGRAM_CLASSES; i++)
        used += classes[i] != 0;
    size_t size = used * ONE + sizeof "{}";
    char *text = arena_alloc(a, size), *end = text;
    if (!text)
        return NULL;
    *end++ = '{';
    for (int i = 0; i < HISTOGRAM_CLASSES; i++) {
        const char *comma = end[-1] == '{' ? "" : ",";
        if (classes[i])
            end += snprintf(end, size - (size_t)(end - text), "%s\"%d\":%" PRIu32, comma, i, classes[i]);
    }
    *end++ = '}';
    *end = '\0';
    return text;
}

/* The names are copied, as the group may be gone when the call ends. False: out of memory. */
static bool fill_row(struct arena *a, const struct group *g, struct run_hour *row)
{
    const struct counts *c = &g->counts;
    *row = (struct run_hour){
        .hour_at = g->hour_at,
        .job = arena_strdup(a, g->job),
        .entity = arena_strdup(a, g->entity),
        .tenant = arena_strdup(a, g->tenant),
        .outcome = outcome_name(g->outcome),
        .runs = c->runs,
        .took_us = c->took_us,
        .took_max_us = c->took_max_us,
        .late_max_us = c->late_max_us,
        .took = classes_text(a, c->took),
        .late = classes_text(a, c->late),
    };
    return row->job && row->entity && row->tenant && row->took && row->late;
}

/* The counts of a group for its job: the tallies know no entity, tenant or hour. */
static void tally_group(struct tallies *t, const struct group *g)
{
    const struct counts *c = &g->counts;
    struct tally_sum *ended = c->ended ? tallies_of(t, "ended", g->job, outcome_name(g->outcome)) : NULL;
    if (ended)
        ended->n += c->ended;
    struct tally_sum *run = tallies_of(t, "run", g->job, outcome_name(g->outcome));
    if (!run)
        return;
    run->has_bounds = true;
    run->n += c->runs;
    run->took_us += c->took_us;
    run->late_us = saturate_add(run->late_us, c->late_us);
    tallies_add_classes(run->took, c->took);
    tallies_add_classes(run->late, c->late);
}

/* What it has taken is no longer in the groups. Without memory it has no rows, and the counts stay
 * where they are. */
static void note_make(struct run_hours *all, int64_t now_us)
{
    struct note *note = &all->note;
    note->arena = arena_new(0);
    note->rows = note->arena ? arena_alloc(note->arena, STORE_RUN_HOURS_MAX * sizeof *note->rows) : NULL;
    note->number++;
    note->made_us = now_us;
    for (struct group *g = all->groups; g; g = g->following) {
        if (!note->rows || !g->counts.runs || note->n == STORE_RUN_HOURS_MAX)
            continue;
        if (!fill_row(note->arena, g, &note->rows[note->n]))
            continue;
        tally_group(&all->others, g);
        g->counts = (struct counts){ 0 };
        note->n++;
    }
    if (!note->rows)
        return;
    note->ntallies = tallies_rows(&all->others, note->arena, &note->tallies);
    tallies_free(&all->others);
}

static void note_drop(struct note *note)
{
    arena_free(note->arena);
    note->arena = NULL;
    note->rows = NULL;
    note->n = note->ntallies = 0;
}

void run_hours_fill(struct run_hours *all, int64_t now_us, struct store_note_runs *out)
{
    struct note *note = &all->note;
    if (!note->n && !note->ntallies) {
        note_drop(note);
        note_make(all, now_us);
    }
    all->is_under_way = true;
    out->owner = all->owner;
    out->number = note->number;
    out->made_us = note->made_us;
    out->rows = note->rows;
    out->n = note->n;
    out->tallies = note->tallies;
    out->ntallies = note->ntallies;
}

void run_hours_noted(struct run_hours *all, bool well)
{
    all->is_under_way = false;
    all->due_us = 0;
    all->has_failed = !well;
    if (!well)
        return;
    note_drop(&all->note);
    drop_what_is_past(all);
}
