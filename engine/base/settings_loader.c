/* settings_loader.c - one value is set, or refused with its place, its name, what was found and
 * what was expected. */
#include "settings_loader.h"

int settings_loader_nomem(struct settings_loader *l)
{
    return err_set(l->err, ERR_NOMEM, "settings: out of memory");
}

int settings_loader_assign(struct settings_loader *l, const struct setting_row *row, struct job_settings *job,
                           const struct setting_value *value, const char *where, const char *label)
{
    struct arena *a = l->impl->arena;
    int rc = settings_read_value(row, value, settings_field(row, l->s, job),
                                 (int *)((char *)l->s + row->count), a);
    if (rc == ERR_NOMEM)
        return settings_loader_nomem(l);
    if (rc < 0)
        return err_set(l->err, rc, "%s: %s%s = %s: expected %s", where, label, row->name,
                       settings_found(row, value, a), settings_expected(row, a));
    if (!job)
        l->where[settings_row_index(row)] = where;
    return 0;
}
