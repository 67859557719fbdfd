/* tls.c - hiredis' own way of setting up TLS does not look at the name in a certificate, so the
 * context and the session are made here, and hiredis is only given the session. */
#include "tls.h"

#include <string.h>

/* 1: true, 0: false, -1: refused. */
static int wants_tls(const struct settings *s)
{
    const char *tls = settings_text(s, "tls");
    if (!tls || !strcmp(tls, "false"))
        return 0;
    if (!strcmp(tls, "true"))
        return 1;
    return settings_refuse(s, "setting 'tls': found '%.80s', expected true or false", tls);
}

#ifdef WITH_OPTIONAL

#include <arpa/inet.h>
#include <errno.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct tls { SSL_CTX *context; };

/* ---- settings ---- */

static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text ? text : "out of memory";
}

/* A key that has a passphrase is refused; OpenSSL would ask the terminal. */
static int no_passphrase(char *buffer, int size, int is_writing, void *arg)
{
    (void)buffer, (void)size, (void)is_writing, (void)arg;
    return -1;
}

static int read_authorities(const struct settings *s, SSL_CTX *context, const char *ca_file)
{
    if (ca_file && SSL_CTX_load_verify_locations(context, ca_file, NULL) != 1)
        return settings_refuse(s, "setting 'ca_file': %.200s: %s; expected certificates in PEM", ca_file,
                               reason());
    if (!ca_file && SSL_CTX_set_default_verify_paths(context) != 1)
        return settings_refuse(s, "the system's certificates of authorities: %s", reason());
    return 0;
}

static int read_certificate(const struct settings *s, SSL_CTX *context, const char *cert, const char *key)
{
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
    if (cert && SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return settings_refuse(s, "setting 'cert': %.200s: %s; expected a certificate in PEM", cert,
                               reason());
    if (key && SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return settings_refuse(s, "setting 'key': %.200s: %s; expected the key of 'cert' in PEM, without a "
                               "passphrase", key, reason());
    return 0;
}

static int make_context(const struct settings *s, const char *ca_file, const char *cert, const char *key,
                        struct tls **out)
{
    struct tls *tls = calloc(1, sizeof *tls);
    *out = tls;
    ERR_clear_error();
    if (!tls || !(tls->context = SSL_CTX_new(TLS_client_method())))
        return settings_refuse(s, "out of memory for TLS");
    SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
    SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
    int rc = read_authorities(s, tls->context, ca_file);
    return rc == 0 ? read_certificate(s, tls->context, cert, key) : rc;
}

int tls_open(const struct settings *s, bool is_path, struct tls **out)
{
    const char *ca_file, *cert, *key;
    int is_wanted = wants_tls(s);
    if (is_wanted < 0 || settings_file(s, "ca_file", &ca_file) || settings_file(s, "cert", &cert) ||
        settings_file(s, "key", &key))
        return -1;
    if (!is_wanted && (ca_file || cert || key))
        return settings_refuse(s, "settings 'ca_file', 'cert' and 'key' are for TLS: expected tls = true "
                               "beside them");
    if (!cert != !key)
        return settings_refuse(s, "settings 'cert' and 'key': found one of them, expected both or none");
    if (is_wanted && is_path)
        return settings_refuse(s, "setting 'tls': 'server' is the path of a socket, which has no TLS; "
                               "expected false, or a host");
    return is_wanted ? make_context(s, ca_file, cert, key, out) : 0;
}

void tls_close(struct tls *tls)
{
    if (tls)
        SSL_CTX_free(tls->context);
    free(tls);
}

/* ---- words ---- */

static const struct { long result; const char *advice; } refusals[] = {
    { X509_V_ERR_CERT_HAS_EXPIRED, "renew it on the server" },
    { X509_V_ERR_CERT_NOT_YET_VALID, "compare the clocks of both sides" },
    { X509_V_ERR_HOSTNAME_MISMATCH, "name the server in 'server' as its certificate does" },
    { X509_V_ERR_IP_ADDRESS_MISMATCH, "name the server in 'server' as its certificate does" },
    { X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, "name in 'ca_file' the authority that signed it" },
    { X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "name in 'ca_file' the authority that signed it" },
    { X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, "name in 'ca_file' the authority that signed it" },
    { X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "name in 'ca_file' the authority that signed it" },
    { X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "name in 'ca_file' the authority that signed it" },
    { X509_V_ERR_CERT_SIGNATURE_FAILURE, "name in 'ca_file' the authority that signed it" },
};

static const struct { int reason; const char *advice; } alerts[] = {
    { SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, "; it wants a certificate of ours: set 'cert' and 'key'" },
    { SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, "; it may want a certificate of ours: set 'cert' and 'key'" },
    { SSL_R_TLSV1_ALERT_UNKNOWN_CA, "; it does not know the authority of 'cert'" },
    { SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "; renew 'cert'" },
    { SSL_R_WRONG_VERSION_NUMBER, "; expected a server that speaks TLS at this port (its tls-port)" },
};

static const char *advice_on_certificate(long result)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].result == result)
            return refusals[i].advice;
    return "correct it on the server";
}

