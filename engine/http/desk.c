/* desk.c - see desk.h. */
#include "desk.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/utf8.h"
#include "body_cost.h"

/* The same words are logged again after this time. */
#define AGAIN_US (60 * INT64_C(1000000))

static const char no_memory[] = "{\"type\":\"" PROBLEM_BASE "away\",\"status\":503,"
                                "\"title\":\"The store cannot be asked just now\","
                                "\"detail\":\"there is no memory for the answer; ask again later\"}\n";

static void say(struct desk *desk, struct answer *answer, enum content content, int status, json_t *body)
{
    CLEANUP(cleanup_free) char *text = problem_text(body);
    const char *kept = arena_strdup(desk->arena, text);
    *answer = (struct answer){ .status = (uint16_t)status, .content = content };
    if (!kept) {
        kept = no_memory;
        *answer = (struct answer){ .status = 503, .content = CONTENT_PROBLEM,
                                   .retry_after_s = problem_retry_s(PROBLEM_AWAY) };
    }
    answer->body = kept;
    answer->body_len = (uint32_t)strlen(kept);
}

void desk_answer(struct desk *desk, struct answer *answer, int status, json_t *body)
{
    say(desk, answer, CONTENT_JSON, status, body);
}

void desk_refuse(struct desk *desk, struct answer *answer, enum problem_type type, json_t *problem)
{
    say(desk, answer, CONTENT_PROBLEM, problem_status(type), problem);
    answer->retry_after_s = problem_retry_s(type);
}

/* What a client is told of each code; all others are faults. */
static const struct { int code; enum problem_type type; const char *detail;
} failures[] = {
    { ERR_LOST, PROBLEM_AWAY, "the store is away or takes no writes; send it again later" },
    { ERR_BUSY, PROBLEM_AWAY, "the store is busy: another transaction holds what this needs; send it again" },
    { ERR_NOMEM, PROBLEM_AWAY, "there is no memory for this just now; send it again later" },
    { ERR_CHANGED, PROBLEM_AWAY, "the slots of the store have another length now; send it again later" },
    { ERR_SCHEMA, PROBLEM_AWAY, "the schema of the store does not fit this server: its log has what to do" },
};

void desk_tell(struct desk *desk, const struct err *err)
{
    int64_t now = clock_mono_us(&clock_system);
    bool is_same = !strncmp(desk->told, err->text, strlen(desk->told)) && *desk->told;
    if (is_same && now - desk->told_us < AGAIN_US)
        return;
    size_t len = utf8_cut(err->text, strlen(err->text), sizeof desk->told - 1);
    memcpy(desk->told, err->text, len);
    desk->told[len] = '\0';
    desk->told_us = now;
    log_warn(desk->log, "%s", err->text);
}

void desk_failed(struct desk *desk, struct answer *answer, const struct err *err)
{
    enum problem_type type = PROBLEM_FAULT;
    const char *detail = "the store has refused this, and the log of the server says why";
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].code == err->code) {
            type = failures[i].type;
            detail = failures[i].detail;
        }
    if (err_is_denied(err))
        detail = "the server's user of the database may not do this: the log of the server has the GRANT";
    desk_tell(desk, err);
    desk->is_over = desk->is_over || err->code == ERR_CHANGED;
    desk_refuse(desk, answer, type, problem_new(type, detail));
}

int desk_rows(struct desk *desk, const char *report, const char *const *params, int nparams,
              struct store_rows *out, struct err *err)
{
    struct store_report call = STORE_REPORT_INIT;
    call.name = report;
    call.params = params;
    call.nparams = nparams;
    call.arena = desk->arena;
    int rc = store_do(desk->store, &call.call);
    *err = call.call.err;
    *out = call.rows;
    return rc;
}

int desk_hello(struct desk *desk, struct store_hello *out, struct err *err)
{
    *out = (struct store_hello)STORE_HELLO_INIT;
    int rc = store_do(desk->store, &out->call);
    *err = out->call.err;
    return rc;
}

int desk_now(struct desk *desk, int64_t *now, struct err *err)
{
    struct store_hello hello;
    int rc = desk_hello(desk, &hello, err);
    *now = rc < 0 ? 0 : hello.now_us / 1000000;
    return rc;
}

bool desk_query(struct desk *desk, const struct question *question, const char *const *known,
                struct query *out, struct answer *answer)
{
    struct err err;
    int rc = query_read(out, question->query, known, desk->arena, &err);
    if (rc == ERR_INPUT)
        desk_refuse(desk, answer, PROBLEM_BAD_REQUEST, problem_new(PROBLEM_BAD_REQUEST, err.text));
    else if (rc < 0)
        desk_failed(desk, answer, &err);
    return rc == 0;
}

const char *desk_parse_fault(struct desk *desk, const char *what, json_error_t *why)
{
    /* the parser quotes the text, and may cut a character */
    why->text[utf8_valid_bytes(why->text, strlen(why->text))] = '\0';
    if (json_error_code(why) == json_error_numeric_overflow)
        return arena_printf(desk->arena, "%s has a number that is too large: whole ones have up to 64 bits, "
                                         "others are up to 1.8e308; %s", what, why->text);
    return arena_printf(desk->arena, "%s is no JSON (RFC 8259): %s", what, why->text);
}

json_t *desk_body(struct desk *desk, const struct question *q, struct answer *answer)
{
    static const char too_many[] = "the body has too many values: they would take more than 128 MiB; "
                                   "send it in parts";
    json_error_t why;
    if (body_cost(q->body, q->body_len) > BODY_COST_MAX) {
        desk_refuse(desk, answer, PROBLEM_TOO_LARGE, problem_new(PROBLEM_TOO_LARGE, too_many));
        return NULL;
    }
    json_t *body = json_loadb(q->body, q->body_len, JSON_REJECT_DUPLICATES, &why);
    if (body)
        return body;
    const char *detail = desk_parse_fault(desk, "the body", &why);
    if (detail)
        detail = arena_printf(desk->arena, "%s (line %d, column %d)", detail, why.line, why.column);
    desk_refuse(desk, answer, PROBLEM_BAD_REQUEST,
                detail ? problem_new(PROBLEM_BAD_REQUEST, detail) : NULL);
    return NULL;
}
