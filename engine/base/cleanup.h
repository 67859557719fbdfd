/* cleanup.h - locals that release what they own when their scope ends, so that a function can
 * return where it fails: CLEANUP(cleanup_free) char *text = malloc(size); */
#ifndef PRESCIENT_CLEANUP_H
#define PRESCIENT_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLEANUP(f) __attribute__((cleanup(f)))

/* Of a pointer to malloc()ed memory, of any type. */
static inline void cleanup_free(void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof memory);
    free(memory);
}

/* Of a descriptor; -1: none. */
static inline void cleanup_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Of a stream; NULL: none. */
static inline void cleanup_fclose(FILE **file)
{
    if (*file)
        fclose(*file);
}

#endif
