/* err.c - messages, cut where they are too long. */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Class 28: no valid authorization. 42501: insufficient privilege. */
bool err_is_denied(const struct err *err)
{
    if (err->code == ERR_DENIED)
        return true;
    bool is_state = strncmp(err->sqlstate, "28", 2) == 0 || strcmp(err->sqlstate, "42501") == 0;
    return err->code == ERR_LOST && (is_state || err->reason == ERR_REASON_DENIED);
}

/* A new failure has no reason and no SQLSTATE yet: those of an earlier one are not its own. Returns
 * `code`. */
static int begin_with(struct err *err, int code)
{
    err->code = code;
    err->sqlstate[0] = '\0';
    err->reason = ERR_REASON_NONE;
    return code;
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    return begin_with(err, code);
}

int err_wrap(struct err *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    char whole[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(whole, sizeof whole, fmt, ap);
    va_end(ap);
    size_t room = n >= 0 && (size_t)n < sizeof whole ? sizeof whole - (size_t)n : 0;
    if (room)
        snprintf(whole + n, room, ": %.*s", (int)room, err->text);
    memcpy(err->text, whole, sizeof whole);
    err->code = code;
    return code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
    int saved = errno;
    if (!err)
        return code;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", strerror(saved));
    return begin_with(err, code);
}

void err_one_line(struct err *err)
{
    if (!err)
        return;
    size_t n = strlen(err->text);
    while (n > 0 && (err->text[n - 1] == '\n' || err->text[n - 1] == ' '))
        err->text[--n] = '\0';
    for (char *p = err->text; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
}

void err_clear(struct err *err)
{
    if (!err)
        return;
    begin_with(err, ERR_OK);
    *err->text = '\0';
}
