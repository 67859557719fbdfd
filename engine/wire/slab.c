/* slab.c - checks in, answers out, through memory that a worker may have overwritten. The engine
 * keeps what it relies on (count, end, generation) in memory of its own and never reads it back. */
#include "slab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../include/prescient/job.h"
#include "../base/utf8.h"
#include "../rules/effect.h"
#include "../rules/field.h"
#include "../rules/slot.h"
#include "../rules/terms.h"

#define SLAB_MAGIC 0x62616c73u      /* "slab" */
/* changes with struct shared: engine and worker are the same program, but a test may not be */
#define SLAB_LAYOUT 6u
#define NO_STRING UINT32_MAX        /* as a length: NULL */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum {
    EFFECT_EVENT, EFFECT_NAME, EFFECT_KEY, EFFECT_JOB, EFFECT_JSON, EFFECT_CONCURRENCY_KEY, EFFECT_TENANT,
    EFFECT_STRINGS,
};

struct check_record {
    int64_t id, slot, first_check_at;
    int32_t check_count, failure_count;
    int32_t job;
    uint32_t single, has_key;
    /* in the in heap; NO_STRING: none, of the last three */
    uint32_t name_at, key_at, job_at, payload_at, origin_at, terms_at;
};

struct answer_record {
    int64_t at, began_us, run_us;
    int32_t kind;
    uint32_t text_at, text_len;                         /* in the out heap */
    uint32_t effects_at, neffects;                      /* the first one; each names the next */
};

struct effect_record {
    int64_t at;
    uint32_t kind, conflict, next;
    int32_t priority;
    uint32_t len[EFFECT_STRINGS];                       /* the strings follow, without NUL */
};

struct shared {
    uint32_t magic, layout;
    int64_t now;
    _Atomic uint32_t generation;
    _Atomic uint32_t stopped;                           /* this generation begins nothing more */
    _Atomic int64_t start_until_us;
    alignas(64) _Atomic uint64_t claim;                 /* next << 32 | end */
    alignas(64) _Atomic uint32_t state[SLAB_CHECKS_MAX];    /* the generation when the answer is there */
    struct answer_record answers[SLAB_CHECKS_MAX];
    struct check_record checks[SLAB_CHECKS_MAX];
    char in[SLAB_IN_BYTES];
    alignas(8) char out[SLAB_OUT_BYTES];
};

struct chain { uint32_t first, last, n, bytes; };       /* the effects of one answer so far */

struct slab {
    struct shared *shared;
    /* the engine's */
    uint32_t generation;
    int count, end;                         /* end < 0: not cut yet */
    size_t in_used, taken_bytes;
    bool taken[SLAB_CHECKS_MAX];            /* its bytes are counted already */
    /* the worker's */
    uint32_t seen_generation;
    uint32_t out_used;
    struct chain chains[SLAB_CHECKS_MAX];   /* empty from the claim on */
};

static uint64_t claim_word(uint32_t next, uint32_t end) { return (uint64_t)next << 32 | end; }
static uint32_t claim_next(uint64_t claim) { return (uint32_t)(claim >> 32); }
static uint32_t claim_end(uint64_t claim) { return (uint32_t)claim; }

/* Copies out of memory that the worker may be writing. The barrier keeps the compiler from reading
 * it a second time, so that what was checked is what is used. */
static void copy_once(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    __asm__ volatile("" ::: "memory");
}

/* ---- making and mapping ---- */

