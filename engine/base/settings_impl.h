/* settings_impl.h - what the strings and groups of settings live in; for the files that fill it. */
#ifndef PRESCIENT_SETTINGS_IMPL_H
#define PRESCIENT_SETTINGS_IMPL_H

#include <libconfig.h>
#include "arena.h"

struct settings_impl {
    struct arena *arena;
    config_t config;                /* jobs' own groups point in here */
};

#endif
