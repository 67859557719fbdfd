/* asked.h - which of its own settings a plug-in has asked for, and whether its group has others:
 * those are mistyped, most likely. */
#ifndef PRESCIENT_ASKED_H
#define PRESCIENT_ASKED_H

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>

struct asked_name {
    struct asked_name *older;
    char name[];
};

struct asked {                          /* begins as zero */
    struct asked_name *names;
    bool is_incomplete;                 /* memory ran out: nothing is called unknown any more */
};

/* Notes that `name` was asked for, as in host->setting: "table", "delays.0", "group.member". `own`
 * is the job's group, or NULL. */
void asked_note(struct asked *a, const config_setting_t *own, const char *name);
void asked_release(struct asked *a);

/* True when the group has a member that was never asked for; `why` then has words for it. The
 * elements of a list are not looked at, nor the members of a group of which none was asked for.
 * With `only_misspelt`, true only when a name that was asked for is near enough to be suggested. */
bool asked_finds_unknown(const struct asked *a, const config_setting_t *own, bool only_misspelt, char *why,
                         size_t why_size);

#endif
