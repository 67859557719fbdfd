/* hangup.h - what a SIGHUP means to a process that goes on for long: the wish that settings are
 * read again, or the end of the terminal that it was started in. A shell passes the signal of a
 * terminal that is closed on to its jobs by kill(2), so the sender does not tell; that the terminal
 * is gone does. */
#ifndef PRESCIENT_HANGUP_H
#define PRESCIENT_HANGUP_H

#include <stdbool.h>
#include <stdint.h>

struct hangup {
    bool is_ignored;             /* who started the process wants it to outlive its terminal (nohup) */
    bool has_terminal;           /* at the last look */
    int64_t looked_us;           /* monotonic */
    int64_t gone_us;             /* when the terminal was first not there any more; 0: it is, or never was */
};

enum hangup_means { HANGUP_RENEWS, HANGUP_ENDS, HANGUP_NOTHING };

/* Before the process hears signals: how it was started. */
void hangup_init(struct hangup *h, int64_t now_us);
/* In each turn of its loop: looks once a second whether the terminal is still there. So a signal
 * that comes long after its end is none of it. */
void hangup_look(struct hangup *h, int64_t now_us);
/* A SIGHUP has come, at the latest now. `from_kernel`: nobody has sent it by kill(2). `may_renew`:
 * the process can read its settings again; else any SIGHUP is to end it. */
enum hangup_means hangup_came(struct hangup *h, bool from_kernel, bool may_renew, int64_t now_us);

#endif
