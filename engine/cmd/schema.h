/* schema.h - creating and upgrading the schema, for init and migrate. */
#ifndef PRESCIENT_CMD_SCHEMA_H
#define PRESCIENT_CMD_SCHEMA_H

#include "command.h"

/* Applies what is missing and prints it. Returns an exit code. `slot_length` is the text of
 * --slot-length, or NULL. */
struct schema_options { const char *slot_length; bool change_slot_length, dry_run, restored; };
int schema_upgrade(struct app *app, const struct schema_options *options);

#endif
