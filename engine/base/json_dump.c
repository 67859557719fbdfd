/* json_dump.c - see json_dump.h. */
#include "json_dump.h"

#include <stdbool.h>

#include "bytes.h"

struct dump { struct bytes text; bool has_failed; };

/* The library goes on behind a piece that could not be added. */
static int add_piece(const char *piece, size_t len, void *data)
{
    struct dump *dump = data;
    dump->has_failed = dump->has_failed || !bytes_add(&dump->text, piece, len);
    return dump->has_failed ? -1 : 0;
}

char *json_dump_text(const json_t *value, size_t flags)
{
    struct dump dump = { .has_failed = false };
    int rc = json_dump_callback(value, add_piece, &dump, flags);
    if (rc < 0 || dump.has_failed || !bytes_add(&dump.text, "", 1)) {
        bytes_free(&dump.text);
        return NULL;
    }
    return dump.text.data;
}
