/* failpoint.h - named places where a test can have the process killed, stopped or cut off from the
 * store. Only in build/prescient-failpoints: elsewhere they compile to nothing. */
#ifndef PRESCIENT_FAILPOINT_H
#define PRESCIENT_FAILPOINT_H

#ifdef PRESCIENT_FAILPOINTS
/* When the folder $PRESCIENT_FAILPOINTS has a file of this name, removes it (so that one process is
 * hit, once), writes a line to the file `faults` beside it, and does what the file contained:
 * "kill", "stop", or "cut": every stream socket of ours is shut down. */
void failpoint_reach(const char *name);
#define FAILPOINT(name) failpoint_reach(name)
#else
#define FAILPOINT(name) ((void)0)
#endif

#endif
