#!/usr/bin/env bash
# cli_exec.sh - the job exec: what a command is given, how its end is the answer, what of its output
# is kept, and answers as JSON. FULL=1: also a command that writes 1 GiB.
# about 35 s
# night: a process for each edge
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
json_begins

NOW=2030-01-01T00:05:00Z
# settings NAME WORDS...: a job `NAME` with these settings of exec, beside those that are there.
jobs=
job() {
    local name=$1; shift
    jobs+="$name = { plugin = \"exec\"; settings = { $* }; };"$'\n'
    printf 'plugin_dirs = ["%s"];\nhorizon = "30d";\ntimeout = "20s";\njobs = { %s };\n' \
        "$(dirname "$P")/jobs" "$jobs" >prescient.cfg
    chmod 600 prescient.cfg
}
# shell TEXT: as the command of a job
shell() { printf 'command = [ "sh", "-c", "%s" ];' "$(sed 's/[\\"]/\\&/g' <<<"$1" | tr -d '\n')"; }
# tried JOB EXPRESSION EXPECTED [OPTION...]: of the JSON of prescient try; CODE is its exit code
tried() {
    local job=$1 expression=$2 expected=$3 code=0; shift 3
    timeout 60 "$P" --store sqlite:none.db --now $NOW try "$job" orders "${KEY:-42}" --json "$@" \
        >.tried 2>.err || code=$?
    [ -s .tried ] || head -c 500 .err           # why there is no answer
    is "${WHAT:-$job}" "$code $(json "$expression" <.tried)" "${CODE:-0} $expected"
}

# ---- what it is given ----
job given "$(shell 'cat; echo; env | grep ^PRESCIENT_ | sort; pwd; echo "$TEAM-$PGPASSWORD-$HOME"')" \
    'dir = "/usr"; env = [ "TEAM=sales", "HOME=/nowhere" ];'
PGPASSWORD=secret tried given 'j["answer"], j["outcome"]' "('done', 'done')" --payload '{"n": 1.10}'
json 'j["note"]' <.tried >note
head -1 note >document
is "the document" "$(json '[j[k] for k in ("type", "timestamp", "entity_name", "entity_key", "job",
    "check_number", "failure_count", "first_check_at", "data")]' <document)" \
    "['check', '2030-01-01T00:05:00Z', 'orders', '42', 'given', 1, 0, '2030-01-01T00:00:00Z', {'n': 1.1}]"
is "its members are those of the schema" "$(json 'sorted(j)' <document)" \
    "$(json 'sorted(j["required"])' <"$ROOT/docs/delivery.schema.json")"
is "which describes each of them" "$(json 'sorted(j["properties"])' <"$ROOT/docs/delivery.schema.json")" \
    "$(json 'sorted(j)' <document)"
is "the idempotency key" "$(json 'len(j["id"]), set(j["id"]) <= set("0123456789abcdef")' <document)" \
    "(32, True)"
if python3 -c 'import jsonschema' 2>/dev/null; then
    ok "the document is valid" python3 -W ignore - "$ROOT/docs/delivery.schema.json" document <<'PY'
import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))
PY
fi
is "variables" "$(grep ^PRESCIENT_ note | grep -v PRESCIENT_ID=)" "PRESCIENT_CHECK_NUMBER=1
PRESCIENT_ENTITY_KEY=42
PRESCIENT_ENTITY_NAME=orders
PRESCIENT_FAILURE_COUNT=0
PRESCIENT_FIRST_CHECK_AT=2030-01-01T00:00:00Z
PRESCIENT_JOB=given
PRESCIENT_TIMESTAMP=2030-01-01T00:05:00Z
PRESCIENT_TYPE=check"
is "the key, too" "$(sed -n 's/^PRESCIENT_ID=//p' note)" "$(json 'j["id"]' <document)"
is "dir, env, and nothing else" "$(tail -2 note)" "/usr
sales--/nowhere"

KEY='$(touch ran); touch ran; "`touch ran`" %s
-x' WHAT="nothing of a row is executed" tried given 'j["answer"]' done
ok "no program was" test ! -e ran
is "it comes as it is" "$(json 'j["note"]' <.tried | sed -n 1p | json 'j["entity_key"]')" \
    '$(touch ran); touch ran; "`touch ran`" %s
-x'
job plain 'command = [ "/bin/echo", "$HOME", "a  b", "*", ";", "" ];'
tried plain 'j["note"]' '$HOME a  b * ; '
KEY=$(printf 'k%.0s' {1..1000}) WHAT="a long document" tried given 'j["answer"]' "done" \
    --payload "[\"$(printf '\\u0001%.0s' {1..9000})\"]"
