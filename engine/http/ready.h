/* ready.h - whether the store can be asked: known by the question for the tokens, which has a
 * process of its own and is asked each second. So slow questions of others delay nobody who asks
 * this, and make no server look as if its store were away. Time is a parameter. Pure. */
#ifndef PRESCIENT_HTTP_READY_H
#define PRESCIENT_HTTP_READY_H

#include <stdbool.h>
#include <stdint.h>

/* An answer stands for so long, counted from when it was asked for. */
#define READY_OLD_US (INT64_C(5) * 1000 * 1000)

struct ready {                      /* all zero: nothing has come yet */
    int64_t asked_us;               /* when the store was asked for the last answer that came; 0: none */
    bool failed;                    /* by that answer it is away */
    bool read_only;                 /* by that answer it takes no writes */
};

enum ready_rc { READY_YES, READY_AWAY, READY_SILENT, READY_WAITS };

/* For who came then. READY_WAITS: the server has just begun, and an answer may come. */
enum ready_rc ready_judge(const struct ready *r, int64_t now_us, int64_t came_us);

#endif
