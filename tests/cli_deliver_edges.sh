#!/usr/bin/env bash
# cli_deliver_edges.sh - events to a command, where something is not as usual: a new name, a command
# that is not there, one that reads little, a cursor that moved meanwhile, a store that is away.
# about 30 s
# night: a receiver for each edge
. "$(dirname "${BASH_SOURCE[0]}")/deliver_lib.sh"

# ---- names and commands ----

new_names() {
    a_clean_store
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    fails_with 2 "the command './none' cannot be executed: No such file" deliver -- ./none
    fails_with 2 "the command 'no-such-program' cannot be executed: No such file or directory" \
        deliver -- no-such-program
    : >plain; mkdir -p folder
    fails_with 2 "the command './plain' cannot be executed: Permission denied" deliver -- ./plain
    fails_with 2 "the command './folder' cannot be executed: Permission denied" deliver -- ./folder
    printf '#!/nonexist -x\n' >script; cp script odd-script; chmod +x script odd-script
    fails_with 2 "the command './script' cannot be executed: its first line names /nonexist: No such file" \
        deliver -- ./script
    printf '#!./loop' >loop; chmod +x loop
    fails_with 2 "its first line names ./loop: Too many levels" deliver -- ./loop
    printf '#! ./script\n' >script2; printf '#!./plain\n' >script3; chmod +x script2 script3
    fails_with 2 "its first line names /nonexist: No such file" deliver -- ./script2
    fails_with 2 "its first line names ./plain: Permission denied" deliver -- ./script3
    fails_with 2 "its first line names /nonexist: No such file" env PATH=".:$PATH" \
        "$P" events --deliver mail -- odd-script
    is "$STORE_NAME: without a command no name is kept" "$("$P" events --consumers)" "no consumers"
    emit 1 2
    deliver -- true 2>said
    has "$STORE_NAME: a new name is told" "$(cat said)" \
        "the consumer 'mail' is new: it begins with the oldest event that there is. There are no others"
    deliver -- true 2>said
    is "$STORE_NAME: once" "$(cat said)" ""
    emit 3 3
    "$P" events --deliver mial -- true 2>said
    has "$STORE_NAME: a misspelt one with those that there are" "$(cat said)" \
        "the consumer 'mial' is new: it begins with the oldest event that there is. Others: mail"
    has "$STORE_NAME: with what ends it" "$(cat said)" "prescient events --forget mial"
    is "$STORE_NAME: the other one has its cursor" "$(consumer unread)" 1
    "$P" --quiet events --deliver third -- true 2>said
    is "$STORE_NAME: --quiet does without" "$(cat said)" ""
}

virtual_time() {
    a_clean_store
    emit 1 1
    fails_with 2 "--now: consumers have no virtual time" \
        "$P" --now 2026-03-01T12:00Z events --deliver mail -- true
    fails_with 2 "--now: consumers have no virtual time" \
        "$P" --now 2026-03-01T12:00Z events --reset mail --to -1d
    is "$STORE_NAME: and nothing is written" "$("$P" events --consumers)" "no consumers"
}

# ---- what the command reads ----

reading() {
    a_clean_store
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    emit 1 40
    local large; large=$(head -c 60000 /dev/zero | tr '\0' x)
    q "UPDATE {event} SET data = '{\"large\": \"$large\"}'"
    printf '#!/bin/sh\ncat >whole.lines\n' >whole; chmod +x whole
    ok "$STORE_NAME: a page that is larger than a pipe" deliver --batch 40 -- ./whole
    is "$STORE_NAME: arrives whole" "$(wc -l <whole.lines) $(($(wc -c <whole.lines) > 2400000))" "40 1"
    is "$STORE_NAME: line by line" "$(keys whole.lines)" "$(seq 40 | xargs)"

    "$P" events --reset mail --to -1h >/dev/null
    printf '#!/bin/sh\nread -r line; exec <&-; echo "${#line}" >short\nexit 0\n' >short.sh; chmod +x short.sh
    ok "$STORE_NAME: a command may read one line and end well" deliver --batch 40 -- ./short.sh
    is "$STORE_NAME: which moves the cursor behind all" "$(consumer unread) $(($(cat short) > 60000))" "0 1"
    "$P" events --reset mail --to -1h >/dev/null
    ok "$STORE_NAME: or nothing" deliver --batch 40 -- true
    is "$STORE_NAME: the same" "$(consumer unread)" 0
    "$P" events --reset mail --to -1h >/dev/null
    fails_with 1 "ended with exit status 1" deliver --batch 40 -- false
    is "$STORE_NAME: what fails without having read moves nothing" "$(consumer unread)" 40
}

