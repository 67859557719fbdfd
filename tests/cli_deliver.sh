#!/usr/bin/env bash
# cli_deliver.sh - events to a command: page after page, with a cursor in the store; what fails
# comes again in halves; one process by a name works; consumers are listed, set back and forgotten.
# about 20 s
# night: it waits for seconds
. "$(dirname "${BASH_SOURCE[0]}")/deliver_lib.sh"

pages() { wc -l <pages; }

# Takes all but order 7, with one line for each page that it was given.
takes() {
    cat >take <<'SH'
#!/bin/sh
cat >page.$$
wc -l <page.$$ >>pages
if grep -q '"entity_key":"7"' page.$$; then rm page.$$; exit "${REFUSED:-3}"; fi
cat page.$$ >>taken; rm page.$$
SH
    chmod +x take
    : >taken; : >pages
}

delivering() {
    a_clean_store
    takes
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    is "$STORE_NAME: there are no consumers" "$("$P" events --consumers)" "no consumers"
    ok "$STORE_NAME: without events nothing is started" deliver -- ./take
    is "$STORE_NAME: which is so" "$(pages)" 0
    emit 1 5
    ok "$STORE_NAME: what is there is delivered" deliver --batch 2 -- ./take
    is "$STORE_NAME: in its order" "$(keys taken)" "1 2 3 4 5"
    is "$STORE_NAME: by pages" "$(xargs <pages)" "2 2 1"
    is "$STORE_NAME: as the documents that all programs are given" \
        "$(head -1 taken | json 'j["type"], j["job"], j["timestamp"], j["check_number"], j["data"]["n"],
            j["failure_count"], len(j["id"])')" \
        "('order.late', 'look', '2026-03-01T13:15:00Z', 1, 1, None, 32)"
    is "$STORE_NAME: with the members of the schema" "$(head -1 taken | json 'sorted(j)')" \
        "$(json 'sorted(j["required"])' <"$ROOT/docs/delivery.schema.json")"
    is "$STORE_NAME: under different keys" "$(grep -o '"id":"[0-9a-f]*"' taken | sort -u | wc -l)" 5
    ok "$STORE_NAME: again" deliver -- ./take
    is "$STORE_NAME: nothing comes twice" "$(pages)" 3
    is "$STORE_NAME: the consumer is listed" "$(consumer unread) $(consumer skipped)" "0 0"
    local end; end=$(consumer cursor)

    emit 6 9
    fails_with 1 "ended with exit status 3 on the 4 events from" deliver -- ./take
    has "$STORE_NAME: stopped in front of the guilty one" "$(cat "$TMP/.err")" \
        "(order.late of orders 7), again and again: stopped in front of it. --skip-after N"
    is "$STORE_NAME: what was before it is delivered" "$(keys taken)" "1 2 3 4 5 6"
    is "$STORE_NAME: it is unread still" "$(consumer unread)" 3
    fails_with 1 "as often as --skip-after wants: it is skipped" \
        bash -c "! '$P' events --deliver mail --backoff 1ms --skip-after 2 -- ./take"
    is "$STORE_NAME: and what was behind it comes" "$(keys taken)" "1 2 3 4 5 6 8 9"
    is "$STORE_NAME: which is counted" "$(consumer unread) $(consumer skipped)" "0 1"

    ok "$STORE_NAME: set back to a cursor" "$P" events --reset mail --to "$end"
    is "$STORE_NAME: the rest is unread" "$(consumer unread)" 4
    ok "$STORE_NAME: set to now" "$P" events --reset mail --to now
    is "$STORE_NAME: all is read" "$(consumer unread)" 0
    has "$STORE_NAME: set back to a time" "$("$P" events --reset mail --to -1h)" "mail reads on behind "
    is "$STORE_NAME: all is unread" "$(consumer unread)" 9
    is "$STORE_NAME: a consumer may be made there" \
        "$("$P" events --reset chat --to now --json | json 'j["is_new"]') $(consumer unread chat)" "True 0"
    ok "$STORE_NAME: and forgotten" "$P" events --forget chat
    fails_with 2 "there is no consumer 'chat'" "$P" events --forget chat
    fails_with 2 "is ahead of everything" "$P" events --reset mail --to 0-99999999999-99999999999
    fails_with 2 "--to (a cursor, now, or a time such as -1d)" "$P" events --reset mail --to soon
    fails_with 2 "no place given" "$P" events --reset mail
    fails_with 2 "expected 1 to 64 characters" "$P" events --deliver "ma il" -- true
    fails_with 2 "no command given" "$P" events --deliver mail
    fails_with 2 "--deliver is given twice: 'mail' and 'chat'" \
        "$P" events --deliver mail --deliver=chat -- true
    fails_with 2 "takes no --batch, which belongs to --deliver" "$P" events --consumers --batch 2
    fails_with 2 "--every: found '1ms', expected 1s to" deliver --every 1ms -- true
    fails_with 2 "takes no arguments without --deliver" "$P" events mail
    fails_with 2 "the command './none' cannot be executed: No such file" deliver -- ./none
    is "$STORE_NAME: a command that is missing is no fault of an event" "$(consumer unread)" 9
}

# ---- processes ----

