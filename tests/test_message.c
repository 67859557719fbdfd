/* test_message.c - packets and descriptors between engine and worker, and what a hostile end
 * sends. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../engine/wire/message.h"

static int a, b;                        /* the two ends; b does not block */
static char body[MESSAGE_MAX + 1];

static void open_pair(void)
{
    int pair[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    a = pair[0];
    b = pair[1];
    fcntl(b, F_SETFL, O_NONBLOCK);
}

static void close_pair(void)
{
    close(a);
    close(b);
}

static int count_fds(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void messages_arrive_one_by_one_and_whole(void)
{
    open_pair();
    enum message_kind kind;
    int fd;
    CU_ASSERT_EQUAL(message_send(a, MESSAGE_SETTINGS, "abc", 3, -1, NULL), 0);
    CU_ASSERT_EQUAL(message_send(a, MESSAGE_BEGIN, NULL, 0, -1, NULL), 0);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, &fd, NULL), 3);
    CU_ASSERT_EQUAL(kind, MESSAGE_SETTINGS);
    CU_ASSERT_STRING_EQUAL(body, "abc");
    CU_ASSERT_EQUAL(fd, -1);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, &fd, NULL), 0);
    CU_ASSERT_EQUAL(kind, MESSAGE_BEGIN);
    CU_ASSERT_STRING_EQUAL(body, "");
    close_pair();
}

static void the_longest_message_fits_and_a_longer_one_is_refused(void)
{
    open_pair();
    enum message_kind kind;
    struct err err;
    char *text = malloc(MESSAGE_MAX);
    memset(text, 'x', MESSAGE_MAX);
    CU_ASSERT_EQUAL(message_send(a, MESSAGE_LOG, text, MESSAGE_MAX - 1, -1, NULL), 0);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, NULL, NULL), MESSAGE_MAX - 1);
    CU_ASSERT_EQUAL(memcmp(body, text, MESSAGE_MAX - 1), 0);
    CU_ASSERT_EQUAL(message_send(a, MESSAGE_LOG, text, MESSAGE_MAX, -1, &err), ERR_GENERAL);
    /* the longest with its kind byte */
    CU_ASSERT_EQUAL(send(a, text, MESSAGE_MAX, 0), MESSAGE_MAX);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, NULL, NULL), MESSAGE_MAX - 1);
    char *longer = calloc(1, MESSAGE_MAX + 100);
    /* what only a hostile end does */
    CU_ASSERT_EQUAL(send(a, longer, MESSAGE_MAX + 100, 0), MESSAGE_MAX + 100);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, NULL, &err), ERR_GENERAL);
    free(longer);
    free(text);
    close_pair();
}

static void a_descriptor_comes_along_and_is_closed_on_exec(void)
{
    open_pair();
    enum message_kind kind;
    int fd, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct stat sent, got;
    fstat(null, &sent);
    CU_ASSERT_EQUAL(message_send(a, MESSAGE_SETTINGS, "x", 1, null, NULL), 0);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, &fd, NULL), 1);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(fstat(fd, &got), 0);
    CU_ASSERT_TRUE(fd != null && got.st_rdev == sent.st_rdev);
    CU_ASSERT_TRUE(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    close(null);
    close_pair();
}

static void send_two_fds(int sock, int fd)
{
    union { struct cmsghdr align; char bytes[CMSG_SPACE(2 * sizeof(int))]; } control = { 0 };
    char kind = MESSAGE_LOG;
    struct iovec part = { &kind, 1 };
    struct msghdr msg = { .msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes };
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(c), &(int[]){ fd, fd }, 2 * sizeof(int));
    CU_ASSERT_EQUAL(sendmsg(sock, &msg, 0), 1);
}

static void descriptors_nobody_asked_for_are_closed(void)
{
    open_pair();
    enum message_kind kind;
    int fd, before = count_fds();
    send_two_fds(a, 0);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, &fd, NULL), 0);
    CU_ASSERT_TRUE(fd >= 0);
    CU_ASSERT_EQUAL(count_fds(), before + 1);
    close(fd);
    send_two_fds(a, 0);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, NULL, NULL), 0);
    CU_ASSERT_EQUAL(count_fds(), before);
    close_pair();
}

static void an_empty_socket_is_busy_and_a_closed_one_lost(void)
{
    open_pair();
    enum message_kind kind;
    struct err err;
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, NULL, &err), ERR_BUSY);
    close(a);
    CU_ASSERT_EQUAL(message_receive(b, &kind, body, NULL, &err), ERR_LOST);
    CU_ASSERT_EQUAL(message_send(b, MESSAGE_EXIT, NULL, 0, -1, &err), ERR_LOST);  /* and no SIGPIPE */
    close(b);
}

static void a_full_socket_is_busy(void)
{
    open_pair();
    struct err err;
    int rc = 0, sent = 0;
    while (rc == 0 && sent < 100000) {
        rc = message_send(b, MESSAGE_CONTINUE, NULL, 0, -1, &err);
        sent++;
    }
    CU_ASSERT_EQUAL(rc, ERR_BUSY);
    close_pair();
}

static const struct test tests[] = {
    TEST(messages_arrive_one_by_one_and_whole),
    TEST(the_longest_message_fits_and_a_longer_one_is_refused),
    TEST(a_descriptor_comes_along_and_is_closed_on_exec),
    TEST(descriptors_nobody_asked_for_are_closed),
    TEST(an_empty_socket_is_busy_and_a_closed_one_lost),
    TEST(a_full_socket_is_busy),
    { 0 },
};

const struct suite suite_message = { "message", NULL, NULL, tests };
