/* mailbox.c - a part of what RFC 5322 allows: no comments, no routes, no quoted local parts. */
#include "mailbox.h"

#include <stdbool.h>
#include <string.h>

static bool is_local_part(const char *text, size_t n)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "!#$%&'*+-/=?^_`{|}~.";
    return n && n <= 64 && strspn(text, allowed) >= n && text[0] != '.' && text[n - 1] != '.';
}

static bool is_domain(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    size_t n = strlen(text);
    return n && strspn(text, allowed) == n && !strstr(text, "..") && text[0] != '.' && text[n - 1] != '.';
}

/* The part of `text` without the blanks around it. */
static size_t trim(const char **text, size_t n)
{
    while (n && (**text == ' ' || **text == '\t'))
        ++*text, n--;
    while (n && ((*text)[n - 1] == ' ' || (*text)[n - 1] == '\t'))
        n--;
    return n;
}

static bool copy(char *to, size_t most, const char *from, size_t n)
{
    if (n > most)
        return false;
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* Without its quotes, when it has some. */
static const char *read_name(const char *text, size_t n, struct mailbox *out)
{
    n = trim(&text, n);
    bool is_quoted = n >= 2 && text[0] == '"' && text[n - 1] == '"';
    if (is_quoted)
        text++, n -= 2;
    if (!copy(out->name, MAILBOX_NAME_MAX, text, n))
        return "its name is too long";
    for (const char *p = out->name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return "its name has a control character";
    return strpbrk(out->name, "\"\\<>") ? "its name has one of \" \\ < >" : NULL;
}

static const char *read_address(const char *text, size_t n, struct mailbox *out)
{
    n = trim(&text, n);
    if (!copy(out->address, MAILBOX_ADDRESS_MAX, text, n))
        return "it is too long";
    const char *at = strchr(out->address, '@');
    if (!at)
        return "it has no '@'";
    bool is_good = is_local_part(out->address, (size_t)(at - out->address)) && is_domain(at + 1);
    return is_good ? NULL : "it is no address such as a@example.com";
}

const char *mailbox_read(const char *text, struct mailbox *out)
{
    size_t n = trim(&text, strlen(text));
    *out = (struct mailbox){ "", "" };
    if (!n || text[n - 1] != '>')
        return read_address(text, n, out);
    const char *open = memchr(text, '<', n);
    if (!open)
        return "it has '>' without '<'";
    const char *wrong = read_name(text, (size_t)(open - text), out);
    return wrong ? wrong : read_address(open + 1, n - (size_t)(open + 1 - text) - 1, out);
}
