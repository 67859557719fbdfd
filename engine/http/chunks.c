/* chunks.c - see chunks.h. A function for each state takes one byte, and says which state is
 * next. */
#include "chunks.h"

enum { DIGITS_MAX = 15 };

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What may stand in an extension or a trailer: anything that ends no line. */
static bool is_inside(char c)
{
    return (unsigned char)c >= ' ' ? c != 0x7f : c == '\t';
}

static enum chunks_state size(struct chunks *c, char byte)
{
    int digit = digit_of(byte);
    if (digit >= 0 && c->digits < DIGITS_MAX) {
        c->left = c->left * 16 + (uint64_t)digit;
        c->digits++;
        return CHUNKS_SIZE;
    }
    if (!c->digits)
        return CHUNKS_BAD;
    if (byte == '\r')
        return CHUNKS_SIZE_END;
    return byte == ';' ? CHUNKS_EXTENSION : CHUNKS_BAD;
}

static enum chunks_state extension(struct chunks *c, char byte)
{
    if (++c->beside > CHUNKS_LINE_MAX)
        return CHUNKS_BAD;
    if (byte == '\r')
        return CHUNKS_SIZE_END;
    return is_inside(byte) ? CHUNKS_EXTENSION : CHUNKS_BAD;
}

static enum chunks_state size_end(struct chunks *c, char byte)
{
    c->beside = 0;
    if (byte != '\n')
        return CHUNKS_BAD;
    return c->left ? CHUNKS_DATA : CHUNKS_TRAILER_BEGIN;
}

static enum chunks_state data_cr(struct chunks *c, char byte)
{
    (void)c;
    return byte == '\r' ? CHUNKS_DATA_LF : CHUNKS_BAD;
}

static enum chunks_state data_lf(struct chunks *c, char byte)
{
    c->digits = 0;
    return byte == '\n' ? CHUNKS_SIZE : CHUNKS_BAD;
}

static enum chunks_state trailer_begin(struct chunks *c, char byte)
{
    if (byte == '\r')
        return CHUNKS_END_LF;
    c->beside++;
    return is_inside(byte) && byte != ' ' && byte != '\t' ? CHUNKS_TRAILER : CHUNKS_BAD;
}

static enum chunks_state trailer(struct chunks *c, char byte)
{
    if (++c->beside > CHUNKS_TRAILERS_MAX)
        return CHUNKS_BAD;
    if (byte == '\r')
        return CHUNKS_TRAILER_LF;
    return is_inside(byte) ? CHUNKS_TRAILER : CHUNKS_BAD;
}

static enum chunks_state trailer_lf(struct chunks *c, char byte)
{
    (void)c;
    return byte == '\n' ? CHUNKS_TRAILER_BEGIN : CHUNKS_BAD;
}

static enum chunks_state end_lf(struct chunks *c, char byte)
{
    (void)c;
    return byte == '\n' ? CHUNKS_COMPLETE : CHUNKS_BAD;
}

static enum chunks_state (*const next[])(struct chunks *c, char byte) = {
    [CHUNKS_SIZE] = size,
    [CHUNKS_EXTENSION] = extension,
    [CHUNKS_SIZE_END] = size_end,
    [CHUNKS_DATA_CR] = data_cr,
    [CHUNKS_DATA_LF] = data_lf,
    [CHUNKS_TRAILER_BEGIN] = trailer_begin,
    [CHUNKS_TRAILER] = trailer,
    [CHUNKS_TRAILER_LF] = trailer_lf,
    [CHUNKS_END_LF] = end_lf,
};

static size_t take_data(struct chunks *c, size_t len)
{
    size_t n = c->left < len ? (size_t)c->left : len;
    c->left -= n;
    if (!c->left)
        c->state = CHUNKS_DATA_CR;
    return n;
}

size_t chunks_feed(struct chunks *c, const char *bytes, size_t len, const char **data, size_t *data_len)
{
    size_t used = 0;
    *data_len = 0;
    while (used < len && c->state < CHUNKS_COMPLETE) {
        if (c->state == CHUNKS_DATA) {
            *data = bytes + used;
            *data_len = take_data(c, len - used);
            return used + *data_len;
        }
        c->state = next[c->state](c, bytes[used++]);
    }
    return used;
}
