/* page.c - the moves of a check within its page, and the order in which checks are given: lower
 * priority numbers first, then those of one job side by side, so that a worker can pass them to
 * job_exec_many together, and in these the tenants in turn. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "../rules/terms.h"

enum { TENANT_PLACES = 256 };

static void count_isolated(struct page *p)
{
    p->nisolated = 0;
    p->isolated_retry_us = INT64_MAX;
    for (int i = 0; i < p->rows.n; i++) {
        const struct page_check *c = &p->checks[i];
        if (c->state != CHECK_ANSWERED || !c->isolated)
            continue;
        p->nisolated++;
        if (c->retry_us < p->isolated_retry_us)
            p->isolated_retry_us = c->retry_us;
    }
}

static void move(struct page *p, int index, enum check_state to)
{
    const struct keyed_check *keyed = p->checks[index].keyed;
    p->noutlasting -= p->checks[index].outlasts;
    p->checks[index].outlasts = false;
    if (keyed && keyed->place && to != CHECK_WAITING && to != CHECK_GIVEN)
        p->has_freed_places = true;
    p->counts[p->checks[index].state]--;
    p->counts[to]++;
    p->checks[index].state = (uint8_t)to;
    if (p->checks[index].isolated)
        count_isolated(p);
}

static bool is_all_alike(const struct page *p)
{
    for (int i = 1; i < p->rows.n; i++)
        if (p->checks[i].job != p->checks[0].job || p->checks[i].tenant != p->checks[0].tenant ||
            p->rows.checks[i].priority != p->rows.checks[0].priority)
            return false;
    return true;
}

/* `turn`: how many of its tenant were read before it. */
struct rank { int32_t priority, turn; int16_t job; uint32_t index; };

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Rows of a slot that is not split are read in the order of their buckets. Without memory for a
 * sort they stay in that order. */
static void sort(struct page *p)
{
    int32_t turns[TENANT_PLACES] = { 0 };
    struct rank *ranks = malloc((size_t)p->rows.n * sizeof *ranks);
    for (int i = 0; ranks && i < p->rows.n; i++)
        ranks[i] = (struct rank){ p->rows.checks[i].priority,
                                  turns[p->checks[i].tenant % TENANT_PLACES]++, p->checks[i].job,
                                  (uint32_t)i };
    if (ranks)
        qsort(ranks, (size_t)p->rows.n, sizeof *ranks, by_rank);
    for (int i = 0; ranks && i < p->rows.n; i++)
        p->order[i] = ranks[i].index;
    free(ranks);
}

static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261u;           /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h ^ h >> 16;
}

/* False: out of memory. */
static bool count_jobs(struct page *p)
{
    for (int i = 0; i < p->rows.n; i++)
        if (p->checks[i].job >= p->njobs)
            p->njobs = p->checks[i].job + 1;
    p->jobs = calloc((size_t)p->njobs + 1, sizeof *p->jobs);
    for (int i = 0; p->jobs && i < p->rows.n; i++)
        if (p->checks[i].job >= 0)
            p->jobs[p->checks[i].job].waiting++;
    return p->jobs != NULL;
}

/* Where nobody says whose a check is, its entity stands for it. One of these is not the tenant of
 * the same name. */
static uint32_t tenant_of(const struct check *row)
{
    return row->tenant ? hash_of(row->tenant) ^ 0x9e3779b9u : hash_of(row->entity_name);
}

static bool is_same_text(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
    return a_len == b_len && !memcmp(a, b, a_len);
}

/* Checks of one job, of one entity and of one tenant often come in a row. A text that is equal to
 * that of the check before becomes the same one: who compares them later looks at pointers. */
static void share_texts(struct check *row, const struct check *before)
{
    if (is_same_text(row->job_exec, row->job_exec_len, before->job_exec, before->job_exec_len))
        row->job_exec = before->job_exec;
    if (is_same_text(row->entity_name, row->entity_name_len, before->entity_name, before->entity_name_len))
        row->entity_name = before->entity_name;
    if (row->tenant && before->tenant && !strcmp(row->tenant, before->tenant))
        row->tenant = before->tenant;
}

