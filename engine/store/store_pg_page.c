/* store_pg_page.c - reads a page: in the plain form, in the large form when payloads are large, and
 * in the degraded form around a corrupt block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_pg_ops.h"

/* How many bytes one row may have, so that a page of `want` rows stays within its limit. */
static int64_t share_of(const struct store_read_page *r)
{
    int64_t most = r->max_bytes > 0 && r->max_bytes < INT64_MAX ? (int64_t)r->max_bytes : INT64_MAX;
    return most / (r->want > 0 ? r->want : 1);
}

static bool send_unreadable(struct pg_store *pg, const struct lease *lease)
{
    struct pg_unreadable_in in = { .slot = lease->slot, .first = lease->bucket, .last = lease->bucket };
    if (lease->bucket == BUCKET_WHOLE_SLOT) {
        in.first = 0;
        in.last = BUCKETS - 1;
    }
    return pg_send(pg, PG_UNREADABLE, &in);
}

/* Copies the places that are not NULL behind the others, in the same array. */
static int count_places(struct pg_store *pg, const struct store_read_page *r)
{
    int n = 0;
    for (int i = 0; i < r->page.n; i++)
        if (pg->lock_places[i])
            pg->lock_places[r->page.n + n++] = pg->lock_places[i];
    return n;
}

static bool send_kept(struct pg_store *pg, const struct store_read_page *r)
{
    int n = count_places(pg, r);
    return pg_send(pg, PG_KEPT, &(struct pg_kept_in){ .places = { n, pg->lock_places + r->page.n } });
}

static const unsigned form_of[] = { [READ_URGENT] = PG_FORM_URGENT, [READ_SMALL] = PG_FORM_SMALL };

static bool read_page_send(struct pg_store *pg, struct store_call *call)
{
    struct store_read_page *r = (struct store_read_page *)call;
    if (pg->lock_places)
        return send_kept(pg, r);
    unsigned slot = r->lease.bucket == BUCKET_WHOLE_SLOT ? PG_FORM_SLOT : 0;
    unsigned large = pg->large_rows ? PG_FORM_LARGE : 0;
    unsigned own = r->jobs || r->parts < PHASES ? PG_FORM_OWN : 0;
    unsigned what = form_of[r->what];
    int64_t share = share_of(r);
    int64_t xid = r->origin.xid ? r->origin.xid : INT64_MAX;
    bool sent = pg_send_form(pg, PG_READ_PAGE, slot | large | own | what, &(struct pg_read_page_in){
        .slot = r->lease.slot,
        .bucket = bucket_after(&r->lease, &r->after),
        .priority = r->after.priority,
        .id = r->after.id,
        .most = r->want,
        .bytes = large ? share * r->want : share,
        .xid = xid,
        .incarnation = r->origin.incarnation,
        .jobs = { r->njobs, r->jobs },
        .small_look = PG_SMALL_LOOK,
        .parts = r->parts,
    });
    return sent && (!pg->degraded || send_unreadable(pg, &r->lease));
}

/* Ends a text in the result, whose memory is the page's own, although the reader returns it as
 * constant. */
static void end_text(const char *end)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    *(char *)(uintptr_t)end = '\0';
}

/* "3:abc" and the end of a line: *value becomes "abc", or NULL where the number is 0, as it mostly
 * is. Returns what is behind it; NULL: that is not there. */
static const char *read_counted(const char *text, const char **value)
{
    size_t len = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        len = len * 10 + (size_t)(*text - '0');
    if (*text != ':')
        return NULL;
    const char *begin = text + 1;
    if (strnlen(begin, len) < len || begin[len] != '\n')
        return NULL;
    end_text(begin + len);
    *value = len ? begin : NULL;
    return begin + len + 1;
}

/* The origin and, after the first end of a line, the key, the tenant and the terms: they stay in
 * the result, where NULs now part them. */
static void read_origin_names_and_terms(const char *text, struct check *c)
{
    const char *end = strchrnul(text, '\n');
    if (end > text)
        c->origin = text;
    if (!*end)
        return;
    const char *rest = read_counted(end + 1, &c->concurrency_key);
    rest = rest ? read_counted(rest, &c->tenant) : NULL;
    end_text(end);
    c->is_garbled = !rest;
    if (rest && *rest)
        c->terms = rest;
}

/* Values that few rows have, in one column (the part `aside`): the place of a lock, a blank, '+'
 * where the payload was left out or '-', the slot at which it was put off, a blank, the origin, and
 * on lines of their own the concurrency key, the tenant and the terms. The place is copied into the
 * arena. */
static bool read_aside(struct arena *a, const char *aside, struct check *c, bool *is_left_out,
                       const char **lock_place)
{
    c->origin = c->terms = c->concurrency_key = c->tenant = NULL;
    c->is_garbled = false;
    c->put_off_at = 0;
    *is_left_out = false;
    *lock_place = NULL;
    if (!aside)
        return true;
    const char *blank = strchr(aside, ' ');
    if (!blank || !blank[1])
        return false;
    *is_left_out = blank[1] == '+';
    const char *origin = strchr(blank + 2, ' ');
    if (!origin++)
        return false;
    if (blank[2] != ' ')
        c->put_off_at = strtoll(blank + 2, NULL, 10);
    read_origin_names_and_terms(origin, c);
    if (blank == aside)
        return true;
    *lock_place = arena_strndup(a, aside, (size_t)(blank - aside));
    return *lock_place;
}

/* The column `place`: see the part place_in_page. */
enum { COMPLETE = BUCKETS, PRIORITY_SHIFT = 7 };

