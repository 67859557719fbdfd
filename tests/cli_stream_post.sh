#!/usr/bin/env bash
# cli_stream_post.sh - POST /v1/checks with lines (application/x-ndjson): what is answered while it
# comes, what one bad line changes, and what is left when clients, servers or processes go away.
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

stream() { limited 90 python3 "$ROOT/tests/http_stream.py" "$@"; }
LOOKS='jobs = { look = { plugin = "noop"; }; };'
begins() { a_clean_store; settings "$LOOKS"; serve "$1.$STORE_NAME"; }
several() { q "SELECT count(*), count(DISTINCT entity_key) FROM {future_job}"; }

answers_while_it_comes() {
    local s=$STORE_NAME
    begins order
    is "$s: 2,500 lines" "$(stream order "$SOCK" 2500)" "200 200 in order, and repeated in the same bytes"
    is "$s: each was filed once" "$(several)" "2500|2500"
    is "$s: who waits for each answer before the next line" "$(stream in_turn "$SOCK")" $'None True\nthen 200'
    is "$s: nothing more was filed" "$(several)" "2500|2500"
    ends order.$s
}

takes_the_good_ones() {
    local s=$STORE_NAME
    begins bad
    is "$s: bad lines in the middle" "$(stream bad_lines "$SOCK" | tr '\n' ';')" "$(printf '%s;' \
        '1 400 /problems/bad-request' '1 422 /uniqid,/kye,/entity,/key' '1 422 ' '1 422 /uniqid' \
        '1 400 /problems/bad-request' '1 413 /problems/too-large' '1 422 /job' \
        '1 400 /problems/bad-request' '1 400 /problems/bad-request' '200 1500 True')"
    is "$s: all others are filed" "$(several)" "1491|1491"
    is "$s: empty lines have no answer" "$(stream ends_of_lines "$SOCK")" "$(printf '%s \n' \
        '200 new: 3 400 at 7: 1' 200 200 200)"
    is "$s: a line has 64 KiB" "$(stream edges_of_a_line "$SOCK")" "$(printf '200 %s: 1 \n' \
        new new new '413 at 1' '413 at 1' '413 at 1')"
    is "$s: 100,001 lines" "$(stream too_many "$SOCK")" \
        $'200 new: 2 413 at the end: 1 cut off\n200 new: 2 '
    ends bad.$s
}

# A value that only the database refuses does not keep others out: it is found among them.
finds_what_the_store_refuses() {
    local s=$STORE_NAME
    begins refused
    { printf '{"job":"look","in":1,"uniqid":"a%d"}\n' {1..500}
      echo '{"job":"look","in":"8000y","uniqid":"never"}'
      printf '{"job":"look","in":1,"uniqid":"b%d"}\n' {1..499}; } >lines.$s
    is "$s: a time that only the store can refuse" "$(get -H 'Content-Type: application/x-ndjson' \
        --data-binary @lines.$s http://localhost/v1/checks)" 200
    is "$s: is told in its place" "$(sed -n 501p body | json 'j["line"], j["status"]')" "(501, 422)"
    is "$s: all others are filed" "$(grep -c '"outcome":"new"' body) $(several)" "999 999|999"
    ends refused.$s
}

refuses() {
    local s=$STORE_NAME
    begins refuses
    is "$s: what no stream can have" "$(stream refused "$SOCK")" \
        "400 400 415 413 405 HTTP/1.1 100 Continue 422"
    is "$s: bodies that end in the middle" "$(stream cut "$SOCK")" "$(printf '%s\n' \
        '200 new: 2 400 at the end: 1 cut off' 'answered 2' \
        '200 kept: 1 400 at the end: 1 cut off' 'answered 1' \
        '400 400 at the end: 1 ' 'answered 0' '400 400 at the end: 1 ' 'answered 0' | sed 's/kept/new/')"
    is "$s: clients that go away" "$(stream gone "$SOCK")" "200 new: 1 "
    ends refuses.$s
}

stop_writing() { kill -STOP $(backends_of "$1"); }
go_on_writing() { kill -CONT $(backends_of "$1"); }

# asks_first NAME CASE: the client asks, and waits; its lines go to CASE.STORE. `released` is called
# when it has asked. The server's processes stand still for as short as can be: after some seconds
# nobody is let in, as they do not say which tokens there are.
asks_first() {
    local s=$STORE_NAME go
    mkfifo "go.$2"
    stream "$2" "$SOCK" <"go.$2" >"$2.$s" &
    exec {go}>"go.$2"
    wait_until 20 grep -q ready "$2.$s"
    ok "$s: $2: the list of tokens is fresh" answers 200 /v1/session
    stop_writing "$1"
    echo >&"$go"
    wait_until 20 grep -q asked "$2.$s"
    released "$1"
    go_on_writing "$1"
    echo >&"$go"
    exec {go}>&-
    wait $!
}

ends_in_order() {
    local s=$STORE_NAME
    begins end
    released() { kill -TERM "$(pid_of "$1")"; wait_until 20 grep -q 'SIGTERM: answering' "$1.err"; }
    asks_first end.$s told_to_end
    is "$s: told to end, it answers what it has read, and says what is missing" \
        "$(cat told_to_end.$s)" "$(printf '%s\n' ready asked '200 new: 2 503 at the end: 1 cut off' \
            '200 new: 2 ' '503 503 at the end: 1 ')"
    join_within 30 end.$s
    is "$s: then it ends" "$CODE" 0
}

takes_turns() {
    local s=$STORE_NAME
    begins turns
    released() { :; }
    asks_first turns.$s turns
    is "$s: five streams, and a single check" "$(cat turns.$s)" \
        "$(printf '%s\n' ready asked 201; printf '200 new: 100 \n%.0s' {1..5})"
    at_most "$s: streams that come before it" "$(q "SELECT count(DISTINCT tenant) FROM {future_job} WHERE id <
        (SELECT id FROM {future_job} WHERE tenant = 'single')")" 1
    ends turns.$s
}

# Two servers, of which one is killed again and again, as are processes of the other.
killed() {
    local s=$STORE_NAME i one=$PWD/one.$STORE_NAME.sock
    a_clean_store
    settings "$LOOKS"
    serve two.$s
    serve one.$s
    start client.$s python3 "$ROOT/tests/http_stream.py" killed one.$s.sock two.$s.sock 3 4000
    for i in {1..5}; do
        sleep 0.3
        kill -KILL $(backends_of two.$s | head -n 1) "$(pid_of one.$s)" 2>/dev/null
        join one.$s
        serve one.$s
    done
    join client.$s
    is "$s: 12,000 lines through servers that are killed" "$(cat client.$s.out client.$s.err)" \
        "3 streams repeated in the same bytes"
    is "$s: each was filed once" "$(several)" "12000|12000"
    ends one.$s
    ends two.$s
}

# Once a stream has begun, what goes wrong is its last line; before that, the answer.
store_away() {
    local s=$STORE_NAME
    settings "$LOOKS"
    serve away.$s
    is "$s: a store without a schema" "$(get -H 'Content-Type: application/x-ndjson' \
        -d '{"job":"look","in":1,"uniqid":"a"}' http://localhost/v1/checks)" 503
    is "$s: nothing is answered" "$(json 'j["status"], j.get("answered", 0)' <body)" "(503, 0)"
    ends away.$s
}

on_this_store() {
    at_once answers_while_it_comes takes_the_good_ones finds_what_the_store_refuses refuses ends_in_order \
        takes_turns killed store_away
}
on_each_store on_this_store
