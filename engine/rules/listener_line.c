/* listener_line.c - see listener_line.h. */
#include "listener_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/fingerprint.h"
#include "../base/utf8.h"
#include "digest.h"

enum { PATTERNS_MAX = 64 };             /* the settings accept no more */

/* ---- the mark ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In one order, and none twice. */
static void add_patterns(struct sha256_ctx *sha, const char *const *patterns, int n)
{
    const char *sorted[PATTERNS_MAX] = { NULL }, *last = "";
    int few = n < PATTERNS_MAX ? n : PATTERNS_MAX;
    for (int i = 0; i < few; i++)
        sorted[i] = patterns[i];
    qsort(sorted, (size_t)few, sizeof *sorted, compare_texts);
    for (int i = 0; i < few; i++) {
        if (strcmp(sorted[i], last) != 0)
            fingerprint_add_field(sha, sorted[i]);
        last = sorted[i];
    }
    fingerprint_add_field(sha, "");     /* no pattern is empty */
}

/* "900s" and "15m" are one time. What cannot be read was refused before; here it stands for
 * itself. */
static void add_digest(struct sha256_ctx *sha, const struct listener_settings *l)
{
    struct terms terms;
    struct err err;
    char text[TERMS_MAX + 1];
    if (!l->digest)
        return;
    bool is_good = digest_terms(l, &terms, &err) == 0 && terms_print(&terms, text);
    fingerprint_add_field(sha, is_good ? text : l->digest);
}

static void mark(const struct listener_settings *l, char out[LISTENER_MARK_SIZE])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    fingerprint_add_field(&sha, l->job);
    add_patterns(&sha, l->events, l->nevents);
    add_patterns(&sha, l->except, l->nexcept);
    add_digest(&sha, l);
    fingerprint_hex(&sha, out, LISTENER_MARK_SIZE);
}

/* ---- the words ---- */

struct words { char text[512]; size_t n; };

static void add(struct words *w, const char *before, const char *text)
{
    int n = snprintf(w->text + w->n, sizeof w->text - w->n, "%s%s", before, text);
    w->n += (size_t)n < sizeof w->text - w->n ? (size_t)n : sizeof w->text - w->n - 1;
}

static void add_list(struct words *w, const char *before, const char *const *texts, int n)
{
    for (int i = 0; i < n; i++)
        add(w, i ? ", " : before, texts[i]);
}

void listener_line(const struct listener_settings *l, char *out)
{
    struct words w = { .n = 0 };
    char sum[LISTENER_MARK_SIZE];
    w.text[0] = '\0';
    add(&w, "job ", l->job);
    if (l->digest)
        add(&w, strncmp(l->digest, "cron ", 5) ? ", each " : ", ", l->digest);
    if (l->timezone)
        add(&w, " ", l->timezone);
    add_list(&w, ": ", l->events, l->nevents);
    add_list(&w, ", but not ", l->except, l->nexcept);
    mark(l, sum);
    w.text[utf8_valid_bytes(w.text, w.n)] = '\0';
    for (char *c = w.text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    if (strlen(w.text) > LISTENER_WORDS_MAX) {
        static const char more[] = "...";
        memcpy(w.text + utf8_cut(w.text, strlen(w.text), LISTENER_WORDS_MAX - 3), more, sizeof more);
    }
    snprintf(out, LISTENER_LINE_SIZE, "%.64s %s %.*s", l->name, sum, LISTENER_WORDS_MAX, w.text);
}

/* ---- reading ---- */

static const char *field(const char **at, const char *end, char stop, int *length)
{
    const char *begin = *at, *to = memchr(begin, stop, (size_t)(end - begin));
    *length = (int)((to ? to : end) - begin);
    *at = to ? to + 1 : end;
    return begin;
}

bool listener_line_next(const char **at, struct listener_line *out)
{
    const char *line = *at + strspn(*at, "\n"), *end = line + strcspn(line, "\n");
    *at = end;
    if (line == end)
        return false;
    out->name = field(&line, end, ' ', &out->name_length);
    out->mark = field(&line, end, ' ', &out->mark_length);
    out->words = line;
    out->words_length = (int)(end - line);
    return true;
}
