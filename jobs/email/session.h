/* session.h - one mail to one server by SMTP. The connection stays for the next mail. */
#ifndef PRESCIENT_EMAIL_SESSION_H
#define PRESCIENT_EMAIL_SESSION_H

#include <curl/curl.h>
#include <stdbool.h>

enum session_tls { SESSION_STARTTLS, SESSION_NO_TLS }; /* of smtp://; smtps:// has TLS at once */

struct session_server {
    const char *url, *user, *password, *ca_file; /* texts may be NULL but for the URL */
    enum session_tls tls;
    long connect_timeout_ms;
};

enum session_end {
    SESSION_TAKEN,     /* the server has the mail */
    SESSION_REFUSED,   /* ... does not want this mail, now or later */
    SESSION_FAILED,    /* ... does not want it now, or something is wrong with us */
    SESSION_UNREACHED, /* ... is not there, or not at work */
};

struct session { /* all 0: none */
    CURL *curl;
    char error[CURL_ERROR_SIZE];
    char command[5]; /* the last one, "RCPT"; "": none */
    int code;        /* of the last reply; 0: none to this mail */
    char reply[512]; /* the last one, in one line */
    bool is_over;    /* QUIT was sent: its reply is about nothing */
};

struct session_mail {
    const char *from;
    struct curl_slist *to, *addresses; /* of the server, as CURLOPT_RESOLVE takes them; or NULL */
    const char *bytes;
    size_t len;
};

/* Words are in s->error or s->reply: session_words. */
enum session_end session_send(struct session *s, const struct session_server *server,
                              const struct session_mail *mail, long timeout_ms);
const char *session_words(const struct session *s);
/* Of the last mail: the server was told of it. */
bool session_has_begun_mail(const struct session *s);
void session_release(struct session *s);

#endif
