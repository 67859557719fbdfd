/* zone.c - TZif files (RFC 8536): a table of changes, and behind it a rule for the years after the
 * last one, as POSIX writes them in TZ. Whatever the bytes, a reader never leaves them, and a file
 * that is not as the RFC has it is refused. */
#include "zone.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "calendar.h"
#include "cleanup.h"
#include "moment.h"
#include "nearest.h"
#include "saturate.h"
#include "utf8.h"

#define HOUR_S 3600
#define CHANGES_MAX 4000               /* of a table; the longest of tzdata has 236 */
#define OFFSET_MAX_S (26 * HOUR_S - 1) /* RFC 8536: more than -25 h, less than 26 h */
#define OFFSET_MIN_S (-(25 * HOUR_S - 1))
#define RULES_FROM INT64_C(-62135596800) /* the year 1: no rule is applied before it */
#define RULES_UNTIL (MOMENT_MAX + 1)     /* the year 10000: nor from then on */

/* A day of any year, and the local time on it. */
struct yearly {
    enum { BY_WEEKDAY, BY_DAY_NO_LEAP, BY_DAY } kind;
    int month, week, weekday; /* Mm.w.d */
    int day;                  /* Jn (1 to 365) and n (0 to 365) */
    int32_t time_s;
};

struct footer {
    bool is_there, changes;
    int32_t standard_s, summer_s; /* offsets from UTC */
    struct yearly summer_begins, summer_ends;
};

/* From `at` on, the offset from UTC. */
struct change {
    int64_t at;
    int32_t offset_s;
};

struct zone {
    char name[ZONE_NAME_MAX + 1];
    struct footer footer;
    int32_t first_s;        /* the offset before the first change */
    int n;                  /* changes in the table */
    struct change *changes; /* ascending */
};

void zone_free(struct zone *z)
{
    if (!z)
        return;
    free(z->changes);
    free(z);
}

void zone_freep(struct zone **z)
{
    zone_free(*z);
}

const char *zone_name(const struct zone *z)
{
    return z->name;
}

/* ---- the rule behind the table: <+1030>-10:30<+11>-11,M10.1.0,M4.1.0 ---- */

static bool take(const char **p, char c)
{
    if (**p != c)
        return false;
    ++*p;
    return true;
}

static bool take_int(const char **p, int least, int most, int *out)
{
    int n = 0, digits = 0;
    for (; isdigit((unsigned char)**p) && digits < 4; ++*p, digits++)
        n = 10 * n + (**p - '0');
    *out = n;
    return digits > 0 && n >= least && n <= most;
}

