/* args.c - looks up options and operands of a command line that was read. */
#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/moment.h"
#include "command.h"

static const struct args_option *args_find(const struct args *args, char letter)
{
    for (int i = args->noptions - 1; i >= 0; i--)
        if (args->options[i].option->letter == letter)
            return &args->options[i];
    return NULL;
}

bool args_has(const struct args *args, char letter)
{
    return args_find(args, letter) != NULL;
}

const char *args_text(const struct args *args, char letter)
{
    const struct args_option *given = args_find(args, letter);
    return given ? given->value : NULL;
}

const char *args_name(const struct args *args, char letter)
{
    const struct args_option *given = args_find(args, letter);
    return given ? given->option->name : NULL;
}

int args_number(const struct args *args, char letter, int64_t least, int64_t most, int64_t *out,
                struct err *err)
{
    const struct args_option *given = args_find(args, letter);
    char what[64];
    if (!given)
        return 0;
    snprintf(what, sizeof what, "--%s", given->option->name);
    return args_read_number(what, given->value, least, most, out, err);
}

char args_last(const struct args *args, const char *letters)
{
    for (int i = args->noptions - 1; i >= 0; i--)
        if (strchr(letters, args->options[i].option->letter))
            return args->options[i].option->letter;
    return '\0';
}

const struct command_option *args_beyond(const struct args *args, const char *letters)
{
    for (int i = 0; i < args->noptions; i++)
        if (!strchr(letters, args->options[i].option->letter))
            return args->options[i].option;
    return NULL;
}

const char *args_operand(const struct args *args, int i)
{
    return i < args->noperands ? args->operands[i] : NULL;
}

int args_read_number(const char *what, const char *text, int64_t least, int64_t most, int64_t *out,
                     struct err *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most)
        return err_set(err, ERR_INPUT, "%s: found '%s', expected a number from %" PRId64 " to %" PRId64, what,
                       text, least, most);
    *out = number;
    return 0;
}

int args_duration(const struct args *args, char letter, int64_t least_us, int64_t most_us, int64_t *out,
                  struct err *err)
{
    char least[MOMENT_TEXT], most[MOMENT_TEXT];
    const char *text = args_text(args, letter);
    if (!text)
        return 0;
    if (duration_parse_us(text, out, err) < 0)
        return err_wrap(err, err->code, "--%s", args_name(args, letter));
    if (*out >= least_us && *out <= most_us)
        return 0;
    return err_set(err, ERR_INPUT, "--%s: found '%.40s', expected %s to %s", args_name(args, letter), text,
                   duration_format_us(least_us, least), duration_format_us(most_us, most));
}
