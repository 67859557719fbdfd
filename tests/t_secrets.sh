#!/usr/bin/env bash
# t_secrets.sh - passwords do not appear in output, logs or stored data, in arguments and
# environments of processes, or in core files. A worker does not have the store's password when the
# business database is another one.
# not under sanitizers
# not for coverage
# night: it reads the memory of processes for minutes
# about 60 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
unset PRESCIENT_CONNECT_TIMEOUT         # the files below have one

S=planted-store-4fd1 B=planted-business-9c2e
SLOT=1700000100

# silent WHAT TEXT: neither password, nor a part of it that is long enough to help.
silent() {
    local found
    found=$(grep -aE "planted|-store-|-business-|4fd1|9c2e" <<<"$2" | head -3)
    is "$1" "$found" ""
}
# in_memory PID WORD: how often the word is in the memory of a process that can be read. Only root
# can.
in_memory() {
    python3 - "$1" "$2" <<'PY'
import sys
pid, word, n = sys.argv[1], sys.argv[2].encode(), 0
with open("/proc/%s/maps" % pid) as maps, open("/proc/%s/mem" % pid, "rb", 0) as mem:
    for line in maps:
        span, mode = line.split()[:2]
        if "r" not in mode or "[v" in line:
            continue
        at, end = (int(x, 16) for x in span.split("-"))
        try:
            mem.seek(at)
            n += mem.read(end - at).count(word)
        except OSError:
            pass
print(n)
PY
}

# ---- URLs that cannot be read, in every place where one may stand ----

bad_urls=(
    "host=/nowhere password=my $S"
    "host=/nowhere password=a$S b=$S"
    "host=/nowhere password='$S"
    "postgresql://user:%zz$S@host/db"
    "postgresql://user:$S@[host/db"
    "postgresql://user:$S@127.0.0.1:port/db"
    "postgresql://user:a@$S@127.0.0.1:1/db"
    "postgresql://user:a@b:$S@127.0.0.1:1/db"
    "postgresql://user:$S@127.0.0.1:1/db?sslmode=never&x=y"
    "postgresql://user:$S@127.0.0.1:1/db?password=$S=$S"
    "postgres:/user:$S@host/db"
    " postgresql://user:$S@host/db"
    "mysql://user:$S@host/db"
    "user:$S@host"
)
tell() {
    local command
    for command in status doctor "config --print" init; do
        "$P" --store "$2" --set connect_timeout=1s --log-level debug $command
    done
    PRESCIENT_STORE=$2 "$P" --set connect_timeout=1s list
    printf 'store = "%s"; business = "%s";\n' "$2" "$2" >"bad$1.cfg"
    "$P" --config "bad$1.cfg" config --print; "$P" --config "bad$1.cfg" --set connect_timeout=1s doctor
}
# they mostly wait between two attempts
for i in "${!bad_urls[@]}"; do tell "$i" "${bad_urls[i]}" >"told$i" 2>&1 & done
"$P" --store "postgresql://user:a@b:$S@127.0.0.1:1/db" --log-level debug --set connect_timeout=1s \
    run --slot $SLOT >told.run 2>&1
wait
for i in "${!bad_urls[@]}"; do
    has "each has something to tell" "$(cat "told$i")" "prescient"
    silent "nothing of the password is told: $(sed "s/$S/SECRET/g" <<<"${bad_urls[i]}")" "$(cat "told$i")"
done
words=$(cat told.run)
has "an engine says that it cannot connect" "$words" "cannot connect"
silent "and not with what" "$words"
control=$(printf 'store = "postgresql://u:p\x01%s@h/d";\n' $S >bad.cfg; "$P" \
    --config bad.cfg config --print 2>&1)
has "a URL that is no text is refused" "$control" "store = "
silent "without its password" "$control"

# A business database that cannot be reached, or not as it was meant: what history and logs keep of
# it.
export PRESCIENT_STORE="sqlite:$TMP/store.db" STORE_NAME=sqlite
n=0
for url in "postgresql://user:$S@127.0.0.1:1/db" "postgresql://user:a@$S@127.0.0.1:1/db" \
    "postgresql://user:a@b:$S@127.0.0.1:1/db" "host=127.0.0.1 port=1 password=my $S"; do
    n=$((n + 1))
    settings "business = \"$url\"; connect_timeout = \"1s\"; log_level = \"debug\";" \
        'jobs = { asks = { plugin = "sql_check"; max_failures = 0; settings = {
                event = "late"; query = "SELECT 1 WHERE $1 IS NULL"; }; }; };'
    a_clean_store
    fill 1 $SLOT asks
    "$P" run --slot $SLOT >.out 2>engine.err
    words=$(cat engine.err .out)
    has "business database $n: the log says what is wrong" "$words" "business database: "
    silent "business database $n: nothing of its password" "$words"
    silent "business database $n: nothing in the store" "$(q "SELECT * FROM {future_job}")$(
        q "SELECT * FROM {future_job_run}")$(q "SELECT * FROM {future_job_history}")"
done

# ---- secrets of jobs, from files and variables ----

