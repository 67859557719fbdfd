/* event_cursor.c - see event_cursor.h. */
#include "event_cursor.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

bool event_cursor_split(const char *text, struct event_cursor *out)
{
    static const size_t most[EVENT_CURSOR_NUMBERS] = { 18, 20, 18 };
    int dashes = 0;
    for (const char *at = text; *at; at++)
        dashes += *at == '-';
    if (dashes < 1 || dashes >= EVENT_CURSOR_NUMBERS)
        return false;
    strcpy(out->numbers[0], "0");
    for (int n = EVENT_CURSOR_NUMBERS - 1 - dashes; n < EVENT_CURSOR_NUMBERS; n++) {
        size_t length = strspn(text, "0123456789");
        char end = n + 1 < EVENT_CURSOR_NUMBERS ? '-' : '\0';
        if (length == 0 || length > most[n] || text[length] != end)
            return false;
        snprintf(out->numbers[n], sizeof out->numbers[n], "%.*s", (int)length, text);
        text += length + 1;
    }
    return true;
}
