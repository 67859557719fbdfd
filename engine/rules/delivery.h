/* delivery.h - one check or event as one JSON document, the same for whatever reads it: a command,
 * another system, a template. docs/delivery.schema.json describes it; it only grows. Pure. */
#ifndef PRESCIENT_DELIVERY_H
#define PRESCIENT_DELIVERY_H

#include <stddef.h>
#include <stdint.h>

/* The members in their order, and how each is written. `data` comes last. */
#define DELIVERY_FIELDS(X)                                                                                   \
    X(type, TEXT)               /* "check", or the event's name */                                           \
    X(id, TEXT)                 /* the idempotency key: 32 hexadecimal digits */                             \
    X(timestamp, MOMENT)        /* the time to go by; of an event, when it was emitted */                    \
    X(entity_name, TEXT)                                                                                     \
    X(entity_key, TEXT)                                                                                      \
    X(job, TEXT)                                                                                             \
    X(check_number, NUMBER)     /* 1 for the first look */                                                   \
    X(failure_count, NUMBER)                                                                                 \
    X(first_check_at, MOMENT)

struct delivery {
    const char *type, *id, *entity_name, *entity_key, *job;
    int64_t timestamp, first_check_at;
    int64_t check_number, failure_count;
    const char *data;           /* JSON: the event's, or the payload; NULL: null */
};

enum { DELIVERY_FIELD_SIZE = 40 };

/* A number or a moment that nobody wrote down: null in the document, "" as text. */
#define DELIVERY_UNKNOWN INT64_MIN

/* One of the members but `data` as text: "42", "2026-03-01T13:15:00Z". It may be written to `room`.
 * NULL: there is no such member. */
const char *delivery_field(const struct delivery *d, const char *name, char room[DELIVERY_FIELD_SIZE]);

/* Room for the document and a NUL. */
size_t delivery_size(const struct delivery *d);

/* Writes it, in one line without its end, and returns its length. What is no UTF-8 in a name
 * becomes U+FFFD. The data are copied as they are, but for line ends between their values. */
size_t delivery_write(const struct delivery *d, char *out);

#endif
