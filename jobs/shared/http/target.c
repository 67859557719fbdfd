/* target.c - of a URL that is a fixed text only its form is checked: who wrote the settings may
 * name any host. */
#include "target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* analyze: -Wno-analyzer-malloc-leak: target_release() frees the hosts; gcc loses sight of them
 * where one is put into the list. */

/* ---- ports ---- */

/* Behind the end of an interpolation, or of a string in one. They have ends, and are not deep:
 * rewrite.c has read them. */
static const char *skip(const char *at, bool is_string)
{
    int depth = 1;
    while (*at && depth) {
        if (!strncmp(at, "\\(", 2) && is_string)
            at = skip(at + 2, false);
        else if (is_string)
            depth -= *at == '"', at += *at == '\\' && at[1] ? 2 : 1;
        else if (*at == '"')
            at = skip(at + 1, true);
        else if (*at == '#')
            at += strcspn(at, "\n");
        else
            depth += (*at == '(') - (*at == ')'), at++;
    }
    return at;
}

/* 1 to 65535, with nothing behind but what ends it. 0: it is none. */
static int read_port(const char *text, const char *ends)
{
    size_t n = strspn(text, "0123456789");
    bool is_number = n && n <= 5 && (!text[n] || strchr(ends, text[n]));
    int port = is_number ? atoi(text) : 0;
    return port <= 65535 ? port : 0;
}

/* Of "http://\(.data.host):8080/\(.entity_key)": what follows ':' before the path begins. */
static int fixed_port(const char *url)
{
    const char *at = strstr(url, "://");
    int port = 0;
    if (!at || memchr(url, '\\', (size_t)(at - url)))
        return 0;
    for (at += 3; *at && !strchr("/?#", *at);) {
        if (!strncmp(at, "\\(", 2))
            at = skip(at + 2, false);
        else if (*at++ == ':')
            port = read_port(at, "/?#");
    }
    return port;
}

/* A pattern and its port, to be freed: "*.example.com:8443", "[::1]:80". NULL: it is none. */
static char *read_host(const char *text, int *port)
{
    const char *colon = text ? strrchr(text, ':') : NULL;
    bool has_port = colon && colon > text && (colon[-1] == ']' || strchr(text, ':') == colon);
    *port = has_port ? read_port(colon + 1, "") : 0;
    if (!text || (has_port && !*port))
        return NULL;
    char *host = has_port ? strndup(text, (size_t)(colon - text)) : strdup(text);
    if (host && address_is_pattern(host))
        return host;
    free(host);
    return NULL;
}

static bool is_allowed(const struct target *t, const struct place *place)
{
    int own = strncasecmp(place->receiver, "https:", 6) != 0 ? 80 : 443;
    bool is_fixed = place->port == own || place->port == t->port, is_host = false;
    for (int i = 0; i < t->nhosts; i++) {
        if (!address_is_host(t->hosts[i], place->host))
            continue;
        is_host = true;
        if (t->ports[i] ? t->ports[i] == place->port : is_fixed)
            return true;
    }
    return !is_host; /* the batch has words for that */
}

/* 0, or -1: the check is answered. */
static int check_port(const struct target *t, const char *url, struct prescient_answer *answer)
{
    struct place place;
    char why[256];
    bool is_refused = !place_read(&place, url, why, sizeof why) && !is_allowed(t, &place);
    if (is_refused)
        prescient_fail_final(answer,
                             "its url: port %d of %.100s is not fixed in 'url', and 'hosts' does not name it",
                             place.port, place.host);
    place_release(&place);
    return is_refused ? -1 : 0;
}

/* ---- settings ---- */

static int read_url(const struct settings *s, void *into)
{
    struct target *t = into;
    struct place place;
    char why[256];
    const char *url = settings_text(s, "url");
    if (!url || !*url)
        return settings_refuse(s, "setting 'url' is missing, expected such as \"https://example.com/hook\"");
    if (template_new(s, "url", url, TEMPLATE_LINE, &t->url))
        return -1;
    if (!template_is_fixed(t->url)) {
        t->port = fixed_port(url);
        return 0;
    }
    int rc = place_read(&place, url, why, sizeof why);
    place_release(&place);
    return rc ? settings_refuse(s, "setting 'url': %s", why) : 0;
}

