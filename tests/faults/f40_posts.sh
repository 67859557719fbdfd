#!/usr/bin/env bash
# f40_posts.sh - F40: clients post checks over HTTP, singly, as arrays and as lines, to two servers
#     of one store, and repeat a tenth; a server, or one of its processes, is killed again and
#     again, and the database restarts
# PASS: each uniqid is one check, which runs once; all answers to it are the same bytes; what was
# answered is in the store, and known to the other server at once; nothing else is taken under it.
# COUNT=100000 posts so many (2000).
# quick
# limit 3600
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$ROOT/tests/serve_lib.sh"

COUNT=${COUNT:-2000}
OVER_S=10
[ -z "${QUICK:-}" ] || COUNT=1000 OVER_S=5
KILLS=0

posts_go_on() { ! is_over "${HELPERS[posts]}"; }

# The front, whose processes end with it, or one of these, which it starts again.
hit_server() {
    local name=$1 pid pids
    pid=$(pid_of "$name")
    mapfile -t pids < <(children_of "$pid")
    KILLS=$((KILLS + 1))
    if [ $((RANDOM % 3)) = 0 ] && [ ${#pids[@]} != 0 ]; then
        fault_at KILL "server:$pid"
        kill -KILL "${pids[RANDOM % ${#pids[@]}]}" 2>/dev/null
        return
    fi
    fault_at KILL "server:$pid"
    kill -KILL "$pid"
    join "$name"
    serve "$name"
}
hit_database() {
    fault_begins restart store
    ok "$CASE_NAME: the database restarts" server_restart immediate
    fault_ends restart store
}
posted() { grep -c ^acked plan; }
hits() {
    local was_restarted= servers=(one two)
    [ "$STORE_NAME" = postgresql ] || was_restarted=1
    while posts_go_on; do
        sleep $((COUNT / 50000)).$((2 + RANDOM % 6))
        hit_server "${servers[RANDOM % 2]}"
        [ -z "$was_restarted" ] && [ "$(posted)" -ge $((COUNT / 2)) ] || continue
        was_restarted=1
        hit_database
    done
}

all_posted() {
    local lost away
    read -r lost away <posts.out
    at_least "$CASE_NAME: kills" "$KILLS" 5
    at_least "$CASE_NAME: requests that got no answer" "${lost:-0}" 5
    echo "# $CASE_NAME: $lost requests without an answer, $away answered with 503"
    ok "$CASE_NAME: each is filed once, and answered always in the same bytes" \
        python3 "$FAULTS/posts.py" judge --case "$CASE" --store "$PRESCIENT_STORE"
    tail -n 1 "$TMP/.out" | sed "s/^/# $CASE_NAME: /"
}

posts() {
    a_case posts 'workers = 2;'
    engine e0
    serve one; serve two
    python3 "$FAULTS/posts.py" post --case "$CASE" --servers one.sock two.sock --posts "$COUNT" \
        --seed "$SEED" --over $OVER_S >posts.out 2>posts.err &
    HELPERS[posts]=$!
    hits
    written posts
    is "$CASE_NAME: no client failed" "$(cat posts.err)" ""
    ends one; ends two
    all_posted
    LIVE_S=$((30 + COUNT / 200)) EPSILON_MS=$((EPSILON_MS + COUNT)) verdict F40
}
on_stores sqlite posts
! wants_a_server >/dev/null || on_a_server posts fsync=off
