/* leased_bucket.h - a lease of a (slot, bucket), and what is left to do under it. */
#ifndef PRESCIENT_LEASED_BUCKET_H
#define PRESCIENT_LEASED_BUCKET_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/agenda.h"
#include "../store/store_slot.h"
#include "targets.h"

enum {
    UNKNOWN_JOBS_MAX = 32,
    ROUNDS_MAX = 100,
    SMALL_PAGES = 16,       /* of small tenants, in their round: each of these reads searches the bucket */
};

struct leased_bucket {
    struct lease lease;
    struct target *target;
    struct agenda *settles;         /* when answers of its lane's pages are to be settled */
    struct page_cursor cursor;
    struct lease_origin origin;
    /* A slot that is one lease is read in parts, as they begin (phases.h): so many of them are
     * being read; 0: none yet. */
    int parts;
    bool saw_all;                   /* the first read saw all that will ever be filed there */
    /* checks read, and those of them that a settle is known to have written */
    int64_t nread, ntouched;
    bool exhausted;                 /* the last read found no more */
    /* The round of its target (targets.h) whose checks are read. In that of small tenants behind a
     * place of its own: the last round begins where the urgent checks end. */
    enum read_what reads;
    struct page_cursor small_cursor;
    int nsmall_pages;
    /* From some read on, only checks of jobs that can be run here were read. The others stay, and
     * what came in meanwhile is the second look's. */
    bool reads_own;
    bool finish_anyway;             /* it is finished whatever rows are still in it */
    bool skips_scan;                /* a finish met a corrupt block: the next does not look at rows */
    int damaged_reads;              /* how often in a row a read met a corrupt block */
    int64_t damaged_id;             /* of the first row that was left out last; 0: none was */
    int rounds;                     /* how often in a row a finish found more and nothing had been settled */
    int64_t settled;                /* checks settled when the last finish was tried */
    int npages;
    int64_t start_until_us;         /* trust, CLOCK_BOOTTIME */
    int64_t began_us;
    bool has_run;                   /* counts.late_us is set */
    char *unknown_jobs[UNKNOWN_JOBS_MAX];       /* names of jobs that cannot be run here */
    int nunknown_jobs;
    struct pass_counts counts;
};

void leased_bucket_release(struct leased_bucket *b);

/* Rows of it stay where they are, unsettled and visible as late. */
void leased_bucket_skip(struct leased_bucket *b, int64_t nrows);
/* Checks of a job that cannot be run here stay for an engine that can. */
void leased_bucket_skip_job(struct leased_bucket *b, const char *job);
/* No more of it is read. */
void leased_bucket_skip_rest(struct leased_bucket *b);

/* All that has begun is read, but there are parts that have not. */
bool leased_bucket_is_in_part(const struct leased_bucket *b);
/* Before it is read: `begun` parts may be. True: those before were read, and it is read once more
 * from its beginning. */
bool leased_bucket_begin_parts(struct leased_bucket *b, int begun);

/* It has no more checks of this round, which goes on and is not the last. */
bool leased_bucket_is_parked(const struct leased_bucket *b);
/* Goes on with its target's round, if that has begun meanwhile. */
void leased_bucket_follow_round(struct leased_bucket *b);
bool leased_bucket_has_more(const struct leased_bucket *b);
/* A page was read. True: so many of small tenants are enough before the others; where checks are
 * fast, one is. */
bool leased_bucket_note_page(struct leased_bucket *b, bool is_fast);
/* Behind which row the next page begins. */
struct page_cursor *leased_bucket_cursor(struct leased_bucket *b);

/* All that will ever be filed there was read, and all of it is known to be written down. */
bool leased_bucket_is_complete(const struct leased_bucket *b);
/* Whether the finish under way is to end the pass whatever rows are still in it. */
bool leased_bucket_ends_anyway(const struct leased_bucket *b);
/* A finish found rows that came in meanwhile, behind the last one read: they are read, too. */
void leased_bucket_go_on(struct leased_bucket *b);

#endif