static bool is_of_same_tenant(const struct check *a, const struct check *b)
{
    return a->tenant == b->tenant && (a->tenant || a->entity_name == b->entity_name);
}

static void take_rows(struct page *p, int (*job_of)(void *ctx, const char *name), void *ctx)
{
    const struct check *before = NULL;
    int job = -1;
    uint32_t tenant = 0;
    for (int i = 0; i < p->rows.n; i++) {
        struct check *row = &p->rows.checks[i];
        if (before)
            share_texts(row, before);
        if (!before || row->job_exec != before->job_exec)
            job = job_of(ctx, row->job_exec);
        if (!before || !is_of_same_tenant(row, before))
            tenant = tenant_of(row);
        before = row;
        p->checks[i] = (struct page_check){ .state = CHECK_WAITING, .job = (int16_t)job, .tenant = tenant,
                                            .is_delivery = check_is_delivery(row),
                                            .settlement.check = row };
        p->ndeliveries += p->checks[i].is_delivery;
        p->order[i] = (uint32_t)i;
    }
    p->counts[CHECK_WAITING] = p->rows.n;
}

struct page *page_new(struct check_rows *rows, int (*job_of)(void *ctx, const char *name), void *ctx,
                      int64_t now)
{
    struct page *p = calloc(1, sizeof *p);
    size_t n = (size_t)rows->n + 1;
    if (p) {
        p->rows = *rows;
        p->checks = malloc(n * sizeof *p->checks);
        p->order = malloc(n * sizeof *p->order);
        p->returned = malloc(n * sizeof *p->returned);
        p->arena = arena_new(4096);
        p->now = now;
    }
    if (!p || !p->checks || !p->order || !p->returned || !p->arena) {
        if (p)
            p->rows = (struct check_rows){ 0 };
        page_free(p);
        check_rows_free(rows);
        return NULL;
    }
    *rows = (struct check_rows){ 0 };
    take_rows(p, job_of, ctx);
    if (!count_jobs(p)) {
        page_free(p);
        return NULL;
    }
    if (!is_all_alike(p))
        sort(p);
    return p;
}

void page_free(struct page *p)
{
    if (!p)
        return;
    check_rows_free(&p->rows);
    free(p->checks);
    free(p->order);
    free(p->jobs);
    free(p->returned);
    arena_free(p->arena);
    free(p);
}

static bool is_of(const struct page *p, int index, int job, enum page_kinds kinds)
{
    const struct page_check *c = &p->checks[index];
    return c->job == job && c->state == CHECK_WAITING &&
           (kinds == PAGE_ALL || c->is_delivery == (kinds == PAGE_DELIVERIES));
}

static bool has_none(const struct page *p, enum page_kinds kinds)
{
    return (kinds == PAGE_DELIVERIES && !p->ndeliveries) ||
           (kinds == PAGE_OTHERS && p->ndeliveries == p->rows.n);
}

int page_next(struct page *p, int job, enum page_kinds kinds)
{
    if (job >= p->njobs || !p->jobs[job].waiting || has_none(p, kinds))
        return -1;
    for (int i = p->nreturned - 1; i >= 0; i--)
        if (is_of(p, (int)p->returned[i], job, kinds))
            return (int)p->returned[i];
    int *from = &p->jobs[job].from;
    for (int i = *from; i < p->rows.n; i++) {
        if (is_of(p, (int)p->order[i], job, kinds))
            return (int)p->order[i];
        *from += i == *from && !is_of(p, (int)p->order[i], job, PAGE_ALL);
    }
    return -1;
}

/* An index is on the stack once at most, so `returned` has room for all. */
static void forget_returned(struct page *p, int index)
{
    for (int i = p->nreturned - 1; i >= 0; i--)
        if (p->returned[i] == (uint32_t)index) {
            memmove(&p->returned[i], &p->returned[i + 1],
                    (size_t)(p->nreturned - i - 1) * sizeof *p->returned);
            p->nreturned--;
            return;
        }
}

void page_give(struct page *p, int index)
{
    forget_returned(p, index);
    move(p, index, CHECK_GIVEN);
    struct page_job *job = &p->jobs[p->checks[index].job];
    job->waiting--;
    job->from += job->from < p->rows.n && p->order[job->from] == (uint32_t)index;
}

