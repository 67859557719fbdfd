/* session.c - libcurl says only that something was refused. What the server answered, and to which
 * command, is heard beside it: only there a 5xx means this mail. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct session_mail *mail;
    size_t sent;
};

static size_t read_mail(char *to, size_t size, size_t n, void *ctx)
{
    struct reader *r = ctx;
    size_t left = r->mail->len - r->sent, len = size * n < left ? size * n : left;
    memcpy(to, r->mail->bytes + r->sent, len);
    r->sent += len;
    return len;
}

static size_t drop_body(char *bytes, size_t size, size_t n, void *ctx)
{
    (void)bytes, (void)ctx;
    return size * n;
}

/* "550 5.1.1 no such user": the last line counts; letters that are none are '?'. */
static void hear_reply(struct session *s, const char *line, size_t n)
{
    bool is_reply = !s->is_over && n >= 3 && strspn(line, "0123456789") >= 3;
    if (!is_reply)
        return;
    s->code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
    n = strcspn(line, "\r\n") < n ? strcspn(line, "\r\n") : n;
    if (n >= sizeof s->reply)
        n = sizeof s->reply - 1;
    for (size_t i = 0; i < n; i++)
        s->reply[i] = line[i] >= ' ' && line[i] <= '~' ? line[i] : '?';
    s->reply[n] = '\0';
}

/* Of what is sent only the command is kept: behind AUTH stands a password. */
static void hear_command(struct session *s, const char *line, size_t n)
{
    s->is_over = !strncmp(line, "QUIT", 4);
    if (s->is_over)
        return;
    n = n < sizeof s->command - 1 ? n : sizeof s->command - 1;
    memcpy(s->command, line, n);
    s->command[n] = '\0';
}

static int hear(CURL *curl, curl_infotype type, char *bytes, size_t n, void *ctx)
{
    char line[512];
    (void)curl;
    size_t len = n < sizeof line - 1 ? n : sizeof line - 1;
    memcpy(line, bytes, len);
    line[len] = '\0';
    if (type == CURLINFO_HEADER_IN)
        hear_reply(ctx, line, len);
    else if (type == CURLINFO_HEADER_OUT)
        hear_command(ctx, line, len);
    return 0;
}

static void connect_so(struct session *s, const struct session_server *server)
{
    CURL *c = s->curl;
    long tls = server->tls == SESSION_NO_TLS ? CURLUSESSL_NONE : CURLUSESSL_ALL;
    curl_easy_setopt(c, CURLOPT_URL, server->url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(c, CURLOPT_USE_SSL, tls);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
    if (server->ca_file)
        curl_easy_setopt(c, CURLOPT_CAINFO, server->ca_file);
    if (server->user) {
        curl_easy_setopt(c, CURLOPT_USERNAME, server->user);
        curl_easy_setopt(c, CURLOPT_PASSWORD, server->password);
    }
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, server->connect_timeout_ms);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
}

static void listen_to(struct session *s)
{
    s->error[0] = s->command[0] = s->reply[0] = '\0';
    s->code = 0;
    s->is_over = false;
    curl_easy_setopt(s->curl, CURLOPT_ERRORBUFFER, s->error);
    curl_easy_setopt(s->curl, CURLOPT_VERBOSE, 1L);
    curl_easy_setopt(s->curl, CURLOPT_DEBUGFUNCTION, hear);
    curl_easy_setopt(s->curl, CURLOPT_DEBUGDATA, s);
    curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, drop_body);
    curl_easy_setopt(s->curl, CURLOPT_HEADERFUNCTION, drop_body);
}

bool session_has_begun_mail(const struct session *s)
{
    return !strcmp(s->command, "MAIL") || !strcmp(s->command, "RCPT") || !strcmp(s->command, "DATA");
}

/* A 5xx to MAIL, RCPT or DATA is about this mail, unless it is about who we are. */
static enum session_end end_of(const struct session *s, CURLcode rc)
{
    bool is_about_mail = session_has_begun_mail(s);
    bool is_about_us = s->code == 530 || s->code == 535 || s->code == 538;
    if (rc == CURLE_OK)
        return SESSION_TAKEN;
    if (is_about_mail && !is_about_us && s->code >= 500)
        return SESSION_REFUSED;
    bool is_without_trust = rc == CURLE_USE_SSL_FAILED || rc == CURLE_PEER_FAILED_VERIFICATION;
    bool is_not_at_work = s->code < 400 || s->code == 421;
    return is_not_at_work && !is_without_trust ? SESSION_UNREACHED : SESSION_FAILED;
}

/* A server ends connections when it likes: after some mails, or when nothing comes for a while.
 * That is no fault of this mail, of which it has nothing yet. */
static bool was_given_up(const struct session *s, CURLcode rc, const struct reader *r)
{
    long connects = 1;
    curl_easy_getinfo(s->curl, CURLINFO_NUM_CONNECTS, &connects);
    bool is_lost = rc == CURLE_RECV_ERROR || rc == CURLE_SEND_ERROR || rc == CURLE_GOT_NOTHING;
    bool is_given_up = (is_lost && s->code < 400) || (rc && s->code == 421);
    return is_given_up && !connects && !r->sent;
}

static CURLcode send_once(struct session *s, const struct session_server *server, struct reader *r,
                          long timeout_ms)
{
    const struct session_mail *mail = r->mail;
    listen_to(s);
    connect_so(s, server);
    curl_easy_setopt(s->curl, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(s->curl, CURLOPT_RESOLVE, mail->addresses);
    curl_easy_setopt(s->curl, CURLOPT_MAIL_FROM, mail->from);
    curl_easy_setopt(s->curl, CURLOPT_MAIL_RCPT, mail->to);
    curl_easy_setopt(s->curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(s->curl, CURLOPT_READFUNCTION, read_mail);
    curl_easy_setopt(s->curl, CURLOPT_READDATA, r);
    curl_easy_setopt(s->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)mail->len);
    return curl_easy_perform(s->curl);
}

enum session_end session_send(struct session *s, const struct session_server *server,
                              const struct session_mail *mail, long timeout_ms)
{
    struct reader r = { mail, 0 };
    curl_off_t took_us = 0;
    if (s->curl)
        curl_easy_reset(s->curl);
    else
        s->curl = curl_easy_init();
    if (!s->curl) {
        snprintf(s->error, sizeof s->error, "out of memory");
        return SESSION_FAILED;
    }
    CURLcode rc = send_once(s, server, &r, timeout_ms);
    curl_easy_getinfo(s->curl, CURLINFO_TOTAL_TIME_T, &took_us);
    long left_ms = timeout_ms - (long)(took_us / 1000);
    if (was_given_up(s, rc, &r) && left_ms > 0) {
        curl_easy_setopt(s->curl, CURLOPT_FRESH_CONNECT, 1L);
        rc = send_once(s, server, &r, left_ms);
    }
    if (rc && !*s->error)
        snprintf(s->error, sizeof s->error, "%s", curl_easy_strerror(rc));
    return end_of(s, rc);
}

const char *session_words(const struct session *s)
{
    return s->code >= 400 || !*s->error ? s->reply : s->error;
}

void session_release(struct session *s)
{
    curl_easy_cleanup(s->curl);
    *s = (struct session){ .curl = NULL };
}
