/* settings_fixture.h - what the suites about settings share. */
#ifndef PRESCIENT_SETTINGS_FIXTURE_H
#define PRESCIENT_SETTINGS_FIXTURE_H

#include "test.h"
#include "../engine/base/settings_load.h"

/* Setup and teardown of a suite: an empty working folder, and none of the variables that settings
 * are read from. */
int settings_fixture_setup(void);
int settings_fixture_teardown(void);
const char *settings_fixture_folder(void);
void settings_fixture_forget_environment(void);

void write_file(const char *name, const char *text);

/* Settings that must be good; the caller releases them. */
struct settings parsed(const char *text);
struct settings loaded(const char *file, const struct settings_flag *flags, int n);

/* Settings that must be refused, with `words` in the error, and with nothing left to release. */
void refused(const char *text, const char *words);
void load_refused(const char *file, const struct settings_flag *flags, int n, const char *words);

void says(const struct err *err, const char *text, const char *words);

#endif
