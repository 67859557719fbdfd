/* trial.h - one check in one worker, as an engine would run it, without a store: nothing is
 * written down. */
#ifndef PRESCIENT_TRIAL_H
#define PRESCIENT_TRIAL_H

#include "../base/log.h"
#include "../base/settings.h"
#include "../rules/guard.h"
#include "../wire/slab.h"

struct trial {                          /* what to run; the strings stay the caller's */
    const struct settings *settings;
    int job;                            /* its place in the settings */
    const char *entity_name, *entity_key;
    const char *payload;                /* NULL: none */
    const char *terms;                  /* of a delivery; NULL: it is none */
    bool is_dry;                        /* it may send nothing, and tells what it would send */
    int64_t now;                        /* the time that the job is given */
    int32_t slot_length_s;
    struct log *log;                    /* what the job logs and prints */
};

struct trial_result {
    enum answer_kind kind;
    struct raw_answer raw;              /* lives in the arena */
    struct verdict verdict;             /* what an engine would make of it */
    const char *request;                /* what it would send, in lines, in the arena; NULL: nothing */
};

/* Runs it, up to the job's timeout. ERR_SETTINGS when no worker gets ready. */
int trial_run(const struct trial *trial, struct arena *arena, struct trial_result *out, struct err *err);

#endif
