#!/usr/bin/env bash
# cli_reload.sh - SIGHUP: a daemon, and a server, read their settings again and open plug-ins anew;
# what runs goes on, no check is lost or run twice, and what is wrong changes nothing.
# about 50 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$TESTS/serve_lib.sh"

logged() { grep -q "$2" "$1.err"; }
logged_times() { [ "$(grep -c "$2" "$1.err")" -ge "$3" ]; }
hup() { kill -HUP "$(pid_of "$1")"; }
# taken NAME N: settings were taken N times
taken() { wait_until 20 logged_times "$1" "that were read are in force" "$2"; }
outcome() {
    q "SELECT outcome || ' ' || coalesce(note, '') FROM {future_job_history} WHERE entity_key = '$1'"
}
is_told_to_run() { "$P" status --slow 5s --json | grep -q "\"$1\""; }
is_over_with() { [ "$(outcome "$1")" = "$2" ]; }
later() { "$P" --quiet enqueue orders "$1" "$2" now >/dev/null; }
a_daemon() {
    start "$1" "${@:2}" "$P" daemon
    wait_until 20 logged "$1" "it serves" || fail "$1 serves" "$(cat "$1.err")"
}
ends_well() {
    kill -TERM "$(pid_of "$1")"
    join_within 30 "$1"
    is "$STORE_NAME: $1: it ends well" "$CODE" 0
}
# ours LINES: settings whose plug-ins are in jobs/ here
ours() { settings 'workers = 2;' "$@"; sed -i '1s|(|("jobs", |' prescient.cfg; }

