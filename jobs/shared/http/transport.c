/* transport.c - each setting has a function of its own. */
#include "transport.h"

#include <dirent.h>
#include <sys/resource.h>

enum {
    IN_FLIGHT = 256, IN_FLIGHT_MAX = 1000,
    SPARE_FILES = 24,               /* for what else a worker opens: name servers, files of zones */
    RESPONSE_MAX = 64 << 10, RESPONSE_LEAST = 1 << 10, RESPONSE_MOST = 256 << 10,
    REDIRECTS_MAX = 10,
    CONNECT_TIMEOUT_S = 10,
    /* We end a request a little before the engine would end the worker. */
    EARLIER_MS = 500,
};

static int read_files(const struct settings *s, void *into)
{
    struct transport *t = into;
    if (settings_file(s, "ca_file", &t->ca_file) || settings_file(s, "cert", &t->cert) ||
        settings_file(s, "key", &t->key))
        return -1;
    if (!t->cert != !t->key)
        return settings_refuse(s, "settings 'cert' and 'key': found one of them, expected both or none");
    const char *proxy = settings_text(s, "proxy");
    t->proxy = proxy ? proxy : "";
    return 0;
}

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* As many connections as a worker can have; more are refused only when they were asked for. */
static int read_in_flight(const struct settings *s, void *into)
{
    struct transport *t = into;
    struct rlimit files;
    t->in_flight = IN_FLIGHT;
    if (settings_number(s, "in_flight", 1, IN_FLIGHT_MAX, &t->in_flight))
        return -1;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur == RLIM_INFINITY)
        return 0;
    long fit = (long)files.rlim_cur - open_files() - SPARE_FILES;
    if (fit < 1)
        fit = 1;
    if (t->in_flight > fit && settings_text(s, "in_flight"))
        return settings_refuse(s, "setting 'in_flight': found %d, but a worker has room for %ld connections "
                               "(worker_files = %ld): expected less, or a greater worker_files", t->in_flight,
                               fit, (long)files.rlim_cur);
    if (t->in_flight > fit)
        t->in_flight = (int)fit;
    return 0;
}

static int read_timeouts(const struct settings *s, void *into)
{
    struct transport *t = into;
    const struct prescient_host *host = s->host;
    int64_t connect_s = host->setting_duration(host, "connect_timeout", CONNECT_TIMEOUT_S);
    if (connect_s < 0)
        return settings_refuse(s, "%s", host->error(host));
    if (!connect_s)
        return settings_refuse(s, "setting 'connect_timeout': expected at least 1s");
    long all = (long)host->timeout_ms, batch = (long)host->batch_timeout_ms;
    if (batch < all)
        all = batch;
    t->timeout_ms = all - (all / 10 < EARLIER_MS ? all / 10 : EARLIER_MS);
    t->connect_timeout_ms = t->timeout_ms;
    if (connect_s * 1000 < t->timeout_ms)
        t->connect_timeout_ms = (long)connect_s * 1000;
    return 0;
}

static int read_response_max(const struct settings *s, void *into)
{
    struct transport *t = into;
    t->response_max = RESPONSE_MAX;
    return settings_bytes(s, "response_max", RESPONSE_LEAST, RESPONSE_MOST, &t->response_max);
}

static int read_redirects(const struct settings *s, void *into)
{
    struct transport *t = into;
    return settings_number(s, "redirects", 0, REDIRECTS_MAX, &t->redirects);
}

int transport_read(struct transport *t, const struct settings *s)
{
    static settings_part *const parts[] = { read_files, read_in_flight, read_timeouts, read_response_max,
                                            read_redirects };
    *t = (struct transport){ .proxy = "" };
    return settings_read(s, parts, sizeof parts / sizeof *parts, t);
}

void transport_apply(const struct transport *t, CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, t->connect_timeout_ms);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    if (t->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, t->ca_file);
    if (t->cert) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, t->cert);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, t->key);
    }
    /* "" is none, whatever the environment has */
    curl_easy_setopt(curl, CURLOPT_PROXY, t->proxy);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
}
