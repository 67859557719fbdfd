/* next_times.c - the next times of cron texts, to be compared with those of table.py. Reads lines
 * of four columns with tabs between them: a cron text, a zone, a moment, how many times; and prints
 * one line for each, the times with a blank between them, or "refused: " and why. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../engine/base/cleanup.h"
#include "../../engine/base/moment.h"
#include "../../engine/base/zone.h"
#include "../../engine/rules/cron.h"

enum { COLUMNS = 4, ZONES_MAX = 64 };

struct zones {
    struct zone *known[ZONES_MAX];
    int n;
};

static const struct zone *find_zone(struct zones *zones, const char *name, struct err *err)
{
    for (int i = 0; i < zones->n; i++)
        if (!strcmp(zone_name(zones->known[i]), name))
            return zones->known[i];
    if (zones->n == ZONES_MAX) {
        err_set(err, ERR_GENERAL, "more than %d zones", ZONES_MAX);
        return NULL;
    }
    if (zone_read(name, &zones->known[zones->n], err) < 0)
        return NULL;
    return zones->known[zones->n++];
}

/* Cuts a line at its tabs; returns how many columns it has. */
static int split(char *line, char *columns[COLUMNS])
{
    int n = 0;
    line[strcspn(line, "\n")] = '\0';
    while (line && n < COLUMNS)
        columns[n++] = strsep(&line, "\t");
    return line ? COLUMNS + 1 : n;
}

static int print_times(struct zones *zones, char *const columns[COLUMNS], struct err *err)
{
    struct cron c;
    int64_t at;
    char text[MOMENT_TEXT];
    int rc = cron_parse(columns[0], &c, err);
    if (rc < 0)
        return rc;
    const struct zone *zone = find_zone(zones, columns[1], err);
    if (!zone)
        return err->code;
    rc = moment_parse(columns[2], 0, &at, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < atoi(columns[3]); i++) {
        at = cron_next(&c, zone, at);
        printf("%s%s", i > 0 ? " " : "", moment_format(at, text));
    }
    return 0;
}

int main(void)
{
    struct zones zones = { .n = 0 };
    CLEANUP(cleanup_free) char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        char *columns[COLUMNS];
        struct err err = { 0 };
        if (split(line, columns) != COLUMNS) {
            fprintf(stderr, "next_times: expected %d columns\n", COLUMNS);
            return 2;
        }
        if (print_times(&zones, columns, &err) < 0)
            printf("refused: %s", err.text);
        putchar('\n');
    }
    for (int i = 0; i < zones.n; i++)
        zone_free(zones.known[i]);
    return 0;
}
