/* fuzz_settings.c - any text as a settings file: refused with a place and words, or read; and what
 * was read is printed in a form that a worker, which gets its settings that way, reads back to the
 * same. */

#include "../../engine/base/settings_load.h"
#include "../../engine/base/settings_print.h"
#include "fuzz.h"


static char *printed(const struct settings *s, bool commented, bool secrets)
{
    struct err err = { 0 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MUST(settings_print(s, out, commented ? SETTINGS_EXPLAINED : SETTINGS_BARE, secrets, &err) == 0);
    fclose(out);
    return text;
}

static void print_and_read_back(const struct settings *s)
{
    struct settings again;
    struct err err = { 0 };
    char *text = printed(s, false, true), *commented = printed(s, true, true),
         *shown = printed(s, true, false);
    MUST(settings_parse(&again, text, "printed", &err) == 0);
    char *second = printed(&again, false, true);
    MUST(!strcmp(text, second));
    settings_release(&again);
    MUST(settings_parse(&again, commented, "commented", &err) == 0);
    settings_release(&again);
    free(second);
    free(text);
    free(commented);
    free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings s;
    struct err err = { 0 };
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    /* it would read this machine's files: test_settings_sources looks at that */
    if (strstr(text, "@include")) {
        free(text);
        return -1;
    }
    if (settings_parse(&s, text, "fuzz.cfg", &err) == 0) {
        print_and_read_back(&s);
        settings_release(&s);
    } else {
        MUST(err.code == ERR_SETTINGS && err.text[0]);
    }
    free(text);
    return 0;
}