/* At least three letters, or in < > also digits and signs. */
static bool take_abbreviation(const char **p)
{
    bool quoted = take(p, '<');
    const char *begin = *p;
    while (isalpha((unsigned char)**p) || (quoted && (isdigit((unsigned char)**p) || strchr("+-", **p))))
        if (!*(*p)++)
            return false;
    return *p - begin >= 3 && (!quoted || take(p, '>'));
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(const char **p, int most_hours, int32_t *out)
{
    int hours, minutes = 0, seconds = 0;
    int sign = **p == '-' ? -1 : 1;
    *p += **p == '-' || **p == '+';
    if (!take_int(p, 0, most_hours, &hours))
        return false;
    if (take(p, ':') && !take_int(p, 0, 59, &minutes))
        return false;
    if (take(p, ':') && !take_int(p, 0, 59, &seconds))
        return false;
    *out = sign * (hours * HOUR_S + minutes * 60 + seconds);
    return true;
}

/* POSIX counts towards the west, TZif and all else here towards the east. */
static bool take_offset(const char **p, int32_t *out)
{
    if (!take_time(p, 24, out))
        return false;
    *out = -*out;
    return true;
}

static bool take_day(const char **p, struct yearly *out)
{
    if (take(p, 'M')) {
        out->kind = BY_WEEKDAY;
        return take_int(p, 1, 12, &out->month) && take(p, '.') && take_int(p, 1, 5, &out->week) &&
               take(p, '.') && take_int(p, 0, 6, &out->weekday);
    }
    out->kind = take(p, 'J') ? BY_DAY_NO_LEAP : BY_DAY;
    return take_int(p, out->kind == BY_DAY_NO_LEAP, 365, &out->day);
}

/* ",DAY[/TIME]"; the time is up to a week before or behind that day (version 3 of TZif). */
static bool take_yearly(const char **p, struct yearly *out)
{
    *out = (struct yearly){ .time_s = 2 * HOUR_S };
    if (!take(p, ',') || !take_day(p, out))
        return false;
    return !take(p, '/') || take_time(p, 167, &out->time_s);
}

static bool read_footer(const char *p, struct footer *out)
{
    *out = (struct footer){ .is_there = *p != '\0' };
    if (!out->is_there)
        return true;
    if (!take_abbreviation(&p) || !take_offset(&p, &out->standard_s))
        return false;
    if (!*p)
        return true;
    out->changes = true;
    out->summer_s = out->standard_s + HOUR_S;
    if (!take_abbreviation(&p))
        return false;
    if (*p != ',' && !take_offset(&p, &out->summer_s))
        return false;
    return take_yearly(&p, &out->summer_begins) && take_yearly(&p, &out->summer_ends) && !*p;
}

/* ---- the file ---- */

struct bytes {
    const unsigned char *p;
    size_t left;
};

static const unsigned char *take_bytes(struct bytes *b, size_t n)
{
    const unsigned char *begin = b->p;
    if (b->left < n)
        return NULL;
    b->p += n;
    b->left -= n;
    return begin;
}

static uint64_t big_endian(const unsigned char *p, int bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | p[i];
    return n;
}

struct header {
    int version;
    uint32_t isuts, isstds, leaps, times, types, chars;
};

static const char *take_header(struct bytes *b, struct header *h)
{
    const unsigned char *p = take_bytes(b, 44);
    if (!p || memcmp(p, "TZif", 4) != 0)
        return "it does not begin with the 44 bytes of a TZif header";
    uint32_t *const counts[] = { &h->isuts, &h->isstds, &h->leaps, &h->times, &h->types, &h->chars };
    h->version = p[4];
    for (int i = 0; i < 6; i++)
        *counts[i] = (uint32_t)big_endian(p + 20 + (ptrdiff_t)4 * i, 4);
    if (h->version < '2' || h->version > '9')
        return "it is of version 1, which ends in 2037; expected version 2 or later";
    if (h->times > CHANGES_MAX || h->types > 256 || h->chars > ZONE_FILE_MAX || h->leaps > ZONE_FILE_MAX)
        return "it has more changes or kinds of time than any zone";
    if (h->isuts > h->types || h->isstds > h->types)
        return "it has more marks than kinds of time";
    return NULL;
}

/* The part of version 1, which every file begins with. */
static const char *skip_first_part(struct bytes *b)
{
    struct header h;
    const char *wrong = take_header(b, &h);
    if (wrong)
        return wrong;
    size_t size = (size_t)h.times * 5 + (size_t)h.types * 6 + h.chars + (size_t)h.leaps * 8 + h.isstds +
                  h.isuts;
    return take_bytes(b, size) ? NULL : "it ends inside its first part";
}

/* Offsets of the kinds of time. */
static const char *read_types(const unsigned char *p, uint32_t n, int32_t offsets[256])
{
    for (uint32_t i = 0; i < n; i++, p += 6) {
        offsets[i] = (int32_t)big_endian(p, 4);
        if (offsets[i] < OFFSET_MIN_S || offsets[i] > OFFSET_MAX_S)
            return "a kind of time is a day or more off UTC";
    }
    return n ? NULL : "it has no kind of time";
}

static const char *fill_table(struct zone *z, const unsigned char *times, const unsigned char *kinds,
                              const int32_t *offsets, uint32_t types)
{
    z->first_s = offsets[0];
    for (int i = 0; i < z->n; i++) {
        int64_t at = (int64_t)big_endian(times + (ptrdiff_t)8 * i, 8);
        if (i > 0 && at <= z->changes[i - 1].at)
            return "its changes are not in the order of time";
        if (kinds[i] >= types)
            return "a change leads to a kind of time that is not there";
        z->changes[i] = (struct change){ at, offsets[kinds[i]] };
    }
    return NULL;
}

static const char *take_footer(struct bytes *b, struct footer *out)
{
    char text[256];
    const unsigned char *begin = take_bytes(b, 1);
    const unsigned char *end = begin ? memchr(b->p, '\n', b->left) : NULL;
    if (!begin || *begin != '\n' || !end || end - b->p >= (ptrdiff_t)sizeof text)
        return "it has no line at its end with the rule for later years";
    size_t len = (size_t)(end - b->p);
    memcpy(text, b->p, len);
    text[len] = '\0';
    if (strlen(text) != len || !read_footer(text, out))
        return "the rule for later years, at its end, cannot be read";
    return NULL;
}

static const char out_of_memory[] = "out of memory";

/* The part with 64-bit times. */
static const char *read_second_part(struct bytes *b, struct zone *z)
{
    struct header h;
    int32_t offsets[256];
    const char *wrong = take_header(b, &h);
    if (wrong)
        return wrong;
    if (h.leaps)
        return "it counts leap seconds; expected a zone without them, not one of right/";
    const unsigned char *times = take_bytes(b, (size_t)h.times * 8);
    const unsigned char *kinds = take_bytes(b, h.times);
    const unsigned char *types = take_bytes(b, (size_t)h.types * 6);
    if (!times || !kinds || !types || !take_bytes(b, (size_t)h.chars + h.isstds + h.isuts))
        return "it ends inside its second part";
    wrong = read_types(types, h.types, offsets);
    if (wrong)
        return wrong;
    z->n = (int)h.times;
    z->changes = calloc(h.times + 1, sizeof *z->changes);
    if (!z->changes)
        return out_of_memory;
    wrong = fill_table(z, times, kinds, offsets, h.types);
    return wrong ? wrong : take_footer(b, &z->footer);
}

int zone_parse(const char *name, const void *bytes, size_t size, struct zone **out, struct err *err)
{
    struct bytes b = { bytes, size };
    CLEANUP(zone_freep) struct zone *z = calloc(1, sizeof *z);
    if (!z)
        return err_set(err, ERR_NOMEM, "zone %s: out of memory", name);
    snprintf(z->name, sizeof z->name, "%s", name);
    const char *wrong = skip_first_part(&b);
    if (!wrong)
        wrong = read_second_part(&b, z);
    if (wrong)
        return err_set(err, wrong == out_of_memory ? ERR_NOMEM : ERR_INPUT,
                       "zone %.*s: the file cannot be used: %s", UTF8_SHOWN(name), wrong);
    *out = z;
    z = NULL;
    return 0;
}

/* ---- names and files ---- */

/* What is no zone of its own, `len` bytes of a name: copies of all zones, which not every machine
 * has, some with leap seconds; and localtime, the machine's own zone, from which two machines would
 * compute different times. */
static bool is_other_part(const char *part, size_t len)
{
    static const char *const others[] = { "right", "posix", "localtime", "posixrules", "Factory" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == len && !memcmp(part, others[i], len))
            return true;
    return false;
}

int zone_check_name(const char *name, struct err *err)
{
    size_t len = strlen(name);
    size_t good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/");
    bool slashes = *name == '/' || strstr(name, "//") || (len && name[len - 1] == '/');
    if (len < 1 || len > ZONE_NAME_MAX || good < len || slashes)
        return err_set(
            err, ERR_INPUT,
            "zone \"%.*s\": expected the name of a time zone, such as Europe/Amsterdam or UTC: at most "
            "%d letters, digits, _, + and -, with / between them",
            UTF8_SHOWN(name), ZONE_NAME_MAX);
    for (const char *part = name; *part; part += strspn(part, "/")) {
        size_t part_len = strcspn(part, "/");
        if (is_other_part(part, part_len))
            return err_set(err, ERR_INPUT,
                           "zone %s: that is no zone of its own; expected a name such as Europe/Amsterdam "
                           "or UTC",
                           name);
        part += part_len;
    }
    return 0;
}

/* In the folder of zones; names of zones have no dots. */
static bool is_other_file(const char *entry)
{
    return is_other_part(entry, strlen(entry)) || strchr(entry, '.') != NULL;
}

/* One look for the name that was probably meant; `best` is as tzdata spells it. */
struct look {
    char wanted[ZONE_NAME_MAX + 1], best[ZONE_NAME_MAX + 1];
    int distance;
};

static void lower(char *text)
{
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

/* Compares without case, and a name without a region with the last part of known ones. */
static void look_at(struct look *look, const char *known)
{
    char lowered[ZONE_NAME_MAX + 1];
    snprintf(lowered, sizeof lowered, "%s", known);
    lower(lowered);
    const char *city = strrchr(lowered, '/');
    bool whole = !city || strchr(look->wanted, '/');
    struct nearest n = { .wanted = look->wanted };
    nearest_look(&n, whole ? lowered : city + 1);
    if (nearest_word(&n) && (!*look->best || n.distance < look->distance)) {
        snprintf(look->best, sizeof look->best, "%s", known);
        look->distance = n.distance;
    }
}

/* All names below a folder; tzdata has two or three levels. */
static void look_below(struct look *look, const char *folder, const char *prefix, int levels)
{
    char path[4096], name[ZONE_NAME_MAX + 1];
    snprintf(path, sizeof path, "%s/%s", folder, prefix);
    DIR *dir = levels > 0 ? opendir(path) : NULL;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        int n = snprintf(name, sizeof name, "%s%s", prefix, entry->d_name);
        if (is_other_file(entry->d_name) || n >= (int)sizeof name)
            continue;
        if (entry->d_type != DT_DIR) {
            look_at(look, name);
        } else if (n + 1 < (int)sizeof name) {
            memcpy(name + n, "/", 2);
            look_below(look, folder, name, levels - 1);
        }
    }
    if (dir)
        closedir(dir);
}

static int unknown(const char *folder, const char *name, struct err *err)
{
    struct look look = { 0 };
    struct stat st;
    if (stat(folder, &st))
        return err_set(err, ERR_NOTFOUND,
                       "zone %s: there is no %s on this machine; install the package tzdata", name, folder);
    snprintf(look.wanted, sizeof look.wanted, "%s", name);
    lower(look.wanted);
    look_below(&look, folder, "", 4);
    if (*look.best)
        return err_set(err, ERR_INPUT, "zone %s: there is no such time zone in %s; did you mean %s?", name,
                       folder, look.best);
    return err_set(
        err, ERR_INPUT,
        "zone %s: there is no such time zone in %s; expected a name such as Europe/Amsterdam or UTC", name,
        folder);
}

static int read_bytes(int fd, const char *path, char *bytes, size_t *size, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return err_sys(err, ERR_INPUT, "zone: %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "zone: %s is no file; expected a time zone such as Europe/Amsterdam",
                       path);
    for (ssize_t n = 1; n > 0; *size += (size_t)n) {
        if (*size > ZONE_FILE_MAX)
            return err_set(err, ERR_INPUT, "zone: %s has more than %d bytes; expected a TZif file", path,
                           ZONE_FILE_MAX);
        n = read(fd, bytes + *size, ZONE_FILE_MAX + 1 - *size);
        if (n < 0)
            return err_sys(err, ERR_INPUT, "zone: %s", path);
    }
    return 0;
}

int zone_read_file(const char *path, const char *name, struct zone **out, struct err *err)
{
    char bytes[ZONE_FILE_MAX + 1];
    size_t size = 0;
    /* without a wait at what is no file */
    CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOTFOUND : ERR_INPUT, "zone: %s", path);
    int rc = read_bytes(fd, path, bytes, &size, err);
    if (rc < 0)
        return rc;
    return zone_parse(name, bytes, size, out, err);
}