static const char *advice_on_alert(int of)
{
    for (size_t i = 0; i < sizeof alerts / sizeof *alerts; i++)
        if (alerts[i].reason == of)
            return alerts[i].advice;
    return "";
}

/* A write to a server that has closed says nothing of why; the alert before that can be read. */
void tls_error(struct ssl_st *ssl, const char *otherwise, char *out, size_t size)
{
    char byte;
    if (ssl && !ERR_peek_last_error())
        SSL_peek(ssl, &byte, 1);
    unsigned long error = ssl ? ERR_peek_last_error() : 0;
    const char *text = error ? ERR_reason_error_string(error) : NULL;
    if (text)
        snprintf(out, size, "%s%s", text, advice_on_alert(ERR_GET_REASON(error)));
    else
        snprintf(out, size, "%s", otherwise);
}

static int refuse_handshake(struct ssl_st *ssl, const char *otherwise, char *why, size_t why_size)
{
    long result = SSL_get_verify_result(ssl);
    char text[160];
    if (result == X509_V_OK) {
        tls_error(ssl, otherwise, text, sizeof text);
        snprintf(why, why_size, "no TLS: %s", text);
    } else {
        snprintf(why, why_size, "no TLS: its certificate is refused: %s; %s",
                 X509_verify_cert_error_string(result), advice_on_certificate(result));
    }
    return -1;
}

/* ---- a connection ---- */

/* Whom the certificate has to name. */
static bool expect(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    struct in6_addr address;
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    return SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1;
}

struct ssl_st *tls_start(struct tls *tls, redisContext *redis, const char *host, char *why, size_t why_size)
{
    ERR_clear_error();
    SSL *ssl = SSL_new(tls->context);
    if (!ssl || !expect(ssl, host))
        snprintf(why, why_size, "no TLS: %s", reason());
    else if (redisInitiateSSL(redis, ssl) != REDIS_OK)
        refuse_handshake(ssl, redis->errstr, why, why_size);
    else
        return ssl;
    SSL_free(ssl);
    return NULL;
}

int tls_shake_hands(struct ssl_st *ssl, char *why, size_t why_size)
{
    ERR_clear_error();
    errno = 0;
    int rc = SSL_do_handshake(ssl);
    if (rc == 1)
        return 0;
    const char *lost = errno ? strerror(errno) : "the server has closed the connection";
    int error = SSL_get_error(ssl, rc);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    return refuse_handshake(ssl, lost, why, why_size);
}

short tls_events(struct ssl_st *ssl, short events)
{
    if (!ssl)
        return events;
    if (SSL_pending(ssl))
        return 0;
    if (SSL_want_write(ssl))
        return POLLIN | POLLOUT;
    return SSL_want_read(ssl) ? POLLIN : events;
}

void tls_forget_errors(const struct ssl_st *ssl)
{
    if (ssl)
        ERR_clear_error();
}

#else

#include <stdio.h>

int tls_open(const struct settings *s, bool is_path, struct tls **out)
{
    int is_wanted = wants_tls(s);
    (void)is_path, (void)out;
    if (is_wanted > 0)
        return settings_refuse(s, "setting 'tls': this build (hiredis %d.%d.%d) has no TLS; expected false "
                               "and a tunnel such as stunnel beside it, or a build with hiredis 1.0 or later "
                               "and its hiredis_ssl", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    if (settings_text(s, "ca_file") || settings_text(s, "cert") || settings_text(s, "key"))
        return settings_refuse(s, "settings 'ca_file', 'cert' and 'key' are for TLS, which this build "
                               "has not");
    return is_wanted;
}

void tls_close(struct tls *tls)
{
    (void)tls;
}

struct ssl_st *tls_start(struct tls *tls, redisContext *redis, const char *host, char *why, size_t why_size)
{
    (void)tls, (void)redis, (void)host;
    snprintf(why, why_size, "this build has no TLS");
    return NULL;
}

int tls_shake_hands(struct ssl_st *ssl, char *why, size_t why_size)
{
    (void)ssl;
    snprintf(why, why_size, "this build has no TLS");
    return -1;
}

short tls_events(struct ssl_st *ssl, short events)
{
    (void)ssl;
    return events;
}

void tls_forget_errors(const struct ssl_st *ssl)
{
    (void)ssl;
}

void tls_error(struct ssl_st *ssl, const char *otherwise, char *out, size_t size)
{
    (void)ssl;
    snprintf(out, size, "%s", otherwise);
}

#endif
