/* nearest.c - the distance of two words (Damerau and Levenshtein, adjacent swaps only), and the
 * nearest of many. */
#include "nearest.h"

#include <string.h>

enum { COMPARED = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

int nearest_distance(const char *a, const char *b)
{
    int rows = (int)strnlen(a, COMPARED);
    int columns = (int)strnlen(b, COMPARED);
    int d[COMPARED + 1][COMPARED + 1];          /* of the first i letters of a and the first k of b */
    for (int i = 0; i <= rows; i++)
        d[i][0] = i;
    for (int k = 0; k <= columns; k++)
        d[0][k] = k;
    for (int i = 1; i <= rows; i++) {
        for (int k = 1; k <= columns; k++) {
            int one_more = least(d[i - 1][k], d[i][k - 1]) + 1;
            int changed = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            d[i][k] = least(one_more, changed);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
        }
    }
    return d[rows][columns];
}

void nearest_look(struct nearest *n, const char *known)
{
    int distance = nearest_distance(n->wanted, known);
    if (!n->best || distance < n->distance) {
        n->best = known;
        n->distance = distance;
    }
}

const char *nearest_word(const struct nearest *n)
{
    size_t length = strlen(n->wanted);
    int most = 3;
    if (length < 4)
        most = 1;
    else if (length < 7)
        most = 2;
    return n->best && n->distance <= most ? n->best : NULL;
}
