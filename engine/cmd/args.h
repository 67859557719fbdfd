/* args.h - what the command line gave to one command: read once, before the command runs. */
#ifndef PRESCIENT_ARGS_H
#define PRESCIENT_ARGS_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"

struct command_option;

struct args_option { const struct command_option *option; const char *value; };

struct args {
    struct args_option *options;    /* in the order of the command line */
    int noptions;
    char **operands;                /* what is no option: ENTITY, KEY, ...; as many as the command takes */
    int noperands;
};

/* Whether the option with that letter was given. */
bool args_has(const struct args *args, char letter);

/* The value of an option, the last one when it was given more than once; NULL when it was not. */
const char *args_text(const struct args *args, char letter);

/* The name of an option that was given, without "--"; NULL when it was not. */
const char *args_name(const struct args *args, char letter);

/* The value as a number from `least` to `most`. *out stays what it was when the option was not
 * given. Returns 0, or ERR_INPUT naming the option. */
int args_number(const struct args *args, char letter, int64_t least, int64_t most, int64_t *out,
                struct err *err);

/* The same for a duration, in microseconds. */
int args_duration(const struct args *args, char letter, int64_t least_us, int64_t most_us, int64_t *out,
                  struct err *err);

/* Which of these options was given last; 0 when none of them was. */
char args_last(const struct args *args, const char *letters);

/* The first option that was given and is none of these; NULL: there is none. */
const struct command_option *args_beyond(const struct args *args, const char *letters);

/* The operand number `i`, from 0; NULL when there are not so many. */
const char *args_operand(const struct args *args, int i);

/* A number from `least` to `most` in `text`, which was given to the option or column `what`. */
int args_read_number(const char *what, const char *text, int64_t least, int64_t most, int64_t *out,
                     struct err *err);

#endif