static int map_fd(int fd, struct slab **out, struct err *err)
{
    struct slab *s = calloc(1, sizeof *s);
    if (!s)
        return err_set(err, ERR_NOMEM, "slab: out of memory");
    s->shared = mmap(NULL, sizeof *s->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (s->shared == MAP_FAILED) {
        free(s);
        return err_sys(err, ERR_GENERAL, "slab: cannot map %zu bytes", sizeof *s->shared);
    }
    s->end = -1;
    *out = s;
    return 0;
}

static int make_fd(struct err *err)
{
    int fd = memfd_create("prescient-slab", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return err_sys(err, ERR_GENERAL, "slab: memfd_create");
    if (ftruncate(fd, sizeof(struct shared)) || fcntl(fd, F_ADD_SEALS, SEALS)) {
        err_sys(err, ERR_GENERAL, "slab: cannot size and seal %zu bytes", sizeof(struct shared));
        close(fd);
        return ERR_GENERAL;
    }
    return fd;
}

int slab_new(struct slab **out, int *fd, struct err *err)
{
    int made = make_fd(err);
    if (made < 0)
        return made;
    int rc = map_fd(made, out, err);
    if (rc) {
        close(made);
        return rc;
    }
    (*out)->shared->magic = SLAB_MAGIC;
    (*out)->shared->layout = SLAB_LAYOUT;
    *fd = made;
    return 0;
}

int slab_attach(int fd, struct slab **out, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return err_sys(err, ERR_GENERAL, "slab: descriptor %d", fd);
    if (st.st_size != (off_t)sizeof(struct shared))
        return err_set(err, ERR_GENERAL, "slab: descriptor %d has %lld bytes, expected %zu", fd,
                       (long long)st.st_size, sizeof(struct shared));
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS)
        return err_set(err, ERR_GENERAL, "slab: descriptor %d is not sealed against shrinking", fd);
    struct slab *s;
    int rc = map_fd(fd, &s, err);
    if (rc)
        return rc;
    if (s->shared->magic != SLAB_MAGIC || s->shared->layout != SLAB_LAYOUT) {
        err_set(err, ERR_GENERAL, "slab: found magic %08x layout %u, expected %08x layout %u",
                s->shared->magic, s->shared->layout, SLAB_MAGIC, SLAB_LAYOUT);
        slab_free(s);
        return ERR_GENERAL;
    }
    *out = s;
    return 0;
}

void slab_free(struct slab *s)
{
    if (!s)
        return;
    munmap(s->shared, sizeof *s->shared);
    free(s);
}

/* ---- the engine fills it ---- */

void slab_reset(struct slab *s, int64_t now, int64_t start_until_us)
{
    struct shared *m = s->shared;
    atomic_store_explicit(&m->claim, 0, memory_order_relaxed);
    if (++s->generation == 0)
        s->generation = 1;              /* new memory holds 0 */
    m->now = now;
    atomic_store_explicit(&m->start_until_us, start_until_us, memory_order_relaxed);
    atomic_store_explicit(&m->generation, s->generation, memory_order_release);
    s->count = 0;
    s->end = -1;
    s->in_used = s->taken_bytes = 0;
    memset(s->taken, 0, sizeof s->taken);
}

static uint32_t put_string(struct slab *s, const char *text, size_t len)
{
    char *to = s->shared->in + s->in_used;
    memcpy(to, text, len);
    to[len] = '\0';
    s->in_used += len + 1;
    return (uint32_t)(to - s->shared->in);
}

bool slab_put(struct slab *s, const struct check *check, int job, bool single)
{
    size_t payload = check->payload ? (size_t)check->payload_len + 1 : 0;
    size_t origin = check->origin ? strlen(check->origin) + 1 : 0;
    size_t terms = check_is_delivery(check) ? strlen(check->terms) + 1 : 0;
    size_t room = (size_t)check->entity_name_len + check->entity_key_len + check->job_exec_len + 3 + payload +
                  origin + terms;
    if (s->count >= SLAB_CHECKS_MAX || room > SLAB_IN_BYTES - s->in_used)
        return false;
    uint32_t payload_at = NO_STRING, origin_at = NO_STRING, terms_at = NO_STRING;
    if (payload)
        payload_at = put_string(s, check->payload, check->payload_len);
    if (origin)
        origin_at = put_string(s, check->origin, origin - 1);
    if (terms)
        terms_at = put_string(s, check->terms, terms - 1);
    s->shared->checks[s->count++] = (struct check_record){
        .id = check->id,
        .slot = check->next_check_at,
        .first_check_at = check->first_check_at,
        .check_count = check->check_count,
        .failure_count = check->failure_count,
        .job = job,
        .single = single,
        .has_key = check->concurrency_key != NULL,
        .name_at = put_string(s, check->entity_name, check->entity_name_len),
        .key_at = put_string(s, check->entity_key, check->entity_key_len),
        .job_at = put_string(s, check->job_exec, check->job_exec_len),
        .payload_at = payload_at,
        .origin_at = origin_at,
        .terms_at = terms_at,
    };
    return true;
}

void slab_open(struct slab *s)
{
    atomic_store_explicit(&s->shared->claim, claim_word(0, (uint32_t)s->count), memory_order_release);
}

int slab_count(const struct slab *s) { return s->count; }
uint32_t slab_generation(const struct slab *s) { return s->generation; }
int slab_end(const struct slab *s) { return s->end < 0 ? s->count : s->end; }

static int clamp_to_count(const struct slab *s, uint64_t claim)
{
    return claim_next(claim) < (uint32_t)s->count ? (int)claim_next(claim) : s->count;
}

int slab_claimed(const struct slab *s)
{
    if (s->end >= 0)
        return s->end;                  /* cut: nothing can be claimed any more */
    return clamp_to_count(s, atomic_load_explicit(&s->shared->claim, memory_order_acquire));
}

/* One exchange, no loop: a worker that changes the word all the time cannot keep the engine here.
 * The 0 that is left means "nothing to claim"; the end is in the engine's own memory. */
int slab_cut(struct slab *s)
{
    if (s->end < 0)
        s->end = clamp_to_count(s, atomic_exchange_explicit(&s->shared->claim, 0, memory_order_acq_rel));
    return s->end;
}

void slab_set_trust(struct slab *s, int64_t start_until_us)
{
    atomic_store_explicit(&s->shared->start_until_us, start_until_us, memory_order_release);
}

void slab_stop(struct slab *s)
{
    atomic_store_explicit(&s->shared->stopped, s->generation, memory_order_release);
}

/* ---- the engine takes answers ---- */

bool slab_is_answered(const struct slab *s, int index)
{
    return index >= 0 && index < slab_end(s) &&
           atomic_load_explicit(&s->shared->state[index], memory_order_acquire) == s->generation;
}

/* Counts what is copied. An honest worker's pieces do not overlap, so together they fit the
 * heap. */
static bool is_in_heap(struct slab *s, uint32_t at, uint32_t len, bool count)
{
    if (len > SLAB_OUT_BYTES || at > SLAB_OUT_BYTES - len)
        return false;
    return !count || (s->taken_bytes += len) <= SLAB_OUT_BYTES;
}

/* A copy of [at, at + len) of the out heap, ended with NUL, or NULL. */
static char *take_bytes(struct slab *s, uint32_t at, uint32_t len, struct arena *a, bool count)
{
    if (!is_in_heap(s, at, len, count))
        return NULL;
    char *p = arena_alloc(a, (size_t)len + 1);
    if (!p)
        return NULL;
    copy_once(p, s->shared->out + at, len);
    p[len] = '\0';
    return p;
}

/* One effect, whose record is at `at`; *next is where the following one is. */
static int take_effect(struct slab *s, uint32_t at, bool count, struct arena *a, struct effect *out,
                       uint32_t *next, struct err *err)
{
    static const char outside[] = "it is outside of the slab, or no room is left for it";
    struct effect_record r;
    if (!is_in_heap(s, at, sizeof r, count))
        return err_set(err, ERR_INPUT, outside);
    copy_once(&r, s->shared->out + at, sizeof r);
    char *strings[EFFECT_STRINGS] = { NULL };
    uint64_t from = (uint64_t)at + sizeof r;
    for (int i = 0; i < EFFECT_STRINGS; i++) {
        if (r.len[i] == NO_STRING)
            continue;
        if (from > SLAB_OUT_BYTES || r.len[i] > CHECK_PAYLOAD_MAX)
            return err_set(err, ERR_INPUT, outside);
        strings[i] = take_bytes(s, (uint32_t)from, r.len[i], a, count);
        if (!strings[i])
            return err_set(err, ERR_INPUT, outside);
        if (strlen(strings[i]) != r.len[i])
            return err_set(err, ERR_INPUT, "it holds a NUL byte");
        from += r.len[i];
    }
    *out = (struct effect){
        .kind = (enum effect_kind)r.kind,
        .at = r.at,
        .event = strings[EFFECT_EVENT],
        .entity_name = strings[EFFECT_NAME],
        .entity_key = strings[EFFECT_KEY],
        .job = strings[EFFECT_JOB],
        .json = strings[EFFECT_JSON],
        .conflict = r.kind == EFFECT_ENQUEUE ? field_conflict_word(r.conflict) : NULL,
        .priority = r.priority,
        .concurrency_key = strings[EFFECT_CONCURRENCY_KEY],
        .tenant = strings[EFFECT_TENANT],
    };
    *next = r.next;
    return effect_check(out, err);
}

/* One answer may have as many as slab_add_effect allows an honest worker. */
static int take_effects(struct slab *s, const struct answer_record *r, bool count, struct arena *a,
                        struct raw_answer *out, struct err *err)
{
    size_t before = s->taken_bytes;
    if (r->neffects == 0)
        return 0;
    if (r->neffects > ANSWER_EFFECTS_MAX)
        return err_set(err, ERR_INPUT, "it declares %u effects, expected at most %d", r->neffects,
                       ANSWER_EFFECTS_MAX);
    struct effect *effects = arena_alloc(a, r->neffects * sizeof *effects);
    if (!effects)
        return err_set(err, ERR_NOMEM, "out of memory for its effects");
    uint32_t at = r->effects_at;
    for (uint32_t i = 0; i < r->neffects; i++) {
        int rc = take_effect(s, at, count, a, &effects[i], &at, err);
        if (rc < 0)
            return err_wrap(err, rc, "effect %u", i + 1);
        if (s->taken_bytes - before > SLAB_ANSWER_BYTES)
            return err_set(err, ERR_INPUT, "its effects take more than %u bytes", SLAB_ANSWER_BYTES);
    }
    out->effects = effects;
    out->neffects = (int)r->neffects;
    return 0;
}

static int take_text(struct slab *s, const struct answer_record *r, bool count, struct arena *a,
                     struct raw_answer *out, struct err *err)
{
    if (r->text_len == 0)
        return 0;
    if (r->text_len > SLAB_TEXT_MAX)
        return err_set(err, ERR_INPUT, "its text has %u bytes, expected at most %d", r->text_len,
                       SLAB_TEXT_MAX);
    char *text = take_bytes(s, r->text_at, r->text_len, a, count);
    if (!text)
        return err_set(err, ERR_INPUT, "its text is outside of the slab, or no room is left for it");
    if (!utf8_is_valid(text, r->text_len))
        return err_set(err, ERR_INPUT, "its text is not valid UTF-8");
    out->text = text;
    return 0;
}

static int take_numbers(const struct answer_record *r, struct raw_answer *out, struct err *err)
{
    if (r->kind < PRESCIENT_NO_ANSWER || r->kind > PRESCIENT_BROKEN)
        return err_set(err, ERR_INPUT, "its kind is %d, expected %d to %d", r->kind, PRESCIENT_DONE,
                       PRESCIENT_BROKEN);
    if (r->began_us < 0 || r->began_us / 1000000 > MOMENT_MAX)
        return err_set(err, ERR_INPUT, "it began at %lld us, which is no time", (long long)r->began_us);
    if (r->run_us < 0 || r->run_us / 1000000 > MOMENT_MAX)
        return err_set(err, ERR_INPUT, "it took %lld us, which is no duration", (long long)r->run_us);
    *out = (struct raw_answer){ .kind = r->kind, .at = r->at, .began_us = r->began_us, .run_us = r->run_us };
    return 0;
}

/* Without `effects` an answer that declares some is not copied: its check is deferred. */
static int take_record(struct slab *s, const struct answer_record *r, bool effects, bool count,
                       struct arena *a, struct raw_answer *out, struct err *err)
{
    int rc = take_numbers(r, out, err);
    if (rc < 0)
        return rc;
    if (!effects && r->neffects) {
        out->kind = PRESCIENT_DEFER;
        out->at = 0;                    /* as soon as possible */
        out->text = "put off: the effects of the other checks have taken all room";
        return 0;
    }
    rc = take_text(s, r, count, a, out, err);
    if (rc < 0)
        return rc;
    return take_effects(s, r, count, a, out, err);
}

static bool take(struct slab *s, int index, bool effects, struct arena *a, struct raw_answer *out)
{
    if (!slab_is_answered(s, index))
        return false;
    struct answer_record r;
    copy_once(&r, &s->shared->answers[index], sizeof r);
    bool count = !s->taken[index];
    s->taken[index] = true;
    *out = (struct raw_answer){ .kind = -1 };
    struct err err;
    if (take_record(s, &r, effects, count, a, out, &err) < 0) {
        const char *text = arena_printf(a, "bad answer: %s", err.text);
        *out = (struct raw_answer){ .kind = -1, .began_us = out->began_us, .run_us = out->run_us,
                                    .text = text ? text : "bad answer" };
    }
    return true;
}

bool slab_take_answer(struct slab *s, int index, struct arena *a, struct raw_answer *out)
{
    return take(s, index, true, a, out);
}

bool slab_take_without_effects(struct slab *s, int index, struct arena *a, struct raw_answer *out)
{
    return take(s, index, false, a, out);
}

/* ---- the worker's side: the engine is believed ---- */

/* A new generation begins with an empty out heap. */
static void follow_generation(struct slab *s)
{
    uint32_t generation = atomic_load_explicit(&s->shared->generation, memory_order_acquire);
    if (generation == s->seen_generation)
        return;
    s->seen_generation = generation;
    s->out_used = 0;
}

bool slab_is_stopped(const struct slab *s)
{
    return s->seen_generation &&
           atomic_load_explicit(&s->shared->stopped, memory_order_acquire) == s->seen_generation;
}

static const char *string_or_null(const struct slab *s, uint32_t at)
{
    return at == NO_STRING ? NULL : s->shared->in + at;
}

void slab_get(const struct slab *s, int index, struct slab_check *out)
{
    const struct check_record *r = &s->shared->checks[index];
    const char *in = s->shared->in;
    *out = (struct slab_check){
        .job = r->job,
        .single = r->single,
        .id = r->id,
        .now = s->shared->now,
        .slot = r->slot,
        .first_check_at = r->first_check_at,
        .check_count = r->check_count,
        .failure_count = r->failure_count,
        .entity_name = in + r->name_at,
        .entity_key = in + r->key_at,
        .job_name = in + r->job_at,
        .payload = string_or_null(s, r->payload_at),
        .origin = string_or_null(s, r->origin_at),
        .terms = string_or_null(s, r->terms_at),
    };
}

bool slab_has_key(const struct slab *s, int from, int n)
{
    for (int i = from; i < from + n && i < SLAB_CHECKS_MAX; i++)
        if (s->shared->checks[i].has_key)
            return true;
    return false;
}

bool slab_peek(struct slab *s, int *job, bool *single)
{
    uint64_t claim = atomic_load_explicit(&s->shared->claim, memory_order_acquire);
    if (claim_next(claim) >= claim_end(claim) || claim_end(claim) > SLAB_CHECKS_MAX)
        return false;
    const struct check_record *r = &s->shared->checks[claim_next(claim)];
    *job = r->job;
    *single = r->single;
    return true;
}

/* How many checks from `next` on can be claimed at once: they share the job, and none is single. */
static uint32_t count_alike(const struct slab *s, uint32_t next, uint32_t end, int most)
{
    const struct check_record *r = &s->shared->checks[next];
    uint32_t n = 1;
    while ((int)n < most && next + n < end && !r->single && !r[n].single && r[n].job == r->job)
        n++;
    return n;
}

bool slab_may_start(const struct slab *s, int64_t boot_us)
{
    return boot_us < atomic_load_explicit(&s->shared->start_until_us, memory_order_acquire);
}

enum slab_claim slab_claim(struct slab *s, int most, int64_t boot_us, int *from, int *n)
{
    struct shared *m = s->shared;
    follow_generation(s);
    uint64_t claim = atomic_load_explicit(&m->claim, memory_order_acquire);
    for (;;) {
        uint32_t next = claim_next(claim), end = claim_end(claim);
        if (next >= end || end > SLAB_CHECKS_MAX)
            return SLAB_EMPTY;
        if (!slab_may_start(s, boot_us))
            return SLAB_UNTRUSTED;
        bool full = s->out_used > SLAB_OUT_BYTES - SLAB_ANSWER_BYTES - SLAB_TEXT_MAX;
        uint32_t alike = full ? 0 : count_alike(s, next, end, most);
        uint64_t wanted = full ? claim_word(next, next) : claim_word(next + alike, end);
        /* only the engine's cut can come in between, so the second try is the last */
        if (!atomic_compare_exchange_strong_explicit(&m->claim, &claim, wanted, memory_order_acq_rel,
                                                     memory_order_acquire))
            continue;
        memset(&s->chains[next], 0, alike * sizeof *s->chains);
        *from = (int)next;
        *n = (int)alike;
        return full ? SLAB_EMPTY : SLAB_CLAIMED;
    }
}

static void link_effect(struct slab *s, struct chain *chain, uint32_t at)
{
    if (chain->n++ == 0)
        chain->first = at;
    else
        memcpy(s->shared->out + chain->last + offsetof(struct effect_record, next), &at, sizeof at);
    chain->last = at;
}

int slab_add_effect(struct slab *s, int index, const struct effect *e)
{
    const char *strings[EFFECT_STRINGS] = {
        [EFFECT_EVENT] = e->event,
        [EFFECT_NAME] = e->entity_name,
        [EFFECT_KEY] = e->entity_key,
        [EFFECT_JOB] = e->job,
        [EFFECT_JSON] = e->json,
        [EFFECT_CONCURRENCY_KEY] = e->concurrency_key,
        [EFFECT_TENANT] = e->tenant,
    };
    struct chain *chain = &s->chains[index];
    struct effect_record r = { .at = e->at,
                               .kind = (uint32_t)e->kind,
                               .conflict = (uint32_t)field_conflict_index(e->conflict),
                               .priority = e->priority };
    size_t bytes = sizeof r;
    for (int i = 0; i < EFFECT_STRINGS; i++) {
        r.len[i] = strings[i] ? (uint32_t)strlen(strings[i]) : NO_STRING;
        bytes += strings[i] ? r.len[i] : 0;
    }
    bytes = (bytes + 7) & ~(size_t)7;
    if (chain->n >= ANSWER_EFFECTS_MAX || chain->bytes + bytes > SLAB_ANSWER_BYTES)
        return SLAB_TOO_MUCH;
    if (s->out_used + bytes > SLAB_OUT_BYTES)
        return SLAB_CROWDED;
    char *to = s->shared->out + s->out_used;
    memcpy(to, &r, sizeof r);
    to += sizeof r;
    for (int i = 0; i < EFFECT_STRINGS; i++)
        if (strings[i])
            to = mempcpy(to, strings[i], r.len[i]);
    link_effect(s, chain, s->out_used);
    chain->bytes += (uint32_t)bytes;
    s->out_used += (uint32_t)bytes;
    return 0;
}

void slab_drop_effects(struct slab *s, int index)
{
    s->chains[index] = (struct chain){ 0 };
}

/* Puts an answer's text into the out heap, cut to SLAB_TEXT_MAX and to what fits. Returns its
 * length. */
static uint32_t add_text(struct slab *s, const char *text)
{
    size_t room = SLAB_OUT_BYTES - s->out_used, most = room < SLAB_TEXT_MAX ? room : SLAB_TEXT_MAX;
    size_t len = utf8_cut(text, strnlen(text, SLAB_TEXT_MAX + 1), most);
    memcpy(s->shared->out + s->out_used, text, len);
    s->out_used += (uint32_t)((len + 7) & ~(size_t)7);
    return (uint32_t)len;
}

void slab_answer(struct slab *s, int index, int kind, int64_t at, int64_t began_us, int64_t run_us,
                 const char *text)
{
    struct answer_record *r = &s->shared->answers[index];
    *r = (struct answer_record){
        .kind = kind, .at = at, .began_us = began_us, .run_us = run_us,
        .effects_at = s->chains[index].first, .neffects = s->chains[index].n,
    };
    if (text && *text) {
        r->text_at = s->out_used;
        r->text_len = add_text(s, text);
    }
    atomic_store_explicit(&s->shared->state[index], s->seen_generation, memory_order_release);
}
