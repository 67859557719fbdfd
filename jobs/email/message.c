/* message.c - what is no ASCII is written as words of RFC 2047 in headers, and as "=C3=A4" in
 * texts. Bytes are copied only where no reader can take them for something else. */
#include "message.h"

#include <string.h>
#include <time.h>

enum {
    WORD_BYTES = 75 - 12, /* of a word between "=?UTF-8?Q?" and "?=" */
    PLAIN_BYTES = 900,    /* without a blank: more is folded into words */
    HEADER_BYTES = 78,    /* of a line of a header, where it has blanks */
    LINE_BYTES = 75,      /* of a text, and '=' at the end of one that goes on */
};

static const char hex[] = "0123456789ABCDEF";

/* ---- headers ---- */

bool message_is_plain(const char *text)
{
    char last = ' ';
    for (size_t n = 0; *text; last = *text++) {
        bool can_be_folded = *text == ' ' && last != ' ' && text[strspn(text, " ")];
        n = can_be_folded ? 0 : n + 1;
        if (*text < ' ' || *text > '~' || n > PLAIN_BYTES)
            return false;
    }
    return true;
}

/* A reader takes nothing in it for a word. */
static bool is_copied_to_header(const char *text)
{
    return message_is_plain(text) && !strstr(text, "=?");
}

