/* options.c - each setting has a function of its own. What is the same for each check is checked
 * here: an address that is none is found when the job is opened, not at night. */
#include "options.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../shared/template/rewrite.h"
#include "mailbox.h"
#include "message.h"

/* analyze: -Wno-analyzer-malloc-leak: options_release() frees what `o` holds; gcc loses sight of
 * it where one pointer of a list is tested. */

enum { CONNECT_TIMEOUT_S = 10, EARLIER_MS = 500, HEADER_NAME_MAX = 60 };

/* ---- the server ---- */

/* A path would be sent to the server, decoded, as our own name. */
static bool has_more(CURLU *url)
{
    static const CURLUPart parts[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_QUERY,
                                       CURLUPART_FRAGMENT, CURLUPART_PATH };
    bool has = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *text = NULL;
        if (!curl_url_get(url, parts[i], &text, 0))
            has = has || strcmp(text, "/") != 0;
        curl_free(text);
    }
    return has;
}

static int take_parts(struct options *o, CURLU *url)
{
    char *scheme = NULL, *host = NULL, *port = NULL;
    bool has_all = !curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) &&
                   !curl_url_get(url, CURLUPART_HOST, &host, 0) &&
                   !curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT);
    if (has_all && !has_more(url)) {
        o->host = strdup(host);
        o->port = atoi(port);
        if (asprintf(&o->receiver, "%s://%s:%s", scheme, host, port) < 0)
            o->receiver = NULL;
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    return o->host && o->receiver ? 0 : -1;
}

static int read_server(const struct settings *s, void *into)
{
    struct options *o = into;
    const char *text = settings_text(s, "server");
    o->server.url = text;
    if (!text || (strncasecmp(text, "smtp://", 7) != 0 && strncasecmp(text, "smtps://", 8) != 0))
        return settings_refuse(
            s, "setting 'server': expected such as \"smtp://mail.example.com:587\", or smtps://");
    CURLU *url = curl_url();
    int rc = !url || curl_url_set(url, CURLUPART_URL, text, 0) ? -1 : take_parts(o, url);
    curl_url_cleanup(url);
    if (rc)
        return settings_refuse(s,
                               "setting 'server': it is no URL of a server without user, password and path");
    return 0;
}

/* Without TLS a password would be read by whoever is on the way. */
static int read_login(const struct settings *s, void *into)
{
    struct options *o = into;
    const char *tls = settings_text(s, "tls");
    bool is_none = tls && !strcmp(tls, "none"), is_smtps = !strncasecmp(o->server.url, "smtps://", 8);
    o->server.user = settings_text(s, "user");
    o->server.password = settings_text(s, "password");
    if (tls && !is_none)
        return settings_refuse(s, "setting 'tls': found '%.40s', expected \"none\", or no such setting", tls);
    if (is_none && is_smtps)
        return settings_refuse(s, "setting 'tls': found \"none\", but smtps:// is TLS");
    if (!o->server.user != !o->server.password)
        return settings_refuse(s, "settings 'user' and 'password': found one of them, expected both or none");
    if (is_none && o->server.user)
        return settings_refuse(
            s, "settings 'user' and 'password': expected none, as tls = \"none\" would show them");
    o->server.tls = is_none ? SESSION_NO_TLS : SESSION_STARTTLS;
    return 0;
}

static int read_connection(const struct settings *s, void *into)
{
    struct options *o = into;
    const struct prescient_host *host = s->host;
    int64_t connect_s = host->setting_duration(host, "connect_timeout", CONNECT_TIMEOUT_S);
    if (connect_s < 1)
        return settings_refuse(
            s, "%s", connect_s < 0 ? host->error(host) : "setting 'connect_timeout': expected at least 1s");
    long all = (long)host->timeout_ms;
    if (host->batch_timeout_ms < all)
        all = (long)host->batch_timeout_ms;
    o->timeout_ms = all - (all / 10 < EARLIER_MS ? all / 10 : EARLIER_MS);
    o->server.connect_timeout_ms = connect_s * 1000 < o->timeout_ms ? (long)connect_s * 1000 : o->timeout_ms;
    return settings_file(s, "ca_file", &o->server.ca_file);
}

