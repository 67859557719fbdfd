/* sent.c - settings on their way to a worker: printed, and sent in parts. */
#include "sent.h"

#include <stdio.h>

#include "../base/settings_print.h"
#include "../wire/message.h"

int sent_print(const struct settings *s, char **text, size_t *len, struct err *err)
{
    struct settings sent = *s;
    if (sent.business)
        sent.store = sent.business;     /* a worker is not sent the store's URL */
    sent.nlisteners = 0;                /* nor what it does not need; of a trial it has one job only */
    FILE *f = open_memstream(text, len);
    if (!f)
        return err_set(err, ERR_NOMEM, "out of memory for the workers' settings");
    int rc = settings_print(&sent, f, SETTINGS_BARE, true, err);
    bool is_whole = fclose(f) == 0 && *text;
    if (rc < 0)
        return rc;
    return is_whole ? 0 : err_set(err, ERR_NOMEM, "out of memory for the workers' settings");
}

int sent_send(int sock, const char *text, size_t len, int slab_fd, struct err *err)
{
    size_t part = MESSAGE_MAX - 1;
    for (size_t at = 0; at < len || at == 0; at += part) {
        size_t n = len - at < part ? len - at : part;
        int rc = message_send(sock, MESSAGE_SETTINGS, text + at, n, at == 0 ? slab_fd : -1, err);
        if (rc)
            return rc;
    }
    return 0;
}
