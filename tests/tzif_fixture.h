/* tzif_fixture.h - makes TZif files of zones that tests invent. */
#ifndef PRESCIENT_TZIF_FIXTURE_H
#define PRESCIENT_TZIF_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#define TZIF_ROOM 2048

/* A zone: `offset_s[0]` before the first change, `offset_s[i + 1]` from `at[i]` on. */
struct tzif {
    int n;
    int64_t at[8];
    int32_t offset_s[9];
    const char *footer;
};

/* Returns the size. The first part is empty, as `zic -b slim` makes it. */
size_t tzif_write(const struct tzif *zone, unsigned char out[TZIF_ROOM]);

/* Where numbers of that file are, to be made wrong. */
enum {
    TZIF_VERSION = 4,
    TZIF_SECOND = 44 + 6 + 4, /* its first part has one type and four characters */
    TZIF_ISUTS = TZIF_SECOND + 20,
    TZIF_ISSTDS = TZIF_SECOND + 24,
    TZIF_LEAPS = TZIF_SECOND + 28,
    TZIF_TIMES = TZIF_SECOND + 32,
    TZIF_TYPES = TZIF_SECOND + 36,
    TZIF_CHARS = TZIF_SECOND + 40,
    TZIF_DATA = TZIF_SECOND + 44
};

#endif
