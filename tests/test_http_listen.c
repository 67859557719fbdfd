/* test_http_listen.c - where a server listens: what is read of it, and what is in the way. */
#include "../engine/http/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "test.h"

static void addresses_are_read(void)
{
    static const struct { const char *text, *shown; bool is_local; } good[] = {
        { "127.0.0.1:8080", "http://127.0.0.1:8080/", true },
        { "localhost:1", "http://127.0.0.1:1/", true },
        { "127.1.2.3:65535", "http://127.1.2.3:65535/", true },
        { "[::1]:80", "http://[::1]:80/", true },
        { "0.0.0.0:80", "http://0.0.0.0:80/", false },
        { "[::]:80", "http://[::]:80/", false },
        { "unix:/run/x.sock", "unix:/run/x.sock", true },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct listen_address address;
        struct err err;
        char text[LISTEN_TEXT];
        CU_ASSERT_FATAL(listen_parse(good[i].text, &address, &err) == 0);
        CU_ASSERT_STRING_EQUAL(listen_text(&address, text), good[i].shown);
        CU_ASSERT(address.is_local == good[i].is_local);
    }
}

static void what_is_no_address_is_refused(void)
{
    static const char *const bad[] = { "", ":", ":80", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
                                       "127.0.0.1:65536", "127.0.0.1:+80", "127.0.0.1:80x", "::1:80",
                                       "[::1:80",
                                       "shop.example:80", "unix:", "127.0.0.1.1:80", "[]:80",
                                       "[1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111]:80" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct listen_address address;
        struct err err;
        CU_ASSERT(listen_parse(bad[i], &address, &err) == ERR_INPUT);
        CU_ASSERT(strstr(err.text, "expected") != NULL);
    }
}

static void a_path_must_fit(void)
{
    char text[300] = "unix:/";
    struct listen_address address;
    struct err err;
    memset(text + 6, 'a', 200);
    CU_ASSERT(listen_parse(text, &address, &err) == ERR_INPUT);
    CU_ASSERT(strstr(err.text, "bytes") != NULL);
}

static struct listen_address at_path(char path[200])
{
    struct listen_address address;
    struct err err;
    char text[300];
    snprintf(path, 200, "%s/listen.sock", test_tmp_dir());
    snprintf(text, sizeof text, "unix:%s", path);
    CU_ASSERT_FATAL(listen_parse(text, &address, &err) == 0);
    return address;
}

static void a_socket_file_that_nobody_uses_is_replaced(void)
{
    char path[200];
    struct listen_address address = at_path(path);
    struct err err;
    struct stat st;
    int first = listen_open(&address, &err);
    CU_ASSERT_FATAL(first >= 0);
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0660);
    CU_ASSERT(listen_open(&address, &err) == ERR_BUSY);
    CU_ASSERT(strstr(err.text, path) != NULL);
    close(first);                               /* the file stays, as after a kill */
    int second = listen_open(&address, &err);
    CU_ASSERT(second >= 0);
    close(second);
    unlink(path);
}

static void a_file_of_somebody_else_is_left(void)
{
    char path[200];
    struct listen_address address = at_path(path);
    struct err err;
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    fclose(file);
    CU_ASSERT(listen_open(&address, &err) == ERR_INPUT);
    CU_ASSERT(access(path, F_OK) == 0);
    unlink(path);
}

static void sockets_of_systemd_are_for_this_process_alone(void)
{
    struct listen_address address;
    struct err err;
    char pid[20];
    int fd;
    CU_ASSERT(listen_inherit(&address, &fd, &err) == 0 && fd == -1);
    setenv("LISTEN_PID", "1", 1);
    setenv("LISTEN_FDS", "1", 1);
    CU_ASSERT(listen_inherit(&address, &fd, &err) == 0 && fd == -1);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    setenv("LISTEN_PID", pid, 1);
    setenv("LISTEN_FDS", "2", 1);
    CU_ASSERT(listen_inherit(&address, &fd, &err) == ERR_INPUT);
    CU_ASSERT(!getenv("LISTEN_PID") && !getenv("LISTEN_FDS"));
}

static const struct test tests[] = {
    TEST(addresses_are_read),
    TEST(what_is_no_address_is_refused),
    TEST(a_path_must_fit),
    TEST(a_socket_file_that_nobody_uses_is_replaced),
    TEST(a_file_of_somebody_else_is_left),
    TEST(sockets_of_systemd_are_for_this_process_alone),
    { 0 }
};

const struct suite suite_http_listen = { "http_listen", NULL, NULL, tests };
