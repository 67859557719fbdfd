/* pg_prepared.c - names of prepared statements, and the errors of poolers that lose them. */
#include "pg_prepared.h"

#include <stdio.h>
#include <string.h>

#include "../base/fingerprint.h"

void pg_prepared_name(const char *what, const char *sql, const char *more, char out[PG_PREPARED_NAME_SIZE])
{
    char print[FINGERPRINT_SIZE];
    fingerprint(sql, more, print);
    snprintf(out, PG_PREPARED_NAME_SIZE, "%.*s_%s", PG_PREPARED_NAME_SIZE - 1 - FINGERPRINT_SIZE, what,
             print);
}

bool pg_is_of_a_pooler(const struct err *err)
{
    static const char unknown[] = "26000", known_already[] = "42P05";
    return strcmp(err->sqlstate, unknown) == 0 || strcmp(err->sqlstate, known_already) == 0;
}
