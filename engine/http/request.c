/* request.c - see request.h. */
#include "request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/utf8.h"

static struct request *request_of(http_parser *parser)
{
    return parser->data;
}

/* Always -1, which stops the parser. */
static int refuse(struct request *r, enum problem_type problem, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct request *r, enum problem_type problem, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->detail, sizeof r->detail, fmt, ap);
    va_end(ap);
    r->state = REQUEST_BAD;
    r->problem = problem;
    return -1;
}

static int add(struct request *r, const char *at, size_t len)
{
    if (!bytes_add(&r->head, at, len))
        return refuse(r, PROBLEM_AWAY, "there is no memory for this request just now; send it again later");
    return 0;
}

/* ---- the first line ---- */

static int on_url(http_parser *parser, const char *at, size_t len)
{
    return add(request_of(parser), at, len);
}

/* ---- lines ---- */

/* Each line ends with CR LF, and neither stands alone; none goes on in the next one. */
static bool is_in_order(char last, char byte)
{
    if ((last == '\r') != (byte == '\n'))
        return false;
    return last != '\n' || (byte != ' ' && byte != '\t');
}

/* "HTTP/1.1" as the last bytes of a line. */
static bool is_version(uint64_t tail)
{
    static const char text[] = "HTTP/1.";
    uint64_t head = 0;
    for (const char *p = text; *p; p++)
        head = head << 8 | (unsigned char)*p;
    return tail >> 8 == head;
}

/* Of a version the parser reads the numbers alone. */
static void note_first_line(struct request *r, char byte)
{
    bool is_end = byte == '\r' && r->is_begun;
    r->is_begun = r->is_begun || (byte != '\r' && byte != '\n');
    if (is_end && !is_version(r->tail))
        refuse(r, PROBLEM_BAD_REQUEST, "the first line does not end with the version, expected HTTP/1.1");
    r->has_line = is_end;
    r->tail = r->tail << 8 | (unsigned char)byte;
}

static void check_lines(struct request *r, const char *data, size_t len)
{
    for (size_t i = 0; i < len && r->state != REQUEST_BAD; i++) {
        if (!r->has_line)
            note_first_line(r, data[i]);
        if (!is_in_order(r->last, data[i]))
            refuse(r, PROBLEM_BAD_REQUEST,
                   "a line of the head does not end with CR LF, or goes on in the next one");
        r->last = data[i];
    }
}

/* ---- headers ---- */

#define REQUEST_HEADER_NAME(id, name) name,
static const char *const names[] = { REQUEST_HEADERS(REQUEST_HEADER_NAME) };
#undef REQUEST_HEADER_NAME

static int header_named(const char *name, size_t len)
{
    for (int i = 0; i < REQUEST_HEADERS_READ; i++)
        if (strlen(names[i]) == len && !strncasecmp(names[i], name, len))
            return i;
    return -1;
}

/* The texts in `head` end with a NUL each. Blanks behind a value do not belong to it. */
static int end_text(struct request *r)
{
    while (r->head.len && strchr(" \t", r->head.data[r->head.len - 1]) && r->head.data[r->head.len - 1])
        r->head.len--;
    return add(r, "", 1);
}

static int on_header_field(http_parser *parser, const char *at, size_t len)
{
    struct request *r = request_of(parser);
    if (r->state != REQUEST_HEAD)
        return 0;                   /* what stands behind chunks */
    if (r->in_value)
        r->name_len = 0;
    r->in_value = false;
    /* "Transfer-Encoding : chunked" is that header to some parsers, and another one to others */
    if (memchr(at, ' ', len) || memchr(at, '\t', len))
        return refuse(r, PROBLEM_BAD_REQUEST, "there is a blank in the name of a header");
    for (size_t i = 0; i < len && r->name_len < sizeof r->name; i++)
        r->name[r->name_len++] = at[i];
    return 0;
}

/* Of two values of such a header, a program in front of this one may have gone by the other. */
static int begin_value(struct request *r)
{
    r->in_value = true;
    r->header = header_named(r->name, r->name_len);
    if (r->header < 0)
        return 0;
    if (r->values[r->header])
        return refuse(r, PROBLEM_BAD_REQUEST, "the header %s stands twice; send it once", names[r->header]);
    if (end_text(r) < 0)
        return -1;
    r->values[r->header] = r->head.len;
    return 0;
}

