/* seccomp.h - calls of the kernel that no job needs are refused to a worker and to all that it
 * starts. */
#ifndef PRESCIENT_SECCOMP_H
#define PRESCIENT_SECCOMP_H

#include "../base/err.h"

/* For good: there is no way back, and children inherit it. A refused call fails with EPERM (or
 * ENOSYS where callers then know another way), and nobody is killed. Needs no_new_privs.
 * ERR_SETTINGS when this kernel or processor cannot do it. */
int seccomp_refuse(struct err *err);

#endif
