#!/usr/bin/env bash
# cli_gearman.sh - the job gearman against Gearman servers on loopback: what a worker gets, which
# server is tried, and what comes of servers that refuse, are silent or go away.
# about 25 s
# night: servers of its own
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
json_begins
. "$TESTS/jobs_lib.sh"

if [ ! -e /usr/include/libgearman-1.0/gearman.h ]; then
    echo "ok - not tested: there is no libgearman"
    exit 0
fi
ok "gearmand is installed (packages.txt)" command -v gearmand || exit 1

declare -A PORTS
for name in one two; do
    PORTS[$name]=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
done
ONE=127.0.0.1:${PORTS[one]} TWO=127.0.0.1:${PORTS[two]}
listens() { (exec 3<>"/dev/tcp/127.0.0.1/${PORTS[$1]}") 2>/dev/null; }
# server NAME: starts one
server() {
    start "$1" gearmand --listen 127.0.0.1 --port "${PORTS[$1]}" --user "$(id -un)" --log-file stderr \
        --pid-file "$TMP/$1.pid" --threads 1
    ok "a Gearman server" wait_until 20 listens "$1"
}
gone() { kill -KILL "$(pid_of "$1")"; join "$1"; }
# admin NAME COMMAND: of the text protocol; its first line
admin() {
    exec 3<>"/dev/tcp/127.0.0.1/${PORTS[$1]}"
    echo "$2" >&3; head -1 <&3 | tr -d "\r"; exec 3>&-
}
worker() { timeout 60 python3 "$ROOT/tests/gearman_worker.py" "${PORTS[$1]}" "${2:-check}"; }