/* ---- who ---- */

static int read_address(const struct settings *s, const char *name, const char *text, struct template **out)
{
    struct mailbox m;
    if (!text)
        return settings_refuse(s, "setting '%s': expected an address such as \"Shop <shop@example.com>\"",
                               name);
    if (template_new(s, name, text, TEMPLATE_LINE, out))
        return -1;
    const char *wrong = template_is_fixed(*out) ? mailbox_read(text, &m) : NULL;
    return wrong ? settings_refuse(s, "setting '%s': '%.100s': %s", name, text, wrong) : 0;
}

static int read_from(const struct settings *s, void *into)
{
    struct options *o = into;
    return read_address(s, "from", settings_text(s, "from"), &o->from);
}

/* One text, or a list. */
static int read_list(const struct settings *s, const char *name, struct recipients *out)
{
    const char *text = settings_text(s, name);
    int n = text ? 1 : settings_length(s, name, "[ \"a@example.com\" ]");
    if (n < 0)
        return -1;
    out->list = calloc((size_t)n + 1, sizeof(struct template *));
    if (!out->list)
        return settings_refuse(s, "out of memory");
    for (; out->n < n; out->n++)
        if (read_address(s, name, text ? text : settings_element(s, name, out->n), &out->list[out->n])) {
            out->n++;
            return -1;
        }
    return 0;
}

static int read_recipients(const struct settings *s, void *into)
{
    struct options *o = into;
    if (read_list(s, "to", &o->to) || read_list(s, "cc", &o->cc) || read_list(s, "bcc", &o->bcc))
        return -1;
    if (!o->to.n && !o->cc.n && !o->bcc.n)
        return settings_refuse(s, "setting 'to' is missing, expected such as [ \"sales@example.com\" ]");
    return 0;
}

/* ---- what ---- */

static int read_content(const struct settings *s, void *into)
{
    struct options *o = into;
    if (template_of_setting(s, "subject", TEMPLATE_LINE, &o->subject) ||
        template_of_setting(s, "text", TEMPLATE_TEXT, &o->text) ||
        template_of_setting(s, "html", TEMPLATE_TEXT, &o->html))
        return -1;
    if (!o->subject)
        return settings_refuse(s, "setting 'subject' is missing");
    if (!o->text && !o->html)
        return settings_refuse(s, "settings 'text' and 'html': found none, expected one or both");
    return 0;
}

/* How many bytes the first of these mailboxes has: up to a comma outside of quotes and \(...). */
static size_t first_mailbox(const char *text)
{
    char opened[REWRITE_DEPTH], top = '\0';
    size_t n = 0;
    for (int depth = 0; text[n] && depth < REWRITE_DEPTH; n++) {
        char c = text[n], next = text[n + 1];
        bool begins = c == '\\' && next == '(' && top != '(', ends = c == (top == '(' ? ')' : '"') && top;
        if (c == ',' && !depth)
            return n;
        n += c == '\\' && next;
        if (begins || (!ends && (c == '"' || (c == '(' && top == '('))))
            opened[depth++] = begins ? '(' : c;
        depth -= ends;
        top = depth ? opened[depth - 1] : '\0';
    }
    return n + strlen(text + n);
}

static int read_header_mailboxes(const struct settings *s, struct option_header *h, const char *text)
{
    struct recipients *r = &h->mailboxes;
    r->list = calloc(strlen(text) + 1, sizeof(struct template *));
    if (!r->list)
        return settings_refuse(s, "out of memory");
    for (bool goes_on = true; goes_on; text += goes_on) {
        text += strspn(text, " \t");
        size_t n = first_mailbox(text);
        char *one = strndup(text, n);
        int rc = one ? read_address(s, "headers", one, &r->list[r->n++])
                     : settings_refuse(s, "out of memory");
        free(one);
        if (rc)
            return -1;
        text += n;
        goes_on = *text == ',';
    }
    if (h->kind == OPTION_MAILBOX && r->n > 1)
        return settings_refuse(s, "setting 'headers': %s: found %d addresses, expected one", h->name, r->n);
    return 0;
}

