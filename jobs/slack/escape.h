/* escape.h - what Slack would take for its own: &, < and >. A payload with "<!channel>" in it must
 * not call a channel. */
#ifndef PRESCIENT_SLACK_ESCAPE_H
#define PRESCIENT_SLACK_ESCAPE_H

enum { ESCAPE_MARK_BYTES = 16 };

/* Four letters for private use, which no payload can guess. 0, or -1: the system has no random
 * numbers. */
int escape_new_mark(char mark[ESCAPE_MARK_BYTES + 1]);

/* A JSON text with these letters as &amp;, &lt; and &gt; in all of its strings, also where they are
 * written as \u0026, \u003c and \u003e; but a letter behind the mark stays, and marks are dropped.
 * To be freed; NULL: out of memory. */
char *escape_json(const char *json, const char *mark);

#endif
