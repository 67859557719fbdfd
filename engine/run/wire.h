/* wire.h - the few messages between an engine and a worker, over a SOCK_SEQPACKET socketpair: one message a packet,
 * one byte of kind and then its body. Everything about single checks goes through the slab instead. */
#ifndef PRESCIENT_WIRE_H
#define PRESCIENT_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include "../base/err.h"

enum wire_kind {
    /* engine -> worker */
    WIRE_SETTINGS = 'S',    /* a part of the settings text (libconfig syntax); the slab's fd comes with the first part */
    WIRE_BEGIN = 'B',       /* that was all of the settings: load, open, then say READY or FAILED. Body: per job of the settings, in order,
                             * one byte: 1 leave it out; jobs beyond the body are not */
    WIRE_RUN = 'R',         /* body: uint32 generation; the slab is open */
    WIRE_CONTINUE = 'C',    /* start_until was moved on */
    WIRE_EXIT = 'X',        /* close the jobs and exit 0 */
    /* worker -> engine */
    WIRE_OPENING = 'o',     /* body: uint32 index of the job that is loaded and opened next: whose fault it is when no more is heard */
    WIRE_READY = 'r',       /* body: per job of the settings, in order, one byte: 1 loaded, 0 refused */
    WIRE_FAILED = 'f',      /* body: words; the worker exits 78 */
    WIRE_ENDED = 'e',       /* body: uint32 generation; nothing is left to claim and all that was claimed is answered */
    WIRE_LOG = 'l',         /* body: one byte level, then text */
};

#define WIRE_MAX 32768      /* bytes of one packet */

/* Sends one packet, with `fd` along when it is not -1. Returns 0, ERR_BUSY when the socket is full, ERR_LOST when the peer is gone. */
int wire_send(int sock, enum wire_kind kind, const void *body, size_t len, int fd, struct err *err);

/* Receives one packet into body (room WIRE_MAX + 1; a NUL is put behind). Returns its length without the kind byte, ERR_BUSY when there is
 * none (non-blocking socket), ERR_LOST at the end. *fd is -1 or the descriptor that came along (close-on-exec). */
int wire_receive(int sock, enum wire_kind *kind, char *body, int *fd, struct err *err);

#endif