int zone_read_from(const char *folder, const char *name, struct zone **out, struct err *err)
{
    char path[4096];
    int rc = zone_check_name(name, err);
    if (rc < 0)
        return rc;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    rc = zone_read_file(path, name, out, err);
    return rc == ERR_NOTFOUND ? unknown(folder, name, err) : rc;
}

struct zone_stamp zone_stamp(const char *folder, const char *name)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!strcmp(name, "UTC") || zone_check_name(name, NULL) < 0 || stat(path, &st) < 0)
        return (struct zone_stamp){ 0 };
    return (struct zone_stamp){ st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec, st.st_size,
                                st.st_ino };
}

static int zone_utc(struct zone **out, struct err *err)
{
    struct zone *z = calloc(1, sizeof *z);
    if (!z)
        return err_set(err, ERR_NOMEM, "zone UTC: out of memory");
    snprintf(z->name, sizeof z->name, "UTC");
    *out = z;
    return 0;
}

int zone_read(const char *name, struct zone **out, struct err *err)
{
    if (!strcmp(name, "UTC"))
        return zone_utc(out, err);
    return zone_read_from(ZONE_FOLDER, name, out, err);
}

/* ---- spans ---- */

static int64_t day_of_weekday(const struct yearly *y, int64_t year)
{
    int64_t first = calendar_days((struct calendar_date){ year, y->month, 1 });
    int day = (y->weekday - calendar_weekday(first) + 7) % 7 + 7 * (y->week - 1);
    while (day >= calendar_days_in_month(year, y->month)) /* the fifth is the last */
        day -= 7;
    return first + day;
}