job unread "$(shell 'exec 0<&-; sleep 0.2; echo well')"
WHAT="unread input is no failure" tried unread 'j["answer"], j["note"]' "('done', 'well')" \
    --payload "[\"$(printf 'x%.0s' {1..60000})\"]"

# ---- its end is the answer ----
job fine 'command = [ "true" ];'
tried fine 'j["answer"], j["note"]' "('done', None)"
job again "$(shell 'echo not yet; exit 75')" 'again_after = "2h";'
tried again 'j["answer"], j["at"], j["note"]' "('again', '2030-01-01T02:05:00Z', 'not yet')"
job usual "$(shell 'exit 75')"
WHAT="again after a quarter of an hour" tried usual 'j["answer"], j["at"]' "('again', '2030-01-01T00:20:00Z')"
job fails "$(shell 'echo the shop is closed >&2; exit 3')"
CODE=1 tried fails 'j["answer"], j["note"]' "('fail', 'exit status 3: the shop is closed')"
job killed "$(shell 'kill -KILL $$')"
CODE=1 tried killed 'j["answer"], j["note"]' "('fail', 'killed by SIGKILL')"
job dates "$(shell 'echo 2035-01-01; echo {\"again_at\": 1924992000}')"
WHAT="what it prints moves no check" tried dates 'j["answer"], j["is_over"]' "('done', True)"
printf 'echo ran by a shell\n' >no_shebang; chmod 755 no_shebang
job no_shebang "command = [ \"$TMP/no_shebang\" ];"
CODE=1 WHAT="no shell is guessed" tried no_shebang 'j["note"]' \
    "cannot execute $TMP/no_shebang: Exec format error (a script begins with a line such as #!/bin/sh)"
mkdir vanishing; job vanished 'command = [ "true" ];' "dir = \"$TMP/vanishing\";"
job slow 'command = [ "sleep", "60" ];'
CODE=1 WHAT=timeout tried slow 'j["answer"], j["note"]' "('timeout', 'no answer within 1000 ms')" \
    --set timeout=1s
rmdir vanishing
fails_with 78 "setting 'dir': $TMP/vanishing: No such file or directory" "$P" try vanished orders 1
mkdir vanishing

# ---- its output ----
job long "$(shell 'seq 1 100000; printf "\n\n"')"
tried long 'len(j["note"]) <= 4096, j["note"][:6], j["note"][-6:], "bytes left out" in j["note"]' \
    "(True, '1\\n2\\n3\\n', '100000', True)"
job sharp "$(shell 'for i in $(seq 3000); do printf "ä€"; done')"
tried sharp '"?" in j["note"], len(j["note"].encode()) > 4000, j["note"][:2], j["note"][-2:]' \
    "(False, True, 'ä€', 'ä€')"
job garbage "$(shell 'printf "a\\000b\\377c\\303"')"
tried garbage 'j["note"]' 'a?b?c?'
job files 'command = [ "ls", "/proc/self/fd" ];'
WHAT="it has three files, and the one it opens" tried files 'j["note"].split()' "['0', '1', '2', '3']"
job both "$(shell 'echo one; echo two >&2; echo three')"
tried both 'j["note"]' $'one\ntwo\nthree'
job left "$(shell 'sleep 30 & echo started')"
started=$SECONDS
WHAT="a child left on its output is not awaited" tried left 'j["answer"], j["note"]' "('done', 'started')"
! judges_time || ok "it took no time" test $((SECONDS - started)) -lt 15
job forks "$(shell 'for i in 1 2 3 4 5 6 7 8; do (yes >/dev/null &); (yes &) ; done; echo well')"
WHAT="nor are those that go on writing" tried forks 'j["answer"]' "done"
size=20M; [ -z "${FULL:-}" ] || size=1G
job much "$(shell 'head -c $SIZE /dev/zero; echo the end')" "env = [ \"SIZE=$size\" ];"
tried much 'j["answer"], j["note"][-7:]' "('done', 'the end')"

# ---- answers as JSON ----
# says NAME TEXT [SHELL]: a job that answers with TEXT
says() { job "$1" "$(shell "printf '%s' '$2'; ${3:-}")" 'answer = "json";'; }
says j_done '{"done": true, "note": "seen"}'
tried j_done 'j["answer"], j["note"]' "('done', 'seen')"
says j_again '{"again_at": "+3h"}' 'echo words >&2'
tried j_again 'j["answer"], j["at"], j["note"]' "('again', '2030-01-01T03:05:00Z', 'words')"
says j_defer '{"defer_until": 1893456600}'
tried j_defer 'j["answer"], j["at"]' "('defer', '2030-01-01T00:10:00Z')"
says j_fail '{"fail": "no", "note": "more"}' 'echo unheard >&2'
CODE=1 tried j_fail 'j["answer"], j["note"], j["is_over"]' "('fail', 'no\\nmore', False)"
says j_final '{"fail": "410 Gone", "final": true}'
CODE=1 tried j_final 'j["answer"], j["note"], j["is_over"]' "('final fail', '410 Gone', True)"
says j_effects '{"done": true, "emit": {"event": "order.late", "data": {"n": 1.10}},
    "enqueue": {"entity_name": "orders", "entity_key": "43", "job": "fine", "at": "+1d"},
    "resolve": {"entity_name": "orders", "entity_key": "44"}}'
