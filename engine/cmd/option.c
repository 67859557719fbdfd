/* option.c - reading a command line. Long options only, anywhere among the arguments; "--" ends
 * them. An argument that looks like a negative number or time ("-15m") is no option. */
#include "option.h"

#include <ctype.h>
#include <string.h>
#include "../base/nearest.h"

const struct command_option option_globals[] = {
    { "config", 'c', "FILE", "settings file (else ./prescient.cfg, else /etc/prescient/prescient.cfg)" },
    { "store", 's', "URL", "where checks are kept: sqlite:FILE or postgresql://..." },
    { "set", 'S', "NAME=VALUE", "any setting, over file and environment; may be repeated" },
    { "now", 'n', "TIME", "the time that counts instead of the database's clock" },
    { "json", 'j', NULL, "print JSON" },
    { "quiet", 'q', NULL, "no progress, no remarks" },
    { "log-level", 'l', "LEVEL", "debug, info, warn or error" },
    { "help", 'h', NULL, "say what the command does" },
    { "version", 'V', NULL, "say which version this is" },
    { 0 }
};

bool option_is(const char *word)
{
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

const struct command_option *option_find(const struct command_option *options, const char *word)
{
    if (!options || strncmp(word, "--", 2) != 0)
        return NULL;
    size_t len = strcspn(word + 2, "=");
    for (; options->name; options++)
        if (strlen(options->name) == len && !strncmp(options->name, word + 2, len))
            return options;
    return NULL;
}

int option_value(const struct command_option *option, int argc, char **argv, int *i, const char **value,
                 struct err *err)
{
    const char *inlined = strchr(argv[*i], '=');
    *value = NULL;
    if (!option->arg)
        return inlined
                   ? err_set(err, ERR_INPUT, "--%s takes no value (found '%s')", option->name, inlined + 1)
                   : 0;
    if (inlined)
        *value = inlined + 1;
    else if (*i + 1 < argc)
        *value = argv[++*i];
    else
        return err_set(err, ERR_INPUT, "--%s needs a value: --%s %s", option->name, option->name,
                       option->arg);
    return 0;
}

/* ---- the options of one command -------------------------------------------------------------- */

/* Moves options with their values in front of the arguments, both in their order, so that they may
 * be mixed. */
static void options_to_front(const struct command *command, struct arena *a, int argc, char **argv)
{
    char **args = arena_alloc(a, sizeof *args * (size_t)(argc + 1));
    int nargs = 0, n = 0;
    for (int i = 0; args && i < argc; i++) {
        if (!strcmp(argv[i], "--")) {
            char *end = argv[i++];
            while (i < argc)
                args[nargs++] = argv[i++];
            argv[n++] = end;
        } else if (!option_is(argv[i])) {
            args[nargs++] = argv[i];
        } else {
            const struct command_option *o = option_find(command->options, argv[i]);
            bool takes_next = o && o->arg && !strchr(argv[i], '=') && i + 1 < argc;
            argv[n++] = argv[i];
            if (takes_next)
                argv[n++] = argv[++i];
        }
    }
    if (args)
        memcpy(argv + n, args, sizeof *args * (size_t)nargs);
}

static int option_unknown(struct app *app, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    struct nearest near = { .wanted = name + strspn(name, "-") };
    for (const struct command_option *o = app->command->options; o && o->name; o++)
        nearest_look(&near, o->name);
    for (const struct command_option *o = option_globals; o->name; o++)
        nearest_look(&near, o->name);
    struct err err;
    const char *meant = nearest_word(&near);
    if (meant)
        err_set(&err, ERR_INPUT, "unknown option %s; did you mean --%s?", name, meant);
    else
        err_set(&err, ERR_INPUT, "unknown option %s; 'prescient %s --help' lists them", name,
                app->command->name);
    app_fail(app, &err);
    return -1;
}

int app_option(struct app *app, int argc, char **argv, int *at, const char **value, int *first)
{
    if (*at == 0)
        options_to_front(app->command, app->arena, argc, argv);
    if (*at < argc && !strcmp(argv[*at], "--")) {
        *first = ++*at;
        return 0;
    }
    if (*at >= argc || !option_is(argv[*at])) {
        *first = *at;
        return 0;
    }
    const struct command_option *o = option_find(app->command->options, argv[*at]);
    if (!o)
        return option_unknown(app, argv[*at]);
    struct err err;
    if (option_value(o, argc, argv, at, value, &err) < 0) {
        app_fail(app, &err);
        return -1;
    }
    ++*at;
    return (unsigned char)o->letter;
}
