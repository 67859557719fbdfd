/* nearest.h - "did you mean": which of the known words a misspelt one was probably meant to be. */
#ifndef PRESCIENT_NEAREST_H
#define PRESCIENT_NEAREST_H

/* How many letters must be changed, added, dropped or swapped with their neighbour to turn one
 * word into the other. Only the first 40 letters of each are compared. */
int nearest_distance(const char *a, const char *b);

/* One search: `wanted` is set by the caller, all else begins as zero. */
struct nearest { const char *wanted, *best; int distance; };

/* Compares one more known word; of equally near ones the first is kept. */
void nearest_look(struct nearest *n, const char *known);

/* The nearest of the words compared so far, or NULL when none is near enough to be suggested: a
 * short word may differ in one letter, a long one in three. */
const char *nearest_word(const struct nearest *n);

#endif