static int on_header_value(http_parser *parser, const char *at, size_t len)
{
    struct request *r = request_of(parser);
    if (r->state != REQUEST_HEAD)
        return 0;
    if (!r->in_value && begin_value(r) < 0)
        return -1;
    return r->header < 0 ? 0 : add(r, at, len);
}

/* ---- the head is complete ---- */

static int check_version(struct request *r)
{
    if (r->parser.http_major == 1 && r->parser.http_minor <= 1)
        return 0;
    return refuse(r, PROBLEM_BAD_REQUEST, "HTTP/%d.%d is not spoken here, expected HTTP/1.1",
                  r->parser.http_major, r->parser.http_minor);
}

/* RFC 3986 has no others; what is not ASCII is percent-encoded, and a fragment is not sent. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || *text == '#')
            return false;
    return true;
}

static int check_target(struct request *r)
{
    if (!is_plain(r->path))
        return refuse(r, PROBLEM_BAD_REQUEST,
                      "the target of the request has a byte that must be percent-encoded there");
    if (r->path[0] != '/')
        return refuse(r, PROBLEM_BAD_REQUEST, "the target of the request is not a path that begins with /");
    if (strstr(r->path, "%00"))
        return refuse(r, PROBLEM_BAD_REQUEST, "the target of the request has a zero byte (%%00)");
    return 0;
}

static int check_host(struct request *r)
{
    if (r->headers[REQUEST_HOST] || r->parser.http_minor == 0)
        return 0;
    return refuse(r, PROBLEM_BAD_REQUEST, "the header Host is missing");
}

static int check_values(struct request *r)
{
    for (int i = 0; i < REQUEST_HEADERS_READ; i++)
        if (r->headers[i] && !utf8_is_valid(r->headers[i], strlen(r->headers[i])))
            return refuse(r, PROBLEM_BAD_REQUEST, "the header %s is not valid UTF-8", names[i]);
    return 0;
}

/* Chunks are the one encoding that is read. */
static int check_framing(struct request *r)
{
    const char *encoding = r->headers[REQUEST_TRANSFER_ENCODING];
    if (encoding && r->headers[REQUEST_CONTENT_LENGTH])
        return refuse(r, PROBLEM_BAD_REQUEST, "Content-Length and Transfer-Encoding exclude each other");
    if (encoding && strcasecmp(encoding, "chunked") != 0)
        return refuse(r, PROBLEM_BAD_REQUEST,
                      "the only Transfer-Encoding that is read here is \"chunked\", found \"%.*s\"",
                      UTF8_SHOWN(encoding));
    if (encoding && r->parser.http_minor == 0)
        return refuse(r, PROBLEM_BAD_REQUEST, "HTTP/1.0 has no Transfer-Encoding");
    return 0;
}

static void split_target(struct request *r)
{
    char *query = strchr(r->head.data, '?');
    r->path = r->head.data;
    r->query = r->head.data + strlen(r->head.data);
    if (query) {
        *query = '\0';
        r->query = query + 1;
    }
}

static bool has_body(const struct request *r)
{
    return r->headers[REQUEST_TRANSFER_ENCODING] ||
           (r->headers[REQUEST_CONTENT_LENGTH] && r->parser.content_length);
}

static int take_head(struct request *r)
{
    static int (*const checks[])(struct request *) = {
        check_version, check_target, check_host, check_values, check_framing,
    };
    if (end_text(r) < 0)
        return -1;
    r->method = (enum http_method)r->parser.method;
    r->path = r->head.data;
    for (int i = 0; i < REQUEST_HEADERS_READ; i++)
        r->headers[i] = r->values[i] ? r->head.data + r->values[i] : NULL;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i](r) < 0)
            return -1;
    split_target(r);
    r->has_body = has_body(r);
    r->body_length = r->headers[REQUEST_CONTENT_LENGTH] ? r->parser.content_length : 0;
    r->keeps_alive = r->parser.http_minor == 1 && http_should_keep_alive(&r->parser);
    r->state = REQUEST_HEAD_READ;
    return 0;
}

/* It stops behind the head, so that its owner decides what to read of the body. "Upgrade" is passed
 * over, as RFC 9110 lets a server. */
static int on_headers_complete(http_parser *parser)
{
    struct request *r = request_of(parser);
    parser->upgrade = 0;
    if (take_head(r) < 0)
        return -1;
    http_parser_pause(parser, 1);
    return 0;
}

static const http_parser_settings callbacks = {
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
};

/* ---- the body ---- */

