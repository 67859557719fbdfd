/* exchange.c - see exchange.h. Numbers are in the order of this machine's bytes. A text is its
 * length and its bytes with a NUL behind them; what is missing has the length NO_TEXT. */
#include "exchange.h"

#include <string.h>

#define NO_TEXT UINT32_MAX

/* ---- putting ---- */

bool exchange_begin(struct bytes *to)
{
    uint32_t none = 0;
    return bytes_add(to, &none, sizeof none);
}

bool exchange_end(struct bytes *to, size_t begin)
{
    uint32_t len;
    size_t end = to->len - begin - sizeof len;
    if (end > EXCHANGE_BYTES_MAX)
        return false;
    len = (uint32_t)end;
    memcpy(to->data + begin, &len, sizeof len);
    return true;
}

static bool put_bytes(struct bytes *to, const char *data, uint32_t len)
{
    if (!data)
        len = NO_TEXT;
    return bytes_add(to, &len, sizeof len) && (!data || (bytes_add(to, data, len) && bytes_add(to, "", 1)));
}

static bool put_text(struct bytes *to, const char *text)
{
    return put_bytes(to, text, text ? (uint32_t)strlen(text) : 0);
}

bool exchange_put_question(struct bytes *to, const struct question *q)
{
    return bytes_add(to, &q->route, sizeof q->route) && put_text(to, q->query) && put_text(to, q->key) &&
           put_text(to, q->accept) && put_text(to, q->who) && bytes_add(to, &q->role, sizeof q->role) &&
           put_bytes(to, q->body, q->body_len) && bytes_add(to, &q->line, sizeof q->line);
}

bool exchange_put_answer(struct bytes *to, const struct answer *a)
{
    return bytes_add(to, &a->status, sizeof a->status) && bytes_add(to, &a->content, sizeof a->content) &&
           bytes_add(to, &a->retry_after_s, sizeof a->retry_after_s) && put_bytes(to, a->body, a->body_len) &&
           bytes_add(to, &a->wait_ms, sizeof a->wait_ms) && put_text(to, a->at);
}

/* ---- taking ---- */

bool exchange_whole(const struct bytes *from, struct exchange *message, bool *bad)
{
    uint32_t len;
    *bad = false;
    if (from->len < sizeof len)
        return false;
    memcpy(&len, from->data, sizeof len);
    *bad = len > EXCHANGE_BYTES_MAX;
    if (*bad || from->len - sizeof len < len)
        return false;
    *message = (struct exchange){ from->data + sizeof len, len };
    return true;
}

void exchange_take(struct bytes *from, const struct exchange *message)
{
    size_t end = (size_t)(message->data - from->data) + message->len;
    bytes_take(from, end);
}

static bool take(struct exchange *message, void *out, size_t len)
{
    if (message->len < len)
        return false;
    memcpy(out, message->data, len);
    message->data += len;
    message->len -= len;
    return true;
}

static bool take_bytes(struct exchange *message, const char **out, uint32_t *len)
{
    *out = NULL;
    if (!take(message, len, sizeof *len))
        return false;
    if (*len == NO_TEXT) {
        *len = 0;
        return true;
    }
    if (message->len <= *len || message->data[*len])
        return false;
    *out = message->data;
    message->data += *len + 1;
    message->len -= *len + 1;
    return true;
}

bool exchange_next_question(struct exchange *message, struct question *q)
{
    uint32_t len;
    return take(message, &q->route, sizeof q->route) && take_bytes(message, &q->query, &len) &&
           take_bytes(message, &q->key, &len) && take_bytes(message, &q->accept, &len) &&
           take_bytes(message, &q->who, &len) && q->who &&
           take(message, &q->role, sizeof q->role) && take_bytes(message, &q->body, &q->body_len) &&
           take(message, &q->line, sizeof q->line);
}

bool exchange_next_answer(struct exchange *message, struct answer *a)
{
    uint32_t len;
    a->shared = NULL;
    return take(message, &a->status, sizeof a->status) && take(message, &a->content, sizeof a->content) &&
           take(message, &a->retry_after_s, sizeof a->retry_after_s) &&
           take_bytes(message, &a->body, &a->body_len) && take(message, &a->wait_ms, sizeof a->wait_ms) &&
           take_bytes(message, &a->at, &len) && a->content < CONTENTS;
}
