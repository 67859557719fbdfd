/* settings.c - the settings that were read: finding a job in them, releasing them. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "settings_impl.h"

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

const char *settings_nearest_job(const struct settings *s, const char *name)
{
    struct nearest near = { .wanted = name };
    for (int i = 0; i < s->njobs; i++)
        nearest_look(&near, s->jobs[i].name);
    return nearest_word(&near);
}

const char *settings_reference(const struct settings_impl *impl, const struct setting_row *row,
                               const char *job)
{
    const struct settings_referred *r = impl ? impl->referred : NULL;
    while (r && (r->row != row || (job ? !r->job || strcmp(r->job, job) != 0 : r->job != NULL)))
        r = r->older;
    return r ? r->reference : NULL;
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
