/* fingerprint.h - a short name for a text, which no other text has. */
#ifndef PRESCIENT_FINGERPRINT_H
#define PRESCIENT_FINGERPRINT_H

#define FINGERPRINT_SIZE 33         /* with the NUL */

/* The first half of the SHA-256 of both texts, in hex; `more` may be NULL. */
void fingerprint(const char *text, const char *more, char out[FINGERPRINT_SIZE]);

#endif
