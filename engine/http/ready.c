/* ready.c - see ready.h. */
#include "ready.h"

void ready_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct store_hello hello = STORE_HELLO_INIT;
    (void)questions, (void)n;
    if (store_do(desk->store, &hello.call) < 0) {
        desk_failed(desk, answers, &hello.call.err);
        return;
    }
    desk_answer(desk, answers, 200, json_pack("{s:s, s:b}", "status", "ready", "read_only", hello.read_only));
}
