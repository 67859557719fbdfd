/* settings_changes.c - see settings_changes.h. Two values are the same when they are printed alike,
 * secrets included. */
#include "settings_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "settings_listeners.h"
#include "settings_print.h"
#include "settings_value.h"

enum { NAMED_MAX = 20 };

/* One of two settings, or of two jobs, as text; malloc()ed. NULL: out of memory. */
struct printed {
    const struct settings *s;
    const struct setting_row *row;  /* of the top level; NULL: */
    const struct job_settings *job; /* a job; NULL: all listeners */
};

static char *text_of(const struct printed *p)
{
    char *text = NULL;
    size_t size;
    int rc = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (p->row) {
        /* settings_field serves readers and writers */
        struct settings *s = (struct settings *)p->s;
        int count = p->row->count ? *(const int *)((const char *)s + p->row->count) : 0;
        settings_put_value(p->row, settings_field(p->row, s, NULL), count, true, out);
    } else if (p->job) {
        rc = settings_print_job(p->s, p->job, out);
    } else {
        settings_listeners_put(p->s, false, out);
    }
    if (fclose(out) == 0 && rc == 0)
        return text;
    free(text);
    return NULL;
}

/* What cannot be compared counts as other than it was. */
static bool is_other(const struct printed *before, const struct printed *after)
{
    CLEANUP(cleanup_free) char *was = text_of(before);
    CLEANUP(cleanup_free) char *is = text_of(after);
    return !was || !is || strcmp(was, is) != 0;
}

bool settings_differ(const struct settings *before, const struct settings *after,
                     const struct setting_row *row)
{
    return is_other(&(struct printed){ before, row, NULL }, &(struct printed){ after, row, NULL });
}

/* ---- names ---- */

struct names {
    struct arena *a;
    const char *text;
    int n;
};

static void add(struct names *names, const char *name)
{
    const char *comma = names->n ? ", " : "";
    if (names->text && names->n < NAMED_MAX)
        names->text = arena_printf(names->a, "%s%s%s", names->text, comma, name);
    names->n++;
}

static void end(struct names *names)
{
    if (names->text && names->n > NAMED_MAX)
        names->text = arena_printf(names->a, "%s and %d more", names->text, names->n - NAMED_MAX);
}

static void add_rows(struct names *names, const struct settings *before, const struct settings *after,
                     const struct setting_row *rows)
{
    for (const struct setting_row *row = rows; row->name; row++)
        if (settings_row(row->name, false) == row && settings_differ(before, after, row))
            add(names, row->name);
}

/* ---- jobs ---- */

enum fate { JOB_NEW, JOB_GONE, JOB_CHANGED, FATES };

static void find_missing(struct names *names, const struct settings *in, const struct settings *of)
{
    for (int i = 0; i < of->njobs; i++)
        if (!settings_job(in, of->jobs[i].name, NULL))
            add(names, of->jobs[i].name);
}

static void find_changed(struct names *names, const struct settings *before, const struct settings *after)
{
    for (int i = 0; i < after->njobs; i++) {
        const struct job_settings *was = settings_job(before, after->jobs[i].name, NULL);
        if (was && is_other(&(struct printed){ before, NULL, was },
                            &(struct printed){ after, NULL, &after->jobs[i] }))
            add(names, after->jobs[i].name);
    }
}

/* "jobs (new: a; changed: b)"; "": none is other than before; NULL: out of memory. */
static const char *change_of_jobs(const struct settings *before, const struct settings *after,
                                  struct arena *a)
{
    static const char *const labels[FATES] = { "new: ", "gone: ", "changed: " };
    struct names fates[FATES];
    const char *all = "";
    for (int i = 0; i < FATES; i++)
        fates[i] = (struct names){ a, "", 0 };
    find_missing(&fates[JOB_NEW], before, after);
    find_missing(&fates[JOB_GONE], after, before);
    find_changed(&fates[JOB_CHANGED], before, after);
    for (int i = 0; i < FATES && all; i++) {
        end(&fates[i]);
        if (!fates[i].text)
            return NULL;
        if (fates[i].n)
            all = arena_printf(a, "%s%s%s%s", all, *all ? "; " : "", labels[i], fates[i].text);
    }
    return all && *all ? arena_printf(a, "jobs (%s)", all) : all;
}

const char *settings_changes(const struct settings *before, const struct settings *after, struct arena *a)
{
    struct names names = { a, "", 0 };
    const char *jobs = change_of_jobs(before, after, a);
    if (!jobs)
        return NULL;
    add_rows(&names, before, after, settings_rows);
    add_rows(&names, before, after, settings_job_rows);
    end(&names);
    struct names kinds = { a, "", 0 };
    if (names.n && names.text)
        add(&kinds, names.text);
    if (*jobs)
        add(&kinds, jobs);
    if (is_other(&(struct printed){ before, NULL, NULL }, &(struct printed){ after, NULL, NULL }))
        add(&kinds, "listeners");
    return names.text ? kinds.text : NULL;
}