tried j_effects '[(e["effect"], e["entity_key"], e["at"], e["data"]) for e in j["effects"]]' \
    "[('emit', None, None, {'n': 1.1}), ('enqueue', '43', '2030-01-02T00:05:00Z', None), \
('resolve', '44', None, None)]"
job j_id "$(shell 'printf {\"done\":true,\"id\":\"%s\"} $PRESCIENT_ID')" 'answer = "json";'
WHAT="its own id" tried j_id 'j["answer"]' "done"
says j_other '{"done": true, "id": "00"}'
CODE=1 tried j_other 'j["note"][:36]' "its answer: id: found '00', expected"
says j_nothing ''
CODE=1 tried j_nothing 'j["answer"], j["note"]' \
    "('fail', 'its answer: found nothing, expected one JSON object')"
says j_two '{"done": true}{"done": true}' 'echo oops >&2'
CODE=1 tried j_two 'j["answer"], "one JSON object" in j["note"], j["note"][-6:]' "('fail', True, ': oops')"
says j_typo '{"agian_at": "+1h"}'
CODE=1 tried j_typo '"no member" in j["note"], j["effects"]' "(True, [])"
job j_long "$(shell 'printf {\"done\":true}; head -c 300000 /dev/zero | tr "\\000" " "')" 'answer = "json";'
CODE=1 tried j_long 'j["note"]' "its answer: found 262145 bytes, expected at most 262144"
job j_late "$(shell 'head -c 300000 /dev/zero | tr "\\000" " "; printf {\"done\":true}')" 'answer = "json";'
WHAT="blanks in front of it, too" CODE=1 tried j_late 'j["note"]' \
    "its answer: found 262145 bytes, expected at most 262144"
says j_exit '{"done": true}' 'exit 4'
WHAT="its exit status comes first" CODE=1 tried j_exit 'j["answer"], j["note"]' "('fail', 'exit status 4')"

# ---- secrets that stand where the output is cut ----
before=$jobs
job cut "$(shell 'for n in 2018 2600; do head -c $n /dev/zero; printf %s "$KEY"; done;
    head -c 2018 /dev/zero; exit 3')" 'env = [ "KEY=@env:HUSH" ];'
HUSH=QWZJKVXUHPM CODE=1 tried cut '"bytes left out" in j["note"], set(j["note"]) & set("QWZJKVXUHPM")' \
    "(True, set())"
jobs=$before

# ---- settings that are refused ----
# refused WORDS SETTINGS...
refused() {
    local words=$1; shift
    local before=$jobs
    job wrong "$@"
    fails_with 78 "$words" "$P" --store sqlite:none.db try wrong orders 1
    jobs=$before
}
refused "setting 'command': expected a list" ''
refused "setting 'command': expected a list" 'command = "echo 1";'
refused "setting 'command': expected a list" 'command = [];'
refused "setting 'command': element 2 is no text" 'command = ( "true", [ "x" ] );'
refused "the first element, the program, is empty" 'command = [ "" ];'
refused "there is no program 'no_such_program' in /usr/local/bin:/usr/bin:/bin" \
    'command = [ "no_such_program" ];'
refused "/no/such/program: No such file or directory" 'command = [ "/no/such/program" ];'
refused "setting 'command': /etc: Permission denied" 'command = [ "/etc" ];'
refused "expected a path that begins with '/', or a 'dir' that it is in" 'command = [ "bin/tell" ];'
refused "expected a path that begins with '/'" 'command = [ "true" ]; dir = "tmp";'
refused "/etc/passwd is no folder" 'command = [ "true" ]; dir = "/etc/passwd";'
refused "element 1 is no text such as" 'command = [ "true" ]; env = [ "TEAM" ];'
refused "begins with PRESCIENT_" 'command = [ "true" ]; env = [ "PRESCIENT_ID=1" ];'
refused "setting 'env': expected a list" 'command = [ "true" ]; env = "A=b";'
refused "setting 'answer': found 'yaml', expected" 'command = [ "true" ]; answer = "yaml";'
refused "setting 'again_after'" 'command = [ "true" ]; again_after = "soon";'
stream='stream = true; command = [ "cat" ];'
refused "setting 'stream': found 'yes', expected true or false" 'command = [ "true" ]; stream = "yes";'
refused "setting 'stream': found 'a list'" 'command = [ "true" ]; stream = [ true ];'
refused "setting 'answer': a stream always answers by JSON" "$stream" 'answer = "json";'
refused "setting 'again_after': it belongs to exit status 75" "$stream" 'again_after = "1h";'
refused "setting 'window': it belongs to 'stream = true'" 'command = [ "true" ]; window = 4;'
refused "setting 'window': it belongs to 'stream = true'" 'command = [ "true" ]; stream = false; window = 4;'
for wrong in 0 257 '"four"' '""' '[ 4 ]' 1.5; do
    refused "expected a whole number from 1 to 256" "$stream" "window = $wrong;"