H=planted-header-77aa X=planted-exec-19bb W=whsec_cGxhbnRlZC1zaWduLTUyY2M=
# shows all of itself that it can: what it is given, its environment and its worker's, arguments
cat >leak.sh <<'SH'
cat
echo "token $TOKEN" | tee /dev/stderr
tr '\0' '\n' <"/proc/$PPID/environ"
for process in $$ $PPID; do tr '\0' ' ' <"/proc/$process/cmdline"; done
env >given
exit 3
SH
# the same as a stream
cat >lives.sh <<'SH'
read -r hello
echo "hello $hello token $TOKEN" >&2
for process in $$ $PPID; do tr '\0' ' ' <"/proc/$process/cmdline"; done >&2
tr '\0' '\n' <"/proc/$PPID/environ" >&2
many=; for i in $(seq 300); do many=$many$TOKEN; done; echo "$many" >&2
env >given.stream
echo '{"prescient":1,"window":4}'
while read -r line; do
    echo "line $line" >&2
    id=${line#*\"id\":\"} id=${id%%\"*}
    printf '{"id":"%s","fail":"token %s","final":true}\n' "$id" "$TOKEN"
done
SH
echo "$W" >sign.key; echo "$X" >exec.key; echo "postgresql://user:$S@127.0.0.1:1/db" >url.key
chmod 600 ./*.key
export PLANTED_HEADER="Bearer $H"
silent_of_jobs() {
    local found
    found=$(grep -aE "planted|77aa|19bb|4fd1|whsec_c" <<<"$2" | head -3)
    is "$STORE_NAME: $1" "$found" ""
}
note_of() { q "SELECT note FROM {future_job_history} WHERE job_exec = '$1'"; }
secrets_of_jobs() {
    local words told
    settings 'log_level = "debug"; max_failures = 0;' "jobs = {
        runs = { plugin = \"exec\"; settings = { env = [ \"TOKEN=@file:exec.key\" ];
            command = [ \"sh\", \"$TMP/leak.sh\" ]; dir = \"$TMP\"; }; };
        lives = { plugin = \"exec\"; settings = { env = [ \"TOKEN=@file:exec.key\" ]; stream = true;
            command = [ \"sh\", \"$TMP/lives.sh\" ]; dir = \"$TMP\"; }; };
        asks = { plugin = \"exec\"; settings = { command = [ \"env\" ]; }; };
        echoes = { plugin = \"webhook\"; settings = { url = \"$HTTP/echo\"; secrets = [ \"@file:sign.key\" ];
            headers = [ \"Authorization: @env:PLANTED_HEADER\", \"X-Key: @file:exec.key\" ]; }; };
        wrong = { plugin = \"webhook\"; settings = { url = \"@file:exec.key\"; }; };
        short = { plugin = \"webhook\"; settings = { url = \"$HTTP/echo\";
            secrets = [ \"@file:exec.key\" ]; }; }; };"
    a_clean_store
    for job in runs lives asks echoes wrong short; do fill 1 $SLOT $job "'$job'"; done
    "$P" run --slot $SLOT >jobs.out 2>jobs.err
    has "$STORE_NAME: a command has its secret" "$(cat given)" "TOKEN=$X"
    has "$STORE_NAME: what it prints of it is hidden" "$(note_of runs)" "token ***"
    has "$STORE_NAME: a stream has its secret" "$(cat given.stream)" "TOKEN=$X"
    has "$STORE_NAME: what it answers of it is hidden" "$(note_of lives)" "token ***"
    has "$STORE_NAME: and in its words in the log" "$(cat jobs.err)" \
        'hello {"prescient":1,"window":16} token ***'
    has "$STORE_NAME: however often it prints it, and wherever a line of the log ends" \
        "$(cat jobs.err)" 'printed: ******'
    has "$STORE_NAME: where the checks that it got may stand" "$(cat jobs.err)" '"entity_key":"lives"'
    is "$STORE_NAME: a stream has no variable that settings name" "$(grep -c PLANTED given.stream)" 0
    is "$STORE_NAME: no other command has a variable that settings name" \
        "$(note_of asks | grep -c 'PLANTED\|TOKEN')" 0
    if [ -n "$HTTP" ]; then
        has "$STORE_NAME: a receiver gets one" "$(tail -1 web/requests)" "Bearer $H"
        has "$STORE_NAME: what it quotes of it is hidden" "$(note_of echoes)" '["Authorization", "***"]'
        has "$STORE_NAME: what a job is refused with is hidden, too" "$(cat jobs.err)" "job wrong: "
    fi
    words=$(cat jobs.out jobs.err)
    told=$(for command in config "config --check" "config --json" jobs doctor history runs "show row runs" \
        "show row lives" events "try runs row 1" "try lives row 1" "try echoes row 1" "try wrong row 1" \
        "try short row 1"; do
        "$P" --log-level debug $command 2>&1; done)
    has "$STORE_NAME: config prints where they stand" "$told" 'env = ["TOKEN=@file:exec.key"]'
    has "$STORE_NAME: also behind the name of a header" "$told" '"Authorization: @env:PLANTED_HEADER"'
    silent_of_jobs "nothing of them in logs" "$words"
    silent_of_jobs "nothing in what the commands print" "$told"
    for table in future_job_history future_job_run event setting; do
        silent_of_jobs "nothing in the table $table" "$(q "SELECT * FROM {$table}")"
    done
    printf 'store = "@file:url.key"; connect_timeout = "1s";\n' >elsewhere.cfg
    words=$(for command in config status doctor list; do
        "$P" --store @file:url.key --config elsewhere.cfg --log-level debug $command 2>&1
        env -u PRESCIENT_STORE "$P" --config elsewhere.cfg --log-level debug $command 2>&1
    done)
    has "$STORE_NAME: a store from a file cannot be reached" "$words" "127.0.0.1"
    has "$STORE_NAME: and is shown as it was written" "$words" 'store = "@file:url.key"'
    silent_of_jobs "without its password" "$words"
}
HTTP=
if [ -e "$JOBS/webhook.so" ] && pkg-config --exists libcurl; then
    mkdir web
    start receiver python3 "$ROOT/tests/http_server.py" web
    ok "a receiver of webhooks" wait_until 10 test -s web/port
    HTTP=http://127.0.0.1:$(cat web/port)
fi
secrets_of_jobs

# ---- processes ----

[ -n "$SERVER" ] || { echo "# no PostgreSQL: the rest is not tried"; exit 0; }
new_database prescient_secrets_$$
plain=$HERE
# the same with a password, which this server does not ask for
with() { sed -E "s#//([^@:/]*)@#//\1:$1@#" <<<"$plain"; }
STORE_NAME=postgresql
PRESCIENT_STORE=$plain "$P" --quiet init >/dev/null

settings "business = \"$(with $B)\"; workers = 2; log_level = \"debug\";" \
    "jobs = { misbehave = { plugin = \"misbehave\"; max_failures = 0; timeout = \"60s\"; };
            asks = { plugin = \"sql_check\"; settings = { event = \"late\";
                query = \"SELECT k FROM json_array_elements_text(\$1::json) k\"; }; }; };"
unset PRESCIENT_STORE
around() {
    local pid=$1 what=$2 all
    ok "$what: its jobs run" wait_until 20 hangs "$pid"
    all=$(workers_of "$pid")
    at_least "$what: workers and keepers" "$(wc -w <<<"$all")" 4
    silent "$what: the arguments of engine and workers" \
        "$(cat /proc/"$pid"/cmdline $(sed 's|.*|/proc/&/cmdline|' <<<"$all") | tr '\0' ' ')"
    silent "$what: the environments of workers" \
        "$(cat $(sed 's|.*|/proc/&/environ|' <<<"$all") | tr '\0' ' ')"
    if [ "$(id -u)" = 0 ]; then
        local worker business=0 store=0
        for worker in $all; do
            store=$((store + $(in_memory "$worker" $S)))
            is_keeper "$worker" && is "$what: a keeper knows no password" "$(in_memory "$worker" planted)" 0
            business=$((business + $(in_memory "$worker" $B)))
        done
        at_least "$what: the workers know the business database's password (times found)" "$business" 2
        is "$what: the workers do not know the store's" "$store" 0
    fi
}
hangs() { [ "$(PRESCIENT_STORE=$plain q "SELECT count(*) FROM {future_job_history}")" = 3 ]; }
a_day() {
    export PRESCIENT_STORE=$plain
    a_clean_store
    fill 4 $SLOT misbehave "CASE n WHEN 1 THEN 'hang' ELSE 'good' END || n"
    fill 3 $((SLOT + 900)) asks
    unset PRESCIENT_STORE
}

a_day
ulimit -c unlimited 2>/dev/null
start flag "$P" --store "$(with $S)" run --slot $SLOT
around "$(pid_of flag)" "a password in an argument"
victim=$(for p in $(workers_but_keepers_of "$(pid_of flag)"); do echo "$p"; done | head -1)
kill -SEGV "$victim"; wait_until 5 is_over "$victim"
kill -TERM "$(pid_of flag)" 2>/dev/null; join_within 60 flag       # its last check has just crashed
a_day
PRESCIENT_STORE=$(with $S) start environment "$P" run --slot $SLOT
around "$(pid_of environment)" "a password in the environment"
kill -ABRT "$(pid_of environment)"; join environment
is "no core file is left of a worker or an engine that crashed" "$(find . -name 'core*')" ""
silent "nothing in the logs of engines" "$(cat flag.err environment.err flag.out environment.out)"

export PRESCIENT_STORE; PRESCIENT_STORE=$(with $S)
"$P" run --slot $((SLOT + 900)) >later.out 2>later.err
words=$(cat later.out later.err)
for command in status doctor "config" "config --json" jobs list history runs passes slots events \
    "show row k1"; do
    words+=$("$P" $command 2>&1)
done
silent "nothing in what the commands print" "$words"
for table in future_job_history future_job_run slot_pass slot_lease event setting migration; do
    silent "nothing in the table $table" "$(PRESCIENT_STORE=$plain q "SELECT * FROM {$table}")"
done
has "config shows that there is one" "$("$P" config)" ":***@"

PRESCIENT_STORE=$plain
secrets_of_jobs
