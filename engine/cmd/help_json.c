/* help_json.c - see help_json.h. All of it comes from the tables of commands and options. */
#include "help_json.h"

#include <string.h>
#include "help.h"
#include "option.h"

/* null: it may be anything. */
static json_t *words_json(const char *const *words)
{
    json_t *array = words ? json_array() : json_null();
    for (; words && *words; words++)
        if (json_array_append_new(array, json_string(*words)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *options_json(const struct command *command, const struct command_option *options)
{
    json_t *array = json_array();
    for (const struct command_option *o = options; array && o && o->name; o++) {
        const char letter[] = { option_short(o), '\0' };
        json_t *one = json_pack("{s:s, s:s?, s:s?, s:s, s:o}", "name", o->name, "short",
                                *letter ? letter : NULL, "arg", o->arg, "help", o->help, "words",
                                words_json(option_words(command, o)));
        if (json_array_append_new(array, one) == 0)
            continue;
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *lines_json(const char *lines)
{
    json_t *array = json_array();
    for (const char *line = lines; array && line && *line; line += strspn(line, "\n")) {
        size_t length = strcspn(line, "\n");
        if (json_array_append_new(array, json_stringn(line, length)) != 0) {
            json_decref(array);
            return NULL;
        }
        line += length;
    }
    return array;
}

json_t *help_json_command(const struct command *command)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o}", "name", command->name, "group",
                     help_group(command->group), "args", command->args, "help", command->help, "more",
                     command->more, "examples", lines_json(command->examples), "options",
                     options_json(command, command->options));
}

json_t *help_json_all(void)
{
    json_t *commands = json_array();
    for (const struct command *const *c = command_table; commands && *c; c++) {
        if (json_array_append_new(commands, help_json_command(*c)) == 0)
            continue;
        json_decref(commands);
        commands = NULL;
    }
    return json_pack("{s:o, s:o}", "commands", commands, "options", options_json(NULL, option_globals));
}
