#!/usr/bin/env bash
# t_stream.sh - commands that live on (exec with stream = true), in real engines: the examples, what
# each way to misbehave costs (the guilty check, and no other one), that no more checks are
# unanswered than the window has room for, that nothing is left of a process, and that a stream is
# at least ten times as fast as a program started for each check.
# about 55 s
# night: it kills, waits or judges time for minutes
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100
EXAMPLES=$ROOT/examples/stream

# stream NAME TIMEOUT SETTINGS: a job
stream() {
    echo "$1 = { plugin = \"exec\"; timeout = \"$2\"; max_failures = 0; settings = { stream = true; $3 }; };"
}
# bad NAME TIMEOUT WINDOW [WAY]: a job of bad_stream.py, which notes things in the folder NAME
bad() {
    mkdir -p "$1"
    stream "$1" "$2" "command = [ \"$TESTS/bad_stream.py\", \"$PWD/$1\", \"$3\", \"${4:-}\" ];"
}
# runs WHAT [CODE]: 1 when some checks fail
runs() {
    start engine "$P" --log-level info run --slot $SLOT
    join_within 120 engine
    is "$STORE_NAME: $1: the run ends, and no check is left" "$CODE $(pending)" "${2:-0} 0"
}
outcomes() {
    q "SELECT outcome, count(*) FROM {future_job_history} WHERE job_exec = '$1' GROUP BY 1 ORDER BY 1" | xargs
}
note_of() { q "SELECT outcome, note FROM {future_job_history} WHERE entity_key = '$1'"; }
lines() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }

# ---- the examples ----

# Three orders: one is paid, one is not, one is looked at for the last time.
orders() {
    local column="'{\"paid\":true}'"
    q "DELETE FROM {future_job}"; q "DELETE FROM {future_job_history}"; q "DELETE FROM {event}"
    fill 300 $SLOT "$1" "'' || n"
    q "UPDATE {future_job} SET payload = $column WHERE entity_key IN ('1', '7')"
    q "UPDATE {future_job} SET check_count = 2 WHERE entity_key = '2'"
}
ends_as_the_example_does() {
    orders "$1"
    start engine "$P" --log-level warn run --slot $SLOT
    join_within 60 engine
    is "$STORE_NAME: $1: it ends without a word" "$CODE $(cat engine.err)" "0 "
    is "$STORE_NAME: $1: what is paid is done" \
        "$(q "SELECT entity_key, outcome FROM {future_job_history} ORDER BY 1" | xargs)" "$2"
    is "$STORE_NAME: $1: the others wait" "$(q "SELECT check_count, count(*) FROM {future_job} GROUP BY 1")" \
        "1|$3"
    is "$STORE_NAME: $1: and one is told" "$(q "SELECT event, entity_key FROM {event}")" "$4"
}
examples() {
    a_clean_store
    mkdir -p paid; touch paid/1 paid/7
    local with_node=
    ! command -v node >/dev/null || with_node=$(stream js 20s "command = [ \"$EXAMPLES/paid.js\" ];")
    settings 'workers = 2; worker_memory = 0;' \
        "jobs = { $(stream py 20s "command = [ \"$EXAMPLES/paid.py\" ];") $with_node
        $(stream sh 20s "command = [ \"$EXAMPLES/paid.sh\", \"$PWD/paid\" ];") };"
    ends_as_the_example_does py "1|done 2|done 7|done" 297 "order.unpaid|2"
    [ -z "$with_node" ] || ends_as_the_example_does js "1|done 2|done 7|done" 297 "order.unpaid|2"
    orders sh
    q "DELETE FROM {future_job} WHERE entity_key = '2'"
    fill 1 $SLOT sh "'4\"2'"
    start engine "$P" --log-level warn run --slot $SLOT
    join_within 60 engine
    is "$STORE_NAME: sh: what is paid is done, and no key is taken for another" \
        "$(q "SELECT entity_key, outcome, note FROM {future_job_history} ORDER BY 1")" $'1|done|
4"2|failed|no number of an order\n7|done|'
}

# ---- bad ones, among good ones ----

