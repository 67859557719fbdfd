/* page.c - see page.h. */
#include "page.h"

#include <stdio.h>
#include <string.h>

/* All comes from this server, nothing stands inline, nobody frames it, and text from the store
 * never becomes markup: the browser refuses what would make it so. The referrer stays here, as keys
 * stand in the query. */
static const char guards[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'\r\n"
    "Referrer-Policy: same-origin\r\n";

const struct page *page_find(const char *path)
{
    for (int i = 0; i < pages; i++)
        if (!strcmp(page_table[i].path, path))
            return &page_table[i];
    return NULL;
}

/* A proxy that packs answers marks their tags as weak, W/"..."; that makes no difference here. */
bool page_is_known(const struct page *page, const char *if_none_match)
{
    return if_none_match && (!strcmp(if_none_match, "*") || strstr(if_none_match, page->etag));
}

const char *page_headers(const struct page *page, char out[PAGE_HEADERS])
{
    snprintf(out, PAGE_HEADERS, "ETag: %s\r\n%s", page->etag, guards);
    return out;
}
