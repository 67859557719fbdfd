/* seccomp.h - refuses system calls that no job needs, to a worker and to all processes that it
 * starts. */
#ifndef PRESCIENT_SECCOMP_H
#define PRESCIENT_SECCOMP_H

#include "../base/err.h"

/* Cannot be undone, and children inherit it. A refused call fails with EPERM (or ENOSYS where
 * callers then use another call); no process is killed. Needs no_new_privs. ERR_SETTINGS when this
 * kernel or processor cannot do it. */
int seccomp_refuse(struct err *err);

#endif
