/* zone_here.c - see zone_here.h. */
#include "zone_here.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "Europe/Berlin" of "/usr/share/zoneinfo/Europe/Berlin", or of ":Europe/Berlin". */
static const char *name_in(const char *path)
{
    static const char folder[] = "/zoneinfo/";
    const char *below = strstr(path, folder);
    if (below)
        return below + strlen(folder);
    return *path == ':' ? path + 1 : path;
}

static int of_variable(const char *tz, struct zone **out, struct err *err)
{
    const char *name = name_in(tz);
    if (!*name)
        return zone_read("UTC", out, err);
    int rc = zone_read(name, out, err);
    return rc < 0 ? err_wrap(err, rc, "TZ (expected the name of a zone, and no rule)") : 0;
}

/* A copy, or what a container was given: its bytes are the zone, and nothing says the name. */
static int of_file(const char *path, struct zone **out, struct err *err)
{
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return zone_read("UTC", out, err);
    int rc = zone_read_file(path, "localtime", out, err);
    return rc < 0 ? err_wrap(err, rc, "%s does not say which zone it is here: set TZ, or use --zone", path)
                  : 0;
}

int zone_here(const char *tz, const char *link, struct zone **out, struct err *err)
{
    char path[PATH_MAX];
    if (tz && strcmp(*tz == ':' ? tz + 1 : tz, link) != 0)
        return of_variable(tz, out, err);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    if (strstr(path, "/zoneinfo/"))
        return zone_read(name_in(path), out, err);
    return of_file(link, out, err);
}