done
# says_first LINE: a stream whose first line is that
says_first() { echo 'stream = true;' "$(shell "read -r hello; echo '$1'; cat")"; }
refused 'wrote no first line such as {"prescient":1,"window":4} within 10 s' \
    'stream = true; command = [ "sleep", "60" ];'
refused "exit status 3 before its first line" 'stream = true;' "$(shell 'exit 3')"
refused "killed by SIGKILL before its first line" 'stream = true;' "$(shell 'kill -KILL $$')"
refused "its first line: found 'hello', expected one JSON object" "$(says_first hello)"
refused "its first line: found '{\"done\":true}', expected such as" "$(says_first '{"done":true}')"
refused "found version '2' of streams, expected 1" "$(says_first '{"prescient":2,"window":4}')"
refused "found window '0', expected a whole number" "$(says_first '{"prescient":1,"window":0}')"
refused "cannot execute $TMP/no_shebang: Exec format error" \
    "stream = true; command = [ \"$TMP/no_shebang\" ];"
job lives "stream = true; command = [ \"$ROOT/examples/stream/paid.py\" ];"
tried lives 'j["answer"], j["note"]' "('again', 'not paid yet')"
WHAT="a stream is given the payload" tried lives 'j["answer"]' "done" --payload '{"paid": true}'
job env_of_stream 'stream = true; env = [ "TEAM=sales" ]; dir = "/usr";' "$(shell 'read -r hello;
    echo $hello; read -r l; id=${l#*\"id\":\"}; id=${id%%\"*};
    printf "{\"id\":\"%s\",\"done\":true,\"note\":\"%s\"}\n" $id "$TEAM $PWD $PRESCIENT_ID.$PGPASSWORD"')"
PGPASSWORD=secret tried env_of_stream 'j["answer"], j["note"]' "('done', 'sales /usr .')"
refused "there is no setting 'comand'; did you mean 'command'?" 'comand = [ "true" ];'
printf '#!/bin/sh\n' >vanishing/tell; chmod 755 vanishing/tell
job env_path "command = [ \"tell\" ]; env = [ \"PATH=:bin:$TMP/vanishing\" ];"
tried env_path 'j["answer"]' "done"
job by_dir "command = [ \"./tell\" ]; dir = \"$TMP/vanishing\";"
tried by_dir 'j["answer"]' "done"

is "a stream takes batches, a command for each check does not" \
    "$("$P" --store sqlite:none.db jobs --json |
        json '[(r["job"], r["batch"]) for r in j if r["job"] in ("fine", "lives")]')" \
    "[('fine', 1), ('lives', 1000)]"

# ---- in an engine, on each store ----
goes_through_an_engine() {
    "$P" --quiet init >/dev/null
    local key
    for key in fine again fails j_effects j_final; do
        "$P" --quiet --now 2030-01-01 enqueue orders $key $key +10m --payload '{"n": 7}' >/dev/null
    done
    "$P" --quiet --log-level error --now 2030-01-01T00:15:00Z run >.out 2>&1
    is "$STORE_NAME: history" "$("$P" history --json |
        json 'sorted((h["entity_key"], h["outcome"], h["note"]) for h in j)')" \
        "[('fine', 'done', None), ('j_effects', 'done', None), ('j_final', 'failed', '410 Gone')]"
    is "$STORE_NAME: what waits" "$("$P" list --json |
        json 'sorted((c["entity_key"], c["job_exec"], c["check_count"], c["failure_count"]) for c in j)')" \
        "[('43', 'fine', 0, 0), ('again', 'again', 1, 0), ('fails', 'fails', 0, 1)]"
    is "$STORE_NAME: events" "$("$P" events --json |
        json '[(e["event"], e["entity_key"], e["data"]) for e in ([j] if isinstance(j, dict) else j)]')" \
        "[('order.late', 'j_effects', {'n': 1.1})]"
}
on_each_store goes_through_an_engine
