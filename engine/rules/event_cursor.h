/* event_cursor.h - the cursor of an event, its place in the order in which consumers read: the
 * generation of the database's history, the transaction, the event. Pure. */
#ifndef PRESCIENT_EVENT_CURSOR_H
#define PRESCIENT_EVENT_CURSOR_H

#include <stdbool.h>

enum { EVENT_CURSOR_NUMBERS = 3, EVENT_CURSOR_DIGITS = 20, EVENT_CURSOR_SIZE = 64 };
#define EVENT_CURSOR_FIRST "0-0-0"      /* before every event */

struct event_cursor { char numbers[EVENT_CURSOR_NUMBERS][EVENT_CURSOR_DIGITS + 1]; };

/* Reads "7-7301-15". One of two numbers, from before there were generations, belongs to the first.
 * False: it is no cursor. */
bool event_cursor_split(const char *text, struct event_cursor *out);

#endif
