/* spool_slot.h - the folders of a spool are named after slots: yymmddhhmi, in UTC. */
#ifndef PRESCIENT_SPOOL_SLOT_H
#define PRESCIENT_SPOOL_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#define SPOOL_SLOT_SIZE 11              /* ten digits and '\0' */

/* The name of the folder of a slot; false: it has none, as it does not begin with a minute of the
 * years 2000 to 2099. */
bool spool_slot_name(int64_t slot, char out[SPOOL_SLOT_SIZE]);

/* The moment that a folder is named after; false: its name is not ten digits that are a time. */
bool spool_slot_of(const char *name, int64_t *slot);

#endif
