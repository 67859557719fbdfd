/* zone_here.h - the time zone of who works at this machine, for what is shown to him on request. No
 * decision of the engine looks at it. */
#ifndef PRESCIENT_ZONE_HERE_H
#define PRESCIENT_ZONE_HERE_H

#include "zone.h"

/* The zone that TZ names (`tz`, NULL: not set, or the path of `link`), else that of `link`,
 * /etc/localtime, which leads into the folder of zones, or is a zone's file itself; UTC where there
 * is none. Returns what zone_read does: a TZ that is a rule and no name, such as "CET-1CEST", is
 * refused, and so is a file that is no zone. The caller frees the zone. */
int zone_here(const char *tz, const char *link, struct zone **out, struct err *err);

#endif
