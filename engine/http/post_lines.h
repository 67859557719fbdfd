/* post_lines.h - POST /v1/checks as lines (application/x-ndjson): some lines of a body are a
 * question, and their answers its answer. */
#ifndef PRESCIENT_HTTP_POST_LINES_H
#define PRESCIENT_HTTP_POST_LINES_H

#include "desk.h"

/* The lines of one question. Those that can be filed are filed in one transaction (post_batch.h);
 * one that is wrong has a problem in place of its answer, with its number; an empty one has none.
 * What concerns all is a problem in place of all answers, with the number of lines before them. */
void post_lines_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