/* The day of that year, from 1970. */
static int64_t yearly_day(const struct yearly *y, int64_t year)
{
    int64_t first = calendar_days((struct calendar_date){ year, 1, 1 });
    if (y->kind == BY_WEEKDAY)
        return day_of_weekday(y, year);
    if (y->kind == BY_DAY)
        return first + y->day;
    bool behind_leap_day = calendar_is_leap(year) && y->day >= 60;
    return first + y->day - 1 + behind_leap_day;
}

static struct change yearly_change(const struct footer *f, bool to_summer, int64_t year)
{
    const struct yearly *y = to_summer ? &f->summer_begins : &f->summer_ends;
    int32_t before = to_summer ? f->standard_s : f->summer_s;
    int64_t local = yearly_day(y, year) * CALENDAR_DAY_S + y->time_s;
    return (struct change){ local - before, to_summer ? f->summer_s : f->standard_s };
}

enum { YEARS = 5 }; /* a change may be a week outside of its year, so the ones around count, too */

/* The changes of the years around `year`, in order. Of two at one moment the later rule holds. */
static void changes_around(const struct footer *f, int64_t year, struct change out[2 * YEARS])
{
    int n = 0;
    for (int64_t y = year - 2; y <= year + 2; y++)
        for (int to_summer = 1; to_summer >= 0; to_summer--) {
            struct change c = yearly_change(f, to_summer, y);
            int i = n++;
            for (; i > 0 && out[i - 1].at > c.at; i--)
                out[i] = out[i - 1];
            out[i] = c;
        }
}