# One that has closed its input, and goes on working, is waited for: without using the processor.
closing() {
    a_clean_store
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    emit 1 3
    printf '#!/bin/sh\nexec <&-\necho >closed\nwhile [ ! -e go ]; do sleep 0.05; done\n' >closes
    chmod +x closes; rm -f closed go
    start one "$P" events --deliver mail -- ./closes
    wait_until 10 test -e closed || fail "$STORE_NAME: the command is started"
    local before after
    before=$(cpu_ticks "$(pid_of one)"); sleep 1; after=$(cpu_ticks "$(pid_of one)")
    at_most "$STORE_NAME: processor time, in 1/100 s, of one second of waiting" $((after - before)) 20
    : >go
    join_within 10 one
    is "$STORE_NAME: it ends well" "$CODE $(consumer unread)" "0 0"
}
cpu_ticks() { local s; s=$(sed 's/.*) //' "/proc/$1/stat"); set -- $s; echo $((${12} + ${13})); }

# ---- the cursor moves meanwhile ----

# `take` refuses event 7 always and event 8 once. What it does before it refuses 7 for the first
# time is `meanwhile`.
refuses_8_once() {
    cat >take <<'SH'
#!/bin/sh
cat >page.$$
status=0
if grep -q '"entity_key":"7"' page.$$; then
    status=3
    [ -e was_7 ] || { : >was_7; . ./meanwhile; }
fi
if grep -q '"entity_key":"8"' page.$$ && [ ! -e was_8 ]; then : >was_8; status=4; fi
[ $status = 0 ] && cat page.$$ >>taken
rm page.$$
exit $status
SH
    chmod +x take; : >taken; rm -f was_7 was_8
}
is_taken() { [ "$(keys taken)" = "$1" ]; }

# One failure of event 8 is one, whatever failed before it at another place.
other_cursor() {
    a_clean_store
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    emit 7 9
    "$P" events --deliver mail -- true 2>/dev/null      # the name
    local behind_7; behind_7=$("$P" --quiet events --json --after 0-0-0 --limit 1 | json 'j["cursor"]')
    "$P" events --reset mail --to -1h >/dev/null
    refuses_8_once
    echo "'$P' events --reset mail --to $behind_7 >/dev/null" >meanwhile
    start one "$P" events --deliver mail --every 1s --batch 1 --skip-after 2 --backoff 1ms -- ./take
    wait_until 20 all_is_read || fail "$STORE_NAME: all is read after a reset"
    ok "$STORE_NAME: after a reset an event is not skipped for failures of another one" is_taken "8 9"
    is "$STORE_NAME: and nothing is counted" "$(consumer skipped)" 0
    kill -TERM "$(pid_of one)"; join_within 10 one
    is "$STORE_NAME: nor said" "$(grep -c "it is skipped" one.err)" 0

    "$P" events --reset mail --to -1h >/dev/null
    refuses_8_once
    echo "'$P' events --reset mail --to -1h >/dev/null" >meanwhile
    start two "$P" events --deliver mail --every 1s --batch 1 --skip-after 2 --backoff 1ms -- ./take
    wait_until 20 all_is_read || fail "$STORE_NAME: all is read after a reset to the same place"
    is "$STORE_NAME: a guilty one is skipped once" "$(consumer skipped)" 1
    kill -TERM "$(pid_of two)"; join_within 10 two
    is "$STORE_NAME: and said once" "$(grep -c "it is skipped" two.err)" 1
}

# The event that failed is no longer there; the cursor is where it was.
pruned_event() {
    a_clean_store
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    emit 7 9
    refuses_8_once
    local away="DELETE FROM {event} WHERE entity_key = '7'"
    { declare -f q in_words client_asks; echo "STORE_NAME=$STORE_NAME; q \"$away\""; } >meanwhile.bash
    echo "bash ./meanwhile.bash" >meanwhile
    ok "$STORE_NAME: an event that is pruned leaves no failures to the next" \
        deliver --batch 1 --skip-after 2 -- ./take
    ok "$STORE_NAME: which is taken" is_taken "8 9"
    is "$STORE_NAME: and not skipped" "$(consumer skipped)" 0
}

