/* openapi.h - GET /v1/openapi.json: what can be asked, and what is answered, for programs. The
 * parts of the document are in openapi/, a subject each; embed_openapi.awk puts them together. */
#ifndef PRESCIENT_HTTP_OPENAPI_H
#define PRESCIENT_HTTP_OPENAPI_H

#include "desk.h"

/* What stands before the base path, which is the server's URL, and what stands behind it. */
extern const char openapi_before[], openapi_behind[];

/* The document; base_path NULL: paths begin with nothing. NULL when out of memory. */
const char *openapi_text(struct arena *a, const char *base_path);

/* Answers in a table of routes. No store is asked. */
void openapi_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