static int read_header_value(const struct settings *s, struct option_header *h, const char *text)
{
    if (h->kind == OPTION_MAILBOX || h->kind == OPTION_MAILBOXES)
        return read_header_mailboxes(s, h, text);
    if (template_new(s, "headers", text, TEMPLATE_LINE, &h->value))
        return -1;
    if (h->kind == OPTION_PLAIN && template_is_fixed(h->value) && !message_is_plain(text))
        return settings_refuse(s, "setting 'headers': %s " OPTION_PLAIN_WORDS, h->name);
    return 0;
}

/* False: the job itself sets it. */
static bool find_kind(const char *name, enum option_header_kind *kind)
{
    static const char *const ours[] = { "Date",
                                        "From",
                                        "To",
                                        "Cc",
                                        "Bcc",
                                        "Subject",
                                        "Message-ID",
                                        "Auto-Submitted",
                                        "MIME-Version",
                                        "Content-Type",
                                        "Content-Transfer-Encoding" };
    static const struct {
        const char *name;
        enum option_header_kind kind;
    } known[] = {
        { "Reply-To", OPTION_MAILBOXES },
        { "Sender", OPTION_MAILBOX },
        { "Disposition-Notification-To", OPTION_MAILBOXES },
        { "References", OPTION_PLAIN },
        { "In-Reply-To", OPTION_PLAIN },
        { "List-Unsubscribe", OPTION_PLAIN },
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcasecmp(ours[i], name))
            return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(known[i].name, name))
            *kind = known[i].kind;
    return true;
}

static int read_header(const struct settings *s, struct options *o, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    struct option_header *h = &o->headers[o->nheaders++];
    size_t n = text ? strspn(text, letters) : 0;
    if (!n || n > HEADER_NAME_MAX || text[n] != ':')
        return settings_refuse(s, "setting 'headers': element %d is no text such as \"X-Team: sales\"",
                               o->nheaders);
    h->name = strndup(text, n);
    if (!h->name)
        return settings_refuse(s, "out of memory");
    if (!find_kind(h->name, &h->kind))
        return settings_refuse(s, "setting 'headers': %s is a header that the job itself sets", h->name);
    text += n + 1;
    return read_header_value(s, h, text + strspn(text, " \t"));
}

static int read_headers(const struct settings *s, void *into)
{
    struct options *o = into;
    int n = settings_length(s, "headers", "[ \"X-Team: sales\" ]");
    if (n < 0)
        return -1;
    o->headers = calloc((size_t)n + 1, sizeof *o->headers);
    if (!o->headers)
        return settings_refuse(s, "out of memory");
    for (int i = 0; i < n; i++)
        if (read_header(s, o, settings_element(s, "headers", i)))
            return -1;
    return 0;
}

int options_read(struct options *o, const struct settings *s)
{
    static settings_part *const parts[] = { read_server,     read_login,   read_connection, read_from,
                                            read_recipients, read_content, read_headers };
    *o = (struct options){ .host = NULL };
    return settings_read(s, parts, sizeof parts / sizeof *parts, o);
}

static void release_list(struct recipients *r)
{
    for (int i = 0; i < r->n; i++)
        template_free(r->list[i]);
    free(r->list);
}

void options_release(struct options *o)
{
    for (int i = 0; i < o->nheaders; i++) {
        free(o->headers[i].name);
        template_free(o->headers[i].value);
        release_list(&o->headers[i].mailboxes);
    }
    free(o->headers);
    release_list(&o->to);
    release_list(&o->cc);
    release_list(&o->bcc);
    template_free(o->from);
    template_free(o->subject);
    template_free(o->text);
    template_free(o->html);
    free(o->host);
    free(o->receiver);
    *o = (struct options){ .host = NULL };
}
