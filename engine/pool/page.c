/* page.c - the moves of a check within its page, and the order in which checks are given: lower
 * priority numbers first, then those of one job side by side, so that a worker can pass them to
 * job_exec_many together. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

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
    p->counts[p->checks[index].state]--;
    p->counts[to]++;
    p->checks[index].state = (uint8_t)to;
    if (p->checks[index].isolated)
        count_isolated(p);
}

/* A stable counting sort by job: unknown jobs (-1) first, each job's checks in the order they were
 * read. */
static void sort_by_job(struct page *p)
{
    int most = -1;
    for (int i = 0; i < p->rows.n; i++)
        if (p->checks[i].job > most)
            most = p->checks[i].job;
    int at = 0;
    for (int job = -1; job <= most && at < p->rows.n; job++)
        for (int i = 0; i < p->rows.n; i++)
            if (p->checks[i].job == job)
                p->order[at++] = (uint32_t)i;
}

static bool all_one_job(const struct page *p)
{
    for (int i = 1; i < p->rows.n; i++)
        if (p->checks[i].job != p->checks[0].job)
            return false;
    return true;
}

static bool all_one_priority(const struct page *p)
{
    for (int i = 1; i < p->rows.n; i++)
        if (p->rows.checks[i].priority != p->rows.checks[0].priority)
            return false;
    return true;
}

struct rank { int32_t priority; int16_t job; uint32_t index; };

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Rows of a slot that is not split are read in the order of their buckets. Without memory for a
 * sort they stay in that order. */
static void sort_by_priority(struct page *p)
{
    struct rank *ranks = malloc((size_t)p->rows.n * sizeof *ranks);
    for (int i = 0; ranks && i < p->rows.n; i++)
        ranks[i] = (struct rank){ p->rows.checks[i].priority, p->checks[i].job, (uint32_t)i };
    if (ranks)
        qsort(ranks, (size_t)p->rows.n, sizeof *ranks, by_rank);
    for (int i = 0; ranks && i < p->rows.n; i++)
        p->order[i] = ranks[i].index;
    free(ranks);
}

/* Checks of one job often come in a row: its name is looked up once for them. */
static void take_rows(struct page *p, int (*job_of)(void *ctx, const char *name), void *ctx)
{
    const char *before = NULL;
    int job = -1;
    for (int i = 0; i < p->rows.n; i++) {
        const struct check *row = &p->rows.checks[i];
        if (!before || strcmp(row->job_exec, before) != 0)
            job = job_of(ctx, row->job_exec);
        before = row->job_exec;
        p->checks[i] = (struct page_check){ .state = CHECK_WAITING, .job = (int16_t)job,
                                            .settlement.check = row };
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
    if (!all_one_priority(p))
        sort_by_priority(p);
    else if (!all_one_job(p))
        sort_by_job(p);
    return p;
}

void page_free(struct page *p)
{
    if (!p)
        return;
    check_rows_free(&p->rows);
    free(p->checks);
    free(p->order);
    free(p->returned);
    arena_free(p->arena);
    free(p);
}

static void skip_given(struct page *p)
{
    while (p->next < p->rows.n && p->checks[p->order[p->next]].state != CHECK_WAITING)
        p->next++;
}

int page_next(struct page *p)
{
    while (p->nreturned) {
        int i = (int)p->returned[p->nreturned - 1];
        if (p->checks[i].state == CHECK_WAITING)
            return i;
        p->nreturned--;
    }
    skip_given(p);
    return p->next < p->rows.n ? (int)p->order[p->next] : -1;
}

static bool is_for(const struct page *p, int index, const bool *jobs)
{
    const struct page_check *c = &p->checks[index];
    return c->state == CHECK_WAITING && c->job >= 0 && jobs[c->job];
}

int page_next_of(struct page *p, const bool *jobs)
{
    skip_given(p);
    for (int i = p->nreturned - 1; i >= 0; i--)
        if (is_for(p, (int)p->returned[i], jobs))
            return (int)p->returned[i];
    for (int i = p->next; i < p->rows.n; i++)
        if (is_for(p, (int)p->order[i], jobs))
            return (int)p->order[i];
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
}

void page_return(struct page *p, int index)
{
    move(p, index, CHECK_WAITING);
    p->returned[p->nreturned++] = (uint32_t)index;
}

void page_answer(struct page *p, int index, int64_t now_us)
{
    move(p, index, CHECK_ANSWERED);
    if (!p->answered_us)
        p->answered_us = now_us;
}

void page_over(struct page *p, int index)
{
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
    for (int i = 0; i < p->rows.n && p->counts[CHECK_WAITING]; i++)
        if (p->checks[i].state == CHECK_WAITING)
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
    bool all_answered = !p->counts[CHECK_WAITING] && !p->counts[CHECK_GIVEN];
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
