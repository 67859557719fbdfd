/* interrupt.h - Ctrl-C as a state that is checked between two steps, so that it interrupts none. */
#ifndef PRESCIENT_INTERRUPT_H
#define PRESCIENT_INTERRUPT_H

#include <stdbool.h>
#include "../base/err.h"

struct interrupt { int fd; };       /* readable when SIGINT or SIGTERM has come */

/* From here on SIGINT and SIGTERM only make `fd` readable. */
int interrupt_init(struct interrupt *in, struct err *err);
void interrupt_release(struct interrupt *in);

bool interrupt_came(const struct interrupt *in);
/* true when a signal came within `ms` */
bool interrupt_wait(const struct interrupt *in, int ms);
/* The same; `fd` ends the wait, too, when it is readable. -1: none. */
bool interrupt_wait_beside(const struct interrupt *in, int fd, int ms);
/* true when a signal came before `fd` was readable */
bool interrupt_wait_readable(const struct interrupt *in, int fd);

#endif