# what happens to KIND's check; the rest of its note
misbehaving=(
    "garbage|failed|its answer: found 'garbage', expected one JSON object"
    "unknown|failed|it answered the id '00000000000000000000000000000000', which it was not given"
    "noid|failed|its answer has no id"
    "nothing|failed|its answer: found 0 of done, again_at, defer_until and fail, expected one"
    "long|failed|it wrote a line of more than 262144 bytes"
    "exit|failed|exit status 3 before it answered"
    "killed|failed|killed by SIGKILL before it answered"
    "closes|failed|it closed its standard output"
    "leaves|failed|exit status 4 before it answered"
    "hang|failed|no answer within 5500 ms"
    "twice|done|"
    "child|done|"
    "fails|failed|as asked"
)
bad_ones() {
    local i kind
    a_clean_store
    settings 'workers = 2; workers_max = 2;' "jobs = { $(bad mixed 6s 8) };"
    for i in "${!misbehaving[@]}"; do
        kind=${misbehaving[i]%%|*}
        fill 20 $SLOT mixed "CASE n WHEN 10 THEN '${kind}1' ELSE 'good' || ($i * 100 + n) END"
    done
    runs "bad ones" 1
    for i in "${!misbehaving[@]}"; do
        kind=${misbehaving[i]%%|*}
        has "$STORE_NAME: $kind" "$(note_of "${kind}1")" "${misbehaving[i]#*|}"
    done
    is "$STORE_NAME: no good one has failed" "$(q "SELECT outcome, count(*) FROM {future_job_history}
        WHERE entity_key LIKE 'good%' GROUP BY 1")" "done|$((19 * ${#misbehaving[@]}))"
    is "$STORE_NAME: none was put off" "$(q "SELECT count(*) FROM {future_job_run}")" 0
    nothing_is_left mixed
}
# of the processes that a job's stream has noted, and their children
nothing_is_left() {
    local pid
    xargs -r kill -KILL <"$1/left" 2>/dev/null
    for pid in $(cat "$1/started" "$1/children" 2>/dev/null); do
        wait_until 2 is_over "$pid" || fail "$STORE_NAME: process $pid of $1 is gone"
    done
}

# ---- the window ----

windows() {
    a_clean_store
    settings 'workers = 1; workers_max = 1;' \
        "jobs = { $(bad narrow 20s 4 reversed) $(bad wide 20s 500 reversed) $(bad own 20s 500 reversed |
            sed 's/stream = true;/& window = 3;/') };"
    local job
    for job in narrow wide own; do fill 60 $SLOT $job "'good' || n"; done
    runs windows
    is "$STORE_NAME: answers in any order" "$(outcomes narrow) $(outcomes wide) $(outcomes own)" \
        "done|60 done|60 done|60"
    is "$STORE_NAME: the smaller window counts" \
        "$(for job in narrow wide own; do sort -n $job/most | tail -1; done | xargs)" "4 16 3"
    is "$STORE_NAME: and each is told ours" "$(cat narrow/hello wide/hello own/hello | xargs)" "16 16 3"
    is "$STORE_NAME: each process lives on" "$(cat narrow/started wide/started own/started | wc -l)" 3
    is "$STORE_NAME: and finishes at the end of its input" \
        "$(cat narrow/finished wide/finished own/finished | wc -l)" 3
}

# The rest of what an answer may hold, each in a line of one process.
answers() {
    a_clean_store
    settings 'workers = 1; workers_max = 1;' "jobs = { $(bad answers 20s 4) $(bad good 20s 4) };"
    fill 1 4102444800 good "'over'"
    fill 3 $SLOT answers "CASE n WHEN 1 THEN 'defers1' WHEN 2 THEN 'files1' ELSE 'resolves1' END"
    start engine "$P" --log-level info run --slot $SLOT
    join_within 60 engine
    is "$STORE_NAME: answers: the run ends well" "$CODE" 0
    is "$STORE_NAME: defer_until: it waits, uncounted, for a day" \
        "$(q "SELECT check_count, failure_count, <next_check_at> > $(($(date +%s) + 80000)) FROM {future_job}
           WHERE entity_key = 'defers1'" | sed 's/t$/1/')" "0|0|1"
    is "$STORE_NAME: with its note" "$(q "SELECT outcome, note FROM {future_job_run}")" "deferred|not yet"
    is "$STORE_NAME: enqueue: the check that it files waits" \
        "$(q "SELECT job_exec FROM {future_job} WHERE entity_key = 'filed'")" good
    is "$STORE_NAME: resolve: the one that waited is over" \
        "$(q "SELECT entity_key, outcome FROM {future_job_history} ORDER BY 1" | xargs)" \
        "files1|done over|resolved resolves1|done"
    is "$STORE_NAME: all by one process" "$(lines answers/started)" 1
}

