/* leased_bucket.c - what is left behind in a bucket, and when its pass may end. */
#include "leased_bucket.h"

#include <stdlib.h>
#include <string.h>

void leased_bucket_release(struct leased_bucket *b)
{
    for (int i = 0; i < b->nunknown_jobs; i++)
        free(b->unknown_jobs[i]);
    b->nunknown_jobs = 0;
}

void leased_bucket_skip(struct leased_bucket *b, int64_t nrows)
{
    b->counts.locked += nrows;
    b->finish_anyway = true;
}

void leased_bucket_skip_job(struct leased_bucket *b, const char *job)
{
    for (int i = 0; i < b->nunknown_jobs; i++)
        if (!strcmp(b->unknown_jobs[i], job))
            return;
    char *name = b->nunknown_jobs < UNKNOWN_JOBS_MAX ? strdup(job) : NULL;
    if (name)
        b->unknown_jobs[b->nunknown_jobs++] = name;
    else
        b->finish_anyway = true;        /* too many names to list: the sweep puts off what stays */
}

void leased_bucket_skip_rest(struct leased_bucket *b)
{
    b->exhausted = b->finish_anyway = true;
}

bool leased_bucket_is_in_part(const struct leased_bucket *b)
{
    return b->reads == READ_ALL && b->exhausted && b->parts > 0 && b->parts < PHASES;
}

bool leased_bucket_begin_parts(struct leased_bucket *b, int begun)
{
    bool anew = leased_bucket_is_in_part(b);
    if (anew) {
        b->cursor = (struct page_cursor)PAGE_START;
        b->exhausted = false;
    }
    if (anew || !b->parts)
        b->parts = begun;
    return anew;
}

bool leased_bucket_is_parked(const struct leased_bucket *b)
{
    return b->reads != READ_ALL && b->exhausted && b->reads == b->target->round;
}

void leased_bucket_follow_round(struct leased_bucket *b)
{
    if (b->reads == READ_ALL || b->reads == b->target->round)
        return;
    b->reads = b->target->round;
    b->small_cursor = b->cursor;        /* urgent ones before it may still run */
    b->exhausted = false;
}

bool leased_bucket_has_more(const struct leased_bucket *b)
{
    return !b->exhausted || (b->reads != READ_ALL && b->reads != b->target->round);
}

bool leased_bucket_note_page(struct leased_bucket *b, bool is_fast)
{
    return b->reads == READ_SMALL && (++b->nsmall_pages >= SMALL_PAGES || is_fast);
}

struct page_cursor *leased_bucket_cursor(struct leased_bucket *b)
{
    return b->reads == READ_SMALL ? &b->small_cursor : &b->cursor;
}

bool leased_bucket_is_complete(const struct leased_bucket *b)
{
    return b->saw_all && b->nread == b->ntouched && !leased_bucket_ends_anyway(b);
}

bool leased_bucket_ends_anyway(const struct leased_bucket *b)
{
    return b->finish_anyway || b->reads_own || b->rounds >= ROUNDS_MAX;
}

void leased_bucket_go_on(struct leased_bucket *b)
{
    b->rounds = b->ntouched > b->settled ? 0 : b->rounds + 1;
    b->settled = b->ntouched;
    b->exhausted = false;
}
