/* probe.h - whether a plug-in loads. A child process tries it, because loading runs its code. */
#ifndef PRESCIENT_PROBE_H
#define PRESCIENT_PROBE_H

#include <stdbool.h>
#include "../base/settings.h"

struct probe {
    bool loaded;
    bool batches;               /* it has job_exec_many */
    char name[128];             /* what it calls itself */
    char summary[256];
    char path[512];
    char why[1024]; /* it was not loaded */
};

#define PROBE_TIMEOUT_MS 5000

/* Tries the plug-in of a job. Nothing that it does outlives the child. */
void probe_plugin(const struct settings *s, const char *plugin, struct probe *out);

#endif
