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

# What a store shows of engines, failures and dropped calls. No job is loaded for it.
look() { "$P" --config no_jobs.cfg "$@" --json doctor >.look; }
of_the_look() { json "[$1 for f in j if f['what'] == '$LOOK'][0]" <.look; }
level() { of_the_look "(f['level'], f['found'])"; }
advice() { of_the_look "f['advice']"; }
inside() {
    local drop='DROP VIEW prescient_resolve' name=prescient_resolve PREFIX=prescient_
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
        "('ok', 'over the slot 2030-01-01 02:00:00, by "
    LOOK="runs in trouble"
    look --now 2030-01-03T20:00:00Z
    is "$STORE_NAME: two days later it is history" "$(level)" "('ok', 'none in the last day')"
    sql "$PASSES"
    look --now 2030-01-01T20:00:00Z
    is "$STORE_NAME: behind a thousand passes that went well it is found, too" "$(level)" \
        "('warn', '1 failed, 0 took too long, 0 crashed in the last day')"
    sql "DELETE FROM ${PREFIX}slot_pass WHERE pass > 1000"
    look
    LOOK="calls of applications"
    is "$STORE_NAME: an application's calls are there" "$(level)" "('ok', 'there')"
    if [ "$STORE_NAME" = postgresql ]; then
        name=resolve
        drop="DO \$\$ DECLARE f text; BEGIN FOR f IN SELECT p.oid::regprocedure FROM pg_proc p
              WHERE p.proname = 'resolve' AND p.pronamespace = 'prescient'::regnamespace LOOP
              EXECUTE 'DROP FUNCTION ' || f || ' CASCADE'; END LOOP; END \$\$"
    fi
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
    LOOK="calls of applications"
    sql "$drop"
    look
    has "$STORE_NAME: one that was dropped is named" "$(level | grep "'error', 'these ")" "dropped: $name'"
}
plugin bad 'prescient_fail(answer, "no");'
sed -e 's/jobs = { one/jobs = { bad = { plugin = "bad"; max_failures = 0; }; one/' -e '/^store/d' \
    prescient.cfg >inside.cfg
mv inside.cfg prescient.cfg; chmod 600 prescient.cfg
echo '# none' >no_jobs.cfg; chmod 600 no_jobs.cfg
on_each_store inside
