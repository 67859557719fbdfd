#!/usr/bin/env bash
# doctor, jobs and config --check: bad plug-ins, loose permissions, stores that are away, overdue
# checks.
# about 15 s
. "$(dirname "$0")/lib.sh"
json_begins

done="prescient_done(answer);"
# It answers only where its worker has not loaded libpq, which it needs for a first query alone.
plugin good "char line[600];
    FILE *maps = fopen(\"/proc/self/maps\", \"r\");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, \"libpq\")) { prescient_fail(answer, \"libpq is loaded\"); return; }
    fclose(maps);
    $done" "#include <stdio.h>"
plugin aborts "$done" "static void __attribute__((constructor)) start(void) { abort(); }"
plugin leaves "$done" "static void __attribute__((constructor)) start(void) { _exit(0); }"

cat > prescient.cfg <<CFG
store = "sqlite:$TMP/doctor.db";
plugin_dirs = ["$TMP/jobs"];
jobs = { one = { plugin = "good"; timeout = "5s"; }; };
CFG
chmod 600 prescient.cfg

$P init >/dev/null
is "all is well: exit 0" \
    "$($P doctor --json | json 'sorted({f["level"] for f in j})'; echo "${PIPESTATUS[0]}")" "['ok']
0"
is "jobs --json" "$($P jobs --json | json 'j[0]["is_usable"], j[0]["timeout_us"], j[0]["summary"]')" \
    "(True, 5000000, 'from a test')"
has "a job that loads, has no probe, and so is not tried" "$($P jobs)" "one  good    yes     no"
has "nor is it by doctor, which says so" "$($P doctor)" \
    "ok     job: one: $TMP/jobs/good.so is opened, and not tried: it has no probe"
is "config --check" "$($P config --check)" "the settings are good: 1 job, every job can be run"

$P enqueue orders 1 one +1h >/dev/null; $P enqueue orders 2 two +1h >/dev/null
is "jobs --counts counts, also jobs that are not in the settings" \
    "$($P jobs --counts --json | json '[(r["job"], r["checks"], r["is_usable"], r["why_not"]) for r in j]')" \
    "[('one', 1, True, None), ('two', 1, False, 'not in the settings')]"

while read -r bad how; do
    sed "s/good/$bad/" prescient.cfg > bad.cfg; chmod 600 bad.cfg
    is "doctor survives a plug-in: $bad" \
        "$($P doctor --config bad.cfg --json | json '[f["what"] for f in j if f["level"] == "error"]')" \
        "['job']"
    told=$($P jobs --config bad.cfg --json; echo "exit $?")
    has "jobs says how it ended: $bad" "$told" "$how"
    is "and 1: $bad" "${told##*exit }" 1
    fails_with 78 "job one: plug-in $bad" $P config --check --config bad.cfg
done <<'END'
aborts crashed while it was loaded (Aborted)
leaves ended the process while it was loaded (exit code 0)
missing no file missing.so
END
# Minutes in which no slot begins: all that one server can know of slots that no server runs.
{ sed "s#doctor.db#split.db#" prescient.cfg; echo 'slot_length = "20m"; serve = [0, 30];'; } > split.cfg
chmod 600 split.cfg
words="serve names minutes in which no slot begins: 30; slots begin in the minutes 0, 20, 40"
$P init --config split.cfg >/dev/null
has "config --check warns of a minute that names no slot" "$($P config --check --config split.cfg 2>&1)" \
    "warning: $words"
has "so does an engine's start" "$($P run --config split.cfg 2>&1)" "$words"
has "and doctor" "$($P doctor --config split.cfg)" "warn   serve: $words"
sed -i 's/0, 30/0, 40/' split.cfg
has "minutes that name slots are fine" "$($P doctor --config split.cfg)" \
    "ok     serve: each minute names a slot"
is "and not warned of" "$($P config --check --config split.cfg 2>&1)" \
    "the settings are good: 1 job, every job can be run"

chmod 666 jobs/good.so
is "a plug-in that others can write is refused" "$($P jobs --json | json 'j[0]["is_usable"]')" False
chmod 644 jobs/good.so

chmod 666 prescient.cfg
fails_with 78 "settings file: $TMP/prescient.cfg may be written by others (mode 0666)" "$P" doctor
chmod 644 prescient.cfg
{ cat prescient.cfg; echo 'business = "postgresql://u:secret@h/d";'; } > secret.cfg; chmod 644 secret.cfg
has "a password that others can read" "$($P doctor --config secret.cfg)" \
    "warn   settings: secret.cfg holds a password and others may read it (mode 0644)"
chmod 600 secret.cfg prescient.cfg
has "a password for oneself is fine" "$($P doctor --config secret.cfg)" "ok     settings: secret.cfg"

is "overdue checks are a warning" \
    "$($P doctor --now +1d --json |
        json '[f["level"] for f in j if "prescient sweep" in (f["advice"] or "")]')" "['warn']"
