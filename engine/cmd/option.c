/* option.c - which word of a command line is an option, which option it names, and its value. A few
 * have a letter, too, which is a word of its own: none are put together, and no value is glued to
 * one. A word that looks like a negative number or time ("-15m") is no option. */
#include "option.h"

#include <ctype.h>
#include <string.h>
#include "../base/nearest.h"
#include "../base/utf8.h"

const struct command_option option_globals[] = {
    { "config", 'c', "FILE", "settings file (default: ./prescient.cfg, then /etc/prescient/prescient.cfg)" },
    { "store", 's', "URL", "where checks are kept: sqlite:FILE or postgresql://..." },
    { "set", 'S', "NAME=VALUE", "any setting, over file and environment; may be repeated" },
    { "now", 'n', "TIME", "the time to use instead of the database's clock" },
    { "zone", 'z', "ZONE", "the time zone of times that name none, typed and shown, such as Europe/Berlin" },
    { "local", 'L', NULL, "the same with the zone of TZ, or of this machine" },
    { "json", 'j', NULL, "print JSON" },
    { "quiet", 'q', NULL, "no progress bar, no remarks" },
    { "log-level", 'l', "LEVEL", "debug, info, warn or error" },
    { "help", 'h', NULL, "describe the command" },
    { "version", 'V', NULL, "print the version" },
    { 0 }
};

static const struct option_words global_words[] = { { "log-level", log_levels }, { 0 } };

const char *const *option_words(const struct command *command, const struct command_option *option)
{
    const struct option_words *tables[] = { command ? command->words : NULL, global_words };
    for (int i = 0; i < 2; i++)
        for (const struct option_words *row = tables[i]; row && row->option; row++)
            if (!strcmp(row->option, option->name))
                return row->words;
    return NULL;
}

/* What is typed most often. A letter means one thing, so it is known by the option's name. */
static const struct { const char *name; char letter; } shorts[] = {
    { "config", 'c' }, { "follow", 'f' }, { "help", 'h' },  { "json", 'j' },  { "limit", 'l' },
    { "quiet", 'q' },  { "store", 's' },  { "version", 'V' }, { "wide", 'w' },
};
enum { SHORTS = sizeof shorts / sizeof *shorts };

char option_short(const struct command_option *option)
{
    for (int i = 0; i < SHORTS; i++)
        if (!strcmp(shorts[i].name, option->name))
            return shorts[i].letter;
    return '\0';
}

bool option_is(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

const struct command_option *option_find(const struct command_option *options, const char *word)
{
    bool is_long = !strncmp(word, "--", 2), is_letter = *word == '-' && word[1] && !word[2];
    size_t len = is_long ? strcspn(word + 2, "=") : 0;
    for (; options && options->name; options++) {
        if (is_long && strlen(options->name) == len && !strncmp(options->name, word + 2, len))
            return options;
        if (!is_long && is_letter && option_short(options) == word[1])
            return options;
    }
    return NULL;
}

/* "keep, earlier or replace" */
static void put_words(const char *const *words, char *out, size_t size)
{
    size_t n = 0;
    for (int i = 0; words[i] && n < size; i++) {
        const char *before = words[i + 1] ? ", " : " or ";
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? before : "", words[i]);
    }
}

int option_check(const struct command *command, const struct command_option *option, const char *value,
                 struct err *err)
{
    char all[512];
    const char *const *words = option_words(command, option);
    if (!words || !value)
        return 0;
    for (const char *const *word = words; *word; word++)
        if (!strcmp(*word, value))
            return 0;
    put_words(words, all, sizeof all);
    return err_set(err, ERR_INPUT, "--%s: found '%.*s', expected %s", option->name, UTF8_SHOWN(value), all);
}

int option_value(const struct command_option *option, int argc, char **argv, int *i, const char **value,
                 struct err *err)
{
    const char *inlined = strchr(argv[*i], '=');
    *value = NULL;
    if (!option->arg && inlined)
        return err_set(err, ERR_INPUT, "--%s takes no value (found '%s')", option->name, inlined + 1);
    if (!option->arg)
        return 0;
    if (inlined) {
        *value = inlined + 1;
        return 0;
    }
    if (*i + 1 == argc)
        return err_set(err, ERR_INPUT, "--%s needs a value: --%s %s", option->name, option->name,
                       option->arg);
    *value = argv[++*i];
    return 0;
}

int option_unknown(const struct command *command, const char *word, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    struct nearest near = { .wanted = name + strspn(name, "-") };
    const struct command_option *own = command ? command->options : NULL;
    for (; own && own->name; own++)
        nearest_look(&near, own->name);
    for (const struct command_option *o = option_globals; o->name; o++)
        nearest_look(&near, o->name);
    const char *meant = nearest_word(&near);
    if (meant)
        return err_set(err, ERR_INPUT, "unknown option %s; did you mean --%s?", name, meant);
    if (!command)
        return err_set(err, ERR_INPUT, "unknown option %s before the command; 'prescient --help' lists them",
                       name);
    return err_set(err, ERR_INPUT, "unknown option %s; 'prescient %s --help' lists them", name,
                   command->name);
}
