/* response.c - reads the headers Retry-After, RateLimit and (X-)RateLimit-*, and judges. What
 * cannot be read counts as not there. */
#include "response.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define EPOCH_FROM INT64_C(1000000000)          /* a reset from here on is a moment, ... */
#define EPOCH_MS_FROM INT64_C(1000000000000)    /* ... and from here on one in milliseconds */

/* ---- the head ---- */

/* Copies a value without the blanks around it; what does not fit is no value. */
static void keep(char *to, size_t size, const char *value, size_t len)
{
    while (len && strchr(" \t", *value))
        value++, len--;
    while (len && strchr(" \t\r\n", value[len - 1]))
        len--;
    if (!len || len >= size)
        return;
    memcpy(to, value, len);
    to[len] = '\0';
}

/* Several headers of one name are one list. */
static void keep_more(char *to, size_t size, const char *value, size_t len)
{
    size_t used = strlen(to);
    if (!used) {
        keep(to, size, value, len);
    } else if (used + 2 < size) {
        to[used] = ',';
        to[used + 1] = '\0';
        keep(to + used + 1, size - used - 1, value, len);
    }
}

static bool is_name(const char *line, size_t len, const char *name)
{
    return len == strlen(name) && !strncasecmp(line, name, len);
}

static void take_header(struct response *r, const char *name, size_t name_len, const char *value, size_t len)
{
    if (is_name(name, name_len, "x-ratelimit-remaining") || is_name(name, name_len, "ratelimit-remaining"))
        keep(r->remaining, sizeof r->remaining, value, len);
    else if (is_name(name, name_len, "x-ratelimit-reset") || is_name(name, name_len, "ratelimit-reset"))
        keep(r->reset, sizeof r->reset, value, len);
    else if (is_name(name, name_len, "ratelimit"))
        keep_more(r->policies, sizeof r->policies, value, len);
    else if (is_name(name, name_len, "retry-after"))
        keep(r->retry_after, sizeof r->retry_after, value, len);
}

static bool is_empty(const char *line, size_t len)
{
    return len == 0 || *line == '\n' || (*line == '\r' && len <= 2);
}

void response_line(struct response *r, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    if (len > 5 && !strncmp(line, "HTTP/", 5)) {
        const char *blank = memchr(line, ' ', len);
        *r = (struct response){ .status = 0 };
        for (int i = 1; blank && i <= 3 && blank + i < line + len; i++)
            r->status = r->status * 10 + (blank[i] - '0');
    } else if (is_empty(line, len)) {
        r->has_come = r->status >= 200;
    } else if (colon) {
        take_header(r, line, (size_t)(colon - line), colon + 1, len - (size_t)(colon + 1 - line));
    }
}

/* ---- times ---- */

/* A number of seconds, rounded up; -1: it is none. */
static int64_t read_number(const char *text, char **end)
{
    *end = (char *)text;
    if (*text < '0' || *text > '9')
        return -1;
    int64_t n = 0;
    for (; **end >= '0' && **end <= '9'; ++*end)
        if (n < INT64_MAX / 100)
            n = n * 10 + (**end - '0');
    if (**end != '.')
        return n;
    size_t decimals = strspn(*end + 1, "0123456789");
    bool is_more = strspn(*end + 1, "0") < decimals;
    *end += 1 + decimals;
    return n + is_more;
}

static int64_t whole_number(const char *text)
{
    char *end;
    int64_t n = read_number(text, &end);
    return *end ? -1 : n;
}

/* The three forms of HTTP; -1: it is no date. */
static int64_t read_date(const char *text)
{
    static const char *const forms[] = { "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
                                         "%a %b %e %H:%M:%S %Y" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = { .tm_mday = 1 };
        const char *end = strptime(text, forms[i], &tm);
        if (end && !*end)
            return timegm(&tm);
    }
    return -1;
}

/* Seconds to wait, from 1 to the most; a moment that is over is no reason to wait longer. */
static int64_t bounded(int64_t wait_s)
{
    if (wait_s < 1)
        return 1;
    return wait_s < RESPONSE_WAIT_MAX_S ? wait_s : RESPONSE_WAIT_MAX_S;
}

static int64_t wait_of_retry_after(const struct response *r, int64_t now)
{
    int64_t seconds = whole_number(r->retry_after), date = read_date(r->retry_after);
    if (seconds >= 0)
        return bounded(seconds);
    return date >= 0 ? bounded(date - now) : -1;
}

static int64_t wait_of_reset(const struct response *r, int64_t now)
{
    int64_t reset = whole_number(r->reset);
    if (reset >= EPOCH_MS_FROM)
        return bounded((reset + 999) / 1000 - now);
    if (reset >= EPOCH_FROM)
        return bounded(reset - now);
    return reset >= 0 ? bounded(reset) : -1;
}

/* A parameter such as "t=30" of one member of the list, which ends at `end`; -1: none. */
static int64_t parameter(const char *member, const char *end, char name)
{
    char *after;
    for (const char *p = member; (p = memchr(p, ';', (size_t)(end - p))); ) {
        p++;
        p += strspn(p, " ");
        if (p + 2 < end && p[0] == name && p[1] == '=')
            return read_number(p + 2, &after);
    }
    return -1;
}

/* RateLimit: "burst";r=0;t=5, "day";r=100;t=3600. The time of those that are used up counts, and
 * when none is, of all. */
static int64_t wait_of_policies(const struct response *r, bool *is_used_up)
{
    int64_t used_up = -1, any = -1;
    *is_used_up = false;
    for (const char *p = r->policies, *end; *p; p = end + (*end == ',')) {
        end = strchrnul(p, ',');
        int64_t left = parameter(p, end, 'r'), t = parameter(p, end, 't');
        *is_used_up = *is_used_up || left == 0;
        if (left == 0 && t > used_up)
            used_up = t;
        if (t > any)
            any = t;
    }
    int64_t wait_s = *is_used_up ? used_up : any;
    return wait_s >= 0 ? bounded(wait_s) : -1;
}

/* ---- judging ---- */

static bool is_final(int status, const int *final, int nfinal)
{
    for (int i = 0; i < nfinal; i++)
        if (final[i] == status)
            return true;
    return status == 410;
}

struct verdict response_judge(const struct response *r, const int *final, int nfinal, int64_t now)
{
    if (r->status >= 200 && r->status < 300)
        return (struct verdict){ VERDICT_DONE, 0 };
    if (is_final(r->status, final, nfinal))
        return (struct verdict){ VERDICT_FINAL, 0 };
    bool is_used_up;
    int64_t wait_s = wait_of_retry_after(r, now), policies_s = wait_of_policies(r, &is_used_up);
    is_used_up = is_used_up || whole_number(r->remaining) == 0;
    if (wait_s < 0)
        wait_s = policies_s;
    if (wait_s < 0)
        wait_s = wait_of_reset(r, now);
    if (wait_s < 0 && r->status == 429)
        wait_s = RESPONSE_WAIT_S;
    bool may_wait = r->status == 429 || r->status == 503 || (r->status == 403 && is_used_up);
    if (may_wait && wait_s > 0)
        return (struct verdict){ VERDICT_WAIT, wait_s };
    return (struct verdict){ VERDICT_FAIL, 0 };
}
