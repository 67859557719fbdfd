/* settings_secret.h - values that stand elsewhere: "@file:PATH" and "@env:NAME" in a setting. They
 * are taken for secrets; nothing that is shown has them. */
#ifndef PRESCIENT_SETTINGS_SECRET_H
#define PRESCIENT_SETTINGS_SECRET_H

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include "arena.h"
#include "err.h"
#include "settings.h"

struct settings_secret {
    /* as it was written, "@file:key" or "TOKEN=@env:TOKEN"; "***", where a value stood itself */
    const char *reference;
    const char *secret;             /* what was found there */
    const char *value;              /* of the setting: `secret`, or "TOKEN=" and it */
};

/* What `text` stands for, as a setting called `name` (NULL: none; elements of `env` and `headers`
 * may have their own name before the reference).
 *
 *   @file:PATH    the text of a file, without its last line end; PATH is relative to the folder
 *                 `beside` ("" is the working directory). Others must not be able to read it.
 *   @env:NAME     a variable of the environment
 *   @secret:TEXT  TEXT itself: how an engine hands a secret to its workers
 *   @@file:...    the text "@file:...", likewise for the others, and with more @
 *
 * Everything else is what it is, and so are all words of `command`. *value is the value, and
 * *secret what is to be hidden, or NULL. An error has the place where it was looked for, but no
 * value. */
int settings_secret_read(const char *text, const char *name, const char *beside, struct arena *a,
                         const char **value, struct settings_secret **secret, struct err *err);

/* Whether `text` has to be written with one more @ to be read back as it is; *at is where. */
bool settings_secret_looks_like_one(const char *text, const char *name, size_t *at);

/* The name of a node, or of the list that it is an element of; NULL: none. */
const char *settings_secret_name(const config_setting_t *node);

/* What the string of a node has come from; NULL: it stood there. */
const struct settings_secret *settings_secret_of(const config_setting_t *node);

/* How a value is shown that has come from elsewhere, a list as "***"; NULL: it may be shown. */
const char *settings_secret_reference(const config_setting_t *node);

/* The secrets of a group, and how many; at most `max` are put into `out`. */
int settings_secret_list(const config_setting_t *group, const char **out, int max);
/* The same of the groups of all jobs: what plug-ins, and whom they talk to, may quote. */
int settings_secrets_of_jobs(const struct settings *settings, const char **out, int max);

/* Puts "***" for each secret in a text, and for a piece of one that has two thirds of its bytes, or
 * 16; with `is_cut` also for 4 bytes of its beginning at the end of the text. A secret of less than
 * 4 bytes is none. What encodes a secret (base64, %41) is not known for it. */
void settings_secret_hide(char *text, const char *const *secrets, int n, bool is_cut);

/* How many bytes at the end of a text may be part of a secret that goes on in what follows it, be
 * it the first byte of one: whether they are, is known when they are looked at together. */
size_t settings_secret_open_end(const char *text, const char *const *secrets, int n);

#endif
