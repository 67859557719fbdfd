/* interrupt.h - Ctrl-C as something to look at between two steps, not something that strikes in
 * the middle of one. */
#ifndef PRESCIENT_INTERRUPT_H
#define PRESCIENT_INTERRUPT_H

#include <stdbool.h>
#include "../base/err.h"

struct interrupt { int fd; };       /* readable when SIGINT or SIGTERM has come */

/* From here on SIGINT and SIGTERM only make `fd` readable. */
int interrupt_init(struct interrupt *in, struct err *err);
void interrupt_release(struct interrupt *in);

bool interrupt_came(const struct interrupt *in);
/* true when one came within `ms` */
bool interrupt_wait(const struct interrupt *in, int ms);
/* true when one came before `fd` had anything to read */
bool interrupt_wait_readable(const struct interrupt *in, int fd);

#endif