NOW=2030-01-01T00:05:00Z
# job [SETTINGS]: on the servers AT
job() {
    settings "horizon = \"30d\"; timeout = \"${TIMEOUT:-10s}\"; max_failures = 0;" \
        "jobs = { hand = { plugin = \"gearman\"; settings = {
            servers = [ ${AT:-\"$ONE\"} ]; ${1:-function = \"check\";} }; }; };"
}
# tried EXPRESSION EXPECTED [OPTION...]
tried() {
    local expression=$1 expected=$2; shift 2
    timeout 60 "$P" --store sqlite:none.db --now $NOW try hand orders "${KEY:-42}" --json "$@" >.tried 2>.err
    is "${WHAT:-}" "$(json "$expression" <.tried)" "$expected"
}
# fails WHAT WORDS
fails() {
    WHAT="$1" tried 'j["answer"]' fail
    has "$1: its words" "$(json 'j["note"]' <.tried)" "$2"
}

server one
job
WHAT="a job is queued" tried 'j["answer"], j["outcome"]' "('done', 'done')" --payload '{"n": 1.10}'
has "its handle is the note" "$(json 'j["note"]' <.tried)" "job H:"
has "with the server" "$(json 'j["note"]' <.tried)" " of $ONE"
worker one >got
is "a worker gets one" "$(wc -l <got)" 1
json 'j["workload"]' <got >document
is "with the check as its workload" "$(json 'j["entity_key"], j["data"]' <document)" "('42', {'n': 1.1})"
is "and its key as the unique id" "$(json 'j["unique"]' <got)" "$(json 'j["id"]' <document)"
KEY='a
"c" $(d) * %s' WHAT="any key is taken" tried 'j["answer"]' done
is "as it is" "$(worker one | json 'j["workload"]' | json 'j["entity_key"]')" 'a
"c" $(d) * %s'
for i in 1 2; do WHAT="the same check, again" tried 'j["answer"]' done; done
is "is queued once" "$(worker one | wc -l)" 1
for priority in low normal high; do
    job "function = \"check\"; priority = \"$priority\";"
    KEY=$priority WHAT="priority $priority" tried 'j["answer"]' done
done
is "what is urgent comes first" \
    "$(worker one | while read -r line; do json 'j["workload"]' <<<"$line" | json 'j["entity_key"]'; done |
        xargs)" "high normal low"
python3 -c 'print("[\"" + "x" * 60000 + "\"]")' >large
job; WHAT="a large one" tried 'j["answer"]' done --payload "$(cat large)"
is "arrives whole" "$(worker one | json 'j["workload"]' | json 'len(j["data"][0])')" 60000

# ---- settings ----
AT='""' refused "setting 'servers': found ''"
AT='"a:b"' refused "setting 'servers': found 'a:b'"
AT='"u:hunter2@h"' refused "setting 'servers': expected no user and no password in it"
AT='"::1"' refused "setting 'servers': found '::1', expected such as"
AT='"h:0"' refused "setting 'servers': found 'h:0'"
AT=' ' refused "setting 'servers': found 0, expected 1 to 16"
refused "setting 'function': expected the name" 'priority = "low";'
refused "setting 'priority': found 'urgent'" 'function = "f"; priority = "urgent";'

# ---- which server, and none ----
server two
AT="\"$TWO\", \"$ONE\"" job
WHAT="the first takes it" tried 'j["answer"]' done
is "alone" "$(worker two | wc -l) $(worker one | wc -l)" "1 0"
gone two
WHAT="the first is away: the next one takes it" tried 'j["answer"]' done
is "it is there" "$(worker one | wc -l)" 1
server two
kill -STOP "$(pid_of two)"
TIMEOUT=4s AT="\"$TWO\", \"$ONE\"" job
WHAT="the first is silent: the next one takes it" tried 'j["answer"]' done
kill -CONT "$(pid_of two)"
is "it is there, too" "$(worker one | wc -l)" 1
worker two >/dev/null
is "a queue that is full" "$(admin one "maxqueue check 1")" OK
job; KEY=1 WHAT="takes one" tried 'j["answer"]' done
KEY=2 fails "and refuses the next" "Job queue is full"
AT="\"$ONE\", \"$TWO\"" job; KEY=2 WHAT="which another server takes" tried 'j["answer"]' done
admin one "maxqueue check 0" >/dev/null; worker one >/dev/null; worker two >/dev/null

kill -STOP "$(pid_of one)"
TIMEOUT=2s job; fails "a server that is silent" "$ONE: no answer in time"
received() { [ -n "$(ss -Htn state established "( sport = :${PORTS[one]} )" | awk '$1 > 100')" ]; }
TIMEOUT=20s job
timeout 60 "$P" --store sqlite:none.db --now $NOW try hand orders 42 --json >.tried 2>.err & TRY=$!
ok "a job is on its way" wait_until 20 received
gone one; gone two
wait $TRY
is "the server is killed before it answers" "$(json 'j["answer"]' <.tried)" fail
has "with words" "$(json 'j["note"]' <.tried)" "$ONE: "
AT="\"$ONE\", \"$TWO\"" job; fails "no server" "$TWO: "
has "the words of both" "$(json 'j["note"]' <.tried)" "$ONE: "

# ---- many, and a server that is started anew between two ----
many() {
    server one
    job; a_clean_store
    fill 1000 1700000100 hand
    "$P" --set workers=2 run --slot 1700000100 >.out 2>engine.err
    is "$STORE_NAME: many checks" \
        "$(q "SELECT outcome, count(*) FROM {future_job_history} GROUP BY 1")" "done|1000"
    is "$STORE_NAME: a job each" "$(worker one | sort -u | wc -l)" 1000
    start daemon "$P" --set workers=1 daemon
    "$P" --quiet enqueue row before hand --at-once >/dev/null
    ok "$STORE_NAME: a check of a daemon" wait_until 30 over before
    gone one; server one
    "$P" --quiet enqueue row after hand --at-once >/dev/null
    ok "$STORE_NAME: one after the server was started anew" wait_until 30 over after
    is "$STORE_NAME: needs no second try" "$(q "SELECT outcome FROM {future_job_history}
        WHERE entity_key = 'after'") $(worker one | wc -l)" "done 1"
    kill -TERM "$(pid_of daemon)"; join daemon
    gone one
}
STORE_NAME=sqlite PRESCIENT_STORE=sqlite:$TMP/store.db; export PRESCIENT_STORE
many
if [ -n "$SERVER" ]; then
    new_database prescient_gearman_$$
    STORE_NAME=postgresql PRESCIENT_STORE=$HERE
    many
fi
