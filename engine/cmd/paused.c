/* paused.c - see paused.h. */
#include "paused.h"

#include "text.h"

int paused_read(const struct args *args, struct paused *out, struct err *err)
{
    *out = (struct paused){ args_text(args, 'j'), args_text(args, 'e'), args_text(args, 'c'),
                            args_text(args, 't') };
    if (!!out->job + !!out->entity + !!out->schedule + !!out->tenant != 1)
        return err_set(err, ERR_INPUT,
                       "expected one of --job JOB, --entity ENTITY, --schedule NAME and --tenant NAME");
    return 0;
}

static void put_thing(struct app *app, const char *what, const char *name)
{
    fprintf(app->out, "%s ", what);
    text_put(app->out, name, 0);
}

void paused_print(struct app *app, const struct paused *p, const char *words)
{
    if (p->job)
        put_thing(app, "job", p->job);
    if (p->entity)
        put_thing(app, "entity", p->entity);
    if (p->schedule)
        put_thing(app, "schedule", p->schedule);
    if (p->tenant)
        put_thing(app, "tenant", p->tenant);
    fprintf(app->out, " %s\n", words);
}
