/* noted.c - see noted.h. */
#include "noted.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/utf8.h"
#include "../rules/listener_line.h"

/* what the table has room for */
enum { NAME_MAX_BYTES = 255, FILE_MAX_BYTES = 256, JOBS_MAX_BYTES = 65536 };

static int compare_lines(const void *a, const void *b)
{
    return strcmp(a, b);
}

char *noted_listeners(const struct settings *s, struct arena *a)
{
    size_t n = (size_t)s->nlisteners;
    char (*lines)[LISTENER_LINE_SIZE] = arena_alloc(a, (n + 1) * sizeof *lines);
    char *all = arena_alloc(a, n * (LISTENER_LINE_SIZE + 1) + 1), *end = all;
    if (!lines || !all)
        return NULL;
    for (size_t i = 0; i < n; i++)
        listener_line(&s->listeners[i], lines[i]);
    qsort(lines, n, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++) {
        end = stpcpy(end, lines[i]);
        *end++ = '\n';
    }
    *end = '\0';
    return all;
}

char *noted_jobs(const struct settings *s, struct arena *a)
{
    size_t bytes = 0;
    for (int i = 0; i < s->njobs; i++)
        bytes += strlen(s->jobs[i].name) + 1;
    char *all = bytes <= JOBS_MAX_BYTES ? arena_alloc(a, bytes + 1) : NULL, *end = all;
    if (!all)
        return NULL;
    for (int i = 0; i < s->njobs; i++) {
        end = stpcpy(end, s->jobs[i].name);
        *end++ = '\n';
    }
    *end = '\0';
    return all;
}

/* As much of the end as there is room for, as text that each store takes. */
static const char *end_of(struct arena *a, const char *text, size_t most)
{
    size_t length = strlen(text);
    char *end = arena_strdup(a, length > most ? text + length - most : text);
    if (!end)
        return NULL;
    for (char *c = end; *(c += utf8_valid_bytes(c, strlen(c)));)
        *c = '?';
    for (char *c = end; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    return end;
}

static const char *name_of_host(struct arena *a)
{
    char host[NAME_MAX_BYTES + 1] = "localhost";
    gethostname(host, sizeof host - 1);
    return end_of(a, host, NAME_MAX_BYTES);
}

/* "0, 30" */
static const char *served(const struct settings *s, struct arena *a)
{
    const char *all = "";
    for (int i = 0; i < s->nserve && all; i++)
        all = arena_printf(a, "%s%s%d", all, i ? ", " : "", s->serve[i]);
    return all;
}

int32_t noted_command_s(int32_t slot_length_s)
{
    int32_t two_slots_s = 2 * slot_length_s;
    return two_slots_s > NOTED_DAEMON_S ? two_slots_s : NOTED_DAEMON_S;
}

void noted_fill(const struct errand_env *env, const struct totals *totals, struct store_note_listeners *out)
{
    const struct settings *s = env->settings;
    struct arena *a = out->arena = arena_new(4096);
    if (!a)
        return;
    out->version = *VERSION ? VERSION : "unreleased";
    out->host = name_of_host(a);
    out->pid = (int32_t)getpid();
    out->engine = s->engine_name ? end_of(a, s->engine_name, NAME_MAX_BYTES) : out->host;
    out->serves = served(s, a);
    out->started_us = clocks_now_us(env->clocks, totals->began_us);
    out->last_slot = totals->last_slot;
    out->last_pass_us = totals->last_pass_us;
    out->file = end_of(a, s->file ? s->file : "", FILE_MAX_BYTES);
    out->listeners = noted_listeners(s, a);
    out->jobs = noted_jobs(s, a);
}
