/* pass_counts.c - counts of passes: added up, and as words. */
#include "pass_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t longer(int64_t a, int64_t b) { return a > b ? a : b; }

void pass_counts_add(struct pass_counts *sum, const struct pass_counts *more)
{
#define PASS_COUNT(name, words) sum->name += more->name;
    PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    sum->late_us = longer(sum->late_us, more->late_us);
    sum->took_us = longer(sum->took_us, more->took_us);
}

const char *pass_counts_format(const struct pass_counts *counts, char out[PASS_COUNTS_TEXT])
{
    const struct { const char *words; int64_t n; } all[] = {
#define PASS_COUNT(name, words) { words, counts->name },
        PASS_COUNTS(PASS_COUNT)
#undef PASS_COUNT
    };
    size_t used = 0, rows = sizeof all / sizeof *all;
    *out = '\0';
    for (size_t i = 0; i < rows; i++) {
        const char *words = all[i].words;
        int64_t n = all[i].n;
        while (i + 1 < rows && strcmp(all[i + 1].words, words) == 0)
            n += all[++i].n;
        if (*words && used < PASS_COUNTS_TEXT)
            used += (size_t)snprintf(out + used, PASS_COUNTS_TEXT - used, "%s%" PRId64 " %s",
                                     used ? ", " : "", n, words);
    }
    return out;
}
