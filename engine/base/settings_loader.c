/* settings_loader.c - one value is set, or refused with its place, its name, what was found and
 * what was expected. */
#include "settings_loader.h"

#include <string.h>

int settings_loader_nomem(struct settings_loader *l)
{
    return err_set(l->err, ERR_NOMEM, "settings: out of memory");
}

/* DATABASE_URL is set on many hosts, by others: that it wins over the file has to be seen. */
static void note_place(struct settings_loader *l, const struct setting_row *row, const char *where)
{
    const char **place = &l->where[settings_row_index(row)];
    bool is_flag = where && !strncmp(where, "--", 2);
    if (!strcmp(row->name, "store") && *place) {
        l->s->store_instead_of = is_flag ? NULL : *place;
        l->s->store_from = is_flag ? NULL : where;
    }
    *place = where;
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
        note_place(l, row, where);
    return 0;
}
