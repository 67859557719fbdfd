/* page.h - the dashboard's files, for browsers: each file of pages/, and the shell (index.html) at
 * the path of each page. They are part of the program, hold nothing of the store and are the same
 * for all; what they show they ask for at /v1/. */
#ifndef PRESCIENT_HTTP_PAGE_H
#define PRESCIENT_HTTP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include "exchange.h"

struct page {
    const char *path;               /* "/slots", "/assets/app.css" */
    enum content content;
    const char *etag;               /* with its quotes: of the SHA-256 of the bytes */
    const char *bytes;
    size_t len;
};

/* Made by embed_pages.awk. */
extern const struct page page_table[];
extern const int pages;

/* NULL: there is none. */
const struct page *page_find(const char *path);

/* Whether a browser that sends this If-None-Match has these bytes. NULL: it has sent none. */
bool page_is_known(const struct page *page, const char *if_none_match);

/* Lines of the head of a page: what it may load and who may frame it, and its ETag. */
enum { PAGE_HEADERS = 512 };
const char *page_headers(const struct page *page, char out[PAGE_HEADERS]);

#endif