static struct zone_span rule_span(const struct footer *f, int64_t at)
{
    struct zone_span span = { INT64_MIN, INT64_MAX, f->standard_s };
    struct change changes[2 * YEARS] = { { 0, 0 } };
    if (!f->changes)
        return span;
    int64_t clamped = at < RULES_FROM ? RULES_FROM : at;
    clamped = clamped >= RULES_UNTIL ? RULES_UNTIL - 1 : clamped;
    changes_around(f, calendar_date_of(calendar_day_of(clamped)).year, changes);
    for (int i = 0; i < 2 * YEARS && changes[i].at <= clamped; i++)
        span = (struct zone_span){ changes[i].at, INT64_MAX, changes[i].offset_s };
    for (int i = 2 * YEARS - 1; i >= 0 && changes[i].at > clamped; i--)
        span.ends = changes[i].at;
    if (span.begins <= RULES_FROM)
        span.begins = INT64_MIN;
    if (span.ends >= RULES_UNTIL)
        span.ends = INT64_MAX;
    return span;
}

/* How many changes of the table have happened at `at`. */
static int changes_until(const struct zone *z, int64_t at)
{
    int low = 0, high = z->n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (z->changes[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct zone_span zone_span(const struct zone *z, int64_t at)
{
    int i = changes_until(z, at);
    struct zone_span span = { .begins = INT64_MIN, .ends = INT64_MAX, .offset_s = z->first_s };
    if (i > 0) {
        span.begins = z->changes[i - 1].at;
        span.offset_s = z->changes[i - 1].offset_s;
    }
    if (i < z->n)
        span.ends = z->changes[i].at;
    if (i < z->n || !z->footer.is_there)
        return span;
    struct zone_span rule = rule_span(&z->footer, at);
    rule.begins = rule.begins > span.begins ? rule.begins : span.begins;
    return rule;
}

int64_t zone_moment(const struct zone *z, int64_t local)
{
    /* no clock is two days ahead or behind */
    struct zone_span span = zone_span(z, local - 2 * CALENDAR_DAY_S);
    while (span.ends < INT64_MAX && local - span.offset_s >= span.ends)
        span = zone_span(z, span.ends);
    int64_t at = local - span.offset_s;
    return at < span.begins ? span.begins : at;
}