# One that does not end at the end of its input is ended.
stays() {
    a_clean_store
    settings 'workers = 1; workers_max = 1;' "jobs = { $(bad stays 20s 4 stays) };"
    fill 3 $SLOT stays "'good' || n"
    start engine "$P" --quiet --log-level error run --slot $SLOT
    wait_until 30 test -e stays/finished || fail "$STORE_NAME: its input ends"
    local began; began=$(now_ms)
    wait_until 10 is_over "$(cat stays/started)"
    in_time "$STORE_NAME: it is ended then" $(($(now_ms) - began)) 4000
    join_within 20 engine
    is "$STORE_NAME: and what it answered is done" "$(outcomes stays)" "done|3"
}

# One that works on several together need not end when one of them takes too long, and may answer
# that one later.
late_ones() {
    a_clean_store
    settings 'workers = 1; workers_max = 1;' "jobs = { $(bad beside 2s 8 threads) };"
    fill 120 $SLOT beside "CASE WHEN n = 5 THEN 'late' || n WHEN n = 6 THEN 'hang' || n ELSE 'slow' || n END"
    runs "late ones" 1
    is "$STORE_NAME: two were late, the others done" "$(outcomes beside)" "done|118 failed|2"
    is "$STORE_NAME: and the process lived on" "$(lines beside/started)" 1
}

# ---- kills ----

killed() {
    a_clean_store
    settings 'lease = "2s"; trust = "1s"; workers = 1; workers_max = 1;' "jobs = { $(bad kills 60s 4) };"
    local who pid began worker
    for who in worker engine; do
        rm -f kills/started kills/most
        q "DELETE FROM {future_job}"
        fill 3 $SLOT kills "'hang' || n"
        start engine "$P" --quiet --log-level error run --slot $SLOT
        wait_until 20 test -e kills/most || fail "$STORE_NAME: a stream is given checks"
        pid=$(cat kills/started) worker=$(workers_but_keepers_of "$(pid_of engine)" | head -1)
        began=$(now_ms)
        if [ $who = worker ]; then kill -KILL "$worker"; else kill -KILL "$(pid_of engine)"; fi
        wait_until 10 is_over "$pid"
        in_time "$STORE_NAME: the $who is killed: its stream is gone" $(($(now_ms) - began)) 1000
        kill -KILL "$(pid_of engine)" 2>/dev/null; join_within 20 engine
        wait_until 10 no_leases_are_held
    done
}
no_leases_are_held() {
    case $STORE_NAME in
    sqlite) [ "$(q "SELECT count(*) FROM {slot_lease} WHERE owner IS NOT NULL
        AND expires_at_us > strftime('%s', 'now') * 1000000")" = 0 ] ;;
    *) [ "$(q "SELECT count(*) FROM {slot_lease} WHERE owner IS NOT NULL AND expires_at > now()")" = 0 ] ;;
    esac
}

# ---- what it writes beside its answers ----

words() {
    a_clean_store
    settings 'workers = 1;' "jobs = { $(bad talks 20s 4) };"
    fill 1 $SLOT talks "'prints' || n"
    runs words
    has "$STORE_NAME: standard error goes to the log" "$(cat engine.err)" "printed: words prints1"
    fill 1 $SLOT talks "'floods' || n"
    runs "too many words"
    is "$STORE_NAME: 24 MB of it harm nobody" "$(outcomes talks)" "done|2"
    at_most "$STORE_NAME: and are not all in the log (bytes)" "$(wc -c <engine.err)" 4000000
}

# A command that ends at once each time: pauses, and then its checks wait without a failure.
always_ends() {
    a_clean_store
    cat >ends <<'SH'
#!/bin/sh
echo >>"$1/ends.started"
read -r hello
[ "$(wc -l <"$1/ends.started")" -gt 1 ] || { echo '{"prescient":1,"window":4}'; read -r line; }
exit 7
SH
    chmod 755 ends
    settings 'workers = 1; workers_max = 1; batch_timeout = "8s";' \
        "jobs = { $(stream ends 6s "command = [ \"$PWD/ends\", \"$PWD\" ];") };"
    fill 30 $SLOT ends
    runs_and_waits
    is "$STORE_NAME: no check has failed" \
        "$(archived) $(q "SELECT max(failure_count) FROM {future_job}")" "0 0"
    has "$STORE_NAME: and it is told why" "$(q "SELECT DISTINCT note FROM {future_job_run}")" \
        "put off, as the stream's command is started again: exit status 7 before its first line"
    at_most "$STORE_NAME: it was started few times" "$(lines ends.started)" 12
}
runs_and_waits() {
    start engine "$P" --log-level info run --slot $SLOT
    join_within 120 engine
    is "$STORE_NAME: they wait" "$(pending)" 30
}

