/* doctor_settings.c - see doctor.h: the settings file, the jobs that it names, and who shares the
 * work by it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/cleanup.h"
#include "../base/settings_mask.h"
#include "../rules/job_limits.h"
#include "../rules/slot.h"
#include "compared.h"
#include "doctor.h"
#include "missing_digests.h"
#include "probe.h"

static bool has_password(const char *url)
{
    char masked[4096];
    if (!url)
        return false;
    settings_mask_url(url, masked, sizeof masked);
    return strcmp(url, masked) != 0;
}

/* Whether the first MiB of the file contains `wanted`. */
static bool file_holds(const char *file, const char *wanted)
{
    enum { ROOM = 1 << 20 };
    CLEANUP(cleanup_close) int fd = open(file, O_RDONLY | O_CLOEXEC);
    CLEANUP(cleanup_free) char *bytes = malloc(ROOM);
    if (fd < 0 || !bytes)
        return false;
    ssize_t n = read(fd, bytes, ROOM);
    return n > 0 && memmem(bytes, (size_t)n, wanted, strlen(wanted));
}

void doctor_settings(struct doctor *d)
{
    const struct settings *s = &d->app->settings;
    const char *file = settings_file_used(d->app->settings_file);
    struct stat st;
    if (!file || stat(file, &st) < 0) {
        doctor_finding(d, OK, "settings", "no file; defaults, environment and flags", NULL);
        return;
    }
    bool secret = (has_password(s->store) && file_holds(file, s->store)) ||
                  (has_password(s->business) && file_holds(file, s->business));
    if (secret && st.st_mode & (S_IRWXG | S_IRWXO))
        doctor_finding(d, WARN, "settings",
                       doctor_text(d, "%s holds a password and others may read it (mode %04o)", file,
                                   st.st_mode & 07777u),
                       doctor_text(d, "chmod 600 %s, or put the password into ~/.pgpass", file));
    else
        doctor_finding(d, OK, "settings", file, NULL);
}

static const char *const probe_advice[PROBE_STEPS] = {
    [PROBE_LOAD] = "its checks wait until it loads",
    [PROBE_OPEN] = "its checks wait until it can be opened: correct its settings",
    [PROBE_ASK] = "its checks fail until that is mended",
};

static void doctor_job(struct doctor *d, struct prober *prober, int job)
{
    const struct job_settings *settings = &d->app->settings.jobs[job];
    struct probed found;
    char why[sizeof found.why + 256];
    bool was_tried = probe_job(prober, job, &found);
    if (found.is_usable) {
        const char *tried = found.can_probe ? "" : " is opened, and not tried: it has no probe";
        doctor_finding(d, OK, "job", doctor_text(d, "%s: %s%s", settings->name, found.path, tried), NULL);
        return;
    }
    probe_describe(settings, &found, why, sizeof why);
    if (was_tried)
        doctor_finding(d, ERROR, "job", why, probe_advice[found.failed]);
    else
        doctor_finding(d, WARN, "job", why, NULL);
}

static void doctor_business(struct doctor *d, const struct prober *prober)
{
    char url[1024];
    const struct settings *s = &d->app->settings;
    if (!prober->has_asked)
        return;
    settings_mask_url(s->business ? s->business : s->store, url, sizeof url);
    if (!*prober->business)
        doctor_finding(d, OK, "business", doctor_text(d, "%s answers queries of jobs", url), NULL);
    else
        doctor_finding(d, ERROR, "business", prober->business,
                       doctor_text(d, "the setting %s is %s", s->business ? "business" : "store", url));
}

void doctor_jobs(struct doctor *d)
{
    const struct settings *s = &d->app->settings;
    struct prober prober = { .settings = s };
    if (!s->njobs)
        doctor_finding(d, WARN, "jobs", "no job in the settings: every check waits",
                       "add jobs = { NAME = { plugin = \"...\"; }; }; to the settings file");
    for (int i = 0; i < s->njobs; i++)
        doctor_job(d, &prober, i);
    doctor_business(d, &prober);
}

/* Only this server's own settings are known here, not what other servers serve. */
void doctor_serve(struct doctor *d)
{
    char mistakes[512];
    const struct settings *s = &d->app->settings;
    if (!s->nserve)
        return;
    if (slot_serve_mistakes(s->serve, s->nserve, d->hello.slot_length_s, mistakes, sizeof mistakes))
        doctor_finding(
            d, WARN, "serve", mistakes,
            "all servers together have to name each of these: a slot that none names runs an hour late");
    else
        doctor_finding(d, OK, "serve", "each minute names a slot", NULL);
}

void doctor_attempts(struct doctor *d)
{
    struct err err = { 0 };
    const struct settings *s = &d->app->settings;
    if (!job_limits_have_attempts(s))
        return;
    if (job_limits_fit(s, d->hello.slot_length_s, &err) < 0)
        doctor_failed(d, "attempts", &err, "no engine starts with these settings");
    else
        doctor_finding(d, OK, "attempts", "those of each job fit into a slot", NULL);
}

/* Which of them settles an event must not decide who hears of it. */
void doctor_listeners(struct doctor *d)
{
    struct err err = { 0 };
    struct compared all;
    const char *advice =
        "engines read their settings when they start: restart those that lack what this file has, or name "
        "theirs with --config";
    if (compared_ask(d->app, &all, &err) < 0) {
        doctor_failed(d, "listeners", &err, NULL);
        return;
    }
    if (all.by_engines)
        advice = "an event is delivered as the engine has it that settles its check: give all engines the "
                 "same listeners, and start again those that run";
    for (int i = 0; i < all.n; i++)
        doctor_finding(d, WARN, "listeners", all.amiss[i], advice);
    if (!all.n)
        doctor_finding(d, OK, "listeners", all.words, NULL);
}

/* Nothing else shows that a digest stands still: its listener hears nothing, and nothing fails. */
void doctor_digests(struct doctor *d)
{
    struct err err = { 0 };
    struct missing_digests missing;
    if (missing_digests_ask(d->app, &missing, &err) < 0)
        doctor_failed(d, "digests", &err, NULL);
    else if (missing.n)
        doctor_finding(
            d, WARN, "digests", doctor_text(d, "no check waits for that of the listener %s", missing.names),
            "prescient run files it now, a daemon with these settings within the hour; what was emitted "
            "since its last digest comes in the next one");
    else if (missing.digests)
        doctor_finding(d, OK, "digests", doctor_text(d, "%d, and a check waits for each", missing.digests),
                       NULL);
}
