/* settings_loader.c - one value is set, or refused with its place, its name, what was found and
 * what was expected. */
#include "settings_loader.h"

#include <libconfig.h>
#include <string.h>

#include "settings_secret.h"

int settings_loader_nomem(struct settings_loader *l)
{
    return err_set(l->err, ERR_NOMEM, "settings: out of memory");
}

/* DATABASE_URL is set on many hosts, by others: that it wins over the file has to be seen. */
static void note_place(struct settings_loader *l, const struct setting_row *row, const char *where)
{
    const char **place = &l->impl->where[settings_row_index(row)];
    bool is_flag = where && !strncmp(where, "--", 2);
    if (!strcmp(row->name, "store") && *place) {
        l->s->store_instead_of = is_flag ? NULL : *place;
        l->s->store_from = is_flag ? NULL : where;
    }
    if (!strcmp(row->name, "store"))
        l->s->store_place = where;
    *place = where;
}

/* ---- values that stand elsewhere ---- */

/* A text from a variable or a flag: relative to the working directory. */
static int refer_text(struct settings_loader *l, const struct setting_row *row, struct setting_value *value,
                      const char *where)
{
    struct settings_secret *secret;
    const char *text = value->text;
    int rc = settings_secret_read(text, NULL, "", l->impl->arena, &value->text, &secret, l->err);
    if (rc < 0)
        return err_wrap(l->err, rc, "%s: %s = \"%.80s\"", where, row->name, text);
    value->reference = secret ? secret->reference : NULL;
    return 0;
}

/* A later message about a database quotes its URL but for what is known to be a password. */
static bool is_shown_safely(const struct setting_row *row, const struct setting_value *v)
{
    const char *text = v->node ? config_setting_get_string(v->node) : v->text;
    return !v->reference || row->type != SETTING_URL || !text || !strncmp(text, "sqlite:", 7) ||
        strstr(text, "://") || strchr(text, '=');
}

static int note_reference(struct settings_loader *l, const struct setting_row *row,
                          const struct job_settings *job, const char *reference)
{
    const char *name = job ? job->name : NULL;
    if (!reference && !settings_reference(l->impl, row, name))
        return 0;
    struct settings_referred *r = arena_alloc(l->impl->arena, sizeof *r);
    if (!r)
        return settings_loader_nomem(l);
    *r = (struct settings_referred){ l->impl->referred, row, name, reference };
    l->impl->referred = r;
    return 0;
}

int settings_loader_place(struct settings_loader *l, const struct setting_row *row, const char *job,
                          const char *where)
{
    struct settings_placed *p = arena_alloc(l->impl->arena, sizeof *p);
    if (!p)
        return settings_loader_nomem(l);
    *p = (struct settings_placed){ l->impl->placed, row, job, where };
    l->impl->placed = p;
    return 0;
}

int settings_loader_assign(struct settings_loader *l, const struct setting_row *row, struct job_settings *job,
                           const struct setting_value *given, const char *where, const char *label)
{
    struct arena *a = l->impl->arena;
    struct setting_value value = *given;
    int rc = value.text && where ? refer_text(l, row, &value, where) : 0;
    if (rc < 0)
        return rc;
    if (value.node)
        value.reference = settings_secret_reference(value.node);
    rc = is_shown_safely(row, &value) ? 0 : ERR_SETTINGS;
    if (rc == 0)
        rc = settings_read_value(row, &value, settings_field(row, l->s, job),
                                 (int *)((char *)l->s + row->count), a);
    if (rc == ERR_NOMEM)
        return settings_loader_nomem(l);
    if (rc < 0)
        return err_set(l->err, rc, "%s: %s%s = %s: expected %s", where, label, row->name,
                       settings_found(row, &value, a),
                       value.node ? settings_expected(row, a) : settings_expected_as_text(row, a));
    if (!job)
        note_place(l, row, where);
    else if (settings_loader_place(l, row, job->name, where) < 0)
        return ERR_NOMEM;
    return note_reference(l, row, job, value.reference);
}