# A command that dies of each check. What it dies of fails, and what would have to wait for a
# process for longer than a check may take is put off: the worker has other work.
a_dying_one() {
    a_clean_store
    printf '%s\n' '#!/bin/sh' 'read -r hello' 'echo "{\"prescient\":1,\"window\":4}"' 'read -r line' \
        'exit 7' >dies
    chmod 755 dies
    settings 'workers = 1; workers_max = 1;' \
        "jobs = { $(stream dies "$1" "command = [ \"$PWD/dies\" ];") };"
    fill 40 $SLOT dies
}
dies_always() {
    local began failed
    a_dying_one 5s
    began=$(now_ms)
    start engine "$P" --quiet --log-level error run --slot $SLOT
    join_within 60 engine
    in_time "$STORE_NAME: it dies of each check: the run is not kept" $(($(now_ms) - began)) 15000
    failed=$(archived)
    at_least "$STORE_NAME: what it died of has failed" "$failed" 2
    at_most "$STORE_NAME: none after a pause longer than a check's time" "$failed" 3
    in_time "$STORE_NAME: so all pauses together are shorter than two checks' time" \
        "$(q "SELECT max(total_run_us) / 1000 FROM {future_job_history}")" 10000
    is "$STORE_NAME: the others are put off, uncounted" \
        "$(q "SELECT count(*), max(failure_count) FROM {future_job}") $(q "SELECT DISTINCT outcome
           FROM {future_job_run}")" "$((40 - failed))|0 deferred"
    has "$STORE_NAME: and it is told why" "$(q "SELECT DISTINCT note FROM {future_job_run}")" \
        "put off, as the stream's command is started again: exit status 7 before it answered"
    # the next process is given one check first: it dies of that one
    ok "$STORE_NAME: they are due" wait_until 20 all_are_due
    start engine "$P" --log-level info run
    join_within 60 engine
    is "$STORE_NAME: the next run ends with some that failed" "$CODE" 1
    [ "$(archived)" -gt "$failed" ] ||
        fail "$STORE_NAME: each run finds one that it dies of, at least" "$(cat engine.err)"
}
all_are_due() { [ "$(q "SELECT max(<next_check_at>) FROM {future_job}")" -le "$(date +%s)" ]; }
stops_in_a_pause() {
    local began
    a_dying_one 30s
    start engine "$P" --quiet --log-level error run --slot $SLOT
    ok "$STORE_NAME: a pause of eight seconds begins" wait_until 40 archived_at_least 3
    began=$(now_ms)
    kill -TERM "$(pid_of engine)"
    join_within 30 engine
    in_time "$STORE_NAME: an engine that is to stop does not wait for it" $(($(now_ms) - began)) 3000
    is "$STORE_NAME: and nothing more has failed" "$(archived) $(q "SELECT count(*), max(failure_count)
        FROM {future_job}")" "3 37|0"
}

# ---- how fast ----

a_rate() {
    local n=$1 began
    fill "$n" $SLOT "$2"
    began=$(now_ms)
    start engine "$P" --quiet --log-level error run --slot $SLOT
    join_within 120 engine
    RATE=$((n * 1000 / ($(now_ms) - began)))
}
fast() {
    local many=5000 few=60 stream_rate
    [ -z "${FULL:-}" ] || many=20000 few=400
    a_clean_store
    printf '%s\n' '#!/usr/bin/env python3' 'import json, sys; sys.dont_write_bytecode = True' \
        "sys.path.insert(0, '$EXAMPLES')" \
        'from paid import answer' 'print(json.dumps(answer(json.loads(sys.stdin.readline()))))' >once.py
    chmod 755 once.py
    settings 'workers = 2; workers_max = 2;' \
        "jobs = { $(stream lives 20s "command = [ \"$EXAMPLES/paid.py\" ];")
        once = { plugin = \"exec\"; settings = { answer = \"json\"; command = [ \"$PWD/once.py\" ]; }; }; };"
    a_rate $many lives; stream_rate=$RATE
    a_rate $few once
    echo "# $STORE_NAME: $stream_rate checks a second as a stream, $RATE started for each"
    is "$STORE_NAME: all were looked at" "$(q "SELECT count(*) FROM {future_job} WHERE check_count = 1")" \
        $((many + few))
    at_least "$STORE_NAME: a stream is ten times as fast" "$stream_rate" $((RATE * 10))
}

BESIDE="always_ends answers dies_always stops_in_a_pause bad_ones late_ones stays examples windows words"
everything() {
    at_once ${ONLY:-$BESIDE}
    [ -z "${ONLY:-}" ] || return
    killed
    fast
}
on_each_store everything