static bool read_check(struct pg_store *pg, struct store_read_page *r, const PGresult *result, int n,
                       struct check *c, bool *is_left_out, const char **lock_place)
{
    struct pg_read_page_out row;
    if (!pg_row(pg, PG_READ_PAGE, result, n, &row))
        return false;
    c->id = row.id;
    c->first_check_at = row.first_check_at;
    c->next_check_at = r->lease.slot;
    c->deferred_at = row.deferred_at;
    c->bucket = (int32_t)(row.place & (COMPLETE - 1));
    c->priority = (int32_t)(row.place >> PRIORITY_SHIFT);
    c->check_count = (int32_t)(row.counts >> 32);
    c->failure_count = (int32_t)row.counts;
#define CHECK_TEXT(name) c->name = row.name, c->name##_len = row.name##_len;
    CHECK_TEXTS(CHECK_TEXT)
#undef CHECK_TEXT
    c->kept = false;
    r->is_complete = row.place & COMPLETE;
    return read_aside(pg->arena, row.aside, c, is_left_out, lock_place);
}

static void free_result(void *impl) { PQclear(impl); }

/* Takes the rows of the page, which ends before a payload that was left out. Returns how many, or
 * -1 for a row that cannot be read. */
static int read_checks(struct pg_store *pg, struct store_read_page *r, const PGresult *result,
                       struct check *checks, const char **lock_places, bool *large)
{
    int n = PQntuples(result), i = 0;
    int64_t share = share_of(r);
    *large = false;
    for (; i < n; i++) {
        bool is_left_out;
        if (!read_check(pg, r, result, i, &checks[i], &is_left_out, &lock_places[i]))
            return -1;
        *large |= is_left_out || checks[i].payload_len > share;
        if (is_left_out)
            break;
    }
    return i;
}

/* The page owns the result, which contains its strings. */
static void keep_result(struct pg_store *pg, struct check_rows *page, struct check *checks, int n)
{
    const PGresult *result = pg_result(pg, 0);
    for (int i = 0; i < pg->nqueue; i++)
        if (pg->queue[i].result == result) {
            *page = (struct check_rows){ .checks = checks, .n = n, .impl = pg->queue[i].result,
                                         .free_impl = free_result };
            pg->queue[i].result = NULL;
            return;
        }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rows that were locked, and are not among those that come back, are held by others. */
static int kept_receive(struct pg_store *pg, struct store_read_page *r)
{
    const PGresult *result = pg_result(pg, 0);
    int nfree = PQntuples(result);
    const char **free_places = arena_alloc(pg->arena, ((size_t)nfree + 1) * sizeof *free_places);
    if (!free_places)
        return err_set(&r->call.err, ERR_NOMEM, "store: out of memory");
    for (int i = 0; i < nfree; i++) {
        struct pg_kept_out row;
        if (!pg_row(pg, PG_KEPT, result, i, &row))
            return unreadable(&r->call, "kept");
        free_places[i] = row.place;
    }
    qsort(free_places, (size_t)nfree, sizeof *free_places, by_text);
    for (int i = 0; i < r->page.n; i++) {
        const char **place = &pg->lock_places[i];
        r->page.checks[i].kept = *place &&
                                 !bsearch(place, free_places, (size_t)nfree, sizeof *free_places, by_text);
    }
    return 0;
}

/* Room for the places of a page, twice: once more for those that are asked about. */
static const char **room_for_places(struct pg_store *pg, int n)
{
    return arena_alloc(pg->arena, 2 * (size_t)n * sizeof *pg->lock_places);
}

static bool has_place(const char *const *lock_places, int n)
{
    for (int i = 0; i < n; i++)
        if (lock_places[i])
            return true;
    return false;
}

static int page_received(struct pg_store *pg, struct store_read_page *r, const PGresult *result)
{
    struct check *checks = malloc(sizeof *checks * (size_t)PQntuples(result));
    const char **lock_places = room_for_places(pg, PQntuples(result));
    bool was_large = pg->large_rows;
    int n = checks && lock_places ? read_checks(pg, r, result, checks, lock_places, &pg->large_rows) : 0;
    if (n > 0) {
        r->has_more = n < PQntuples(result) || n == r->want || was_large;
        keep_result(pg, &r->page, checks, n);
        pg->lock_places = has_place(lock_places, n) ? lock_places : NULL;
        return pg->lock_places ? PG_SEND_AGAIN : 0;
    }
    free(checks);
    if (!checks || !lock_places)
        return err_set(&r->call.err, ERR_NOMEM, "store: out of memory for a page of %d checks",
                       PQntuples(result));
    /* the page begins with a large payload */
    return n < 0 ? unreadable(&r->call, "read_page") : PG_SEND_AGAIN;
}

static int read_page_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_read_page *r = (struct store_read_page *)call;
    if (pg->lock_places)
        return kept_receive(pg, r);
    r->page = (struct check_rows){ 0 };
    r->has_more = r->is_complete = false;
    snprintf(r->damage, sizeof r->damage, "%s", pg->degraded ? pg->damage : "");
    struct pg_unreadable_out damaged = { 0 };
    if (pg->degraded && !pg_row(pg, PG_UNREADABLE, pg_result(pg, 1), 0, &damaged))
        return unreadable(call, "unreadable");
    r->ndamaged = damaged.n;
    r->damaged_id = damaged.first_id;
    const PGresult *result = pg_result(pg, 0);
    return PQntuples(result) == 0 ? 0 : page_received(pg, r, result);
}

const struct pg_operation pg_read_page = { .send = read_page_send, .receive = read_page_receive };