has "no schema: it says what to do" "$($P doctor --store sqlite:new.db)" \
    "prescient init creates or upgrades the schema"
ok "and makes no file" test ! -e new.db
mkdir none
start=$SECONDS
is "a store that is away is an error, exit 1" \
    "$($P doctor --store "postgresql://u@/d?host=$TMP/none" --json 2>/dev/null |
        json '[f["level"] for f in j if f["what"] == "store"]'; echo "${PIPESTATUS[0]}")" "['error']
1"
fails_with 69 "none" $P list --store "postgresql://u@/d?host=$TMP/none"
! judges_time || ok "it is tried for some seconds, not for ever" test $((SECONDS - start)) -lt 15

# What a store shows of engines, failures and schedules. No job is loaded for it.
look() { "$P" --config no_jobs.cfg "$@" --json doctor >.look; }
of_the_look() { json "[$1 for f in j if f['what'] == '$LOOK'][0]" <.look; }
level() { of_the_look "(f['level'], f['found'])"; }
advice() { of_the_look "f['advice']"; }
inside() {
    local PREFIX=prescient_
    # an engine's lease, and two thousand passes of a later slot
    local LEASE="INSERT INTO prescient_slot_lease (slot_at, bucket, owner, taken_at_us, expires_at_us)
        VALUES (900, -1, x'', 0, 9999999999000000)"
    local PASSES="INSERT INTO prescient_slot_pass (slot_at, bucket, pass, split, recorded_at_us)
        WITH RECURSIVE i (n) AS (SELECT 1001 UNION ALL SELECT n + 1 FROM i WHERE n < 3000)
        SELECT unixepoch('2030-01-01 03:00:00'), -1, n, 1, 0 FROM i"
    if [ "$STORE_NAME" = postgresql ]; then
        PREFIX=prescient.
        LEASE="INSERT INTO prescient.slot_lease (slot_at, bucket, owner, token, expires_at)
            VALUES (to_timestamp(900), -1, gen_random_uuid(), 1, 'infinity')"
        PASSES="INSERT INTO prescient.slot_pass (slot_at, bucket, pass)
            SELECT '2030-01-01 03:00:00+00', -1, n FROM generate_series(1001, 3000) n"
    fi
    "$P" init >/dev/null
    LOOK="last pass"
    look
    is "$STORE_NAME: no engine is needed before a check is due" "$(level)" "('ok', 'none yet')"
    "$P" --now 2030-01-01 enqueue orders 1 one +1h >/dev/null
    look --now 2030-01-01T01:29:59Z
    is "$STORE_NAME: nor in the two slots behind it" "$(level)" "('ok', 'none yet')"
    look --now 2030-01-01T01:30:00Z
    is "$STORE_NAME: no engine for two slots" "$(level)" "('warn', 'none yet')"
    has "$STORE_NAME: and what to do" "$(advice)" \
        "checks are due, and no engine has run for two slots: start prescient daemon"
    sql "$LEASE"
    look --now 2030-01-03
    is "$STORE_NAME: nothing is said while an engine holds a lease" "$(level)" "('ok', 'none yet')"
    sql "DELETE FROM ${PREFIX}slot_lease"
    look --now 2030-01-03
    is "$STORE_NAME: no engine for days" "$(level)" "('warn', 'none yet')"
    LOOK="runs in trouble"
    "$P" --now 2030-01-01T01:00:00Z run >/dev/null 2>&1
    look --now 2030-01-01T02:00:00Z
    is "$STORE_NAME: nothing failed" "$(level)" "('ok', 'none in the last day')"
    "$P" --now 2030-01-01T01:00:00Z enqueue orders 2 bad +1h >/dev/null
    "$P" --now 2030-01-01T02:00:00Z run >/dev/null 2>&1
    look --now 2030-01-01T20:00:00Z
    is "$STORE_NAME: a failure since yesterday" "$(level)" \
        "('warn', '1 failed, 0 took too long, 0 crashed in the last day')"
    has "$STORE_NAME: and where it is shown" "$(advice)" \
        "prescient history --outcome failed --since -1d"
    LOOK="last pass"
    has "$STORE_NAME: which engine was the last" "$(level)" \
        "('ok', 'over the slot 2030-01-01T02:00:00Z, by "
    LOOK="runs in trouble"
    look --now 2030-01-03T20:00:00Z
    is "$STORE_NAME: two days later it is history" "$(level)" "('ok', 'none in the last day')"
    sql "$PASSES"
    look --now 2030-01-01T20:00:00Z
    is "$STORE_NAME: behind a thousand passes that went well it is found, too" "$(level)" \
        "('warn', '1 failed, 0 took too long, 0 crashed in the last day')"
    sql "DELETE FROM ${PREFIX}slot_pass WHERE pass > 1000"
    look
    LOOK="objects of the schema"
    is "$STORE_NAME: all that the schema makes is there" "$(level)" "('ok', 'there')"
    LOOK="schedules"
    is "$STORE_NAME: no schedule" "$(level)" "('ok', 'each that is on has its check')"
    for n in 1 2 3 4; do "$P" schedule add "s $n" shop "$n" one --every 1h >/dev/null 2>&1; done
    look
    is "$STORE_NAME: each has its check" "$(level)" "('ok', 'each that is on has its check')"
    sql "UPDATE ${PREFIX}schedule SET is_active = (1 = 2) WHERE entity_key IN ('2', '4')"
    look
    is "$STORE_NAME: some are off, and their checks wait" "$(level)" \
        "('warn', \"2 off, and their checks wait and are run; the first is 's 2'\")"
    has "$STORE_NAME: the line that mends it" "$(advice)" "prescient resolve 'shop' '2' 'one' ends it"
    "$P" resolve shop 2 one >/dev/null; "$P" resolve shop 4 one >/dev/null
    look
    is "$STORE_NAME: it does" "$(level)" "('ok', 'each that is on has its check')"
    sql "DELETE FROM ${PREFIX}future_job WHERE entity_name = 'shop' AND entity_key = '3'"
    look
    is "$STORE_NAME: one is on and has no check" "$(level)" \
        "('warn', \"1 on, and have no check; the first is 's 3'\")"
    has "$STORE_NAME: the line that mends that" "$(advice)" \
        "prescient schedule off 's 3' && prescient schedule on 's 3' files it anew"
    "$P" schedule off 's 3' >/dev/null && "$P" schedule on 's 3' >/dev/null
    look
    is "$STORE_NAME: it does, too" "$(level)" "('ok', 'each that is on has its check')"
    "$P" schedule add "it's '; x" shop 5 one --every 1h >/dev/null 2>&1
    sql "DELETE FROM ${PREFIX}future_job WHERE entity_name = 'shop' AND entity_key = '5'"
    look
    has "$STORE_NAME: a name with quotes is one word of it" "$(advice)" \
        "prescient schedule off 'it'\\''s '\\''; x' && prescient schedule on 'it'\\''s '\\''; x' files"
    "$P" schedule remove "it's '; x" >/dev/null
}

