/* message.h - the few messages between an engine and a worker, over a SOCK_SEQPACKET socketpair:
 * one message a packet, one byte of kind and then its body. Everything about single checks goes
 * through the slab instead. */
#ifndef PRESCIENT_MESSAGE_H
#define PRESCIENT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../base/err.h"

enum { WORKER_SOCK = 3 };               /* the descriptor of a worker that its engine's socket is left on */

enum message_kind {
    /* engine -> worker */
    /* a part of the settings text (libconfig syntax); the slab's fd comes with the first part */
    MESSAGE_SETTINGS = 'S',
    /* the settings are complete: load and open the jobs, then send READY or FAILED. Body: per job
     * of the settings, in order, one byte of enum message_begin; jobs beyond the body are run */
    MESSAGE_BEGIN = 'B',
    /* instead of BEGIN, with settings that have one job: load and open it, and report PROBED. Body:
     * one byte of bits, enum message_probe */
    MESSAGE_PROBE = 'P',
    MESSAGE_RUN = 'R',         /* body: uint32 generation; the slab is open */
    MESSAGE_CONTINUE = 'C',    /* start_until is later now */
    MESSAGE_EXIT = 'X',        /* close the jobs and exit 0 */
    /* worker -> engine */
    /* body: uint32 index of the job that is loaded and opened next: it is to blame when the worker
     * dies before another message */
    MESSAGE_OPENING = 'o',
    MESSAGE_READY = 'r',       /* body: per job of the settings, in order, one byte: 1 loaded, 0 refused */
    MESSAGE_FAILED = 'f',      /* body: why; the worker exits 78 */
    /* body: uint32 generation; nothing is left to claim and all that was claimed is answered */
    MESSAGE_ENDED = 'e',
    MESSAGE_LOG = 'l',         /* body: one byte level, then text */
    MESSAGE_PROBED = 'p',      /* body: struct probed; the worker closes the job and exits 0 */
    MESSAGE_REQUEST = 'q',     /* body: text of what a job would send, or the next part of it */
};

enum message_begin {
    BEGIN_RUN = 0,
    BEGIN_LEAVE_OUT = 1,
    BEGIN_DRY = 2,              /* of all jobs: they may send nothing */
};

/* A byte of READY: how the worker runs a job. */
enum message_runs { RUNS_NOT = 0, RUNS_SINGLY = 1, RUNS_BATCHES = 2 };

enum message_probe {
    PROBE_ASKS = 1,             /* it is to ask the business database, too */
    PROBE_DRY = 2,              /* it may send nothing, nor start what lives on */
};

/* The steps of a job that is tried. Each is announced by OPENING. */
enum probe_step { PROBE_LOAD, PROBE_OPEN, PROBE_ASK, PROBE_STEPS };

/* What became of a job that was tried. The texts end with NUL; who receives them makes sure of
 * that. */
struct probed {
    bool is_usable;             /* loaded and opened, and nothing stood against what it asks */
    bool is_unsure;             /* not usable, but only since the business database gave no answer */
    bool batches;               /* it has job_exec_many */
    bool can_probe;             /* it has a probe of its own */
    bool heeds_dry;             /* it sends nothing where that is not wanted */
    enum probe_step failed;     /* not usable: which step failed */
    char path[512], name[128], summary[256];
    char why[1024];             /* it is not usable */
    /* why the business database cannot be asked, whatever the job needs of it; "": it can, none is
     * set, or nobody asked */
    char business[1024];
    bool business_refuses;      /* it does not let us in, so that waiting does not help */
};

#define MESSAGE_MAX 32768      /* bytes of one packet */

/* Sends one packet, with `fd` along when it is not -1. Returns 0, ERR_BUSY when the socket is
 * full, ERR_LOST when the peer is gone. */
int message_send(int sock, enum message_kind kind, const void *body, size_t len, int fd, struct err *err);

/* Receives one packet into body (room MESSAGE_MAX + 1; a NUL is put behind). Returns its length
 * without the kind byte, ERR_BUSY when there is none (non-blocking socket), ERR_LOST at the end.
 * *fd is -1 or the descriptor that came along (close-on-exec). */
int message_receive(int sock, enum message_kind *kind, char *body, int *fd, struct err *err);

#endif
