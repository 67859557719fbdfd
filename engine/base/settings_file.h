/* settings_file.h - the settings of a file that was parsed. */
#ifndef PRESCIENT_SETTINGS_FILE_H
#define PRESCIENT_SETTINGS_FILE_H

#include "settings_loader.h"

/* Puts the values that stand elsewhere (settings_secret.h) in their places, before all else. */
int settings_file_read_secrets(struct settings_loader *l);
/* Reads the top level; after flags and environment the jobs, which start from what those left. */
int settings_file_read_top(struct settings_loader *l);
int settings_file_read_jobs(struct settings_loader *l);

#endif
