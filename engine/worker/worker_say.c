/* worker_say.c - what a worker writes to its engine, and what becomes of the words of its jobs. */
#include "worker_state.h"

#include <stdlib.h>
#include <string.h>

#include "../base/settings_secret.h"
#include "../base/utf8.h"

/* ---- what goes to the engine ---- */

void worker_send(struct worker *w, enum message_kind kind, const void *body, size_t len)
{
    if (message_send(w->sock, kind, body, len, -1, NULL))
        w->is_cut_off = true;
}

void worker_log(void *ctx, int level, const char *text)
{
    struct worker *w = ctx;
    if (level < LOG_LEVEL_DEBUG)
        level = LOG_LEVEL_DEBUG;
    if (level > LOG_LEVEL_ERROR)
        level = LOG_LEVEL_ERROR;
    if ((enum log_level)level < w->least)
        return;
    char body[4096];
    size_t len = utf8_cut(text, strlen(text), sizeof body - 2);
    body[0] = (char)level;
    memcpy(body + 1, text, len);
    body[len + 1] = '\0';
    settings_secret_hide(body + 1, w->secrets, w->nsecrets, true);
    worker_send(w, MESSAGE_LOG, body, strlen(body + 1) + 1);
}

/* ---- what jobs write ---- */

void worker_tidy(char *text, size_t room)
{
    text[room - 1] = '\0';
    size_t len = strlen(text);
    if (utf8_is_valid(text, len))
        return;
    for (size_t back = 1; len == room - 1 && back <= 3 && back <= len; back++)
        if ((unsigned char)text[len - back] >= 0xc0) {
            if (!utf8_is_valid(text + len - back, back))
                text[len -= back] = '\0';
            break;
        }
    for (size_t i = 0; i < len;) {
        size_t n = 1;
        while (n <= 4 && i + n <= len && !utf8_is_valid(text + i, n))
            n++;
        if (n > 4 || i + n > len) {
            text[i] = '?';
            n = 1;
        }
        i += n;
    }
}

void worker_clean(const struct worker *w, char *text, size_t room)
{
    text[room - 1] = '\0';
    if (w->nsecrets)
        settings_secret_hide(text, w->secrets, w->nsecrets, strlen(text) == room - 1);
    worker_tidy(text, room);
}

void worker_copy_text(const struct worker *w, char *out, size_t size, const char *text)
{
    size_t len = text ? utf8_cut(text, strlen(text), size - 1) : 0;
    if (len)
        memcpy(out, text, len);
    out[len] = '\0';
    worker_clean(w, out, size);
}

void worker_hide(void *ctx, char *text)
{
    const struct worker *w = ctx;
    settings_secret_hide(text, w->secrets, w->nsecrets, false);
}

void worker_send_request(void *ctx, const char *request)
{
    struct worker *w = ctx;
    char *text = strdup(request);
    if (!text) {
        worker_log(w, LOG_LEVEL_ERROR, "out of memory for a request that is to be shown");
        return;
    }
    worker_hide(w, text);
    size_t len = strlen(text);
    for (size_t at = 0, n; at < len && !w->is_cut_off; at += n) {
        n = len - at < MESSAGE_MAX - 1 ? len - at : MESSAGE_MAX - 1;
        worker_send(w, MESSAGE_REQUEST, text + at, n);
    }
    explicit_bzero(text, len);
    free(text);
}
