/* log.h - what operators read: one line a fact, on stderr. Roles and commands log; all code below
 * returns its error. Warning: we go on. Error: something outside of the program is wrong. */
#ifndef PRESCIENT_LOG_H
#define PRESCIENT_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* LOG_FORM_TEXT: "2026-03-01T13:15:00.000Z warn prescient[42]: words".
 * LOG_FORM_BARE: the same without the time.
 * LOG_FORM_JOURNAL: "<4>words"; systemd-journald reads the priority, and knows the rest itself.
 * LOG_FORM_JSON: an object a line: time, level, role, pid, message, and what the line is about; to
 * the journal with its priority in front, too. */
enum log_form { LOG_FORM_TEXT, LOG_FORM_BARE, LOG_FORM_JOURNAL, LOG_FORM_JSON };

struct log {
    FILE *out;                  /* not owned */
    enum log_level least;       /* lines below are dropped */
    const char *role;           /* "engine", "worker 3"; lives as long as the log */
    enum log_form form;
    bool to_journal; /* what stands in front of a line as "<4>" is taken off by its reader */
    /* called before each line, as another one may stand half written on the same terminal; NULL */
    void (*before_line)(void *ctx);
    void *ctx;
};

/* What a line is about, as its words say it, too: members of their own in LOG_FORM_JSON. NULL, or
 * 0: nothing of that kind. */
struct log_about {
    int64_t slot;
    const char *job, *entity, *key;
};

/* In LOG_FORM_TEXT; in LOG_FORM_JOURNAL where systemd says that `out` is its journal
 * (JOURNAL_STREAM). */
void log_init(struct log *log, FILE *out, enum log_level least, const char *role);
/* Or as it was before. */
void log_set_json(struct log *log, bool is_json);
void log_line(struct log *log, enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void log_line_about(struct log *log, enum log_level level, struct log_about about, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

extern const char *const log_levels[];      /* in the order of the enum; ends with NULL */
/* The level named `name` (debug, info, warn, error), or -1. */
int log_level_named(const char *name);

#define log_debug(log, ...) log_line(log, LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(log, ...) log_line(log, LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(log, ...) log_line(log, LOG_LEVEL_WARN, __VA_ARGS__)
#define log_error(log, ...) log_line(log, LOG_LEVEL_ERROR, __VA_ARGS__)

#endif
