/* bound.h - ends a program of jq that takes too long, or too much memory, between two
 * of its steps: libjq has no bounds of its own, and a payload can make a loop endless. Afterwards
 * the program can be started again. */
#ifndef PRESCIENT_SHARED_BOUND_H
#define PRESCIENT_SHARED_BOUND_H

#include <jq.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum bound_end { BOUND_NONE, BOUND_TIME, BOUND_MEMORY };

struct bound { /* of one run */
    jq_state *jq;
    int64_t left_ms;
    volatile sig_atomic_t end; /* enum bound_end */
    int64_t most_bytes;        /* of address space; 0: not known yet, -1: any */
    timer_t timer;
    struct sigaction before;
};

/* From now on it may take so long, in this thread, the first one: its stack is allowed to grow as
 * deep as values may. False: the system has no timer for it. What is
 * begun is over at bound_over, and stays where it is until then. */
bool bound_begin(struct bound *b, jq_state *jq, int64_t limit_ms);
/* How the program was ended, if it was. */
enum bound_end bound_over(struct bound *b);

#endif