/* A list that only counts when the url is filled in: how long it is, -1 with words. */
static int length(const struct settings *s, const struct target *t, const char *name, const char *such)
{
    int n = settings_length(s, name, such);
    if (n > 0 && template_is_fixed(t->url))
        return settings_refuse(s, "setting '%s': expected none, as 'url' is the same for each check", name);
    return n;
}

static int read_hosts(const struct settings *s, void *into)
{
    struct target *t = into;
    int n = length(s, t, "hosts", "[ \"*.example.com\" ]");
    if (n == 0 && !template_is_fixed(t->url))
        return settings_refuse(s, "setting 'hosts' is missing: a url that is filled in needs a list such as "
                                  "[ \"*.example.com\" ]");
    t->hosts = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *t->hosts);
    t->ports = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *t->ports);
    if (!t->hosts || !t->ports)
        return settings_refuse(s, "out of memory");
    for (; t->nhosts < n; t->nhosts++) {
        char *host = read_host(settings_element(s, "hosts", t->nhosts), &t->ports[t->nhosts]);
        if (!host)
            return settings_refuse(
                s,
                "setting 'hosts': element %d is no host such as \"hooks.example.com\", and "
                "no \"*.example.com\" or \"*.example.com:8443\"",
                t->nhosts + 1);
        t->hosts[t->nhosts] = host;
    }
    return n < 0 ? -1 : 0;
}

static int read_networks(const struct settings *s, void *into)
{
    struct target *t = into;
    int n = length(s, t, "networks", "[ \"10.1.0.0/16\" ]");
    t->networks = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *t->networks);
    if (!t->networks)
        return settings_refuse(s, "out of memory");
    for (; t->nnetworks < n; t->nnetworks++) {
        const char *text = settings_element(s, "networks", t->nnetworks);
        if (!text || address_read_network(text, &t->networks[t->nnetworks]))
            return settings_refuse(s,
                                   "setting 'networks': element %d is no network such as \"10.1.0.0/16\" or "
                                   "\"fd00::/8\", without bits behind its length",
                                   t->nnetworks + 1);
    }
    return n < 0 ? -1 : 0;
}

/* Through a proxy we would not see where the bytes go. */
static int read_proxy(const struct settings *s, void *into)
{
    const struct target *t = into;
    const char *proxy = settings_text(s, "proxy");
    if (proxy && *proxy && !template_is_fixed(t->url))
        return settings_refuse(
            s, "setting 'proxy': expected none, as 'url' is filled in, and behind a proxy its "
               "addresses cannot be checked");
    return 0;
}

int target_read(struct target *t, const struct settings *s)
{
    static settings_part *const parts[] = { read_url, read_hosts, read_networks, read_proxy };
    *t = (struct target){ .url = NULL };
    return settings_read(s, parts, sizeof parts / sizeof *parts, t);
}

void target_release(struct target *t)
{
    template_free(t->url);
    for (int i = 0; i < t->nhosts; i++)
        free((char *)t->hosts[i]);
    free(t->hosts);
    free(t->ports);
    free(t->networks);
    *t = (struct target){ .url = NULL };
}

void target_apply(const struct target *t, struct batch *b)
{
    b->hosts = t->hosts;
    b->nhosts = t->nhosts;
    b->rules = (struct address_rules){ t->networks, t->nnetworks };
    b->has_rules = !template_is_fixed(t->url);
}

char *target_url(const struct target *t, const struct prescient_host *host,
                 const struct prescient_check *check, struct prescient_answer *answer)
{
    size_t len;
    struct template_input *input = NULL;
    if (!template_is_fixed(t->url) && !(input = template_input_of(host, check, answer)))
        return NULL;
    char *url = template_fill_or_answer(t->url, input, &len, answer);
    template_input_free(input);
    if (url && !template_is_fixed(t->url) && check_port(t, url, answer)) {
        free(url);
        return NULL;
    }
    return url;
}
