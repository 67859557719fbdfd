/* asan.h - whether AddressSanitizer watches this build, for gcc and clang, and how to forbid
 * memory. Without it, forbidding does nothing. */
#ifndef PRESCIENT_ASAN_H
#define PRESCIENT_ASAN_H

#ifdef __SANITIZE_ADDRESS__
#define ASAN_WATCHES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN_WATCHES 1
#endif
#endif

#ifdef ASAN_WATCHES
#include <sanitizer/asan_interface.h>

/* The asm hides where the pointer comes from: of memory just allocated, a compiler warns that it is
 * read before it is written. */
static inline void asan_forbid(void *p, size_t size)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    __asan_poison_memory_region(p, size);
}

static inline void asan_allow(void *p, size_t size)
{
    __asan_unpoison_memory_region(p, size);
}
#else
#define ASAN_WATCHES 0
#define asan_forbid(p, size) ((void)(p), (void)(size))
#define asan_allow(p, size) ((void)(p), (void)(size))
#endif

#endif