# ---- the lease is lost ----

loses() {
    a_clean_store
    stays
    settings 'lease = "3s"; trust = "2s"; kill_grace = "500ms";'
    emit 1 3
    start one "$P" events --deliver mail --every 1h -- ./stay
    wait_until 10 test -e leader || fail "$STORE_NAME: the command is started"
    local leader; leader=$(cat leader); rm leader
    "$P" events --reset mail --to now >/dev/null
    ok "$STORE_NAME: the command ends when the lease is another's" wait_until 5 is_gone "$leader"
    wait_until 5 is_waiting one || fail "$STORE_NAME: it goes on"
    is "$STORE_NAME: from the new place" "$(test -e leader && echo started)" ""
    is "$STORE_NAME: where it is" "$(consumer unread)" 0
    kill -TERM "$(pid_of one)"; join_within 10 one
    is "$STORE_NAME: it ends well" "$CODE" 0
}
is_waiting() { alive "$1" && [ -z "$(children_of "$(pid_of "$1")")" ]; }

# ---- the store is away ----

# Nobody gets in any more, and who is in is thrown out; a file is locked.
goes_away() {
    if [ "$STORE_NAME" = sqlite ]; then
        coproc { sqlite3 -batch -cmd '.timeout 20000' "${PRESCIENT_STORE#sqlite:}"; }
        echo "BEGIN EXCLUSIVE; SELECT 1;" >&"${COPROC[1]}"
        local _; read -r _ <&"${COPROC[0]}"
    else
        DB=$(q "SELECT current_database()")
        psql -qXAt "$SERVER" -c "ALTER DATABASE $DB ALLOW_CONNECTIONS false" \
            -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$DB'" >/dev/null
    fi
}
comes_back() {
    if [ "$STORE_NAME" = sqlite ]; then
        echo "COMMIT; SELECT 1;" >&"${COPROC[1]}"
        local _; read -r _ <&"${COPROC[0]}"
        eval "exec ${COPROC[1]}>&-"
        wait "$COPROC_PID" 2>/dev/null
    else
        psql -qX "$SERVER" -c "ALTER DATABASE $DB ALLOW_CONNECTIONS true" >/dev/null
    fi
}
says_that_it_waits() { grep -q "waiting for the store" one.err; }

away() {
    a_clean_store
    settings 'lease = "3s"; trust = "2s"; kill_grace = "500ms";'
    printf '#!/bin/sh\ncat >>taken\n' >take; chmod +x take; : >taken
    emit 1 2
    start one "$P" events --deliver mail --every 1s -- ./take
    wait_until 10 is_taken "1 2" || fail "$STORE_NAME: one that stays delivers"
    goes_away
    ok "$STORE_NAME: that the store is away is said" wait_until 20 says_that_it_waits
    sleep 2.5
    is "$STORE_NAME: once" "$(grep -c "waiting for the store" one.err)" 1
    local code=0; "$P" --quiet events --deliver mail -- true 2>/dev/null || code=$?
    is "$STORE_NAME: one that does not wait says so by its exit code" "$code" \
        "$([ "$STORE_NAME" = sqlite ] && echo 75 || echo 69)"
    comes_back
    emit 3 4
    ok "$STORE_NAME: and it goes on when it is back" wait_until 20 is_taken "1 2 3 4"
    kill -TERM "$(pid_of one)"; join_within 10 one
    is "$STORE_NAME: it ends well" "$CODE" 0

    # while the command runs
    stays
    emit 5 5
    start one "$P" events --deliver mail --every 1s -- ./stay
    wait_until 10 test -e leader || fail "$STORE_NAME: the command is started"
    local leader; leader=$(cat leader); rm leader
    goes_away
    ok "$STORE_NAME: a command ends while the lease cannot be renewed" wait_until 10 is_gone "$leader"
    comes_back
    ok "$STORE_NAME: and is started again when it can" wait_until 20 test -e leader
    kill -TERM "$(pid_of one)"; join_within 10 one
    is "$STORE_NAME: it ends well then" "$CODE $(consumer unread)" "0 1"
}

on_each_store new_names
on_each_store virtual_time
on_each_store reading
on_each_store closing
on_each_store other_cursor
on_each_store pruned_event
on_each_store loses
on_each_store away
