/* enqueue_check.h - whether a check may be enqueued. Every way to enqueue applies these rules
 * before the database sees the row. */
#ifndef PRESCIENT_ENQUEUE_CHECK_H
#define PRESCIENT_ENQUEUE_CHECK_H

#include "../rules/check.h"
#include "store.h"

#define ENQUEUE_PRIORITY_MIN INT32_MIN
#define ENQUEUE_PRIORITY_MAX INT32_MAX

/* 0, or ERR_INPUT with a message that has the field, the value and what is expected: names, a
 * concurrency key and a tenant of 1 to 1024 bytes of UTF-8, a time from 1970 to 9999, a payload of
 * valid JSON of at most 64 KiB. Pure. */
int enqueue_check_row(const struct load_row *row, struct err *err);

#endif
