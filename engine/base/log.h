/* log.h - what operators read: one line a fact, on stderr, level and role in front. Roles and
 * commands log; all code below returns its error. Warning: we go on. Error: something outside of
 * the program is wrong. */
#ifndef PRESCIENT_LOG_H
#define PRESCIENT_LOG_H

#include <stdbool.h>
#include <stdio.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

struct log {
    FILE *out;                  /* not owned */
    enum log_level least;       /* lines below are dropped */
    const char *role;           /* "engine", "worker 3"; lives as long as the log */
    bool stamps;                /* RFC 3339 time in front (off under systemd, which has its own) */
};

void log_init(struct log *log, FILE *out, enum log_level least, const char *role);
void log_line(struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The level named `name` (debug, info, warn, error), or -1. */
int log_level_named(const char *name);

#define log_debug(log, ...) log_line(log, LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(log, ...) log_line(log, LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(log, ...) log_line(log, LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(log, ...) log_line(log, LOG_LEVEL_ERROR, __VA_ARGS__)

#endif
