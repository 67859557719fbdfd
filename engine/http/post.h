/* post.h - POST /v1/checks: checks that other programs ask for, one or an array of them. */
#ifndef PRESCIENT_HTTP_POST_H
#define PRESCIENT_HTTP_POST_H

#include "desk.h"

/* Single checks of several questions are filed in one transaction; if that fails for a value that
 * the database refuses, or for a lock, each in one of its own. An array is one transaction. */
void post_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
