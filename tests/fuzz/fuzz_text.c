/* fuzz_text.c - text of others: what is called UTF-8 is, cuts fall between characters, and nothing
 * that reaches a terminal or the log can steer it. */
#include <wchar.h>

#include "../../engine/base/log.h"
#include "../../engine/base/nearest.h"
#include "../../engine/base/utf8.h"
#include "../../engine/cmd/text.h"
#include "fuzz.h"

static void cut(const char *text, size_t len)
{
    bool valid = utf8_is_valid(text, len);
    for (size_t most = 0; most <= len && most < 40; most++) {
        size_t kept = utf8_cut(text, len, most);
        MUST(kept <= most);
        MUST(!valid || (utf8_is_valid(text, kept) && most - kept < 4));
    }
}

static void check_harmless(const char *text, size_t len)
{
    MUST(utf8_is_valid(text, len));
    for (size_t i = 0; i < len; i++) {
        MUST((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
        /* a C1 control begins a sequence, too */
        MUST(memcmp(text + i, "\xc2\x9b", i + 1 < len ? 2 : 1) != 0 || i + 1 == len);
        /* right to left from here */
        MUST(i + 2 >= len || memcmp(text + i, "\xe2\x80\xae", 3) != 0);
    }
}

static void put(const char *text, int most)
{
    char *shown = NULL;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    int width = text_put(out, text, most);
    fclose(out);
    MUST(most == 0 || width <= most);
    MUST(most != 0 || width == text_width(text));
    check_harmless(shown, size);
    free(shown);
}

static void log_it(const char *text)
{
    char *line = NULL;
    size_t size;
    struct log log;
    FILE *out = open_memstream(&line, &size);
    log_init(&log, out, LOG_LEVEL_DEBUG, "fuzz");
    log_line(&log, LOG_LEVEL_WARN, "a worker said: %s", text);
    fclose(out);
    MUST(size > 0 && line[size - 1] == '\n');
    for (size_t i = 0; i + 1 < size; i++)
        MUST((unsigned char)line[i] >= 0x20 && line[i] != 0x7f);
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    size_t len;
    int most = input_u8(&in) % 48;
    char *text = input_bytes(&in, in.left, a, &len);
    cut(text, len);
    put(text, most);
    put(text, 0);
    log_it(text);
    if (len < 200)
        MUST(nearest_distance(text, "enqueue") >= 0);
    arena_free(a);
    return 0;
}
