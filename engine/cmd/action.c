/* action.c - see action.h. */
#include "action.h"

#include <string.h>
#include "app.h"

const struct action *action_find(const struct action *actions, const char *word)
{
    while (actions->word && strcmp(actions->word, word) != 0)
        actions++;
    return actions->word ? actions : NULL;
}

/* "add, set and list": the actions that take the option. */
static const char *takers(struct app *app, const struct action *actions, char letter)
{
    const char *words = NULL, *last = NULL;
    for (; actions->word; actions++) {
        if (!strchr(actions->options, letter))
            continue;
        if (last)
            words = words ? arena_printf(app->arena, "%s, %s", words, last) : last;
        last = actions->word;
    }
    return words ? arena_printf(app->arena, "%s and %s", words, last) : last;
}

static const char *refusal(struct app *app, const struct action *actions, const char *word,
                           const struct command_option *foreign)
{
    const char *of = takers(app, actions, foreign->letter);
    if (!of)
        return arena_printf(app->arena, "%s takes no --%s", word, foreign->name);
    if (!strncmp(of, "--", 2) && !strcmp(of + 2, foreign->name))
        return arena_printf(app->arena, "found both %s and %s, expected one of them", word, of);
    return arena_printf(app->arena, "%s takes no --%s, which belongs to %s", word, foreign->name, of);
}

int action_run(struct app *app, const struct action *actions, const struct action *chosen,
               const struct args *args)
{
    const struct command_option *foreign = args_beyond(args, chosen->options);
    app->action = chosen;
    if (!foreign)
        return chosen->run(app, args);
    const char *why = refusal(app, actions, chosen->word, foreign);
    return app_usage(app, why ? why : "out of memory");
}
