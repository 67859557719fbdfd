/* field.h - what the fields of a check may hold: the same for every way in, from a command line to
 * what a job declares. Pure. The checks return 0, or ERR_INPUT with a message that names the field,
 * what was found and what was expected, in valid UTF-8. */
#ifndef PRESCIENT_FIELD_H
#define PRESCIENT_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/err.h"

/* 1 to CHECK_NAME_MAX bytes of UTF-8; NULL is as empty. */
int field_check_name(const char *field, const char *text, struct err *err);

/* The same of the job of a check that is asked for. What begins with '{' is an array that a driver
 * has sent as text, and is refused. */
int field_check_job(const char *field, const char *text, struct err *err);

/* The same of its entity: that of deliveries is refused, too. */
int field_check_entity(const char *field, const char *text, struct err *err);

/* All three together: an index of PostgreSQL has them, and a bound for what it holds. NULL is as
 * empty. */
enum { FIELD_ROW_MAX = 2600 };
int field_check_row(const char *entity, const char *key, const char *job, struct err *err);

/* Whether the entity stands for deliveries or digests: only engines file checks of it. */
bool field_is_of_engines(const char *entity);

/* One JSON value of at most CHECK_PAYLOAD_MAX bytes. A payload must be one that a job's parser
 * reads: whole numbers have up to 64 bits, as the enqueue of both databases requires. In what a job
 * declares, a larger one is taken for a real number. */
int field_check_payload(const char *field, const char *json, struct err *err);
int field_check_json(const char *field, const char *json, struct err *err);

/* From 1970 to 9999. */
int field_check_time(const char *field, int64_t at, struct err *err);

/* What an enqueue does when the check is there already: "keep", "earlier" or "replace". */
int field_check_conflict(const char *word, struct err *err);
enum { FIELD_CONFLICTS = 3 };
extern const char *const field_conflicts[];             /* keep, earlier, replace; ends with NULL */
int field_conflict_index(const char *word);             /* -1: none of them */
const char *field_conflict_word(uint32_t index);        /* NULL: there is no such one */

#endif