/* It goes before those that have waited all the time. */
static void wait_first(struct page *p, int index)
{
    move(p, index, CHECK_WAITING);
    p->jobs[p->checks[index].job].waiting++;
    p->returned[p->nreturned++] = (uint32_t)index;
}

void page_return(struct page *p, int index)
{
    const struct keyed_check *keyed = p->checks[index].keyed;
    if (keyed && keyed->has_lost_place)
        move(p, index, CHECK_KEYED);
    else
        wait_first(p, index);
}

struct keyed_check *page_hold(struct page *p, int index)
{
    struct page_check *c = &p->checks[index];
    c->keyed = arena_zalloc(p->arena, sizeof *c->keyed);
    if (!c->keyed)
        return NULL;
    *c->keyed = (struct keyed_check){ .page = p, .index = index };
    p->jobs[c->job].waiting--;
    move(p, index, CHECK_KEYED);
    p->nkeyed++;
    return c->keyed;
}

void page_admit(struct keyed_check *k)
{
    wait_first(k->page, k->index);
}

void page_hold_again(struct keyed_check *k)
{
    struct page *p = k->page;
    forget_returned(p, k->index);
    p->jobs[p->checks[k->index].job].waiting--;
    move(p, k->index, CHECK_KEYED);
}

void page_note_outlasting(struct page *p)
{
    p->noutlasting = p->counts[CHECK_GIVEN];
    for (int i = 0; i < p->rows.n && p->noutlasting; i++)
        p->checks[i].outlasts = p->checks[i].state == CHECK_GIVEN;
}

bool page_is_unrun(const struct page *p, int index)
{
    return p->checks[index].state == CHECK_WAITING || p->checks[index].state == CHECK_KEYED;
}

/* It may wait, or be given; of an unknown job it only waits. */
static void decide(struct page *p, int index)
{
    const struct page_check *c = &p->checks[index];
    if (c->state == CHECK_WAITING && c->job >= 0)
        p->jobs[c->job].waiting--;
}

void page_answer(struct page *p, int index, int64_t now_us)
{
    decide(p, index);
    move(p, index, CHECK_ANSWERED);
    if (!p->answered_us)
        p->answered_us = now_us;
}

void page_over(struct page *p, int index)
{
    decide(p, index);
    move(p, index, CHECK_OVER);
}

int page_drop_answers(struct page *p)
{
    int n = 0;
    for (int i = 0; i < p->rows.n; i++)
        if (p->checks[i].state == CHECK_ANSWERED) {
            page_over(p, i);
            n++;
        }
    return n;
}

void page_leave_waiting(struct page *p)
{
    for (int i = 0; i < p->rows.n && p->counts[CHECK_WAITING] + p->counts[CHECK_KEYED]; i++)
        if (page_is_unrun(p, i))
            page_over(p, i);
}

void page_settling(struct page *p, int index)
{
    move(p, index, CHECK_SETTLING);
}

void page_unsettled(struct page *p, int index)
{
    move(p, index, CHECK_ANSWERED);
}

void page_isolate(struct page *p, int index, int64_t retry_us)
{
    p->checks[index].isolated = true;
    p->checks[index].retry_us = retry_us;
    count_isolated(p);
}

bool page_is_all_isolated(const struct page *p)
{
    return p->nisolated && p->nisolated == p->counts[CHECK_ANSWERED];
}

int64_t page_settle_at_us(const struct page *p, int64_t settle_after_us)
{
    if (!p->counts[CHECK_ANSWERED])
        return INT64_MAX;
    bool all_answered = !p->counts[CHECK_WAITING] && !p->counts[CHECK_GIVEN] && !p->counts[CHECK_KEYED];
    int64_t at = all_answered ? p->answered_us : p->answered_us + settle_after_us;
    if (at < p->retry_us)
        at = p->retry_us;
    if (page_is_all_isolated(p) && at < p->isolated_retry_us)
        at = p->isolated_retry_us;
    return at;
}

int page_waiting(const struct page *p)
{
    return p->dropped ? 0 : p->counts[CHECK_WAITING];
}

bool page_is_over(const struct page *p)
{
    return p->counts[CHECK_OVER] == p->rows.n;
}
