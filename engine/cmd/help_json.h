/* help_json.h - the commands and their options as JSON, for programs that offer them. */
#ifndef PRESCIENT_HELP_JSON_H
#define PRESCIENT_HELP_JSON_H

#include <jansson.h>
#include "command.h"

/* {"name", "group", "args", "help", "more", "examples", "options"}. The caller's to decref; NULL
 * when out of memory. */
json_t *help_json_command(const struct command *command);

/* {"commands": [...], "options": [those of every command]}. The same. */
json_t *help_json_all(void);

#endif
