/* settings.h - a plug-in reads and checks its settings, when its job is opened. The first that is
 * wrong refuses the job: each function that fails leaves words with the setting's name. */
#ifndef PRESCIENT_SHARED_SETTINGS_H
#define PRESCIENT_SHARED_SETTINGS_H

#include <prescient/job.h>
#include <stdbool.h>

enum { SETTINGS_LIST_MAX = 64 };        /* elements of a list */

struct settings { const struct prescient_host *host; char *why; size_t why_size; };

/* Leaves these words, and returns -1. */
int __attribute__((format(printf, 2, 3))) settings_refuse(const struct settings *s, const char *fmt, ...);

/* The host's texts, which live until `close`; NULL when there is none, or it is no plain value. */
const char *settings_text(const struct settings *s, const char *name);
const char *settings_element(const struct settings *s, const char *list, int i);

/* How many elements a list has; 0 when it is not set, -1 when it is no list, or too long. `such` is
 * what is expected: "[ 400, 404 ]". */
int settings_length(const struct settings *s, const char *name, const char *such);

/* A whole number, as text. 0, or -1 without words. */
int settings_whole_number(const char *text, long least, long most, int *out);
/* A place such as "host:port" may not begin with a user and a password, which would stand in the
 * words of an error: 0, or -1 with words that quote nothing. */
int settings_has_no_user(const struct settings *s, const char *name, const char *place);
/* Leaves *out as it is when the setting is not there. */
int settings_number(const struct settings *s, const char *name, long least, long most, int *out);
/* The path of a file that we may read; NULL when the setting is not there. */
int settings_file(const struct settings *s, const char *name, const char **out);
/* "64KiB" or "1024": bytes. */
int settings_bytes(const struct settings *s, const char *name, int least, int most, int *out);

/* One function for each setting, in their order. 0, or -1 at the first that fails. */
typedef int settings_part(const struct settings *s, void *into);
int settings_read(const struct settings *s, settings_part *const parts[], size_t n, void *into);

#endif