# says WORDS: job_exec of jobs/says.so answers with them
says() { plugin says "prescient_fail_final(answer, \"$1\");"; }
plugin waits "
    close(creat(\"$PWD/waits.began\", 0666));
    while (access(\"$PWD/waits.may_end\", F_OK))
        usleep(10000);
    prescient_fail_final(answer, \"has waited\");" '#include <fcntl.h>'

# What is new is taken, what runs is finished as it began.
takes() {
    local s=$STORE_NAME
    a_clean_store --slot-length 1s
    says first
    ours 'max_failures = 0;' 'jobs = { says = { plugin = "says"; }; waits = { plugin = "waits"; }; };'
    rm -f waits.began waits.may_end
    a_daemon takes.$s
    later 1 says
    ok "$s: a check is run" wait_until 20 is_over_with 1 "failed first"
    later 2 waits
    ok "$s: a long one has begun" wait_until 20 test -e waits.began
    says second
    ours 'max_failures = 0;' 'keep = "7d";' \
        'jobs = { says = { plugin = "says"; }; other = { plugin = "says"; }; };'
    hup takes.$s
    ok "$s: the settings are taken" taken takes.$s 1
    ok "$s: with what has changed" logged takes.$s 'changed: keep, jobs (new: other; gone: waits)$'
    ok "$s: of what runs is told" wait_until 30 is_told_to_run 2
    later 3 says
    later 4 other
    ok "$s: a plug-in that was replaced is opened anew" wait_until 20 is_over_with 3 "failed second"
    ok "$s: a job that is new is run" wait_until 20 is_over_with 4 "failed second"
    is "$s: what runs goes on beside them" "$(outcome 2)" ""
    : >waits.may_end
    ok "$s: and ends as it began" wait_until 20 is_over_with 2 "failed has waited"
    hup takes.$s
    ok "$s: nothing needs to have changed" taken takes.$s 2
    ok "$s: which is said" logged takes.$s 'in force; changed: nothing$'
    ends_well takes.$s
    is "$s: it has begun once" "$(grep -c 'a daemon of' takes.$s.err)" 1
}

# What stands in a file of its own is read again, too, by daemons and servers.
secrets() {
    local hidden='jobs = { tells = { plugin = "exec"; settings = { answer = "json";
        env = [ "WORD=@file:word" ]; command = [ "/bin/sh", "-c",
            "echo \"{\\\"done\\\": true, \\\"note\\\": \\\"$(echo $WORD | tr a-z A-Z)\\\"}\"" ]; }; }; };'
    (umask 077; echo first >word)
    settings "$hidden"
    a_clean_store --slot-length 1s
    a_daemon secrets
    serve secrets.serve
    later 1 tells
    ok "a secret is used" wait_until 20 is_over_with 1 "done FIRST"
    echo second >word
    hup secrets
    ok "another one is taken" taken secrets 1
    ok "and counts as a change" logged secrets 'changed: jobs (changed: tells)$'
    is "without a word of it" "$(grep -ciE 'first|second' secrets.err)" 0
    later 2 tells
    ok "it is used from then on" wait_until 20 is_over_with 2 "done SECOND"
    hup secrets.serve
    ok "a server takes it, too" taken secrets.serve 1
    ends secrets.serve
    ends_well secrets
}

# What is wrong is told, and changes nothing.
refuses() {
    local s=$STORE_NAME n=0 line
    a_clean_store --slot-length 1s
    says first
    ours 'max_failures = 0;' 'jobs = { says = { plugin = "says"; }; };'
    a_daemon refuses.$s
    while IFS='|' read -r line words; do
        n=$((n + 1))
        ours 'max_failures = 0;' 'jobs = { says = { plugin = "says"; }; };' "$line"
        hup refuses.$s
        ok "$s: $line is refused" wait_until 20 logged refuses.$s \
            "error.*prescient.cfg:5: .*$words.*; the settings of before stay in force$"
    done <<'END'
wokers = 3;|did you mean "workers"
lease = "-3s";|expected
jobs = {|
END
    mv prescient.cfg away.cfg
    hup refuses.$s
    ok "$s: a file that is gone leaves no defaults" \
        wait_until 20 logged refuses.$s "cannot open prescient.cfg: No such file.*; the settings of before"
    later 1 says
    ok "$s: it goes on" wait_until 20 is_over_with 1 "failed first"
    ours 'max_failures = 0;' 'jobs = { says = { plugin = "says"; }; };' 'schema_owner = "another";' \
        'slot_length = "450s";'
    sed -i '/^workers = 2;/s/2/1/' prescient.cfg
    hup refuses.$s
    ok "$s: what can change is taken" taken refuses.$s 1
    ok "$s: as it says" logged refuses.$s 'changed: workers$'
    ok "$s: what cannot is named" \
        wait_until 20 logged refuses.$s 'warn .*cannot change while this runs: schema_owner, slot_length$'
    ours 'max_failures = 0;' 'jobs = { says = { plugin = "says"; }; };'
    later 2 says
    ok "$s: and it serves its store" wait_until 20 is_over_with 2 "failed first"
    rm jobs/says.so
    hup refuses.$s
    ok "$s: a plug-in that was removed keeps no settings from being taken" taken refuses.$s 2
    later 3 says
    ok "$s: its job cannot be run" wait_until 20 logged refuses.$s "job says: .*plug-in"
    says back
    hup refuses.$s
    ok "$s: until it is there again" taken refuses.$s 3
    ok "$s: then its check is run" wait_until 30 is_over_with 3 "failed back"
    ends_well refuses.$s
}

# found_in_etc LINES...: what follows runs where /etc has a settings file, which this machine's has
# not; in mounts of its own.
in_etc='mkdir -p "$1/up" "$1/work" && mount -t overlay -o "lowerdir=/etc,upperdir=$1/up,workdir=$1/work" \
    overlay /etc && mkdir -p -m 755 /etc/prescient && cp "$1/etc.cfg" /etc/prescient/prescient.cfg || exit 99
    shift; exec "$@"'
# A daemon has found ./prescient.cfg, before that of /etc; when it is gone, the other one is that of
# another engine.
finds() {
    [ "$(id -u)" = 0 ] || return
    ours 'max_failures = 0;' 'jobs = { noop = { plugin = "noop"; }; };'
    a_clean_store --slot-length 1s
    sed 's/ noop = / others = /' prescient.cfg >etc.cfg
    start finds unshare --mount sh -c "$in_etc" sh "$PWD" "$P" daemon
    if ! wait_until 20 logged finds "it serves"; then
        fail "it has found its settings" "$(cat finds.err)"
        return
    fi
    ok "it has found those of its folder" logged finds 'jobs: noop$'
    mv prescient.cfg away.cfg
    hup finds
    ok "when they are gone, others are not taken" \
        wait_until 20 logged finds "prescient.cfg.*; the settings of before stay in force"
    mv away.cfg prescient.cfg
    hup finds
    ok "they are, when they are there again" taken finds 1
    ok "and are the same" logged finds "in force; changed: nothing"
    ends_well finds
}

# Signals come when they come.
at_any_time() {
    local s=$STORE_NAME i
    a_clean_store --slot-length 1s
    ours 'split_at = 10;' 'page = 20;' \
        "jobs = { noted = { plugin = \"misbehave\"; settings = { log = \"$PWD/runs.$s\"; }; }; };"
    : >runs.$s
    fill 600 1700000100 noted
    a_daemon often.$s
    for i in 1 2 3 4 5 6; do
        kill -HUP "$(pid_of often.$s)"
        kill -HUP "$(pid_of often.$s)"
        wait_until 20 logged_times often.$s "in force" $i ||
            fail "$s: it is taken ($i)" "$(tail -3 often.$s.err)"
    done
    ok "$s: no check is lost over it" wait_until 60 archived_at_least 600
    is "$s: and none is run twice" "$(wc -l <runs.$s) $(cut -d' ' -f1 runs.$s | sort -u | wc -l)" "600 600"
    rm -f waits.began waits.may_end
    ours 'stop_timeout = "60s";' 'jobs = { waits = { plugin = "waits"; }; };'
    hup often.$s
    ok "$s: a job that waits" wait_until 20 logged often.$s 'new: waits'
    later 1 waits
    ok "$s: has begun" wait_until 20 test -e waits.began
    kill -TERM "$(pid_of often.$s)"
    ok "$s: while it ends" wait_until 20 logged often.$s "SIGTERM"
    hup often.$s
    ok "$s: no settings are read" wait_until 20 logged often.$s "it is about to end, and reads no settings"
    : >waits.may_end
    join_within 30 often.$s
    is "$s: it ends well" "$CODE $(outcome 1)" "0 failed has waited"
}

# in_one_slot N: a check of `waits`, and behind it N of `slow`
in_one_slot() {
    local at i
    at=$(date -u -d '2 seconds' +%Y-%m-%dT%H:%M:%SZ)
    {
        echo entity_name,entity_key,job_exec,check_at
        echo "orders,long,waits,$at"
        for ((i = 1; i <= $1; i++)); do echo "orders,$i,slow,$at"; done
    } >checks.csv
    "$P" --quiet enqueue --from checks.csv >/dev/null
    wait_until 30 test -e waits.began || fail "$STORE_NAME: a long one has begun" "$(cat ./*.err)"
}
answered() { q "SELECT count(*) FROM {future_job_history} WHERE note = '$1'"; }
answered_at_least() { [ "$(answered "$1")" -ge "$2" ]; }
left_in_slot() {
    q "SELECT count(*) FROM {future_job} WHERE job_exec = 'slow' AND next_check_at =
           (SELECT next_check_at FROM {future_job} WHERE job_exec = 'waits')"
}
none_is_left() { [ "$(left_in_slot)" = 0 ]; }
# these_jobs WORDS [LINE...]: `slow` answers with them
these_jobs() {
    ours "jobs = { waits = { plugin = \"waits\"; }; slow = { plugin = \"exec\"; settings = {
        answer = \"json\"; command = [ \"/bin/sh\", \"-c\",
            \"sleep 0.2; echo '{\\\"done\\\": true, \\\"note\\\": \\\"$1\\\"}'\" ]; }; }; };" "${@:2}"
}

# What waits beside a long run, under the same lease, would wait for its end.
goes_on() {
    local s=$STORE_NAME before
    a_clean_store --slot-length 1s
    rm -f waits.began waits.may_end
    these_jobs first
    a_daemon goes.$s
    in_one_slot 60
    these_jobs second
    hup goes.$s
    ok "$s: settings are taken beside a long run" taken goes.$s 1
    before=$(answered first)
    ok "$s: what is under its lease goes on" wait_until 20 answered_at_least first $((before + 5))
    "$P" --quiet pause --job slow >/dev/null
    ok "$s: until it is paused" wait_until 20 none_is_left
    at_least "$s: which is heard of in time" "$(($(pending) - 1))" 1
    is "$s: the long one still runs" "$(outcome long)" ""
    is "$s: other settings have got nothing of it" "$(answered second)" 0
    : >waits.may_end
    ok "$s: it ends as it began" wait_until 20 is_over_with long "failed has waited"
    ends_well goes.$s
}

# When no run of before is there any more, what is left is for the settings of now.
hands_over() {
    local s=$STORE_NAME
    a_clean_store --slot-length 1s
    rm -f waits.began waits.may_end
    these_jobs first 'workers_max = 1;'
    sed -i 's/^workers = 2;/workers = 1;/' prescient.cfg
    a_daemon hands.$s
    in_one_slot 8
    these_jobs second 'workers_max = 1;'
    sed -i 's/^workers = 2;/workers = 1;/' prescient.cfg
    hup hands.$s
    ok "$s: settings are taken while the only worker is at work" taken hands.$s 1
    : >waits.may_end
    ok "$s: it is through with that" wait_until 20 is_over_with long "failed has waited"
    ok "$s: what is left of the lease is run" wait_until 20 nothing_pending
    at_least "$s: by other settings, but for what its worker took up at once" "$(answered second)" 6
    ends_well hands.$s
}

# A stop ends those that finish what runs under earlier settings, too.
stops() {
    local s=$STORE_NAME
    a_clean_store --slot-length 1s
    rm -f waits.began waits.may_end
    ours 'stop_timeout = "100ms";' 'kill_grace = "100ms";' 'jobs = { waits = { plugin = "waits"; }; };'
    a_daemon stops.$s
    later 1 waits
    ok "$s: a check has begun" wait_until 20 test -e waits.began
    hup stops.$s
    ok "$s: other settings are in force" taken stops.$s 1
    kill -TERM "$(pid_of stops.$s)"
    join_within 30 stops.$s
    ok "$s: its time is over with the stop timeout" logged stops.$s "jobs still run after the stop timeout"
    is "$s: it has ended, and the check is run again" "$CODE $(pending)" "0 1"
}

# The server has no connection for another engine: a later signal is heard all the same.
proves() {
    local s=$STORE_NAME role=reload_$$ owner=$PRESCIENT_STORE
    [[ $s = postgresql && $owner = *//postgres@/* ]] || return
    a_clean_store --slot-length 1s
    says first
    ours 'max_failures = 0;' 'jobs = { says = { plugin = "says"; }; };'
    psql -qX "$owner" -c "CREATE ROLE $role LOGIN CONNECTION LIMIT 3 IN ROLE prescient_engine"
    PRESCIENT_STORE=${owner/postgres@/$role@}
    a_daemon proves
    PRESCIENT_STORE=$owner
    hup proves
    ok "$s: other settings cannot be proved" wait_until 20 logged proves "too many connections for role"
    later 1 says
    ok "$s: the settings of before serve meanwhile" wait_until 20 is_over_with 1 "failed first"
    says second
    ours 'max_failures = 0;' 'keep = "7d";' 'jobs = { says = { plugin = "says"; }; };'
    hup proves
    ok "$s: another signal is heard" wait_until 20 logged proves "SIGHUP again: the settings"
    psql -qX "$owner" -c "ALTER ROLE $role CONNECTION LIMIT -1"
    ok "$s: until there is room" taken proves 1
    ok "$s: the settings are those of the last signal" logged proves 'changed: keep$'
    later 2 says
    ok "$s: which are served by" wait_until 20 is_over_with 2 "failed second"
    ends_well proves
    psql -qX "$owner" -c "DROP OWNED BY $role CASCADE" -c "DROP ROLE $role"
}

# systemd hears when it begins to read, and when what it read is in force.
told() { grep -q "$1" told; }
tells() {
    a_clean_store --slot-length 1s
    ours 'jobs = { noop = { plugin = "noop"; }; };'
    rm -f told
    start listener python3 -c '
import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("notify")
with open("told", "x", buffering=1) as told:
    while True:
        told.write(s.recv(4096).decode().replace("\n", " ") + "\n")'
    wait_until 20 test -e told || fail "the listener listens"
    a_daemon tells env NOTIFY_SOCKET="$PWD/notify"
    ok "it has begun" wait_until 20 told '^READY=1$'
    hup tells
    ok "it reads its settings" wait_until 20 told '^RELOADING=1 MONOTONIC_USEC=[0-9]*$'
    read_again() { [ "$(grep -c '^READY=1$' told)" = 2 ]; }
    ok "and is ready again" wait_until 20 read_again
    is "in this order" "$(grep -o '^READY\|^RELOADING' told | xargs)" "READY RELOADING READY"
    echo 'nonsense' >>prescient.cfg
    hup tells
    ready_with_the_old() { [ "$(grep -c '^READY=1$' told)" = 3 ]; }
    ok "ready also with those of before" wait_until 20 ready_with_the_old
    ends_well tells
    kill "$(pid_of listener)"
    join listener
    rm -f notify
}

# in_terminal NAME LINE: a shell with a terminal of its own runs LINE, until NAME.close is there.
in_terminal() {
    rm -f "$1.close"
    start "$1.shell" python3 -c '
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
os.write(terminal, sys.argv[1].encode() + b"\n")
while not os.path.exists(sys.argv[2]):
    if select.select([terminal], [], [], 0.05)[0]:
        os.read(terminal, 4096)
os.close(terminal)
os.waitpid(pid, 0)' "$2" "$1.close"
}
# Its process is no child of this shell.
is_gone() { is_over "$(cat "$1.pid")"; }
runs_one() {
    rm -f waits.began waits.may_end
    wait_until 20 logged "$1" "it serves" || fail "$1: it serves" "$(cat "$1.err")"
    later "$1" waits
    ok "$1: a check is run" wait_until 20 test -e waits.began
}
closed() {
    : >"$1.close"
    join_within 30 "$1.shell"
}

# A terminal that is closed ends what was started in it, by the signal of its shell or of the
# kernel, but under nohup; while it is there, a signal by kill is a wish.
in_terminals() {
    local daemon="echo \$\$ >NAME.pid; exec $P daemon 2>NAME.err" name
    ours 'jobs = { waits = { plugin = "waits"; }; };'
    a_clean_store --slot-length 1s
    for name in before behind; do
        case $name in
        before) in_terminal $name "bash -c '${daemon//NAME/$name}'" ;;
        behind) in_terminal $name "bash -c '${daemon//NAME/$name}' &" ;;
        esac
        runs_one $name
        kill -HUP "$(cat $name.pid)"
        ok "$name: while its terminal is there, settings are read" taken $name 1
        closed $name
        ok "$name: it ends with it" wait_until 20 logged $name "SIGHUP: finishing what runs"
        ok "$name: in good order, though it was told twice" test -z "$(outcome $name)"
        : >waits.may_end
        ok "$name: so that nothing is run again" wait_until 30 is_gone $name
        is "$name: what ran has ended" "$(outcome $name)" "failed has waited"
        is "$name: no settings were read for that" "$(grep -c "reading the settings" $name.err)" 1
    done
    in_terminal nohup "nohup bash -c '${daemon//NAME/nohup}' >/dev/null &"
    runs_one nohup
    closed nohup
    : >waits.may_end
    ok "nohup: it goes on" wait_until 20 is_over_with nohup "failed has waited"
    later still waits
    ok "nohup: with other checks, too" wait_until 20 is_over_with still "failed has waited"
    is "nohup: it read no settings" "$(grep -c SIGHUP nohup.err)" 0
    kill -TERM "$(cat nohup.pid)"
    ok "nohup: and ends as any other" wait_until 30 is_gone nohup
    SOCK=$PWD/served.sock
    in_terminal served "bash -c 'echo \$\$ >served.pid; exec $P serve --listen unix:$SOCK 2>served.err' &"
    ok "serve: it answers" wait_until 20 answers 200
    kill -HUP "$(cat served.pid)"
    ok "serve: while its terminal is there, settings are read" taken served 1
    closed served
    ok "serve: it ends with it" wait_until 30 is_gone served
    ok "serve: in good order" logged served "SIGHUP: answering what was read"
}

# A server goes on answering, by what it has read.
serves() {
    local s=$STORE_NAME i filed=0 BASE=
    a_clean_store
    settings 'jobs = { noop = { plugin = "noop"; }; };'
    serve serves.$s
    one() { post "{\"entity\":\"orders\",\"key\":\"$1\",\"job\":\"${2:-noop}\",\"in\":\"2h\"}"; }
    is "$s: a check is filed" "$(one first)" 201
    is "$s: one of a job that nobody has is not" "$(one first other)" 422
    settings 'jobs = { noop = { plugin = "noop"; }; other = { plugin = "noop"; }; };'
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        [ $((i % 3)) != 0 ] || hup serves.$s
        [ "$(one $i)" != 201 ] || filed=$((filed + 1))
    done
    ok "$s: other settings are in force" taken serves.$s 1
    is "$s: while they were read, each question was answered" "$filed $(pending)" "12 13"
    ok "$s: each part of it has them" wait_until 20 eval '[ "$(one new other)" = 201 ]'
    echo 'lease = "-3s";' >>prescient.cfg
    hup serves.$s
    ok "$s: what is wrong is told" wait_until 20 logged serves.$s \
        'error.*prescient.cfg:3: lease.*; the settings of before stay in force$'
    is "$s: and changes nothing" "$(one after other)" 201
    settings 'http_read_only = true;' 'listen = "127.0.0.1:1";' 'base_path = "/there";'
    hup serves.$s
    ok "$s: what cannot change is named" \
        wait_until 20 logged serves.$s 'cannot change while this runs: listen$'
    ok "$s: paths begin otherwise" wait_until 20 answers 200 /there/liveness
    BASE=/there
    is "$s: and no longer as they did" "$(get http://localhost/liveness)" 404
    is "$s: nothing can be changed any more" "$(get -H 'Content-Type: application/json' --data-binary '{}' \
        http://localhost/there/v1/checks)" 403
    ok "$s: the list is answered" wait_until 20 answers 200 /there/v1/checks
    ends serves.$s
    is "$s: no end of a process was amiss" "$(grep -c 'a process that asks the store' serves.$s.err)" 0
}

# in_turn NAME PATH BODY TYPE: posts in the background, until the server has read it; the status is
# in NAME.out
in_turn() {
    start "$1" "$ROOT/tests/http_turn.py" "$SOCK" "/v1/$2" "application/$4" "$3"
    ok "$1 is read" wait_until 20 grep -qx read "$1.err"
}
# What waits for its turn to be written, when nothing may be written any more, is told so; what is
# under way is done.
waits_to_write() {
    local s=$STORE_NAME writer check='{"entity": "orders", "key": "1", "job": "noop", "in": "2h"}'
    a_clean_store
    settings 'jobs = { noop = { plugin = "noop"; }; };'
    serve queued.$s
    writer=$(backends_of queued.$s | head -n 1)
    kill -STOP "$writer"
    in_turn asked.$s checks "$check" json
    in_turn change.$s cancel '{"entity": "orders", "key": "1"}' json
    in_turn lines.$s checks "${check/1/2}" x-ndjson
    settings 'http_read_only = true;' 'jobs = { noop = { plugin = "noop"; }; };'
    hup queued.$s
    ok "$s: nothing may be changed any more" taken queued.$s 1
    join change.$s
    join lines.$s
    is "$s: what waits to be changed or filed is told so at once" \
        "$(cat change.$s.out) $(cat lines.$s.out)" "403 403"
    kill -CONT "$writer"
    join asked.$s
    is "$s: what was under way is filed" "$(cat asked.$s.out) $(pending)" "201 1"
    ok "$s: then nobody is left who could" wait_until 20 eval '[ "$(backends_of queued.$s | wc -l)" = 3 ]'
    ends queued.$s
}

on_each_store takes
on_each_store refuses
on_each_store at_any_time
on_each_store goes_on
on_each_store hands_over
on_each_store stops
on_each_store proves
on_each_store serves
on_each_store waits_to_write
STORE_NAME=sqlite
a_store tells && tells
a_store finds && finds
a_store secrets && secrets
a_store in_terminals && in_terminals
