/* noted.h - what an engine notes of itself in the store: who it is, what it serves, for `status`;
 * the listeners of its settings, for `doctor` to compare; and its jobs, for `serve` to know those
 * that are asked for. */
#ifndef PRESCIENT_NOTED_H
#define PRESCIENT_NOTED_H

#include "errand.h"

/* For so long a note stands for an engine. A daemon writes a new one each minute; what cron
 * starts, once a slot, does so when it ends. One that somebody has started by hand, with other
 * settings, is soon forgotten. */
enum { NOTED_DAEMON_S = 1800 };
int32_t noted_command_s(int32_t slot_length_s);

/* The lines of all listeners (rules/listener_line.h), by name. NULL: out of memory. */
char *noted_listeners(const struct settings *settings, struct arena *a);

/* The names of all jobs, a line each. NULL: too many to be noted, or there is no memory. */
char *noted_jobs(const struct settings *settings, struct arena *a);

/* Who notes them, and the lines. Those for which memory is short are NULL, which the store refuses.
 * `out->arena` is the caller's to free. */
void noted_fill(const struct errand_env *env, const struct totals *totals, struct store_note_listeners *out);

#endif
