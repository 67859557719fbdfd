/* probe.h - whether jobs could be run: each is loaded and opened by a worker of its own, under the
 * limits of a real one, and asks the business database what a check would. */
#ifndef PRESCIENT_PROBE_H
#define PRESCIENT_PROBE_H

#include "../base/settings.h"
#include "../wire/message.h"

struct prober {
    const struct settings *settings;
    int64_t hung_us;            /* what jobs took that did not come to an end by themselves */
    bool opens_only;            /* nothing is asked */
    bool is_dry;                /* ... nor sent, and no program is started that lives on */
    bool has_asked;             /* some worker came as far as to ask the business database */
    /* the business database cannot be asked, as some worker has found: no other one tries. "": not
     * found so */
    char business[sizeof((struct probed *)0)->business];
    bool business_refuses;      /* as in struct probed */
};

/* Tries the job of that place in the settings. Nothing of it outlives the call, which takes some
 * seconds at most, however the job behaves. Jobs that hang may take fifteen seconds together: what
 * comes behind them is not tried, and *out says so. Returns whether it was tried. */
bool probe_job(struct prober *p, int job, struct probed *out);

/* What is wrong with a job that is not usable, and with which plug-in where that did not load:
 * "NAME: WHY". */
void probe_describe(const struct job_settings *job, const struct probed *found, char *out, size_t size);

#endif
