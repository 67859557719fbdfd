/* fuzz_lines.c - lines of a body in pieces of any size, taken some at a time: they are those that
 * the body has, each cut where it is too long, whatever the pieces. */
#include "../../engine/http/lines.h"
#include "fuzz.h"

/* The lines one by one, as plainly as can be. */
static void put_expected(struct bytes *to, const uint8_t *data, size_t len, size_t kept)
{
    size_t has = 0;
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n' || has < kept)
            MUST(bytes_add(to, &data[i], 1));
        has = data[i] == '\n' ? 0 : has + 1;
    }
    if (len && data[len - 1] != '\n')
        MUST(bytes_add(to, "\n", 1));
}

static void take_some(struct lines *l, struct bytes *b, struct bytes *taken, int most)
{
    int n, had = l->complete;
    size_t len = lines_first(l, b, most, &n);
    MUST(n == (had < most ? had : most) && len <= l->complete_len && (n > 0) == (len > 0));
    MUST(!len || b->data[len - 1] == '\n');
    MUST(bytes_add(taken, b->data, len));
    lines_take(l, b, len, n);
    MUST(l->complete == had - n && l->complete_len <= b->len);
    MUST(b->len - l->complete_len <= l->kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct lines l = { .kept = 1 + input_u8(&in) % 32 };
    size_t piece = 1 + input_u8(&in) % 64;
    int most = 1 + input_u8(&in) % 4;
    struct bytes b = { 0 }, taken = { 0 }, expected = { 0 };
    put_expected(&expected, in.p, in.left, l.kept);
    for (size_t at = 0; at < in.left; at += piece) {
        size_t n = in.left - at < piece ? in.left - at : piece;
        MUST(bytes_add(&b, in.p + at, n));
        lines_look(&l, &b);
        if (at % 3 == 0)
            take_some(&l, &b, &taken, most);
    }
    MUST(lines_end(&l, &b));
    while (l.complete)
        take_some(&l, &b, &taken, most);
    MUST(b.len == 0 && taken.len == expected.len);
    MUST(!taken.len || !memcmp(taken.data, expected.data, taken.len));
    bytes_free(&b);
    bytes_free(&taken);
    bytes_free(&expected);
    return 0;
}