# gone WHAT SQL FOUND [LEVEL]: what was dropped is named, and the line of the advice makes it again
gone() {
    sql "$2"
    look
    is "$STORE_NAME: $1 is missed" "$(level)" "('${4:-error}', 'these were dropped: $3')"
    local line
    line=$(advice | sed -e 's/^as the owner of the schema: //' -e 's/ makes it again.*//')
    has "$STORE_NAME: the advice has the line" "$line" "prescient schema --only "
    (PATH=${P%/*}:$PATH; eval "${line/DATABASE/\"$PRESCIENT_STORE\"}") >.mended 2>&1 ||
        report "$STORE_NAME: the line that makes it again: $line" "$(cat .mended)"
    "$P" init >/dev/null
    look
    is "$STORE_NAME: $1 is there again" "$(level)" "('ok', 'there')"
    [ "$STORE_NAME" = sqlite ] || is "$1 has its rights" \
        "$(json '[r["found"] for r in j if r["what"] == "rights"]' <.look)" "['as they must be']"
}
dropped() {
    "$P" init >/dev/null
    LOOK="objects of the schema"
    if [ "$STORE_NAME" = postgresql ]; then
        gone "one form of enqueue" "DROP FUNCTION prescient.enqueue(text, anyelement, text, text,
            anycompatible, text, integer, interval, text, text)" "function enqueue (5 of 6 forms are there)"
        gone "both forms of resolve" "DROP FUNCTION prescient.resolve(text, text, text),
            prescient.resolve(text, anyelement, text)" "function resolve"
        gone "a function of engines" "DROP FUNCTION prescient.recall" "function recall"
        gone "what other looks need" "DROP FUNCTION prescient.slot_floor" "function slot_floor"
        gone "several functions" "DROP FUNCTION prescient.enqueue_now(text, text, text, anycompatible, text,
            integer, text, text), prescient.schedule_on, prescient.unschedule" \
            "function enqueue_now (1 of 2 forms are there), function schedule_on, function unschedule"
        gone "a view with what is made of it" "DROP VIEW prescient.events CASCADE" \
            "view events, function events_after"
        gone "a view" "DROP VIEW prescient.schedules" "view schedules"
        gone "a trigger" "DROP TRIGGER schedule_required ON prescient.schedule" "trigger schedule_required"
        gone "an index" "DROP INDEX prescient.event_origin" "index event_origin" warn
        "$P" migrate --slot-length 5m >/dev/null
        gone "the length of slots" "DROP FUNCTION prescient.slot_length_s" "function slot_length_s"
        is "it is that of the store" \
            "$(psql -qXAt "$PRESCIENT_STORE" -c "SELECT prescient.slot_length_s()")" 300
        sql "DROP TABLE prescient.slot_load"
        look
        is "a table is named" "$(level)" "('error', 'these were dropped: table slot_load')"
    else
        gone "a view with its trigger" "DROP VIEW prescient_enqueue_now" \
            "view prescient_enqueue_now, trigger prescient_enqueue_now_insert"
        gone "a trigger" "DROP TRIGGER prescient_schedules_update" "trigger prescient_schedules_update"
        gone "a view of readers" "DROP VIEW prescient_runs" "view prescient_runs"
        gone "an index" "DROP INDEX prescient_event_origin" "index prescient_event_origin" warn
        sql "DROP TABLE prescient_slot_load"
        look
        is "a table is named" "$(level)" "('error', 'these were dropped: table prescient_slot_load')"
    fi
    has "$STORE_NAME: and nothing makes it again" "$(advice)" "restore a backup"
}
plugin bad 'prescient_fail(answer, "no");'
sed -e 's/jobs = { one/jobs = { bad = { plugin = "bad"; max_failures = 0; }; one/' -e '/^store/d' \
    prescient.cfg >inside.cfg
mv inside.cfg prescient.cfg; chmod 600 prescient.cfg
echo '# none' >no_jobs.cfg; chmod 600 no_jobs.cfg
on_each_store inside
on_each_store dropped
