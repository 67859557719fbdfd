#!/usr/bin/env bash
# t_openapi.sh - from what GET /v1/openapi.json promises, made-up requests to prescient serve of
# both stores: each answer has a status of its operation and a body that fits its schema; none is a
# fault. SEED=N the same requests again; REQUESTS=N so many.
# about 20 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"
. "$ROOT/tests/openapi_lib.sh"

if [ -n "${NIGHT:-}" ]; then
    : "${SEED:=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}" "${REQUESTS:=10000}"
else
    : "${SEED:=4711}" "${REQUESTS:=500}"
fi

makes_up_requests() {
    local s=$STORE_NAME
    a_store_with_all_kinds
    serve openapi.$s
    ask_until_the_daemon_is_seen
    is "$s: the document is served" "$(get http://localhost/v1/openapi.json)" 200
    cp body openapi.json
    limited 600 python3 "$ROOT/tests/openapi_ask.py" openapi.json "$SOCK" "$SEED" "$REQUESTS" "$s" ||
        fail "$s: seed $SEED"
    is "$s: it is alive" "$(get http://localhost/readiness)" 200
    ends openapi.$s
    end_the_daemon
}

echo "# seed $SEED, $REQUESTS requests"
on_each_store makes_up_requests