static int add_body(struct request *r, const char *data, size_t len)
{
    if (!bytes_add(&r->body, data, len))
        return refuse(r, PROBLEM_AWAY, "there is no memory for this body just now; send it again later");
    r->body_come += len;
    return 0;
}

static size_t read_chunks(struct request *r, const char *bytes, size_t len)
{
    const char *data;
    size_t data_len, used = chunks_feed(&r->chunks, bytes, len, &data, &data_len);
    if (data_len)
        add_body(r, data, data_len);
    if (r->chunks.state == CHUNKS_BAD)
        refuse(r, PROBLEM_BAD_REQUEST, "the chunks of the body are not as RFC 9112 has them");
    if (r->chunks.state == CHUNKS_COMPLETE)
        r->state = REQUEST_COMPLETE;
    return used;
}

static size_t read_length(struct request *r, const char *bytes, size_t len)
{
    uint64_t left = r->body_length - r->body_come;
    size_t used = left < len ? (size_t)left : len;
    if (add_body(r, bytes, used) == 0 && r->body_come == r->body_length)
        r->state = REQUEST_COMPLETE;
    return used;
}

/* ---- from outside ---- */

void request_init(struct request *r)
{
    memset(r, 0, sizeof *r);
    request_renew(r);
}

void request_free(struct request *r)
{
    bytes_free(&r->head);
    bytes_free(&r->body);
}

void request_renew(struct request *r)
{
    struct bytes head = r->head, body = r->body;
    memset(r, 0, sizeof *r);
    bytes_take(&head, head.len);
    bytes_take(&body, body.len);
    r->head = head;
    r->body = body;
    r->header = -1;
    http_parser_init(&r->parser, HTTP_REQUEST);
}

/* What the parser says of itself is for its authors ("HPE_INVALID_CONSTANT"). */
static void note_failure(struct request *r)
{
    enum http_errno error = HTTP_PARSER_ERRNO(&r->parser);
    if (r->state == REQUEST_BAD)
        return;
    if (error == HPE_UNEXPECTED_CONTENT_LENGTH || error == HPE_INVALID_CONTENT_LENGTH)
        refuse(r, PROBLEM_BAD_REQUEST, "the length of the body is given twice, or is no number");
    else
        refuse(r, PROBLEM_BAD_REQUEST, "this is not HTTP/1.1 as RFC 9112 has it: %s",
               http_errno_description(error));
}

static size_t parse_head(struct request *r, const char *data, size_t len)
{
    r->parser.data = r;             /* its owner may have moved it */
    size_t used = http_parser_execute(&r->parser, &callbacks, data, len);
    enum http_errno error = HTTP_PARSER_ERRNO(&r->parser);
    if (error != HPE_OK && error != HPE_PAUSED)
        note_failure(r);
    return used;
}

/* The parser stops in front of the last byte of the head. */
static size_t read_head(struct request *r, const char *data, size_t len)
{
    size_t room = REQUEST_HEAD_MAX - r->head_come;
    size_t used = parse_head(r, data, len < room ? len : room);
    if (r->state == REQUEST_HEAD_READ)
        used++;
    if (r->state != REQUEST_BAD)
        check_lines(r, data, used);
    r->head_come += used;
    if (r->state == REQUEST_HEAD && r->head_come >= REQUEST_HEAD_MAX)
        refuse(r, PROBLEM_HEAD_TOO_LARGE, "the head of the request has more than %d bytes", REQUEST_HEAD_MAX);
    return used;
}

size_t request_feed(struct request *r, const char *data, size_t len)
{
    if (!len)
        return 0;                   /* to the parser, that would be the end of all */
    if (r->state == REQUEST_HEAD)
        return read_head(r, data, len);
    if (r->state != REQUEST_BODY)
        return 0;
    return r->headers[REQUEST_TRANSFER_ENCODING] ? read_chunks(r, data, len) : read_length(r, data, len);
}

void request_go_on(struct request *r)
{
    r->state = r->has_body ? REQUEST_BODY : REQUEST_COMPLETE;
}

bool request_is_cut(const struct request *r)
{
    return r->state == REQUEST_BODY || (r->state == REQUEST_HEAD && r->is_begun);
}

const char *request_path_below(const struct request *r, const char *base)
{
    size_t len = strlen(base);
    bool is_below = !strncmp(r->path, base, len) && r->path[len] == '/';
    return is_below ? r->path + len : NULL;
}
