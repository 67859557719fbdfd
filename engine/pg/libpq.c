/* libpq.c - the functions of libpq that the program calls, each a call to the loaded one. A program
 * that is linked with libpq as well may use these and others side by side: both are one library. */
#include "libpq.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY "libpq.so.5"
#define PACKAGE "libpq5"           /* as Debian calls it */

static void load_or_abort(void)
{
    struct err err;
    if (libpq_load(&err) == 0)
        return;
    fprintf(stderr, "%s\n", err.text);
    abort();
}

/* As a linker binds lazily: the pointer is that of a function which loads libpq, until it is that
 * of libpq's own. So a function that is called before libpq_load works, too, where libpq is. */
/* NOLINTBEGIN(bugprone-macro-parentheses): these are declarations */
#define FUNCTION(result, name, parameters, arguments) \
    static result first_##name parameters; \
    static result(*loaded_##name) parameters = first_##name; \
    result name parameters { return loaded_##name arguments; } \
    static result first_##name parameters { load_or_abort(); return loaded_##name arguments; }
#include "libpq_functions.h"
#undef FUNCTION
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct { const char *name; void *pointer; } functions[] = {
#define FUNCTION(result, name, parameters, arguments) { #name, &loaded_##name },
#include "libpq_functions.h"
#undef FUNCTION
};

static bool is_loaded(void) { return loaded_PQclear != first_PQclear; }

int libpq_load(struct err *err)
{
    if (is_loaded())
        return 0;
    void *found[sizeof functions / sizeof *functions];
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, ERR_SETTINGS, "PostgreSQL: its client library cannot be loaded (%s); install "
                       PACKAGE, dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        found[i] = dlsym(library, functions[i].name);
        if (!found[i])
            return err_set(err, ERR_SETTINGS, "PostgreSQL: %s has no %s; install " PACKAGE " 14 or later",
                           LIBRARY, functions[i].name);
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        *(void **)functions[i].pointer = found[i];
    return 0;
}