parent_of() { local stat; read -r stat <"/proc/$1/stat"; stat=(${stat##*) }); echo "${stat[1]}"; }
lost_its_guard() { grep -q "its guard was killed" guarded.err; }

running() {
    a_clean_store
    stays
    settings 'lease = "30s"; trust = "20s"; kill_grace = "500ms";'
    emit 1 3
    start one "$P" events --deliver mail --every 1h -- ./stay
    wait_until 10 test -e leader || fail "$STORE_NAME: the command is started"
    local leader; leader=$(cat leader)
    fails_with 75 "/$(pid_of one) is at work by this name" deliver -- true
    is "$STORE_NAME: it is said who" "$(consumer held_by | sed 's/.*\///')" "$(pid_of one)"
    kill -TERM "$(pid_of one)"
    join_within 10 one
    is "$STORE_NAME: TERM ends it well" "$CODE" 0
    ok "$STORE_NAME: with its command and what that has started" is_gone "$leader"
    is "$STORE_NAME: its events come again" "$(consumer unread)" 3
    ok "$STORE_NAME: at once, as the lease was given back" deliver -- true
    is "$STORE_NAME: and are read" "$(consumer unread)" 0

    "$P" events --reset mail --to -1h >/dev/null; rm -f leader
    start two "$P" events --deliver mail --every 1h -- ./stay
    wait_until 10 test -e leader || fail "$STORE_NAME: the command is started"
    leader=$(cat leader)
    kill -KILL "$(pid_of two)"
    join_within 10 two
    ok "$STORE_NAME: a kill -9 ends the command, too" wait_until 5 is_gone "$leader"
    fails_with 75 "is at work by this name" deliver -- true

    "$P" events --reset mail --to -1h >/dev/null; rm -f leader
    start guarded "$P" events --deliver mail --every 1h --backoff 1m -- ./stay
    wait_until 10 test -e leader || fail "$STORE_NAME: the command is started"
    leader=$(cat leader)
    kill -KILL "$(parent_of "$leader")"
    ok "$STORE_NAME: one whose guard is killed has failed" wait_until 10 lost_its_guard
    ok "$STORE_NAME: and by then nothing of it is left" is_gone "$leader"
    is "$STORE_NAME: its events come again" "$(consumer unread)" 3
    kill -TERM "$(pid_of guarded)"; join_within 10 guarded

    "$P" events --reset mail --to -1h >/dev/null; rm -f leader
    fails_with 1 "was ended at its time limit, 200ms" deliver --timeout 200ms --batch 1 -- ./stay
    ok "$STORE_NAME: a command ends at its limit" is_gone "$(cat leader)"

    start three "$P" events --deliver mail --every 1s -- true
    wait_until 10 all_is_read || fail "$STORE_NAME: one that stays delivers"
    emit 4 5
    ok "$STORE_NAME: and looks again" wait_until 10 all_is_read
    "$P" events --forget mail >/dev/null
    join_within 10 three
    has "$STORE_NAME: one that is forgotten ends" "$CODE $(cat three.err)" \
        "1 prescient events: the consumer 'mail' was forgotten"
    is "$STORE_NAME: and is not made again" "$("$P" events --consumers)" "no consumers"
}

# ---- beside transactions and prune ----

beside() {
    a_clean_store
    takes
    emit 1 2
    fails_with 1 "the consumer mail has not read: 2" bash -c "
        '$P' events --reset mail --to -1h >/dev/null
        case \$0 in
        sqlite) sqlite3 '${PRESCIENT_STORE#sqlite:}' 'UPDATE prescient_event
            SET recorded_at_us = recorded_at_us - 30 * 86400000000' ;;
        *) psql -qXAt '$PRESCIENT_STORE' -c \"SELECT prescient.make_history_day(prescient.utc_day(now()
            - interval '30 days'))\" -c \"UPDATE prescient.event
            SET recorded_at = recorded_at - interval '30 days'\" >/dev/null ;;
        esac
        '$P' prune --keep 7d; false" "$STORE_NAME"
    emit 3 3
    deliver -- ./take 2>said
    has "$STORE_NAME: it is told that it has lost events" "$(cat said)" \
        "events that it had not read were older than \`keep\` and were pruned at "
    is "$STORE_NAME: and goes on" "$(keys taken)" 3
    [ "$STORE_NAME" = postgresql ] || return 0
    coproc { psql -qXAt "$PRESCIENT_STORE"; }
    echo "BEGIN; INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec)
        VALUES (now(), 'late', 'orders', '4', 'look'); SELECT 1;" >&"${COPROC[1]}"
    local _; read -r _ <&"${COPROC[0]}"
    emit 5 5
    deliver -- ./take 2>said
    is "nothing is delivered behind a transaction that writes" "$(keys taken)" 3
    has "which is said" "$(cat said)" "1 event withheld by process "
    "$P" events --reset mail --to now >/dev/null 2>said
    has "nor does --to now go behind one, which is said" "$(cat said)" "1 event withheld by process "
    echo "COMMIT; SELECT 1;" >&"${COPROC[1]}"; read -r _ <&"${COPROC[0]}"
    eval "exec ${COPROC[1]}>&-"
    deliver -- ./take
    is "then both come, in the order of transactions" "$(keys taken)" "3 4 5"
}

on_each_store delivering
on_each_store running
on_each_store beside
