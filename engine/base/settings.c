/* settings.c - the settings that were read: finding a job in them, setting one value, letting them
 * go. */
#include "settings_load.h"

#include <stdlib.h>
#include <string.h>

const struct job_settings *settings_job(const struct settings *s, const char *name, int *index)
{
    for (int i = 0; i < s->njobs; i++)
        if (!strcmp(s->jobs[i].name, name)) {
            if (index)
                *index = i;
            return &s->jobs[i];
        }
    return NULL;
}

void settings_release(struct settings *s)
{
    struct settings_impl *impl = s->impl;
    if (impl) {
        config_destroy(&impl->config);
        arena_free(impl->arena);
        free(impl);
    }
    *s = (struct settings){ 0 };
}

int settings_nomem(struct loader *l)
{
    return err_set(l->err, ERR_NOMEM, "settings: out of memory");
}

int settings_assign(struct loader *l, const struct setting_row *row, struct job_settings *job,
                    const struct setting_value *value, const char *where, const char *label)
{
    struct arena *a = l->impl->arena;
    int rc = settings_read_value(row, value, settings_field(row, l->s, job),
                                 (int *)((char *)l->s + row->count), a);
    if (rc == ERR_NOMEM)
        return settings_nomem(l);
    if (rc < 0)
        return err_set(l->err, rc, "%s: %s%s = %s: expected %s", where, label, row->name,
                       settings_found(row, value, a), settings_expected(row, a));
    if (!job)
        l->where[settings_row_index(row)] = where;
    return 0;
}