/* One byte as it stands in a word; it takes 1 or 3. */
static size_t encode(unsigned char c, char out[3])
{
    static const char as_is[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!*+-/";
    if (c == ' ' || (c && strchr(as_is, c))) {
        out[0] = c == ' ' ? '_' : (char)c;
        return 1;
    }
    out[0] = '=';
    out[1] = hex[c >> 4];
    out[2] = hex[c & 15];
    return 3;
}

/* How many bytes the letter has that begins here. */
static size_t letter(const char *text)
{
    size_t n = 1;
    while (n < 4 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Words of at most 75 bytes, each on a line of its own, none with half of a letter. `used` bytes of
 * the first line are gone. */
static void write_words(const char *text, size_t used, FILE *out)
{
    if (used + 12 > WORD_BYTES) {
        fputs("\r\n ", out);
        used = 0;
    }
    fputs("=?UTF-8?Q?", out);
    while (*text) {
        char encoded[12] = "";
        size_t bytes = letter(text), n = 0;
        for (size_t i = 0; i < bytes; i++)
            n += encode((unsigned char)text[i], encoded + n);
        if (used + n > WORD_BYTES) {
            fputs("?=\r\n =?UTF-8?Q?", out);
            used = 0;
        }
        fwrite(encoded, 1, n, out);
        used += n;
        text += bytes;
    }
    fputs("?=", out);
}

/* A blank and what follows it, up to the next blank, go to a new line where this one would be too
 * long. No line has only blanks. */
static void write_folded(const char *text, size_t used, FILE *out)
{
    for (bool is_first = true; *text; is_first = false) {
        size_t blanks = strspn(text, " "), n = blanks + strcspn(text + blanks, " ");
        bool is_too_long = used + n > HEADER_BYTES && blanks && blanks < n && !is_first;
        if (is_too_long)
            fputs("\r\n", out);
        fwrite(text, 1, n, out);
        used = is_too_long ? n : used + n;
        text += n;
    }
}

static void write_header(const struct message_header *h, FILE *out)
{
    size_t used = strlen(h->name) + 2;
    fprintf(out, "%s: ", h->name);
    if (h->is_plain || is_copied_to_header(h->value))
        write_folded(h->value, used, out);
    else
        write_words(h->value, used, out);
    fputs("\r\n", out);
}

/* `used` bytes of its first line are gone. */
static void write_mailbox(const struct mailbox *m, size_t used, FILE *out)
{
    if (!*m->name)
        fputs(m->address, out);
    else if (is_copied_to_header(m->name))
        fprintf(out, "\"%s\" <%s>", m->name, m->address);
    else {
        write_words(m->name, used, out);
        fprintf(out, "\r\n <%s>", m->address);
    }
}

static void write_mailboxes(const char *name, const struct mailbox *list, int n, FILE *out)
{
    if (!n)
        return;
    fprintf(out, "%s: ", name);
    for (int i = 0; i < n; i++) {
        if (i)
            fputs(",\r\n ", out);
        write_mailbox(&list[i], i ? 1 : strlen(name) + 2, out);
    }
    fputs("\r\n", out);
}

/* "Sun, 01 Mar 2026 13:15:00 +0000", whatever the locale. */
static void write_date(int64_t now, FILE *out)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t at = (time_t)now;
    struct tm tm;
    gmtime_r(&at, &tm);
    fprintf(out, "Date: %.3s, %02d %.3s %d %02d:%02d:%02d +0000\r\n", days + 3 * tm.tm_wday, tm.tm_mday,
            months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void write_headers(const struct message *m, FILE *out)
{
    write_date(m->now, out);
    write_mailboxes("From", m->from, 1, out);
    write_mailboxes("To", m->to, m->nto, out);
    write_mailboxes("Cc", m->cc, m->ncc, out);
    write_header(&(struct message_header){ .name = "Subject", .value = m->subject }, out);
    fprintf(out, "Message-ID: <%s@%s>\r\n", m->key, strchr(m->from->address, '@') + 1);
    fputs("Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n", out);
    for (int i = 0; i < m->nheaders; i++) {
        const struct message_header *h = &m->headers[i];
        if (h->list)
            write_mailboxes(h->name, h->list, h->nlist, out);
        else
            write_header(h, out);
    }
}

/* ---- texts ---- */

static bool is_end_of_line(const char *at)
{
    return *at == '\0' || *at == '\n' || *at == '\r';
}

/* As it is: printable, no '='; a blank unless it ends a line; a dot or an F unless it begins one,
 * where a server could take it for the end of the mail, or a mailbox for the next mail. */
static bool is_copied(const char *at, size_t used)
{
    unsigned char c = (unsigned char)*at;
    if (c == ' ' || c == '\t')
        return !is_end_of_line(at + 1);
    if (!used && (c == '.' || c == 'F'))
        return false;
    return c > ' ' && c <= '~' && c != '=';
}

/* Each of CR LF, LF and CR ends a line. */
static void write_text(const char *text, FILE *out)
{
    size_t used = 0;
    bool is_empty = !*text;
    for (; *text; text++) {
        if (is_end_of_line(text)) {
            text += text[0] == '\r' && text[1] == '\n';
            fputs("\r\n", out);
            used = 0;
            continue;
        }
        bool copied = is_copied(text, used);
        if (used + (copied ? 1 : 3) > LINE_BYTES) {
            fputs("=\r\n", out);
            used = 0;
            copied = is_copied(text, used);
        }
        if (copied)
            fputc(*text, out);
        else
            fprintf(out, "=%c%c", hex[(unsigned char)*text >> 4], hex[*text & 15]);
        used += copied ? 1 : 3;
    }
    if (used || is_empty)
        fputs("\r\n", out);
}

static void write_part(const char *type, const char *text, FILE *out)
{
    fprintf(out, "Content-Type: %s; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n",
            type);
    write_text(text, out);
}

/* No line of a part can be the boundary: "=_" does not come out of quoted-printable. */
static void write_both(const struct message *m, FILE *out)
{
    fprintf(out, "Content-Type: multipart/alternative; boundary=\"=_%s\"\r\n\r\n--=_%s\r\n", m->key, m->key);
    write_part("text/plain", m->text, out);
    fprintf(out, "--=_%s\r\n", m->key);
    write_part("text/html", m->html, out);
    fprintf(out, "--=_%s--\r\n", m->key);
}

int message_write(const struct message *m, FILE *out)
{
    write_headers(m, out);
    if (m->text && m->html)
        write_both(m, out);
    else if (m->html)
        write_part("text/html", m->html, out);
    else
        write_part("text/plain", m->text ? m->text : "", out);
    return ferror(out) ? -1 : 0;
}
