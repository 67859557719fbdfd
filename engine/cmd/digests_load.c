/* digests_load.c - see digests_load.h. */
#include "digests_load.h"

#include "../base/cleanup.h"
#include "../base/settings_load.h"
#include "../base/zone.h"
#include "../rules/digest.h"

static int look_up_zone(const struct listener_settings *l, struct err *err)
{
    CLEANUP(zone_freep) struct zone *zone = NULL;
    int rc = l->timezone ? zone_read(l->timezone, &zone, err) : 0;
    if (rc < 0)
        return err_wrap(err, ERR_SETTINGS, "%s: timezone of a listener", l->from);
    return 0;
}

int digests_look(const struct settings *s, struct err *err)
{
    int rc = digests_check(s, err);
    for (int i = 0; rc == 0 && i < s->nlisteners; i++)
        rc = look_up_zone(&s->listeners[i], err);
    return rc;
}

int digests_load(struct app *app, struct err *err)
{
    app->settings_file = settings_file_used(app->settings_file); /* the same one for SIGHUP, too */
    int rc = settings_load(&app->settings, app->settings_file, app->flags, app->nflags, err);
    return rc < 0 ? rc : digests_look(&app->settings, err);
}
